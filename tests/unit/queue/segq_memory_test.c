/* SPDX-License-Identifier: Apache-2.0 */
/* The segment queue: where its segments come from and go to. */
#include "queue/segq_fixture.h"

static size_t
cached_segments(void)
{
    size_t count = 0;

    for (int i = 0; i < LBX__SEGMENT_CACHE; i++)
        count += lbx__peek(&q.cache[i]) != NULL;
    return count;
}

static bool
is_cached(const lbx__segment *segment)
{
    for (int i = 0; i < LBX__SEGMENT_CACHE; i++)
        if (lbx__peek(&q.cache[i]) == segment)
            return true;
    return false;
}

QUEUE_TEST("", queue_has_no_segment_before_the_first_push, LBX__WORD, false)
{
    CHECK_INT(0, memory.live_bytes);
    CHECK_INT(NOTHING, pop());
    CHECK_INT(0, push(0));
    CHECK_INT(LBX__SEGMENT_BYTES, memory.live_bytes);
    CHECK_INT(0, pop());
}

/* What is used again must look like new: a 0 in every word 0. */
static void
cleans_used_segments(unsigned words, bool many)
{
    uint64_t slots = LBX__SLOTS(words);

    make(words, many);
    push_range(0, 4 * slots);
    check_pops(0, 4 * slots);
    CHECK_INT(NOTHING, pop());
    CHECK(cached_segments() >= 2);
    for (int i = 0; i < LBX__SEGMENT_CACHE; i++) {
        lbx__segment *segment = lbx__peek(&q.cache[i]);

        if (!segment)
            continue;
        CHECK_PTR(NULL, lbx__peek(&segment->next));
        for (uint64_t s = 0; s < slots; s++)
            CHECK_INT(0, lbx__peek(&segment->words[s * words]));
    }
    end();
}

TEST_CITING("SEGQ-4", used_up_segments_are_cleaned)
{
    cleans_used_segments(LBX__WORD, false);
    cleans_used_segments(LBX__PAIR, true);
    cleans_used_segments(LBX__ENVELOPE, false);
    cleans_used_segments(LBX__ENVELOPE, true);
}

/* A consumer that was stopped while it read: its segment must lie still. */
QUEUE_TEST("SEGQ-4", segment_in_a_hazard_is_not_used_again, LBX__WORD, true)
{
    uint64_t slots = LBX__SLOTS(LBX__WORD);
    lbx__segment *first;

    push_range(0, 4 * slots);
    first = lbx__peek(&q.first);
    lbx__store(&q.hazards[17].segment, (uint64_t)(uintptr_t)first, seq_cst);
    check_pops(0, 4 * slots);
    CHECK(!is_cached(first));
    CHECK_INT(1, item_message((uint64_t[]){lbx__peek(&first->words[1])}));
    lbx__store(&q.hazards[17].segment, 0, seq_cst);
    push_range(0, slots); // retiring one more looks at all
    check_pops(0, slots);
    CHECK(is_cached(first));
}

/* A segment is not used again before its last slot is taken. */
TEST_CITING("SEGQ-4", segment_that_is_not_used_up_is_kept)
{
    uint64_t slots = LBX__SLOTS(LBX__ENVELOPE);

    for (int many = 0; many <= 1; many++) {
        make(LBX__ENVELOPE, many);
        push_range(0, 3 * slots);
        check_pops(0, slots - 1);
        CHECK_INT(0, cached_segments());
        check_pops(slots - 1, 3 * slots);
        end();
    }
}

/* A burst's memory goes back, up to a small cache and what is in use. */
static void
gives_memory_back_after_a_burst(bool many)
{
    uint64_t slots = LBX__SLOTS(LBX__ENVELOPE);
    size_t fixed;

    make(LBX__ENVELOPE, many);
    fixed = memory.live_bytes; // the hazards
    push_range(0, 200 * slots);
    CHECK_INT(200 * LBX__SEGMENT_BYTES + fixed, memory.live_bytes);
    check_pops(0, 200 * slots);
    CHECK_INT(NOTHING, pop());
    CHECK(memory.live_bytes <=
          (LBX__SEGMENT_CACHE + 2) * LBX__SEGMENT_BYTES + fixed);
    end();
}

TEST(memory_shrinks_back_after_a_burst)
{
    gives_memory_back_after_a_burst(false);
    gives_memory_back_after_a_burst(true);
}

