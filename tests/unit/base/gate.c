/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#include "support/test.h"

/* With the lock held: gives permits to those in line, in order. */
static void
serve(struct gate *gate, lbx__wakes *wakes)
{
    while (gate->permits > 0 && !lbx__list_empty(&gate->line)) {
        gate->permits--;
        lbx__wakes_grant(wakes, lbx__member(gate->line.next, lbx__op, link),
                         LBX_OK);
    }
}

static lbx_status
pass_poll(lbx__op *op, const lbx_waker *waker)
{
    struct gate *gate = op->subject;
    bool late = lbx__op_late(op);
    lbx_status status = LBX_PENDING;

    lbx__lock_take(&gate->lock);
    if (op->state == LBX__GRANTED) {
        status = op->granted;
    } else if (op->state == LBX__IDLE && gate->permits > 0) {
        gate->permits--;
        status = LBX_OK;
    } else if (late) {
        lbx__list_remove(&op->link);
        status = LBX_TIMEOUT;
    } else if (op->state == LBX__IDLE) {
        lbx__op_queue(op, &gate->line, waker);
    } else {
        op->waker = waker ? *waker : (lbx_waker){NULL, NULL};
    }
    lbx__lock_give(&gate->lock);
    if (status != LBX_PENDING) {
        lbx__op_settle(op);
        op->state = LBX__IDLE;
    }
    return status;
}

static lbx_status
pass_leave(lbx__op *op, lbx_status why)
{
    struct gate *gate = op->subject;
    lbx__wakes wakes;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&gate->lock);
    if (op->state == LBX__QUEUED)
        lbx__list_remove(&op->link);
    else if (op->state == LBX__GRANTED && op->granted == LBX_OK)
        gate->permits++; // a reservation: the next in line has it
    serve(gate, &wakes);
    lbx__lock_give(&gate->lock);
    lbx__op_settle(op);
    op->state = LBX__IDLE;
    lbx__wakes_run(&wakes);
    return why;
}

static void
pass_release(lbx__op *op)
{
    struct gate *gate = op->subject;

    lbx__lock_take(&gate->lock);
    gate->released++;
    lbx__lock_give(&gate->lock);
}

static const lbx__op_ops pass_ops = {
    .poll = pass_poll,
    .leave = pass_leave,
    .release = pass_release,
    .again = true,
};

void
gate_init(struct gate *gate, const lbx_clock *clock)
{
    *gate = (struct gate){0};
    lbx__list_init(&gate->line);
    gate->clock = clock;
}

void
gate_pass_init(lbx_operation *operation, struct gate *gate, int64_t deadline_ns)
{
    lbx__op_init(lbx__op_of(operation), &pass_ops, gate, gate->clock,
                 deadline_ns);
}

void
gate_open(struct gate *gate, int count)
{
    lbx__wakes wakes;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&gate->lock);
    gate->permits += count;
    serve(gate, &wakes);
    lbx__lock_give(&gate->lock);
    lbx__wakes_run(&wakes);
}

void
gate_refuse(struct gate *gate, lbx_status status)
{
    lbx__wakes wakes;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&gate->lock);
    while (!lbx__list_empty(&gate->line))
        lbx__wakes_grant(&wakes, lbx__member(gate->line.next, lbx__op, link),
                         status);
    lbx__lock_give(&gate->lock);
    lbx__wakes_run(&wakes);
}

int
gate_permits(struct gate *gate)
{
    int permits;

    lbx__lock_take(&gate->lock);
    permits = gate->permits;
    lbx__lock_give(&gate->lock);
    return permits;
}

int
gate_waiting(struct gate *gate)
{
    int waiting = 0;

    lbx__lock_take(&gate->lock);
    for (lbx__link *at = gate->line.next; at != &gate->line; at = at->next)
        waiting++;
    lbx__lock_give(&gate->lock);
    return waiting;
}

static void
count(void *context)
{
    struct counter *counter = context;

    lbx__add(&counter->calls, 1, seq_cst);
}

lbx_waker
counter_waker(struct counter *counter)
{
    return (lbx_waker){count, counter};
}

int
counter_calls(struct counter *counter)
{
    return lbx__load(&counter->calls, seq_cst);
}
