/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free space (ENG-2): a full store refuses what makes it grow, takes everything
 * else, and after everything was removed holds as much as before, without being
 * opened again.
 *
 * How much fits does not depend on the disk, so the stores are in memory: on a
 * disk each checkpoint waits for a flush, and these tests make thousands.
 */
#include "fixture.h"
#include "letters.h"
#include "stores/file/private.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LETTERS_MAX = 100000,
    ROUNDS = 5
};

static char body[2 << 20];

static void
key_text(char key[16], int number)
{
    (void)snprintf(key, 16, "k%08d", number);
}

static lbx__storage *
open_sized(const char *path, int64_t map_bytes)
{
    lbx_store_options options = fixture_options();

    options.durability = LBX_DURABILITY_PROCESS; // quicker, and the same here
    options.map_bytes = map_bytes;
    options.journal_bytes = 4 << 20;
    return fixture_open(path, &options, NULL);
}

static lbx__storage *
open_small(const char *path)
{
    return open_sized(path, 16 << 20);
}

/* A test with a small storage in memory, closed after the body. */
#define SPACE_TEST(name)                                                       \
    static void name##_in(lbx__storage *storage);                              \
    TEST(name)                                                                 \
    {                                                                          \
        lbx__storage *storage;                                                 \
                                                                               \
        test_paths_in_memory();                                                \
        storage = open_small(test_path());                                     \
        name##_in(storage);                                                    \
        lbx__storage_close(storage);                                           \
    }                                                                          \
    static void name##_in(lbx__storage *storage)

/* As a send does: a row comes, another is rewritten. */
static lbx_status
send(lbx__storage *storage, int number, size_t size)
{
    const lbx__row_size sizes[] = {{9, (uint32_t)size}, {4, 8}};
    const lbx__bytes value = {body, size}, head = {"a number", 8};
    lbx_status status;
    char key[16];

    key_text(key, number);
    CHECK_OK(lbx__storage_begin(storage));
    status = lbx__storage_reserve(storage, sizes, 2, LBX__GROWS);
    if (status == LBX_OK) {
        lbx__storage_put(storage, LBX__BODIES, text(key), &value, 1);
        lbx__storage_put(storage, LBX__BOX_RECORDS, text("head"), &head, 1);
    }
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
    return status;
}

/* As a receive does: rows of a letter that is leased. */
static void
lease(lbx__storage *storage, int number)
{
    const lbx__row_size sizes[] = {{9, 96}, {9, 32}};
    const lbx__bytes state = {body, 96}, wait = {body, 32};
    char key[16];

    key_text(key, number);
    CHECK_OK(lbx__storage_begin(storage));
    CHECK_OK(lbx__storage_reserve(storage, sizes, 2, LBX__SHRINKS));
    lbx__storage_put(storage, LBX__STATES, text(key), &state, 1);
    lbx__storage_put(storage, LBX__WAITS, text(key), &wait, 1);
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
}

static void
acknowledge(lbx__storage *storage, int number)
{
    const lbx__bytes head = {"a number", 8};
    char key[16];

    key_text(key, number);
    CHECK_OK(lbx__storage_begin(storage));
    CHECK_OK(lbx__storage_reserve(storage, NULL, 0, LBX__SHRINKS));
    lbx__storage_remove(storage, LBX__BODIES, text(key));
    lbx__storage_remove(storage, LBX__STATES, text(key));
    lbx__storage_remove(storage, LBX__WAITS, text(key));
    lbx__storage_put(storage, LBX__BOX_RECORDS, text("head"), &head, 1);
    CHECK_OK(lbx__storage_flush(storage, lbx__storage_commit(storage)));
}

static int
fill(lbx__storage *storage, size_t size)
{
    for (int sent = 0; sent < LETTERS_MAX; sent++) {
        const lbx_status status = send(storage, sent, size);

        if (status != LBX_OK) {
            CHECK_STATUS(LBX_NO_SPACE, status);
            return sent;
        }
    }
    FAIL("it is never full");
    return 0;
}

