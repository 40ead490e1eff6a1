/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/queue/ring: exact capacity, order, wrap-around, close.
 */
#include "explorer/scenarios/ledger.h"
#include "explorer/scenarios/scenarios.h"

#include "base/park.h"
#include "queue/ring.h"

enum {
    WORDS = LBX__PAIR
};

static struct {
    lbx__ring ring;
    _Atomic(unsigned) taken;
    unsigned to_take;
} world;

static void
begin(uint64_t capacity, bool many, bool gated, unsigned to_take)
{
    ledger_reset();
    world.to_take = to_take;
    lbx__init(&world.taken, 0);
    EXPECT_OK(lbx__ring_init(&world.ring, capacity, WORDS, many, gated,
                             &explorer_memory));
}

STEP(setup_one_1, begin(1, false, false, 2))
STEP(setup_one_3, begin(3, false, false, 4))
STEP(setup_one_2, begin(2, false, false, 4))
STEP(setup_many_1, begin(1, true, true, 2))
STEP(setup_many_2, begin(2, true, true, 3))

static bool
try_push(uint64_t message)
{
    uint64_t item[WORDS] = {message, ~message};
    size_t count = 0;
    int result = lbx__ring_push(&world.ring, item, 1, WORDS, false, &count);

    EXPECT(result >= 0 || result == LBX_FULL || result == LBX_CLOSED);
    if (result >= 0)
        ledger_sent(message);
    return result >= 0;
}

static void
push(void)
{
    uint64_t message = ledger_message();

    while (!try_push(message))
        lbx__pause();
}

STEP(push_2, push(), push())

static void
try_push_2(void)
{
    (void)try_push(ledger_message());
    (void)try_push(ledger_message());
}

static void
push_pair(void)
{
    uint64_t items[2 * WORDS];
    size_t count = 0;
    int result;

    for (unsigned i = 0; i < 2; i++) {
        items[i * WORDS] = ledger_message();
        items[i * WORDS + 1] = ~items[i * WORDS];
    }
    result = lbx__ring_push(&world.ring, items, 2, WORDS, false, &count);
    EXPECT(result >= 0 || result == LBX_FULL);
    for (unsigned i = 0; result >= 0 && i < count; i++)
        ledger_sent(items[i * WORDS]);
}

static size_t
pop(size_t most)
{
    uint64_t items[2 * WORDS];
    unsigned notes;
    size_t count = lbx__ring_pop(&world.ring, items, most, WORDS, &notes);

    for (size_t i = 0; i < count; i++) {
        EXPECT(items[i * WORDS + 1] == ~items[i * WORDS]); // MSG-2: not torn
        ledger_received(items[i * WORDS]);
    }
    return count;
}

static void
consume_all(void)
{
    while (ledger_count() < world.to_take) {
        if (pop(1) == 0)
            lbx__pause();
    }
}

static void
consume_some(void)
{
    while (lbx__load(&world.taken, relaxed) < world.to_take) {
        size_t count = pop(1);

        if (count > 0)
            (void)lbx__add(&world.taken, (unsigned)count, relaxed);
        else
            lbx__pause();
    }
}

STEP(try_pop_2, (void)pop(1), (void)pop(2))
STEP(close_ring, lbx__ring_close(&world.ring))

// MSG-5: at no moment are there more inside than may be.
static void
watch_depth(void)
{
    uint64_t taken = lbx__ring_taken(&world.ring);
    uint64_t accepted = lbx__ring_accepted(&world.ring);

    // `taken` may be out of date, by what was taken in between.
    EXPECT(accepted - lbx__ring_taken(&world.ring) <= world.ring.capacity ||
           lbx__ring_taken(&world.ring) != taken);
}

static void
finish(void)
{
    EXPECT(lbx__ring_valid(&world.ring));
    EXPECT(lbx__ring_accepted(&world.ring) == ledger_sent_total());
    while (pop(2) > 0)
        continue;
    ledger_check(true);
    lbx__ring_fini(&world.ring);
}

const struct scenario ring_scenarios[] = {
    SCENARIO("ring/two-producers", setup_one_2, finish,
             THREADS(push_2, push_2, consume_all), .full_only = true),
    SCENARIO("ring/capacity-one", setup_one_1, finish,
             THREADS(push, push, consume_all)),
    LOSING("ring/losing-a-producer's-changes", 1 + 0),
    SCENARIO("ring/capacity-three", setup_one_3, finish,
             THREADS(try_push_2, try_push_2, try_pop_2)),
    TWIN("ring/lost-claim", "lost-write:0:1", "two producers claim one slot"),
    SCENARIO("ring/full", setup_one_1, finish,
             THREADS(try_push_2, try_push_2, watch_depth)),
    SCENARIO("ring/batches", setup_one_3, finish,
             THREADS(push_pair, push_pair, try_pop_2)),
    SCENARIO("ring/close", setup_one_2, finish,
             THREADS(try_push_2, close_ring, try_pop_2)),
    SCENARIO("ring/two-consumers", setup_many_1, finish,
             THREADS(push_2, consume_some, consume_some)),
    TWIN("ring/lost-take", "lost-write:1:1",
         "the head does not move: one message twice"),
    LOSING("ring/losing-a-consumer's-changes", 1 + 1),
    SCENARIO("ring/two-and-two", setup_many_2, finish,
             THREADS(try_push_2, try_push_2, try_pop_2, try_pop_2),
             BOUND(2, 4)),
    {0},
};
