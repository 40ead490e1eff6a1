/* SPDX-License-Identifier: Apache-2.0 */
/* The segment queue: order, claims, flags, the end. */
#include "queue/segq_fixture.h"

#include "base/park.h"
#include "support/threads.h"

static uint64_t
slots(void)
{
    return LBX__SLOTS(q.words);
}

/* A producer that has claimed a slot and was stopped before it filled it. */
static _Atomic(uint64_t) *
claim_only(void)
{
    uint64_t seen = lbx__add(&q.tail, LBX__INDEX_ONE, acquire);
    lbx__segment *segment =
        (lbx__segment *)(uintptr_t)(seen & LBX__SEGMENT_MASK);

    CHECK(seen >> LBX__INDEX_SHIFT < slots());
    return &segment->words[(seen >> LBX__INDEX_SHIFT) * q.words];
}

static void
keeps_order_over_five_segments(unsigned words, bool many)
{
    make(words, many);
    push_range(0, 5 * slots() + 3);
    CHECK(lbx__segq_valid(&q));
    check_pops(0, 5 * slots() + 3);
    CHECK_INT(NOTHING, pop());
    end();
}

TEST_CITING("MSG-1 MSG-2 MSG-3", words_leave_in_order_over_many_segments)
{
    keeps_order_over_five_segments(LBX__WORD, false);
    keeps_order_over_five_segments(LBX__WORD, true);
}

TEST_CITING("MSG-1 MSG-2 MSG-3", pairs_leave_in_order_over_many_segments)
{
    keeps_order_over_five_segments(LBX__PAIR, false);
    keeps_order_over_five_segments(LBX__PAIR, true);
}

TEST_CITING("MSG-1 MSG-2 MSG-3", envelopes_leave_in_order_over_many_segments)
{
    keeps_order_over_five_segments(LBX__ENVELOPE, false);
    keeps_order_over_five_segments(LBX__ENVELOPE, true);
}

/* Batches of a size that divides no segment, taken across segments' ends. */
static void
gives_batches_across_segments(bool many)
{
    uint64_t items[100];
    uint64_t next = 0;
    unsigned notes;

    make(LBX__WORD, many);
    push_range(0, 3 * slots());
    while (next < 3 * slots()) {
        size_t count = lbx__segq_pop(&q, items, 97, LBX__WORD, &notes);

        CHECK(count == 97 || next + count == 3 * slots());
        for (size_t i = 0; i < count; i++)
            CHECK_INT(next++, item_message(&items[i]));
    }
    end();
}

TEST(batches_go_on_across_the_end_of_a_segment)
{
    gives_batches_across_segments(false);
    gives_batches_across_segments(true);
}

/* NULL is a message like any other, though 0 means "not filled". */
TEST(null_message_is_a_message)
{
    uint64_t word = lbx__slot_encode(NULL);

    CHECK(word != 0);
    CHECK_PTR(NULL, lbx__slot_decode(word));
    for (int many = 0; many <= 1; many++) {
        make(LBX__WORD, many);
        CHECK_INT(0, push(0));
        CHECK_INT(0, push(1));
        CHECK_INT(0, push(0));
        CHECK_INT(3, lbx__segq_accepted(&q));
        CHECK_INT(0, pop());
        CHECK_INT(1, pop());
        CHECK_INT(0, pop());
        CHECK_INT(NOTHING, pop());
        end();
    }
}

QUEUE_TEST("", every_other_pointer_is_carried_as_it_is, LBX__WORD, false)
{
    static const uint64_t pointers[] = {1, 7, UINT32_MAX, (uint64_t)1 << 63,
                                        UINT64_MAX - 1};

    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(0, push(pointers[i]));
        CHECK_INT(pointers[i], pop());
    }
}

