/* SPDX-License-Identifier: Apache-2.0 */
/* The sorter: an inbox before a heap. */
#include "queue/priority_queue.h"

#include "queue/fixture.h"

static lbx__priority_queue sorter;

static void
make(unsigned words)
{
    lbx__bucket_order order = {0};

    CHECK_OK(lbx__priority_queue_init(&sorter, words, &order, allocator));
}

static void
end(void)
{
    CHECK(lbx__segq_valid(&sorter.inbox));
    CHECK(lbx__bucket_heap_valid(&sorter.heap));
    lbx__priority_queue_fini(&sorter);
    check_nothing_allocated();
}

static int
push(uint64_t number, int32_t priority)
{
    unsigned words = sorter.inbox.words;
    struct item item = item_urgent(number, priority, words);

    return lbx__segq_push(&sorter.inbox, item.words, words);
}

static uint64_t
pop(void)
{
    struct item item;
    unsigned notes;

    return lbx__priority_queue_pop(&sorter, item.words, 1, &notes) == 1
               ? item_message(item.words)
               : NOTHING;
}

static uint64_t
evict(void)
{
    struct item item;

    return lbx__priority_queue_evict(&sorter, item.words)
               ? item_message(item.words)
               : NOTHING;
}

static uint64_t
accepted(void)
{
    return lbx__segq_accepted(&sorter.inbox);
}

/* A message that is wholly sent takes part in the choice, also when others
 * were sorted before it came. */
QUEUE_TEST("PRIOQ-1 MSG-4", take_chooses_among_all_that_has_arrived, LBX__PAIR)
{
    CHECK_INT(0, push(5, 50));
    CHECK_INT(0, push(3, 30));
    CHECK_INT(3, pop());
    CHECK_INT(0, push(1, 10));
    CHECK_INT(0, push(6, 50));
    CHECK_INT(1, pop());
    CHECK_INT(0, push(0, -10)); // NULL
    CHECK_INT(0, pop());
    CHECK_INT(5, pop());
    CHECK_INT(6, pop());
    CHECK_INT(NOTHING, pop());
}

QUEUE_TEST("PRIOQ-1 R-36", what_has_arrived_beats_what_is_less_urgent,
           LBX__PAIR)
{
    lbx_envelope urgent = lbx_envelope_of(NULL, 10);
    lbx_envelope usual = lbx_envelope_of(NULL, 30);

    CHECK(!lbx__priority_queue_beats(&sorter, &usual));
    CHECK_INT(0, push(1, 30));
    CHECK(!lbx__priority_queue_beats(&sorter, &usual));
    CHECK_INT(0, push(2, 20));
    CHECK(lbx__priority_queue_beats(&sorter, &usual));
    CHECK(!lbx__priority_queue_beats(&sorter, &urgent));
    CHECK_INT(2, pop());
    CHECK_INT(1, pop());
}

/* Also when the inbox is many batches and segments long. */
static void
finds_the_last_of(uint64_t count, unsigned words)
{
    make(words);
    for (uint64_t i = 0; i < count; i++)
        CHECK_INT(0, push(i, (int32_t)(count - i)));
    for (uint64_t i = count; i-- > 0;)
        CHECK_INT(i, pop());
    end();
}

TEST_CITING("PRIOQ-1 MSG-4", take_sorts_an_inbox_of_many_segments)
{
    finds_the_last_of(1, LBX__PAIR);
    finds_the_last_of(16, LBX__ENVELOPE);
    finds_the_last_of(17, LBX__ENVELOPE);
    finds_the_last_of(5000, LBX__PAIR);
    finds_the_last_of(1000, LBX__ENVELOPE);
}

QUEUE_TEST("PRIOQ-1", batch_is_taken_most_urgent_first, LBX__PAIR)
{
    uint64_t items[10 * LBX__PAIR];
    unsigned notes;

    for (uint64_t i = 0; i < 20; i++)
        CHECK_INT(0, push(i, 20 - (int32_t)i));
    CHECK_INT(10, lbx__priority_queue_pop(&sorter, items, 10, &notes));
    for (uint64_t i = 0; i < 10; i++)
        CHECK_INT(19 - i, item_message(&items[i * LBX__PAIR]));
    CHECK_INT(10, lbx__priority_queue_taken(&sorter));
    CHECK_INT(9, pop());
}

