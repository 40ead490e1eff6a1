/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random operations on every lane, against a naive list.
 *
 * Set LBX_SEED to the number a failing test printed to see it again.
 */
#include "queue/fixture.h"

enum {
    MOST = 3000,
    CAPACITY = 11,
    FLAGS = LBX__FLAG_WAITING | LBX__FLAG_OBSERVED,
};

struct entry {
    uint64_t number;
    int32_t priority;
    bool front; /* put in front, and still to leave */
};

static struct {
    enum lane_kind kind;
    struct random random;
    struct entry list[MOST]; /* in the order they leave if equally urgent */
    size_t count;
    uint64_t accepted;
    uint64_t taken;
    int flags;
    bool fails; /* memory does */
    bool closed;
} model;

static lbx__lane lane;

static void
insert(size_t at, struct entry entry)
{
    memmove(&model.list[at + 1], &model.list[at],
            (model.count - at) * sizeof(entry));
    model.list[at] = entry;
    model.count++;
    model.accepted++;
}

static void
check_removed(size_t at, const struct item *item)
{
    CHECK(at < model.count);
    CHECK_INT(model.list[at].number, item_message(item->words));
    model.count--;
    model.taken++;
    memmove(&model.list[at], &model.list[at + 1],
            (model.count - at) * sizeof(model.list[0]));
}

/* The place of the most urgent, or the least; the first among equals. */
static size_t
find(bool least)
{
    size_t found = 0;

    if (model.kind != SORTER)
        return 0;
    for (size_t i = 1; i < model.count; i++)
        if (least ? model.list[i].priority > model.list[found].priority
                  : model.list[i].priority < model.list[found].priority)
            found = i;
    return found;
}

/* What a push must answer; NO_MEMORY is checked by the caller. */
static int
expected(void)
{
    if (model.closed)
        return LBX_CLOSED;
    if (lane_is_ring(model.kind) && model.count == CAPACITY)
        return LBX_FULL;
    return model.flags;
}

static void
try_push(void)
{
    struct entry entry = {
        .number = random_next(&model.random) >> 20,
        .priority = (int32_t)random_below(&model.random, 600) - 150,
        .front = model.kind == SHELF && random_below(&model.random, 4) == 0,
    };
    struct item item = item_of(entry.number);
    int flags;

    if (model.count == MOST - 1)
        return;
    if (model.kind == SORTER)
        item = item_urgent(entry.number, entry.priority, LBX__ENVELOPE);
    flags = entry.front
                ? lbx__locked_queue_push(&lane.q.locked, item.words, true)
                : lbx__lane_push(&lane, item.words, false);
    if (flags == LBX_NO_MEMORY && model.fails && !model.closed)
        return;
    CHECK_INT(expected(), flags);
    if (flags >= 0)
        insert(entry.front ? 0 : model.count, entry);
}

static void
try_pop(void)
{
    struct item items[8];
    size_t most = 1 + random_below(&model.random, 8);
    unsigned notes;
    size_t count = lbx__lane_pop(&lane, items[0].words, most, &notes);

    CHECK_INT(most < model.count ? most : model.count, count);
    for (size_t i = 0; i < count; i++)
        check_removed(find(false), &items[i]);
}

static void
try_evict(void)
{
    struct item item;

    CHECK_INT(model.count > 0, lbx__lane_evict(&lane, item.words));
    if (model.count > 0)
        check_removed(find(true), &item);
}

static void
try_flags(void)
{
    int flags = (int)random_below(&model.random, 8) & FLAGS;

    if (random_below(&model.random, 2) == 0) {
        lbx__lane_raise(&lane, (unsigned)flags);
        CHECK_INT(model.accepted, lbx__lane_accepted(&lane));
        model.flags |= flags;
    } else {
        lbx__lane_lower(&lane, (unsigned)flags);
        model.flags &= ~flags;
    }
}

static void
check_counts(void)
{
    CHECK_INT(model.accepted, lbx__lane_accepted(&lane));
    CHECK_INT(model.taken, lbx__lane_taken(&lane));
    CHECK_INT(model.count, lbx__lane_depth(&lane));
    CHECK_INT(model.count, lbx__lane_outstanding(&lane, lbx__lane_mark(&lane)));
}

/* Bursts and lulls in turn, each of a few hundred steps. */
static void
step(long number)
{
    uint64_t pushes = number / 300 % 2 ? 30 : 75;
    uint64_t what = random_below(&model.random, 100);

    if (what < pushes)
        try_push();
    else if (what < 92)
        try_pop();
    else if (what < 95)
        try_evict();
    else if (what < 98)
        try_flags();
    else if (model.kind != SORTER) // PRIOQ-3: then a sorter sorts as it can
        memory_fails(model.fails = random_below(&model.random, 2) == 0);
    check_counts();
    if (number % 50 == 0)
        CHECK(lane_valid(&lane));
}

static void
agrees_with_a_list(enum lane_kind kind)
{
    long steps = test_rounds(24000, 2400000);

    model.kind = kind;
    model.random = random_begin();
    lane_make(&lane, kind, CAPACITY);
    for (long i = 0; i < steps; i++)
        step(i);
    lbx__lane_close(&lane);
    model.closed = true;
    for (long i = 0; i < 200; i++)
        step(i);
    while (model.count > 0)
        try_pop();
    check_counts();
    CHECK(lane_valid(&lane));
    lane_end(&lane);
}

#define MODEL_TEST(word, kind, promise)                                        \
    TEST_CITING("MSG-1 MSG-2 MSG-3 MSG-5 LANE-2 LANE-3", word##_##promise)     \
    {                                                                          \
        promise(kind);                                                         \
    }

EVERY_LANE(MODEL_TEST, agrees_with_a_list)