TEST(pop_of_nothing_takes_nothing)
{
    uint64_t item;
    unsigned notes = 99;

    for (int many = 0; many <= 1; many++) {
        make(LBX__WORD, many);
        CHECK_INT(NOTHING, pop());
        CHECK_INT(0, push(1));
        CHECK_INT(0, lbx__segq_pop(&q, &item, 0, LBX__WORD, &notes));
        CHECK_INT(0, notes);
        CHECK_INT(1, pop());
        end();
    }
}

/* A claimed slot belongs to its producer: later ones go round it, and the
 * consumer waits for it, so that order is kept. */
static void
waits_for_an_unfilled_claim(bool many)
{
    struct item item = item_of(2);
    _Atomic(uint64_t) *slot;

    make(LBX__ENVELOPE, many);
    CHECK_INT(0, push(1));
    slot = claim_only();
    CHECK_INT(0, push(3));
    CHECK_INT(3, lbx__segq_accepted(&q));
    CHECK_INT(1, pop());
    CHECK_INT(NOTHING, pop());
    CHECK_INT(1, lbx__segq_taken(&q));
    lbx__slot_fill(slot, item.words, LBX__ENVELOPE);
    check_pops(2, 4);
    end();
}

TEST_CITING("SEGQ-1 MSG-3", unfilled_claim_holds_back_the_one_consumer)
{
    waits_for_an_unfilled_claim(false);
}

TEST_CITING("SEGQ-1 MSG-3", unfilled_claim_holds_back_many_consumers)
{
    waits_for_an_unfilled_claim(true);
}

/* The last slot of a segment is claimed but not filled: the next segment is
 * installed all the same, and the old one stays. */
QUEUE_TEST("SEGQ-1 SEGQ-2", segment_with_an_unfilled_slot_stays, LBX__WORD,
           true)
{
    struct item item;
    _Atomic(uint64_t) *slot;

    push_range(0, slots() - 1);
    slot = claim_only();
    push_range(slots(), 2 * slots());
    check_pops(0, slots() - 1);
    CHECK_INT(NOTHING, pop());
    item = item_of(slots() - 1);
    lbx__slot_fill(slot, item.words, LBX__WORD);
    check_pops(slots() - 1, 2 * slots());
}

/* Many producers may step over the end before one of them installs. */
TEST_CITING("SEGQ-2", overshoots_are_mended_by_the_next_install)
{
    for (int many = 0; many <= 1; many++) {
        make(LBX__PAIR, many);
        push_range(0, slots());
        for (int i = 0; i < 1000; i++)
            (void)lbx__add(&q.tail, LBX__INDEX_ONE, acquire);
        CHECK_INT(slots(), lbx__segq_accepted(&q));
        CHECK_INT(0, push(slots()));
        CHECK_INT(slots() + 1, lbx__segq_accepted(&q));
        check_pops(0, slots() + 1);
        end();
    }
}

/* SEGQ-2: a loser's segment is not lost, it waits in the cache. */
TEST_CITING("SEGQ-2", push_that_comes_too_late_to_install_claims_anew)
{
    struct item item = item_of(1);
    uint64_t before;

    make(LBX__WORD, false);
    before = lbx__add(&q.tail, LBX__INDEX_ONE, acquire); // our overshoot
    CHECK_INT(0, push(0));                               // another installs
    CHECK_INT(0, lbx__segq_push_slow(&q, before, item.words));
    CHECK_INT(2, lbx__segq_accepted(&q));
    CHECK_INT(2 * LBX__SEGMENT_BYTES, memory.live_bytes);
    check_pops(0, 2);
    end();
}

