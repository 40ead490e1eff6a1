/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: the ready runnables of a system without threads, in an order that a seed
 * decides.
 *
 * One circle for all dispatchers of the system, so that their actors interleave
 * too, and a place in it. A runnable comes in behind that place, which is last; the
 * one to run is a random number of steps ahead of it, at most REACH, so that a
 * choice costs the same however many wait. Each choice also says how many
 * messages the runnable may handle.
 *
 * V1  The same seed and the same calls give the same choices: nothing here
 *     depends on addresses, threads or time.
 * V2  A choice is between whole turns of runnables, never within an inbox: what one
 *     sender tells one receiver stays in order (A2, A4).
 * V3  While `count` is not more than REACH every ready runnable may be next, each
 *     with the same chance; otherwise each may be within a lap.
 */
#ifndef LBX_ACTOR_REPLAY_H
#define LBX_ACTOR_REPLAY_H

#include "actor/dispatch/runnable.h"

typedef struct lbx__replay {
    lbx__lock lock;        /* others may tell while one thread runs */
    lbx__runnable *before; /* the place: the next runnable is the nearest */
    uint64_t count;
    uint64_t random;
} lbx__replay;

void lbx__replay_init(lbx__replay *replay, uint64_t seed);

/* A runnable that is ready, from its owner. */
void lbx__replay_add(lbx__replay *replay, lbx__runnable *runnable);

/* The one to run, and how many messages it may handle, 1 to `most` of its
 * dispatcher; NULL when none is ready. */
lbx__runnable *lbx__replay_take(lbx__replay *replay);
int64_t lbx__replay_messages(lbx__replay *replay, int64_t most);

#endif
