/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running dispatchers of a system: one entry for each plan in use.
 *
 * DSET-1  An entry is created when the first actor enters it, and stays as long
 *         as the system. Its threads come and go with its actors
 *         (thread_pool.h). The system itself enters the default dispatcher.
 * DSET-2  The list grows at its head, under the lock; reading it needs none.
 * DSET-3  A system without threads has none in any dispatcher; lbx_system_run()
 *         runs all of them.
 */
#ifndef LBX_ACTOR_CORE_DISPATCHERS_H
#define LBX_ACTOR_CORE_DISPATCHERS_H

#include "actor/core/sharers.h"
#include "actor/dispatch/dispatcher.h"
#include "actor/dispatch/thread_pool.h"
#include "actor/select/dispatcher_plan.h"

typedef struct lbx__dispatcher_entry {
    const lbx__dispatcher_plan *plan;
    lbx__thread_pools pools;
    lbx__sharers_list sharers; /* of a balancing one */
    struct lbx__dispatcher_entry *next;
} lbx__dispatcher_entry;

typedef struct lbx__dispatchers {
    lbx_system *system;
    lbx__lock lock;
    _Atomic(lbx__dispatcher_entry *) first;
} lbx__dispatchers;

lbx_status lbx__dispatchers_create(lbx_system *system, lbx__dispatchers **ret);
void lbx__dispatchers_destroy(lbx__dispatchers *dispatchers);

/* Gives an actor, or the system itself, threads to run on. */
lbx_status lbx__dispatchers_enter(lbx__dispatchers *dispatchers,
                                  const lbx__dispatcher_plan *plan,
                                  lbx_fault *fault, lbx__dispatcher **ret);

/* The actors that share mailboxes on a dispatcher that was entered. */
lbx__sharers_list *lbx__dispatchers_sharers(lbx__dispatchers *dispatchers,
                                            const lbx__dispatcher_plan *plan);

/* The actor of this cell has ended: THPOOL-1. By its owner. */
void lbx__dispatchers_leave(lbx__cell *cell);

/* Ends threads that have had no actors for long enough. By "/user". */
void lbx__dispatchers_end_idle(lbx__dispatchers *dispatchers);

/* The plan of a running dispatcher; NULL: it does not run any more. */
const lbx__dispatcher_plan *
lbx__dispatchers_plan_of(lbx__dispatchers *dispatchers,
                         const lbx__dispatcher *dispatcher);

/* All of them: as for one. */
void lbx__dispatchers_stop(lbx__dispatchers *dispatchers);
uint64_t lbx__dispatchers_run(lbx__dispatchers *dispatchers, uint64_t max_runs);
lbx__dispatcher_stats lbx__dispatchers_stats_of(lbx__dispatchers *dispatchers);

/* Goes through all entries: from NULL to NULL. */
lbx__dispatcher_entry *
lbx__dispatchers_next(lbx__dispatchers *dispatchers,
                      const lbx__dispatcher_entry *entry);

#endif
