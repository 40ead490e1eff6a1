/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a store as other programs may leave them: deleted while it is
 * open, foreign, on a disk that is nearly full. */
#include "letters.h"

#include "fixture.h"

#include <errno.h>
#include <lmdb.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const file_names[] = {"data.mdb", "lock.mdb", "journal",
                                         "wake"};

static char logged[4096];

static void
log_line(void *context, const char *line)
{
    (void)context;
    (void)strncat(logged, line, sizeof(logged) - strlen(logged) - 1);
}

static void
delete_file(const char *path, const char *name)
{
    char file[600];

    (void)snprintf(file, sizeof(file), "%s/%s", path, name);
    CHECK(unlink(file) == 0);
}

static void
delete_folder(const char *path)
{
    for (int i = 0; i < 4; i++)
        delete_file(path, file_names[i]);
    CHECK(rmdir(path) == 0);
}

/* ---- Deleted while it is open ---- */

/* FLUSH-2. 4: the whole folder. */
TEST(no_send_or_sync_returns_ok_after_a_file_was_deleted)
{
    for (int i = 0; i < 5; i++) {
        for (int syncs = 0; syncs < 2; syncs++) {
            lbx_store_options options = fixture_options();
            const char *path = test_path();
            lbx__storage *storage;

            options.log = log_line;
            logged[0] = '\0';
            storage = fixture_open(path, &options, NULL);
            CHECK_OK(store_text(storage, "a", "1"));
            if (i == 4)
                delete_folder(path);
            else
                delete_file(path, file_names[i]);
            CHECK_STATUS(LBX_IO, syncs ? storage->ops->sync(storage)
                                       : store_text(storage, "b", "2"));
            CHECK_STATUS(LBX_IO, lbx__storage_begin(storage));
            if (!strstr(logged, file_names[i % 4]) ||
                !strstr(logged, "was deleted"))
                FAIL("%d: %s", i, logged);
            lbx__storage_close(storage);
        }
    }
}

/* Once the folder has been the same for a while, its own time is compared, and
 * not the files. */
TEST(files_are_watched_for_as_long_as_the_store_is_open)
{
    const int64_t until_ns = lbx_clock_now(NULL) + 3500 * LBX_MS;
    const char *path = test_path();
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    do {
        CHECK_OK(store_text(storage, "a", "1"));
    } while (lbx_clock_now(NULL) < until_ns);
    delete_file(path, "wake");
    CHECK_STATUS(LBX_IO, store_text(storage, "b", "2"));
    lbx__storage_close(storage);
}

/* A process that finds no lock.mdb makes one, and both would write. */
TEST(a_deleted_lock_file_stops_all_and_nothing_is_lost)
{
    const char *path = test_path();
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK_OK(store_text(storage, "a", "1"));
    delete_file(path, "lock.mdb");
    CHECK_STATUS(LBX_IO, store_text(storage, "b", "2"));
    lbx__storage_close(storage);
    storage = fixture_open(path, NULL, NULL);
    check_text(storage, "a", "1");
    CHECK_OK(store_text(storage, "c", "3"));
    lbx__storage_close(storage);
}

static void
stay_joined(int to)
{
    (void)open_store();
    say(to);
    for (;;)
        pause();
}

TEST(in_shared_mode_a_deleted_file_is_noticed_before_anything_is_written)
{
    for (int i = 0; i < 4; i++) {
        struct child child;
        lbx__storage *storage;

        new_store_path();
        child = spawn_ready(stay_joined);
        storage = fixture_open(store_path, NULL, NULL);
        CHECK(!lbx__file_is_exclusive(storage));
        CHECK_OK(store_text(storage, "a", "1"));
        delete_file(store_path, file_names[i]);
        CHECK_STATUS(LBX_IO, i % 2 ? lbx__storage_begin(storage)
                                   : storage->ops->sync(storage));
        lbx__storage_close(storage);
        kill_child(child);
    }
}

