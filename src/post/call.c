/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of stores inside operations. CALL-1 to CALL-4 are in call.h.
 *
 * lbx_call.reserved holds the words below.
 */
#include "post/call.h"

#include "base/park.h"
#include "post/letter.h"
#include "post/postbox.h"

#include <assert.h>
#include <string.h>

/* The words of lbx_call.reserved. */
enum {
    CALL_WORD_SINK = 0, /* the lbx_call_sink */
    CALL_WORD_STATE,
    CALL_WORD_STATUS, /* the call was finished with */
    CALL_WORDS
};

/* Spare words of the public struct, for later versions of the library. */
_Static_assert((CALL_WORDS + 3) * sizeof(uint64_t) <=
                   sizeof(((lbx_call *)0)->reserved),
               "an lbx_call has fewer than three spare words");

/* The state word. */
enum {
    CALL_RUNNING = 0,
    CALL_DONE,
    CALL_AWAITED, /* running, and the owner sleeps on the word */
};

static _Atomic(uint32_t) *
call_state(lbx_call *call)
{
    return (_Atomic(uint32_t) *)(void *)&call->reserved[CALL_WORD_STATE];
}

void
lbx_call_init(lbx_call *call, const lbx_call_sink *caller, lbx_call_kind verb,
              void *request)
{
    *call = (lbx_call){.kind = verb, .request = request};
    call->reserved[CALL_WORD_SINK] = (uint64_t)(uintptr_t)caller;
    lbx__init(call_state(call), (uint32_t)CALL_RUNNING);
    lbx__store_call_clear(call);
}

static lbx__op *
call_operation(lbx_call *call)
{
    return lbx__member(call, lbx__op, data);
}

static void
call_op_finish(lbx_call *call, lbx_status status)
{
    lbx__op *op = call_operation(call);
    lbx__call_queue *queue = op->subject;
    lbx__wakes wakes;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&queue->lock);
    call->reserved[CALL_WORD_STATUS] = (uint64_t)(int64_t)status;
    // Release: pairs with the acquire in call_is_done(): an owner that sees
    // CALL_DONE sees the letters.
    if (lbx__exchange(call_state(call), (uint32_t)CALL_DONE, release) ==
        CALL_AWAITED)
        lbx__futex_wake(call_state(call), 1);
    if (op->state == LBX__QUEUED)
        lbx__wakes_grant(&wakes, op, status);
    // The owner checks under the lock, so this is the last access to the
    // operation, except for its waker (OPER-3).
    lbx__lock_give(&queue->lock);
    lbx__wakes_run(&wakes);
}

static lbx_status
call_op_deliver(lbx_call *call, const lbx_delivery *delivery)
{
    lbx__call_op *call_op = lbx__call_op_of(call_operation(call));
    lbx_letter *letter;
    lbx_status status;

    status = lbx__letter_create(lbx__postbox_of(call_operation(call)), call_op,
                                delivery, &letter);
    if (status != LBX_OK)
        return status;
    if (call_op->last)
        call_op->last->next = letter;
    else
        call_op->first = letter;
    call_op->last = letter;
    return LBX_OK;
}

static const lbx_call_sink call_op_caller = {call_op_finish, call_op_deliver};

static const lbx_call_sink *
call_caller(const lbx_call *call)
{
    return (const lbx_call_sink *)(uintptr_t)call->reserved[CALL_WORD_SINK];
}

void
lbx_call_finish(lbx_call *call, lbx_status status)
{
    assert(call && status != LBX_PENDING);
    call_caller(call)->finish(call, status);
}

lbx_status
lbx_call_deliver(lbx_call *call, const lbx_delivery *delivery)
{
    if (!call || !delivery || !call_caller(call) ||
        !call_caller(call)->deliver ||
        (call->kind != LBX_CALL_RECEIVE && call->kind != LBX_CALL_PEEK))
        return LBX_INVALID;
    return call_caller(call)->deliver(call, delivery);
}

void
lbx__call_op_init(lbx__op *op, const lbx__call_steps *steps,
                  lbx__call_queue *queue, const lbx_clock *clock,
                  int64_t deadline_ns)
{
    lbx__op_init(op, &steps->op, queue, clock, deadline_ns);
    lbx__call_op_of(op)->cancelled = LBX_PENDING;
}

