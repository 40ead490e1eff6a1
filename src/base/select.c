/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Select: the first of several operations.
 *
 * The children are polled in turn with a waker of the select's own, which
 * passes one wake-up on for each PENDING. A receive takes nothing before it
 * answers OK, so stopping at the first that does consumes from exactly one;
 * the others are cancelled, which hands on what they were promised (F8).
 *
 * S1  `armed` is 1 from a PENDING poll to the first child's wake-up, so that
 *     the caller's waker runs at most once for it (O4).
 * S2  The waker in the operation is written only while no child can call it:
 *     before the children are polled with it for the first time, and later
 *     under `armed` == 0 after every child has been settled by its own poll.
 */
#include "base/op.h"

#include "base/park.h"
#include <assert.h>

static void
pass_on(void *context)
{
    lbx__op *op = context;

    // Acquire: pairs with the release in select_poll(), makes `waker` readable.
    if (lbx__exchange(&op->u.select.armed, 0u, acquire) == 1 && op->waker.wake)
        op->waker.wake(op->waker.context);
}

static lbx_status
finish(lbx__op *op, size_t winner)
{
    lbx_operation *const *children = op->u.select.children;

    for (size_t i = 0; i < op->u.select.count; i++)
        if (i != winner)
            (void)lbx_operation_cancel(children[i]);
    *op->u.select.index = winner;
    return lbx_operation_status(children[winner]);
}

/* Polls every child once; the winner's index, or `count` for none. */
static size_t
poll_children(lbx__op *op, const lbx_waker *waker)
{
    size_t count = op->u.select.count;

    for (size_t i = 0; i < count; i++) {
        size_t index = (op->u.select.first + i) % count;

        if (lbx_operation_poll(op->u.select.children[index], waker) !=
            LBX_PENDING)
            return index;
    }
    return count;
}

/* When the first of us and our children must be polled again. */
static int64_t
first_deadline(const lbx__op *op)
{
    int64_t first = op->deadline_ns;

    for (size_t i = 0; i < op->u.select.count; i++) {
        int64_t next = lbx_operation_deadline(op->u.select.children[i]);

        if (next < first)
            first = next;
    }
    return first;
}

static lbx_status
select_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_waker mine = {pass_on, op};
    size_t winner;

    // Disarm, then poll without a waker: afterwards no child can call us,
    // and the waker may be exchanged (S2).
    lbx__store(&op->u.select.armed, 0u, seq_cst);
    winner = poll_children(op, NULL);
    if (winner < op->u.select.count)
        return finish(op, winner);
    lbx__op_set_waker(op, waker);
    // Release: pairs with the acquire in pass_on().
    lbx__store(&op->u.select.armed, 1u, release);
    winner = poll_children(op, &mine);
    if (winner < op->u.select.count) {
        lbx__store(&op->u.select.armed, 0u, seq_cst);
        return finish(op, winner);
    }
    op->look_ns = op->deadline_ns;
    if (lbx__op_late(op)) {
        lbx__store(&op->u.select.armed, 0u, seq_cst);
        winner = poll_children(op, NULL);
        return winner < op->u.select.count ? finish(op, winner) : LBX_TIMEOUT;
    }
    op->look_ns = first_deadline(op);
    return LBX_PENDING;
}

static lbx_status
select_leave(lbx__op *op, lbx_status why)
{
    for (size_t i = 0; i < op->u.select.count; i++)
        (void)lbx_operation_cancel(op->u.select.children[i]);
    return why;
}

static void
select_release(lbx__op *op)
{
    (void)op;
}

static const lbx__op_ops select_ops = {
    .poll = select_poll,
    .leave = select_leave,
    .release = select_release,
};

lbx_status
lbx_select_init(lbx_operation *operation, lbx_operation *const *operations,
                size_t count, size_t first, int64_t deadline_ns,
                size_t *ret_index)
{
    lbx__op *op = lbx__op_of(operation);
    const lbx_clock *clock;

    if (!op || !operations || !ret_index || count < 1 || first >= count)
        return LBX_INVALID;
    for (size_t i = 0; i < count; i++)
        if (!operations[i] || !lbx__op_of(operations[i])->ops)
            return LBX_INVALID;
    clock = lbx__op_of(operations[0])->clock;
    for (size_t i = 1; i < count; i++)
        if (lbx__op_of(operations[i])->clock != clock)
            return LBX_INVALID; // deadlines could not be compared
    lbx__op_init(op, &select_ops, NULL, clock, deadline_ns);
    op->u.select.children = operations;
    op->u.select.count = count;
    op->u.select.first = first;
    op->u.select.index = ret_index;
    return LBX_OK;
}