/* A steady stream lives on the same few segments. */
TEST_CITING("MSG-6", steady_stream_allocates_nothing)
{
    uint64_t slots = LBX__SLOTS(LBX__ENVELOPE);
    long before;

    for (int many = 0; many <= 1; many++) {
        make(LBX__ENVELOPE, many);
        for (uint64_t i = 0; i < 3 * slots; i++) {
            CHECK_INT(0, push(i));
            CHECK_INT(i, pop());
        }
        before = memory.allocations;
        for (uint64_t i = 0; i < 50 * slots; i++) {
            CHECK_INT(0, push(i));
            CHECK_INT(i, pop());
        }
        CHECK_INT(before, memory.allocations);
        end();
    }
}

TEST_CITING("MSG-7", what_is_left_inside_is_freed_with_the_queue)
{
    for (int many = 0; many <= 1; many++) {
        make(LBX__PAIR, many);
        push_range(0, 5 * LBX__SLOTS(LBX__PAIR));
        check_pops(0, LBX__SLOTS(LBX__PAIR) + 1);
        end();
    }
}

TEST(fini_takes_a_queue_that_was_never_made)
{
    memset(&q, 0, sizeof(q));
    lbx__segq_fini(&q);
    make(LBX__WORD, false);
    lbx__segq_fini(&q);
    lbx__segq_fini(&q);
    memory_fails(true);
    CHECK_STATUS(LBX_NO_MEMORY, lbx__segq_init(&q, LBX__WORD, true, allocator));
    lbx__segq_fini(&q);
    check_nothing_allocated();
}

TEST_CITING("MSG-5", push_without_memory_leaves_no_trace)
{
    uint64_t slots = LBX__SLOTS(LBX__PAIR);

    for (int many = 0; many <= 1; many++) {
        make(LBX__PAIR, many);
        memory_fails(true);
        CHECK_INT(LBX_NO_MEMORY, push(0));
        CHECK_INT(0, lbx__segq_accepted(&q));
        CHECK_INT(NOTHING, pop());
        memory_fails(false);
        push_range(0, slots);
        memory_fails(true);
        CHECK_INT(LBX_NO_MEMORY, push(99));
        CHECK_INT(slots, lbx__segq_accepted(&q));
        CHECK(lbx__segq_valid(&q));
        check_pops(0, slots);
        CHECK_INT(NOTHING, pop());
        memory_fails(false);
        end();
    }
}

/* More failures than the index has numbers: they must not come round and
 * claim slots that are taken. */
static void
recovers_after(uint64_t count)
{
    make(LBX__WORD, false);
    push_range(0, count);
    memory_fails(true);
    for (int i = 0; i < 70000; i++) {
        CHECK_INT(LBX_NO_MEMORY, push(99));
        CHECK_INT(count, lbx__segq_accepted(&q));
    }
    memory_fails(false);
    push_range(count, count + 10);
    CHECK_INT(count + 10, lbx__segq_accepted(&q));
    check_pops(0, count + 10);
    CHECK_INT(NOTHING, pop());
    end();
}

TEST_CITING("SEGQ-2 MSG-5", index_survives_70000_failing_pushes)
{
    recovers_after(0);
    recovers_after(LBX__SLOTS(LBX__WORD));
}

QUEUE_TEST("SEGQ-2", flags_and_close_survive_failing_pushes, LBX__WORD, false)
{
    memory_fails(true);
    lbx__segq_raise(&q, LBX__FLAG_WAITING);
    CHECK_INT(LBX_NO_MEMORY, push(0));
    memory_fails(false);
    CHECK_INT(LBX__FLAG_WAITING, push(0));
    memory_fails(true);
    for (uint64_t i = 1; i < LBX__SLOTS(LBX__WORD); i++)
        CHECK_INT(LBX__FLAG_WAITING, push(i));
    CHECK_INT(LBX_NO_MEMORY, push(0));
    lbx__segq_close(&q);
    CHECK_INT(LBX_CLOSED, push(0)); // closed counts before no memory
    CHECK_INT(LBX__SLOTS(LBX__WORD), lbx__segq_accepted(&q));
}

static void
fail_to_push(unsigned index, void *context)
{
    (void)context;
    for (int i = 0; i < 30000; i++)
        CHECK_INT(LBX_NO_MEMORY, push(index));
}

