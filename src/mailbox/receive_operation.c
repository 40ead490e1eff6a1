/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives that wait, as operations, and the calls that park on them.
 *
 * A receive that waits goes through these steps, each under the lock:
 *
 *   register   Join the list, set WAITING in every lane, then try once more. A
 *              push either is counted by then, or sees the flag (LANE-1).
 *   stall      A message is counted and cannot be popped: its sender has
 *              claimed a slot and not filled it. Set `stalled` (SEGQ-6) and try
 *              again.
 *   granted    The receive has a reservation (MBOX-2) and is off the list; the
 *              next poll takes the message.
 *   return     There was no message after all: a take that had read the gate
 *              before took it, it had expired, or the mailbox was suspended.
 *              The receive joins the list again, at the position of its ticket.
 *
 * Threads    an operation belongs to its owner; its waiting half is guarded by
 *            the mailbox's lock (OPER-2).
 */
#include "mailbox/mailbox.h"

#include "base/park.h"
#include <assert.h>

enum {
    RECEIVE_SPINS = LBX__SPINS(200)
};

static void
receive_fill(lbx__op *op, const lbx_envelope *envelope)
{
    lbx__receive_data *receive = lbx__op_receive(op);

    if (receive->message)
        *receive->message = envelope->message;
    else
        *receive->envelope = *envelope;
    if (receive->count) {
        *receive->count = 1;
        (void)lbx__take_batch(op->subject, receive->message, receive->envelope,
                              receive->max, receive->count);
    }
}

/* The result of one step of a poll under the lock. */
typedef enum receive_step {
    STEP_GOT,   /* a message is in *ret */
    STEP_DONE,  /* *status is final */
    STEP_WAIT,  /* registered */
    STEP_STALL, /* registered behind an unfilled slot */
    STEP_AGAIN, /* granted meanwhile: start again */
} receive_step;

/* Takes a message if this queued receive is the first one. */
static bool
receive_take_first(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
                   lbx_envelope *ret)
{
    if (box->receivers.next != &op->link ||
        lbx__lanes_takeable(box) <= box->reserved)
        return false;
    if (!lbx__take_locked(box, visit, ret))
        return false;
    if (op->state == LBX__GRANTED) {
        // The take admitted a sender, or emptied a closed mailbox, and this
        // receive was granted: take it off the wakes list of this visit.
        lbx__op_settle(op);
        box->reserved -= op->granted == LBX_OK;
    } else {
        lbx__list_remove(&op->link);
    }
    op->state = LBX__IDLE;
    lbx__visit_grant(box, visit);
    return true;
}

/* The link before which a ticket belongs: receives wait in the order in which
 * they drew their tickets. */
static lbx__link *
receive_position(lbx_mailbox *box, uint64_t ticket)
{
    lbx__link *link = box->receivers.prev;

    while (link != &box->receivers &&
           lbx__op_receive(lbx__member(link, lbx__op, link))->ticket > ticket)
        link = link->prev;
    return link->next;
}

static receive_step
receive_register(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
                 const lbx_waker *waker, lbx_envelope *ret)
{
    if (lbx__op_receive(op)->ticket == 0)
        lbx__op_receive(op)->ticket = ++box->tickets;
    lbx__op_queue(op, receive_position(box, lbx__op_receive(op)->ticket),
                  waker);
    op->registered = true;
    lbx__visit_raise_waiting(box);
    if (receive_take_first(box, op, visit, ret))
        return STEP_GOT;
    if (lbx__lanes_takeable(box) > box->reserved) {
        if (box->receivers.next == &op->link)
            return STEP_STALL;
        // Reservations that were given back are for earlier receives.
        lbx__visit_grant(box, visit);
        if (op->state == LBX__GRANTED) { // enough for this one too
            lbx__op_settle(op);
            return STEP_AGAIN;
        }
    }
    return STEP_WAIT;
}

/* Whether no earlier receive waits; one without a ticket comes last. */
static bool
receive_is_first(const lbx_mailbox *box, lbx__op *op)
{
    lbx__op *head = lbx__member(box->receivers.next, lbx__op, link);

    return lbx__list_empty(&box->receivers) ||
           (lbx__op_receive(op)->ticket != 0 &&
            lbx__op_receive(op)->ticket <= lbx__op_receive(head)->ticket);
}

