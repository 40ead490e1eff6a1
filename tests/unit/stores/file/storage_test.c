/* SPDX-License-Identifier: Apache-2.0 */
/* What post/rules/storage.h and <letterbox/store.h> promise, of storage in
 * files: folders, levels, time, memory. */
#include "fixture.h"
#include "stores/file/private.h"
#include "support/clock.h"
#include "support/torture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static lbx_status
try_open(const char *path, const lbx_store_options *options, lbx_fault *fault)
{
    lbx_store_options mine = options ? *options : fixture_options();
    lbx__storage *storage;
    lbx_status status;

    mine.fault = fault;
    status = lbx__file_open(path, &mine, NULL, &storage);
    if (status == LBX_OK)
        lbx__storage_close(storage);
    return status;
}

TEST(what_was_written_is_there_after_close_and_open)
{
    const char *path = test_path();
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK_OK(store_text(storage, "a", "1"));
    CHECK_OK(store_text(storage, "b", "2"));
    lbx__storage_close(storage);
    storage = fixture_open(path, NULL, NULL);
    check_text(storage, "a", "1");
    check_text(storage, "b", "2");
    check_text(storage, "c", NULL);
    lbx__storage_close(storage);
}

/* A group that is larger than the journal, and many that fill it. */
TEST(a_full_journal_is_a_checkpoint)
{
    static char large[200000];
    const char *path = test_path();
    const lbx__bytes part = {large, sizeof(large)};
    const lbx__row_size size = {5, sizeof(large)};
    lbx__storage *storage;
    lbx__bytes found;

    memset(large, 'x', sizeof(large));
    storage = fixture_open(path, NULL, NULL);
    for (int i = 0; i < 200; i++) {
        char key[16], value[1001] = "";

        (void)snprintf(key, sizeof(key), "k%d", i);
        memset(value, 'a' + i % 26, 1000);
        CHECK_OK(store_text(storage, key, value));
    }
    CHECK_OK(lbx__storage_begin(storage));
    CHECK_OK(lbx__storage_reserve(storage, &size, 1, LBX__GROWS));
    lbx__storage_put(storage, LBX__BODIES, text("large"), &part, 1);
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
    CHECK(((lbx__file *)storage)->header.generation > 3);
    lbx__storage_close(storage);
    storage = fixture_open(path, NULL, NULL);
    CHECK_OK(lbx__storage_begin(storage));
    CHECK_OK(lbx__storage_get(storage, LBX__BODIES, text("large"), &found));
    CHECK_INT(sizeof(large), found.size);
    CHECK(memcmp(large, found.data, found.size) == 0);
    CHECK_OK(lbx__storage_get(storage, LBX__BODIES, text("k199"), &found));
    lbx__storage_commit(storage);
    lbx__storage_close(storage);
}

/* What is done to the names in a folder. */
static struct stat synced_last;
static int renames;

static int
note_sync(const lbx__io *io, int fd)
{
    CHECK(fstat(fd, &synced_last) == 0);
    return lbx__io_system.fsync(io, fd);
}

static int
note_rename(const lbx__io *io, int folder, const char *from, const char *to)
{
    struct stat found;

    // Ours is synced last: the new journal. So it was before that.
    renames++;
    CHECK(fstatat(folder, from, &found, 0) == 0);
    CHECK(found.st_ino == synced_last.st_ino);
    return lbx__io_system.rename(io, folder, from, to);
}

static int
note_open(const lbx__io *io, int folder, const char *name, int flags)
{
    struct stat found;

    // The name of data.mdb is durable before there is one of a journal: or a
    // cut leaves a journal without data, which is damage for ever.
    if (strcmp(name, "journal.new") == 0) {
        CHECK(fstat(folder, &found) == 0);
        CHECK(found.st_ino == synced_last.st_ino);
    }
    return lbx__io_system.open(io, folder, name, flags);
}

TEST(names_are_durable_in_the_order_they_are_needed)
{
    lbx__io io = lbx__io_system;

    io.open = note_open;
    io.fsync = note_sync;
    io.rename = note_rename;
    lbx__storage_close(fixture_open(test_path(), NULL, &io));
    CHECK_INT(1, renames);
}