/* The mending of several threads at once takes nothing back that was good. */
QUEUE_TEST("SEGQ-2", index_is_mended_by_several_threads_at_once, LBX__ENVELOPE,
           false)
{
    uint64_t slots = LBX__SLOTS(LBX__ENVELOPE);

    push_range(0, slots);
    memory_fails(true);
    threads_run(3, fail_to_push, NULL);
    CHECK_INT(slots, lbx__segq_accepted(&q));
    memory_fails(false);
    push_range(slots, slots + 10);
    check_pops(0, slots + 10);
}

/* Memory for a while: every push that said OK is delivered. */
static void
push_under_torture(struct torture *tortured, void *context)
{
    lbx_allocator draws = torture_allocator(tortured);
    uint64_t accepted = 0;

    (void)context;
    if (lbx__segq_init(&q, LBX__ENVELOPE, true, &draws) != LBX_OK) {
        lbx__segq_fini(&q);
        return;
    }
    for (uint64_t i = 0; i < 4 * LBX__SLOTS(LBX__ENVELOPE); i++) {
        int flags = push(accepted);

        CHECK(flags == 0 || flags == LBX_NO_MEMORY);
        accepted += flags == 0;
    }
    CHECK_INT(accepted, lbx__segq_accepted(&q));
    check_pops(0, accepted);
    CHECK_INT(NOTHING, pop());
    lbx__segq_fini(&q);
}

TEST_CITING("MSG-1 MSG-5", queue_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(push_under_torture, NULL) >= 4);
}

static void *
allocate_askew(void *context, size_t size_bytes, size_t align_bytes)
{
    char *block = allocator->allocate(context, size_bytes + 64, align_bytes);

    return block ? block + 64 : NULL;
}

static void
release_askew(void *context, void *block, size_t size_bytes)
{
    allocator->release(context, (char *)block - 64, size_bytes + 64);
}

/* An allocator that breaks its word about alignment would break ours. */
TEST(segment_that_the_word_cannot_hold_is_refused)
{
    static lbx_allocator askew;

    askew.allocate = allocate_askew;
    askew.release = release_askew;
    askew.context = allocator->context;
    CHECK_OK(lbx__segq_init(&q, LBX__WORD, false, &askew));
    CHECK_INT(LBX_NO_MEMORY, push(1));
    CHECK_INT(0, lbx__segq_accepted(&q));
    end();
}

/* ---- Consumers beyond the last hazard ---- */

enum {
    CROWD = LBX__HAZARDS + 8,
    CROWD_MESSAGES = 20000,
};

static struct {
    _Atomic(uint64_t) taken;
    _Atomic(uint64_t) sum;
    pthread_barrier_t all_here;
} crowd;

static void
take_in_a_crowd(unsigned index, void *context)
{
    uint64_t last = 0;

    (void)index;
    (void)context;
    (void)pop(); // takes a thread number, and a hazard
    (void)pthread_barrier_wait(&crowd.all_here);
    while (lbx__load(&crowd.taken, seq_cst) < CROWD_MESSAGES) {
        uint64_t number = pop();

        if (number == NOTHING) {
            sched_yield();
            continue;
        }
        CHECK(number > last);
        last = number;
        (void)lbx__add(&crowd.sum, number, seq_cst);
        (void)lbx__add(&crowd.taken, 1, seq_cst);
    }
}

static void
fill_for_the_crowd(void *context)
{
    (void)context;
    (void)pthread_barrier_wait(&crowd.all_here);
    push_range(1, CROWD_MESSAGES + 1);
}

/* More consumer threads than hazards: the last ones share one. */
QUEUE_TEST("SEGQ-4 MSG-1 MSG-3", forty_consumer_threads_share_the_hazards,
           LBX__ENVELOPE, true)
{
    struct thread producer;

    CHECK_INT(0, pthread_barrier_init(&crowd.all_here, NULL, CROWD + 1));
    thread_start(&producer, fill_for_the_crowd, NULL);
    threads_run(CROWD, take_in_a_crowd, NULL);
    thread_join(&producer);
    CHECK_INT(CROWD_MESSAGES, crowd.taken);
    CHECK_INT((uint64_t)CROWD_MESSAGES * (CROWD_MESSAGES + 1) / 2, crowd.sum);
    CHECK_INT(CROWD_MESSAGES, lbx__segq_taken(&q));
    CHECK(memory.live_bytes <=
          (LBX__SEGMENT_CACHE + LBX__HAZARDS + 2) * LBX__SEGMENT_BYTES +
              LBX__HAZARDS * sizeof(lbx__hazard));
}
