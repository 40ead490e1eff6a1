/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending as an operation, and the calls that park.
 *
 * Only LBX_BLOCK waits. A send that finds no room joins its lane's list and
 * raises the lane's gate for senders; then it looks once more, under the same
 * lock: whoever makes room either is seen by that look, or sees the flag and
 * moves the first waiting message in (B3). So a send on the list is completed
 * by others, and its poll only learns how it went.
 */
#include "mailbox/mailbox.h"

#include <assert.h>

/* When the mailbox's own wait ends. */
static int64_t
policy_deadline(const lbx_mailbox *box)
{
    return lbx_deadline_after(box->options.clock, box->options.wait_ns);
}

/* Prepares the first, or the next, message of the operation. */
static lbx_status
prepare(lbx_mailbox *box, lbx__op *op)
{
    lbx_status status;
    lbx__lane *lane = NULL;

    if (lbx__op_send(op)->messages)
        lbx__op_send(op)->envelope = lbx_envelope_new(
            lbx__op_send(op)->messages[*lbx__op_send(op)->sent],
            box->options.default_priority);
    status = lbx__send_check(box, &lbx__op_send(op)->envelope, &lane);
    lbx__op_send(op)->lane = lane;
    lbx__op_send(op)->prepared = status == LBX_OK;
    return status;
}

/* The wait is over without room. */
static lbx_status
give_up(lbx_mailbox *box, lbx__op *op)
{
    if (box->options.after_wait == LBX_DROP_NEWEST &&
        lbx__op_send(op)->policy_deadline_ns <= op->deadline_ns)
        return lbx__send_drop(box, &lbx__op_send(op)->envelope,
                              &lbx__op_send(op)->made);
    // Relaxed: a number for people.
    (void)lbx__add(&box->rejected, 1, relaxed);
    return LBX_TIMEOUT;
}

/* Off the list; the next one may have its visit. Under the lock. */
static void
leave_list(lbx_mailbox *box, lbx__op *op, lbx__visit *visit)
{
    lbx__list_remove(&op->link);
    op->state = LBX__IDLE;
    lbx__visit_admit(box, visit);
}

/* What became of a granted send. */
static lbx_status
granted(lbx__op *op)
{
    lbx__op_settle(op);
    op->state = LBX__IDLE;
    op->registered = false;
    if (op->granted == LBX_OK)
        lbx__op_send(op)->made.outcome = LBX_ENQUEUED;
    return op->granted;
}

/* Joins the list and looks once more. */
static lbx_status
join(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx__lane *lane = lbx__op_send(op)->lane;
    lbx__visit visit;
    bool done;

    lbx__visit_begin(box, &visit);
    lbx__op_queue(op, &lane->senders, waker);
    op->registered = true;
    lbx__lane_raise_senders(lane);
    lbx__visit_admit(box, &visit);
    done = op->state == LBX__GRANTED;
    if (done)
        lbx__op_settle(op); // off this visit's own list
    lbx__visit_end(box, &visit);
    return done ? granted(op) : LBX_PENDING;
}

/* A send that has been on the list before. */
static lbx_status
poll_waiting(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx_status status = LBX_PENDING;
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    if (op->state == LBX__GRANTED) {
        status = LBX_OK;
    } else if (lbx__op_late(op)) {
        leave_list(box, op, &visit);
        status = LBX_TIMEOUT;
    } else {
        lbx__op_set_waker(op, waker);
    }
    lbx__visit_end(box, &visit);
    if (status == LBX_OK)
        return granted(op);
    if (status == LBX_TIMEOUT) {
        op->registered = false;
        return give_up(box, op);
    }
    return status;
}

/* The first poll of a message. */
static lbx_status
poll_first(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx_status status = LBX_OK;
    bool waits = box->options.overflow == LBX_BLOCK;
    uint64_t grown;
    int flags;

    if (!lbx__op_send(op)->prepared)
        status = prepare(box, op);
    if (status != LBX_OK)
        return status;
    if (!waits ||
        lbx__op_send(op)->lane == lbx__lanes_get(box, LBX__SYSTEM_LANE))
        return lbx__send_envelope(box, lbx__op_send(op)->lane,
                                  &lbx__op_send(op)->envelope,
                                  &lbx__op_send(op)->made);
    flags = lbx__send_push(box, lbx__op_send(op)->lane,
                           &lbx__op_send(op)->envelope, false, &grown);
    if (flags >= 0) {
        lbx__op_send(op)->made.outcome = LBX_ENQUEUED;
        lbx__send_pushed(box, lbx__op_send(op)->lane, flags);
        return LBX_OK;
    }
    if (flags != LBX_FULL)
        return lbx__send_refuse(box, lbx__op_send(op)->lane, flags);
    lbx__op_send(op)->policy_deadline_ns = policy_deadline(box);
    op->poll_by_ns = lbx__op_send(op)->policy_deadline_ns < op->deadline_ns
                         ? lbx__op_send(op)->policy_deadline_ns
                         : op->deadline_ns;
    if (lbx__op_late(op))
        return give_up(box, op);
    return join(box, op, waker);
}

