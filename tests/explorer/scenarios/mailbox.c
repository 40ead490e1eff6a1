/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes that wait for messages: every kind, without a lost wake-up (MSG-9),
 * a lost message or one too many (MSG-1), or one out of order (MSG-3).
 */
#include "explorer/scenarios/box_steps.h"
#include "explorer/scenarios/scenarios.h"

#include "base/atomic.h"

/* ---- The kinds ---- */

static void
setup_bounded(void)
{
    BOX_CREATE(&box, LBX_KIND_BOUNDED, with.capacity_messages = 2);
}

static void
setup_priority(void)
{
    BOX_CREATE(&box, LBX_KIND_UNBOUNDED_PRIORITY, with.envelopes = true);
}

static void
setup_control(void)
{
    BOX_CREATE(&box, LBX_KIND_UNBOUNDED_CONTROL_AWARE, with.envelopes = true);
}

STEP(setup_deque, box_create(&box, LBX_KIND_UNBOUNDED_DEQUE, NULL))

static void
setup_drop_oldest(void)
{
    BOX_CREATE(&box, LBX_KIND_BOUNDED, with.capacity_messages = 1,
               with.overflow = LBX_OVERFLOW_DROP_OLDEST);
}

static void
setup_grow(void)
{
    BOX_CREATE(&box, LBX_KIND_BOUNDED, with.capacity_messages = 1,
               with.overflow = LBX_OVERFLOW_GROW);
}

static void
setup_system(void)
{
    BOX_CREATE(&box, LBX_KIND_UNBOUNDED, with.envelopes = true,
               with.system_reservation = 1);
}

/* ---- Threads ---- */

static void
send_maybe_2(void)
{
    for (int i = 0; i < 2; i++) {
        lbx_status status = box_try_send(&box);

        EXPECT(status == LBX_OK || status == LBX_FULL);
    }
}

static void
send_urgent(void)
{
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_of(NULL, 5)));
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_of(NULL, 1)));
}

static void
send_control(void)
{
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_of(NULL, 5)));
    EXPECT_OK(box_try_send_envelope(&box, lbx_envelope_control(NULL, 5)));
}

static void
send_system(void)
{
    lbx_system_message watch = lbx_system_message_of(LBX_SYSTEM_CODE_WATCH);

    EXPECT_OK(
        box_try_send_envelope(&box, lbx_envelope_from_system(watch, NULL)));
}

static void
send_front(void)
{
    uint64_t message = ledger_message();

    EXPECT_OK(lbx_producer_try_send_front(box.in, (void *)(uintptr_t)message));
    ledger_sent(message);
}

static void
send_batch(void)
{
    void *messages[2];
    size_t sent;
    lbx_status status;

    for (int i = 0; i < 2; i++)
        messages[i] = (void *)(uintptr_t)ledger_message();
    status = lbx_producer_try_send_batch(box.in, messages, 2, &sent);
    EXPECT((status == LBX_OK) == (sent == 2));
    for (size_t i = 0; i < sent; i++)
        ledger_sent((uint64_t)(uintptr_t)messages[i]);
}

static void
send_while_suspended(void)
{
    lbx_mailbox *mailbox = lbx_producer_mailbox(box.in);

    EXPECT(lbx_mailbox_suspend(mailbox));
    send();
    EXPECT(lbx_mailbox_resume(mailbox));
}

/* ---- Ends ---- */

STEP(finish_unordered, box_finish(&box, false))

const struct scenario mailbox_scenarios[] = {
    SCENARIO("mailbox/one-message", setup, finish, THREADS(send, receive)),
    LOST_WAKE("mailbox/lost-wake"),
    LOSING("mailbox/losing-a-sender's-changes", 1 + 0),
    LOSING("mailbox/losing-a-receiver's-changes", 1 + 1),
    SCENARIO("mailbox/one-consumer-one-message", setup_one_consumer, finish,
             THREADS(send, receive), BOUND(3, 5)),
    SCENARIO("mailbox/bounded-one-message", setup_bounded, finish,
             THREADS(send, receive)),
    SCENARIO("mailbox/unbounded", setup, finish, THREADS(send_2, receive_2),
             BOUND(3, 4)),
    SCENARIO("mailbox/two-receivers", setup, finish,
             THREADS(send_2, receive, receive), BOUND(2, 3)),
    SCENARIO("mailbox/two-senders", setup, finish,
             THREADS(send, send, receive_2), BOUND(2, 3)),
    SCENARIO("mailbox/one-is-in-a-hurry", setup, finish,
             THREADS(send_2, receive, try_receive), BOUND(2, 3)),
    SCENARIO("mailbox/one-consumer", setup_one_consumer, finish,
             THREADS(send_2, receive_2), BOUND(3, 4)),
    SCENARIO("mailbox/one-consumer-two-senders", setup_one_consumer, finish,
             THREADS(send, send, receive_2), BOUND(2, 3)),
    SCENARIO("mailbox/bounded", setup_bounded, finish,
             THREADS(send_2, receive_2), BOUND(3, 4)),
    SCENARIO("mailbox/bounded-refuses", setup_bounded, finish,
             THREADS(send_maybe_2, send_maybe_2, try_receive_2)),
    SCENARIO("mailbox/batch", setup_bounded, finish,
             THREADS(send_batch, send_batch, try_receive_2)),
    SCENARIO("mailbox/priority", setup_priority, finish_unordered,
             THREADS(send_urgent, receive_2), BOUND(2, 3)),
    SCENARIO("mailbox/control", setup_control, finish_unordered,
             THREADS(send_control, receive_2), BOUND(2, 3)),
    SCENARIO("mailbox/deque", setup_deque, finish,
             THREADS(send, send_front, receive_2), BOUND(2, 3)),
    SCENARIO("mailbox/system", setup_system, finish,
             THREADS(send_system, send, receive_2), BOUND(1, 2)),
    SCENARIO("mailbox/drop-oldest", setup_drop_oldest, finish,
             THREADS(send_2, try_receive_2)),
    SCENARIO("mailbox/drop-oldest-two-senders", setup_drop_oldest, finish,
             THREADS(send, send, try_receive_2)),
    SCENARIO("mailbox/grow", setup_grow, finish,
             THREADS(send_2, send, try_receive_2)),
    SCENARIO("mailbox/suspend", setup, finish,
             THREADS(send, suspend_and_resume, receive), BOUND(2, 3)),
    SCENARIO("mailbox/sent-while-suspended", setup, finish,
             THREADS(send_while_suspended, receive)),
    TWIN("mailbox/resume-wakes-no-waiter", "resume-wakes-no-waiter",
         "a resume does not look for waiters"),
    SCENARIO("mailbox/sender-stops", setup, finish,
             THREADS(send_2, send, try_receive_2), BOUND(1, 2),
             .freeze = 1 + 0),
    {0},
};