/* Sorted is not taken. */
QUEUE_TEST("PRIOQ-2", only_what_leaves_counts_as_taken, LBX__PAIR)
{
    for (uint64_t i = 0; i < 40; i++) {
        CHECK_INT(0, push(i, 1));
        CHECK_INT(i + 1, accepted());
    }
    CHECK_INT(0, lbx__priority_queue_taken(&sorter));
    CHECK_INT(0, pop());
    CHECK_INT(1, lbx__priority_queue_taken(&sorter));
    CHECK_INT(40, lbx__segq_taken(&sorter.inbox)); // all sorted
    CHECK_INT(1, evict());
    CHECK_INT(2, lbx__priority_queue_taken(&sorter));
    CHECK_INT(40, accepted());
}

QUEUE_TEST("", sorter_evicts_the_least_urgent_and_oldest, LBX__ENVELOPE)
{
    CHECK_INT(0, push(1, 500));
    CHECK_INT(0, push(2, -3));
    CHECK_INT(0, push(3, 500));
    CHECK_INT(1, evict());
    CHECK_INT(0, push(4, 600));
    CHECK_INT(4, evict());
    CHECK_INT(3, evict());
    CHECK_INT(2, evict());
    CHECK_INT(NOTHING, evict());
    CHECK_INT(4, lbx__priority_queue_taken(&sorter));
}

/* No memory for the heap at all: it is a plain queue, but it goes on. */
QUEUE_TEST("PRIOQ-3 MSG-1", take_without_memory_takes_the_oldest_of_the_inbox,
           LBX__PAIR)
{
    for (uint64_t i = 0; i < 100; i++)
        CHECK_INT(0, push(i, 100 - (int32_t)i));
    memory_fails(true);
    for (uint64_t i = 0; i < 50; i++)
        CHECK_INT(i, pop());
    CHECK_INT(50, evict());
    CHECK_INT(51, lbx__priority_queue_taken(&sorter));
    CHECK_INT(49, lbx__priority_queue_outstanding(&sorter, 100));
    CHECK_INT(9, lbx__priority_queue_outstanding(&sorter, 60));
    memory_fails(false);
    for (uint64_t i = 100; i-- > 51;)
        CHECK_INT(i, pop());
    CHECK_INT(0, lbx__priority_queue_outstanding(&sorter, 100));
    CHECK_INT(NOTHING, pop());
}

/* What is sorted goes first, then the rest in the order it came. */
QUEUE_TEST("PRIOQ-3 MSG-1", take_without_memory_takes_what_is_sorted_first,
           LBX__PAIR)
{
    for (uint64_t i = 0; i < 64; i++)
        CHECK_INT(0, push(i, 500 - (int32_t)i));
    CHECK_INT(63, pop()); // a pool of 64, 63 of it used
    memory_fails(true);
    CHECK_INT(0, push(64, 1));
    CHECK_INT(0, push(65, 0));
    CHECK_INT(62, pop());
    CHECK_INT(2 + 62, lbx__priority_queue_outstanding(&sorter, 66));
    CHECK_INT(62, lbx__priority_queue_outstanding(&sorter, 64));
    memory_fails(false);
    CHECK_INT(65, pop());
    CHECK_INT(64, pop());
    for (uint64_t i = 62; i-- > 0;)
        CHECK_INT(i, pop());
    CHECK_INT(NOTHING, pop());
}

static void
sort_under_torture(struct torture *tortured, void *context)
{
    lbx_allocator draws = torture_allocator(tortured);
    lbx__bucket_order order = {0};
    bool seen[600] = {false};
    uint64_t sent = 0;

    (void)context;
    CHECK_OK(lbx__priority_queue_init(&sorter, LBX__ENVELOPE, &order, &draws));
    for (int i = 0; i < 600; i++)
        sent += push(sent, (int32_t)(i * 37 % 600)) == 0;
    CHECK_INT(sent, accepted());
    for (uint64_t i = 0; i < sent; i++) {
        uint64_t number = pop();

        CHECK(number < sent && !seen[number]);
        seen[number] = true;
    }
    CHECK_INT(NOTHING, pop());
    lbx__priority_queue_fini(&sorter);
}

