/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread pools: the threads that a configured dispatcher has at the moment.
 *
 * There is one pool for all its users, or one for each (a pinned dispatcher's).
 * A user is an actor. When the last user has left, the pool waits for the next
 * one for a while, and ends.
 *
 * THPOOL-1  A pool with users is ended only with the system. A user that ends
 *           leaves first, and what arrives for it later is scheduled on the
 *           default dispatcher, whose pool never ends: nothing is given to
 *           threads that may be gone.
 * THPOOL-2  The list changes under the lock. Threads are started and ended
 *           without it; `starting` keeps two callers from starting a pool at
 *           the same time.
 * THPOOL-3  A pool that ends takes no users, and stays on the list until its
 *           numbers are part of `past`: sums of statistics never decrease.
 */
#ifndef LBX_ACTOR_DISPATCH_THREAD_POOL_H
#define LBX_ACTOR_DISPATCH_THREAD_POOL_H

#include "actor/dispatch/dispatcher.h"
#include "base/init_once.h"

typedef struct lbx__thread_pool lbx__thread_pool;

/* The pools of one configured dispatcher. All zero: none. */
typedef struct lbx__thread_pools {
    lbx__lock lock;
    lbx__init_once starting; /* never done: its holder may start a pool */
    lbx__thread_pool *first;
    lbx__dispatcher_stats past; /* of pools that have ended */
} lbx__thread_pools;

/* Finds a pool for one more user, or starts one; `exclusive`: for no others. */
lbx_status lbx__thread_pools_enter(lbx__thread_pools *pools,
                                   const lbx__dispatcher_setup *setup,
                                   const lbx__dispatcher_options *options,
                                   bool exclusive, lbx__dispatcher **ret);

/* A user leaves; true when it was the last of its pool. */
bool lbx__thread_pools_leave(lbx__thread_pools *pools,
                             const lbx__dispatcher *dispatcher, int64_t now_ns);

bool lbx__thread_pools_has(lbx__thread_pools *pools,
                           const lbx__dispatcher *dispatcher);

/* Ends those that have had no users since `since_ns` or longer. */
void lbx__thread_pools_end_idle(lbx__thread_pools *pools,
                                const lbx_allocator *allocator,
                                int64_t since_ns);

/* All of them, as for one dispatcher. */
void lbx__thread_pools_stop(lbx__thread_pools *pools);
uint64_t lbx__thread_pools_run(lbx__thread_pools *pools, uint64_t max_runs);
void lbx__thread_pools_add_stats(lbx__thread_pools *pools,
                                 lbx__dispatcher_stats *sum);
void lbx__thread_pools_fini(lbx__thread_pools *pools,
                            const lbx_allocator *allocator);

#endif
