/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that wait, and stop waiting: hand-over to blocked senders, cancel
 * and timeout on either side (MSG-10, WAIT-3, WAIT-4), select (WAIT-8),
 * signals, flush.
 *
 * A thread that cancels may find that it was served after all. It then does for
 * the others what it would have left to them, so that all of them can finish: a
 * thread that still sleeps was forgotten.
 */
#include "explorer/scenarios/box_steps.h"
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/wakeup.h"

#include <string.h>

static struct box other;
static lbx_signal *notice;

/* ---- Setups ---- */

STEP(setup_two, box_create(&other, LBX_KIND_UNBOUNDED, NULL), setup())

static void
setup_signal(void)
{
    EXPECT_OK(lbx_signal_create(&explorer_memory, &explorer_clock, &notice));
}

/* ---- Receivers ---- */

STEP(receive_3, receive_2(), receive())

// Polls once, then gives up; passes on what it got nevertheless.
static void
receive_and_cancel(void)
{
    lbx_operation operation;
    void *message = NULL;
    lbx_status status;

    EXPECT_OK(
        lbx_consumer_receive_init(&operation, box.out, &message, LBX_FOREVER));
    status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING)
        status = lbx_operation_cancel(&operation);
    EXPECT(status == LBX_OK || status == LBX_CANCELLED);
    lbx_operation_fini(&operation);
    if (status == LBX_OK) {
        ledger_received((uint64_t)(uintptr_t)message);
        send();
    }
}

static void
receive_for_a_while(void)
{
    lbx_status status = box_receive(&box, box_soon());

    EXPECT(status == LBX_OK || status == LBX_TIMEOUT);
    if (status == LBX_OK)
        send();
}

/* ---- Wakers ---- */

static void
receive_by_waker(void)
{
    struct wakeup wakeup = {0};
    lbx_operation operation;
    void *message = NULL;

    EXPECT_OK(
        lbx_consumer_receive_init(&operation, box.out, &message, LBX_FOREVER));
    EXPECT_OK(wakeup_wait(&wakeup, &operation));
    ledger_received((uint64_t)(uintptr_t)message);
    lbx_operation_fini(&operation);
}

// Ends the operation from inside its waker: its reservation goes to the other
// receiver.
static void
end_in_waker(void)
{
    static struct wakeup wakeup;
    static lbx_operation operation;
    static void *message;
    lbx_waker waker = wakeup_waker(&wakeup);

    memset(&wakeup, 0, sizeof(wakeup));
    EXPECT_OK(
        lbx_consumer_receive_init(&operation, box.out, &message, LBX_FOREVER));
    wakeup.to_end = &operation;
    if (lbx_operation_poll(&operation, &waker) == LBX_PENDING) {
        wakeup_await(&wakeup);
    } else {
        ledger_received((uint64_t)(uintptr_t)message);
        lbx_operation_fini(&operation);
        send();
    }
}

/* ---- Senders ---- */

STEP(send_waiting, EXPECT_OK(box_send(&box, LBX_FOREVER)))
STEP(send_waiting_2, send_waiting(), send_waiting())

static void
try_send(void)
{
    lbx_status status = box_try_send(&box);

    EXPECT(status == LBX_OK || status == LBX_FULL);
}

static void
send_and_cancel(void)
{
    uint64_t message = ledger_message();
    lbx_operation operation;
    lbx_status status;

    EXPECT_OK(lbx_producer_send_init(&operation, box.in,
                                     (void *)(uintptr_t)message, LBX_FOREVER));
    status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING)
        status = lbx_operation_cancel(&operation);
    EXPECT(status == LBX_OK || status == LBX_CANCELLED);
    lbx_operation_fini(&operation);
    if (status == LBX_OK)
        ledger_sent(message);
}

static void
send_for_a_while(void)
{
    lbx_status status = box_send(&box, box_soon());

    EXPECT(status == LBX_OK || status == LBX_TIMEOUT);
}

/* ---- Select ---- */

