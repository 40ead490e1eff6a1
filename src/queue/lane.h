/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane: one queue of a mailbox, behind one set of calls for all four types.
 *
 * Any number of producers; consumers as the queue was initialised. What all
 * four queues guarantee, and the mailbox relies on:
 *
 * LANE-1  raise() and push() are ordered: a push either sees the flag, or is
 *         included in what accepted() returns after raise().
 * LANE-2  accepted() - taken() is the exact depth. A push may be counted before
 *         it can be popped, never the reverse.
 * LANE-3  A push that fails leaves the queue unchanged.
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
    lbx__quota *quota; /* counts the capacity; NULL: the ring does, or there
                          is no limit. Not owned. */
    lbx__link senders; /* waiting sends; under the mailbox's lock */
} lbx__lane;

/* Frees the queue; accepts half-built and zeroed lanes. */
void lbx__lane_fini(lbx__lane *lane);

/* Appends one item, for which the quota, if there is one, has been taken.
 * Returns as lbx__ring_push(); `ahead` matters to rings only. */
int lbx__lane_push(lbx__lane *lane, const uint64_t *item, bool ahead);

/* Takes up to `max` items, gives their quota back and returns how many.
 * *ret_notes: LBX__NOTE_*. */
size_t lbx__lane_pop(lbx__lane *lane, uint64_t *items, size_t max,
                     unsigned *ret_notes);

/* Takes out the oldest or least urgent item, for DROP_OLDEST, and gives its
 * quota back; false when there is none. */
bool lbx__lane_evict(lbx__lane *lane, uint64_t *item);

uint64_t lbx__lane_accepted(lbx__lane *lane);
uint64_t lbx__lane_taken(lbx__lane *lane);
uint64_t lbx__lane_depth(lbx__lane *lane);

/* A mark behind the messages accepted so far, and how many messages from before
 * a mark are still inside. */
uint64_t lbx__lane_mark(lbx__lane *lane);
uint64_t lbx__lane_outstanding(lbx__lane *lane, uint64_t mark);

void lbx__lane_raise(lbx__lane *lane, unsigned flags);
void lbx__lane_lower(lbx__lane *lane, unsigned flags);
void lbx__lane_close(lbx__lane *lane);

/* Marks that a receiver waits behind an unfilled slot: SEGQ-6. No effect on a
 * queue whose push is one step. */
void lbx__lane_stall(lbx__lane *lane, bool stalled);

/* Marks that senders wait for capacity, or no longer do. */
void lbx__lane_raise_senders(lbx__lane *lane);
void lbx__lane_lower_senders(lbx__lane *lane);

#endif
