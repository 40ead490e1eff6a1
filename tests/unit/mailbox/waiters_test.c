/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits and who is served: FIFO, direct hand-over, nothing overtaken and
 * nothing swallowed (R-34, R-35, MSG-9, MSG-10, WAIT-3, WAIT-4, WAIT-10).
 */
#include "mailbox/fixture.h"

// C-29, B-09: completion order is arrival order.
static void
serves_waiting_senders_in_order_of_arrival(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, limited_options(1, LBX_OVERFLOW_BLOCK));
    struct sender senders[4];

    box_send(&box, 1);
    for (int i = 0; i < 4; i++)
        sender_wait(&senders[i], &box, i + 2);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(i + 1, box_next(&box));
        CHECK_OK(sender_poll(&senders[i]));
        if (i < 3)
            CHECK_STATUS(LBX_PENDING, sender_poll(&senders[i + 1]));
        lbx_operation_fini(&senders[i].operation);
    }
    CHECK_RECEIVES(&box, 5);
}

LIMITED_KINDS(KIND_CITING, "B-15 WAIT-10",
              serves_waiting_senders_in_order_of_arrival)

static void
serves_waiting_receivers_in_order_of_arrival(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    struct receiver receivers[4];

    for (int i = 0; i < 4; i++)
        receiver_wait(&receivers[i], &box);
    box_send_numbers(&box, 1, 4);
    // Polled in the wrong order: each was promised one, whichever it is.
    for (int i = 3; i >= 0; i--) {
        CHECK_INT(1, receivers[i].bell.rings);
        CHECK_OK(receiver_poll(&receivers[i]));
        lbx_operation_fini(&receivers[i].operation);
    }
    CHECK_NOTHING(&box);
}

KIND_CITING(unbounded, LBX_KIND_UNBOUNDED, "WAIT-10 R-34",
            serves_waiting_receivers_in_order_of_arrival)
KIND_CITING(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY, "WAIT-10 R-34",
            serves_waiting_receivers_in_order_of_arrival)
LIMITED_KINDS(KIND_CITING, "WAIT-10 R-34",
              serves_waiting_receivers_in_order_of_arrival)

// one wake-up per item; the second receiver sleeps on.
BOX_TEST("R-35 WAIT-10", one_message_wakes_the_first_receiver_only,
         box_unbounded())
{
    struct receiver first;
    LOCAL_RECEIVER(second);

    receiver_wait(&first, box);
    receiver_wait(&second, box);
    box_send(box, 1);
    CHECK_INT(1, first.bell.rings);
    CHECK_INT(0, second.bell.rings);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&second));
    receiver_check(&first, 1);
}

// try may not overtake waiters.
TEST_CITING("R-34 WAIT-10", try_receive_does_not_take_what_was_promised)
{
    struct receiver receiver;
    LOCAL_BOX(box) = box_with_promise(&receiver);

    CHECK_NOTHING(&box);
    box_send(&box, 2); // one more than was promised
    CHECK_OK(box_look(&box));
    CHECK_NOTHING(&box);
    CHECK_OK(receiver_poll(&receiver));
    lbx_operation_fini(&receiver.operation);
}

// No barging: capacity that became free belongs to the first waiting sender.
BOX_TEST("R-34 WAIT-10", try_send_does_not_overtake_a_waiting_send,
         box_limited(2, LBX_OVERFLOW_BLOCK))
{
    LOCAL_SENDER(sender);

    box_send_numbers(box, 1, 2);
    sender_wait(&sender, box, 3);
    CHECK_INT(1, box_next(box));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box->in, letter(4)));
    CHECK_RECEIVES(box, 2, 3);
    CHECK_OK(sender_poll(&sender));
}

// A loser that re-registers must not lose its place.
TEST_CITING("WAIT-10", polling_again_keeps_ones_place_in_line)
{
    struct sender first;
    LOCAL_BOX(box) = box_with_sender(&first);
    LOCAL_SENDER(second);

    sender_wait(&second, &box, 3);
    for (int i = 0; i < 5; i++)
        CHECK_STATUS(LBX_PENDING, sender_poll(&first));
    CHECK_INT(1, box_next(&box));
    CHECK_OK(sender_poll(&first));
    CHECK_STATUS(LBX_PENDING, sender_poll(&second));
    lbx_operation_fini(&first.operation);
}

