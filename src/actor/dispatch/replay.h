/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: the ready runnables of a system without threads, in an order that a
 * seed decides.
 *
 * One circle serves all dispatchers of the system, so that their runnables
 * interleave too. It has a current position; a runnable is added behind that
 * position, which makes it the last. The one to run is a random number of steps
 * ahead, at most REACH, so that a choice costs the same whatever the number of
 * runnables. Each choice also draws how many messages the run may handle.
 *
 * REPLAY-1  The same seed and the same calls give the same choices: they depend
 *           on no address, thread or time.
 * REPLAY-2  A choice is between whole runs, never within an inbox: messages
 *           from one sender to one receiver stay in order.
 * REPLAY-3  While `count` is not above REACH every ready runnable may be next,
 *           each with the same chance; otherwise each may be within a lap.
 *
 * Threads: any may add while one runs; the lock guards everything here.
 */
#ifndef LBX_ACTOR_DISPATCH_REPLAY_H
#define LBX_ACTOR_DISPATCH_REPLAY_H

#include "actor/dispatch/runnable.h"

typedef struct lbx__replay {
    lbx__lock lock;
    lbx__runnable *before; /* the position: the nearest is its `next` */
    uint64_t count;
    uint64_t random;
} lbx__replay;

void lbx__replay_init(lbx__replay *replay, uint64_t seed);

/* Adds a ready runnable, which its holder passes on (RUNNABLE-1). */
void lbx__replay_add(lbx__replay *replay, lbx__runnable *runnable);

/* Takes the one to run, or NULL when none is ready; and draws how many messages
 * it may handle, 1 to the `max_messages` of its dispatcher. */
lbx__runnable *lbx__replay_take(lbx__replay *replay);
int64_t lbx__replay_messages(lbx__replay *replay, int64_t max_messages);

#endif