static void
select_one(void)
{
    lbx_operation children[2];
    lbx_operation *list[2] = {&children[0], &children[1]};
    lbx_operation both;
    void *messages[2] = {NULL, NULL};
    size_t index = 9;

    EXPECT_OK(lbx_consumer_receive_init(&children[0], box.out, &messages[0],
                                        LBX_FOREVER));
    EXPECT_OK(lbx_consumer_receive_init(&children[1], other.out, &messages[1],
                                        LBX_FOREVER));
    EXPECT_OK(lbx_select_init(&both, list, 2, 0, LBX_FOREVER, &index));
    EXPECT_OK(lbx_operation_wait(&both));
    EXPECT(index < 2);
    EXPECT(lbx_operation_status(&children[1 - index]) == LBX_CANCELLED);
    ledger_received((uint64_t)(uintptr_t)messages[index]);
    lbx_operation_fini(&both);
    lbx_operation_fini(&children[0]);
    lbx_operation_fini(&children[1]);
    // A message instead of the one that another thread may wait for.
    if (index == 0)
        send();
}

// Gives up at once; as a receive that is cancelled, it has taken nothing.
static void
select_and_cancel(void)
{
    struct wakeup wakeup = {0};
    lbx_waker waker = wakeup_waker(&wakeup);
    lbx_operation children[2];
    lbx_operation *list[2] = {&children[0], &children[1]};
    lbx_operation both;
    void *messages[2] = {NULL, NULL};
    size_t index = 9;
    lbx_status status;

    EXPECT_OK(lbx_consumer_receive_init(&children[0], box.out, &messages[0],
                                        LBX_FOREVER));
    EXPECT_OK(lbx_consumer_receive_init(&children[1], other.out, &messages[1],
                                        LBX_FOREVER));
    EXPECT_OK(lbx_select_init(&both, list, 2, 0, LBX_FOREVER, &index));
    status = lbx_operation_poll(&both, &waker);
    if (status == LBX_PENDING)
        EXPECT(lbx_operation_cancel(&both) == LBX_CANCELLED);
    wakeup_retire(&wakeup);
    for (size_t i = 0; i < 2; i++)
        EXPECT(lbx_operation_status(&children[i]) ==
               (i == index ? LBX_OK : LBX_CANCELLED));
    lbx_operation_fini(&both);
    lbx_operation_fini(&children[0]);
    lbx_operation_fini(&children[1]);
    if (status == LBX_PENDING)
        return;
    ledger_received((uint64_t)(uintptr_t)messages[index]);
    if (index == 0)
        send();
}

STEP(send_other, EXPECT_OK(box_try_send(&other)))

/* ---- Signals ---- */

STEP(notify, lbx_signal_notify(notice))
STEP(await_notice, EXPECT_OK(lbx_signal_wait_until(notice, LBX_FOREVER)))
STEP(await_and_notify, await_notice(), notify())

static void
await_and_cancel(void)
{
    lbx_operation operation;
    lbx_status status;

    EXPECT_OK(lbx_signal_wait_init(&operation, notice, LBX_FOREVER));
    status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING)
        status = lbx_operation_cancel(&operation);
    lbx_operation_fini(&operation);
    EXPECT(status == LBX_OK || status == LBX_CANCELLED);
    if (status == LBX_OK)
        notify();
}

static void
await_for_a_while(void)
{
    lbx_status status = lbx_signal_wait_until(notice, box_soon());

    EXPECT(status == LBX_OK || status == LBX_TIMEOUT);
    if (status == LBX_OK)
        notify();
}

/* ---- Flush ---- */

static void
send_and_flush(void)
{
    lbx_operation flush;

    send();
    EXPECT_OK(lbx_mailbox_flush_init(&flush, lbx_producer_mailbox(box.in),
                                     LBX_FOREVER));
    EXPECT_OK(lbx_operation_wait(&flush));
    EXPECT(lbx_mailbox_is_empty(lbx_producer_mailbox(box.in)));
    lbx_operation_fini(&flush);
}

/* ---- Ends ---- */