/* Polls a queued receive. */
static receive_step
receive_poll_queued(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
                    const lbx_waker *waker, lbx_envelope *ret,
                    lbx_status *status)
{
    if (receive_take_first(box, op, visit, ret))
        return STEP_GOT;
    *status = LBX_TIMEOUT;
    if (box->closed && lbx__lanes_depth(box) == 0)
        *status = LBX_CLOSED;
    if (*status == LBX_CLOSED || lbx__op_late(op)) {
        lbx__list_remove(&op->link);
        op->state = LBX__IDLE;
        lbx__visit_grant(box, visit);
        return STEP_DONE;
    }
    lbx__op_set_waker(op, waker);
    if (waker && !lbx__barrier_ready() && box->receivers.next == &op->link &&
        lbx__lanes_takeable(box) > box->reserved) {
        // An unfilled slot, and the system has no barrier: poll again until
        // it is filled.
        lbx__wakes_grant(&visit->wakes, op, LBX_EMPTY);
        lbx__visit_grant(box, visit);
    }
    return STEP_WAIT;
}

static receive_step
receive_poll_step(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
                  const lbx_waker *waker, lbx_envelope *ret, lbx_status *status)
{
    bool returns = lbx__op_receive(op)->ticket != 0;
    bool first = receive_is_first(box, op);

    if (op->state == LBX__QUEUED)
        return receive_poll_queued(box, op, visit, waker, ret, status);
    if (op->state == LBX__GRANTED)
        box->reserved -= op->granted == LBX_OK; // MBOX-2
    op->state = LBX__IDLE;
    if (first && lbx__lanes_takeable(box) > box->reserved &&
        lbx__take_locked(box, visit, ret)) {
        lbx__visit_grant(box, visit);
        return STEP_GOT;
    }
    *status = LBX_CLOSED;
    if (box->closed && lbx__lanes_depth(box) == 0) {
        lbx__visit_grant(box, visit);
        return STEP_DONE;
    }
    *status = LBX_TIMEOUT;
    if (lbx__op_late(op)) {
        lbx__visit_grant(box, visit);
        return STEP_DONE;
    }
    *status = LBX_BUSY;
    if (!box->many && !returns &&
        (!lbx__list_empty(&box->receivers) || box->reserved > 0))
        return STEP_DONE;
    return receive_register(box, op, visit, waker, ret);
}

/* Sets `stalled` for an unfilled slot (SEGQ-6) and tries again. */
static receive_step
receive_poll_stalled(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
                     const lbx_waker *waker, lbx_envelope *ret,
                     lbx_status *status)
{
    // No waker yet: none may be called before this poll returns (OPER-4).
    lbx__op_set_waker(op, NULL);
    lbx__lanes_stall(box, true);
    lbx__visit_end(box, visit);
    (void)lbx__barrier_all();
    lbx__visit_begin(box, visit);
    if (op->state == LBX__GRANTED)
        return STEP_AGAIN;
    return receive_poll_queued(box, op, visit, waker, ret, status);
}

static lbx_status
receive_poll_once(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker,
                  lbx_envelope *ret)
{
    lbx_status status = LBX_PENDING;
    lbx__visit visit;
    receive_step next;

    lbx__visit_begin(box, &visit);
    if (op->state == LBX__GRANTED) {
        lbx__visit_end(box, &visit);
        lbx__op_settle(op);
        lbx__visit_begin(box, &visit);
    }
    next = receive_poll_step(box, op, &visit, waker, ret, &status);
    if (next == STEP_STALL)
        next = receive_poll_stalled(box, op, &visit, waker, ret, &status);
    lbx__visit_end(box, &visit);
    switch (next) {
    case STEP_GOT:
        return LBX_OK;
    case STEP_DONE:
        return status;
    case STEP_AGAIN:
        return LBX_EMPTY;
    default:
        return LBX_PENDING;
    }
}

static void
receive_forget_ticket(lbx__op *op)
{
    op->registered = false;
    lbx__op_receive(op)->ticket = 0;
}

