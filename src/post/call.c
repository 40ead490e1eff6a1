/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls inside operations. F4, F6 and F7 are in call.h.
 *
 * Of lbx_call.reserved: [0] who made the call, [1] its state word, [2] the status
 * it was finished with.
 */
#include "post/call.h"

#include "base/park.h"
#include "post/letter.h"
#include "post/postbox.h"

#include <assert.h>
#include <string.h>

/* The state word. */
enum {
    RUNNING = 0,
    DONE,
    AWAITED, /* running, and the owner sleeps on the word */
};

static _Atomic(uint32_t) *
state_of(lbx_call *call)
{
    return (_Atomic(uint32_t) *)(void *)&call->reserved[1];
}

void
lbx_call_init(lbx_call *call, const lbx_caller *caller, lbx_verb verb,
              void *request)
{
    *call = (lbx_call){.verb = verb, .request = request};
    call->reserved[0] = (uint64_t)(uintptr_t)caller;
    lbx__init(state_of(call), (uint32_t)RUNNING);
    lbx__store_clear(call);
}

static lbx__op *
op_of(lbx_call *call)
{
    return lbx__member(call, lbx__op, data);
}

static void
finish_operation(lbx_call *call, lbx_status status)
{
    lbx__op *op = op_of(call);
    lbx__desk *desk = op->subject;
    lbx__wakes wakes;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&desk->lock);
    call->reserved[2] = (uint64_t)(int64_t)status;
    // Release: an owner that sees it without the lock, and then takes it, sees
    // the letters.
    if (lbx__exchange(state_of(call), (uint32_t)DONE, release) == AWAITED)
        lbx__futex_wake(state_of(call), 1);
    if (op->state == LBX__QUEUED)
        lbx__wakes_grant(&wakes, op, status);
    // The owner looks under the lock, so this is our last touch of the operation,
    // but for its waker (OPER-3).
    lbx__lock_give(&desk->lock);
    lbx__wakes_run(&wakes);
}

static lbx_status
deliver_operation(lbx_call *call, const lbx_delivery *delivery)
{
    lbx__called *called = lbx__called_of(op_of(call));
    lbx_letter *letter;
    lbx_status status;

    status = lbx__letter_create(lbx__postbox_of(op_of(call)), called, delivery,
                                &letter);
    if (status != LBX_OK)
        return status;
    if (called->last)
        called->last->next = letter;
    else
        called->first = letter;
    called->last = letter;
    return LBX_OK;
}

static const lbx_caller operation_caller = {finish_operation,
                                            deliver_operation};

static const lbx_caller *
caller_of(const lbx_call *call)
{
    return (const lbx_caller *)(uintptr_t)call->reserved[0];
}

void
lbx_call_finish(lbx_call *call, lbx_status status)
{
    assert(call && status != LBX_PENDING);
    caller_of(call)->finish(call, status);
}

lbx_status
lbx_call_deliver(lbx_call *call, const lbx_delivery *delivery)
{
    if (!call || !delivery || !caller_of(call) || !caller_of(call)->deliver ||
        (call->verb != LBX_VERB_RECEIVE && call->verb != LBX_VERB_PEEK))
        return LBX_INVALID;
    return caller_of(call)->deliver(call, delivery);
}

void
lbx__called_init(lbx__op *op, const lbx__steps *steps, lbx__desk *desk,
                 const lbx_clock *clock, int64_t deadline_ns)
{
    lbx__op_init(op, &steps->op, desk, clock, deadline_ns);
    lbx__called_of(op)->gave_up = LBX_PENDING;
}

void
lbx__called_next(lbx__op *op, lbx_store *store, lbx_verb verb, void *request)
{
    lbx__called *called = lbx__called_of(op);

    assert(!called->running); // F6
    called->store = store;
    lbx_call_init(&called->call, &operation_caller, verb, request);
}

static const lbx__steps *
steps_of(const lbx__op *op)
{
    return (const lbx__steps *)(const void *)op->ops; // its first member
}