static void
finish_two(void)
{
    box_drain(&other);
    lbx_producer_unref(other.in);
    lbx_consumer_unref(other.out);
    box_drain(&box);
    ledger_check(true);
    lbx_producer_unref(box.in);
    lbx_consumer_unref(box.out);
}

STEP(finish_signal, lbx_signal_unref(notice))

const struct scenario waiting_scenarios[] = {
    SCENARIO("receive/cancelled", setup, finish,
             THREADS(receive_and_cancel, receive, send), BOUND(2, 3)),
    LOST_WAKE("receive/lost-wake", BOUND(2, 2)),
    SCENARIO("receive/timed-out", setup, finish,
             THREADS(receive_for_a_while, send), BOUND(3, 5)),
    SCENARIO("receive/timed-out-passes-on", setup, finish,
             THREADS(receive_for_a_while, receive, send), BOUND(2, 3)),
    SCENARIO("receive/by-waker", setup, finish, THREADS(receive_by_waker, send),
             BOUND(3, 5)),
    SCENARIO("receive/ended-in-its-waker", setup, finish,
             THREADS(end_in_waker, receive, send_2), BOUND(2, 3)),
    SCENARIO("send/hand-over", setup_full, finish,
             THREADS(send_waiting, receive_2)),
    LOST_WAKE("send/lost-wake"),
    LOSING("send/losing-a-sender's-changes", 1 + 0),
    SCENARIO("send/two-wait", setup_full, finish,
             THREADS(send_waiting, send_waiting, receive_3), BOUND(2, 3)),
    SCENARIO("send/one-waits-twice", setup_full, finish,
             THREADS(send_waiting_2, receive_3), BOUND(3, 4)),
    SCENARIO("send/does-not-overtake", setup_full, finish,
             THREADS(send_waiting, try_send, receive_2), BOUND(2, 3)),
    SCENARIO("send/cancelled", setup_full, finish,
             THREADS(send_and_cancel, send_waiting, receive_2), BOUND(2, 3)),
    SCENARIO("send/timed-out", setup_full, finish,
             THREADS(send_for_a_while, receive)),
    SCENARIO("send/timed-out-passes-on", setup_full, finish,
             THREADS(send_for_a_while, send_waiting, receive_2), BOUND(2, 3)),
    SCENARIO("select/two-mailboxes", setup_two, finish_two,
             THREADS(select_one, send, send_other), BOUND(2, 3)),
    SCENARIO("select/loser-passes-on", setup_two, finish_two,
             THREADS(select_one, receive, send, send_other), BOUND(1, 2)),
    SCENARIO("select/cancelled", setup_two, finish_two,
             THREADS(select_and_cancel, receive, send), BOUND(2, 3)),
    TWIN("select/cancelled-keeps-its-reservation",
         "cancel-keeps-its-reservation",
         "a cancelled receive keeps what it was promised", BOUND(2, 2)),
    SCENARIO("select/lost-wake", setup_two, finish_two,
             THREADS(select_one, send),
             PLANTED("lost-wake", "the system swallows a wake-up")),
    SCENARIO("signal/one-waits", setup_signal, finish_signal,
             THREADS(notify, await_notice)),
    LOST_WAKE("signal/lost-wake"),
    LOSING("signal/losing-a-waiter's-changes", 1 + 1),
    SCENARIO("signal/two-wait", setup_signal, finish_signal,
             THREADS(notify, await_and_notify, await_and_notify), BOUND(3, 5)),
    SCENARIO("signal/cancelled", setup_signal, finish_signal,
             THREADS(await_and_cancel, await_notice, notify)),
    TWIN(
        "signal/cancelled-keeps-the-notice", "cancelled-wait-keeps-the-notice",
        "a wait that was notified and is cancelled does not notify (SIGNAL-2)"),
    SCENARIO("signal/timed-out", setup_signal, finish_signal,
             THREADS(await_for_a_while, await_notice, notify), BOUND(3, 5)),
    SCENARIO("flush/waits-for-the-last", setup, finish,
             THREADS(send_and_flush, receive), BOUND(2, 3)),
    {0},
};