/* FOLD-1. */
TEST(folders_that_are_not_safe_are_refused_and_left_alone)
{
    char link[600], inside[600];
    const char *path = test_path();
    lbx_fault fault;

    CHECK(mkdir(path, 0700) == 0);
    (void)snprintf(link, sizeof(link), "%s-link", path);
    CHECK(symlink(path, link) == 0);
    CHECK_STATUS(LBX_DENIED, try_open(link, NULL, &fault));
    CHECK(strstr(fault.text, "symbolic link"));
    CHECK(chmod(path, 0777) == 0);
    CHECK_STATUS(LBX_DENIED, try_open(path, NULL, &fault));
    CHECK(strstr(fault.text, "others may write"));
    CHECK(chmod(path, 0700) == 0);
    (void)snprintf(inside, sizeof(inside), "%s/journal", path);
    CHECK(symlink("/etc/passwd", inside) == 0);
    CHECK_STATUS(LBX_DENIED, try_open(path, NULL, &fault));
    CHECK(unlink(inside) == 0);
    CHECK(mkfifo(inside, 0600) == 0);
    CHECK_STATUS(LBX_DENIED, try_open(path, NULL, &fault));
    CHECK(unlink(inside) == 0);
    CHECK(rmdir(path) == 0); // nothing was left in it
    CHECK_STATUS(LBX_NOT_FOUND, try_open("/nowhere/at/all", NULL, &fault));
    CHECK_STATUS(LBX_INVALID, try_open("/etc/passwd", NULL, &fault));
    if (geteuid() == 0) {
        CHECK(mkdir(path, 0700) == 0);
        CHECK(chown(path, 12345, 12345) == 0);
        CHECK_STATUS(LBX_DENIED, try_open(path, NULL, &fault));
        CHECK(strstr(fault.text, "someone else"));
    }
}

static void
touch(const char *path, const char *name)
{
    fixture_write(path, name, "", 0, 0);
}

/* A forgotten name of a box is reported, not obeyed. */
TEST(a_store_is_not_made_among_files_of_others)
{
    lbx_store_options options = fixture_options();
    char file[600];
    const char *path = test_path();
    lbx_fault fault = {LBX_OK, ""};

    CHECK(mkdir(path, 0700) == 0);
    touch(path, ".hidden");
    touch(path, "notes.txt");
    CHECK_STATUS(LBX_DENIED, try_open(path, NULL, &fault));
    CHECK(strstr(fault.text, "notes.txt") &&
          strstr(fault.text, "file:DIR/BOX"));
    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND, try_open(path, &options, &fault));
    (void)snprintf(file, sizeof(file), "%s/wake", path);
    CHECK(access(file, F_OK) < 0); // nothing was made
    (void)snprintf(file, sizeof(file), "%s/notes.txt", path);
    CHECK(unlink(file) == 0);
    (void)snprintf(file, sizeof(file), "%s/lost+found", path);
    CHECK(mkdir(file, 0700) == 0);
    CHECK_OK(try_open(path, NULL, &fault));
    // One that is there is opened, whatever lies beside it.
    touch(path, "notes.txt");
    CHECK_OK(try_open(path, NULL, &fault));
}

/* Killed while it was made: only files of ours, in any state before
 * data.mdb. */
TEST(a_store_that_was_never_finished_is_made_again)
{
    static const char *const left[] = {"wake", "lock.mdb", "data.mdb"};
    const char *path;

    for (size_t count = 1; count <= 3; count++) {
        path = test_path();
        CHECK(mkdir(path, 0700) == 0);
        for (size_t i = 0; i < count; i++)
            touch(path, left[i]);
        lbx__storage_close(fixture_open(path, NULL, NULL));
    }
}

TEST(must_exist_makes_nothing)
{
    lbx_store_options options = fixture_options();
    const char *path = test_path();
    lbx_fault fault;
    struct stat found;

    options.must_exist = true;
    CHECK_STATUS(LBX_NOT_FOUND, try_open(path, &options, &fault));
    CHECK(stat(path, &found) < 0);
    CHECK(mkdir(path, 0700) == 0);
    CHECK_STATUS(LBX_NOT_FOUND, try_open(path, &options, &fault));
    CHECK(rmdir(path) == 0);
}