static lbx_status
poll_one(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx_status status = op->registered ? poll_waiting(box, op, waker)
                                       : poll_first(box, op, waker);

    if (status != LBX_PENDING)
        lbx__op_send(op)->prepared = false;
    return status;
}

static lbx_status
send_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_mailbox *box = op->subject;
    lbx_status status;

    for (;;) {
        status = poll_one(box, op, waker);
        if (status != LBX_OK || !lbx__op_send(op)->messages)
            break;
        if (++*lbx__op_send(op)->sent == lbx__op_send(op)->count)
            break;
    }
    if (status != LBX_PENDING && lbx__op_send(op)->result) {
        if (status != LBX_OK)
            lbx__op_send(op)->made.outcome = LBX_NOT_SENT;
        *lbx__op_send(op)->result = lbx__op_send(op)->made;
    }
    return status;
}

static lbx_status
send_leave(lbx__op *op, lbx_status why)
{
    lbx_mailbox *box = op->subject;
    lbx_status status = why;
    bool was_granted;
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    was_granted = op->state == LBX__GRANTED;
    if (op->state == LBX__QUEUED)
        leave_list(box, op, &visit);
    lbx__visit_end(box, &visit);
    if (was_granted)
        status = granted(op);
    op->registered = false;
    if (lbx__op_send(op)->messages && status == LBX_OK &&
        ++*lbx__op_send(op)->sent < lbx__op_send(op)->count)
        status = why; // that one went, the rest did not
    if (lbx__op_send(op)->result) {
        if (status != LBX_OK)
            lbx__op_send(op)->made.outcome = LBX_NOT_SENT;
        *lbx__op_send(op)->result = lbx__op_send(op)->made;
    }
    return status;
}

static void
send_release(lbx__op *op)
{
    lbx__mailbox_release(op->subject);
}

static const lbx__op_ops send_ops = {
    .poll = send_poll,
    .leave = send_leave,
    .release = send_release,
};

static lbx__op *
send_init(lbx_operation *operation, lbx_producer *producer, int64_t deadline_ns)
{
    lbx__op *op = lbx__op_of(operation);
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);

    if (!op || !box)
        return NULL;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    lbx__mailbox_hold(box);
    lbx__op_init(op, &send_ops, box, box->options.clock, deadline_ns);
    lbx__op_send(op)->made.outcome = LBX_NOT_SENT;
    lbx__op_send(op)->made.overflow = box->options.overflow;
    return op;
}

lbx_status
lbx_producer_send_init(lbx_operation *operation, lbx_producer *producer,
                       void *message, int64_t deadline_ns)
{
    lbx__op *op = send_init(operation, producer, deadline_ns);

    if (!op)
        return LBX_INVALID;
    lbx__op_send(op)->envelope = lbx_envelope_new(
        message, lbx__mailbox_of_producer(producer)->options.default_priority);
    return LBX_OK;
}

lbx_status
lbx_producer_send_envelope_init(lbx_operation *operation,
                                lbx_producer *producer,
                                const lbx_envelope *envelope,
                                int64_t deadline_ns,
                                lbx_send_result *ret_result)
{
    lbx__op *op;

    if (!envelope)
        return LBX_INVALID;
    op = send_init(operation, producer, deadline_ns);
    if (!op)
        return LBX_INVALID;
    lbx__op_send(op)->envelope = *envelope;
    lbx__op_send(op)->result = ret_result;
    return LBX_OK;
}

lbx_status
lbx_producer_send_batch_init(lbx_operation *operation, lbx_producer *producer,
                             void *const *messages, size_t count,
                             int64_t deadline_ns, size_t *ret_sent)
{
    lbx__op *op;

    if (!messages || count == 0 || !ret_sent)
        return LBX_INVALID;
    op = send_init(operation, producer, deadline_ns);
    if (!op)
        return LBX_INVALID;
    *ret_sent = 0;
    lbx__op_send(op)->messages = messages;
    lbx__op_send(op)->count = count;
    lbx__op_send(op)->sent = ret_sent;
    return LBX_OK;
}

/* The fronts that park. */

lbx_status
lbx_producer_send_envelope_until(lbx_producer *producer,
                                 const lbx_envelope *envelope,
                                 int64_t deadline_ns,
                                 lbx_send_result *ret_result)
{
    lbx_operation operation;
    lbx_status status = lbx_producer_send_envelope_init(
        &operation, producer, envelope, deadline_ns, ret_result);

    if (status == LBX_OK) {
        status = lbx_operation_wait(&operation);
        lbx_operation_fini(&operation);
    } else if (ret_result) {
        *ret_result = (lbx_send_result){.outcome = LBX_NOT_SENT};
    }
    return status;
}
