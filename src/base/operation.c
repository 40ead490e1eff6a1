/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: the part that all of them share. The rules O1 to O4 are in op.h.
 */
#include "base/op.h"

#include "base/park.h"
#include <assert.h>
#include <string.h>

enum {
    SPINS = 100
};

void
lbx__op_init(lbx__op *op, const lbx__op_ops *ops, void *subject,
             const lbx_clock *clock, int64_t deadline_ns)
{
    memset(op, 0, sizeof(*op));
    op->ops = ops;
    op->clock = clock;
    op->deadline_ns = deadline_ns;
    op->look_ns = deadline_ns;
    op->status = LBX_PENDING;
    op->subject = subject;
    lbx__list_init(&op->link);
}

bool
lbx__op_late(const lbx__op *op)
{
    if (op->deadline_ns == LBX_FOREVER)
        return false;
    return lbx_clock_now(op->clock) >= op->deadline_ns;
}

void
lbx__op_queue(lbx__op *op, lbx__link *before, const lbx_waker *waker)
{
    static const lbx_waker nobody;

    assert(op->state != LBX__QUEUED); // O2
    op->waker = waker ? *waker : nobody;
    op->state = LBX__QUEUED;
    lbx__list_insert(before, &op->link);
}

void
lbx__wakes_init(lbx__wakes *wakes)
{
    lbx__list_init(&wakes->ops);
    wakes->running = NULL;
}

void
lbx__wakes_grant(lbx__wakes *wakes, lbx__op *op, lbx_status granted)
{
    assert(op->state == LBX__QUEUED); // O2
    lbx__list_remove(&op->link);
    op->state = LBX__GRANTED;
    op->granted = granted;
    if (!op->waker.wake)
        return;
    op->wakes = wakes;
    op->caller = lbx__thread_self();
    // Release: an owner that sees it also sees `caller`.
    lbx__store(&op->calling, 1u, release);
    lbx__list_append(&wakes->ops, &op->link);
}

void
lbx__wakes_run(lbx__wakes *wakes)
{
    while (!lbx__list_empty(&wakes->ops)) {
        lbx__op *op = lbx__member(wakes->ops.next, lbx__op, link);
        lbx_waker waker = op->waker;

        lbx__list_remove(&op->link);
        wakes->running = op;
        waker.wake(waker.context); // O4
        if (wakes->running != op)
            continue; // settled inside its own callback; it may be gone
        // Release: the owner that sees 0 sees everything the callback did.
        // O3: nothing of the operation is touched after this; the wake-up
        // only compares the address.
        if (lbx__exchange(&op->calling, 0u, acq_rel) == 2)
            lbx__futex_wake(&op->calling, 1);
    }
}

/* Waits until another thread's callback of this operation has returned. */
static void
await_call(lbx__op *op)
{
    for (int i = 0; i < SPINS; i++) {
        // Acquire, here and below: pairs with the exchange in
        // lbx__wakes_run(), so that the callback happened before we go on.
        if (lbx__load(&op->calling, acquire) == 0)
            return;
        lbx__pause();
    }
    for (;;) {
        uint32_t seen = 1;

        if (!lbx__cas(&op->calling, &seen, 2u, acquire) && seen == 0)
            return;
        lbx__futex_wait(&op->calling, 2, -1);
        if (lbx__load(&op->calling, acquire) == 0)
            return;
    }
}

void
lbx__op_settle(lbx__op *op)
{
    // Acquire: makes `caller` and `wakes` readable.
    if (lbx__load(&op->calling, acquire) == 0)
        return;
    if (op->caller != lbx__thread_self()) {
        await_call(op);
        return;
    }
    if (op->wakes->running == op)
        op->wakes->running = NULL;
    else
        lbx__list_remove(&op->link);
    // Relaxed: only this thread looks at it from now on.
    lbx__store(&op->calling, 0u, relaxed);
}

lbx_status
lbx_operation_poll(lbx_operation *operation, const lbx_waker *waker)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !op->ops)
        return LBX_INVALID;
    if (op->status == LBX_PENDING)
        op->status = op->ops->poll(op, waker);
    return op->status; // O1
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
    op->look_ns = deadline_ns;
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
    return op->look_ns;
}

/* A thread that waits for one operation: 0 nothing yet, 1 woken, 2 asleep. */
struct parker {
    _Atomic(uint32_t) word;
};

static void
unpark(void *context)
{
    struct parker *parker = context;

    // Release: what the waking thread did is visible to the parked one. The
    // parker outlives this call, because the operation is settled before the
    // waiting thread returns (O3).
    if (lbx__exchange(&parker->word, 1u, release) == 2)
        lbx__futex_wake(&parker->word, 1);
}

/* Sleeps until unpark() or the operation's deadline. */
static void
park(struct parker *parker, const lbx__op *op)
{
    uint32_t seen = 0;
    int64_t wait_ns = -1;

    if (op->look_ns != LBX_FOREVER) {
        wait_ns = op->look_ns - lbx_clock_now(op->clock);
        if (wait_ns <= 0)
            return;
    }
    // Acquire: pairs with the exchange in unpark().
    if (lbx__cas(&parker->word, &seen, 2u, acquire))
        lbx__futex_wait(&parker->word, 2, wait_ns);
}

lbx_status
lbx__op_wait(lbx__op *op)
{
    struct parker parker;
    lbx_waker waker = {unpark, &parker};

    lbx__init(&parker.word, 0);
    for (;;) {
        // Relaxed: a wake-up before this poll is covered by the poll itself.
        lbx__store(&parker.word, 0u, relaxed);
        op->status = op->ops->poll(op, &waker);
        if (op->status != LBX_PENDING)
            return op->status;
        park(&parker, op);
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