/* As under ulimit -v, or valgrind. */
TEST(a_map_that_cannot_be_had_is_told)
{
    lbx_store_options options = fixture_options();
    const char *other = test_path();
    const char *path = test_path();
    struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    lbx_fault fault = {LBX_OK, ""};

    if (test_is_sanitized())
        return; // needs terabytes itself
    options.map_bytes = INT64_C(64) << 30;
    CHECK_OK(try_open(path, &options, &fault));
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK_STATUS(LBX_NO_MEMORY, try_open(path, &options, &fault));
    CHECK(strstr(fault.text, "65536 MiB of address space"));
    CHECK_STATUS(LBX_NO_MEMORY, try_open(other, &options, &fault));
    CHECK(strstr(fault.text, "options.map_bytes"));
    options.map_bytes = INT64_C(1) << 30;
    CHECK_OK(try_open(other, &options, &fault));
}

/* It was there: that it must exist does not make damage of it "not found". */
TEST(a_lost_data_file_is_damage_though_it_must_exist)
{
    lbx_store_options options = fixture_options();
    char file[600];
    const char *path = test_path();
    lbx_fault fault = {LBX_OK, ""};

    CHECK_OK(try_open(path, NULL, &fault));
    (void)snprintf(file, sizeof(file), "%s/data.mdb", path);
    CHECK(unlink(file) == 0);
    for (int i = 0; i < 2; i++) {
        options.must_exist = i == 0;
        CHECK_STATUS(LBX_CORRUPT, try_open(path, &options, &fault));
        CHECK(strstr(fault.text, "journal, but nothing in data.mdb"));
        CHECK(access(file, F_OK) < 0); // and none was made
    }
}

TEST(options_out_of_their_limits_are_invalid)
{
    lbx_store_options options = fixture_options();
    const char *path = test_path();
    lbx_fault fault;

    options.durability = LBX_DURABILITY_NONE;
    CHECK_STATUS(LBX_UNSUPPORTED, try_open(path, &options, &fault));
    options.durability = LBX_DURABILITY_MACHINE;
    CHECK_STATUS(LBX_UNSUPPORTED, try_open(path, &options, &fault));
    CHECK(strstr(fault.text, "LBX_DURABILITY_PROCESS, _INTERVAL and"));
    options = fixture_options();
    options.busy_ms = -2;
    CHECK_STATUS(LBX_INVALID, try_open(path, &options, &fault));
    options = fixture_options();
    options.interval_ms = 0;
    CHECK_STATUS(LBX_INVALID, try_open(path, &options, &fault));
    options = fixture_options();
    options.journal_bytes = 1;
    CHECK_STATUS(LBX_INVALID, try_open(path, &options, &fault));
    options = fixture_options();
    options.map_bytes = 1;
    CHECK_STATUS(LBX_INVALID, try_open(path, &options, &fault));
}

/* One environment for a place and process: a second would drop its locks. */
TEST(a_place_is_open_once_in_a_process)
{
    const char *path = test_path();
    lbx_fault fault;
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK_STATUS(LBX_BUSY, try_open(path, NULL, &fault));
    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    CHECK_OK(try_open(path, NULL, &fault));
}

/* A child that closes what it has inherited does the parent no harm. */
TEST(a_forked_child_leaves_the_parents_store_alone)
{
    const char *path = test_path();
    pid_t child;
    int status;
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK_OK(store_text(storage, "a", "1"));
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        lbx__storage_close(storage);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(lbx__file_is_exclusive(storage));
    CHECK_OK(store_text(storage, "b", "2"));
    check_text(storage, "a", "1");
    lbx__storage_close(storage);
    storage = fixture_open(path, NULL, NULL);
    check_text(storage, "b", "2");
    lbx__storage_close(storage);
}

/* A larger limit leaves the journal as it is; with a smaller one it is made
 * anew, and what is in the old one is not lost. */
