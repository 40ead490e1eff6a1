/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/base/lock.c: one at a time, and no thread sleeps on a free lock.
 *
 * The rest of the library is explored with patient spins: a thread that finds
 * the lock taken waits there until its holder lets go, and never gets as far
 * as sleeping. That keeps the other state spaces small, and is right because
 * the whole lock, spins and sleep, is explored here.
 */
#include "explorer/scenarios/scenarios.h"

#include "base/lock.h"
#include "base/park.h"

#include <string.h>

static struct {
    lbx__lock lock;
    _Atomic(unsigned) inside;
    unsigned sum; // plain: guarded by the lock
} world;

STEP(setup, memset(&world, 0, sizeof(world)))

static void
work(void)
{
    lbx__lock_take(&world.lock);
    EXPECT(lbx__add(&world.inside, 1, relaxed) == 0);
    world.sum++;
    (void)lbx__sub(&world.inside, 1, relaxed);
    lbx__lock_give(&world.lock);
}

STEP(work_2, work(), work())
STEP(finish_2, EXPECT(world.sum == 2), EXPECT(lbx__peek(&world.lock.word) == 0))
STEP(finish_3, EXPECT(world.sum == 3))
STEP(finish_4, EXPECT(world.sum == 4))

const struct scenario lock_scenarios[] = {
    SCENARIO("lock/two-threads", setup, finish_2, THREADS(work, work),
             .impatient = true),
    TWIN("lock/no-mark", "lost-write:0:1", "taking the lock leaves no mark",
         .impatient = true),
    LOST_WAKE("lock/lost-wake", .impatient = true),
    SCENARIO("lock/two-threads-twice", setup, finish_4, THREADS(work_2, work_2),
             BOUND(3, 5), .impatient = true),
    SCENARIO("lock/three-threads", setup, finish_3, THREADS(work, work, work),
             BOUND(2, 3), .impatient = true),
    {0},
};
