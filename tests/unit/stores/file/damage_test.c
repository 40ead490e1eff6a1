/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage (RECOV-2): files that are missing, cut, of another store,
 * or have bits flipped. A store opens with all it had, or the fault says why
 * and where; it is never read as empty, and nothing is deleted.
 */
#include "fixture.h"
#include "stores/file/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BATCHES = 20
};

/* A store as a kill leaves it, in a new folder: BATCHES batches, the first half
 * checkpointed. */
static const char *
make_killed(void)
{
    const char *alive = test_path(), *path = test_path();
    lbx__storage *storage = fixture_open(alive, NULL, NULL);

    for (int i = 0; i < BATCHES; i++) {
        char key[16];

        (void)snprintf(key, sizeof(key), "k%02d", i);
        CHECK_OK(store_text(storage, key, key));
        if (i == BATCHES / 2) {
            lbx__storage_close(storage);
            storage = fixture_open(alive, NULL, NULL);
        }
    }
    fixture_copy_store(alive, path);
    lbx__storage_close(storage);
    return path;
}

/* A copy of a store in which bits of one byte of a file are flipped. */
static const char *
copy_flipped(const char *path, const char *name, size_t at, uint8_t bits)
{
    const char *copy = test_path();
    uint8_t byte;

    fixture_copy_store(path, copy);
    fixture_read(copy, name, &byte, 1, at);
    byte ^= bits;
    fixture_write(copy, name, &byte, 1, at);
    return copy;
}

static lbx_status
try_open(const char *path, lbx_fault *fault, lbx__storage **ret)
{
    lbx_store_options options = fixture_options();

    *fault = (lbx_fault){LBX_OK, ""};
    options.fault = fault;
    return lbx__file_open(path, &options, NULL, ret);
}

static int
batches_there(lbx__storage *storage)
{
    int count = 0;

    CHECK_OK(lbx__storage_begin(storage));
    for (; count < BATCHES; count++) {
        char key[16];
        lbx__bytes value;

        (void)snprintf(key, sizeof(key), "k%02d", count);
        if (lbx__storage_get(storage, LBX__BODIES, text(key), &value) != LBX_OK)
            break;
        CHECK(value.size == 3 && memcmp(value.data, key, 3) == 0);
    }
    lbx__storage_commit(storage);
    return count;
}

static void
check_refused(const char *path, const char *why)
{
    lbx_fault fault;
    lbx__storage *storage;

    CHECK_STATUS(LBX_CORRUPT, try_open(path, &fault, &storage));
    CHECK_STATUS(LBX_CORRUPT, fault.status);
    if (!strstr(fault.text, why))
        FAIL("'%s' is not in '%s'", why, fault.text);
}

static void
remove_file(const char *path, const char *name)
{
    char full[600];

    (void)snprintf(full, sizeof(full), "%s/%s", path, name);
    CHECK(unlink(full) == 0);
}

static void
cut_file(const char *path, const char *name, off_t size)
{
    char full[600];

    (void)snprintf(full, sizeof(full), "%s/%s", path, name);
    CHECK(truncate(full, size) == 0);
}

