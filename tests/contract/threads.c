/* SPDX-License-Identifier: Apache-2.0 */
/* Promises that must hold whatever the threads do. */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 4
};

struct race {
    struct desk *desk;
    lbx_box box;
    lbx_box other;
    long letters;
    _Atomic long sent;
    _Atomic long settled;
    _Atomic int *times; /* by letter: how often it was acknowledged */
    _Atomic long kinds[6];
};

static long
number_of(const struct taken *letter)
{
    return strtol(letter->body, NULL, 10);
}

static void
mail_number(struct race *race, lbx_box box, long number)
{
    char body[24];

    snprintf(body, sizeof(body), "%ld", number);
    mail(race->desk, box, body);
}

static void
drain(unsigned index, void *context)
{
    struct race *race = context;
    struct getting mine;

    (void)index;
    while (receive_some(race->desk, race->box, 3, 3600 * LBX_SECOND, &mine) ==
           LBX_OK)
        for (size_t i = 0; i < mine.count; i++) {
            CHECK_INT(1, mine.letters[i].delivery_count);
            atomic_fetch_add(&race->times[number_of(&mine.letters[i])], 1);
        }
}

void
promise_no_letter_is_leased_twice(struct desk *desk)
{
    struct race race = {.desk = desk, .letters = test_rounds(4000, 100000)};

    race.box = make_box(desk, "orders", NULL);
    race.times = calloc((size_t)race.letters, sizeof(*race.times));
    CHECK(race.times);
    for (long i = 0; i < race.letters; i++)
        mail_number(&race, race.box, i);
    threads_run(THREADS, drain, &race);
    for (long i = 0; i < race.letters; i++)
        CHECK_INT(1, race.times[i]);
    CHECK_INT(race.letters, count(desk, race.box).leased);
    free(race.times);
}

/* One sends, one gives up: the letter is with the receive, which says OK, or in
 * the box, untouched. */
static void
send_or_cancel(unsigned index, void *context)
{
    struct getting *mine = context;

    if (index == 0)
        mail(mine->desk, mine->request.box, "a");
    else
        (void)cancel_wait(mine);
}

void
promise_a_wait_is_cancelled_at_any_moment(struct desk *desk)
{
    const lbx_box box = make_box(desk, "orders", NULL);
    const long rounds = test_rounds(3000, 100000);
    long taken_count = 0;

    for (long i = 0; i < rounds; i++) {
        struct getting mine = {.count = 0};
        struct taken letter;

        begin_wait(&mine, desk, box);
        threads_run(2, send_or_cancel, &mine);
        if (mine.status == LBX_OK) {
            CHECK_INT(1, mine.count);
            letter = mine.letters[0];
            receive_none(desk, box);
            taken_count++;
        } else {
            CHECK_STATUS(LBX_CANCELLED, mine.status);
            CHECK_INT(0, mine.count);
            letter = receive(desk, box, "a");
        }
        CHECK_INT(1, letter.delivery_count);
        CHECK_OK(acknowledge(desk, box, &letter));
    }
    test_note("cancelled after the letter had come: %ld of %ld", taken_count,
              rounds);
}

/* Two threads, one letter: each waits for it and sends it to the other. */
static void
play(unsigned index, void *context)
{
    struct race *race = context;
    const lbx_box mine = index ? race->other : race->box;
    const lbx_box other = index ? race->box : race->other;

    for (long i = 0; i < race->letters; i++) {
        struct getting getting = {.count = 0};

        begin_wait(&getting, race->desk, mine);
        CHECK_OK(end_wait(&getting));
        CHECK_INT(2 * i + index, number_of(&getting.letters[0]));
        CHECK_OK(acknowledge(race->desk, mine, &getting.letters[0]));
        mail_number(race, other, 2 * i + index + 1);
    }
}

void
promise_threads_wake_each_other(struct desk *desk)
{
    struct race race = {.desk = desk, .letters = test_rounds(2000, 100000)};

    race.box = make_box(desk, "ping", NULL);
    race.other = make_box(desk, "pong", NULL);
    mail_number(&race, race.box, 0);
    threads_run(2, play, &race);
    CHECK_INT(1, count(desk, race.box).ready);
}

/* ---- The storm ---- */

enum {
    ACKNOWLEDGED,
    GIVEN_BACK,
    UNDONE,
    FORGOTTEN,
    STALE,
    CANCELLED
};

