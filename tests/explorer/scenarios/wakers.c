/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakers that come late or are exchanged: a poll without one, then with one;
 * a poll with another. The one of the last poll is called, and no other.
 */
#include "explorer/scenarios/bell.h"
#include "explorer/scenarios/box.h"
#include "explorer/scenarios/scenarios.h"

#include <string.h>

static struct box box;
static lbx_signal *notice;
static lbx_operation operation;
static struct bell bells[2];
static void *message;

/* ---- Setups: operations that have not been polled ---- */

static void
setup_receive(void)
{
    memset(bells, 0, sizeof(bells));
    box_create(&box, LBX_KIND_UNBOUNDED, NULL);
    EXPECT_OK(
        lbx_consumer_receive_init(&operation, box.out, &message, LBX_FOREVER));
}

static void
setup_full(void)
{
    lbx_mailbox_options options = box_options();

    memset(bells, 0, sizeof(bells));
    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    box_create(&box, LBX_KIND_BOUNDED, &options);
    EXPECT_OK(box_try_send(&box));
}

static void
setup_send(void)
{
    setup_full();
    message = (void *)(uintptr_t)ledger_message();
    EXPECT_OK(lbx_producer_send_init(&operation, box.in, message, LBX_FOREVER));
}

static void
setup_flush(void)
{
    setup_full();
    EXPECT_OK(lbx_mailbox_flush_init(&operation, lbx_producer_mailbox(box.in),
                                     LBX_FOREVER));
}

static void
setup_signal(void)
{
    memset(bells, 0, sizeof(bells));
    EXPECT_OK(lbx_signal_create(&explorer_memory, &explorer_clock, &notice));
    EXPECT_OK(lbx_signal_wait_init(&operation, notice, LBX_FOREVER));
}

/* ---- Threads ---- */

static void
wait_with_late_waker(void)
{
    if (lbx_operation_poll(&operation, NULL) == LBX_PENDING)
        EXPECT_OK(bell_wait(&bells[0], &operation));
    bell_put_away(&bells[0]);
}

static void
wait_with_another_waker(void)
{
    lbx_waker one = bell_waker(&bells[0]);
    lbx_waker other = bell_waker(&bells[1]);

    if (lbx_operation_poll(&operation, &one) == LBX_PENDING) {
        lbx_status status = lbx_operation_poll(&operation, &other);

        bell_put_away(&bells[0]);
        if (status == LBX_PENDING) {
            bell_await(&bells[1]);
            EXPECT_OK(bell_wait(&bells[1], &operation));
        }
    }
    EXPECT_OK(lbx_operation_status(&operation));
    bell_put_away(&bells[1]);
}

static void
send(void)
{
    EXPECT_OK(box_try_send(&box));
}

static void
take(void)
{
    EXPECT(box_try_receive(&box));
}

static void
notify(void)
{
    lbx_signal_notify(notice);
}

/* ---- Ends ---- */

static void
finish(void)
{
    lbx_operation_fini(&operation);
    box_finish(&box, true);
}

static void
finish_receive(void)
{
    ledger_received((uint64_t)(uintptr_t)message);
    finish();
}

static void
finish_send(void)
{
    ledger_sent((uint64_t)(uintptr_t)message);
    finish();
}

static void
finish_signal(void)
{
    lbx_operation_fini(&operation);
    lbx_signal_unref(notice);
}

/* One that must hold, with a waker that comes late and with one that is
 * exchanged, and twins of both. */
#define EXCHANGES(what, begin, cause, end, planted)                            \
    {                                                                          \
        .name = "wakers/" what "-late",                                        \
        .setup = begin,                                                        \
        .thread = {wait_with_late_waker, cause},                               \
        .finish = end,                                                         \
        .bound = 3,                                                            \
        .full_bound = 5,                                                       \
    },                                                                         \
        {                                                                      \
            .name = "wakers/" what "-late-is-not-called",                      \
            .bug = "a second poll does not change the waker",                  \
            .mutant = planted,                                                 \
            .setup = begin,                                                    \
            .thread = {wait_with_late_waker, cause},                           \
            .finish = end,                                                     \
            .bound = 2,                                                        \
            .full_bound = 2,                                                   \
        },                                                                     \
        {                                                                      \
            .name = "wakers/" what "-another",                                 \
            .setup = begin,                                                    \
            .thread = {wait_with_another_waker, cause},                        \
            .finish = end,                                                     \
            .bound = 3,                                                        \
            .full_bound = 5,                                                   \
        },                                                                     \
    {                                                                          \
        .name = "wakers/" what "-another-is-not-called",                       \
        .bug = "a second poll does not change the waker", .mutant = planted,   \
        .setup = begin, .thread = {wait_with_another_waker, cause},            \
        .finish = end, .bound = 2, .full_bound = 2,                            \
    }

const struct scenario wakers_scenarios[] = {
    EXCHANGES("receive", setup_receive, send, finish_receive,
              "receive-keeps-its-waker"),
    EXCHANGES("send", setup_send, take, finish_send, "send-keeps-its-waker"),
    EXCHANGES("flush", setup_flush, take, finish, "flush-keeps-its-waker"),
    EXCHANGES("signal", setup_signal, notify, finish_signal,
              "signal-keeps-its-waker"),
    {0},
};
