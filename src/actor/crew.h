/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crews: the threads that a dispatcher of the settings has at the moment.
 *
 * One for all its actors, or one for each (a pinned dispatcher's). It is there
 * for its actors: when the last one has left it lingers for a while, for the
 * next, and ends.
 *
 * H1  A crew with actors is not ended, but with the system. An actor leaves when
 *     it has ended, and its cell goes to the default dispatcher, whose crew
 *     never ends: what comes for the dead is never given to threads that may be
 *     gone.
 * H2  The list changes under the lock. Threads are started and ended without
 *     it; who starts some keeps others from doing the same (`starting`).
 * H3  A crew that ends takes nobody any more, and is on the list until its
 *     numbers are among those of the past: they never become less.
 */
#ifndef LBX_ACTOR_CREW_H
#define LBX_ACTOR_CREW_H

#include "actor/dispatcher.h"
#include "actor/select/init_once.h"

typedef struct lbx__crew lbx__crew;

/* Those of one dispatcher. All zero: none. */
typedef struct lbx__crews {
    lbx__lock lock;
    lbx__init_once starting; /* never done: who has it may start one */
    lbx__crew *first;
    lbx__dispatcher_stats past; /* of those that have ended */
} lbx__crews;

/* Finds a crew for one more actor, or starts one; `alone`: without others. */
lbx_status lbx__crews_enter(lbx__crews *crews, lbx_system *system,
                            const lbx__dispatcher_options *options, bool alone,
                            lbx__dispatcher **ret);

/* An actor has left; true when it was the crew's last. */
bool lbx__crews_leave(lbx__crews *crews, const lbx__dispatcher *dispatcher,
                      int64_t now_ns);

bool lbx__crews_has(lbx__crews *crews, const lbx__dispatcher *dispatcher);

/* Ends those that have had no actors since `since_ns` or longer. */
void lbx__crews_rest(lbx__crews *crews, const lbx_allocator *allocator,
                     int64_t since_ns);

/* All of them, as for one dispatcher. */
void lbx__crews_stop(lbx__crews *crews);
uint64_t lbx__crews_run(lbx__crews *crews, uint64_t most);
void lbx__crews_count(lbx__crews *crews, lbx__dispatcher_stats *sum);
void lbx__crews_fini(lbx__crews *crews, const lbx_allocator *allocator);

#endif
