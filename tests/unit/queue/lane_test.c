/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes: the same promises from every queue. */
#include "queue/lane.h"

#include "queue/fixture.h"

static lbx__lane lane;

#define LANE_TEST(word, kind, promise)                                         \
    TEST(word##_##promise)                                                     \
    {                                                                          \
        promise(kind);                                                         \
    }

#define FOR_EVERY_LANE(kind)                                                   \
    for (enum lane_kind kind = SEGQ_ONE; kind < LANE_KINDS; kind++)

static void
make(enum lane_kind kind)
{
    lane_make(&lane, kind, 1000);
}

static void
end(void)
{
    CHECK(lane_valid(&lane));
    lane_end(&lane);
}

static void
give_range(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_INT(0, lane_give(&lane, i));
}

static void
check_takes(uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        CHECK_INT(i, lane_take(&lane));
}

TEST_CITING("MSG-1 MSG-3", every_lane_keeps_order)
{
    FOR_EVERY_LANE(kind)
    {
        make(kind);
        CHECK_INT(NOTHING, lane_take(&lane));
        give_range(0, 900);
        check_takes(0, 900);
        CHECK_INT(NOTHING, lane_take(&lane));
        end();
    }
}

TEST(every_lane_gives_batches)
{
    uint64_t items[60 * LBX__ENVELOPE];
    unsigned notes;

    FOR_EVERY_LANE(kind)
    {
        make(kind);
        give_range(0, 100);
        CHECK_INT(60, lbx__lane_pop(&lane, items, 60, &notes));
        for (uint64_t i = 0; i < 60; i++)
            CHECK_INT(i, item_message(&items[i * LBX__ENVELOPE]));
        CHECK_INT(40, lbx__lane_pop(&lane, items, 60, &notes));
        for (uint64_t i = 0; i < 40; i++)
            CHECK_INT(60 + i, item_message(&items[i * LBX__ENVELOPE]));
        CHECK_INT(0, lbx__lane_pop(&lane, items, 60, &notes));
        CHECK_INT(0, notes);
        end();
    }
}

TEST(lanes_of_words_are_served_as_well)
{
    uint64_t word;
    unsigned notes;

    for (int is_ring = 0; is_ring <= 1; is_ring++) {
        memset(&lane, 0, sizeof(lane));
        lane.words = LBX__WORD;
        lane.type = is_ring ? LBX__LANE_RING : LBX__LANE_SEGQ;
        if (is_ring)
            CHECK_OK(lbx__ring_init(&lane.q.ring, 3, LBX__WORD, false, false,
                                    allocator));
        else
            CHECK_OK(lbx__segq_init(&lane.q.segq, LBX__WORD, true, allocator));
        for (uint64_t i = 0; i < 5000; i++) {
            word = lbx__slot_encode((void *)(uintptr_t)i);
            CHECK_INT(0, lbx__lane_push(&lane, &word, false));
            CHECK_INT(1, lbx__lane_pop(&lane, &word, 1, &notes));
            CHECK_INT(i, item_message(&word));
        }
        end();
    }
}

TEST_CITING("LANE-1", every_lane_shows_its_flags_to_pushes)
{
    FOR_EVERY_LANE(kind)
    {
        make(kind);
        lbx__lane_raise(&lane, LBX__FLAG_WAITING);
        CHECK_INT(0, lbx__lane_accepted(&lane));
        CHECK_INT(LBX__FLAG_WAITING, lane_give(&lane, 0));
        lbx__lane_raise(&lane, LBX__FLAG_OBSERVED);
        CHECK_INT(1, lbx__lane_accepted(&lane));
        CHECK_INT(LBX__FLAG_WAITING | LBX__FLAG_OBSERVED, lane_give(&lane, 1));
        lbx__lane_lower(&lane, LBX__FLAG_WAITING);
        CHECK_INT(LBX__FLAG_OBSERVED, lane_give(&lane, 2));
        lbx__lane_lower(&lane, LBX__FLAG_OBSERVED);
        CHECK_INT(0, lane_give(&lane, 3));
        lbx__lane_raise(&lane, LBX__FLAG_WAITING);
        CHECK_INT(4, lbx__lane_accepted(&lane));
        check_takes(0, 4);
        end();
    }
}

TEST_CITING("LANE-2", every_lane_knows_its_depth)
{
    FOR_EVERY_LANE(kind)
    {
        make(kind);
        CHECK_INT(0, lbx__lane_depth(&lane));
        for (uint64_t i = 0; i < 400; i++) {
            CHECK_INT(0, lane_give(&lane, 2 * i));
            CHECK_INT(0, lane_give(&lane, 2 * i + 1));
            CHECK_INT(i, lane_take(&lane));
            CHECK_INT(2 * i + 2, lbx__lane_accepted(&lane));
            CHECK_INT(i + 1, lbx__lane_taken(&lane));
            CHECK_INT(i + 1, lbx__lane_depth(&lane));
        }
        check_takes(400, 800);
        CHECK_INT(0, lbx__lane_depth(&lane));
        end();
    }
}

TEST_CITING("LANE-3 MSG-5", push_to_a_closed_lane_leaves_no_trace)
{
    FOR_EVERY_LANE(kind)
    {
        make(kind);
        give_range(0, 3);
        lbx__lane_close(&lane);
        for (int i = 0; i < 10; i++)
            CHECK_INT(LBX_CLOSED, lane_give(&lane, 9));
        CHECK_INT(3, lbx__lane_accepted(&lane));
        lbx__lane_raise(&lane, LBX__FLAG_WAITING);
        CHECK_INT(3, lbx__lane_accepted(&lane));
        check_takes(0, 3);
        CHECK_INT(NOTHING, lane_take(&lane));
        CHECK_INT(LBX_CLOSED, lane_give(&lane, 9));
        CHECK_INT(0, lbx__lane_depth(&lane));
        end();
    }
}

TEST_CITING("LANE-3 MSG-5", push_without_memory_leaves_no_trace_in_any_lane)
{
    FOR_EVERY_LANE(kind)
    {
        if (lane_is_ring(kind))
            continue;
        make(kind);
        memory_fails(true);
        CHECK_INT(LBX_NO_MEMORY, lane_give(&lane, 9));
        CHECK_INT(0, lbx__lane_accepted(&lane));
        CHECK_INT(NOTHING, lane_take(&lane));
        memory_fails(false);
        give_range(0, 2);
        check_takes(0, 2);
        end();
    }
}

TEST_CITING("LANE-3 MSG-5", push_to_a_full_ring_leaves_no_trace)
{
    FOR_EVERY_LANE(kind)
    {
        if (!lane_is_ring(kind))
            continue;
        lane_make(&lane, kind, 3);
        give_range(0, 3);
        CHECK_INT(LBX_FULL, lane_give(&lane, 9));
        CHECK_INT(3, lbx__lane_accepted(&lane));
        check_takes(0, 3);
        CHECK_INT(NOTHING, lane_take(&lane));
        end();
    }
}

/* A flush waits for what was inside when it began, and for no more. */
TEST(every_lane_knows_what_is_left_from_before_a_mark)
{
    FOR_EVERY_LANE(kind)
    {
        uint64_t mark;

        make(kind);
        CHECK_INT(0, lbx__lane_outstanding(&lane, lbx__lane_mark(&lane)));
        give_range(0, 10);
        check_takes(0, 4);
        mark = lbx__lane_mark(&lane);
        CHECK_INT(6, lbx__lane_outstanding(&lane, mark));
        give_range(10, 20);
        CHECK_INT(6, lbx__lane_outstanding(&lane, mark));
        check_takes(4, 9);
        CHECK_INT(1, lbx__lane_outstanding(&lane, mark));
        check_takes(9, 10);
        CHECK_INT(0, lbx__lane_outstanding(&lane, mark));
        check_takes(10, 20);
        CHECK_INT(0, lbx__lane_outstanding(&lane, mark));
        end();
    }
}

/* In a sorter the newer may leave first: they do not count. */
QUEUE_TEST("", mark_of_a_sorter_is_not_reached_by_newer_ones, SORTER)
{
    struct item item;
    uint64_t mark;

    give_range(0, 3);
    mark = lbx__lane_mark(&lane);
    for (uint64_t i = 0; i < 5; i++) {
        item = item_urgent(100 + i, -1, LBX__ENVELOPE);
        CHECK_INT(0, lbx__lane_push(&lane, item.words, false));
    }
    check_takes(100, 105);
    CHECK_INT(3, lbx__lane_outstanding(&lane, mark));
    check_takes(0, 3);
    CHECK_INT(0, lbx__lane_outstanding(&lane, mark));
}

/* What is put in front later has to leave before, and holds the mark up. */
QUEUE_TEST("", mark_of_a_shelf_stands_behind_later_fronts, SHELF)
{
    uint64_t mark;

    give_range(10, 12);
    mark = lbx__lane_mark(&lane);
    CHECK_INT(0,
              lbx__locked_queue_push(&lane.q.locked, item_of(9).words, true));
    give_range(12, 13);
    CHECK_INT(3, lbx__lane_outstanding(&lane, mark));
    check_takes(9, 11);
    CHECK_INT(1, lbx__lane_outstanding(&lane, mark));
    check_takes(11, 12);
    CHECK_INT(0, lbx__lane_outstanding(&lane, mark));
    CHECK_INT(1, lbx__lane_depth(&lane));
    CHECK_INT(1, lbx__lane_outstanding(&lane, lbx__lane_mark(&lane)));
}

static void
churn_the_front(void *context)
{
    (void)context;
    for (long i = test_rounds(2000000, 20000000); i > 0; i--) {
        CHECK_INT(
            0, lbx__locked_queue_push(&lane.q.locked, item_of(2).words, true));
        CHECK_INT(2, lane_take(&lane));
    }
    CHECK_INT(1, lane_take(&lane));
}

/* The oldest message does not leave before the end: no flush may find that it
 * has. */
TEST(mark_of_a_shelf_is_exact_while_fronts_come_and_go)
{
    struct thread churn;
    uint64_t before;
    long early = 0;
    long wrong = 0;

    make(SHELF);
    give_range(1, 2);
    before = (uint64_t)test_rounds(2000000, 20000000);
    thread_start(&churn, churn_the_front, NULL);
    while (lbx__lane_taken(&lane) < before) {
        uint64_t mark = lbx__lane_mark(&lane);
        uint64_t left = lbx__lane_outstanding(&lane, 1);

        if (lbx__lane_taken(&lane) > before)
            break; // the oldest has left
        wrong += mark != 1;
        early += left == 0;
    }
    thread_join(&churn);
    if (wrong + early > 0)
        FAIL("%ld wrong marks, %ld times nothing outstanding", wrong, early);
    end();
}

TEST_CITING("SEGQ-6 RING-6", stall_is_seen_where_a_push_has_two_steps)
{
    FOR_EVERY_LANE(kind)
    {
        make(kind);
        CHECK_INT(0, lane_give(&lane, 0));
        lbx__lane_stall(&lane, true);
        CHECK_INT(kind == SHELF ? 0 : LBX__FLAG_STALLED, lane_give(&lane, 1));
        lbx__lane_stall(&lane, false);
        CHECK_INT(0, lane_give(&lane, 2));
        check_takes(0, 3);
        end();
    }
}

/* With a quota, senders wait there; otherwise at the ring's gate. */
TEST_CITING("RING-6 QUOTA-2", senders_wait_where_the_room_is_counted)
{
    static lbx__quota quota;
    struct item item;
    unsigned notes;
    uint64_t used;

    lane_make(&lane, RING_GATED, 2);
    give_range(0, 2);
    lbx__lane_raise_senders(&lane);
    CHECK_INT(1, lbx__lane_pop(&lane, item.words, 1, &notes));
    CHECK_INT(LBX__NOTE_SENDERS, notes);
    CHECK_INT(LBX_FULL, lane_give(&lane, 9));
    CHECK_INT(0, lbx__lane_push(&lane, item_of(2).words, true));
    lbx__lane_lower_senders(&lane);
    check_takes(1, 3);
    end();
    FOR_EVERY_LANE(kind)
    {
        if (lane_is_ring(kind))
            continue;
        make(kind);
        lbx__quota_init(&quota, 2, false);
        lane.quota = &quota;
        CHECK(lbx__quota_take(&quota, false, &used));
        CHECK(lbx__quota_take(&quota, false, &used));
        give_range(0, 2);
        lbx__lane_raise_senders(&lane);
        CHECK_INT(1, lbx__lane_pop(&lane, item.words, 1, &notes));
        CHECK_INT(LBX__NOTE_SENDERS, notes);
        CHECK(!lbx__quota_take(&quota, false, &used));
        lbx__lane_lower_senders(&lane);
        CHECK_INT(1, lbx__lane_pop(&lane, item.words, 1, &notes));
        CHECK_INT(0, notes);
        CHECK_INT(0, lbx__quota_used(&quota));
        CHECK_INT(0, lbx__lane_pop(&lane, item.words, 1, &notes));
        CHECK_INT(0, lbx__quota_used(&quota)); // nothing given for nothing
        end();
    }
}

TEST(eviction_takes_what_matters_least_and_gives_its_room_back)
{
    static lbx__quota quota;
    struct item item;
    uint64_t used;

    FOR_EVERY_LANE(kind)
    {
        make(kind);
        CHECK(!lbx__lane_evict(&lane, item.words));
        lbx__quota_init(&quota, 3, false);
        if (!lane_is_ring(kind))
            lane.quota = &quota;
        for (int i = 0; i < 3; i++)
            CHECK(lbx__quota_take(&quota, false, &used));
        give_range(0, 2);
        item = item_urgent(2, 1, LBX__ENVELOPE); // in a sorter more urgent
        if (kind != SORTER)
            item = item_of(2);
        CHECK_INT(0, lbx__lane_push(&lane, item.words, false));
        CHECK(lbx__lane_evict(&lane, item.words));
        CHECK_INT(0, item_message(item.words)); // the oldest
        CHECK_INT(lane.quota ? 2 : 3, lbx__quota_used(&quota));
        CHECK_INT(1, lbx__lane_taken(&lane));
        CHECK_INT(2, lbx__lane_depth(&lane));
        end();
    }
}

TEST_CITING("MSG-7", every_lane_frees_what_is_left_inside)
{
    FOR_EVERY_LANE(kind)
    {
        make(kind);
        give_range(0, 900);
        check_takes(0, 300);
        end();
    }
}

TEST(fini_takes_lanes_that_are_zeroed_or_half_built)
{
    memset(&lane, 0, sizeof(lane));
    lbx__lane_fini(&lane);
    memory_fails(true);
    lane.type = LBX__LANE_SEGQ;
    CHECK_STATUS(LBX_NO_MEMORY,
                 lbx__segq_init(&lane.q.segq, LBX__WORD, true, allocator));
    lbx__lane_fini(&lane);
    memset(&lane, 0, sizeof(lane));
    lane.type = LBX__LANE_RING;
    lbx__lane_fini(&lane);
    CHECK_STATUS(LBX_NO_MEMORY, lbx__ring_init(&lane.q.ring, 9, LBX__WORD, true,
                                               false, allocator));
    lane_end(&lane);
}

/* The mailbox promises to miss a peak by 256 messages at most: it looks when
 * a lane tells it to. */
static void
notes_samples(enum lane_kind kind)
{
    unsigned samples = 0;
    struct item item;
    unsigned notes;

    make(kind);
    give_range(0, 5);
    for (uint64_t i = 5; i < 16 * LBX__SAMPLE_EVERY; i++) {
        CHECK_INT(0, lane_give(&lane, i));
        CHECK_INT(1, lbx__lane_pop(&lane, item.words, 1, &notes));
        samples += (notes & LBX__NOTE_SAMPLE) != 0;
    }
    CHECK(samples >= 15);
    lbx__lane_fini(&lane);
}

EVERY_LANE(LANE_TEST, notes_samples)
