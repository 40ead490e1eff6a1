/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Select: the first of several operations.
 *
 * The children are polled one after the other with a waker of the select's own,
 * which passes one wake-up on for each LBX_PENDING. A receive takes nothing
 * before it returns LBX_OK, so a select that stops at the first one consumes
 * from exactly one; the others are cancelled, which passes their reservations
 * on.
 *
 * SELECT-1  The caller's waker runs at most once for an LBX_PENDING, and not
 *           for a poll that is final (OPER-4): a child's wake-up during a poll
 *           is only noted, as MISSED, and the poll tries again before it
 *           returns LBX_PENDING.
 * SELECT-2  The waker in the operation is written while POLLING, after every
 *           child has been settled by its own poll: no child reads it then.
 */
#include "base/op.h"

#include "base/park.h"
#include <assert.h>

enum {
    POLLING = 0, /* the owner polls the children, or it is final */
    MISSED,      /* the same, and a child has called meanwhile */
    ARMED,       /* the poll returned LBX_PENDING */
};

struct __attribute__((may_alias)) select_data {
    lbx_operation *const *children;
    size_t count;
    size_t first;
    size_t *index;
    _Atomic(uint32_t) calls; /* POLLING, MISSED, ARMED */
};

LBX__OP_DATA(struct select_data, select_of);

static void
select_pass_on(void *context)
{
    lbx__op *op = context;

    // Acquire: pairs with the release in select_arm(), makes `waker` readable.
    // Release: pairs with the acquire there: the next poll sees what this one
    // did.
    if (lbx__exchange(&select_of(op)->calls, (uint32_t)MISSED, acq_rel) ==
            ARMED &&
        op->waker.wake)
        op->waker.wake(op->waker.context);
}

/* Ends a poll with PENDING; false when a child has called meanwhile. */
static bool
select_arm(lbx__op *op, const lbx_waker *waker)
{
    uint32_t seen = POLLING;

    lbx__op_set_waker(op, waker); // SELECT-2
    return lbx__cas(&select_of(op)->calls, &seen, (uint32_t)ARMED, acq_rel);
}

static lbx_status
select_finish(lbx__op *op, size_t winner)
{
    lbx_operation *const *children = select_of(op)->children;

    for (size_t i = 0; i < select_of(op)->count; i++)
        if (i != winner)
            (void)lbx_operation_cancel(children[i]);
    *select_of(op)->index = winner;
    return lbx_operation_status(children[winner]);
}

/* Polls every child once; the winner's index, or `count` for none. */
static size_t
select_poll_children(lbx__op *op, const lbx_waker *waker)
{
    size_t count = select_of(op)->count;

    for (size_t i = 0; i < count; i++) {
        size_t index = (select_of(op)->first + i) % count;

        if (lbx_operation_poll(select_of(op)->children[index], waker) !=
            LBX_PENDING)
            return index;
    }
    return count;
}

/* The earliest deadline of the select and its children. */
static int64_t
select_first_deadline(lbx__op *op)
{
    int64_t first = op->deadline_ns;

    for (size_t i = 0; i < select_of(op)->count; i++) {
        int64_t next = lbx_operation_deadline(select_of(op)->children[i]);

        if (next < first)
            first = next;
    }
    return first;
}

/* The deadline has passed: polls once more, without a waker. */
static lbx_status
select_poll_last(lbx__op *op)
{
    size_t winner = select_poll_children(op, NULL);

    return winner < select_of(op)->count ? select_finish(op, winner)
                                         : LBX_TIMEOUT;
}

static lbx_status
select_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx_waker mine = {select_pass_on, op};

    do {
        size_t winner;

        // Acquire: what a child did before it called.
        (void)lbx__exchange(&select_of(op)->calls, (uint32_t)POLLING, acquire);
        winner = select_poll_children(op, &mine);
        if (winner < select_of(op)->count)
            return select_finish(op, winner);
        op->poll_by_ns = op->deadline_ns;
        if (lbx__op_late(op))
            return select_poll_last(op);
        op->poll_by_ns = select_first_deadline(op);
    } while (!select_arm(op, waker));
    return LBX_PENDING;
}

static lbx_status
select_leave(lbx__op *op, lbx_status why)
{
    for (size_t i = 0; i < select_of(op)->count; i++)
        (void)lbx_operation_cancel(select_of(op)->children[i]);
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
    select_of(op)->children = operations;
    select_of(op)->count = count;
    select_of(op)->first = first;
    select_of(op)->index = ret_index;
    return LBX_OK;
}