void
lbx__call_op_next(lbx__op *op, lbx_store *store, lbx_call_kind verb,
                  void *request)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    assert(!call_op->running); // CALL-2
    call_op->store = store;
    lbx_call_init(&call_op->call, &call_op_caller, verb, request);
}

static const lbx__call_steps *
call_op_steps(const lbx__op *op)
{
    return (const lbx__call_steps *)(const void *)op->ops; // its first member
}

static bool
call_is_done(lbx__call_op *call_op)
{
    // Acquire: pairs with the exchange in call_op_finish().
    return lbx__load(call_state(&call_op->call), acquire) == CALL_DONE;
}

/* Sleeps until the store has finished the call. */
static void
call_await(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx__call_queue *queue = op->subject;
    uint32_t seen = CALL_RUNNING;

    // Acquire: as in call_is_done().
    (void)lbx__cas(call_state(&call_op->call), &seen, (uint32_t)CALL_AWAITED,
                   acquire);
    while (!call_is_done(call_op))
        lbx__futex_wait(call_state(&call_op->call), CALL_AWAITED, -1);
    lbx__lock_take(&queue->lock); // the thread that finished it has left
    lbx__lock_give(&queue->lock);
}

/* CALL-1: asks the store to finish the call, and waits until it has. */
static void
call_op_cancel(lbx__op *op, lbx_status why)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    call_op->cancelled = why;
    lbx__store_call_cancel(call_op->store, &call_op->call);
    call_await(op);
}

/* Takes the operation off the queue, with no wake-up planned or running. True
 * when the call is done; the thread that finished it has left then. */
static bool
call_op_detach(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx__call_queue *queue = op->subject;
    bool granted, done;

    lbx__lock_take(&queue->lock);
    if (op->state == LBX__QUEUED) {
        lbx__list_remove(&op->link);
        op->state = LBX__IDLE;
    }
    granted = op->state == LBX__GRANTED;
    done = call_is_done(call_op);
    lbx__lock_give(&queue->lock);
    if (granted) {
        lbx__op_settle(op);           // OPER-3
        lbx__lock_take(&queue->lock); // a close grants without finishing it
        op->state = LBX__IDLE;
        done = call_is_done(call_op);
        lbx__lock_give(&queue->lock);
    }
    return done;
}

/* The result of a call that has ended. */
static lbx_status
call_op_result(lbx__op *op, lbx_status status)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    call_op->running = false;
    if (status == LBX_CANCELLED && call_op->cancelled != LBX_PENDING)
        status = call_op->cancelled;
    return lbx__store_call_result(&call_op->call, status);
}

static lbx_status
call_finished_with(const lbx__call_op *call_op)
{
    return (lbx_status)(int64_t)call_op->call.reserved[CALL_WORD_STATUS];
}

/* Checks a running call. PENDING: the waker is set; or its result. */
static lbx_status
call_op_check(lbx__op *op, const lbx_waker *waker)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    const lbx__call_steps *steps = call_op_steps(op);
    lbx__call_queue *queue = op->subject;
    lbx_status why = LBX_PENDING;
    bool done = call_op_detach(op);

    if (!done) {
        lbx__lock_take(&queue->lock);
        done = call_is_done(call_op);
        // Relaxed: it is set under the lock.
        if (steps->ends_by_close && lbx__load(&queue->closed, relaxed))
            why = LBX_CLOSED;
        else if (lbx__op_late(op))
            why = steps->late;
        else if (!done)
            lbx__op_queue(op, &queue->waiting, waker);
        lbx__lock_give(&queue->lock);
    }
    if (!done && why == LBX_PENDING)
        return LBX_PENDING;
    if (!done)
        call_op_cancel(op, why);
    return call_op_result(op, call_finished_with(call_op));
}

/* Makes steps until a call is pending, or the operation has ended. */
static lbx_status
call_op_advance(lbx__op *op, lbx_status last, const lbx_waker *waker)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_status status;

    for (;;) {
        status = call_op_steps(op)->step(op, last);
        if (status != LBX_PENDING)
            return status;
        if (call_op->cancelled != LBX_PENDING) {
            last = lbx__store_call_result(&call_op->call, call_op->cancelled);
            continue;
        }
        status = lbx__store_call_start(call_op->store, &call_op->call);
        if (status == LBX_PENDING) {
            call_op->running = true;
            last = call_op_check(op, waker);
            if (last == LBX_PENDING)
                return LBX_PENDING;
        } else {
            last = call_op_result(op, status);
        }
    }
}

