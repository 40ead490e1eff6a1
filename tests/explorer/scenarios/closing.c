/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Close against send, receive, close and unref (CLOSE-1 to CLOSE-6): no
 * accepted message is lost without an event, no thread sleeps on, nothing
 * leaks.
 */
#include "explorer/scenarios/box_steps.h"
#include "explorer/scenarios/scenarios.h"

static struct box dead;

// Its capacity is counted apart from its lanes.
static void
setup_full_deque(void)
{
    BOX_CREATE(&box, LBX_KIND_BOUNDED_DEQUE, with.capacity_messages = 1);
    EXPECT_OK(box_try_send(&box));
}

static void
setup_two_lanes(void)
{
    BOX_CREATE(&box, LBX_KIND_UNBOUNDED_CONTROL_AWARE, with.envelopes = true);
}

static void
setup_one_consumer_2(void)
{
    setup_one_consumer();
    EXPECT_OK(box_try_send(&box));
    EXPECT_OK(box_try_send(&box));
}

// What is lost by a close goes to another mailbox.
static void
setup_dead_letters_empty(void)
{
    lbx_mailbox_options options = box_options();

    options.envelopes = true;
    box_create(&dead, LBX_KIND_UNBOUNDED, &options);
    options.envelopes = false;
    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.dead_letters = dead.in;
    box_create(&box, LBX_KIND_BOUNDED, &options);
}

static void
setup_dead_letters(void)
{
    setup_dead_letters_empty();
    EXPECT_OK(box_try_send(&box));
}

/* ---- Threads ---- */

static void
send_or_closed(void)
{
    lbx_status status = box_try_send(&box);

    EXPECT(status == LBX_OK || status == LBX_CLOSED);
}

STEP(send_or_closed_2, send_or_closed(), send_or_closed())

// CLOSE-1: a sender that was refused once is refused ever after.
static void
send_twice_to_full(void)
{
    if (box_try_send(&box) == LBX_CLOSED)
        EXPECT(box_try_send(&box) == LBX_CLOSED);
}

// CLOSE-1: in whichever lane.
static void
send_to_two_lanes(void)
{
    lbx_envelope control = lbx_envelope_of(NULL, 0);

    control.channel = LBX_CHANNEL_CONTROL;
    if (box_try_send_envelope(&box, control) == LBX_CLOSED)
        EXPECT(box_try_send(&box) == LBX_CLOSED);
}

static void
send_waiting(void)
{
    lbx_status status = box_send(&box, LBX_FOREVER);

    EXPECT(status == LBX_OK || status == LBX_CLOSED);
}

STEP(receive_all, box_receive_all(&box))

static void
close_draining(void)
{
    EXPECT_OK(lbx_mailbox_close(lbx_producer_mailbox(box.in), LBX_CLOSE_DRAIN));
    EXPECT(box_try_send(&box) == LBX_CLOSED); // CLOSE-1
}

static void
close_at_once(void)
{
    EXPECT_OK(
        lbx_mailbox_close(lbx_producer_mailbox(box.in), LBX_CLOSE_IMMEDIATE));
    EXPECT(box_try_send(&box) == LBX_CLOSED); // CLOSE-1
}

static void
close_to_dead_letters(void)
{
    EXPECT_OK(
        lbx_mailbox_close(lbx_producer_mailbox(box.in), LBX_CLOSE_DEAD_LETTER));
}

static void
take_rest(void *context, const lbx_envelope *envelope)
{
    (void)context;
    ledger_received((uint64_t)(uintptr_t)envelope->message);
}

static void
close_into_hand(void)
{
    EXPECT_OK(
        lbx_mailbox_close_into(lbx_producer_mailbox(box.in), take_rest, NULL));
    EXPECT(lbx_mailbox_is_empty(lbx_producer_mailbox(box.in)));
}

STEP(send_and_unref, send_or_closed(), lbx_producer_unref(box.in))
STEP(receive_and_unref, box_receive_all(&box), lbx_consumer_unref(box.out))
STEP(unref_consumer, lbx_consumer_unref(box.out))

/* ---- Ends ---- */

// MBOX-9: what was sent late is gone as well.
static void
finish_discarded(void)
{
    EXPECT(lbx_mailbox_is_empty(lbx_producer_mailbox(box.in)));
    box_finish(&box, true);
}

