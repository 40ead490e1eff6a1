/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room (ENG-2): what a full store has to say. It refuses what makes it grow, takes
 * everything else, and after everything was taken out holds as much as before,
 * without being opened again.
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
    LETTERS_MOST = 100000,
    ROUNDS = 5
};

static char body[2 << 20];

static void
key_text(char key[16], int number)
{
    (void)snprintf(key, 16, "k%08d", number);
}

static lbx_store_options
small_options(int64_t map_bytes)
{
    lbx_store_options options = fixture_options();

    options.durability = LBX_DURABILITY_PROCESS; // quicker, and the same here
    options.map_bytes = map_bytes;
    options.journal_bytes = 4 << 20;
    return options;
}

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
    for (int sent = 0; sent < LETTERS_MOST; sent++) {
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
fill_and_empty(lbx__storage *storage, size_t size, size_t bytes_least)
{
    const int first = fill(storage, size);
    int least = first;

    if ((size_t)first * size < bytes_least)
        FAIL("only %d letters of %zu bytes", first, size);
    for (int round = 0; round < ROUNDS; round++) {
        int again;

        // Sometimes leased first, sometimes in another order.
        for (int i = 0; i < first && round % 2; i++)
            lease(storage, i);
        for (int i = 0; i < first; i++)
            acknowledge(storage, round % 3 == 2 ? first - 1 - i : i);
        again = fill(storage, size);
        least = again < least ? again : least;
    }
    test_note("bodies of %zu bytes: %d, and %d again at the least", size, first,
              least);
    CHECK(least >= first * 8 / 10);
}

TEST_LIMIT(what_was_full_holds_as_much_again, 300)
{
    // Of 16 MiB, how much is for bodies at the least.
    static const struct {
        size_t size, bytes_least;
    } cases[] = {
        {1 << 20, 12 << 20}, {1 << 16, 12 << 20}, {5000, 6 << 20},
        {1900, 3 << 20},     {300, 2 << 20},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const lbx_store_options options = small_options(16 << 20);
        lbx__storage *storage = fixture_open(test_path(), &options, NULL);

        fill_and_empty(storage, cases[i].size, cases[i].bytes_least);
        lbx__storage_close(storage);
    }
}

TEST_LIMIT(a_larger_map_holds_more, 300)
{
    const lbx_store_options options = small_options(64 << 20);
    lbx__storage *storage = fixture_open(test_path(), &options, NULL);

    fill_and_empty(storage, 1 << 20, 55 << 20);
    lbx__storage_close(storage);
}

/* Small letters out, a large one in: pages in a row are found though they were
 * freed one by one. */
TEST_LIMIT(room_of_small_letters_is_room_for_large_ones, 120)
{
    const lbx_store_options options = small_options(16 << 20);
    lbx__storage *storage = fixture_open(test_path(), &options, NULL);
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
    lbx__storage_close(storage);
}

/* Commits are made for pages that were freed since the last time, not for every
 * send that is refused. */
TEST_LIMIT(refusing_is_cheap, 60)
{
    const lbx_store_options options = small_options(16 << 20);
    lbx__storage *storage = fixture_open(test_path(), &options, NULL);
    const lbx__header *own = &((lbx__file *)storage)->header;
    const int sent = fill(storage, 1 << 16);
    uint64_t before = own->generation;

    for (int i = 0; i < 100; i++)
        CHECK_STATUS(LBX_NO_SPACE, send(storage, sent, 1 << 16));
    CHECK(own->generation <= before + 2);
    acknowledge(storage, 0);
    acknowledge(storage, 1);
    CHECK_OK(send(storage, 0, 1 << 16)); // at once
    lbx__storage_close(storage);
}

/* What a store looks like after its letters came and went in groups: free pages
 * in many records, each with some. A transaction that has taken pages from all over
 * leaves fewer in a row than there were. */
TEST_LIMIT(a_large_letter_after_many_small_ones_is_taken_or_refused, 120)
{
    enum {
        SMALL = 2500
    };
    const lbx_store_options options = small_options(16 << 20);
    unsigned state = 1;

    for (long round = 0; round < test_rounds(4, 40); round++) {
        lbx__storage *storage = fixture_open(test_path(), &options, NULL);
        int taken = 0;

        for (int i = 0; i < 3 * SMALL; i++) {
            const int place = rand_r(&state) % SMALL;

            if (rand_r(&state) % 3 == 0)
                acknowledge(storage, place);
            else
                (void)send(storage, place,
                           (size_t)rand_r(&state) % (1U << 6 << place % 15));
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
        PLACES = 3000,
        STEPS = 6000
    };
    static bool is_there[PLACES], is_leased[PLACES];
    const lbx_store_options options = small_options(16 << 20);
    lbx__storage *storage = fixture_open(test_path(), &options, NULL);
    unsigned state = seed;
    int sent = 0, refused = 0;

    memset(is_there, 0, sizeof(is_there));
    memset(is_leased, 0, sizeof(is_leased));
    for (int i = 0; i < STEPS; i++) {
        const int place = rand_r(&state) % PLACES;
        const int shift = rand_r(&state) % 14;

        if (!is_there[place]) {
            const size_t size = (size_t)rand_r(&state) % size_most >> shift;

            is_there[place] = send(storage, place, size + 1) == LBX_OK;
            sent += is_there[place];
            refused += !is_there[place];
        } else if (!is_leased[place]) {
            lease(storage, place);
            is_leased[place] = true;
        } else {
            acknowledge(storage, place);
            is_there[place] = is_leased[place] = false;
        }
    }
    for (int i = 0; i < PLACES; i++)
        acknowledge(storage, i);
    test_note("seed %u: %d sent, %d refused", seed, sent, refused);
    CHECK(sent > 500);
    // Larger than what came before: it may be refused, once.
    (void)send(storage, 0, 1 << 20);
    for (int i = 0; i < 8; i++)
        CHECK_OK(send(storage, i, 1 << 20));
    lbx__storage_close(storage);
}

TEST_LIMIT(a_crowded_store_refuses_and_never_fails, 300)
{
    const long seeds = test_rounds(6, 60);

    for (uint32_t seed = 1; seed <= seeds; seed++)
        crowd(seed, seed % 2 ? 2 << 20 : 64 << 10);
}

/* A reader keeps the pages that it may see, as a copy does. */
TEST_LIMIT(what_a_reader_sees_is_no_room, 60)
{
    const lbx_store_options options = small_options(16 << 20);
    lbx__storage *storage = fixture_open(test_path(), &options, NULL);
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
    lbx__storage_close(storage);
}

/* Killed at any moment, full, after commits that only made room: what was
 * answered is there. */
TEST_LIMIT(a_full_store_can_be_killed, 60)
{
    const lbx_store_options options = small_options(16 << 20);
    char path[512], copy[512];
    lbx__storage *storage;
    int sent;

    (void)snprintf(path, sizeof(path), "%s", test_path());
    storage = fixture_open(path, &options, NULL);
    sent = fill(storage, 1 << 16);
    for (int step = 0; step < 6; step++) {
        lbx__storage *other;

        for (int i = 0; i < 5; i++)
            acknowledge(storage, step * 10 + i);
        for (int i = 0; i < 3; i++)
            CHECK_OK(send(storage, step * 10 + i, 1 << 16));
        (void)snprintf(copy, sizeof(copy), "%s", test_path());
        fixture_copy(path, copy, "data.mdb");
        fixture_copy(path, copy, "journal");
        other = fixture_open(copy, &options, NULL);
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

static char company_path[512];

static void
keep_company(int to)
{
    const lbx_store_options options = small_options(16 << 20);
    lbx__storage *storage = fixture_open(company_path, &options, NULL);

    say(to);
    for (;;) { // grants join requests
        CHECK_OK(lbx__storage_begin(storage));
        lbx__storage_commit(storage);
        (void)usleep(2000);
    }
}

/* In shared mode each batch is a commit, but the last one's pages wait for another. */
TEST_LIMIT(in_shared_mode_it_holds_as_much_again, 120)
{
    const lbx_store_options options = small_options(16 << 20);
    lbx__storage *storage;
    pid_t child;
    int from;

    (void)snprintf(company_path, sizeof(company_path), "%s", test_path());
    child = spawn(keep_company, &from);
    hear(from);
    storage = fixture_open(company_path, &options, NULL);
    CHECK(!lbx__file_is_exclusive(storage));
    fill_and_empty(storage, 1 << 18, 12 << 20);
    CHECK(!lbx__file_is_exclusive(storage));
    lbx__storage_close(storage);
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    (void)close(from);
}
