/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CAF's default_mailbox in our reading, and EEP 76 for the
 * control lane.
 *
 * CAF's reader blocks its mailbox; ours has a receive that waits. CAF's push
 * tells whether the reader must be woken; ours rings the waker. CAF's urgent
 * messages are control messages here.
 */
#include "fixture.h"

static struct box
caf_box(void)
{
    lbx_mailbox_options options = envelope_options();

    return box_make(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, &options);
}

// "a default-constructed mailbox is empty": not closed, no waiter.
BOX_TEST("R-25", fresh_mailbox_is_empty_open_and_unblocked, caf_box())
{
    CHECK(lbx_mailbox_is_empty(box->mailbox));
    CHECK(!lbx_mailbox_is_closed(box->mailbox));
    CHECK_INT(0, box_stats(box).waiting_receivers);
    CHECK_INT(0, lbx_mailbox_depth(box->mailbox));
    CHECK_NOTHING(box);
}

// try_block() succeeds once: one reader can be asleep.
BOX_TEST("R-25", mailbox_can_be_blocked_once, caf_box())
{
    LOCAL_RECEIVER(reader);
    lbx_operation second;
    void *message;

    receiver_wait(&reader, box);
    CHECK_OK(
        lbx_consumer_receive_init(&second, box->out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_BUSY, lbx_operation_poll(&second, NULL));
    lbx_operation_fini(&second);
}

// try_block() fails when there is something to read.
BOX_TEST("MSG-9", mailbox_with_a_message_cannot_be_blocked, caf_box())
{
    lbx_operation reader;
    void *message = NULL;

    box_send(box, 1);
    CHECK_OK(
        lbx_consumer_receive_init(&reader, box->out, &message, LBX_FOREVER));
    CHECK_OK(lbx_operation_poll(&reader, NULL));
    CHECK_INT(1, number_of(message));
    lbx_operation_fini(&reader);
}

// "the first item unblocks the mailbox", the second is a plain success.
BOX_TEST("R-35", first_push_unblocks_the_reader_and_the_second_does_not,
         caf_box())
{
    struct receiver reader;

    receiver_wait(&reader, box);
    box_send(box, 1);
    CHECK_INT(1, reader.bell.rings);
    box_send(box, 2);
    CHECK_INT(1, reader.bell.rings);
    receiver_check(&reader, 1);
    CHECK_RECEIVES(box, 2);
}

// "a closed mailbox no longer accepts new messages", and what is left bounces.
BOX_TEST("R-15", closed_mailbox_no_longer_accepts_messages, caf_box())
{
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_STATUS(LBX_CLOSED, lbx_producer_try_send(box->in, letter(1)));
    CHECK_STATUS(LBX_CLOSED, box_try_send_system(box, 2));
    CHECK_ENDED(box);
}

struct bounced {
    int numbers[8];
    void *senders[8];
    int count;
};

static void
bounce(void *context, const lbx_envelope *envelope)
{
    struct bounced *bounced = context;

    CHECK(bounced->count < 8);
    bounced->numbers[bounced->count] = number_of(envelope->message);
    bounced->senders[bounced->count++] = envelope->sender;
}

// Close bounces outstanding requests: the closer learns from whom they are.
BOX_TEST("R-14", close_bounces_outstanding_requests_to_their_senders, caf_box())
{
    struct bounced bounced = {.count = 0};
    int requesters[2];

    for (int i = 0; i < 2; i++) {
        lbx_envelope request =
            lbx_envelope_with_default_priority(letter(i + 1));

        request.sender = &requesters[i];
        box_send_envelope(box, request);
    }
    CHECK_OK(lbx_mailbox_close_into(box->mailbox, bounce, &bounced));
    CHECK_INT(2, bounced.count);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(i + 1, bounced.numbers[i]);
        CHECK_PTR(&requesters[i], bounced.senders[i]);
    }
}

// "urgent messages are processed first".
BOX_TEST("R-07", urgent_messages_are_processed_first,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options()))
{
    box_send(box, 3);
    box_send_control(box, 1);
    box_send(box, 4);
    box_send_control(box, 2);
    CHECK_RECEIVES(box, 1, 2, 3, 4);
}

// CAF refills its caches only when both are empty, so that an urgent message
// can wait behind a cached batch (2.5). Ours has no such cache.
BOX_TEST("MSG-4", urgent_message_overtakes_a_batch_already_begun,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options()))
{
    box_send_numbers(box, 2, 50);
    CHECK_INT(2, box_next(box));
    box_send_control(box, 1);
    CHECK_INT(1, box_next(box));
    CHECK_INT(3, box_next(box));
}

