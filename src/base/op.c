/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: what all kinds have in common. OPER-1 to OPER-4 are in op.h.
 */
#include "base/op.h"

#include "base/park.h"
#include "base/time.h"
#include <assert.h>
#include <string.h>

enum {
    SPINS = LBX__SPINS(100)
};

void
lbx__op_init(lbx__op *op, const lbx__op_ops *ops, void *subject,
             const lbx_clock *clock, int64_t deadline_ns)
{
    memset(op, 0, sizeof(*op));
    op->ops = ops;
    op->clock = clock;
    op->deadline_ns = deadline_ns;
    op->poll_by_ns = deadline_ns;
    op->status = LBX_PENDING;
    op->subject = subject;
    lbx__list_init(&op->link);
}

bool
lbx__op_late(const lbx__op *op)
{
    if (op->poll_by_ns == LBX_FOREVER)
        return false;
    return lbx_clock_now(op->clock) >= op->poll_by_ns;
}

void
lbx__op_set_waker(lbx__op *op, const lbx_waker *waker)
{
    static const lbx_waker none;

    op->waker = waker ? *waker : none;
}

void
lbx__op_queue(lbx__op *op, lbx__link *before, const lbx_waker *waker)
{
    assert(op->state != LBX__QUEUED); // OPER-2
    lbx__op_set_waker(op, waker);
    op->state = LBX__QUEUED;
    lbx__list_insert(before, &op->link);
}

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

/* Waits until another thread's callback of this operation has returned. */
static void
op_await_call(lbx__op *op)
{
    for (int i = 0; i < SPINS; i++) {
        // Acquire, here and below: pairs with the exchange in wakes_call(), so that
        // the callback happened before we go on.
        if (lbx__load(&op->calling, acquire) == LBX__NOT_CALLING)
            return;
        lbx__pause();
    }
    for (;;) {
        uint32_t seen = LBX__CALLING;

        if (!lbx__cas(&op->calling, &seen, (uint32_t)LBX__AWAITED, acquire) &&
            seen == LBX__NOT_CALLING)
            return;
        lbx__futex_wait(&op->calling, LBX__AWAITED, -1);
    }
}

/* Withdraws a wake-up that has not begun; false when it has. */
static bool
op_withdraw(lbx__op *op)
{
    uint32_t seen = LBX__PLANNED;
    lbx__wakes *wakes;

    // Acquire: makes `wakes` readable. From here on the list stays until this
    // operation is off it.
    if (!lbx__cas(&op->calling, &seen, (uint32_t)LBX__WITHDRAWN, acquire))
        return false;
    wakes = op->wakes;
    lbx__lock_take(&wakes->lock);
    lbx__list_remove(&op->link);
    // Relaxed: only the owner reads it from now on.
    lbx__store(&op->calling, (uint32_t)LBX__NOT_CALLING, relaxed);
    lbx__lock_give(&wakes->lock);
    return true;
}

void
lbx__op_settle(lbx__op *op)
{
    // Acquire: makes `caller` and `wakes` readable.
    if (lbx__load(&op->calling, acquire) == LBX__NOT_CALLING || op_withdraw(op))
        return;
    if (op->caller != lbx__thread_self()) {
        op_await_call(op);
        return;
    }
    op->wakes->running = NULL;
    // Relaxed: only this thread reads it from now on.
    lbx__store(&op->calling, (uint32_t)LBX__NOT_CALLING, relaxed);
}

lbx_status
lbx_operation_poll(lbx_operation *operation, const lbx_waker *waker)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status == LBX_PENDING)
        op->status = op->ops->poll(op, waker);
    return op->status; // OPER-1
}

lbx_status
lbx_operation_cancel(lbx_operation *operation)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status == LBX_PENDING)
        op->status = op->ops->leave(op, LBX_CANCELLED);
    return op->status;
}

void
lbx_operation_fini(lbx_operation *operation)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return;
    (void)lbx_operation_cancel(operation);
    op->ops->release(op);
    op->ops = NULL;
}

lbx_status
lbx_operation_restart(lbx_operation *operation, int64_t deadline_ns)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status == LBX_PENDING)
        return LBX_BUSY;
    if (!op->ops->again)
        return LBX_UNSUPPORTED;
    op->status = LBX_PENDING;
    op->deadline_ns = deadline_ns;
    op->poll_by_ns = deadline_ns;
    return LBX_OK;
}

lbx_status
lbx_operation_status(const lbx_operation *operation)
{
    const lbx__op *op = (const lbx__op *)(const void *)operation;

    if (!op || !op->ops)
        return LBX_INVALID;
    return op->status;
}

int64_t
lbx_operation_deadline(const lbx_operation *operation)
{
    const lbx__op *op = (const lbx__op *)(const void *)operation;

    if (!op || !op->ops || op->status != LBX_PENDING)
        return LBX_FOREVER;
    return op->poll_by_ns;
}

/* A thread that waits for one operation: 0 nothing yet, 1 woken, 2 asleep. */
struct parker {
    _Atomic(uint32_t) word;
};

static void
parker_wake(void *context)
{
    struct parker *parker = context;

    // Release: what the waking thread did is visible to the parked one. The
    // parker outlives this call, because the operation is settled before the
    // waiting thread returns (OPER-3).
    if (lbx__exchange(&parker->word, 1u, release) == 2)
        lbx__futex_wake(&parker->word, 1);
}

/* Sleeps until parker_wake() or the operation's deadline. */
static void
parker_sleep(struct parker *parker, const lbx__op *op)
{
    uint32_t seen = 0;
    int64_t wait_ns = -1;

    if (op->poll_by_ns != LBX_FOREVER) {
        wait_ns = lbx__time_left(op->poll_by_ns, lbx_clock_now(op->clock));
        if (wait_ns == 0)
            return;
    }
    // Acquire: pairs with the exchange in parker_wake().
    if (lbx__cas(&parker->word, &seen, 2u, acquire))
        lbx__futex_wait(&parker->word, 2, wait_ns);
}

lbx_status
lbx__op_wait(lbx__op *op)
{
    struct parker parker;
    lbx_waker waker = {parker_wake, &parker};

    lbx__init(&parker.word, 0);
    for (;;) {
        // Relaxed: a wake-up before this poll is covered by the poll itself.
        lbx__store(&parker.word, 0u, relaxed);
        op->status = op->ops->poll(op, &waker);
        if (op->status != LBX_PENDING)
            return op->status;
        parker_sleep(&parker, op);
    }
}

lbx_status
lbx_operation_wait(lbx_operation *operation)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status != LBX_PENDING)
        return op->status;
    return lbx__op_wait(op);
}