QUEUE_TEST("SEGQ-2 SEGQ-6", flags_are_kept_when_a_segment_is_installed,
           LBX__WORD, false)
{
    int both = LBX__FLAG_WAITING | LBX__FLAG_OBSERVED;

    lbx__segq_raise(&q, LBX__FLAG_OBSERVED); // before the first
    CHECK_INT(0, lbx__segq_accepted(&q));
    CHECK_INT(LBX__FLAG_OBSERVED, push(0));
    lbx__segq_raise(&q, LBX__FLAG_WAITING);
    CHECK_INT(1, lbx__segq_accepted(&q));
    for (uint64_t i = 1; i < 3 * slots(); i++)
        CHECK_INT(both, push(i));
    lbx__segq_lower(&q, LBX__FLAG_WAITING);
    CHECK_INT(LBX__FLAG_OBSERVED, push(3 * slots()));
    lbx__segq_lower(&q, LBX__FLAG_OBSERVED);
    CHECK_INT(0, push(3 * slots() + 1));
    check_pops(0, 3 * slots() + 2);
}

/* Whoever waits knows exactly which messages it has to look for. */
QUEUE_TEST("SEGQ-6", raise_is_followed_by_an_exact_count, LBX__ENVELOPE, false)
{
    for (uint64_t i = 0; i < 2 * slots() + 2; i++) {
        lbx__segq_raise(&q, LBX__FLAG_WAITING);
        CHECK_INT(i, lbx__segq_accepted(&q));
        CHECK_INT(LBX__FLAG_WAITING, push(i));
        lbx__segq_lower(&q, LBX__FLAG_WAITING);
    }
    check_pops(0, 2 * slots() + 2);
}

/* A receiver that stalled behind a slot hears of its publication, on the fast
 * path, with flags, and when the publication is a link. */
QUEUE_TEST("SEGQ-6", fill_after_a_stall_says_so, LBX__WORD, false)
{
    CHECK_INT(0, push(0));
    lbx__store(&q.stalled, 1u, seq_cst);
    CHECK_INT(LBX__FLAG_STALLED, push(1));
    lbx__segq_raise(&q, LBX__FLAG_WAITING);
    CHECK_INT(LBX__FLAG_WAITING | LBX__FLAG_STALLED, push(2));
    lbx__segq_lower(&q, LBX__FLAG_WAITING);
    for (uint64_t i = 3; i < slots(); i++)
        CHECK_INT(LBX__FLAG_STALLED, push(i));
    CHECK_INT(LBX__FLAG_STALLED, push(slots())); // installs and links
    lbx__store(&q.stalled, 0u, seq_cst);
    CHECK_INT(0, push(slots() + 1));
    check_pops(0, slots() + 2);
}

/* However many pushes come too late, and however far they move the index. */
static void
freezes_its_end(uint64_t count, bool many)
{
    make(LBX__WORD, many);
    push_range(0, count);
    lbx__segq_close(&q);
    for (int i = 0; i < 140000; i++) // twice round the 16 bits of the index
        CHECK_INT(LBX_CLOSED, push(99));
    CHECK_INT(count, lbx__segq_accepted(&q));
    lbx__segq_raise(&q, LBX__FLAG_WAITING);
    CHECK_INT(count, lbx__segq_accepted(&q));
    CHECK_INT(count, lbx__segq_accepted(&q));
    check_pops(0, count);
    CHECK_INT(NOTHING, pop());
    CHECK_INT(count, lbx__segq_taken(&q));
    end();
}

TEST_CITING("SEGQ-3 MSG-5", close_freezes_the_end_inside_a_segment)
{
    freezes_its_end(5, false);
    freezes_its_end(5, true);
}

TEST_CITING("SEGQ-3", close_freezes_the_end_of_a_full_segment)
{
    freezes_its_end(LBX__SLOTS(LBX__WORD), false);
    freezes_its_end(2 * LBX__SLOTS(LBX__WORD), true);
}

TEST_CITING("SEGQ-3", close_before_the_first_push_ends_at_zero)
{
    freezes_its_end(0, false);
    freezes_its_end(0, true);
}