static void
fill_and_empty(lbx__storage *storage, size_t size, size_t bytes_min)
{
    const int first = fill(storage, size);
    int fewest = first;

    if ((size_t)first * size < bytes_min)
        FAIL("only %d letters of %zu bytes", first, size);
    for (int round = 0; round < ROUNDS; round++) {
        int again;

        // Sometimes leased first, sometimes in another order.
        for (int i = 0; i < first && round % 2; i++)
            lease(storage, i);
        for (int i = 0; i < first; i++)
            acknowledge(storage, round % 3 == 2 ? first - 1 - i : i);
        again = fill(storage, size);
        fewest = again < fewest ? again : fewest;
    }
    test_note("bodies of %zu bytes: %d, and %d again at the least", size, first,
              fewest);
    CHECK(fewest >= first * 8 / 10);
}

TEST(what_was_full_holds_as_much_again)
{
    // Of 16 MiB, how much is for bodies at the least.
    static const struct {
        size_t size, bytes_min;
    } cases[] = {
        {1 << 20, 12 << 20}, {1 << 16, 12 << 20}, {5000, 6 << 20},
        {1900, 3 << 20},     {300, 2 << 20},
    };

    test_paths_in_memory();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lbx__storage *storage = open_small(test_path());

        fill_and_empty(storage, cases[i].size, cases[i].bytes_min);
        lbx__storage_close(storage);
    }
}

TEST(a_larger_map_holds_more)
{
    lbx__storage *storage;

    test_paths_in_memory();
    storage = open_sized(test_path(), 64 << 20);
    fill_and_empty(storage, 1 << 20, 55 << 20);
    lbx__storage_close(storage);
}

/* Small letters out, a large one in: adjacent pages are found although they
 * were freed one by one. */
SPACE_TEST(room_of_small_letters_is_room_for_large_ones)
{
    int large = fill(storage, 1 << 20), small, again;

    for (int i = 0; i < large; i++)
        acknowledge(storage, i);
    small = fill(storage, 20000);
    for (int i = 0; i < small; i++)
        acknowledge(storage, i);
    again = fill(storage, 1 << 20);
    test_note("%d large ones, %d small ones, %d large ones", large, small,
              again);
    CHECK(again >= large * 8 / 10);
}

/* Commits are made for pages that were freed since the last time, not for every
 * send that is refused. */
SPACE_TEST(refusing_is_cheap)
{
    const lbx__header *header = &((lbx__file *)storage)->header;
    const int sent = fill(storage, 1 << 16);
    uint64_t before = header->generation;

    for (int i = 0; i < 100; i++)
        CHECK_STATUS(LBX_NO_SPACE, send(storage, sent, 1 << 16));
    CHECK(header->generation <= before + 2);
    acknowledge(storage, 0);
    acknowledge(storage, 1);
    CHECK_OK(send(storage, 0, 1 << 16)); // at once
}

/* After letters came and went in batches, free pages are in many records, each
 * with some. A transaction that has taken pages from all of them leaves fewer
 * adjacent ones than there were. */
TEST(a_large_letter_after_many_small_ones_is_taken_or_refused)
{
    enum {
        SMALL = 2500
    };
    unsigned state = 1;

    test_paths_in_memory();
    for (long round = 0; round < test_rounds(4, 40); round++) {
        lbx__storage *storage = open_small(test_path());
        int taken = 0;

        for (int i = 0; i < 3 * SMALL; i++) {
            const int slot = rand_r(&state) % SMALL;

            if (rand_r(&state) % 3 == 0)
                acknowledge(storage, slot);
            else
                (void)send(storage, slot,
                           (size_t)rand_r(&state) % (1U << 6 << slot % 15));
        }
        for (int i = 0; i < SMALL; i++)
            acknowledge(storage, i);
        for (int i = 0; i < 16; i++)
            taken += send(storage, i, 1 << 20) == LBX_OK;
        test_note("%d large ones", taken);
        CHECK(taken >= 8);
        lbx__storage_close(storage);
    }
}

/* Letters of all sizes come and go in any order on a store that is full all the
 * time: nothing but refusals, whatever the pages look like. */
