/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that fail: flushes, writes, the allocation of disk space. After
 * a failed flush the store fails until it is opened again, and then has
 * everything that was reported as done; on a full disk sends are refused and
 * removals work.
 */
#include "fixture.h"
#include "stores/file/private.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static void
key_text(char key[16], int number)
{
    (void)snprintf(key, 16, "k%06d", number);
}

/* After a failed flush the storage is poisoned. */
TEST(a_failed_flush_poisons_until_the_store_is_opened_again)
{
    struct faulty_io faulty;
    const char *path = test_path();
    lbx__storage *storage;
    uint64_t ticket;

    faulty_init(&faulty);
    storage = fixture_open(path, NULL, &faulty.io);
    CHECK_OK(store_text(storage, "a", "1"));
    CHECK_OK(lbx__storage_begin(storage));
    put_text(storage, LBX__BODIES, "b", "2");
    ticket = lbx__storage_commit(storage);
    faulty.syncs_left = 0; // once: the kernel tells only once
    CHECK_STATUS(LBX_IO, lbx__storage_flush(storage, ticket));
    CHECK_STATUS(LBX_IO, lbx__storage_flush(storage, ticket));
    CHECK_OK(lbx__storage_flush(storage, ticket - 1)); // was answered before
    CHECK_STATUS(LBX_IO, lbx__storage_begin(storage));
    CHECK_STATUS(LBX_IO, storage->ops->sync(storage));
    lbx__storage_close(storage);
    storage = fixture_open(path, NULL, &faulty.io);
    check_text(storage, "a", "1");
    CHECK_OK(store_text(storage, "b", "3"));
    check_text(storage, "b", "3");
    lbx__storage_close(storage);
}

/* At level interval the flush is another thread's; its failure fails every
 * caller. */
TEST(a_flush_that_fails_in_the_background_poisons)
{
    lbx_store_options options = fixture_options();
    struct faulty_io faulty;
    const char *path = test_path();
    lbx__storage *storage;
    lbx_status status = LBX_OK;

    faulty_init(&faulty);
    faulty.syncs_left = 0;
    options.durability = LBX_DURABILITY_INTERVAL;
    options.interval_ms = 1;
    storage = fixture_open(path, &options, &faulty.io);
    while (status == LBX_OK) {
        status = lbx__storage_begin(storage);
        if (status != LBX_OK)
            break;
        put_text(storage, LBX__BODIES, "a", "1");
        status = lbx__storage_flush(storage, lbx__storage_commit(storage));
    }
    CHECK_STATUS(LBX_IO, status);
    CHECK_STATUS(LBX_IO, lbx__storage_begin(storage));
    lbx__storage_close(storage);
    storage = fixture_open(path, &options, NULL);
    CHECK_OK(store_text(storage, "a", "2"));
    lbx__storage_close(storage);
}

/* A write to the journal that fails, or is short, needs no poison: the batch
 * goes into LMDB instead. */
TEST(what_the_journal_does_not_take_is_checkpointed)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT, EINTR};

    for (size_t i = 0; i < 4; i++) {
        struct faulty_io faulty;
        const char *copy = test_path();
        const char *path = test_path();
        lbx__storage *storage;

        faulty_init(&faulty);
        faulty.error = errors[i];
        storage = fixture_open(path, NULL, &faulty.io);
        CHECK_OK(store_text(storage, "a", "1"));
        faulty.writes_left = 0;
        CHECK_OK(store_text(storage, "b", "2"));
        CHECK_INT(-1, faulty.writes_left);
        CHECK_OK(store_text(storage, "c", "3"));
        fixture_copy_store(path, copy);
        lbx__storage_close(storage);
        storage = fixture_open(copy, NULL, NULL);
        check_text(storage, "a", "1");
        check_text(storage, "b", "2");
        check_text(storage, "c", "3");
        lbx__storage_close(storage);
    }
}

/* What each trace does: groups until one fails; how many were answered. */
static int
run_trace(lbx__storage *storage, int groups)
{
    for (int i = 0; i < groups; i++) {
        char key[16];
        uint64_t ticket;

        key_text(key, i);
        if (lbx__storage_begin(storage) != LBX_OK)
            return i;
        put_text(storage, LBX__BODIES, key, key);
        ticket = lbx__storage_commit(storage);
        if (lbx__storage_flush(storage, ticket) != LBX_OK)
            return i;
    }
    return groups;
}

/* The k-th flush, the k-th write, for every k: whatever was answered is there
 * when it is opened again, and nothing is answered after the failure. */