static bool
is_done(lbx__called *called)
{
    // Acquire: pairs with the exchange in finish_operation().
    return lbx__load(state_of(&called->call), acquire) == DONE;
}

/* Sleeps until the store has finished the call. */
static void
await(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    lbx__desk *desk = op->subject;
    uint32_t seen = RUNNING;

    // Acquire: as in is_done().
    (void)lbx__cas(state_of(&called->call), &seen, (uint32_t)AWAITED, acquire);
    while (!is_done(called))
        lbx__futex_wait(state_of(&called->call), AWAITED, -1);
    lbx__lock_take(&desk->lock); // whoever finished it has left
    lbx__lock_give(&desk->lock);
}

/* F4: the store is asked to finish, and does. */
static void
give_up(lbx__op *op, lbx_status why)
{
    lbx__called *called = lbx__called_of(op);

    called->gave_up = why;
    lbx__store_cancel(called->store, &called->call);
    await(op);
}

/* Off the list, with no wake-up planned or running. True when the call is done;
 * whoever finished it has left then. */
static bool
detach(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    lbx__desk *desk = op->subject;
    bool granted, done;

    lbx__lock_take(&desk->lock);
    if (op->state == LBX__QUEUED) {
        lbx__list_remove(&op->link);
        op->state = LBX__IDLE;
    }
    granted = op->state == LBX__GRANTED;
    done = is_done(called);
    lbx__lock_give(&desk->lock);
    if (granted) {
        lbx__op_settle(op);          // OPER-3
        lbx__lock_take(&desk->lock); // it may still be finished: see close
        op->state = LBX__IDLE;
        done = is_done(called);
        lbx__lock_give(&desk->lock);
    }
    return done;
}

/* What the call that has ended came to. */
static lbx_status
answer_of(lbx__op *op, lbx_status status)
{
    lbx__called *called = lbx__called_of(op);

    called->running = false;
    if (status == LBX_CANCELLED && called->gave_up != LBX_PENDING)
        status = called->gave_up;
    return lbx__store_ended(&called->call, status);
}

static lbx_status
finished_with(const lbx__called *called)
{
    return (lbx_status)(int64_t)called->call.reserved[2];
}

/* Looks at a running call. PENDING: the waker is set; or what it came to. */
static lbx_status
look(lbx__op *op, const lbx_waker *waker)
{
    lbx__called *called = lbx__called_of(op);
    const lbx__steps *steps = steps_of(op);
    lbx__desk *desk = op->subject;
    lbx_status why = LBX_PENDING;
    bool done = detach(op);

    if (!done) {
        lbx__lock_take(&desk->lock);
        done = is_done(called);
        // Relaxed: it is set under the lock.
        if (steps->ends_by_close && lbx__load(&desk->closed, relaxed))
            why = LBX_CLOSED;
        else if (lbx__op_late(op))
            why = steps->late;
        else if (!done)
            lbx__op_queue(op, &desk->waiting, waker);
        lbx__lock_give(&desk->lock);
    }
    if (!done && why == LBX_PENDING)
        return LBX_PENDING;
    if (!done)
        give_up(op, why);
    return answer_of(op, finished_with(called));
}

/* Step by step until one has to be waited for, or all is done. */
static lbx_status
advance(lbx__op *op, lbx_status last, const lbx_waker *waker)
{
    lbx__called *called = lbx__called_of(op);
    lbx_status status;

    for (;;) {
        status = steps_of(op)->step(op, last);
        if (status != LBX_PENDING)
            return status;
        if (called->gave_up != LBX_PENDING) {
            last = lbx__store_ended(&called->call, called->gave_up);
            continue;
        }
        status = lbx__store_start(called->store, &called->call);
        if (status == LBX_PENDING) {
            called->running = true;
            last = look(op, waker);
            if (last == LBX_PENDING)
                return LBX_PENDING;
        } else {
            last = answer_of(op, status);
        }
    }
}

