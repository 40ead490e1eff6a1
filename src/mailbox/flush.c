/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flush and stop: operations that wait until messages have been taken.
 *
 * A flush marks every lane when it is first polled, and is complete when no
 * message from before the marks is inside. Takes that find FLUSH in the gate
 * complete it. A take that had read the gate before reads it again (MBOX-1):
 * for that, the flush calls the barrier between setting the gate and its own
 * first check. Stop closes the mailbox first.
 *
 * Threads    an operation belongs to its owner; its waiting half is guarded by
 *            the mailbox's lock (OPER-2).
 */
#include "mailbox/mailbox.h"

#include "base/park.h"
#include <assert.h>

/* Sets the gate and checks whether there is anything to wait for. */
static lbx_status
flush_begin(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx__visit visit;
    bool done;

    lbx__visit_begin(box, &visit);
    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__lanes_get(box, i);

        lbx__op_flush(op)->mark[i] = lane ? lbx__lane_mark(lane) : 0;
        lbx__op_flush(op)->next_check[i] = 0;
    }
    // No waker yet: none may be called before this poll returns (OPER-4).
    lbx__op_queue(op, &box->flushers, NULL);
    op->registered = true;
    lbx__gate_set(box, LBX__GATE_FLUSH, true);
    lbx__visit_end(box, &visit);
    (void)lbx__barrier_all();
    lbx__visit_begin(box, &visit);
    lbx__visit_flush(box, &visit);
    done = op->state == LBX__GRANTED;
    if (!done && !lbx__op_late(op))
        lbx__op_set_waker(op, waker);
    lbx__visit_end(box, &visit);
    return done ? LBX_OK : LBX_PENDING;
}

static lbx_status
flush_leave(lbx__op *op, lbx_status why)
{
    lbx_mailbox *box = op->subject;
    bool done;
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    done = op->state == LBX__GRANTED;
    if (op->state == LBX__QUEUED) {
        lbx__list_remove(&op->link);
        op->state = LBX__IDLE;
        lbx__visit_flush(box, &visit);
    }
    lbx__visit_end(box, &visit);
    op->registered = false;
    if (!done)
        return why;
    lbx__op_settle(op);
    op->state = LBX__IDLE;
    return LBX_OK;
}

static lbx_status
flush_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_mailbox *box = op->subject;
    lbx_status status = LBX_PENDING;
    lbx__visit visit;

    if (!op->registered) {
        if (lbx__op_flush(op)->stop)
            lbx__mailbox_shut(box, false, false);
        status = flush_begin(box, op, waker);
    } else {
        lbx__visit_begin(box, &visit);
        if (op->state != LBX__QUEUED)
            status = LBX_OK;
        else if (!lbx__op_late(op))
            lbx__op_set_waker(op, waker);
        lbx__visit_end(box, &visit);
    }
    if (status == LBX_OK || lbx__op_late(op))
        return flush_leave(op, status == LBX_OK ? LBX_OK : LBX_TIMEOUT);
    return LBX_PENDING;
}

static void
flush_release(lbx__op *op)
{
    lbx__mailbox_release(op->subject);
}

static const lbx__op_ops flush_ops = {
    .poll = flush_poll,
    .leave = flush_leave,
    .release = flush_release,
    .again = true,
};

static lbx_status
flush_init(lbx_operation *operation, lbx_mailbox *mailbox, int64_t deadline_ns,
           bool stop)
{
    lbx__op *op = lbx__op_of(operation);

    if (!op || !mailbox)
        return LBX_INVALID;
    assert(mailbox->magic == LBX__MAILBOX_MAGIC);
    lbx__mailbox_hold(mailbox);
    lbx__op_init(op, &flush_ops, mailbox, mailbox->options.clock, deadline_ns);
    lbx__op_flush(op)->stop = stop;
    return LBX_OK;
}

lbx_status
lbx_mailbox_flush_init(lbx_operation *operation, lbx_mailbox *mailbox,
                       int64_t deadline_ns)
{
    return flush_init(operation, mailbox, deadline_ns, false);
}

lbx_status
lbx_mailbox_stop_init(lbx_operation *operation, lbx_mailbox *mailbox,
                      int64_t deadline_ns)
{
    return flush_init(operation, mailbox, deadline_ns, true);
}
