/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locked queue: any storage behind a lock.
 *
 * Deques and users' kinds are tables of operations (lbx_kind_ops). The lock
 * makes each of their operations, with flags and counts, one step.
 *
 * LOCKQ-1  accepted, taken, fronts and flags change under the lock only. The
 *          counts may be read without it.
 */
#ifndef LBX_QUEUE_SHELF_H
#define LBX_QUEUE_SHELF_H

#include "base/lock.h"
#include "queue/slot.h"
#include <letterbox/mailbox/factory.h>
#include <stdbool.h>

typedef struct lbx__locked_queue {
    lbx__lock lock;
    const lbx_kind_ops *ops;
    void *storage; /* owned */
    unsigned flags;
    _Atomic(uint64_t) accepted;
    _Atomic(uint64_t) taken;
    _Atomic(uint64_t) fronts; /* accepted at the front */
} lbx__locked_queue;

void lbx__locked_queue_init(lbx__locked_queue *q, const lbx_kind_ops *ops,
                            void *storage);
void lbx__locked_queue_fini(lbx__locked_queue *q);

/* As the push of the other queues; also returns what the storage returns:
 * REFUSED, NO_MEMORY, and LBX__STORAGE_FULL for its FULL. */
int lbx__locked_queue_push(lbx__locked_queue *q, const uint64_t *item,
                           bool front);
/* Takes one item; *ret_notes: LBX__NOTE_SAMPLE. */
bool lbx__locked_queue_pop(lbx__locked_queue *q, uint64_t *item, bool evict,
                           unsigned *ret_notes);

void lbx__locked_queue_raise(lbx__locked_queue *q, unsigned flags);
void lbx__locked_queue_lower(lbx__locked_queue *q, unsigned flags);

/* Messages accepted at the back so far; and how many of the first `backs` of
 * these, and of all accepted at the front, are still inside. */
uint64_t lbx__locked_queue_backs(lbx__locked_queue *q);
uint64_t lbx__locked_queue_outstanding(lbx__locked_queue *q, uint64_t backs);

#endif
