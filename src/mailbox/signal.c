/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: a wake-up with one remembered permit.
 *
 * A signal is a list of waits, one permit and a lock. A notification wakes the
 * first wait; without a wait it is remembered as the permit, which the next
 * wait takes.
 *
 * SIGNAL-1  The permit is set only while no wait is queued.
 * SIGNAL-2  A wait that was notified and is cancelled notifies the next one.
 *
 * Threads    any.
 */
#include "base/alloc.h"
#include "base/lock.h"
#include "base/op.h"
#include "base/refs.h"
#include <letterbox/mailbox/signal.h>

struct lbx_signal {
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    _Atomic(uint64_t) refs;
    lbx__lock lock;
    bool permit;
    lbx__link waits;
};

lbx_status
lbx_signal_create(const lbx_allocator *allocator, const lbx_clock *clock,
                  lbx_signal **ret)
{
    lbx_signal *signal;

    if (!ret || !lbx__allocator_usable(allocator) || (clock && !clock->now_ns))
        return LBX_INVALID;
    signal = lbx__zalloc(allocator, sizeof(*signal));
    if (!signal)
        return LBX_NO_MEMORY;
    signal->allocator = allocator;
    signal->clock = clock;
    lbx__init(&signal->refs, 1);
    lbx__list_init(&signal->waits);
    *ret = signal;
    return LBX_OK;
}

lbx_signal *
lbx_signal_ref(lbx_signal *signal)
{
    if (signal)
        lbx__refs_add(&signal->refs);
    return signal;
}

void
lbx_signal_unref(lbx_signal *signal)
{
    if (signal && lbx__refs_drop(&signal->refs))
        lbx__free(signal->allocator, signal, sizeof(*signal));
}

/* Wakes the first wait or sets the permit. Under the lock. */
static void
signal_notify_locked(lbx_signal *signal, lbx__wakes *wakes)
{
    if (lbx__list_empty(&signal->waits))
        signal->permit = true; // SIGNAL-1
    else
        lbx__wakes_grant(wakes, lbx__member(signal->waits.next, lbx__op, link),
                         LBX_OK);
}

void
lbx_signal_notify(lbx_signal *signal)
{
    lbx__wakes wakes;

    if (!signal)
        return;
    lbx__wakes_init(&wakes);
    lbx__lock_take(&signal->lock);
    signal_notify_locked(signal, &wakes);
    lbx__lock_give(&signal->lock);
    lbx__wakes_run(&wakes);
}

static lbx_status
signal_wait_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_signal *signal = op->subject;
    lbx_status status = LBX_PENDING;

    lbx__lock_take(&signal->lock);
    if (op->state == LBX__GRANTED ||
        (op->state == LBX__IDLE && signal->permit)) {
        signal->permit = signal->permit && op->state == LBX__GRANTED;
        status = LBX_OK;
    } else if (lbx__op_late(op)) {
        lbx__list_remove(&op->link);
        op->state = LBX__IDLE;
        status = LBX_TIMEOUT;
    } else if (op->state == LBX__IDLE) {
        lbx__op_queue(op, &signal->waits, waker);
    } else {
        lbx__op_set_waker(op, waker);
    }
    lbx__lock_give(&signal->lock);
    if (status == LBX_OK) {
        lbx__op_settle(op);
        op->state = LBX__IDLE;
    }
    return status;
}

static lbx_status
signal_wait_leave(lbx__op *op, lbx_status why)
{
    lbx_signal *signal = op->subject;
    lbx__wakes wakes;
    bool notified;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&signal->lock);
    notified = op->state == LBX__GRANTED;
    if (!notified)
        lbx__list_remove(&op->link);
    op->state = LBX__IDLE;
    if (notified)
        signal_notify_locked(signal, &wakes); // SIGNAL-2
    lbx__lock_give(&signal->lock);
    lbx__wakes_run(&wakes);
    lbx__op_settle(op);
    return why;
}

static void
signal_wait_release(lbx__op *op)
{
    lbx_signal_unref(op->subject);
}

static const lbx__op_ops signal_wait_ops = {
    .poll = signal_wait_poll,
    .leave = signal_wait_leave,
    .release = signal_wait_release,
    .again = true,
};

lbx_status
lbx_signal_wait_init(lbx_operation *operation, lbx_signal *signal,
                     int64_t deadline_ns)
{
    if (!operation || !signal)
        return LBX_INVALID;
    lbx__op_init(lbx__op_of(operation), &signal_wait_ops,
                 lbx_signal_ref(signal), signal->clock, deadline_ns);
    return LBX_OK;
}

lbx_status
lbx_signal_wait_until(lbx_signal *signal, int64_t deadline_ns)
{
    lbx_operation operation;
    lbx_status status = lbx_signal_wait_init(&operation, signal, deadline_ns);

    if (status == LBX_OK) {
        status = lbx_operation_wait(&operation);
        lbx_operation_fini(&operation);
    }
    return status;
}