// "calling push_front inserts messages at the beginning": 4, 3, 1, 2.
static void
push_front_inserts_at_the_beginning(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);

    box_send_numbers(&box, 1, 2);
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(3)));
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(4)));
    CHECK_RECEIVES(&box, 4, 3, 1, 2);
}

KIND_CITING(unbounded_deque, LBX_KIND_UNBOUNDED_DEQUE, "R-17",
            push_front_inserts_at_the_beginning)
KIND_CITING(bounded_deque, LBX_KIND_BOUNDED_DEQUE, "R-17",
            push_front_inserts_at_the_beginning)

BOX_TEST("MSG-9", push_front_unblocks_the_reader,
         box_make(LBX_KIND_UNBOUNDED_DEQUE, NULL))
{
    struct receiver reader;

    receiver_wait(&reader, box);
    CHECK_OK(lbx_producer_try_send_front(box->in, letter(1)));
    CHECK_INT(1, reader.bell.rings);
    receiver_check(&reader, 1);
}

// A front is a front of its lane: system messages still come first.
BOX_TEST("R-07", push_front_does_not_overtake_system_messages,
         box_make(LBX_KIND_UNBOUNDED_DEQUE, NULL))
{
    box_send(box, 3);
    box_send_system(box, 1);
    CHECK_OK(lbx_producer_try_send_front(box->in, letter(2)));
    CHECK_RECEIVES(box, 1, 2, 3);
}

// CAF's size and waiting-time metrics.
TEST_CITING("R-41", size_and_waiting_time_are_known)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, plain_options(),
                         with.clock = &clock, with.timestamps = true);

    box_send_numbers(&box, 1, 3);
    CHECK_INT(3, lbx_mailbox_depth(box.mailbox));
    test_clock_advance(&time, 4 * LBX_MS);
    CHECK_RECEIVES(&box, 1, 2, 3);
    CHECK_INT(3, box_stats(&box).timed_messages);
    CHECK_INT(12 * LBX_MS, box_stats(&box).waited_total_ns);
}

// ---- EEP 76 ----

// Control messages overtake ordinary ones and stay FIFO among themselves.
BOX_TEST("R-07", eep76_control_messages_overtake_and_stay_in_order,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options()))
{
    int ordinary = 1000;
    int control = 0;

    for (int i = 0; i < 300; i++) {
        if (i % 3 == 0)
            box_send_control(box, control++);
        else
            box_send(box, ordinary++);
    }
    for (int number = 0; number < control; number++)
        CHECK_INT(number, box_next(box));
    for (int number = 1000; number < ordinary; number++)
        CHECK_INT(number, box_next(box));
    CHECK_NOTHING(box);
}

// Priorities inside the envelope do not reorder the control lane.
BOX_TEST("R-07", eep76_control_lane_is_fifo_whatever_the_priority,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options()))
{
    box_send_envelope(box, lbx_envelope_control(letter(1), 9));
    box_send_envelope(box, lbx_envelope_control(letter(2), 0));
    CHECK_RECEIVES(box, 1, 2);
}

// The receiver decides: who does not offer the lane, is not overtaken.
BOX_TEST("R-07", eep76_receiver_decides_whether_there_is_a_control_lane,
         caf_box())
{
    box_send(box, 1);
    box_send_control(box, 2);
    box_send(box, 3);
    CHECK_RECEIVES(box, 1, 2, 3);
}

// And how much of it: a limited control lane refuses, ordinary mail goes on.
BOX_TEST("R-07", eep76_receiver_may_limit_its_control_lane,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options(),
             with.control_capacity = 2))
{
    lbx_envelope urgent = lbx_envelope_control(letter(3), 0);

    box_send_control(box, 1);
    box_send_control(box, 2);
    CHECK_STATUS(LBX_FULL,
                 lbx_producer_try_send_envelope(box->in, &urgent, NULL));
    box_send(box, 4);
    CHECK_RECEIVES(box, 1, 2, 4);
}

// A waiting receive that was promised an ordinary message gets the control
// message that came meanwhile.
BOX_TEST("MSG-4", eep76_control_message_overtakes_a_promise,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options()))
{
    struct receiver reader;

    receiver_wait(&reader, box);
    box_send(box, 2);
    box_send_control(box, 1);
    receiver_check(&reader, 1);
    CHECK_RECEIVES(box, 2);
}
