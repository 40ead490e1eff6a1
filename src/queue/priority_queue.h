/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priority queue: a lock-free inbox in front of a bucket heap.
 *
 * Producers push into a segment queue and never touch the heap. A thread that
 * takes holds the lock, moves what has arrived into the heap, and takes the
 * most urgent item.
 *
 * PRIOQ-1  The inbox is drained before every take: a message whose send had
 *          returned before the take began takes part in the choice.
 * PRIOQ-2  accepted is the count of the inbox; taken is counted here.
 * PRIOQ-3  Without memory for the heap, a take still makes progress: it takes
 *          what is in the heap already, or the oldest of the inbox.
 *
 * Threads    pushes: any, lock-free. All others: any, under the lock.
 */
#ifndef LBX_QUEUE_SORTER_H
#define LBX_QUEUE_SORTER_H

#include "base/lock.h"
#include "queue/bucket_heap.h"
#include "queue/segq.h"

typedef struct lbx__priority_queue {
    lbx__segq inbox; /* one consumer: the holder of the lock */
    lbx__lock lock;
    _Atomic(uint64_t) taken;
    lbx__bucket_heap heap;
} lbx__priority_queue;

lbx_status lbx__priority_queue_init(lbx__priority_queue *q, unsigned words,
                                    const lbx__bucket_order *order,
                                    const lbx_allocator *allocator);
void lbx__priority_queue_fini(lbx__priority_queue *q);

/* Takes up to `max` items, most urgent first, and returns how many. *ret_notes:
 * LBX__NOTE_SAMPLE. */
size_t lbx__priority_queue_pop(lbx__priority_queue *q, uint64_t *items,
                               size_t max, unsigned *ret_notes);

/* Takes the least urgent item. */
bool lbx__priority_queue_evict(lbx__priority_queue *q, uint64_t *item);

/* Whether a message inside is more urgent than this one. Without memory for the
 * heap, only messages that are in the heap already count. */
bool lbx__priority_queue_beats(lbx__priority_queue *q,
                               const lbx_envelope *than);

/* How many of the first `mark` messages ever accepted are still inside. */
uint64_t lbx__priority_queue_outstanding(lbx__priority_queue *q, uint64_t mark);

uint64_t lbx__priority_queue_taken(lbx__priority_queue *q);

#endif
