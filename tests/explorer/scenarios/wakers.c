/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakers that come late or are exchanged: a poll without one, then with one;
 * a poll with another. The one of the last poll is called, and no other.
 */
#include "explorer/scenarios/box_steps.h"
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/wakeup.h"

#include <string.h>

static lbx_signal *notice;
static lbx_operation operation;
static struct wakeup wakeups[2];
static void *message;

/* ---- Setups: operations that have not been polled ---- */

static void
setup_receive(void)
{
    memset(wakeups, 0, sizeof(wakeups));
    setup();
    EXPECT_OK(
        lbx_consumer_receive_init(&operation, box.out, &message, LBX_FOREVER));
}

static void
setup_send(void)
{
    memset(wakeups, 0, sizeof(wakeups));
    setup_full();
    message = (void *)(uintptr_t)ledger_message();
    EXPECT_OK(lbx_producer_send_init(&operation, box.in, message, LBX_FOREVER));
}

static void
setup_flush(void)
{
    memset(wakeups, 0, sizeof(wakeups));
    setup_full();
    EXPECT_OK(lbx_mailbox_flush_init(&operation, lbx_producer_mailbox(box.in),
                                     LBX_FOREVER));
}

static void
setup_signal(void)
{
    memset(wakeups, 0, sizeof(wakeups));
    EXPECT_OK(lbx_signal_create(&explorer_memory, &explorer_clock, &notice));
    EXPECT_OK(lbx_signal_wait_init(&operation, notice, LBX_FOREVER));
}

/* ---- Threads ---- */

static void
wait_with_late_waker(void)
{
    if (lbx_operation_poll(&operation, NULL) == LBX_PENDING)
        EXPECT_OK(wakeup_wait(&wakeups[0], &operation));
    wakeup_retire(&wakeups[0]);
}

static void
wait_with_another_waker(void)
{
    lbx_waker one = wakeup_waker(&wakeups[0]);
    lbx_waker other = wakeup_waker(&wakeups[1]);

    if (lbx_operation_poll(&operation, &one) == LBX_PENDING) {
        lbx_status status = lbx_operation_poll(&operation, &other);

        wakeup_retire(&wakeups[0]);
        if (status == LBX_PENDING) {
            wakeup_await(&wakeups[1]);
            EXPECT_OK(wakeup_wait(&wakeups[1], &operation));
        }
    }
    EXPECT_OK(lbx_operation_status(&operation));
    wakeup_retire(&wakeups[1]);
}

STEP(take, EXPECT(box_try_receive(&box)))
STEP(notify, lbx_signal_notify(notice))

/* ---- Ends ---- */

STEP(finish_operation, lbx_operation_fini(&operation), finish())

static void
finish_receive(void)
{
    ledger_received((uint64_t)(uintptr_t)message);
    finish_operation();
}

STEP(finish_send, ledger_sent((uint64_t)(uintptr_t)message), finish_operation())
STEP(finish_signal, lbx_operation_fini(&operation), lbx_signal_unref(notice))

/* One that must hold, with a waker that comes late and with one that is
 * exchanged, and twins of both. */
#define EXCHANGES(what, begin, cause, end, planted)                            \
    EXCHANGE("wakers/" what "-late", wait_with_late_waker, begin, cause, end,  \
             planted),                                                         \
        EXCHANGE("wakers/" what "-another", wait_with_another_waker, begin,    \
                 cause, end, planted)

#define EXCHANGE(name_, wait, begin, cause, end, planted)                      \
    SCENARIO(name_, begin, end, THREADS(wait, cause), BOUND(3, 5)),            \
        TWIN(name_ "-is-not-called", planted,                                  \
             "a second poll does not change the waker", BOUND(2, 2))

const struct scenario wakers_scenarios[] = {
    EXCHANGES("receive", setup_receive, send, finish_receive,
              "receive-keeps-its-waker"),
    EXCHANGES("send", setup_send, take, finish_send, "send-keeps-its-waker"),
    EXCHANGES("flush", setup_flush, take, finish_operation,
              "flush-keeps-its-waker"),
    EXCHANGES("signal", setup_signal, notify, finish_signal,
              "signal-keeps-its-waker"),
    {0},
};
