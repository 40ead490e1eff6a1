/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane: one queue of a mailbox, whichever it is.
 *
 * The four queues behind one set of calls. Each is safe for any number of
 * producers; for consumers as it was made. What all of them promise, and the
 * mailbox builds on:
 *
 * L1  raise() and push() are ordered: a push either sees the flag, or is in
 *     what accepted() says after raise().
 * L2  accepted() - taken() is the exact depth; a push under way may count
 *     before it can be popped, never the other way round.
 * L3  A push that fails leaves no trace.
 */
#ifndef LBX_QUEUE_LANE_H
#define LBX_QUEUE_LANE_H

#include "base/list.h"
#include "queue/locked_queue.h"
#include "queue/priority_queue.h"
#include "queue/quota.h"
#include "queue/ring.h"
#include "queue/segq.h"

typedef enum lbx__lane_type {
    LBX__LANE_SEGQ = 0,
    LBX__LANE_RING,
    LBX__LANE_PRIORITY,
    LBX__LANE_LOCKED,
} lbx__lane_type;

typedef struct lbx__lane {
    union {
        lbx__segq segq;
        lbx__ring ring;
        lbx__priority_queue priority;
        lbx__locked_queue locked;
    } q;
    lbx__lane_type type;
    unsigned words;
    lbx__quota *quota; /* where its room is counted; NULL: in the ring, or
                            there is no limit. Not owned. */
    lbx__link senders; /* waiting sends; the mailbox's lock */
} lbx__lane;

/* Frees what is inside; takes half-built and zeroed lanes. */
void lbx__lane_fini(lbx__lane *lane);

/* Appends one item, whose room is already taken if there is a quota. As
 * lbx__ring_push(); `ahead` only matters to rings. */
int lbx__lane_push(lbx__lane *lane, const uint64_t *item, bool ahead);

/* Takes up to `most` items and gives their room back; how many. *ret_notes:
 * LBX__NOTE_*. */
size_t lbx__lane_pop(lbx__lane *lane, uint64_t *items, size_t most,
                     unsigned *ret_notes);

/* Takes out the item that matters least, for DROP_OLDEST; false when there is
 * none. Its room is given back. */
bool lbx__lane_evict(lbx__lane *lane, uint64_t *item);

uint64_t lbx__lane_accepted(lbx__lane *lane);
uint64_t lbx__lane_taken(lbx__lane *lane);
uint64_t lbx__lane_depth(lbx__lane *lane);

/* A mark after what has been accepted so far, and how many messages from
 * before a mark are still inside. */
uint64_t lbx__lane_mark(lbx__lane *lane);
uint64_t lbx__lane_outstanding(lbx__lane *lane, uint64_t mark);

void lbx__lane_raise(lbx__lane *lane, unsigned flags);
void lbx__lane_lower(lbx__lane *lane, unsigned flags);
void lbx__lane_close(lbx__lane *lane);

/* A receiver waits behind an unfilled slot: Q6. Nothing to do where a push is
 * one step. */
void lbx__lane_stall(lbx__lane *lane, bool stalled);

/* Senders wait for room, or no longer do. */
void lbx__lane_raise_senders(lbx__lane *lane);
void lbx__lane_lower_senders(lbx__lane *lane);

#endif
