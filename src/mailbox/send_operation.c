/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends that wait, as operations, and the calls that park on them.
 *
 * Only the overflow policy LBX_OVERFLOW_BLOCK waits. A send that finds no
 * capacity joins the list of its lane and sets the lane's flag for waiting
 * senders. Then, in the same visit, it tries once more: a thread that frees
 * capacity has either done so before that try, or sees the flag and moves the
 * first waiting message in (MBOX-3). So a send on the list is completed by
 * other threads, and its poll only reports the result.
 *
 * Threads    an operation belongs to its owner; its waiting half is guarded by
 *            the mailbox's lock (OPER-2).
 */
#include "mailbox/mailbox.h"

#include <assert.h>

/* When the wait that the options allow ends. */
static int64_t
send_policy_deadline(const lbx_mailbox *box)
{
    return lbx_deadline_after(box->options.clock, box->options.wait_ns);
}

/* Prepares the first or next message of the operation. */
static lbx_status
send_prepare(lbx_mailbox *box, lbx__op *op)
{
    lbx_status status;
    lbx__lane *lane = NULL;

    if (lbx__op_send(op)->messages)
        lbx__op_send(op)->envelope =
            lbx_envelope_of(lbx__op_send(op)->messages[*lbx__op_send(op)->sent],
                            box->options.default_priority);
    else if (lbx__op_send(op)->envelopes)
        lbx__op_send(op)->envelope =
            lbx__op_send(op)->envelopes[*lbx__op_send(op)->sent];
    status = lbx__send_check(box, &lbx__op_send(op)->envelope, &lane);
    lbx__op_send(op)->lane = lane;
    lbx__op_send(op)->prepared = status == LBX_OK;
    return status;
}

/* Ends a send that waited in vain, as the options say. */
static lbx_status
send_time_out(lbx_mailbox *box, lbx__op *op)
{
    if (box->options.after_wait == LBX_OVERFLOW_DROP_NEWEST &&
        lbx__op_send(op)->policy_deadline_ns <= op->deadline_ns)
        return lbx__send_drop(box, &lbx__op_send(op)->envelope,
                              &lbx__op_send(op)->made);
    // Relaxed: statistics.
    (void)lbx__add(&box->rejected, 1, relaxed);
    return LBX_TIMEOUT;
}

/* Leaves the list and lets the next send try. Under the lock. */
static void
send_leave_list(lbx_mailbox *box, lbx__op *op, lbx__visit *visit)
{
    lbx__list_remove(&op->link);
    op->state = LBX__IDLE;
    lbx__visit_admit(box, visit);
}

/* The result of a granted send. */
static lbx_status
send_granted(lbx__op *op)
{
    lbx__op_settle(op);
    op->state = LBX__IDLE;
    op->registered = false;
    if (op->granted == LBX_OK)
        lbx__op_send(op)->made.outcome = LBX_OUTCOME_ENQUEUED;
    return op->granted;
}

/* Joins the list and tries once more. */
static lbx_status
send_join(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
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
        lbx__op_settle(op); // take it off the wakes list of this visit
    lbx__visit_end(box, &visit);
    return done ? send_granted(op) : LBX_PENDING;
}

/* Polls a send that is on the list, or was granted. */
static lbx_status
send_poll_waiting(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx_status status = LBX_PENDING;
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    if (op->state == LBX__GRANTED) {
        status = LBX_OK;
    } else if (lbx__op_late(op)) {
        send_leave_list(box, op, &visit);
        status = LBX_TIMEOUT;
    } else {
        lbx__op_set_waker(op, waker);
    }
    lbx__visit_end(box, &visit);
    if (status == LBX_OK)
        return send_granted(op);
    if (status == LBX_TIMEOUT) {
        op->registered = false;
        return send_time_out(box, op);
    }
    return status;
}

/* Polls a message for the first time. */
static lbx_status
send_poll_first(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx_status status = LBX_OK;
    bool waits = box->options.overflow == LBX_OVERFLOW_BLOCK;
    uint64_t grown;
    int flags;

    if (!lbx__op_send(op)->prepared)
        status = send_prepare(box, op);
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
        lbx__op_send(op)->made.outcome = LBX_OUTCOME_ENQUEUED;
        lbx__send_pushed(box, lbx__op_send(op)->lane, flags);
        return LBX_OK;
    }
    if (flags != LBX_FULL)
        return lbx__send_refuse(box, lbx__op_send(op)->lane, flags);
    lbx__op_send(op)->policy_deadline_ns = send_policy_deadline(box);
    op->poll_by_ns = lbx__op_send(op)->policy_deadline_ns < op->deadline_ns
                         ? lbx__op_send(op)->policy_deadline_ns
                         : op->deadline_ns;
    if (lbx__op_late(op))
        return send_time_out(box, op);
    return send_join(box, op, waker);
}