TEST(a_journal_that_is_too_large_is_made_anew)
{
    lbx_store_options options = fixture_options();
    const char *copy = test_path();
    const char *path = test_path();
    char thousand[1001] = "";
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    memset(thousand, 'x', 1000);
    CHECK_OK(store_text(storage, "a", "1"));
    fixture_copy_store(path, copy);
    lbx__storage_close(storage);
    options.journal_bytes = 128 << 10;
    storage = fixture_open(copy, &options, NULL);
    CHECK_INT(64 << 10, fixture_size(copy, "journal"));
    check_text(storage, "a", "1");
    for (int i = 0; i < 80; i++)
        CHECK_OK(store_text(storage, "b", thousand));
    CHECK_INT(128 << 10, fixture_size(copy, "journal"));
    lbx__storage_close(storage);
    storage = fixture_open(copy, NULL, NULL);
    CHECK_INT(64 << 10, fixture_size(copy, "journal"));
    check_text(storage, "b", thousand);
    lbx__storage_close(storage);
}

/* On a full disk it stays as it is, and nothing is left behind. */
TEST(a_larger_journal_that_finds_no_room_is_done_without)
{
    lbx_store_options options = fixture_options();
    enum {
        RECORD = 40 + 8 + 1 + 1000 + 7 // of a row: heads, key, value, zeros
    };
    struct faulty_io faulty;
    char thousand[1001] = "";
    const char *path = test_path();
    lbx__storage *storage;

    memset(thousand, 'x', 1000);
    storage = fixture_open(path, NULL, NULL);
    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    faulty_init(&faulty);
    faulty.error = ENOSPC;
    options.journal_bytes = 256 << 10;
    storage = fixture_open(path, &options, &faulty.io);
    while (((lbx__file *)storage)->journal.at + RECORD <= 64 << 10)
        CHECK_OK(store_text(storage, "b", thousand));
    faulty.writes_left = 0;
    CHECK_OK(store_text(storage, "c", thousand));
    CHECK_INT(-1, faulty.writes_left);
    CHECK_INT(64 << 10, fixture_size(path, "journal"));
    for (int i = 0; i < 80; i++)
        CHECK_OK(store_text(storage, "d", thousand));
    CHECK(fixture_size(path, "journal") > 64 << 10);
    lbx__storage_close(storage);
    storage = fixture_open(path, &options, &faulty.io);
    check_text(storage, "a", "1");
    check_text(storage, "d", thousand);
    lbx__storage_close(storage);
}

/* ZFS and others of old: fallocate() is not to be had. */
TEST(a_file_system_that_cannot_set_room_aside_will_do)
{
    struct faulty_io faulty;
    lbx__storage *storage;

    faulty_init(&faulty);
    faulty.error = EOPNOTSUPP;
    faulty.allocates_left = 0;
    faulty.for_ever = true;
    storage = fixture_open(test_path(), NULL, &faulty.io);
    CHECK_OK(store_text(storage, "a", "1"));
    check_text(storage, "a", "1");
    lbx__storage_close(storage);
    CHECK(faulty.allocates > 1);
}

/* How many flushes a level takes; none promises less than it was asked for. */
TEST(each_level_flushes_as_it_says)
{
    static const struct {
        lbx_durability level;
        long least, most; /* flushes of the journal, by 50 groups */
    } levels[] = {
        {LBX_DURABILITY_POWER_CUT, 50, 50},
        {LBX_DURABILITY_PROCESS, 0, 0},
        {LBX_DURABILITY_INTERVAL, 1, 49},
    };

    for (size_t i = 0; i < 3; i++) {
        lbx_store_options options = fixture_options();
        struct faulty_io faulty;
        lbx__storage *storage;
        long before;

        faulty_init(&faulty);
        options.durability = levels[i].level;
        options.interval_ms = 10;
        storage = fixture_open(test_path(), &options, &faulty.io);
        CHECK_INT(levels[i].level, storage->ops->durability(storage));
        before = faulty.syncs;
        for (int group = 0; group < 50; group++)
            CHECK_OK(store_text(storage, "k", "v"));
        if (levels[i].level == LBX_DURABILITY_INTERVAL)
            EVENTUALLY(faulty.syncs > before);
        CHECK(faulty.syncs - before >= levels[i].least);
        CHECK(faulty.syncs - before <= levels[i].most);
        // On demand, whatever the level.
        before = faulty.syncs;
        CHECK_OK(storage->ops->sync(storage));
        CHECK(faulty.syncs > before);
        lbx__storage_close(storage);
    }
}

