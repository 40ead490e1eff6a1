/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: messages of an actor that wait for space in another mailbox.
 *
 * A message sent by a handler to a full mailbox that lets senders wait does not
 * block the worker. It waits here, as a send operation of that mailbox, and its
 * sender handles no messages until all of them have been accepted or their
 * deadlines have passed.
 *
 * OUTBOX-1  An outgoing message is in its sender's list from the first poll
 *           until its operation is final. Only the sender's owner uses the
 *           list.
 * OUTBOX-2  Its waker pushes its node on the sender's system stack, at most
 *           once for each PENDING; the run that takes the node polls again. If
 *           the sender ends before that, the operation is settled first and the
 *           memory is freed with that node.
 */
#ifndef LBX_ACTOR_CORE_OUTBOX_H
#define LBX_ACTOR_CORE_OUTBOX_H

#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"

/* Makes a message wait for the context's actor; false without memory, or when
 * that has ended, and then nothing was done. Takes over the caller's reference
 * to the mailbox. */
bool lbx__outbox_add(lbx_context *context, lbx__actor_mailbox *box, lbx_ref to,
                     const lbx_envelope *envelope);

/* By the owner: on a node that a waker pushed; on a deadline; at the end. */
void lbx__outbox_poll(lbx__cell *cell, lbx__node *node);
void lbx__outbox_poll_all(lbx__cell *cell);
void lbx__outbox_end(lbx__cell *cell);

/* Frees a node whose sender has ended (OUTBOX-2). */
void lbx__outbox_bury(lbx__node *node);

static inline bool
lbx__outbox_waits(const lbx__cell *cell)
{
    return cell->facilities && cell->facilities->outbox;
}

#endif
