/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations over calls of a store (CALL-1, CALL-2, OPER-3): one that waits is
 * woken when its call is finished, at its deadline and by a close. It returns
 * what happened, and is not touched after it has ended. What call.c links to is
 * defined here instead of being taken from the library.
 */
#include "explorer/points.h"

#include "base/alloc.h"
#include "base/park.h"
#include "explorer/scenarios/scenarios.h"
#include "post/call.h"
#include "post/letter.h"
#include "post/postbox.h"

#include <string.h>

static struct {
    lbx_store store;
    lbx__call_queue queue;
    const lbx__call_steps *steps;
    int64_t deadline_ns;
    lbx_call *call;
    _Atomic(uint32_t) started;
    _Atomic(uint32_t) finished;
    lbx_status happened; /* what the call was finished with */
    lbx_status result;   /* of the operation */
} calls;

/* ---- What call.c links to ---- */

_Atomic(uint32_t) lbx__store_life = 1;

lbx_status
lbx__letter_create(lbx_postbox *postbox, const lbx__call_op *call_op,
                   const lbx_delivery *delivery, lbx_letter **ret)
{
    (void)postbox;
    (void)call_op;
    (void)delivery;
    (void)ret;
    return LBX_UNSUPPORTED;
}

void
lbx__postbox_release(lbx_postbox *postbox)
{
    (void)postbox;
}

/* ---- The store ---- */

static lbx_status
start_sync(lbx_store *store, lbx_call *call)
{
    (void)store;
    calls.call = call;
    lbx__store(&calls.started, 1u, seq_cst);
    lbx__futex_wake(&calls.started, 1);
    return LBX_PENDING;
}

/* The first who comes finishes the call. */
static void
finish_call(lbx_status status)
{
    if (lbx__exchange(&calls.finished, 1u, seq_cst) != 0)
        return;
    calls.happened = status;
    lbx_call_finish(calls.call, status);
}

static void
cancel_call(lbx_store *store, lbx_call *call)
{
    (void)store;
    EXPECT(call == calls.call);
    finish_call(LBX_CANCELLED);
}

static const lbx_store_ops calls_ops = {
    .size_bytes = sizeof(lbx_store_ops),
    .sync = start_sync,
    .cancel = cancel_call,
};

/* ---- An operation that makes one call ---- */

static lbx_status
step_sync(lbx__op *op, lbx_status last)
{
    if (last != LBX_PENDING)
        return last;
    lbx__call_op_next(op, &calls.store, LBX_CALL_SYNC, NULL);
    return LBX_PENDING;
}

static void
drop_sync(lbx__op *op)
{
    (void)op;
}

static const lbx__call_steps lasting =
    LBX__CALL_STEPS(step_sync, drop_sync, LBX_TIMEOUT, false, false);
static const lbx__call_steps closable =
    LBX__CALL_STEPS(step_sync, drop_sync, LBX_TIMEOUT, true, false);

static void
setup_calls(const lbx__call_steps *steps, int64_t deadline_ns)
{
    memset(&calls, 0, sizeof(calls));
    calls.steps = steps;
    calls.deadline_ns = deadline_ns;
    calls.store.ops = &calls_ops;
    lbx__store_private_of(&calls.store)->life = 1;
    lbx__call_queue_init(&calls.queue);
}

STEP(setup_waiting, setup_calls(&lasting, LBX_FOREVER))
STEP(setup_hurried,
     setup_calls(&lasting, lbx_deadline_after(&explorer_clock, 1)))
STEP(setup_closable, setup_calls(&closable, LBX_FOREVER))

/* ---- Threads ---- */

/* Its memory is freed at once: nobody may touch it from then on. */
static void
owner(void)
{
    lbx_operation *operation =
        lbx__zalloc(&explorer_memory, sizeof(*operation));
    lbx__op *op = lbx__op_of(operation);

    lbx__call_op_init(op, calls.steps, &calls.queue, &explorer_clock,
                      calls.deadline_ns);
    calls.result = lbx__call_op_run(op);
    lbx__free(&explorer_memory, operation, sizeof(*operation));
}

static void
finisher(void)
{
    while (lbx__load(&calls.started, seq_cst) == 0)
        lbx__futex_wait(&calls.started, 0, -1);
    finish_call(LBX_OK);
}

STEP(closer, lbx__call_queue_close(&calls.queue))

/* ---- Ends ---- */

static void
expect_result(lbx_status cancelled)
{
    EXPECT(calls.result ==
           (calls.happened == LBX_OK ? LBX_OK : cancelled)); // CALL-1
}

STEP(check_waiting, expect_result(LBX_OK))
STEP(check_hurried, expect_result(LBX_TIMEOUT))
STEP(check_closable, expect_result(LBX_CLOSED))

const struct scenario calls_scenarios[] = {
    SCENARIO("calls/a-call-is-finished", setup_waiting, check_waiting,
             THREADS(owner, finisher)),
    TWIN("calls/without-a-second-look", "calls-look-once",
         "a call that is finished between the two looks wakes nobody"),
    LOST_WAKE("calls/a-wake-up-is-swallowed"),
    SCENARIO("calls/finished-at-its-deadline", setup_hurried, check_hurried,
             THREADS(owner, finisher)),
    TWIN("calls/awaited-calls-wake-nobody", "awaited-calls-wake-nobody",
         "the end of a call does not wake the thread that has cancelled it"),
    TWIN("calls/calls-do-not-settle", "calls-do-not-settle",
         "the waker runs when the operation is gone (OPER-3)"),
    SCENARIO("calls/closed-while-it-waits", setup_closable, check_closable,
             THREADS(owner, closer)),
    TWIN("calls/a-close-wakes-no-call", "close-wakes-no-call",
         "a close leaves the operations that wait"),
    SCENARIO("calls/closed-and-finished", setup_closable, check_closable,
             THREADS(owner, closer, finisher), BOUND(3, 4)),
    {0},
};