lbx_status
lbx__call_op_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx_status last = LBX_PENDING;

    if (!call_op->running) { // begins, or begins again
        call_op->begun = true;
        call_op->cancelled = LBX_PENDING;
        return call_op_advance(op, LBX_PENDING, waker);
    }
    last = call_op_check(op, waker);
    return last == LBX_PENDING ? last : call_op_advance(op, last, waker);
}

lbx_status
lbx__call_op_leave(lbx__op *op, lbx_status why)
{
    lbx__call_op *call_op = lbx__call_op_of(op);

    if (!call_op->running) { // not begun
        call_op->cancelled = why;
        return call_op_steps(op)->step(op, why);
    }
    if (!call_op_detach(op))
        call_op_cancel(op, why);
    call_op->cancelled = why;
    return call_op_advance(op, call_op_result(op, call_finished_with(call_op)),
                           NULL);
}

void
lbx__call_op_release(lbx__op *op)
{
    lbx_postbox *keeps = lbx__call_op_of(op)->keeps;

    call_op_steps(op)->drop(op);
    if (keeps)
        lbx__postbox_release(keeps);
}

/* ---- Waiting in a thread ---- */

enum {
    CALL_SPIN_NS = LBX__SPINS(50000), /* sleeping and waking take as long */
    CALL_VAIN_MAX = 4, /* after that, only every 16th wait spins */
};

/* CALL-4: true when the call is done. Yields, because the thread of the store
 * may need this processor. */
static bool
call_spin(lbx__op *op)
{
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx__store_private *own = lbx__store_private_of(call_op->store);
    bool done = false;

    if (CALL_SPIN_NS == 0) // the explorer
        return false;
    // Acquire: pairs with the release below; `vain` belongs to the holder.
    if (lbx__exchange(&own->awake, 1u, acquire) != 0)
        return false;
    if (own->vain < CALL_VAIN_MAX || own->vain % 16 == 0) {
        const int64_t until_ns = lbx_clock_now(NULL) + CALL_SPIN_NS;

        while (!(done = call_is_done(call_op)) &&
               lbx_clock_now(NULL) < until_ns)
            lbx__yield();
    }
    own->vain = done ? 0 : own->vain + 1;
    lbx__store(&own->awake, 0u, release);
    return done;
}

lbx_status
lbx__call_op_run(lbx__op *op)
{
    lbx_status status;

    do
        status = lbx__call_op_poll(op, NULL);
    while (status == LBX_PENDING && call_spin(op));
    if (status == LBX_PENDING)
        status = lbx__op_wait(op);
    lbx__call_op_release(op);
    op->ops = NULL;
    return status;
}

/* An operation of a call_single_steps call. */
static lbx_status
call_single_step(lbx__op *op, lbx_status last)
{
    (void)op;
    return last;
}

static void
call_single_drop(lbx__op *op)
{
    (void)op;
}

static const lbx__call_steps call_single_steps = LBX__CALL_STEPS(
    call_single_step, call_single_drop, LBX_TIMEOUT, false, false);

lbx_status
lbx__call_run(lbx_store *store, lbx_call_kind verb, void *request)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__call_op *call_op = lbx__call_op_of(op);
    lbx__store_private *own = lbx__store_private_of(store);
    lbx_status status;

    lbx__call_op_init(op, &call_single_steps, &own->calls, own->clock,
                      LBX_FOREVER);
    lbx__call_op_next(op, store, verb, request);
    status = lbx__store_call_start(store, &call_op->call);
    if (status != LBX_PENDING)
        return lbx__store_call_result(&call_op->call, status);
    call_op->running = true;
    return lbx__call_op_run(op);
}

void
lbx__call_queue_init(lbx__call_queue *queue)
{
    lbx__init(&queue->lock.word, 0);
    lbx__init(&queue->closed, 0);
    lbx__list_init(&queue->waiting);
}

void
lbx__call_queue_close(lbx__call_queue *queue)
{
    lbx__wakes wakes;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&queue->lock);
    // Release: pairs with the acquire in lbx__postbox_closed().
    lbx__store(&queue->closed, 1u, release);
    while (!lbx__list_empty(&queue->waiting))
        lbx__wakes_grant(&wakes,
                         lbx__member(queue->waiting.next, lbx__op, link),
                         LBX_CLOSED);
    lbx__lock_give(&queue->lock);
    lbx__wakes_run(&wakes);
}
