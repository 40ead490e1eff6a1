/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locked queue: any storage behind a lock.
 *
 * Deques and users' kinds are tables of operations. The lock makes each of
 * their operations, with flags and counts, one step.
 *
 * LOCKQ-1  accepted, taken, fronts and flags change under the lock only. The
 *          counts may be read without it.
 */
#ifndef LBX_QUEUE_LOCKED_QUEUE_H
#define LBX_QUEUE_LOCKED_QUEUE_H

#include "base/lock.h"
#include "queue/slot.h"
#include <stdbool.h>

/* What a storage can do; each entry is called under the lock. What they return
 * is in <letterbox/mailbox/factory.h>, lbx_kind_ops. */
typedef struct lbx__locked_ops {
    void (*destroy)(void *storage);
    lbx_status (*push)(void *storage, const lbx_envelope *envelope);
    bool (*pop)(void *storage, lbx_envelope *ret);
    lbx_status (*push_front)(void *storage, const lbx_envelope *envelope);
    bool (*evict)(void *storage, lbx_envelope *ret); /* NULL: as pop */
} lbx__locked_ops;

typedef struct lbx__locked_queue {
    lbx__lock lock;
    lbx__locked_ops ops;
    void *storage; /* owned */
    unsigned flags;
    _Atomic(uint64_t) accepted;
    _Atomic(uint64_t) taken;
    _Atomic(uint64_t) fronts; /* accepted at the front */
} lbx__locked_queue;

/* `ops` is copied. */
void lbx__locked_queue_init(lbx__locked_queue *q, const lbx__locked_ops *ops,
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
