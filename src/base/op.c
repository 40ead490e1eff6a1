/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: what all kinds have in common. OPER-1 to OPER-4 are in op.h; the
 * public functions are in operation.c.
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
    op->status = LBX_PENDING;
    op->subject = subject;
    lbx__list_init(&op->link);
    lbx__op_set_deadline(op, deadline_ns);
}

void
lbx__op_set_deadline(lbx__op *op, int64_t deadline_ns)
{
    // Clocks begin at 0. A caller that passes -1 means "no limit", as it does
    // in options; a wait that ended at once would hide the mistake.
    op->deadline_ns = deadline_ns < 0 ? LBX_FOREVER : deadline_ns;
    op->poll_by_ns = op->deadline_ns;
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

/* Waits until another thread's callback of this operation has returned. */
static void
op_await_call(lbx__op *op)
{
    for (int i = 0; i < SPINS; i++) {
        // Acquire, here and below: pairs with the exchange in wakes_call(), so
        // that the callback happened before we go on.
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
