/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: a circle of runnables and a random generator (REPLAY-1 to REPLAY-3 in
 * replay.h).
 *
 * Threads: any; every function takes the lock.
 */
#include "actor/dispatch/replay.h"

#include <assert.h>

enum {
    REACH = 64
};

/* SplitMix64: neighbouring seeds give unrelated numbers. Under the lock. */
static uint64_t
replay_draw(lbx__replay *replay)
{
    uint64_t mixed = replay->random += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* Below `limit`, which is not 0 and fits in 32 bits. */
static uint64_t
replay_draw_below(lbx__replay *replay, uint64_t limit)
{
    return ((replay_draw(replay) >> 32) * limit) >> 32;
}

void
lbx__replay_init(lbx__replay *replay, uint64_t seed)
{
    *replay = (lbx__replay){.random = seed};
}

void
lbx__replay_add(lbx__replay *replay, lbx__runnable *runnable)
{
    lbx__lock_take(&replay->lock);
    if (replay->before) {
        runnable->next = replay->before->next;
        replay->before->next = runnable;
    } else {
        runnable->next = runnable;
    }
    replay->before = runnable;
    replay->count++;
    lbx__lock_give(&replay->lock);
}

/* Takes out the runnable after the position. Under the lock. */
static lbx__runnable *
replay_take_next(lbx__replay *replay)
{
    lbx__runnable *runnable = replay->before->next;

    replay->before->next = runnable->next;
    replay->count--;
    if (replay->count == 0)
        replay->before = NULL;
    return runnable;
}

lbx__runnable *
lbx__replay_take(lbx__replay *replay)
{
    lbx__runnable *runnable = NULL;

    lbx__lock_take(&replay->lock);
    assert((replay->count == 0) == (replay->before == NULL));
    if (replay->count > 0) {
        uint64_t reach = replay->count < REACH ? replay->count : REACH;

        for (uint64_t i = replay_draw_below(replay, reach); i > 0; i--)
            replay->before = replay->before->next;
        runnable = replay_take_next(replay);
    }
    lbx__lock_give(&replay->lock);
    return runnable;
}

/* One message as often as several, and few of these more often than many:
 * runnables should alternate whatever the throughput. */
int64_t
lbx__replay_messages(lbx__replay *replay, int64_t max_messages)
{
    uint64_t bits = 0;
    uint64_t messages;

    while (bits < 31 && max_messages >> bits > 0)
        bits++;
    lbx__lock_take(&replay->lock);
    bits =
        replay_draw(replay) % 2 == 0 ? 0 : replay_draw_below(replay, bits + 1);
    messages = 1 + replay_draw_below(replay, UINT64_C(1) << bits);
    lbx__lock_give(&replay->lock);
    return (int64_t)messages < max_messages ? (int64_t)messages : max_messages;
}
