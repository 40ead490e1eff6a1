/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receiving as an operation, and the calls that park.
 *
 * A receive that waits goes through these steps, each under the lock:
 *
 *   register   on the list, WAITING up in every lane, then look once more:
 *              check and register are one step, because a push either is
 *              counted by that look, or sees the flag (L1)
 *   stall      what is counted cannot be popped: its sender has claimed a slot
 *              and not filled it. Ask for that publication (Q6) and look again
 *   granted    a reservation, off the list; the message is taken by the poll
 *   return     nothing there after all (someone who was past the gate took it,
 *              it had expired, the mailbox was suspended): back to its place on
 *              the list, which its ticket keeps
 */
#include "mailbox/mailbox.h"

#include "base/park.h"
#include <assert.h>

enum {
    SPINS = LBX__SPINS(200)
};

static void
fill(lbx__op *op, const lbx_envelope *envelope)
{
    if (lbx__op_receive(op)->message)
        *lbx__op_receive(op)->message = envelope->message;
    if (lbx__op_receive(op)->envelope)
        *lbx__op_receive(op)->envelope = *envelope;
    if (lbx__op_receive(op)->messages) {
        lbx__op_receive(op)->messages[0] = envelope->message;
        *lbx__op_receive(op)->count = 1;
        (void)lbx__take_batch(op->subject, lbx__op_receive(op)->messages,
                              lbx__op_receive(op)->max,
                              lbx__op_receive(op)->count);
    }
}

/* The step of a poll under the lock. Its answers: */
typedef enum step {
    STEP_GOT,   /* a message is in *ret */
    STEP_DONE,  /* *status is final */
    STEP_WAIT,  /* registered */
    STEP_STALL, /* registered behind an unfilled slot */
    STEP_AGAIN, /* granted meanwhile: from the start */
} step;

/* A queued receive whose visit it is takes what it can. */
static bool
take_in_turn(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
             lbx_envelope *ret)
{
    if (box->receivers.next != &op->link ||
        lbx__lanes_takeable(box) <= box->reserved)
        return false;
    if (!lbx__take_locked(box, visit, ret))
        return false;
    if (op->state == LBX__GRANTED) {
        // The take let a sender in, or emptied a closed mailbox, and we were
        // next: this visit's own list has us, and settling takes us off it.
        lbx__op_settle(op);
        box->reserved -= op->granted == LBX_OK;
    } else {
        lbx__list_remove(&op->link);
    }
    op->state = LBX__IDLE;
    lbx__visit_grant(box, visit);
    return true;
}

/* The place of a ticket among those who wait (F10). */
static lbx__link *
place_of(lbx_mailbox *box, uint64_t ticket)
{
    lbx__link *link = box->receivers.prev;

    while (link != &box->receivers &&
           lbx__op_receive(lbx__member(link, lbx__op, link))->ticket > ticket)
        link = link->prev;
    return link->next;
}

static step
register_receive(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
                 const lbx_waker *waker, lbx_envelope *ret)
{
    if (lbx__op_receive(op)->ticket == 0)
        lbx__op_receive(op)->ticket = ++box->tickets;
    lbx__op_queue(op, place_of(box, lbx__op_receive(op)->ticket), waker);
    op->registered = true;
    lbx__visit_raise_waiting(box);
    if (take_in_turn(box, op, visit, ret))
        return STEP_GOT;
    if (lbx__lanes_takeable(box) > box->reserved) {
        if (box->receivers.next == &op->link)
            return STEP_STALL;
        // What we gave back is for those before us.
        lbx__visit_grant(box, visit);
        if (op->state == LBX__GRANTED) { // and there was enough for us
            lbx__op_settle(op);
            return STEP_AGAIN;
        }
    }
    return STEP_WAIT;
}

/* Nobody waits who came before; a receive without a ticket comes last. */
static bool
is_first(const lbx_mailbox *box, lbx__op *op)
{
    lbx__op *head = lbx__member(box->receivers.next, lbx__op, link);

    return lbx__list_empty(&box->receivers) ||
           (lbx__op_receive(op)->ticket != 0 &&
            lbx__op_receive(op)->ticket <= lbx__op_receive(head)->ticket);
}

/* What to do about a queued receive. */
static step
poll_queued(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
            const lbx_waker *waker, lbx_envelope *ret, lbx_status *status)
{
    if (take_in_turn(box, op, visit, ret))
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
        // An unfilled slot, and no barrier on this system: poll again until
        // it is filled.
        lbx__wakes_grant(&visit->wakes, op, LBX_EMPTY);
        lbx__visit_grant(box, visit);
    }
    return STEP_WAIT;
}

static step
poll_step(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
          const lbx_waker *waker, lbx_envelope *ret, lbx_status *status)
{
    bool returns = lbx__op_receive(op)->ticket != 0;
    bool first = is_first(box, op);

    if (op->state == LBX__QUEUED)
        return poll_queued(box, op, visit, waker, ret, status);
    if (op->state == LBX__GRANTED)
        box->reserved -= op->granted == LBX_OK; // B2
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
    return register_receive(box, op, visit, waker, ret);
}