/* A file that is gone is no new store. */
TEST(a_missing_file_is_damage_not_a_new_store)
{
    static const struct {
        const char *name;
        off_t size; /* that is left; -1: the file is deleted */
        const char *why;
    } cases[] = {
        {"journal", -1, "journal"},
        {"journal", 100, "journal"},
        {"journal", 0, "journal"},
        {"data.mdb", -1, "journal, but nothing"},
        {"data.mdb", 0, "journal, but nothing"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *path = make_killed();

        test_note("%s of %d bytes", cases[i].name, (int)cases[i].size);
        if (cases[i].size < 0)
            remove_file(path, cases[i].name);
        else
            cut_file(path, cases[i].name, cases[i].size);
        check_refused(path, cases[i].why);
    }
}

/* A journal or data of another store: uid for uid. */
TEST(files_of_two_stores_do_not_mix)
{
    const char *one = make_killed(), *other = make_killed();

    remove_file(one, "journal");
    fixture_copy(other, one, "journal");
    check_refused(one, "journal");
}

/* Each byte of the journal's head and records: flipped, it is damage with a
 * range, or the last record is cut off as if torn. */
TEST(every_flipped_byte_of_the_journal_shows)
{
    const char *path;
    uint8_t records[4096];
    size_t end = 0;
    long damaged = 0, cut = 0;

    test_paths_in_memory();
    path = make_killed();
    fixture_read(path, "journal", records, sizeof(records), LBX__JOURNAL_FRONT);
    // Behind them are those of the generation before.
    while (memcmp(records + end, "LBX", 3) == 0 &&
           memcmp(records + end + 8, records + 8, 8) == 0)
        end += records[end + 4];
    CHECK(end > 300 && end < sizeof(records));
    for (size_t at = 0; at < LBX__JOURNAL_FRONT + end; at++) {
        lbx__storage *storage;
        lbx_fault fault;
        lbx_status status;

        if (at == 36)
            at = LBX__JOURNAL_FRONT; // zeros between
        status =
            try_open(copy_flipped(path, "journal", at, 0x10), &fault, &storage);
        if (status == LBX_OK) {
            // Only the last record, which nothing was written behind.
            CHECK_INT(BATCHES - 1, batches_there(storage));
            CHECK(at >= LBX__JOURNAL_FRONT + end - 64);
            lbx__storage_close(storage);
            cut++;
        } else {
            CHECK(status == LBX_CORRUPT || (status == LBX_NEWER && at < 36));
            CHECK(at < 36 || strstr(fault.text, "is damaged, bytes "));
            damaged++;
        }
    }
    test_note("%ld flips: %ld damage, %ld torn ends", damaged + cut, damaged,
              cut);
    CHECK(damaged > 0 && cut > 0 && cut <= 64);
}

/* The same of a store whose owner was only killed: `wake` knows how much there
 * was, and even the last record is not taken for a torn one. */
TEST(after_a_kill_even_the_last_record_is_not_taken_for_torn)
{
    const char *path = test_path();
    lbx_fault fault;
    lbx__storage *storage;
    const uint8_t zero = 0;
    pid_t child;
    int status;

    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const lbx_store_options options = fixture_options();

        // Ours alone: the parent goes on when we have ended.
        if (lbx__file_open(path, &options, NULL, &storage) != LBX_OK)
            _exit(1);
        _exit(store_text(storage, "a", "1") == LBX_OK ? 0 : 2);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fixture_write(path, "journal", &zero, 1, LBX__JOURNAL_FRONT);
    CHECK_STATUS(LBX_CORRUPT, try_open(path, &fault, &storage));
    CHECK(strstr(fault.text, "record 1 is damaged"));
}

/* A meta page of LMDB's that is lost shows an older state, which is well formed
 * and wrong. */
TEST(an_older_state_is_not_taken_for_the_latest)
{
    enum {
        PAGE = 4096
    };
    const char *copy = test_path();
    const char *path = test_path();
    uint8_t before[2 * PAGE];
    lbx_fault fault;
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    fixture_read(path, "data.mdb", before, sizeof(before), 0);
    storage = fixture_open(path, NULL, NULL);
    CHECK_OK(store_text(storage, "b", "2"));
    fixture_copy_store(path, copy);
    lbx__storage_close(storage);
    // By the journal: its records are of a generation yet to come.
    fixture_write(copy, "data.mdb", before, sizeof(before), 0);
    CHECK_STATUS(LBX_CORRUPT, try_open(copy, &fault, &storage));
    CHECK(strstr(fault.text, "older state"));
    // By `wake`, in the same boot, where the journal says nothing.
    fixture_write(path, "data.mdb", before, sizeof(before), 0);
    CHECK_STATUS(LBX_CORRUPT, try_open(path, &fault, &storage));
    CHECK(strstr(fault.text, "older state"));
}

/* Bytes of data.mdb, in a process of its own: LMDB may fault on a damaged page.
 * What opens and answers has the right values or says that there is damage; the
 * storage's own row has a sum, the others' are the rules'. */
TEST(flipped_bytes_of_the_meta_pages_do_not_read_as_empty)
{
    const char *path;
    long opened = 0, refused = 0, faulted = 0;

    test_paths_in_memory();
    path = make_killed();
    for (size_t at = 0; at < 2 * 4096; at += at % 4096 < 152 ? 1 : 512) {
        const char *copy = copy_flipped(path, "data.mdb", at, 0x41);
        const pid_t child = fork();
        int status;

        CHECK(child >= 0);
        if (child == 0) {
            lbx_fault fault;
            lbx__storage *storage;

            if (try_open(copy, &fault, &storage) != LBX_OK)
                _exit(1);
            _exit(batches_there(storage) == BATCHES ? 0 : 2);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (WIFSIGNALED(status))
            faulted++;
        else if (WEXITSTATUS(status) == 0)
            opened++;
        else if (WEXITSTATUS(status) == 1)
            refused++;
        else
            FAIL("byte %zu: something is missing, and nothing was said", at);
    }
    test_note("%ld opened whole, %ld refused, %ld faults in the child", opened,
              refused, faulted);
    CHECK(refused > 0);
}

/* A row that was put into data.mdb, with LMDB's own tools. */
static void
insert(const char *path, const char *table, MDB_val key)
{
    MDB_val value = {4, "\0\0\0\0"};
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;

    CHECK(mdb_env_create(&env) == 0 && mdb_env_set_maxdbs(env, 32) == 0);
    CHECK(mdb_env_open(env, path, 0, 0600) == 0);
    CHECK(mdb_txn_begin(env, NULL, 0, &txn) == 0);
    CHECK(mdb_dbi_open(txn, table, 0, &dbi) == 0);
    CHECK(mdb_put(txn, dbi, &key, &value, 0) == 0);
    CHECK(mdb_txn_commit(txn) == 0);
    mdb_env_close(env);
}

/* Rules copy keys into buffers of LBX__ROW_KEY_MAX bytes. */
TEST(a_key_that_is_too_long_is_damage)
{
    char key[400];
    const char *path = test_path();
    lbx__storage *storage;
    lbx__bytes at, value;

    lbx__storage_close(fixture_open(path, NULL, NULL));
    memset(key, 7, sizeof(key));
    insert(path, "bodies", (MDB_val){sizeof(key), key});
    storage = fixture_open(path, NULL, NULL);
    CHECK_OK(lbx__storage_begin(storage));
    CHECK_STATUS(LBX_CORRUPT, lbx__storage_seek(storage, LBX__BODIES, text(""),
                                                &at, &value));
    lbx__storage_commit(storage);
    lbx__storage_close(storage);
}
