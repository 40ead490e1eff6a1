/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Select: the first of several operations.
 *
 * The children are polled in turn with a waker of the select's own, which
 * passes one wake-up on for each PENDING. A receive takes nothing before it
 * answers OK, so stopping at the first that does consumes from exactly one;
 * the others are cancelled, which hands on what they were promised (F8).
 *
 * S1  The caller's waker runs at most once for a PENDING, and not for a poll
 *     that answers (O4): a child's wake-up during a poll is only noted, as
 *     MISSED, and the poll looks again before it says PENDING.
 * S2  The waker in the operation is written while POLLING, after every child
 *     has been settled by its own poll: no child reads it then.
 */
#include "base/op.h"

#include "base/park.h"
#include <assert.h>

enum {
    POLLING = 0, /* the owner is looking, or it is done */
    MISSED,      /* the same, and a child has called meanwhile */
    ARMED,       /* PENDING was the answer */
};

static void
pass_on(void *context)
{
    lbx__op *op = context;

    // Acquire: pairs with the release in arm(), makes `waker` readable.
    // Release: pairs with the acquire there, the next poll sees what we do.
    if (lbx__exchange(&op->u.select.calls, (uint32_t)MISSED, acq_rel) ==
            ARMED &&
        op->waker.wake)
        op->waker.wake(op->waker.context);
}

/* Ends a poll with PENDING; false when a child has called meanwhile. */
static bool
arm(lbx__op *op, const lbx_waker *waker)
{
    uint32_t seen = POLLING;

    lbx__op_set_waker(op, waker); // S2
    return lbx__cas(&op->u.select.calls, &seen, (uint32_t)ARMED, acq_rel);
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

/* The deadline has passed: one last look, which leaves the children quiet. */
static lbx_status
last_look(lbx__op *op)
{
    size_t winner = poll_children(op, NULL);

    return winner < op->u.select.count ? finish(op, winner) : LBX_TIMEOUT;
}

static lbx_status
select_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_waker mine = {pass_on, op};

    do {
        size_t winner;

        // Acquire: what a child did before it called.
        (void)lbx__exchange(&op->u.select.calls, (uint32_t)POLLING, acquire);
        winner = poll_children(op, &mine);
        if (winner < op->u.select.count)
            return finish(op, winner);
        op->look_ns = op->deadline_ns;
        if (lbx__op_late(op))
            return last_look(op);
        op->look_ns = first_deadline(op);
    } while (!arm(op, waker));
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