// a receive holds a reservation, not the message, until it is polled.
BOX_TEST("WAIT-3 R-34", promised_message_stays_in_its_place,
         box_limited(1, LBX_OVERFLOW_REJECT))
{
    struct receiver receiver;

    receiver_wait(&receiver, box);
    box_send(box, 1);
    CHECK_INT(1, lbx_mailbox_depth(box->mailbox));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box->in, letter(2)));
    receiver_check(&receiver, 1);
    CHECK_INT(0, lbx_mailbox_depth(box->mailbox));
}

// MSG-4: so that something more urgent may still come before it.
BOX_TEST("MSG-4 R-34", receiver_gets_the_most_urgent_when_it_polls,
         box_make(LBX_KIND_UNBOUNDED_PRIORITY, NULL))
{
    struct receiver receiver;

    receiver_wait(&receiver, box);
    box_send_envelope(box, lbx_envelope_of(letter(2), 5));
    box_send_envelope(box, lbx_envelope_of(letter(1), 1));
    receiver_check(&receiver, 1);
    CHECK_RECEIVES(box, 2);
}

// a send completed by hand-over is sent: cancelling it reports OK.
TEST_CITING("WAIT-4 R-34", cancel_of_a_send_that_was_handed_over_says_ok)
{
    struct sender sender;
    LOCAL_BOX(box) = box_with_sender(&sender);

    CHECK_INT(1, box_next(&box));
    CHECK_OK(lbx_operation_cancel(&sender.operation));
    CHECK_RECEIVES(&box, 2);
    lbx_operation_fini(&sender.operation);
}

// WAIT-4: or it is wholly out, and its message the caller's.
TEST_CITING("WAIT-4", cancel_of_a_waiting_send_leaves_nothing_inside)
{
    struct sender sender;
    LOCAL_BOX(box) = box_with_sender(&sender);

    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&sender.operation));
    CHECK_INT(0, box_stats(&box).waiting_senders);
    CHECK_RECEIVES(&box, 1);
    CHECK_INT(0, sender.bell.rings);
    CHECK_INT(1, box_stats(&box).accepted);
    lbx_operation_fini(&sender.operation);
}

// C-32: in the middle of the line, without disturbing the others.
BOX_TEST("C-32", cancelled_waiter_leaves_the_middle_of_the_line,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    struct sender senders[3];

    box_send(box, 1);
    for (int i = 0; i < 3; i++)
        sender_wait(&senders[i], box, i + 2);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&senders[1].operation));
    CHECK_INT(2, box_stats(box).waiting_senders);
    CHECK_RECEIVES(box, 1, 2, 4);
    for (int i = 0; i < 3; i++)
        lbx_operation_fini(&senders[i].operation);
}

// capacity growth is a broadcast... of room: each waiting send that
// fits goes in. Here: a large batch is taken at once.
BOX_TEST("MSG-9", all_room_that_appears_is_given_away,
         box_limited(3, LBX_OVERFLOW_BLOCK))
{
    struct sender senders[2];
    void *taken[3];
    size_t count;

    box_send_numbers(box, 1, 3);
    sender_wait(&senders[0], box, 4);
    sender_wait(&senders[1], box, 5);
    CHECK_OK(lbx_consumer_try_receive_batch(box->out, taken, 3, &count));
    CHECK_INT(3, count);
    CHECK_OK(sender_poll(&senders[0]));
    CHECK_OK(sender_poll(&senders[1]));
    box_send(box, 6); // and capacity without a waiter is free
    CHECK_RECEIVES(box, 4, 5, 6);
    lbx_operation_fini(&senders[0].operation);
    lbx_operation_fini(&senders[1].operation);
}

