/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sorter: a lock-free inbox in front of a priority heap.
 *
 * Producers push into a segment queue and never touch the heap; whoever takes
 * holds the lock, sorts what has arrived, and takes the most urgent.
 *
 * T1  The inbox is drained before every take: a message that was wholly sent
 *     before the take began takes part in the choice (M4).
 * T2  accepted is the inbox's count; taken is counted here.
 * T3  Without memory for the heap, a take still makes progress: it takes what
 *     is sorted already, or the oldest of the inbox.
 */
#ifndef LBX_QUEUE_SORTER_H
#define LBX_QUEUE_SORTER_H

#include "base/lock.h"
#include "queue/heap.h"
#include "queue/segq.h"

typedef struct lbx__sorter {
    lbx__segq inbox; /* one consumer: the holder of the lock */
    lbx__lock lock;
    _Atomic(uint64_t) taken;
    lbx__heap heap;
} lbx__sorter;

lbx_status lbx__sorter_init(lbx__sorter *sorter, unsigned words,
                            const lbx__heap_order *order,
                            const lbx_allocator *allocator);
void lbx__sorter_fini(lbx__sorter *sorter);

/* Takes up to `most` items, most urgent first; how many. *ret_notes:
 * LBX__NOTE_SAMPLE. */
size_t lbx__sorter_pop(lbx__sorter *sorter, uint64_t *items, size_t most,
                       unsigned *ret_notes);

/* Takes the least urgent item. */
bool lbx__sorter_evict(lbx__sorter *sorter, uint64_t *item);

/* Tells whether a message inside is more urgent than this one; without memory
 * to sort what has arrived, of those that are sorted. */
bool lbx__sorter_beats(lbx__sorter *sorter, const lbx_envelope *than);

/* How many of the first `mark` messages ever accepted are still inside. */
uint64_t lbx__sorter_outstanding(lbx__sorter *sorter, uint64_t mark);

uint64_t lbx__sorter_taken(lbx__sorter *sorter);

#endif