/* A store whose folder is moved is the same store. */
TEST(a_folder_may_be_renamed_while_it_is_open)
{
    const char *to = test_path();
    const char *path = test_path();
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK(rename(path, to) == 0);
    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    storage = fixture_open(to, NULL, NULL);
    check_text(storage, "a", "1");
    lbx__storage_close(storage);
}

/* ---- A disk that is nearly full ---- */

static void
check_no_holes(const char *path, const char *name)
{
    char file[600];
    struct stat found;

    (void)snprintf(file, sizeof(file), "%s/%s", path, name);
    CHECK(stat(file, &found) == 0);
    if (found.st_blocks * 512 < found.st_size)
        FAIL("%s: %jd bytes, %jd blocks", name, (intmax_t)found.st_size,
             (intmax_t)found.st_blocks);
}

/* A write to a page without a block raises a signal on a full disk. */
TEST(files_that_are_mapped_have_no_holes)
{
    for (int i = 0; i < 2; i++) {
        const char *path = test_path();
        struct faulty_io faulty;
        lbx__storage *storage;

        faulty_init(&faulty);
        faulty.error = EOPNOTSUPP; // a file system without fallocate()
        faulty.allocates_left = i - 1;
        faulty.for_ever = true;
        storage = fixture_open(path, NULL, &faulty.io);
        CHECK_OK(store_text(storage, "a", "1"));
        check_no_holes(path, "wake");
        check_no_holes(path, "lock.mdb");
        lbx__storage_close(storage);
    }
}

TEST(on_a_nearly_full_disk_a_new_store_is_refused_or_works)
{
    const char *path = test_path();
    int refused = 0, opened = 0;

    CHECK(mkdir(path, 0700) == 0);
    // A name space of our own: the mounts end with this process.
    if (unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        test_note("no right to mount a small disk: not tried");
        return;
    }
    for (int pages = 1; pages < 400 && opened < 3; pages += 1 + pages / 40) {
        lbx_store_options options = fixture_options();
        lbx_fault fault = {LBX_OK, ""};
        lbx__storage *storage;
        lbx_status status;
        char size[64];

        (void)snprintf(size, sizeof(size), "size=%dk,mode=0700", 4 * pages);
        CHECK(mount("none", path, "tmpfs", 0, size) == 0);
        options.fault = &fault;
        status = lbx__file_open(path, &options, NULL, &storage);
        if (status == LBX_OK) {
            opened++;
            CHECK_OK(lbx__storage_begin(storage));
            (void)lbx__storage_commit(storage);
            lbx__storage_close(storage);
        } else {
            refused++;
            CHECK_STATUS(LBX_NO_SPACE, status);
            if (!strstr(fault.text, "options.journal_bytes, 64 KiB"))
                FAIL("%d pages: %s", pages, fault.text);
        }
        CHECK(umount(path) == 0);
    }
    test_note("%d refused, %d opened", refused, opened);
    CHECK(refused > 0 && opened > 0);
}

/* ---- Files of other programs ---- */

/* The content of a file is what it was, and `other` is not there. */
static void
check_untouched(const char *path, const char *name, const char *content,
                const char *other)
{
    char file[600], found[64] = "";

    CHECK_INT(strlen(content), fixture_size(path, name));
    fixture_read(path, name, found, strlen(content), 0);
    CHECK_STR(content, found);
    (void)snprintf(file, sizeof(file), "%s/%s", path, other);
    CHECK(access(file, F_OK) < 0);
}

TEST(a_foreign_file_with_a_name_of_the_stores_is_left_alone)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "journal",
                                        "wake", "journal.new"};
    static const char content[] = "a file of another program, of 40 bytes..";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (int must_exist = 0; must_exist < 2; must_exist++) {
            lbx_store_options options = fixture_options();
            const char *path = test_path();
            lbx_fault fault = {LBX_OK, ""};
            lbx__storage *storage;

            CHECK(mkdir(path, 0700) == 0);
            fixture_write(path, names[i], content, strlen(content), 0);
            options.fault = &fault;
            options.must_exist = must_exist;
            CHECK(lbx__file_open(path, &options, NULL, &storage) ==
                      LBX_DENIED ||
                  (must_exist && fault.status == LBX_NOT_FOUND));
            if (!must_exist && !strstr(fault.text, names[i]))
                FAIL("%s: %s", names[i], fault.text);
            check_untouched(path, names[i], content,
                            i == 3 ? "data.mdb" : "wake");
        }
    }
}