lbx_status
lbx__called_poll(lbx__op *op, const lbx_waker *waker)
{
    lbx__called *called = lbx__called_of(op);
    lbx_status last = LBX_PENDING;

    if (!called->running) { // begins, or begins again
        called->begun = true;
        called->gave_up = LBX_PENDING;
        return advance(op, LBX_PENDING, waker);
    }
    last = look(op, waker);
    return last == LBX_PENDING ? last : advance(op, last, waker);
}

lbx_status
lbx__called_leave(lbx__op *op, lbx_status why)
{
    lbx__called *called = lbx__called_of(op);

    if (!called->running) { // not begun
        called->gave_up = why;
        return steps_of(op)->step(op, why);
    }
    if (!detach(op))
        give_up(op, why);
    called->gave_up = why;
    return advance(op, answer_of(op, finished_with(called)), NULL);
}

void
lbx__called_release(lbx__op *op)
{
    steps_of(op)->drop(op);
    lbx_postbox_unref(lbx__called_of(op)->keeps);
}

/* ---- Waiting in a thread ---- */

enum {
    AWAKE_NS = LBX__SPINS(50000), /* to sleep and be woken takes as long */
    VAIN_MOST = 4,                /* then every 16th time only */
};

/* F8: true when the call is done. It yields: with as many threads as processors,
 * the store's may need this one. */
static bool
await_awake(lbx__op *op)
{
    lbx__called *called = lbx__called_of(op);
    lbx__store_own *own = lbx__store_own_of(called->store);
    bool done = false;

    if (AWAKE_NS == 0) // the explorer
        return false;
    // Acquire, and release below: `vain` is handed on.
    if (lbx__exchange(&own->awake, 1u, acquire) != 0)
        return false;
    if (own->vain < VAIN_MOST || own->vain % 16 == 0) {
        const int64_t until_ns = lbx_clock_now(NULL) + AWAKE_NS;

        while (!(done = is_done(called)) && lbx_clock_now(NULL) < until_ns)
            lbx__yield();
    }
    own->vain = done ? 0 : own->vain + 1;
    lbx__store(&own->awake, 0u, release);
    return done;
}

lbx_status
lbx__called_run(lbx__op *op)
{
    lbx_status status;

    do
        status = lbx__called_poll(op, NULL);
    while (status == LBX_PENDING && await_awake(op));
    if (status == LBX_PENDING)
        status = lbx__op_wait(op);
    lbx__called_release(op);
    op->ops = NULL;
    return status;
}

/* One call and no more. */
static lbx_status
single_step(lbx__op *op, lbx_status last)
{
    (void)op;
    return last;
}

static void
drop_nothing(lbx__op *op)
{
    (void)op;
}

static const lbx__steps single =
    LBX__STEPS(single_step, drop_nothing, LBX_TIMEOUT, false, false);

lbx_status
lbx__call_now(lbx_store *store, lbx_verb verb, void *request)
{
    lbx_operation operation;
    lbx__op *op = lbx__op_of(&operation);
    lbx__called *called = lbx__called_of(op);
    lbx__store_own *own = lbx__store_own_of(store);
    lbx_status status;

    lbx__called_init(op, &single, &own->desk, own->clock, LBX_FOREVER);
    lbx__called_next(op, store, verb, request);
    status = lbx__store_start(store, &called->call);
    if (status != LBX_PENDING)
        return lbx__store_ended(&called->call, status);
    called->running = true;
    return lbx__called_run(op);
}

void
lbx__desk_close(lbx__desk *desk)
{
    lbx__wakes wakes;

    lbx__wakes_init(&wakes);
    lbx__lock_take(&desk->lock);
    // Release: who sees it has seen what came before the close.
    lbx__store(&desk->closed, 1u, release);
    while (!lbx__list_empty(&desk->waiting))
        lbx__wakes_grant(&wakes, lbx__member(desk->waiting.next, lbx__op, link),
                         LBX_CLOSED);
    lbx__lock_give(&desk->lock);
    lbx__wakes_run(&wakes);
}
