/* SPDX-License-Identifier: Apache-2.0 */
/* Every lane with several threads at once. */
#include "queue/fixture.h"

enum {
    PRODUCERS = 3,
    CONSUMERS = 3,
    EACH_MOST = 20000,
    CAPACITY = 7, /* of rings: often full, often round */
};

#define STRIDE ((uint64_t)1 << 32) /* between two producers' numbers */

static struct {
    enum lane_kind kind;
    uint64_t each;
    _Atomic(uint64_t) sent; /* accepted by the lane */
    _Atomic(uint64_t) received;
    _Atomic(uint32_t) producing; /* producers that are not done */
    _Atomic(uint32_t) ends;
    _Atomic(uint8_t) seen[PRODUCERS][EACH_MOST];
} world;

static lbx__lane lane;

static unsigned
consumers_of(enum lane_kind kind)
{
    return lane_is_for_one(kind) ? 1 : CONSUMERS;
}

static void
make(enum lane_kind kind)
{
    world.kind = kind;
    world.each = (uint64_t)test_rounds(EACH_MOST, EACH_MOST);
    world.sent = 0;
    world.received = 0;
    world.producing = PRODUCERS;
    memset(world.seen, 0, sizeof(world.seen));
    lane_make(&lane, kind, CAPACITY);
}

/* Sends its numbers in order until all are in, or the lane is closed. */
static void
produce(unsigned producer)
{
    for (uint64_t i = 0; i < world.each;) {
        int flags = lane_give(&lane, producer * STRIDE + i);

        if (flags == LBX_CLOSED)
            break;
        if (flags == LBX_FULL) {
            sched_yield();
            continue;
        }
        CHECK(flags >= 0);
        (void)lbx__add(&world.sent, 1, seq_cst);
        i++;
    }
    (void)lbx__sub(&world.producing, 1, seq_cst);
}

/* Each number once, and each producer's in order. */
static void
note_received(const uint64_t *item, uint64_t *next)
{
    uint64_t number = world.kind == SORTER ? item_message(item)
                                           : item_number(item, LBX__ENVELOPE);
    uint64_t producer = number / STRIDE;
    uint64_t at = number % STRIDE;

    CHECK(producer < PRODUCERS && at < world.each);
    CHECK(at >= next[producer]);
    next[producer] = at + 1;
    CHECK_INT(0, lbx__exchange(&world.seen[producer][at], 1, seq_cst));
    (void)lbx__add(&world.received, 1, seq_cst);
}

static void
consume(void)
{
    uint64_t next[PRODUCERS] = {0};
    struct item items[3];
    unsigned notes;

    for (;;) {
        bool last = lbx__load(&world.producing, seq_cst) == 0;
        size_t count = lbx__lane_pop(&lane, items[0].words, 3, &notes);

        for (size_t i = 0; i < count; i++)
            note_received(items[i].words, next);
        if (count == 0 && last)
            return;
        if (count == 0)
            sched_yield();
    }
}

static void
produce_or_consume(unsigned index, void *context)
{
    (void)context;
    if (index < PRODUCERS)
        produce(index);
    else
        consume();
}

static void
check_all_received(void)
{
    CHECK_INT(world.sent, world.received);
    CHECK_INT(world.sent, lbx__lane_accepted(&lane));
    CHECK_INT(world.sent, lbx__lane_taken(&lane));
    CHECK_INT(NOTHING, lane_take(&lane));
    CHECK(lane_valid(&lane));
}

static void
delivers_each_once_and_in_order(enum lane_kind kind)
{
    make(kind);
    threads_run(PRODUCERS + consumers_of(kind), produce_or_consume, NULL);
    CHECK_INT(PRODUCERS * world.each, world.sent);
    check_all_received();
    lane_end(&lane);
}

