/* SPDX-License-Identifier: Apache-2.0 */
/* What post/rules/storage.h promises, of storage in files: rows, whatever
 * becomes of the journal, of the process, and of memory. Opening is in
 * open_test.c, flushing in level_test.c, time in store_time_test.c. */
#include "fixture.h"
#include "stores/file/private.h"
#include "support/torture.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* One environment for a place and process: a second would drop its locks. */
TEST(a_place_is_open_once_in_a_process)
{
    const char *path = test_path();
    lbx_fault fault;
    lbx__storage *storage = fixture_open(path, NULL, NULL);

    CHECK_STATUS(LBX_BUSY, fixture_try_open(path, NULL, &fault));
    CHECK_OK(store_text(storage, "a", "1"));
    lbx__storage_close(storage);
    CHECK_OK(fixture_try_open(path, NULL, &fault));
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
