/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mailbox under test, through its public API, with the ledger kept.
 *
 * Every function may be called by any thread of the scenario; the ones named
 * after a single call check its status where only one is right.
 */
#ifndef LBX_EXPLORER_BOX_H
#define LBX_EXPLORER_BOX_H

#include "explorer/scenarios/ledger.h"

#include <letterbox/letterbox.h>

struct box {
    lbx_producer *in;
    lbx_consumer *out;
};

/* Options with the explorer's memory and clock, and losses to the ledger. */
lbx_mailbox_options box_options(void);

/* Resets the ledger and makes the mailbox; in setup(). */
void box_create(struct box *box, const char *kind,
                const lbx_mailbox_options *options);

/* The same with box_options() changed in place:
 *
 *     BOX_CREATE(&box, LBX_KIND_BOUNDED, with.capacity_messages = 1);
 */
#define BOX_CREATE(box, kind, ...)                                             \
    (with = box_options(), __VA_ARGS__, box_create(box, kind, &with))

extern lbx_mailbox_options with;

/* Takes out what is left, into the ledger; in finish(). */
void box_drain(struct box *box);

/* Drains, checks the counts and the ledger, releases both handles. */
void box_finish(struct box *box, bool in_order);

/* Sends a new message without waiting, or as the policy says. Waits are
 * operations: the functions that park spin for a while first, which only puts
 * off the part that matters. */
lbx_status box_try_send(struct box *box);
lbx_status box_send(struct box *box, int64_t deadline_ns);

/* Sends a new message with metadata. */
lbx_status box_try_send_envelope(struct box *box, lbx_envelope envelope);

/* Receives one; true when there was one. */
bool box_try_receive(struct box *box);
lbx_status box_receive(struct box *box, int64_t deadline_ns);

/* Receives until LBX_CLOSED. */
void box_receive_all(struct box *box);

/* Now plus one millisecond. */
int64_t box_soon(void);

#endif
