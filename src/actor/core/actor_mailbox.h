/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boxed actors: those whose messages lie in a mailbox of a chosen kind, instead
 * of in the cell.
 *
 * A sender holds the box while it sends, so that it is not taken away under its
 * hands. Boxes are used again and freed with the system, so that a stale
 * sender's look at one is always a look at a box.
 *
 * X1  `refs` counts the actors whose mailbox this is and the senders at work; 0
 *     is a box on the free list. It is never raised from 0 by a sender.
 * X2  A sender holds the box first and looks at the generation of the cell
 *     again then: if that is still its ref's, the box is that life's.
 * X3  The mailbox's owner is the ref of the actor it was made for: every dead
 *     letter from it names that one. Those who share it take its messages as
 *     their own.
 */
#ifndef LBX_ACTOR_BOXED_H
#define LBX_ACTOR_BOXED_H

#include "actor/core/cell.h"
#include <letterbox/mailbox.h>

typedef struct lbx__actor_mailbox lbx__actor_mailbox;
typedef struct lbx__actor_mailboxes lbx__actor_mailboxes;

struct lbx__actor_mailbox {
    _Atomic(uint32_t) refs;
    lbx_system *system;
    lbx_producer *in;
    lbx_consumer *out;
    lbx_mailbox *mailbox;
    const char *kind;
    uint64_t owner; /* the ref of the life it was made for; 0: a sharers's */
    struct lbx__sharers *sharers; /* who share it on a balancing dispatcher */
    lbx__actor_mailbox *next_free;
    lbx__actor_mailbox *next; /* all of the system's */
};

lbx_status lbx__actor_mailboxes_create(lbx_system *system,
                                       lbx__actor_mailboxes **ret);
void lbx__actor_mailboxes_destroy(lbx__actor_mailboxes *boxes);

/* Lets a cell share a box that stays meanwhile. By the cell's owner. */
void lbx__actor_mailbox_share(lbx__actor_mailbox *box, lbx__cell *cell);

/* Makes the mailbox of a cell, for the life that begins, or of its sharers. By the
 * cell's owner. */
lbx_status lbx__actor_mailbox_create(lbx__cell *cell, const char *kind,
                                     const lbx_mailbox_options *given,
                                     struct lbx__sharers *sharers);

/* Lets it go; the actor for which it was made closes it first, or the last of a
 * sharers, and what is left becomes dead letters. By the owner, after the
 * generation was raised. */
void lbx__actor_mailbox_detach(lbx__cell *cell);

/* For a sender: the box of the ref's life, held; NULL when that has ended, or
 * has none. */
lbx__actor_mailbox *lbx__actor_mailbox_ref(lbx__cell *cell, uint64_t ref);
void lbx__actor_mailbox_unref(lbx__actor_mailbox *box);

/* After something was sent to this cell: wakes who may take it. */
void lbx__actor_mailbox_wake(lbx__actor_mailbox *box, lbx__cell *cell);

/* By the owner: the next message; false when there is none. */
bool lbx__actor_mailbox_pop(lbx__cell *cell, lbx__node *ret);
bool lbx__actor_mailbox_has_messages(const lbx__cell *cell);

/* By the owner of a cell that has one: nobody else takes from it. */
static inline bool
lbx__actor_mailbox_is_own(const lbx__cell *cell)
{
    // Relaxed: the owner writes it.
    const lbx__actor_mailbox *box = lbx__load(&cell->box, relaxed);

    return box->owner == lbx__cell_ref(cell) &&
           cell->role != LBX__ROLE_BALANCER;
}

#endif