/* Asks for the publication of an unfilled slot (Q6), and looks again. */
static step
poll_stalled(lbx_mailbox *box, lbx__op *op, lbx__visit *visit,
             const lbx_waker *waker, lbx_envelope *ret, lbx_status *status)
{
    // Nobody is to be called for this poll before it has answered (OPER-4).
    lbx__op_set_waker(op, NULL);
    lbx__lanes_stall(box, true);
    lbx__visit_end(box, visit);
    (void)lbx__barrier_all();
    lbx__visit_begin(box, visit);
    if (op->state == LBX__GRANTED)
        return STEP_AGAIN;
    return poll_queued(box, op, visit, waker, ret, status);
}

static lbx_status
receive_poll_once(lbx_mailbox *box, lbx__op *op, const lbx_waker *waker,
                  lbx_envelope *ret)
{
    lbx_status status = LBX_PENDING;
    lbx__visit visit;
    step next;

    lbx__visit_begin(box, &visit);
    if (op->state == LBX__GRANTED) {
        lbx__visit_end(box, &visit);
        lbx__op_settle(op);
        lbx__visit_begin(box, &visit);
    }
    next = poll_step(box, op, &visit, waker, ret, &status);
    if (next == STEP_STALL)
        next = poll_stalled(box, op, &visit, waker, ret, &status);
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
forget_turn(lbx__op *op)
{
    op->registered = false;
    lbx__op_receive(op)->ticket = 0;
}

/* One message, or what is instead of it; EMPTY means: from the start. */
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
        return LBX_EMPTY; // it had expired; our ticket keeps our place
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
        if (lbx__op_receive(op)->messages)
            *lbx__op_receive(op)->count = 0;
    }
    do {
        status = receive_try(box, op, waker, &envelope);
    } while (status == LBX_EMPTY);
    if (status == LBX_OK)
        fill(op, &envelope);
    if (status != LBX_PENDING)
        forget_turn(op);
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
        box->reserved -= op->granted == LBX_OK; // passed on below: M10
    } else if (op->state == LBX__QUEUED) {
        lbx__list_remove(&op->link);
    }
    op->state = LBX__IDLE;
    lbx__visit_grant(box, &visit);
    lbx__visit_end(box, &visit);
    forget_turn(op);
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

lbx_status
lbx_consumer_receive_batch_init(lbx_operation *operation,
                                lbx_consumer *consumer, void **ret_messages,
                                size_t max, size_t *ret_count,
                                int64_t deadline_ns)
{
    lbx__op *op;

    if (!ret_messages || !ret_count || max == 0)
        return LBX_INVALID;
    op = receive_init(operation, consumer, deadline_ns);
    if (!op)
        return LBX_INVALID;
    *ret_count = 0;
    lbx__op_receive(op)->messages = ret_messages;
    lbx__op_receive(op)->max = max;
    lbx__op_receive(op)->count = ret_count;
    return LBX_OK;
}

/* The fronts that park. */

static lbx_status
wait_and_end(lbx_operation *operation)
{
    lbx_status status = lbx_operation_wait(operation);

    lbx_operation_fini(operation);
    return status;
}

/* Trying on is no use: each try would take the lock. */
static bool
must_queue(lbx_consumer *consumer)
{
    // Relaxed: a hint.
    return lbx__load(&lbx__mailbox_of_consumer(consumer)->gate, relaxed) != 0;
}

/* Tries for a moment before registering; a sender is often about to send. */
static lbx_status
try_for_a_moment(lbx_consumer *consumer, void **ret_message)
{
    lbx_status status = lbx_consumer_try_receive(consumer, ret_message);

    for (int i = 0; i < SPINS && status == LBX_EMPTY; i++) {
        if (must_queue(consumer))
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
    lbx_status status = try_for_a_moment(consumer, ret_message);

    if (status != LBX_EMPTY)
        return status;
    status = lbx_consumer_receive_init(&operation, consumer, ret_message,
                                       deadline_ns);
    if (status != LBX_OK)
        return status;
    return wait_and_end(&operation);
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
    return wait_and_end(&operation);
}

lbx_status
lbx_consumer_receive_batch_until(lbx_consumer *consumer, void **ret_messages,
                                 size_t max, size_t *ret_count,
                                 int64_t deadline_ns)
{
    lbx_operation operation;
    lbx_status status = LBX_EMPTY;

    for (int i = 0; i < SPINS && status == LBX_EMPTY; i++) {
        status = lbx_consumer_try_receive_batch(consumer, ret_messages, max,
                                                ret_count);
        if (status != LBX_EMPTY || must_queue(consumer))
            break;
        lbx__pause();
    }
    if (status != LBX_EMPTY)
        return status;
    status = lbx_consumer_receive_batch_init(&operation, consumer, ret_messages,
                                             max, ret_count, deadline_ns);
    if (status != LBX_OK)
        return status;
    return wait_and_end(&operation);
}