/* A producer that had seen the segment full finds the queue closed. */
TEST_CITING("SEGQ-3", close_beats_an_install_under_way)
{
    struct item item = item_of(1);
    uint64_t before;

    make(LBX__WORD, false);
    before = lbx__add(&q.tail, LBX__INDEX_ONE, acquire);
    lbx__segq_close(&q);
    CHECK_INT(LBX_CLOSED, lbx__segq_push_slow(&q, before, item.words));
    CHECK_INT(0, lbx__segq_accepted(&q));
    CHECK_INT(NOTHING, pop());
    end();
}

/* A claim before the close is filled after it, and is delivered. */
QUEUE_TEST("SEGQ-3 MSG-1", claim_before_close_is_delivered, LBX__ENVELOPE,
           false)
{
    struct item item = item_of(1);
    _Atomic(uint64_t) *slot;

    CHECK_INT(0, push(0));
    slot = claim_only();
    lbx__segq_close(&q);
    CHECK_INT(2, lbx__segq_accepted(&q));
    lbx__slot_fill(slot, item.words, LBX__ENVELOPE);
    check_pops(0, 2);
}

/* ---- More consumers than hazards ---- */

enum {
    CONSUMERS = LBX__HAZARDS + 4
};

static struct {
    pthread_barrier_t numbered; /* each thread has its number */
    pthread_barrier_t popped;
    _Atomic(uint32_t) done;
} crowd;

/* The first thread without a hazard of its own pops. */
static void
pop_by_the_shared_hazard(unsigned index, void *context)
{
    bool shares = lbx__thread_index() == LBX__HAZARDS - 1;
    uint64_t word;
    unsigned notes;

    (void)index;
    (void)context;
    (void)pthread_barrier_wait(&crowd.numbered);
    if (shares) {
        (void)lbx__segq_pop_many(&q, &word, 1, &notes);
        lbx__store(&crowd.done, 1u, seq_cst);
    }
    (void)pthread_barrier_wait(&crowd.popped);
}

static void
run_crowd(void *context)
{
    threads_run(CONSUMERS, pop_by_the_shared_hazard, context);
}

/* The last hazard belongs to the holder of the lock: a thread that shares it
 * waits for the lock, however many threads there are. */
QUEUE_TEST("SEGQ-4", the_shared_hazard_is_used_under_the_lock, LBX__WORD, true)
{
    struct thread runner;

    CHECK(pthread_barrier_init(&crowd.numbered, NULL, CONSUMERS) == 0);
    CHECK(pthread_barrier_init(&crowd.popped, NULL, CONSUMERS) == 0);
    CHECK(push(1) >= 0);
    lbx__lock_take(&q.lock);
    thread_start(&runner, run_crowd, NULL);
    while (lbx__load(&q.lock.word, seq_cst) != 2 &&
           lbx__load(&crowd.done, seq_cst) == 0)
        sched_yield();
    CHECK_INT(0, lbx__load(&crowd.done, seq_cst));
    lbx__lock_give(&q.lock);
    thread_join(&runner);
    CHECK_INT(1, lbx__load(&crowd.done, seq_cst));
    CHECK(pthread_barrier_destroy(&crowd.numbered) == 0);
    CHECK(pthread_barrier_destroy(&crowd.popped) == 0);
}

/* ---- lbx__segq_valid() ---- */

/* Negative control: valid() sees what it is there to see. */
TEST(segq_valid_notices_a_lost_message)
{
    make(LBX__WORD, false);
    push_range(0, 10);
    CHECK(lbx__segq_valid(&q));
    lbx__store(&lbx__peek(&q.first)->words[4], 0, relaxed);
    CHECK(!lbx__segq_valid(&q));
    lbx__segq_fini(&q);
}

TEST(segq_valid_notices_a_message_taken_twice)
{
    make(LBX__WORD, false);
    push_range(0, 3);
    check_pops(0, 3);
    CHECK(lbx__segq_valid(&q));
    lbx__store(&q.taken, 4, relaxed);
    CHECK(!lbx__segq_valid(&q));
    lbx__segq_fini(&q);
}