static lbx_status
send_poll_one(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker)
{
    lbx_status status = op->registered ? send_poll_waiting(box, op, waker)
                                       : send_poll_first(box, op, waker);

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
        status = send_poll_one(box, op, waker);
        if (status != LBX_OK || !lbx__op_send(op)->sent)
            break;
        if (++*lbx__op_send(op)->sent == lbx__op_send(op)->count)
            break;
    }
    if (status != LBX_PENDING && lbx__op_send(op)->result) {
        if (status != LBX_OK)
            lbx__op_send(op)->made.outcome = LBX_OUTCOME_NOT_SENT;
        lbx__send_result_write(lbx__op_send(op)->result,
                               &lbx__op_send(op)->made);
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
        send_leave_list(box, op, &visit);
    lbx__visit_end(box, &visit);
    if (was_granted)
        status = send_granted(op);
    op->registered = false;
    if (lbx__op_send(op)->sent && status == LBX_OK &&
        ++*lbx__op_send(op)->sent < lbx__op_send(op)->count)
        status = why; // that message was sent, the rest was not
    if (lbx__op_send(op)->result) {
        if (status != LBX_OK)
            lbx__op_send(op)->made.outcome = LBX_OUTCOME_NOT_SENT;
        lbx__send_result_write(lbx__op_send(op)->result,
                               &lbx__op_send(op)->made);
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
    lbx__op_send(op)->made.outcome = LBX_OUTCOME_NOT_SENT;
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
    lbx__op_send(op)->envelope = lbx_envelope_of(
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

    if (!envelope || (ret_result && !lbx__send_result_is_writable(ret_result)))
        return LBX_INVALID;
    op = send_init(operation, producer, deadline_ns);
    if (!op)
        return LBX_INVALID;
    lbx__op_send(op)->envelope = *envelope;
    lbx__op_send(op)->result = ret_result;
    return LBX_OK;
}

/* A send of `count` messages, which the caller adds. */
static lbx__send_data *
send_init_batch(lbx_operation *operation, lbx_producer *producer, size_t count,
                int64_t deadline_ns, size_t *ret_sent)
{
    lbx__op *op = count > 0 && ret_sent
                      ? send_init(operation, producer, deadline_ns)
                      : NULL;

    if (!op)
        return NULL;
    *ret_sent = 0;
    lbx__op_send(op)->count = count;
    lbx__op_send(op)->sent = ret_sent;
    return lbx__op_send(op);
}

lbx_status
lbx_producer_send_batch_init(lbx_operation *operation, lbx_producer *producer,
                             void *const *messages, size_t count,
                             int64_t deadline_ns, size_t *ret_sent)
{
    lbx__send_data *batch =
        messages
            ? send_init_batch(operation, producer, count, deadline_ns, ret_sent)
            : NULL;

    if (!batch)
        return LBX_INVALID;
    batch->messages = messages;
    return LBX_OK;
}

lbx_status
lbx_producer_send_envelope_batch_init(lbx_operation *operation,
                                      lbx_producer *producer,
                                      const lbx_envelope *envelopes,
                                      size_t count, int64_t deadline_ns,
                                      size_t *ret_sent)
{
    lbx__send_data *batch =
        envelopes
            ? send_init_batch(operation, producer, count, deadline_ns, ret_sent)
            : NULL;

    if (!batch)
        return LBX_INVALID;
    batch->envelopes = envelopes;
    return LBX_OK;
}

lbx_status
lbx_producer_send_envelope_batch_until(lbx_producer *producer,
                                       const lbx_envelope *envelopes,
                                       size_t count, int64_t deadline_ns,
                                       size_t *ret_sent)
{
    lbx_operation operation;
    lbx_status status;

    if (ret_sent)
        *ret_sent = 0;
    if (producer && ret_sent && count == 0)
        return LBX_OK;
    status = lbx_producer_send_envelope_batch_init(
        &operation, producer, envelopes, count, deadline_ns, ret_sent);
    if (status != LBX_OK)
        return status;
    status = lbx_operation_wait(&operation);
    lbx_operation_fini(&operation);
    return status;
}

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
    } else if (ret_result && lbx__send_result_is_writable(ret_result)) {
        const lbx_send_result none = {.outcome = LBX_OUTCOME_NOT_SENT};

        lbx__send_result_write(ret_result, &none);
    }
    return status;
}