#define ONCE_TEST(word, kind, promise)                                         \
    TEST_CITING("MSG-1 MSG-2 MSG-3 SEGQ-1 RING-2 RING-3 LANE-2",               \
                word##_##promise)                                              \
    {                                                                          \
        promise(kind);                                                         \
    }

EVERY_LANE(ONCE_TEST, delivers_each_once_and_in_order)

/* ---- Close while all threads are busy ---- */

static void
close_amid(unsigned index, void *context)
{
    uint64_t after = *(uint64_t *)context;

    if (index > 0) {
        produce_or_consume(index - 1, NULL);
        return;
    }
    while (lbx__load(&world.sent, seq_cst) < after)
        sched_yield();
    lbx__lane_close(&lane);
    CHECK(lbx__lane_accepted(&lane) >= after);
}

/* A push that said yes is delivered, one that said closed is not. */
TEST_CITING("MSG-1 SEGQ-3 RING-5", close_amid_pushes_loses_nothing)
{
    for (enum lane_kind kind = SEGQ_ONE; kind < LANE_KINDS; kind++) {
        for (uint64_t after = 0; after < 1000; after = after * 3 + 7) {
            make(kind);
            threads_run(1 + PRODUCERS + consumers_of(kind), close_amid, &after);
            check_all_received();
            lane_end(&lane);
        }
    }
}

/* ---- Waiting against pushing ---- */

static struct {
    pthread_barrier_t barrier;
    uint64_t rounds;
    int flags;
    uint64_t counted;
} duel;

static uint64_t
raise_and_count(void)
{
    lbx__lane_raise(&lane, LBX__FLAG_WAITING);
    return lbx__lane_accepted(&lane);
}

static void
raise_or_push(unsigned index, void *context)
{
    (void)context;
    for (uint64_t i = 0; i < duel.rounds; i++) {
        (void)pthread_barrier_wait(&duel.barrier);
        if (index == 0)
            duel.counted = raise_and_count();
        else
            duel.flags = lane_give(&lane, i);
        (void)pthread_barrier_wait(&duel.barrier);
        if (index == 1)
            continue;
        CHECK(duel.flags == LBX__FLAG_WAITING || duel.flags == 0);
        CHECK(duel.counted == i || duel.counted == i + 1);
        CHECK(duel.flags == LBX__FLAG_WAITING || duel.counted == i + 1);
        CHECK_INT(i, lane_take(&lane));
        lbx__lane_lower(&lane, LBX__FLAG_WAITING);
    }
}

/* No lost wake-up: the push sees the flag or the waiter counts the push. */
TEST_CITING("LANE-1 SEGQ-6 RING-6", push_sees_the_flag_or_is_counted)
{
    duel.rounds = (uint64_t)test_rounds(1500, 150000);
    CHECK_INT(0, pthread_barrier_init(&duel.barrier, NULL, 2));
    for (enum lane_kind kind = SEGQ_ONE; kind < LANE_KINDS; kind++) {
        lane_make(&lane, kind, CAPACITY);
        threads_run(2, raise_or_push, NULL);
        lane_end(&lane);
    }
}

/* ---- Looking on ---- */

static void
look_on(void *context)
{
    uint64_t last_accepted = 0;
    uint64_t last_taken = 0;

    (void)context;
    while (!lbx__load(&world.ends, seq_cst)) {
        uint64_t taken = lbx__lane_taken(&lane);
        uint64_t accepted = lbx__lane_accepted(&lane);
        uint64_t again = lbx__lane_taken(&lane);

        CHECK(accepted >= taken);
        CHECK(taken >= last_taken && again >= taken);
        CHECK(accepted >= last_accepted);
        if (lane_is_ring(world.kind))
            CHECK(accepted <= again + CAPACITY); // RING-1
        last_accepted = accepted;
        last_taken = again;
        lbx__lane_raise(&lane, LBX__FLAG_OBSERVED);
        lbx__lane_lower(&lane, LBX__FLAG_OBSERVED);
    }
}

/* Counts never run backwards nor past each other, while flags come and go. */
TEST_CITING("LANE-2 RING-1 SEGQ-5 MSG-5", counts_make_sense_to_an_onlooker)
{
    struct thread onlooker;

    for (enum lane_kind kind = SEGQ_ONE; kind < LANE_KINDS; kind++) {
        make(kind);
        world.each /= 4;
        world.ends = 0;
        thread_start(&onlooker, look_on, NULL);
        threads_run(PRODUCERS + consumers_of(kind), produce_or_consume, NULL);
        lbx__store(&world.ends, 1u, seq_cst);
        thread_join(&onlooker);
        check_all_received();
        lane_end(&lane);
    }
}
