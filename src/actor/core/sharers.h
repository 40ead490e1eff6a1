/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sharers: the actors of one behaviour on a balancing dispatcher, which share
 * one mailbox. A message to one of them is handled by any that is idle.
 *
 * SHARE-1  The members and the mailbox change under the lock. Without members
 *          there is no mailbox; the first member creates it, and the others do
 *          not hold a lock while they wait for that. The struct stays as long
 *          as the system: a stale sender's pointer always points to one.
 * SHARE-2  A sender adds its message first and wakes every member then, since
 *          an idle one may be deaf: failed, ending, or waiting with its outbox.
 *          A member at work checks once more when it is done (CELL-2), and one
 *          that joins later begins with a check.
 * SHARE-3  A member that ends leaves the messages to the others. With the last
 *          one the mailbox is closed, and what is left becomes dead letters.
 */
#ifndef LBX_ACTOR_CORE_SHARERS_H
#define LBX_ACTOR_CORE_SHARERS_H

#include "actor/select/mailbox_plan.h"
#include "base/lock.h"

typedef struct lbx__actor_mailbox lbx__actor_mailbox;
typedef struct lbx__cell lbx__cell;
typedef struct lbx__sharers lbx__sharers;

/* All of one dispatcher. All zero: none. */
typedef struct lbx__sharers_list {
    lbx__lock lock;
    lbx__sharers *first;
} lbx__sharers_list;

void lbx__sharers_fini(lbx__sharers_list *list, const lbx_allocator *allocator);

/* Makes a cell, whose behaviour is set, share this mailbox; UNSUPPORTED when
 * the others of its behaviour share another. By the owner. */
lbx_status lbx__sharers_join(lbx__sharers_list *list, lbx__cell *cell,
                             const lbx__mailbox_plan *mailbox,
                             lbx_fault *fault);

/* True when it was the last. By the owner. */
bool lbx__sharers_leave(lbx__sharers *sharers, const lbx__cell *cell);

/* Wakes every member, after a send (SHARE-2). Any thread. */
void lbx__sharers_wake(lbx__sharers *sharers);

uint32_t lbx__sharers_count(lbx__sharers *sharers);

#endif