/* One message, or the status instead; LBX_EMPTY means: start again. */
static lbx_status
receive_try(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker,
            lbx_envelope *ret)
{
    lbx_status status;

    if (!op->registered && lbx__take_unlocked(box, ret))
        status = LBX_OK;
    else
        status = receive_poll_once(box, op, waker, ret);
    if (status == LBX_OK && !lbx__take_finish(box, ret))
        return LBX_EMPTY; // it had expired; the ticket keeps the position
    return status;
}

static lbx_status
receive_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_mailbox *box = op->subject;
    lbx_envelope envelope;
    lbx_status status;

    if (!op->registered) {
        if (!lbx__mailbox_may_wait(box))
            return LBX_WOULD_BLOCK;
        if (lbx__op_receive(op)->count)
            *lbx__op_receive(op)->count = 0;
    }
    do {
        status = receive_try(box, op, waker, &envelope);
    } while (status == LBX_EMPTY);
    if (status == LBX_OK)
        receive_fill(op, &envelope);
    if (status != LBX_PENDING)
        receive_forget_ticket(op);
    return status;
}

static lbx_status
receive_leave(lbx__op *op, lbx_status why)
{
    lbx_mailbox *box = op->subject;
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    if (op->state == LBX__GRANTED) {
        lbx__visit_end(box, &visit);
        lbx__op_settle(op);
        lbx__visit_begin(box, &visit);
        box->reserved -= op->granted == LBX_OK; // the grant below passes it on
    } else if (op->state == LBX__QUEUED) {
        lbx__list_remove(&op->link);
    }
    op->state = LBX__IDLE;
    lbx__visit_grant(box, &visit);
    lbx__visit_end(box, &visit);
    receive_forget_ticket(op);
    return why;
}

static void
receive_release(lbx__op *op)
{
    lbx__mailbox_release(op->subject);
}

static const lbx__op_ops receive_ops = {
    .poll = receive_poll,
    .leave = receive_leave,
    .release = receive_release,
    .again = true,
};

static lbx__op *
receive_init(lbx_operation *operation, lbx_consumer *consumer,
             int64_t deadline_ns)
{
    lbx__op *op = lbx__op_of(operation);
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);

    if (!op || !box)
        return NULL;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    lbx__mailbox_hold(box);
    lbx__op_init(op, &receive_ops, box, box->options.clock, deadline_ns);
    return op;
}

lbx_status
lbx_consumer_receive_init(lbx_operation *operation, lbx_consumer *consumer,
                          void **ret_message, int64_t deadline_ns)
{
    lbx__op *op;

    if (!ret_message)
        return LBX_INVALID;
    op = receive_init(operation, consumer, deadline_ns);
    if (!op)
        return LBX_INVALID;
    lbx__op_receive(op)->message = ret_message;
    return LBX_OK;
}

lbx_status
lbx_consumer_receive_envelope_init(lbx_operation *operation,
                                   lbx_consumer *consumer,
                                   lbx_envelope *ret_envelope,
                                   int64_t deadline_ns)
{
    lbx__op *op;

    if (!ret_envelope)
        return LBX_INVALID;
    op = receive_init(operation, consumer, deadline_ns);
    if (!op)
        return LBX_INVALID;
    lbx__op_receive(op)->envelope = ret_envelope;
    return LBX_OK;
}

/* Makes a batch of a receive that was started with an array. */
static lbx_status
receive_init_batch(lbx_operation *operation, lbx_status started, size_t max,
                   size_t *ret_count)
{
    lbx__op *op = lbx__op_of(operation);

    if (started != LBX_OK)
        return started;
    *ret_count = 0;
    lbx__op_receive(op)->max = max;
    lbx__op_receive(op)->count = ret_count;
    return LBX_OK;
}

lbx_status
lbx_consumer_receive_batch_init(lbx_operation *operation,
                                lbx_consumer *consumer, void **ret_messages,
                                size_t max, size_t *ret_count,
                                int64_t deadline_ns)
{
    if (!ret_count || max == 0)
        return LBX_INVALID;
    return receive_init_batch(operation,
                              lbx_consumer_receive_init(operation, consumer,
                                                        ret_messages,
                                                        deadline_ns),
                              max, ret_count);
}

