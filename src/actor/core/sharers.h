/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams: the actors of one behaviour on a balancing dispatcher, who share one
 * mailbox. What is told to one of them is handled by whoever is
 * free.
 *
 * Z1  The members and the mailbox change under the lock. A sharers without members
 *     has no mailbox; the first one makes it, and nobody waits for that with a
 *     lock held. Teams stay as long as the system: a stale sender's look at one
 *     is always a look at a sharers.
 * Z2  A sender adds its message first and wakes every member then, since an
 *     idle one may be deaf: failed, ending, or waiting for room elsewhere. Who
 *     is at work looks once more when it is done (K2), and who joins later
 *     begins by looking.
 * Z3  A member that ends leaves the messages to the others. With the last
 *     one the mailbox is closed, and what is left becomes dead letters.
 */
#ifndef LBX_ACTOR_TEAM_H
#define LBX_ACTOR_TEAM_H

#include "actor/select/mailbox_plan.h"
#include "base/lock.h"

typedef struct lbx__actor_mailbox lbx__actor_mailbox;
typedef struct lbx__cell lbx__cell;
typedef struct lbx__sharers lbx__sharers;

/* Those of one dispatcher. All zero: none. */
typedef struct lbx__sharers_list {
    lbx__lock lock;
    lbx__sharers *first;
} lbx__sharers_list;

void lbx__sharers_fini(lbx__sharers_list *list, const lbx_allocator *allocator);

/* Makes a cell, whose behaviour is known, a member of its sharers, with this
 * mailbox; UNSUPPORTED when the sharers has another. By the cell's owner. */
lbx_status lbx__sharers_join(lbx__sharers_list *list, lbx__cell *cell,
                             const lbx__mailbox_plan *mailbox,
                             lbx_fault *fault);

/* True: it was the last. By its owner. */
bool lbx__sharers_leave(lbx__sharers *sharers, const lbx__cell *cell);

/* Something was sent. Any thread. */
void lbx__sharers_wake(lbx__sharers *sharers);

uint32_t lbx__sharers_count(lbx__sharers *sharers);

#endif