static _Atomic int slow_syncs;
static _Atomic int answered; /* what must not be, before the flush is over */

/* The first takes until there is another, or a caller got its result without.
 * */
static int
slow_sync(const lbx__io *io, int fd)
{
    if (atomic_fetch_add(&slow_syncs, 1) == 0)
        EVENTUALLY(slow_syncs > 1 || answered);
    return lbx__io_system.fdatasync(io, fd);
}

/* The thread's flush takes longer than the interval: what it flushes is older
 * then, and nothing more is answered before it is on the disk. */
TEST(a_slow_flush_is_waited_for_by_who_writes)
{
    lbx_store_options options = fixture_options();
    lbx__io io = lbx__io_system;
    lbx__storage *storage;
    int64_t written;

    io.fdatasync = slow_sync;
    options.durability = LBX_DURABILITY_INTERVAL;
    options.interval_ms = 20;
    storage = fixture_open(test_path(), &options, &io);
    CHECK_OK(store_text(storage, "a", "1"));
    written = lbx_clock_now(NULL);
    EVENTUALLY(slow_syncs == 1);
    EVENTUALLY(lbx_clock_now(NULL) > written + 20 * LBX_MS);
    CHECK_OK(store_text(storage, "b", "2"));
    answered = 1;
    CHECK_INT(2, slow_syncs);
    lbx__storage_close(storage);
}

static int
slow_sync_that_fails(const lbx__io *io, int fd)
{
    const int result = slow_sync(io, fd);

    return slow_syncs > 1 ? -EIO : result;
}

/* The flush of who writes fails: that very batch is not answered with OK. */
TEST(a_failed_flush_of_who_writes_fails_its_batch)
{
    lbx_store_options options = fixture_options();
    lbx__io io = lbx__io_system;
    lbx__storage *storage;
    int64_t written;

    io.fdatasync = slow_sync_that_fails;
    options.durability = LBX_DURABILITY_INTERVAL;
    options.interval_ms = 20;
    storage = fixture_open(test_path(), &options, &io);
    CHECK_OK(store_text(storage, "a", "1"));
    written = lbx_clock_now(NULL);
    EVENTUALLY(slow_syncs == 1);
    EVENTUALLY(lbx_clock_now(NULL) > written + 20 * LBX_MS);
    CHECK_STATUS(LBX_IO, store_text(storage, "b", "2"));
    CHECK_INT(2, slow_syncs);
    lbx__storage_close(storage);
}

/* A ticket of a group without writes needs no flush of its own. */
TEST(groups_that_only_read_do_not_flush)
{
    struct faulty_io faulty;
    lbx__storage *storage;
    long before;

    faulty_init(&faulty);
    storage = fixture_open(test_path(), NULL, &faulty.io);
    CHECK_OK(store_text(storage, "a", "1"));
    before = faulty.syncs;
    for (int i = 0; i < 10; i++)
        check_text(storage, "a", "1");
    CHECK_INT(before, faulty.syncs);
    lbx__storage_close(storage);
}

/* Store time never goes back: through kills and boots; setting the wall clock
 * does not move it. */
TEST(time_goes_on_through_boots_and_never_back)
{
    struct faulty_io faulty;
    const char *path = test_path();
    lbx__storage *storage;
    int64_t before, after;

    faulty_init(&faulty);
    faulty.boot_ns = 500 * LBX_SECOND;
    faulty.wall_ns = 1700000000 * LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    before = lbx__storage_now(storage);
    faulty.boot_ns += 10 * LBX_SECOND;
    faulty.wall_ns += 5000 * LBX_SECOND; // set by hand
    CHECK_INT(before + 10 * LBX_SECOND, lbx__storage_now(storage));
    faulty.wall_ns -= 4990 * LBX_SECOND;
    lbx__storage_close(storage);
    before = before + 10 * LBX_SECOND;

    // The same boot, later.
    faulty.boot_ns += LBX_SECOND;
    faulty.wall_ns += LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    CHECK_INT(before + LBX_SECOND, lbx__storage_now(storage));
    lbx__storage_close(storage);
    before += LBX_SECOND;

    // Another boot, an hour later by the wall.
    faulty.boot[0] = 1;
    faulty.boot_ns = 3 * LBX_SECOND;
    faulty.wall_ns += 3600 * LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    after = lbx__storage_now(storage);
    CHECK_INT(before + 3600 * LBX_SECOND, after);
    lbx__storage_close(storage);

    // Another, and the wall clock has been set back a year.
    faulty.boot[0] = 2;
    faulty.boot_ns = LBX_SECOND;
    faulty.wall_ns -= 365 * 86400 * LBX_SECOND;
    storage = fixture_open(path, NULL, &faulty.io);
    CHECK(lbx__storage_now(storage) >= after);
    CHECK(lbx__storage_now(storage) < after + LBX_SECOND);
    lbx__storage_close(storage);
}