lbx_status
lbx_consumer_receive_envelope_batch_init(lbx_operation *operation,
                                         lbx_consumer *consumer,
                                         lbx_envelope *ret_envelopes,
                                         size_t max, size_t *ret_count,
                                         int64_t deadline_ns)
{
    if (!ret_count || max == 0)
        return LBX_INVALID;
    return receive_init_batch(
        operation,
        lbx_consumer_receive_envelope_init(operation, consumer, ret_envelopes,
                                           deadline_ns),
        max, ret_count);
}

static lbx_status
receive_wait(lbx_operation *operation)
{
    lbx_status status = lbx_operation_wait(operation);

    lbx_operation_fini(operation);
    return status;
}

/* Whether a try would take the lock: then it is no cheaper than waiting. */
static bool
receive_must_queue(lbx_consumer *consumer)
{
    // Relaxed: a hint.
    return lbx__load(&lbx__mailbox_of_consumer(consumer)->gate, relaxed) != 0;
}

/* Tries a few times before registering: often a sender is about to send. */
static lbx_status
receive_spin(lbx_consumer *consumer, void **ret_message)
{
    lbx_status status = lbx_consumer_try_receive(consumer, ret_message);

    for (int i = 0; i < RECEIVE_SPINS && status == LBX_EMPTY; i++) {
        if (receive_must_queue(consumer))
            break;
        lbx__pause();
        status = lbx_consumer_try_receive(consumer, ret_message);
    }
    return status;
}

lbx_status
lbx_consumer_receive_until(lbx_consumer *consumer, void **ret_message,
                           int64_t deadline_ns)
{
    lbx_operation operation;
    lbx_status status = receive_spin(consumer, ret_message);

    if (status != LBX_EMPTY)
        return status;
    status = lbx_consumer_receive_init(&operation, consumer, ret_message,
                                       deadline_ns);
    if (status != LBX_OK)
        return status;
    return receive_wait(&operation);
}

lbx_status
lbx_consumer_receive_for(lbx_consumer *consumer, void **ret_message,
                         int64_t wait_ns)
{
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);
    lbx_operation operation;
    lbx_status status = receive_spin(consumer, ret_message);

    if (status != LBX_EMPTY)
        return status; // without a look at the clock
    status = lbx_consumer_receive_init(
        &operation, consumer, ret_message,
        lbx_deadline_after(box->options.clock, wait_ns));
    return status == LBX_OK ? receive_wait(&operation) : status;
}

lbx_status
lbx_consumer_receive(lbx_consumer *consumer, void **ret_message)
{
    return lbx_consumer_receive_until(consumer, ret_message, LBX_FOREVER);
}

lbx_status
lbx_consumer_receive_envelope_until(lbx_consumer *consumer,
                                    lbx_envelope *ret_envelope,
                                    int64_t deadline_ns)
{
    lbx_operation operation;
    lbx_status status = lbx_consumer_receive_envelope_init(
        &operation, consumer, ret_envelope, deadline_ns);

    if (status != LBX_OK)
        return status;
    return receive_wait(&operation);
}

lbx_status
lbx_consumer_receive_batch_until(lbx_consumer *consumer, void **ret_messages,
                                 size_t max, size_t *ret_count,
                                 int64_t deadline_ns)
{
    lbx_operation operation;
    lbx_status status = LBX_EMPTY;

    for (int i = 0; i < RECEIVE_SPINS && status == LBX_EMPTY; i++) {
        status = lbx_consumer_try_receive_batch(consumer, ret_messages, max,
                                                ret_count);
        if (status != LBX_EMPTY || receive_must_queue(consumer))
            break;
        lbx__pause();
    }
    if (status != LBX_EMPTY)
        return status;
    status = lbx_consumer_receive_batch_init(&operation, consumer, ret_messages,
                                             max, ret_count, deadline_ns);
    if (status != LBX_OK)
        return status;
    return receive_wait(&operation);
}

lbx_status
lbx_consumer_receive_envelope_batch_until(lbx_consumer *consumer,
                                          lbx_envelope *ret_envelopes,
                                          size_t max, size_t *ret_count,
                                          int64_t deadline_ns)
{
    lbx_operation operation;
    lbx_status status;

    if (ret_count)
        *ret_count = 0;
    status = lbx_consumer_receive_envelope_batch_init(
        &operation, consumer, ret_envelopes, max, ret_count, deadline_ns);
    return status == LBX_OK ? receive_wait(&operation) : status;
}
