/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Teams: the actors of one behaviour on a balancing dispatcher, who share one
 * mailbox. What is told to one of them is handled by whoever is
 * free.
 *
 * Z1  The members and the mailbox change under the lock. A team without members
 *     has no mailbox; the first one makes it, and nobody waits for that with a
 *     lock held. Teams stay as long as the system: a stale sender's look at one
 *     is always a look at a team.
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

typedef struct lbx__boxed lbx__boxed;
typedef struct lbx__cell lbx__cell;
typedef struct lbx__team lbx__team;

/* Those of one dispatcher. All zero: none. */
typedef struct lbx__teams {
    lbx__lock lock;
    lbx__team *first;
} lbx__teams;

void lbx__teams_fini(lbx__teams *teams, const lbx_allocator *allocator);

/* Makes a cell, whose behaviour is known, a member of its team, with this
 * mailbox; UNSUPPORTED when the team has another. By the cell's owner. */
lbx_status lbx__teams_join(lbx__teams *teams, lbx__cell *cell,
                           const lbx__mailbox_plan *mailbox, lbx_fault *fault);

/* True: it was the last. By its owner. */
bool lbx__team_leave(lbx__team *team, const lbx__cell *cell);

/* Something was sent. Any thread. */
void lbx__team_wake(lbx__team *team);

uint32_t lbx__team_size(lbx__team *team);

#endif