/* A process that was killed while it made `wake` has set words behind its
 * mark already. */
TEST(a_wake_that_has_no_mark_yet_is_not_foreign)
{
    static const uint32_t words[8] = {[6] = 1, [7] = 1};
    const char *path = test_path();

    CHECK(mkdir(path, 0700) == 0);
    fixture_write(path, "wake", words, sizeof(words), 0);
    lbx__storage_close(fixture_open(path, NULL, NULL));
}

/* With something in it, or nothing yet. */
TEST(an_environment_of_another_program_is_left_alone)
{
    for (int rows = 0; rows < 3; rows++) {
        lbx_store_options options = fixture_options();
        const char *path = test_path();
        char file[600];
        lbx_fault fault = {LBX_OK, ""};
        MDB_val key = {3, "key"}, value = {5, "value"};
        MDB_env *env;
        MDB_txn *txn;
        MDB_dbi table;
        lbx__storage *storage;
        size_t bytes;

        CHECK(mkdir(path, 0700) == 0);
        CHECK(mdb_env_create(&env) == 0 &&
              mdb_env_set_mapsize(env, (size_t)1 << (rows == 1 ? 30 : 20)) ==
                  0 &&
              mdb_env_open(env, path, 0, 0600) == 0);
        if (rows == 2) {
            CHECK(mdb_txn_begin(env, NULL, 0, &txn) == 0);
            CHECK(mdb_dbi_open(txn, NULL, 0, &table) == 0);
            CHECK(mdb_put(txn, table, &key, &value, 0) == 0);
            CHECK(mdb_txn_commit(txn) == 0);
        }
        mdb_env_close(env);
        bytes = fixture_size(path, "data.mdb");
        options.fault = &fault;
        CHECK_STATUS(LBX_DENIED,
                     lbx__file_open(path, &options, NULL, &storage));
        CHECK(strstr(fault.text, "data.mdb") && strstr(fault.text, "foreign"));
        CHECK_INT(bytes, fixture_size(path, "data.mdb"));
        (void)snprintf(file, sizeof(file), "%s/wake", path);
        CHECK(access(file, F_OK) < 0);
    }
}

/* ---- What a store takes ---- */

static uint64_t
disk_bytes(const char *path)
{
    uint64_t bytes = 0;

    for (int i = 0; i < 4; i++) {
        char file[600];
        struct stat found;

        (void)snprintf(file, sizeof(file), "%s/%s", path, file_names[i]);
        CHECK(stat(file, &found) == 0);
        bytes += (uint64_t)found.st_blocks * 512;
    }
    return bytes;
}

/* With the options that a user has who sets none. */
TEST(a_store_of_one_letter_takes_less_than_a_mebibyte)
{
    const lbx_store_options usual = LBX_STORE_OPTIONS_INIT;
    lbx_postbox *postbox;
    lbx_store *store;
    uint64_t bytes;

    new_store_path();
    CHECK_OK(lbx_store_open(url(""), &usual, &store));
    CHECK_OK(lbx_postbox_open_in(store, "orders", NULL, &postbox));
    mail(postbox, "one letter");
    bytes = disk_bytes(store_path);
    test_note("%ju KiB", (uintmax_t)(bytes >> 10));
    CHECK(bytes < 1 << 20);
    lbx_postbox_unref(postbox);
    lbx_store_unref(store);
    CHECK(disk_bytes(store_path) < 1 << 20);
}

TEST(a_misspelt_path_makes_no_store_when_the_box_must_exist)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_fault fault = {LBX_OK, ""};
    lbx_postbox *postbox;

    new_store_path();
    options.must_exist = true;
    options.fault = &fault;
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_postbox_open(url("/orders"), &options, &postbox));
    CHECK(strstr(fault.text, "No such file"));
    CHECK(access(store_path, F_OK) < 0);
}

