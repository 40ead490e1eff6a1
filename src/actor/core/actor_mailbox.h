/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actor mailboxes: a mailbox of a chosen kind that has an actor's messages, in
 * place of the inbox in its cell.
 *
 * A sender holds a reference while it sends, so that the mailbox stays. The
 * structs are reused and freed with the system, so that a stale pointer to one
 * always points to one.
 *
 * ABOX-1  `refs` counts the actors that use the mailbox and the senders at
 *         work; 0 is a struct on the free list. A sender never raises it from
 *         0.
 * ABOX-2  A sender takes its reference first and checks the generation of the
 *         cell then: if that is still its ref's, the mailbox is that life's.
 * ABOX-3  The mailbox's owner is the ref of the actor it was created for: every
 *         dead letter from it names that one. Cells that share the mailbox take
 *         its messages as their own.
 * ABOX-4  The loss sink of the options gets what the mailbox loses, and what it
 *         does not take in; without one that is a dead letter. Messages of the
 *         library's own are dead letters always: nobody else can destroy them.
 */
#ifndef LBX_ACTOR_CORE_ACTOR_MAILBOX_H
#define LBX_ACTOR_CORE_ACTOR_MAILBOX_H

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
    lbx_mailbox_options options; /* as it was created with */
    lbx_loss_sink losses;        /* ABOX-4; of the props, or none */
    _Atomic(uint64_t) lost;      /* how many it got */
    uint64_t owner; /* the ref of the life it was made for; 0: shared */
    struct lbx__sharers *sharers; /* on a balancing dispatcher; or NULL */
    lbx__actor_mailbox *next_free;
    lbx__actor_mailbox *next; /* on the list of all */
};

lbx_status lbx__actor_mailboxes_create(lbx_system *system,
                                       lbx__actor_mailboxes **ret);
void lbx__actor_mailboxes_destroy(lbx__actor_mailboxes *boxes);

/* Makes a cell share a mailbox that the caller keeps alive. By the owner. */
void lbx__actor_mailbox_share(lbx__actor_mailbox *box, lbx__cell *cell);

/* Creates the mailbox of a cell, for the life that begins, or for its sharers.
 * By the owner. */
lbx_status lbx__actor_mailbox_create(lbx__cell *cell, const char *kind,
                                     const lbx_mailbox_options *given,
                                     struct lbx__sharers *sharers);

/* Releases the mailbox of a cell. The actor for which it was created closes it
 * first, or the last of its sharers, and what is left becomes dead letters. By
 * the owner, after the generation was raised. */
void lbx__actor_mailbox_detach(lbx__cell *cell);

/* For a sender: a new reference to the mailbox of the ref's life; NULL when
 * that has ended, or has none. */
lbx__actor_mailbox *lbx__actor_mailbox_ref(lbx__cell *cell, uint64_t ref);
void lbx__actor_mailbox_unref(lbx__actor_mailbox *box);

/* The end of a message that the mailbox did not take in (ABOX-4). For one who
 * has a reference. */
void lbx__actor_mailbox_lose(lbx__actor_mailbox *box,
                             const lbx_envelope *envelope,
                             lbx_loss_reason reason);

/* Wakes the cells that may take what was sent to this one. */
void lbx__actor_mailbox_wake(lbx__actor_mailbox *box, lbx__cell *cell);

/* The next message; false when there is none. By the owner. */
bool lbx__actor_mailbox_pop(lbx__cell *cell, lbx__node *ret);
bool lbx__actor_mailbox_has_messages(const lbx__cell *cell);

/* crowd.c: a metrics sink, whose context is an actor mailbox: warns of
 * pressure. */
void lbx__crowd_note_pressure(void *context, const lbx_metric_event *event);

/* Whether only this cell takes from its mailbox. By the owner of a cell that
 * has one. */
static inline bool
lbx__actor_mailbox_is_own(const lbx__cell *cell)
{
    // Relaxed: the owner writes it.
    const lbx__actor_mailbox *box = lbx__load(&cell->box, relaxed);

    return box->owner == lbx__cell_ref(cell) &&
           cell->role != LBX__ROLE_BALANCER;
}

#endif
