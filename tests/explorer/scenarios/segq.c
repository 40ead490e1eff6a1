/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/queue/segq: growth, order, close, counts, with segments of two slots, so
 * that every scenario crosses from one to the next.
 */
#include "explorer/scenarios/ledger.h"
#include "explorer/scenarios/scenarios.h"

#include "base/park.h"
#include "queue/segq.h"

/* One consumer: two words, to see that items are not torn. Several: as their
 * mailboxes have it, one. */
enum {
    MOST = 2
};

static struct {
    lbx__segq queue;
    unsigned words;
    _Atomic(unsigned) taken;
    unsigned to_take;
} world;

static void
begin(bool many, unsigned to_take)
{
    ledger_reset();
    world.to_take = to_take;
    lbx__init(&world.taken, 0);
    world.words = many ? LBX__WORD : LBX__PAIR;
    EXPECT_OK(
        lbx__segq_init(&world.queue, world.words, many, &explorer_memory));
}

STEP(setup_one_2, begin(false, 2))
STEP(setup_one_3, begin(false, 3))
STEP(setup_one_4, begin(false, 4))
STEP(setup_many_2, begin(true, 2))
STEP(setup_many_3, begin(true, 3))

static void
push(void)
{
    uint64_t item[LBX__PAIR] = {ledger_message()};
    int result;

    item[1] = ~item[0];
    result = lbx__segq_push(&world.queue, item, world.words);
    EXPECT(result >= 0 || result == LBX_CLOSED);
    if (result >= 0)
        ledger_sent(item[0]);
}

STEP(push_2, push(), push())
STEP(push_3, push_2(), push())

static size_t
pop(void)
{
    uint64_t items[MOST * LBX__PAIR];
    unsigned words = world.words;
    unsigned notes;
    size_t count = lbx__segq_pop(&world.queue, items, MOST, words, &notes);

    for (size_t i = 0; i < count; i++) {
        // MSG-2: not torn
        EXPECT(words == 1 || items[i * words + 1] == ~items[i * words]);
        ledger_received(items[i * words]);
    }
    return count;
}

// Takes everything; the only consumer.
static void
consume_all(void)
{
    while (ledger_count() < world.to_take) {
        if (pop() == 0)
            lbx__pause();
    }
}

// Takes until all consumers together have everything.
static void
consume_some(void)
{
    while (lbx__load(&world.taken, relaxed) < world.to_take) {
        size_t count = pop();

        if (count > 0)
            (void)lbx__add(&world.taken, (unsigned)count, relaxed);
        else
            lbx__pause();
    }
}

STEP(try_twice, (void)pop(), (void)pop())
STEP(close_queue, lbx__segq_close(&world.queue))

static void
finish(void)
{
    EXPECT(lbx__segq_valid(&world.queue));
    EXPECT(lbx__segq_accepted(&world.queue) == ledger_sent_total());
    while (pop() > 0)
        continue;
    EXPECT(lbx__segq_taken(&world.queue) == lbx__segq_accepted(&world.queue));
    ledger_check(true);
    lbx__segq_fini(&world.queue);
}

const struct scenario segq_scenarios[] = {
    SCENARIO("segq/one-producer-one-consumer", setup_one_3, finish,
             THREADS(push_3, consume_all)),
    SCENARIO("segq/two-producers-one-consumer", setup_one_2, finish,
             THREADS(push, push, consume_all)),
    SCENARIO("segq/two-producers-three-messages", setup_one_3, finish,
             THREADS(push_2, push, consume_all)),
    TWIN("segq/lost-claim", "lost-write:0:1", "two producers claim one slot"),
    LOSING("segq/losing-a-producer's-changes", 1 + 0),
    SCENARIO("segq/two-producers-four-messages", setup_one_4, finish,
             THREADS(push_2, push_2, consume_all), .full_only = true),
    SCENARIO("segq/three-producers", setup_one_3, finish,
             THREADS(push, push, push, try_twice)),
    SCENARIO("segq/close", setup_one_2, finish,
             THREADS(push_2, close_queue, try_twice)),
    SCENARIO("segq/close-two-producers", setup_one_2, finish,
             THREADS(push_2, push, close_queue)),
    SCENARIO("segq/producer-stops", setup_one_2, finish,
             THREADS(push_2, push_2, try_twice), .freeze = 1 + 0),
    SCENARIO("segq/two-consumers", setup_many_2, finish,
             THREADS(push_2, consume_some, consume_some)),
    TWIN("segq/lost-take", "lost-write:1:1", "two consumers take one message"),
    SCENARIO("segq/two-consumers-two-segments", setup_many_3, finish,
             THREADS(push_3, consume_some, consume_some), BOUND(2, 3)),
    SCENARIO("segq/two-and-two", setup_many_3, finish,
             THREADS(push_2, push, try_twice, try_twice), BOUND(1, 3)),
    {0},
};
