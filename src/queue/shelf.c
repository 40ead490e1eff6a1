/* SPDX-License-Identifier: Apache-2.0 */
/* The shelf. */
#include "queue/shelf.h"

void
lbx__shelf_init(lbx__shelf *shelf, const lbx_storage_ops *ops, void *storage)
{
    lbx__init(&shelf->lock.word, 0);
    shelf->ops = ops;
    shelf->storage = storage;
    shelf->flags = 0;
    lbx__init(&shelf->accepted, 0);
    lbx__init(&shelf->taken, 0);
    lbx__init(&shelf->fronts, 0);
}

void
lbx__shelf_fini(lbx__shelf *shelf)
{
    shelf->ops->destroy(shelf->storage);
}

static void
count_one(_Atomic(uint64_t) *number)
{
    // Relaxed: E1, one writer at a time. Release: for those who count.
    lbx__store(number, lbx__load(number, relaxed) + 1, release);
}

int
lbx__shelf_push(lbx__shelf *shelf, const uint64_t *item, bool front)
{
    lbx_envelope envelope;
    lbx_status status = LBX_REFUSED;
    bool closed;
    int flags = 0;

    memcpy(&envelope, item, sizeof(envelope));
    envelope.message = lbx__slot_decode(item[0]);
    lbx__lock_take(&shelf->lock);
    closed = (shelf->flags & LBX__CLOSED) != 0;
    if (!closed)
        status = front ? shelf->ops->push_front(shelf->storage, &envelope)
                       : shelf->ops->push(shelf->storage, &envelope);
    if (status == LBX_OK) {
        if (front)
            count_one(&shelf->fronts);
        count_one(&shelf->accepted);
        flags = (int)(shelf->flags & (LBX__WAITING | LBX__OBSERVED));
    }
    lbx__lock_give(&shelf->lock);
    if (closed)
        return LBX_CLOSED;
    switch (status) {
    case LBX_OK:
        return flags;
    case LBX_FULL:
        return LBX__STORAGE_FULL;
    case LBX_NO_MEMORY:
        return LBX_NO_MEMORY;
    default: // whatever else a user's table may answer, it is a refusal
        return LBX_REFUSED;
    }
}

bool
lbx__shelf_pop(lbx__shelf *shelf, uint64_t *item, bool evict,
               unsigned *ret_notes)
{
    lbx_envelope envelope;
    bool found;

    lbx__lock_take(&shelf->lock);
    found = evict && shelf->ops->evict
                ? shelf->ops->evict(shelf->storage, &envelope)
                : shelf->ops->pop(shelf->storage, &envelope);
    if (found) {
        uint64_t taken = lbx__load(&shelf->taken, relaxed);

        count_one(&shelf->taken);
        *ret_notes |= lbx__note_sample(taken, taken + 1);
    }
    lbx__lock_give(&shelf->lock);
    if (!found)
        return false;
    memcpy(item, &envelope, sizeof(envelope));
    item[0] = lbx__slot_encode(envelope.message);
    return true;
}

void
lbx__shelf_raise(lbx__shelf *shelf, unsigned flags)
{
    lbx__lock_take(&shelf->lock);
    shelf->flags |= flags;
    lbx__lock_give(&shelf->lock);
}

uint64_t
lbx__shelf_backs(lbx__shelf *shelf)
{
    uint64_t backs;

    lbx__lock_take(&shelf->lock); // the two numbers belong together
    backs = lbx__load(&shelf->accepted, relaxed) -
            lbx__load(&shelf->fronts, relaxed);
    lbx__lock_give(&shelf->lock);
    return backs;
}

uint64_t
lbx__shelf_outstanding(lbx__shelf *shelf, uint64_t backs)
{
    uint64_t come;
    uint64_t left;

    lbx__lock_take(&shelf->lock);
    come = backs + lbx__load(&shelf->fronts, relaxed);
    left = lbx__load(&shelf->taken, relaxed);
    lbx__lock_give(&shelf->lock);
    return come > left ? come - left : 0;
}

void
lbx__shelf_lower(lbx__shelf *shelf, unsigned flags)
{
    lbx__lock_take(&shelf->lock);
    shelf->flags &= ~flags;
    lbx__lock_give(&shelf->lock);
}