static void
finish_dead_letters(void)
{
    EXPECT(lbx_mailbox_is_empty(lbx_producer_mailbox(box.in)));
    lbx_producer_unref(box.in);
    lbx_consumer_unref(box.out);
    box_drain(&dead);
    ledger_check(false);
    lbx_producer_unref(dead.in);
    lbx_consumer_unref(dead.out);
}

STEP(finish_unreferenced, ledger_check(true))

const struct scenario closing_scenarios[] = {
    SCENARIO("close/send-and-receive", setup, finish,
             THREADS(send_or_closed, close_draining, receive_all), BOUND(2, 3)),
    SCENARIO("close/receiver-waits", setup, finish,
             THREADS(close_draining, receive_all)),
    LOST_WAKE("close/lost-wake"),
    LOSING("close/losing-a-closer's-changes", 1 + 0),
    SCENARIO("close/two-receivers-wait", setup, finish,
             THREADS(close_draining, receive_all, receive_all), BOUND(2, 3)),
    SCENARIO("close/one-consumer", setup_one_consumer, finish,
             THREADS(send_or_closed_2, close_draining, receive_all),
             BOUND(2, 3)),
    SCENARIO("close/at-once", setup, finish_discarded,
             THREADS(send_or_closed_2, close_at_once)),
    TWIN("close/latecomers-are-forgotten", "latecomers-are-forgotten",
         "a sender that fills its slot after the close is not told (MBOX-9)"),
    SCENARIO("close/at-once-one-consumer", setup_one_consumer_2,
             finish_discarded, THREADS(close_at_once, try_receive_2),
             BOUND(3, 4)),
    TWIN("close/one-consumer-is-not-expelled", "consumer-is-not-expelled",
         "the closer takes while the only consumer does (MBOX-6)", BOUND(3, 4)),
    SCENARIO("close/into-hand", setup_one_consumer_2, finish_discarded,
             THREADS(close_into_hand, try_receive_2, send_or_closed),
             BOUND(2, 3)),
    SCENARIO("close/at-once-while-receiving", setup, finish,
             THREADS(send_or_closed, close_at_once, receive_all), BOUND(2, 3)),
    SCENARIO("close/twice", setup, finish,
             THREADS(close_draining, close_at_once, send_or_closed),
             BOUND(2, 3)),
    SCENARIO("close/sender-waits", setup_full, finish,
             THREADS(send_waiting, close_draining)),
    TWIN("close/forgets-senders", "close-forgets-senders",
         "a close does not look at waiting sends"),
    SCENARIO("close/full-and-refused", setup_full_deque, finish,
             THREADS(send_twice_to_full, close_draining, try_receive),
             BOUND(2, 3)),
    TWIN("close/full-and-refused-too-soon", "refused-too-soon",
         "CLOSED is returned before every lane is closed (MBOX-7)", .bound = 2),
    SCENARIO("close/two-lanes-refused", setup_two_lanes, finish,
             THREADS(send_to_two_lanes, close_draining)),
    TWIN("close/two-lanes-refused-too-soon", "refused-too-soon",
         "CLOSED is returned before every lane is closed (MBOX-7)"),
    SCENARIO("close/to-dead-letters", setup_dead_letters, finish_dead_letters,
             THREADS(send_waiting, close_to_dead_letters, try_receive),
             BOUND(2, 3)),
    SCENARIO("close/to-dead-letters-sent-late", setup_dead_letters_empty,
             finish_dead_letters,
             THREADS(send_or_closed, close_to_dead_letters)),
    TWIN("close/to-dead-letters-latecomers-are-forgotten",
         "latecomers-are-forgotten",
         "a sender that fills its slot after the close is not told (MBOX-9)"),
    SCENARIO("close/sender-waits-receiver-takes", setup_full, finish,
             THREADS(send_waiting, close_draining, receive_all), BOUND(2, 3)),
    SCENARIO("close/stop", setup, finish,
             THREADS(stop, send_or_closed, receive_all), BOUND(2, 3)),
    SCENARIO("close/last-producer-goes", setup, finish_unreferenced,
             THREADS(send_and_unref, receive_and_unref), BOUND(2, 4)),
    SCENARIO("close/both-go", setup, finish_unreferenced,
             THREADS(send_and_unref, unref_consumer), BOUND(3, 5)),
    {0},
};