TEST_CITING("PRIOQ-3 MSG-1", sorter_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(sort_under_torture, NULL) >= 6);
}

/* For flush: of the first `mark`, wherever they lie. */
QUEUE_TEST("PRIOQ-2", outstanding_looks_at_inbox_and_heap, LBX__PAIR)
{
    CHECK_INT(0, lbx__priority_queue_outstanding(&sorter, 0));
    for (uint64_t i = 0; i < 10; i++)
        CHECK_INT(0, push(i, 10 - (int32_t)i));
    CHECK_INT(10,
              lbx__priority_queue_outstanding(&sorter, 10)); // all in the inbox
    CHECK_INT(9, pop());
    CHECK_INT(9,
              lbx__priority_queue_outstanding(&sorter, 10)); // all in the heap
    for (uint64_t i = 10; i < 20; i++)
        CHECK_INT(0, push(i, 0));
    CHECK_INT(9, lbx__priority_queue_outstanding(&sorter, 10)); // in both
    CHECK_INT(19, lbx__priority_queue_outstanding(&sorter, 20));
    for (uint64_t i = 10; i < 20; i++)
        CHECK_INT(i, pop()); // newer, more urgent
    CHECK_INT(9, lbx__priority_queue_outstanding(&sorter, 10));
    for (uint64_t i = 9; i-- > 0;) {
        CHECK_INT(i, pop());
        CHECK_INT(i, lbx__priority_queue_outstanding(&sorter, 10));
    }
}

QUEUE_TEST("", sorter_gives_memory_back_after_a_burst, LBX__PAIR)
{
    for (uint64_t i = 0; i < 50000; i++)
        CHECK_INT(0, push(i, (int32_t)(i % 1000) - 500));
    while (pop() != NOTHING)
        ;
    CHECK_INT(50000, lbx__priority_queue_taken(&sorter));
    CHECK(memory.live_bytes <= (LBX__SEGMENT_CACHE + 2) * LBX__SEGMENT_BYTES);
}

QUEUE_TEST("MSG-7", what_is_left_in_a_sorter_is_freed_with_it, LBX__ENVELOPE)
{
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_INT(0, push(i, (int32_t)i));
    CHECK_INT(0, pop());
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_INT(0, push(i, (int32_t)i));
}

/* ---- With producers under way ---- */

enum {
    PRODUCERS = 3,
    EACH = 4000,
};

/* Producer p sends EACH messages of falling urgency and numbers p.000 on. */
static void
produce(unsigned index, void *context)
{
    (void)context;
    for (uint64_t i = 0; i < EACH; i++)
        CHECK_INT(0, push(index * 100000 + i, (int32_t)i - EACH / 2));
}

QUEUE_TEST("PRIOQ-1 MSG-4", messages_of_several_producers_are_sorted, LBX__PAIR)
{
    int64_t last = -1;

    threads_run(PRODUCERS, produce, NULL);
    for (int i = 0; i < PRODUCERS * EACH; i++) {
        int64_t urgency = (int64_t)(pop() % 100000);

        CHECK(urgency >= last);
        last = urgency;
    }
    CHECK_INT(NOTHING, pop());
}

static void
produce_or_take(unsigned index, void *context)
{
    uint64_t next[PRODUCERS] = {0};

    (void)context;
    if (index < PRODUCERS) {
        produce(index, NULL);
        return;
    }
    while (lbx__priority_queue_taken(&sorter) < PRODUCERS * EACH) {
        uint64_t number = pop();

        if (number != NOTHING) // each producer's own are in order
            CHECK_INT(next[number / 100000]++, number % 100000);
    }
}

QUEUE_TEST("PRIOQ-1 PRIOQ-2 MSG-1 MSG-3",
           sorter_takes_each_once_while_producers_send, LBX__PAIR)
{
    threads_run(PRODUCERS + 1, produce_or_take, NULL);
    CHECK_INT(PRODUCERS * EACH, accepted());
    CHECK_INT(NOTHING, pop());
}
