/* SPDX-License-Identifier: Apache-2.0 */
/* The segment queue: how many were accepted, and how many taken. */
#include "queue/segq_fixture.h"

// The push may ask for a wake-up, or not.
static void
push_noting(uint64_t number)
{
    CHECK(push(number) >= 0);
}

static void
counts_every_step(unsigned words, bool many)
{
    uint64_t slots = LBX__SLOTS(words);

    make(words, many);
    CHECK_INT(0, lbx__segq_accepted(&q));
    CHECK_INT(0, lbx__segq_taken(&q));
    for (uint64_t i = 0; i < 2 * slots + 2; i++) {
        push_noting(i);
        CHECK_INT(i + 1, lbx__segq_accepted(&q));
    }
    for (uint64_t i = 0; i < 2 * slots + 2; i++) {
        CHECK_INT(i, pop());
        CHECK_INT(i + 1, lbx__segq_taken(&q));
    }
    CHECK_INT(NOTHING, pop());
    CHECK_INT(2 * slots + 2, lbx__segq_taken(&q));
    CHECK_INT(2 * slots + 2, lbx__segq_accepted(&q));
    end();
}

TEST_CITING("SEGQ-5", counts_are_exact_at_every_step_with_one_consumer)
{
    counts_every_step(LBX__WORD, false);
    counts_every_step(LBX__PAIR, false);
    counts_every_step(LBX__ENVELOPE, false);
}

TEST_CITING("SEGQ-5", counts_are_exact_at_every_step_with_many_consumers)
{
    counts_every_step(LBX__WORD, true);
    counts_every_step(LBX__PAIR, true);
    counts_every_step(LBX__ENVELOPE, true);
}

/* A producer that has installed and was stopped before it counted: the word's
 * sequence makes up for it, also in raise and close. */
QUEUE_TEST("SEGQ-5", counts_do_not_lag_behind_the_word, LBX__ENVELOPE, false)
{
    uint64_t count = 5 * LBX__SLOTS(LBX__ENVELOPE) + 7;

    for (uint64_t i = 0; i < count; i++)
        push_noting(i);
    CHECK_INT(6, lbx__sub(&q.installs, 4, relaxed));
    CHECK_INT(count, lbx__segq_accepted(&q));
    lbx__segq_raise(&q, LBX__FLAG_WAITING);
    CHECK_INT(count, lbx__segq_accepted(&q));
    lbx__segq_close(&q);
    CHECK_INT(count, lbx__segq_accepted(&q));
}

QUEUE_TEST("SEGQ-5", taken_does_not_lag_behind_the_head, LBX__ENVELOPE, true)
{
    uint64_t count = 4 * LBX__SLOTS(LBX__ENVELOPE) + 1;

    for (uint64_t i = 0; i < count; i++)
        push_noting(i);
    for (uint64_t i = 0; i < count; i++)
        CHECK_INT(i, pop());
    CHECK_INT(5, lbx__sub(&q.retires, 3, relaxed));
    CHECK_INT(count, lbx__segq_taken(&q));
}

/* 11 bits of sequence: 2,048 segments, and on. */
static void
survives_the_wrap_of_the_sequence(bool many)
{
    uint64_t slots = LBX__SLOTS(LBX__ENVELOPE);
    uint64_t next = 0;

    make(LBX__ENVELOPE, many);
    for (uint64_t i = 0; i < 2050 * slots; i++) {
        push_noting(i);
        if (i % slots != 0)
            continue;
        CHECK_INT(i + 1, lbx__segq_accepted(&q));
        while (next <= i)
            CHECK_INT(next++, pop());
        CHECK_INT(i + 1, lbx__segq_taken(&q));
    }
    lbx__segq_close(&q);
    CHECK_INT(2050 * slots, lbx__segq_accepted(&q));
    while (next < 2050 * slots)
        CHECK_INT(next++, pop());
    end();
}

TEST_CITING("SEGQ-5 MSG-8", counts_survive_the_wrap_of_the_sequence)
{
    survives_the_wrap_of_the_sequence(false);
    survives_the_wrap_of_the_sequence(true);
}

/* Counts of a queue that has long been in use: 2^60 messages ago. */
TEST_CITING("SEGQ-5 MSG-8", counts_survive_many_installs)
{
    uint64_t slots = LBX__SLOTS(LBX__WORD);
    uint64_t installs = ((uint64_t)1 << 60) / slots & ~(uint64_t)2047;
    uint64_t before = installs * slots;

    make(LBX__WORD, false);
    lbx__store(&q.installs, installs, relaxed);
    for (uint64_t i = 0; i < 2 * slots; i++) {
        push_noting(i);
        CHECK_INT(before + i + 1, lbx__segq_accepted(&q));
    }
    lbx__segq_close(&q);
    CHECK_INT(before + 2 * slots, lbx__segq_accepted(&q));
    lbx__segq_fini(&q);
}

/* A claim that was not filled counts, one that came too late does not. */
TEST_CITING("SEGQ-1 SEGQ-5", only_claims_are_counted)
{
    uint64_t slots = LBX__SLOTS(LBX__PAIR);

    make(LBX__PAIR, false);
    push_noting(0);
    (void)lbx__add(&q.tail, LBX__INDEX_ONE, acquire);
    CHECK_INT(2, lbx__segq_accepted(&q));
    for (uint64_t i = 2; i < slots + 5; i++)
        (void)lbx__add(&q.tail, LBX__INDEX_ONE, acquire);
    CHECK_INT(slots, lbx__segq_accepted(&q));
    lbx__segq_fini(&q);
}

static unsigned
samples_in(uint64_t count)
{
    struct item item;
    unsigned samples = 0;
    unsigned notes;

    for (uint64_t i = 0; i < count; i++)
        push_noting(i);
    for (uint64_t i = 0; i < count; i++) {
        CHECK_INT(1, lbx__segq_pop(&q, item.words, 1, q.words, &notes));
        CHECK_INT(0, notes & ~(unsigned)LBX__NOTE_SAMPLE);
        samples += notes != 0;
    }
    end();
    return samples;
}

/* The mailbox's high water mark lives on these notes. */
TEST(sample_note_comes_every_256_takes_of_one_consumer)
{
    make(LBX__WORD, false);
    CHECK_INT(16, samples_in(16 * LBX__SAMPLE_EVERY));
    make(LBX__ENVELOPE, false);
    CHECK_INT(16, samples_in(16 * LBX__SAMPLE_EVERY));
}

/* Many consumers count within a segment; about as often is enough. */
TEST(sample_note_comes_now_and_then_to_many_consumers)
{
    make(LBX__WORD, true);
    CHECK(samples_in(16 * LBX__SAMPLE_EVERY) >= 8);
    make(LBX__PAIR, true);
    CHECK(samples_in(16 * LBX__SAMPLE_EVERY) >= 8);
}
