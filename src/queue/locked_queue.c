/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locked queue: the calls of a lane on a storage, each under the lock.
 * LOCKQ-1 is in locked_queue.h.
 *
 * The storage belongs to the queue and is destroyed with it. It sees envelopes;
 * a status that it may not return counts as a refusal.
 *
 * Threads    any; init and fini: one. The storage is called under the lock.
 */
#include "queue/locked_queue.h"

void
lbx__locked_queue_init(lbx__locked_queue *q, const lbx__locked_ops *ops,
                       void *storage)
{
    lbx__init(&q->lock.word, 0);
    q->ops = *ops;
    q->storage = storage;
    q->flags = 0;
    lbx__init(&q->accepted, 0);
    lbx__init(&q->taken, 0);
    lbx__init(&q->fronts, 0);
}

void
lbx__locked_queue_fini(lbx__locked_queue *q)
{
    q->ops.destroy(q->storage);
}

static void
locked_queue_count(_Atomic(uint64_t) *number)
{
    // Relaxed: LOCKQ-1, one writer at a time. Release: pairs with the acquire
    // of threads that read the count.
    lbx__store(number, lbx__load(number, relaxed) + 1, release);
}

int
lbx__locked_queue_push(lbx__locked_queue *q, const uint64_t *item, bool front)
{
    lbx_envelope envelope;
    lbx_status status = LBX_REFUSED;
    bool closed;
    int flags = 0;

    memcpy(&envelope, item, sizeof(envelope));
    envelope.message = lbx__slot_decode(item[0]);
    lbx__lock_take(&q->lock);
    closed = (q->flags & LBX__FLAG_CLOSED) != 0;
    if (!closed)
        status = front ? q->ops.push_front(q->storage, &envelope)
                       : q->ops.push(q->storage, &envelope);
    if (status == LBX_OK) {
        if (front)
            locked_queue_count(&q->fronts);
        locked_queue_count(&q->accepted);
        flags = (int)(q->flags & (LBX__FLAG_WAITING | LBX__FLAG_OBSERVED));
    }
    lbx__lock_give(&q->lock);
    if (closed)
        return LBX_CLOSED;
    switch (status) {
    case LBX_OK:
        return flags;
    case LBX_FULL:
        return LBX__STORAGE_FULL;
    case LBX_NO_MEMORY:
        return LBX_NO_MEMORY;
    default: // every other status of a user's storage is a refusal
        return LBX_REFUSED;
    }
}

bool
lbx__locked_queue_pop(lbx__locked_queue *q, uint64_t *item, bool evict,
                      unsigned *ret_notes)
{
    lbx_envelope envelope;
    bool found;

    lbx__lock_take(&q->lock);
    found = evict && q->ops.evict ? q->ops.evict(q->storage, &envelope)
                                  : q->ops.pop(q->storage, &envelope);
    if (found) {
        uint64_t taken = lbx__load(&q->taken, relaxed);

        locked_queue_count(&q->taken);
        *ret_notes |= lbx__note_sample(taken, taken + 1);
    }
    lbx__lock_give(&q->lock);
    if (!found)
        return false;
    memcpy(item, &envelope, sizeof(envelope));
    item[0] = lbx__slot_encode(envelope.message);
    return true;
}

void
lbx__locked_queue_raise(lbx__locked_queue *q, unsigned flags)
{
    lbx__lock_take(&q->lock);
    q->flags |= flags;
    lbx__lock_give(&q->lock);
}

uint64_t
lbx__locked_queue_backs(lbx__locked_queue *q)
{
    uint64_t backs;

    lbx__lock_take(&q->lock); // both counts in one step
    backs = lbx__load(&q->accepted, relaxed) - lbx__load(&q->fronts, relaxed);
    lbx__lock_give(&q->lock);
    return backs;
}

uint64_t
lbx__locked_queue_outstanding(lbx__locked_queue *q, uint64_t backs)
{
    uint64_t accepted;
    uint64_t taken;

    lbx__lock_take(&q->lock);
    accepted = backs + lbx__load(&q->fronts, relaxed);
    taken = lbx__load(&q->taken, relaxed);
    lbx__lock_give(&q->lock);
    return accepted > taken ? accepted - taken : 0;
}

void
lbx__locked_queue_lower(lbx__locked_queue *q, unsigned flags)
{
    lbx__lock_take(&q->lock);
    q->flags &= ~flags;
    lbx__lock_give(&q->lock);
}
