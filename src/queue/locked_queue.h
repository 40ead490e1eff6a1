/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shelf: any storage under a lock.
 *
 * Deques and users' own kinds lie here: a table of operations (lbx_storage_ops)
 * and a lock that makes each of them one step, flags and counts included.
 *
 * E1  accepted, taken and flags change under the lock only; others may read.
 */
#ifndef LBX_QUEUE_SHELF_H
#define LBX_QUEUE_SHELF_H

#include "base/lock.h"
#include "queue/slot.h"
#include <letterbox/mailbox/factory.h>
#include <stdbool.h>

typedef struct lbx__locked_queue {
    lbx__lock lock;
    const lbx_storage_ops *ops;
    void *storage; /* owned */
    unsigned flags;
    _Atomic(uint64_t) accepted;
    _Atomic(uint64_t) taken;
    _Atomic(uint64_t) fronts; /* accepted at the front */
} lbx__locked_queue;

void lbx__locked_queue_init(lbx__locked_queue *q, const lbx_storage_ops *ops,
                            void *storage);
void lbx__locked_queue_fini(lbx__locked_queue *q);

/* As the other queues' push; also what the storage says: REFUSED, NO_MEMORY,
 * and LBX__STORAGE_FULL for its FULL. */
int lbx__locked_queue_push(lbx__locked_queue *q, const uint64_t *item,
                           bool front);
/* Takes one item; *ret_notes: LBX__NOTE_SAMPLE. */
bool lbx__locked_queue_pop(lbx__locked_queue *q, uint64_t *item, bool evict,
                           unsigned *ret_notes);

void lbx__locked_queue_raise(lbx__locked_queue *q, unsigned flags);
void lbx__locked_queue_lower(lbx__locked_queue *q, unsigned flags);

/* Messages that were accepted at the back; and how many more have come, front
 * and back, than have left, counting only the first `backs` of the back. */
uint64_t lbx__locked_queue_backs(lbx__locked_queue *q);
uint64_t lbx__locked_queue_outstanding(lbx__locked_queue *q, uint64_t backs);

#endif
