/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Close against send, receive, close and letting go (CLOSE-1 to CLOSE-6): no accepted
 * message is lost but by an event, nobody sleeps on, nothing leaks.
 */
#include "explorer/scenarios/box.h"
#include "explorer/scenarios/scenarios.h"

static struct box box;
static struct box dead;

static void
setup(void)
{
    box_create(&box, LBX_KIND_UNBOUNDED, NULL);
}

static void
setup_one_consumer(void)
{
    box_create(&box, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, NULL);
}

static void
setup_full(void)
{
    lbx_mailbox_options options = box_options();

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    box_create(&box, LBX_KIND_BOUNDED, &options);
    EXPECT_OK(box_try_send(&box));
}

// Its room is counted apart from its lanes.
static void
setup_full_deque(void)
{
    lbx_mailbox_options options = box_options();

    options.capacity_messages = 1;
    box_create(&box, LBX_KIND_BOUNDED_DEQUE, &options);
    EXPECT_OK(box_try_send(&box));
}

static void
setup_two_lanes(void)
{
    lbx_mailbox_options options = box_options();

    options.envelopes = true;
    box_create(&box, LBX_KIND_UNBOUNDED_CONTROL_AWARE, &options);
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
send(void)
{
    lbx_status status = box_try_send(&box);

    EXPECT(status == LBX_OK || status == LBX_CLOSED);
}

static void
send_2(void)
{
    send();
    send();
}

// CLOSE-1: who was refused once is refused ever after.
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

static void
receive_all(void)
{
    box_receive_all(&box);
}

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
try_receive(void)
{
    (void)box_try_receive(&box);
}

static void
try_receive_2(void)
{
    try_receive();
    try_receive();
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

static void
stop(void)
{
    lbx_operation operation;

    EXPECT_OK(lbx_mailbox_stop_init(&operation, lbx_producer_mailbox(box.in),
                                    LBX_FOREVER));
    EXPECT_OK(lbx_operation_wait(&operation));
    EXPECT(lbx_mailbox_is_empty(lbx_producer_mailbox(box.in)));
    lbx_operation_fini(&operation);
}

static void
send_and_let_go(void)
{
    send();
    lbx_producer_unref(box.in);
}

static void
receive_and_let_go(void)
{
    box_receive_all(&box);
    lbx_consumer_unref(box.out);
}

static void
let_go_of_consumer(void)
{
    lbx_consumer_unref(box.out);
}

/* ---- Ends ---- */

static void
finish(void)
{
    box_finish(&box, true);
}

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

static void
finish_let_go(void)
{
    ledger_check(true);
}

const struct scenario closing_scenarios[] = {
    {
        .name = "close/send-and-receive",
        .setup = setup,
        .thread = {send, close_draining, receive_all},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/receiver-waits",
        .setup = setup,
        .thread = {close_draining, receive_all},
        .finish = finish,
    },
    {
        .name = "close/two-receivers-wait",
        .setup = setup,
        .thread = {close_draining, receive_all, receive_all},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/one-consumer",
        .setup = setup_one_consumer,
        .thread = {send_2, close_draining, receive_all},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/at-once",
        .setup = setup,
        .thread = {send_2, close_at_once},
        .finish = finish_discarded,
    },
    {
        .name = "close/latecomers-are-forgotten",
        .bug =
            "a sender that fills its slot after the close is not told (MBOX-9)",
        .mutant = "latecomers-are-forgotten",
        .setup = setup,
        .thread = {send_2, close_at_once},
        .finish = finish_discarded,
    },
    {
        .name = "close/at-once-one-consumer",
        .setup = setup_one_consumer_2,
        .thread = {close_at_once, try_receive_2},
        .finish = finish_discarded,
        .bound = 3,
        .full_bound = 4,
    },
    {
        .name = "close/one-consumer-is-not-expelled",
        .bug = "the closer takes while the only consumer does (MBOX-6)",
        .mutant = "consumer-is-not-expelled",
        .setup = setup_one_consumer_2,
        .thread = {close_at_once, try_receive_2},
        .finish = finish_discarded,
        .bound = 3,
        .full_bound = 4,
    },
    {
        .name = "close/into-hand",
        .setup = setup_one_consumer_2,
        .thread = {close_into_hand, try_receive_2, send},
        .finish = finish_discarded,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/at-once-while-receiving",
        .setup = setup,
        .thread = {send, close_at_once, receive_all},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/twice",
        .setup = setup,
        .thread = {close_draining, close_at_once, send},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/sender-waits",
        .setup = setup_full,
        .thread = {send_waiting, close_draining},
        .finish = finish,
    },
    {
        .name = "close/forgets-senders",
        .bug = "a close does not look at waiting sends",
        .mutant = "close-forgets-senders",
        .setup = setup_full,
        .thread = {send_waiting, close_draining},
        .finish = finish,
    },
    {
        .name = "close/full-and-refused",
        .setup = setup_full_deque,
        .thread = {send_twice_to_full, close_draining, try_receive},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/full-and-refused-too-soon",
        .bug = "CLOSED is answered before every lane is closed (MBOX-7)",
        .mutant = "refused-too-soon",
        .setup = setup_full_deque,
        .thread = {send_twice_to_full, close_draining, try_receive},
        .finish = finish,
        .bound = 2,
    },
    {
        .name = "close/two-lanes-refused",
        .setup = setup_two_lanes,
        .thread = {send_to_two_lanes, close_draining},
        .finish = finish,
    },
    {
        .name = "close/two-lanes-refused-too-soon",
        .bug = "CLOSED is answered before every lane is closed (MBOX-7)",
        .mutant = "refused-too-soon",
        .setup = setup_two_lanes,
        .thread = {send_to_two_lanes, close_draining},
        .finish = finish,
    },
    {
        .name = "close/to-dead-letters",
        .setup = setup_dead_letters,
        .thread = {send_waiting, close_to_dead_letters, try_receive},
        .finish = finish_dead_letters,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/to-dead-letters-sent-late",
        .setup = setup_dead_letters_empty,
        .thread = {send, close_to_dead_letters},
        .finish = finish_dead_letters,
    },
    {
        .name = "close/to-dead-letters-latecomers-are-forgotten",
        .bug =
            "a sender that fills its slot after the close is not told (MBOX-9)",
        .mutant = "latecomers-are-forgotten",
        .setup = setup_dead_letters_empty,
        .thread = {send, close_to_dead_letters},
        .finish = finish_dead_letters,
    },
    {
        .name = "close/sender-waits-receiver-takes",
        .setup = setup_full,
        .thread = {send_waiting, close_draining, receive_all},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/stop",
        .setup = setup,
        .thread = {stop, send, receive_all},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "close/last-producer-goes",
        .setup = setup,
        .thread = {send_and_let_go, receive_and_let_go},
        .finish = finish_let_go,
        .bound = 2,
        .full_bound = 4,
    },
    {
        .name = "close/both-go",
        .setup = setup,
        .thread = {send_and_let_go, let_go_of_consumer},
        .finish = finish_let_go,
        .bound = 3,
        .full_bound = 5,
    },
    {
        .name = "close/lost-wake",
        .bug = "the system swallows a wake-up",
        .mutant = "lost-wake",
        .setup = setup,
        .thread = {close_draining, receive_all},
        .finish = finish,
    },
    {
        .name = "close/losing-a-closer's-changes",
        .setup = setup,
        .thread = {close_draining, receive_all},
        .finish = finish,
        .lose = 1 + 0,
    },
    {0},
};
