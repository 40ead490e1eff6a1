/* SPDX-License-Identifier: Apache-2.0 */
/*
 * src/base/lock.c: one at a time, and nobody sleeps on a free lock.
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

static void
setup(void)
{
    memset(&world, 0, sizeof(world));
}

static void
work(void)
{
    lbx__lock_take(&world.lock);
    EXPECT(lbx__add(&world.inside, 1, relaxed) == 0);
    world.sum++;
    (void)lbx__sub(&world.inside, 1, relaxed);
    lbx__lock_give(&world.lock);
}

static void
work_2(void)
{
    work();
    work();
}

static void
finish_2(void)
{
    EXPECT(world.sum == 2);
    EXPECT(lbx__peek(&world.lock.word) == 0);
}

static void
finish_3(void)
{
    EXPECT(world.sum == 3);
}

static void
finish_4(void)
{
    EXPECT(world.sum == 4);
}

const struct scenario lock_scenarios[] = {
    {
        .name = "lock/two-threads",
        .setup = setup,
        .thread = {work, work},
        .finish = finish_2,
        .impatient = true,
    },
    {
        .name = "lock/two-threads-twice",
        .setup = setup,
        .thread = {work_2, work_2},
        .finish = finish_4,
        .impatient = true,
        .bound = 3,
        .full_bound = 5,
    },
    {
        .name = "lock/three-threads",
        .setup = setup,
        .thread = {work, work, work},
        .finish = finish_3,
        .bound = 2,
        .full_bound = 3,
        .impatient = true,
    },
    {
        .name = "lock/no-mark",
        .bug = "taking the lock leaves no mark",
        .mutant = "lost-write:0:1",
        .setup = setup,
        .thread = {work, work},
        .finish = finish_2,
        .impatient = true,
    },
    {
        .name = "lock/lost-wake",
        .bug = "the system swallows a wake-up",
        .mutant = "lost-wake",
        .setup = setup,
        .thread = {work, work},
        .finish = finish_2,
        .impatient = true,
    },
    {0},
};