static uint32_t
draw(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

/* What a receiver does with a letter: now and then it settles with a receipt
 * that another delivery may have made stale. */
static void
handle(struct race *race, const struct taken *letter, uint32_t dice)
{
    struct desk *desk = race->desk;
    lbx_status status;

    if (dice % 8 == 0) {
        status = settle(desk, race->box, letter, LBX_SETTLE_NACK, 0);
        atomic_fetch_add(&race->kinds[GIVEN_BACK], 1);
    } else if (dice % 8 == 1) {
        status = undo(desk, race->box, letter);
        atomic_fetch_add(&race->kinds[UNDONE], 1);
    } else if (dice % 8 == 2) {
        // Given back by a lease that ends at once; then acknowledged, too late.
        (void)settle(desk, race->box, letter, LBX_SETTLE_EXTEND, 0);
        status = acknowledge(desk, race->box, letter);
        CHECK(status == LBX_EXPIRED || status == LBX_GONE);
        atomic_fetch_add(&race->kinds[STALE], 1);
        return;
    } else if (dice % 8 == 3) {
        status = settle(desk, race->box, letter, LBX_SETTLE_NACK, LBX_MS);
        atomic_fetch_add(&race->kinds[FORGOTTEN], 1);
    } else {
        status = acknowledge(desk, race->box, letter);
        if (status == LBX_OK) {
            CHECK_INT(0, atomic_fetch_add(&race->times[number_of(letter)], 1));
            atomic_fetch_add(&race->settled, 1);
        }
        atomic_fetch_add(&race->kinds[ACKNOWLEDGED], 1);
    }
    CHECK(status == LBX_OK || status == LBX_EXPIRED || status == LBX_GONE);
}

static void
receive_and_settle(struct race *race, uint32_t *dice)
{
    struct getting mine = {.count = 0};

    begin_wait_for(&mine, race->desk, race->box, 1 + draw(dice) % 4,
                   1 + draw(dice) % 2);
    // Some are given up at once, some after a while, some when nothing is left.
    for (uint32_t looks = draw(dice) % 64; !is_over(&mine) && looks > 0;
         looks--)
        sched_yield();
    if (!is_over(&mine) && cancel_wait(&mine) == LBX_CANCELLED) {
        CHECK_INT(0, mine.count);
        atomic_fetch_add(&race->kinds[CANCELLED], 1);
        return;
    }
    CHECK_OK(end_wait(&mine));
    CHECK(mine.count > 0);
    for (size_t i = 0; i < mine.count; i++)
        handle(race, &mine.letters[i], draw(dice));
}

static void
storm(unsigned index, void *context)
{
    struct race *race = context;
    uint32_t dice = index * 7919 + 1;

    if (index < 2) {
        long number;

        while ((number = atomic_fetch_add(&race->sent, 1)) < race->letters) {
            // Few are there at a time, so that receives wait and are given up.
            EVENTUALLY(number - atomic_load(&race->settled) < 2 * THREADS);
            mail_number(race, race->box, number);
        }
    } else if (index == 2) {
        while (atomic_load(&race->settled) < race->letters)
            advance(race->desk, LBX_MS);
    } else {
        while (atomic_load(&race->settled) < race->letters)
            receive_and_settle(race, &dice);
    }
}

void
promise_each_letter_is_settled_once(struct desk *desk)
{
    struct race race = {.desk = desk, .letters = test_rounds(8000, 400000)};
    lbx_box_counts counts;

    race.box = make_box(desk, "orders", NULL);
    race.times = calloc((size_t)race.letters, sizeof(*race.times));
    CHECK(race.times);
    threads_run(3 + THREADS, storm, &race);
    for (long i = 0; i < race.letters; i++)
        CHECK_INT(1, race.times[i]);
    counts = count(desk, race.box);
    CHECK_INT(0, counts.ready + counts.leased + counts.delayed);
    CHECK_INT(0, counts.bytes);
    test_note("storm: letters=%ld acknowledged=%ld returned=%ld undone=%ld "
              "later=%ld stale=%ld cancelled=%ld",
              race.letters, race.kinds[ACKNOWLEDGED], race.kinds[GIVEN_BACK],
              race.kinds[UNDONE], race.kinds[FORGOTTEN], race.kinds[STALE],
              race.kinds[CANCELLED]);
    free(race.times);
}
