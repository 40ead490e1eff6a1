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

#include "actor/cell.h"
#include <letterbox/mailbox.h>

typedef struct lbx__boxed lbx__boxed;
typedef struct lbx__boxes lbx__boxes;

struct lbx__boxed {
    _Atomic(uint32_t) refs;
    lbx_system *system;
    lbx_producer *in;
    lbx_consumer *out;
    lbx_mailbox *mailbox;
    const char *kind;
    uint64_t owner; /* the ref of the life it was made for; 0: a team's */
    struct lbx__team *team; /* who share it on a balancing dispatcher */
    lbx__boxed *next_free;
    lbx__boxed *next; /* all of the system's */
};

lbx_status lbx__boxes_create(lbx_system *system, lbx__boxes **ret);
void lbx__boxes_destroy(lbx__boxes *boxes);

/* Lets a cell share a box that stays meanwhile. By the cell's owner. */
void lbx__boxed_share(lbx__boxed *boxed, lbx__cell *cell);

/* Makes the mailbox of a cell, for the life that begins, or of its team. By the
 * cell's owner. */
lbx_status lbx__boxed_make(lbx__cell *cell, const char *kind,
                           const lbx_mailbox_options *given,
                           struct lbx__team *team);

/* Lets it go; the actor for which it was made closes it first, or the last of a
 * team, and what is left becomes dead letters. By the owner, after the
 * generation was raised. */
void lbx__boxed_end(lbx__cell *cell);

/* For a sender: the box of the ref's life, held; NULL when that has ended, or
 * has none. */
lbx__boxed *lbx__boxed_hold(lbx__cell *cell, uint64_t ref);
void lbx__boxed_let_go(lbx__boxed *boxed);

/* After something was sent to this cell: wakes who may take it. */
void lbx__boxed_wake(lbx__boxed *boxed, lbx__cell *cell);

/* By the owner: the next message; false when there is none. */
bool lbx__boxed_pop(lbx__cell *cell, lbx__node *ret);
bool lbx__boxed_has_messages(const lbx__cell *cell);

/* By the owner of a cell that has one: nobody else takes from it. */
static inline bool
lbx__boxed_is_own(const lbx__cell *cell)
{
    // Relaxed: the owner writes it.
    const lbx__boxed *boxed = lbx__load(&cell->boxed, relaxed);

    return boxed->owner == lbx__cell_ref(cell) && cell->role != LBX__BALANCER;
}

#endif