/* Below level sync a reboot may have lost answers; receipts must show. */
TEST(the_era_grows_after_a_reboot_below_level_sync)
{
    static const struct {
        lbx_durability level;
        bool boots;
        uint32_t era;
    } cases[] = {
        {LBX_DURABILITY_POWER_CUT, true, 0},
        {LBX_DURABILITY_PROCESS, false, 0},
        {LBX_DURABILITY_PROCESS, true, 1},
        {LBX_DURABILITY_INTERVAL, true, 1},
    };

    for (size_t i = 0; i < 4; i++) {
        lbx_store_options options = fixture_options();
        struct faulty_io faulty;
        const char *copy = test_path();
        const char *path = test_path();
        lbx__storage *storage;

        faulty_init(&faulty);
        faulty.boot_ns = faulty.wall_ns = LBX_SECOND;
        options.durability = cases[i].level;
        storage = fixture_open(path, &options, &faulty.io);
        CHECK_INT(0, lbx__file_era(storage));
        CHECK_OK(store_text(storage, "a", "1"));
        fixture_copy_store(path, copy);
        lbx__storage_close(storage);
        faulty.boot[0] = cases[i].boots;
        storage = fixture_open(copy, &options, &faulty.io);
        CHECK_INT(cases[i].era, lbx__file_era(storage));
        lbx__storage_close(storage);
        // And not again when it was closed well.
        faulty.boot[0] = 7;
        storage = fixture_open(copy, &options, &faulty.io);
        CHECK_INT(cases[i].era, lbx__file_era(storage));
        lbx__storage_close(storage);
    }
}

TEST(an_injected_clock_is_the_time_but_does_not_go_back)
{
    lbx_store_options options = fixture_options();
    struct test_clock time = TEST_CLOCK_INIT;
    const lbx_clock clock = test_clock_interface(&time);
    const char *path = test_path();
    lbx__storage *storage;

    test_clock_set(&time, INT64_C(2000000000) * LBX_SECOND);
    options.clock = &clock;
    storage = fixture_open(path, &options, NULL);
    CHECK_INT(test_clock_now(&time), lbx__storage_now(storage));
    test_clock_advance(&time, LBX_SECOND);
    CHECK_INT(test_clock_now(&time), lbx__storage_now(storage));
    lbx__storage_close(storage);
    test_clock_advance(&time, -LBX_SECOND);
    storage = fixture_open(path, &options, NULL);
    CHECK_INT(test_clock_now(&time) + LBX_SECOND, lbx__storage_now(storage));
    lbx__storage_close(storage);
}

/* Without memory: opening fails well, and a group whose record cannot be made
 * is a checkpoint. */
static void
open_and_store(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_store_options options = fixture_options();
    lbx__storage *storage;
    lbx_status status;

    options.allocator = &allocator;
    status =
        lbx__file_open(*(const char *const *)context, &options, NULL, &storage);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        return;
    }
    for (int i = 0; i < 10; i++)
        CHECK_OK(store_text(storage, "key", "0123456789012345678901234567890"));
    check_text(storage, "key", "0123456789012345678901234567890");
    lbx__storage_close(storage);
}

TEST(every_allocation_may_fail)
{
    const char *path = test_path();

    CHECK(torture_every_allocation(open_and_store, &path) > 0);
}