static void
crowd(uint32_t seed, size_t size_most)
{
    enum {
        SLOTS = 3000,
        STEPS = 6000
    };
    static bool is_there[SLOTS], is_leased[SLOTS];
    lbx__storage *storage = open_small(test_path());
    unsigned state = seed;
    int sent = 0, refused = 0;

    memset(is_there, 0, sizeof(is_there));
    memset(is_leased, 0, sizeof(is_leased));
    for (int i = 0; i < STEPS; i++) {
        const int slot = rand_r(&state) % SLOTS;
        const int shift = rand_r(&state) % 14;

        if (!is_there[slot]) {
            const size_t size = (size_t)rand_r(&state) % size_most >> shift;

            is_there[slot] = send(storage, slot, size + 1) == LBX_OK;
            sent += is_there[slot];
            refused += !is_there[slot];
        } else if (!is_leased[slot]) {
            lease(storage, slot);
            is_leased[slot] = true;
        } else {
            acknowledge(storage, slot);
            is_there[slot] = is_leased[slot] = false;
        }
    }
    for (int i = 0; i < SLOTS; i++)
        acknowledge(storage, i);
    test_note("seed %u: %d sent, %d refused", seed, sent, refused);
    CHECK(sent > 500);
    // Larger than what came before: it may be refused, once.
    (void)send(storage, 0, 1 << 20);
    for (int i = 0; i < 8; i++)
        CHECK_OK(send(storage, i, 1 << 20));
    lbx__storage_close(storage);
}

TEST(a_crowded_store_refuses_and_never_fails)
{
    const long seeds = test_rounds(6, 60);

    test_paths_in_memory();
    for (uint32_t seed = 1; seed <= seeds; seed++)
        crowd(seed, seed % 2 ? 2 << 20 : 64 << 10);
}

/* A reader keeps the pages that it may see, as a copy does. */
SPACE_TEST(what_a_reader_sees_is_no_room)
{
    MDB_env *env = ((lbx__file *)storage)->engine.env;
    const int first = fill(storage, 1 << 16);
    MDB_txn *reader;
    int again;

    CHECK_INT(0, mdb_txn_begin(env, NULL, MDB_RDONLY, &reader));
    for (int i = 0; i < first; i++)
        acknowledge(storage, i);
    again = fill(storage, 1 << 16);
    CHECK(again < first / 2);
    mdb_txn_abort(reader);
    for (int i = 0; i < again; i++)
        acknowledge(storage, i);
    again = fill(storage, 1 << 16);
    CHECK(again >= first * 8 / 10);
}

/* A full store is killed after commits that only freed pages: what was reported
 * as done is there. */
TEST(a_full_store_can_be_killed)
{
    const char *copy, *path;
    lbx__storage *storage;
    int sent;

    test_paths_in_memory();
    path = test_path();
    storage = open_small(path);
    sent = fill(storage, 1 << 16);
    for (int step = 0; step < 6; step++) {
        lbx__storage *other;

        for (int i = 0; i < 5; i++)
            acknowledge(storage, step * 10 + i);
        for (int i = 0; i < 3; i++)
            CHECK_OK(send(storage, step * 10 + i, 1 << 16));
        copy = test_path();
        fixture_copy_store(path, copy);
        other = open_small(copy);
        CHECK_OK(lbx__storage_begin(other));
        for (int i = 0; i < sent; i++) {
            const bool is_gone = i / 10 <= step && (i % 10 == 3 || i % 10 == 4);
            lbx__bytes found;
            char key[16];

            key_text(key, i);
            CHECK_STATUS(
                is_gone ? LBX_NOT_FOUND : LBX_OK,
                lbx__storage_get(other, LBX__BODIES, text(key), &found));
        }
        CHECK_OK(lbx__storage_flush(other, lbx__storage_commit(other)));
        lbx__storage_close(other);
    }
    lbx__storage_close(storage);
}

static const char *shared_path;

static void
share(int to)
{
    lbx__storage *storage = open_small(shared_path);

    say(to);
    for (unsigned i = 0;; i++) { // grants join requests
        CHECK_OK(lbx__storage_begin(storage));
        lbx__storage_commit(storage);
        test_pause(i);
    }
}

/* In shared mode each batch is a commit, but the pages that the last one freed
 * are usable only after another. */
TEST(in_shared_mode_it_holds_as_much_again)
{
    lbx__storage *storage;
    struct child child;

    test_paths_in_memory();
    shared_path = test_path();
    child = spawn_ready(share);
    storage = open_small(shared_path);
    CHECK(!lbx__file_is_exclusive(storage));
    fill_and_empty(storage, 1 << 18, 12 << 20);
    CHECK(!lbx__file_is_exclusive(storage));
    lbx__storage_close(storage);
    kill_child(child);
}
