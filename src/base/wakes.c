/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wake-ups that are planned under a lock and made without it (OPER-2, OPER-4).
 *
 * A wake-up is begun by the thread that runs the list, or withdrawn by the
 * operation's owner: both go through `calling`, and one of them wins.
 */
#include "base/op.h"

#include "base/park.h"
#include <assert.h>

void
lbx__wakes_init(lbx__wakes *wakes)
{
    lbx__init(&wakes->lock.word, 0);
    lbx__list_init(&wakes->ops);
    wakes->running = NULL;
}

void
lbx__wakes_grant(lbx__wakes *wakes, lbx__op *op, lbx_status granted)
{
    assert(op->state == LBX__QUEUED); // OPER-2
    lbx__list_remove(&op->link);
    op->state = LBX__GRANTED;
    op->granted = granted;
    if (!op->waker.wake)
        return;
    op->wakes = wakes;
    op->caller = lbx__thread_self();
    lbx__list_append(&wakes->ops, &op->link);
    // Release: an owner that sees it also sees the fields above.
    lbx__store(&op->calling, (uint32_t)LBX__PLANNED, release);
}

/* Removes the next wake-up from the list; NULL when all that are left are being
 * withdrawn. */
static lbx__op *
wakes_begin_next(lbx__wakes *wakes)
{
    for (lbx__link *link = wakes->ops.next; link != &wakes->ops;
         link = link->next) {
        lbx__op *op = lbx__member(link, lbx__op, link);
        uint32_t seen = LBX__PLANNED;

        // Acquire: orders this after a withdrawal by the owner.
        if (!lbx__cas(&op->calling, &seen, (uint32_t)LBX__CALLING, acquire))
            continue;
        lbx__list_remove(&op->link);
        wakes->running = op;
        return op;
    }
    return NULL;
}

/* Runs one callback and releases the operation. */
static void
wakes_call(lbx__wakes *wakes, lbx__op *op)
{
    lbx_waker waker = op->waker;

    waker.wake(waker.context); // OPER-4
    if (wakes->running != op)
        return; // settled by its own callback; its memory may be gone
    // Release: the owner that sees it sees everything the callback did. The
    // last touch: the wake-up only compares the address (OPER-3).
    if (lbx__exchange(&op->calling, (uint32_t)LBX__NOT_CALLING, acq_rel) ==
        LBX__AWAITED)
        lbx__futex_wake(&op->calling, 1);
}

void
lbx__wakes_run(lbx__wakes *wakes)
{
    bool empty;

    do {
        lbx__op *op;

        lbx__lock_take(&wakes->lock);
        op = wakes_begin_next(wakes);
        empty = lbx__list_empty(&wakes->ops);
        lbx__lock_give(&wakes->lock);
        if (op)
            wakes_call(wakes, op);
        else if (!empty)
            lbx__yield(); // an owner is between two steps of a withdrawal
    } while (!empty);
}
