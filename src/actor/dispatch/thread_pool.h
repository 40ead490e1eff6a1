/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crews: the threads that a dispatcher of the settings has at the moment.
 *
 * One for all its actors, or one for each (a pinned dispatcher's). It is there
 * for its actors: when the last one has left it lingers for a while, for the
 * next, and ends.
 *
 * H1  A pool with actors is not ended, but with the system. An actor leaves when
 *     it has ended, and its runnable goes to the default dispatcher, whose pool
 *     never ends: what comes for the dead is never given to threads that may be
 *     gone.
 * H2  The list changes under the lock. Threads are started and ended without
 *     it; who starts some keeps others from doing the same (`starting`).
 * H3  A pool that ends takes nobody any more, and is on the list until its
 *     numbers are among those of the past: they never become less.
 */
#ifndef LBX_ACTOR_CREW_H
#define LBX_ACTOR_CREW_H

#include "actor/dispatch/dispatcher.h"
#include "base/init_once.h"

typedef struct lbx__thread_pool lbx__thread_pool;

/* Those of one dispatcher. All zero: none. */
typedef struct lbx__thread_pools {
    lbx__lock lock;
    lbx__init_once starting; /* never done: who has it may start one */
    lbx__thread_pool *first;
    lbx__dispatcher_stats past; /* of those that have ended */
} lbx__thread_pools;

/* Finds a pool for one more actor, or starts one; `alone`: without others. */
lbx_status lbx__thread_pools_enter(lbx__thread_pools *pools,
                                   const lbx__dispatcher_setup *setup,
                                   const lbx__dispatcher_options *options,
                                   bool alone, lbx__dispatcher **ret);

/* An actor has left; true when it was the pool's last. */
bool lbx__thread_pools_leave(lbx__thread_pools *pools,
                             const lbx__dispatcher *dispatcher, int64_t now_ns);

bool lbx__thread_pools_has(lbx__thread_pools *pools,
                           const lbx__dispatcher *dispatcher);

/* Ends those that have had no actors since `since_ns` or longer. */
void lbx__thread_pools_end_idle(lbx__thread_pools *pools,
                                const lbx_allocator *allocator,
                                int64_t since_ns);

/* All of them, as for one dispatcher. */
void lbx__thread_pools_stop(lbx__thread_pools *pools);
uint64_t lbx__thread_pools_run(lbx__thread_pools *pools, uint64_t most);
void lbx__thread_pools_add_stats(lbx__thread_pools *pools,
                                 lbx__dispatcher_stats *sum);
void lbx__thread_pools_fini(lbx__thread_pools *pools,
                            const lbx_allocator *allocator);

#endif
