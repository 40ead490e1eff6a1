/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises that must hold whatever the threads do. Rounds are bounded by time
 * as well as by number: a store that writes to a disk does as many as it can.
 */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    THREADS = 4,
    BUDGET_S = 2,    /* of a brief run */
    MIN_ROUNDS = 200 /* however long they take */
};

struct race {
    struct trial *trial;
    lbx_box box;
    lbx_box other;
    _Atomic long letters; /* how many there are to be; lowered by time */
    time_t end_s;
    pthread_mutex_t lock; /* for `sent` */
    long sent;
    _Atomic long settled;
    _Atomic int *times; /* by letter: how often it was acknowledged */
    _Atomic long kinds[6];
};

static time_t
seconds_now(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return now.tv_sec;
}

static struct race
make_race(struct trial *trial, lbx_box box, long letters)
{
    struct race race = {
        .trial = trial,
        .box = box,
        .letters = letters,
        .end_s = seconds_now() + BUDGET_S,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .times = calloc((size_t)letters, sizeof(*race.times)),
    };

    CHECK(race.times);
    return race;
}

/* True when after these rounds there is time for another. */
static bool
has_time(const struct race *race, long rounds)
{
    return rounds < MIN_ROUNDS || test_is_full() || seconds_now() < race->end_s;
}

/* Draws the number of the next letter to send; false when all were drawn. */
static bool
draw_number(struct race *race, long *ret)
{
    bool more;

    pthread_mutex_lock(&race->lock);
    if (!has_time(race, race->sent))
        race->letters = race->sent;
    more = race->sent < race->letters;
    if (more)
        *ret = race->sent++;
    pthread_mutex_unlock(&race->lock);
    return more;
}

/* Each letter was counted once; ends the race. */
static void
check_times(struct race *race)
{
    for (long i = 0; i < race->letters; i++)
        CHECK_INT(1, race->times[i]);
    free(race->times);
}

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
    mail(race->trial, box, body);
}

static void
drain(unsigned index, void *context)
{
    struct race *race = context;
    struct getting mine;

    (void)index;
    while (receive_some(race->trial, race->box, 3, 3600 * LBX_SECOND, &mine) ==
           LBX_OK)
        for (size_t i = 0; i < mine.count; i++) {
            CHECK_INT(1, mine.letters[i].delivery_count);
            atomic_fetch_add(&race->times[number_of(&mine.letters[i])], 1);
        }
}

PROMISE(no_letter_is_leased_twice)
{
    struct race race = make_race(trial, box, test_rounds(4000, 100000));
    long number;

    while (draw_number(&race, &number))
        mail_number(&race, box, number);
    threads_run(THREADS, drain, &race);
    CHECK_INT(race.letters, count(trial, box).leased);
    check_times(&race);
}

/* One thread sends, one cancels: the letter is with the receive, which returns
 * LBX_OK, or in the box, untouched. */
static void
send_or_cancel(unsigned index, void *context)
{
    struct getting *mine = context;

    if (index == 0)
        mail(mine->trial, mine->request.box, "a");
    else
        (void)cancel_wait(mine);
}

PROMISE(a_wait_is_cancelled_at_any_moment)
{
    struct race race = make_race(trial, box, test_rounds(3000, 100000));
    long taken_count = 0;
    long round;

    while (draw_number(&race, &round)) {
        struct getting mine = {.count = 0};
        struct taken letter;

        begin_wait(&mine, trial, box);
        threads_run(2, send_or_cancel, &mine);
        if (mine.status == LBX_OK) {
            CHECK_INT(1, mine.count);
            letter = mine.letters[0];
            receive_none(trial, box);
            taken_count++;
        } else {
            CHECK_STATUS(LBX_CANCELLED, mine.status);
            CHECK_INT(0, mine.count);
            letter = receive(trial, box, "a");
        }
        CHECK_INT(1, letter.delivery_count);
        CHECK_OK(acknowledge(trial, box, &letter));
    }
    test_note("cancelled after the letter had come: %ld of %ld", taken_count,
              race.sent);
    free(race.times);
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

        begin_wait(&getting, race->trial, mine);
        CHECK_OK(end_wait(&getting));
        CHECK_INT(2 * i + index, number_of(&getting.letters[0]));
        CHECK_OK(acknowledge(race->trial, mine, &getting.letters[0]));
        if (index == 0 && !has_time(race, i + 1))
            race->letters = i + 1; // for both: the other is in this round too
        mail_number(race, other, 2 * i + index + 1);
    }
}

PROMISE(threads_wake_each_other)
{
    struct race race = make_race(trial, box, test_rounds(2000, 100000));

    race.other = make_box(trial, "other", NULL);
    mail_number(&race, box, 0);
    threads_run(2, play, &race);
    CHECK_INT(1, count(trial, box).ready);
    free(race.times);
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
    struct trial *trial = race->trial;
    lbx_status status;

    if (dice % 8 == 0) {
        status = nack(trial, race->box, letter, 0);
        atomic_fetch_add(&race->kinds[GIVEN_BACK], 1);
    } else if (dice % 8 == 1) {
        status = undo(trial, race->box, letter);
        atomic_fetch_add(&race->kinds[UNDONE], 1);
    } else if (dice % 8 == 2) {
        // Given back by a lease that ends at once; then acknowledged, too late.
        (void)extend(trial, race->box, letter, 0);
        status = acknowledge(trial, race->box, letter);
        CHECK(status == LBX_EXPIRED || status == LBX_GONE);
        atomic_fetch_add(&race->kinds[STALE], 1);
        return;
    } else if (dice % 8 == 3) {
        status = nack(trial, race->box, letter, LBX_MS);
        atomic_fetch_add(&race->kinds[FORGOTTEN], 1);
    } else {
        status = acknowledge(trial, race->box, letter);
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

    begin_wait_for(&mine, race->trial, race->box, 1 + draw(dice) % 4,
                   1 + draw(dice) % 2);
    // Some are cancelled at once, some after a while, some when nothing is
    // left.
    for (uint32_t yields = draw(dice) % 64; !is_over(&mine) && yields > 0;
         yields--)
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

        while (draw_number(race, &number)) {
            // Few are there at a time, so that receives wait and are cancelled.
            EVENTUALLY(number - atomic_load(&race->settled) < 2 * THREADS);
            mail_number(race, race->box, number);
        }
    } else if (index == 2) {
        while (atomic_load(&race->settled) < race->letters)
            advance(race->trial, LBX_MS);
    } else {
        while (atomic_load(&race->settled) < race->letters)
            receive_and_settle(race, &dice);
    }
}

PROMISE(each_letter_is_settled_once)
{
    struct race race = make_race(trial, box, test_rounds(8000, 400000));
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    threads_run(3 + THREADS, storm, &race);
    counts = count(trial, box);
    CHECK_INT(0, counts.ready + counts.leased + counts.delayed);
    CHECK_INT(0, counts.bytes);
    test_note("storm: letters=%ld acknowledged=%ld returned=%ld undone=%ld "
              "later=%ld stale=%ld cancelled=%ld",
              race.letters, race.kinds[ACKNOWLEDGED], race.kinds[GIVEN_BACK],
              race.kinds[UNDONE], race.kinds[FORGOTTEN], race.kinds[STALE],
              race.kinds[CANCELLED]);
    check_times(&race);
}
