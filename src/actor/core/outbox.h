/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: messages of an actor that wait for room elsewhere.
 *
 * A message told from a handler to a full mailbox that lets senders wait does
 * not park the worker. It waits here, as a send operation of that mailbox, and
 * its sender handles no messages until all of them have been accepted or have
 * waited long enough.
 *
 * W1  An outgoing message is in its sender's list from the first poll on until
 *     its operation is final. Only the sender's owner touches the list.
 * W2  Its waker pushes its node on the sender's system stack, at most once for
 *     each PENDING; the turn that finds the node polls again. Who ends the
 *     sender settles the operation first and leaves the memory to that node, if
 *     it is under way.
 */
#ifndef LBX_ACTOR_OUTBOX_H
#define LBX_ACTOR_OUTBOX_H

#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"

/* Lets a message wait in the name of the context's actor; false without memory,
 * or when that has ended: nothing was done. Takes over the caller's hold of the
 * box. */
bool lbx__outbox_add(lbx_context *context, lbx__actor_mailbox *box, lbx_ref to,
                     const lbx_envelope *envelope);

/* By the owner: a node that a waker pushed; a time that has come; the end. */
void lbx__outbox_poll(lbx__cell *cell, lbx__node *node);
void lbx__outbox_poll_all(lbx__cell *cell);
void lbx__outbox_end(lbx__cell *cell);

/* A node whose sender has ended. */
void lbx__outbox_bury(lbx__node *node);

static inline bool
lbx__outbox_waits(const lbx__cell *cell)
{
    return cell->facilities && cell->facilities->outbox;
}

#endif