/* Rounds of letters until the journal has been full several times. */
static void
fill_journal(lbx__storage *storage, const char *path, size_t least)
{
    static char value[20001];

    memset(value, 'x', sizeof(value) - 1);
    for (int i = 0; i < 1000 && fixture_size(path, "journal") < least; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "k%d", i % 10);
        CHECK_OK(store_text(storage, key, value));
    }
}

TEST(a_full_journal_grows_up_to_its_limit)
{
    lbx_store_options options = fixture_options();
    const char *copy = test_path();
    const char *path = test_path();
    lbx__storage *storage;

    options.journal_bytes = 2000 << 10;
    storage = fixture_open(path, &options, NULL);
    CHECK_INT(256 << 10, fixture_size(path, "journal"));
    fill_journal(storage, path, 1024 << 10);
    CHECK_INT(1024 << 10, fixture_size(path, "journal"));
    fill_journal(storage, path, 2000 << 10);
    CHECK_OK(store_text(storage, "a", "1"));
    fixture_copy_store(path, copy); // as a kill leaves it
    fill_journal(storage, path, 8000 << 10);
    CHECK_INT(2000 << 10, fixture_size(path, "journal"));
    lbx__storage_close(storage);
    storage = fixture_open(copy, &options, NULL);
    CHECK_INT(2000 << 10, fixture_size(copy, "journal"));
    check_text(storage, "a", "1");
    lbx__storage_close(storage);
}

/* ---- What faults say ---- */

TEST(a_lack_of_descriptors_is_named)
{
    const int open_now = test_open_descriptors();
    int refused = 0;

    for (int more = 1; more < 12; more++) {
        struct rlimit limit = {(rlim_t)(open_now + more), RLIM_INFINITY};
        lbx_store_options options = fixture_options();
        const char *path = test_path();
        lbx_fault fault = {LBX_OK, ""};
        lbx__storage *storage;
        lbx_status status;
        struct rlimit before;

        CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
        limit.rlim_max = before.rlim_max;
        options.fault = &fault;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        status = lbx__file_open(path, &options, NULL, &storage);
        CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
        if (status == LBX_OK) {
            lbx__storage_close(storage);
            continue;
        }
        refused++;
        if (!strstr(fault.text, "many open files"))
            FAIL("%d: %s", more, fault.text);
    }
    CHECK(refused > 3);
}

TEST(a_folder_that_cannot_be_written_to_is_named)
{
    lbx_store_options options = fixture_options();
    const char *path = test_path();
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage;

    options.fault = &fault;
    CHECK(mkdir(path, 0500) == 0 && chdir(path) == 0);
    if (geteuid() == 0) // who may write everywhere
        CHECK(chown(".", 65534, 65534) == 0 && seteuid(65534) == 0);
    CHECK_STATUS(LBX_DENIED, lbx__file_open(".", &options, NULL, &storage));
    CHECK(seteuid(getuid()) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0); // LSan
    CHECK(strstr(fault.text, "wake: the folder cannot be written to ("));
}

TEST(a_long_path_does_not_push_out_the_reason)
{
    lbx_store_options options = fixture_options();
    char path[2000];
    lbx_fault fault = {LBX_OK, ""};
    lbx__storage *storage;
    int used;

    used = snprintf(path, sizeof(path), "%s", test_path());
    CHECK(mkdir(path, 0700) == 0);
    for (int i = 0; i < 3; i++) {
        used +=
            snprintf(path + used, sizeof(path) - (size_t)used, "/%0200d", i);
        CHECK(mkdir(path, 0700) == 0);
    }
    CHECK(chmod(path, 0777) == 0);
    options.fault = &fault;
    CHECK_STATUS(LBX_DENIED, lbx__file_open(path, &options, NULL, &storage));
    CHECK(strstr(fault.text, "others may write to ..."));
    (void)strcat(path, "/none");
    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND, lbx__file_open(path, &options, NULL, &storage));
    CHECK(strstr(fault.text, "0002/none: No such file"));
}