TEST(every_call_may_fail_and_nothing_answered_is_lost)
{
    enum {
        GROUPS = 30
    };
    long failures = 0;

    test_paths_in_memory();
    for (int what = 0; what < 2; what++) {
        for (long k = 0;; k++) {
            struct faulty_io faulty;
            const char *path = test_path();
            lbx__storage *storage;
            int answered = 0;
            bool hit;

            faulty_init(&faulty);
            faulty.for_ever = true;
            *(what ? &faulty.writes_left : &faulty.syncs_left) = k;
            if (lbx__file_open(path, &(lbx_store_options){0}, &faulty.io,
                               &storage) != LBX_INVALID)
                FAIL("an options struct of zeros");
            {
                lbx_store_options options = fixture_options();

                if (lbx__file_open(path, &options, &faulty.io, &storage) ==
                    LBX_OK) {
                    answered = run_trace(storage, GROUPS);
                    lbx__storage_close(storage);
                }
            }
            hit = (what ? faulty.writes : faulty.syncs) > k;
            storage = fixture_open(path, NULL, NULL);
            for (int i = 0; i < answered; i++) {
                char key[16];

                key_text(key, i);
                check_text(storage, key, key);
            }
            CHECK_OK(store_text(storage, "more", "yes"));
            lbx__storage_close(storage);
            if (!hit) {
                CHECK_INT(GROUPS, answered);
                break;
            }
            // Writes that fail are made up for; flushes are not.
            CHECK(what == 1 || answered < GROUPS);
            failures++;
        }
    }
    test_note("%ld failures", failures);
}

/* ---- The full disk ---- */

static lbx_status
send(lbx__storage *storage, int number)
{
    static char body[2000];
    const lbx__row_size size = {7, sizeof(body)};
    const lbx__bytes value = {body, sizeof(body)};
    lbx_status status, flushed;
    char key[16];

    key_text(key, number);
    CHECK_OK(lbx__storage_begin(storage));
    status = lbx__storage_reserve(storage, &size, 1, LBX__GROWS);
    if (status == LBX_OK)
        lbx__storage_put(storage, LBX__BODIES, text(key), &value, 1);
    flushed = lbx__storage_flush(storage, lbx__storage_commit(storage));
    CHECK_OK(flushed);
    return status;
}

/* As an acknowledgement does: a row goes, another is rewritten. */
static void
acknowledge(lbx__storage *storage, int number)
{
    const lbx__row_size size = {4, 8};
    const lbx__bytes value = {"a number", 8};
    char key[16];

    key_text(key, number);
    CHECK_OK(lbx__storage_begin(storage));
    CHECK_OK(lbx__storage_reserve(storage, &size, 1, LBX__SHRINKS));
    lbx__storage_remove(storage, LBX__BODIES, text(key));
    lbx__storage_put(storage, LBX__BOX_RECORDS, text("head"), &value, 1);
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
}

/* ENG-2: sends until it is full, takes every letter out, and sends again. */
static void
fill_and_empty(lbx__storage *storage, int most)
{
    lbx_status status = LBX_OK;
    int sent = 0, again = 0;

    while (sent < most) {
        status = send(storage, sent);
        if (status != LBX_OK)
            break;
        sent++;
    }
    CHECK_STATUS(LBX_NO_SPACE, status);
    CHECK(sent > 0);
    CHECK_STATUS(LBX_NO_SPACE, send(storage, sent));
    for (int i = 0; i < sent; i++)
        acknowledge(storage, i);
    for (; again < sent / 2; again++) {
        if (send(storage, again) != LBX_OK)
            FAIL("%d letters until it was full, and %d again", sent, again);
    }
    test_note("%d letters until it was full, and %d again", sent, again);
}

TEST(a_full_disk_refuses_sends_and_lets_removals_through)
{
    lbx_store_options options = fixture_options();
    struct faulty_io faulty;
    lbx__storage *storage;

    test_paths_in_memory();
    faulty_init(&faulty);
    faulty.error = ENOSPC;
    faulty.for_ever = true;
    options.durability = LBX_DURABILITY_PROCESS; // quicker, and the same here
    storage = fixture_open(test_path(), &options, &faulty.io);
    // Some free space first: the file grows in small steps, then never again.
    faulty.allocates_left = 4;
    fill_and_empty(storage, 1000000);
    lbx__storage_close(storage);
}

TEST(a_full_map_refuses_sends_and_lets_removals_through)
{
    lbx_store_options options = fixture_options();
    lbx__storage *storage;

    test_paths_in_memory();
    options.durability = LBX_DURABILITY_PROCESS;
    options.map_bytes = 24 << 20;
    storage = fixture_open(test_path(), &options, NULL);
    fill_and_empty(storage, 1000000);
    lbx__storage_close(storage);
}

/* The same with a disk that is really full, under LMDB too. */
TEST(a_small_disk_refuses_sends_and_lets_removals_through)
{
    const char *path = test_path();
    lbx__storage *storage;

    CHECK(mkdir(path, 0700) == 0);
    // A name space of our own: the mount ends with this process.
    if (unshare(CLONE_NEWNS) < 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", path, "tmpfs", 0, "size=16m,mode=0700") < 0) {
        test_note("no right to mount a small disk: not tried");
        return;
    }
    storage = fixture_open(path, NULL, NULL);
    fill_and_empty(storage, 1000000);
    lbx__storage_close(storage);
    storage = fixture_open(path, NULL, NULL);
    CHECK_OK(send(storage, 0));
    lbx__storage_close(storage);
    CHECK(umount(path) == 0);
}