// Check-and-register is one step (otherwise a wake-up is lost): with
// one message in flight, a missed wake-up is a hang.
struct relay {
    struct box there;
    struct box back;
};

static void
run_relay(unsigned index, void *context)
{
    struct relay *relay = context;
    void *message = NULL;

    for (int round = 0; round < 2000; round++) {
        if (index == 0) {
            CHECK_OK(lbx_producer_send(relay->there.in, letter(round)));
            CHECK_OK(lbx_consumer_receive(relay->back.out, &message));
            CHECK_INT(round, number_of(message));
        } else {
            CHECK_OK(lbx_consumer_receive(relay->there.out, &message));
            CHECK_OK(lbx_producer_send(relay->back.in, message));
        }
    }
}

static void
relay_with_one_message_in_flight_never_hangs(const char *kind)
{
    struct relay relay = {box_make(kind, NULL), box_make(kind, NULL)};

    threads_run(2, run_relay, &relay);
    box_end(&relay.there);
    box_end(&relay.back);
}

EVERY_KIND(KIND_CITING, "MSG-9", relay_with_one_message_in_flight_never_hangs)

static void
push_and_pull(unsigned index, void *context)
{
    struct box *box = context;
    void *message = NULL;

    for (int round = 0; round < 1000; round++) {
        if (index % 2 == 0)
            CHECK_OK(lbx_producer_send(box->in, letter(round)));
        else
            CHECK_OK(lbx_consumer_receive(box->out, &message));
    }
}

// Everybody waits all the time: capacity 1, two on either side.
static void
of_one_message_passes_thousands(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, limited_options(1, LBX_OVERFLOW_BLOCK));

    threads_run(4, push_and_pull, &box);
    CHECK_INT(2000, box_stats(&box).accepted);
    CHECK_INT(2000, box_stats(&box).taken);
    CHECK_INT(0, box_stats(&box).waiting_senders);
    CHECK_INT(0, box_stats(&box).waiting_receivers);
}

LIMITED_KINDS(KIND_CITING, "MSG-9", of_one_message_passes_thousands)

// consumer.h: a second receive that would wait gets LBX_BUSY.
TEST_CITING("R-25", second_waiting_receive_of_a_single_consumer_is_busy)
{
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, NULL);
    LOCAL_RECEIVER(first);
    lbx_operation second;
    void *message = NULL;

    receiver_wait(&first, &box);
    CHECK_OK(
        lbx_consumer_receive_init(&second, box.out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_BUSY, lbx_operation_poll(&second, NULL));
    lbx_operation_fini(&second);
    CHECK_STATUS(LBX_BUSY, lbx_consumer_receive(box.out, &message));
    box_send(&box, 1);
    receiver_check(&first, 1);
    receiver_wait(&first, &box); // the place is free again
}

// A woken thread that finds nothing parks again (BoundedBlockingQueueSpec's
// "re-checks after wake").
BOX_TEST("MSG-9", parked_receiver_is_served_by_a_later_message, box_unbounded())
{
    struct parked first;
    struct parked second;

    parked_receive(&first, box, LBX_FOREVER);
    parked_receive(&second, box, LBX_FOREVER);
    box_send(box, 1);
    EVENTUALLY(first.is_done || second.is_done);
    box_send(box, 2);
    CHECK_OK(parked_end(&first));
    CHECK_OK(parked_end(&second));
    CHECK_INT(3, number_of(first.message) + number_of(second.message));
}

// Operations and threads wait in one line.
BOX_TEST("WAIT-10", threads_and_operations_wait_in_one_line, box_unbounded())
{
    struct receiver first;
    struct receiver third;
    struct parked second;

    receiver_wait(&first, box);
    parked_receive(&second, box, LBX_FOREVER);
    receiver_wait(&third, box);
    box_send(box, 1);
    CHECK_INT(1, first.bell.rings);
    receiver_check(&first, 1);
    box_send(box, 2);
    CHECK_OK(parked_end(&second));
    CHECK_INT(2, number_of(second.message));
    CHECK_INT(0, third.bell.rings);
    box_send(box, 3);
    receiver_check(&third, 3);
}
