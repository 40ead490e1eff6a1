/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: system before control before user, each with a limit of its own
 * and suspension, which holds back all but system.
 */
#include "mailbox/fixture.h"

// drained in this order whatever the order of arrival.
static void
drains_system_then_control_then_user(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 10));

    box_send(&box, 5);
    box_send_control(&box, 3);
    box_send_system(&box, 1);
    box_send(&box, 6);
    box_send_control(&box, 4);
    box_send_system(&box, 2);
    CHECK_INT(6, box_stats(&box).depth);
    CHECK_INT(2, box_stats(&box).system_depth);
    CHECK_INT(2, box_stats(&box).control_depth);
    CHECK_RECEIVES(&box, 1, 2, 3, 4, 5, 6);
}

KIND_CITING(unbounded_control_aware, LBX_KIND_UNBOUNDED_CONTROL_AWARE, "R-07",
            drains_system_then_control_then_user)
KIND_CITING(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE, "R-07",
            drains_system_then_control_then_user)

// messages.h: a mailbox that is not control-aware has no control lane.
static void
without_a_control_lane_keeps_control_messages_in_turn(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 10));
    lbx_envelope envelope;

    box_send(&box, 2);
    box_send_control(&box, 3);
    box_send(&box, 4);
    box_send_system(&box, 1);
    CHECK_INT(0, box_stats(&box).control_depth);
    CHECK_INT(1, box_next(&box));
    CHECK_INT(2, box_next(&box));
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_INT(3, number_of(envelope.message));
    CHECK_INT(LBX_CHANNEL_CONTROL, envelope.channel);
    CHECK_RECEIVES(&box, 4);
}

KIND_CITING(unbounded, LBX_KIND_UNBOUNDED, "R-07",
            without_a_control_lane_keeps_control_messages_in_turn)
KIND_CITING(single_consumer, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, "R-07",
            without_a_control_lane_keeps_control_messages_in_turn)
KIND_CITING(bounded, LBX_KIND_BOUNDED, "R-07",
            without_a_control_lane_keeps_control_messages_in_turn)
KIND_CITING(bounded_deque, LBX_KIND_BOUNDED_DEQUE, "R-07",
            without_a_control_lane_keeps_control_messages_in_turn)

// What a system message says arrives with it.
BOX_TEST("R-39", system_message_travels_with_code_and_priority,
         BOX(LBX_KIND_UNBOUNDED, envelope_options()))
{
    lbx_system_message stop = lbx_system_message_of(LBX_SYSTEM_CODE_STOP);
    lbx_envelope envelope = lbx_envelope_from_system(stop, letter(1));

    box_send_envelope(box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK(lbx_envelope_is_system(&envelope));
    CHECK_INT(LBX_SYSTEM_CODE_STOP, envelope.system.code);
    CHECK_INT(LBX_SYSTEM_PRIORITY_DEFAULT + 10, envelope.system.priority);
    CHECK_INT(1, number_of(envelope.message));
}

// A plain mailbox keeps one word per message, and has its reserve all the
// same (R-08: limited(4) for plain mailboxes).
BOX_TEST("R-08", plain_mailbox_has_a_system_lane_of_four, box_unbounded())
{
    box_send(box, 9);
    for (int number = 1; number <= 4; number++)
        box_send_system(box, number);
    CHECK_STATUS(LBX_FULL, box_try_send_system(box, 5));
    CHECK_RECEIVES(box, 1, 2, 3, 4, 9);
}

// disabled, limited and unlimited are three different things (cellex
// took "limitless" for "absent").
BOX_TEST("R-08", disabled_system_lane_is_unsupported,
         BOX(LBX_KIND_UNBOUNDED, envelope_options(),
             with.system_reservation = LBX_LIMIT_DISABLED))
{
    CHECK_STATUS(LBX_UNSUPPORTED, box_try_send_system(box, 1));
    CHECK_INT(0, lbx_mailbox_depth(box->mailbox));
    CHECK(!lbx_mailbox_is_closed(box->mailbox));
}

BOX_TEST("R-08", limited_system_lane_is_full_at_its_limit,
         BOX(LBX_KIND_UNBOUNDED, envelope_options(),
             with.system_reservation = 2))
{
    box_send_system(box, 1);
    box_send_system(box, 2);
    CHECK_STATUS(LBX_FULL, box_try_send_system(box, 3));
    CHECK_INT(1, box_next(box));
    box_send_system(box, 4); // the slot came back
    CHECK_RECEIVES(box, 2, 4);
}

BOX_TEST("R-08", unlimited_system_lane_takes_them_all,
         BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_REJECT),
             with.envelopes = true, with.system_reservation = LBX_UNLIMITED))
{
    box_send(box, 5001);
    for (int number = 1; number <= 5000; number++)
        box_send_system(box, number);
    CHECK_INT(5000, box_stats(box).system_depth);
    for (int number = 1; number <= 5001; number++)
        CHECK_INT(number, box_next(box));
}

// System messages are accepted when the user lane is full.
static void
when_full_still_takes_system_messages(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 2));

    box_send_numbers(&box, 5, 6);
    CHECK(lbx_mailbox_is_full(box.mailbox));
    for (int number = 1; number <= 4; number++)
        box_send_system(&box, number);
    CHECK_STATUS(LBX_FULL, box_try_send_system(&box, 7));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(8)));
    CHECK_RECEIVES(&box, 1, 2, 3, 4, 5, 6);
}

LIMITED_KINDS(KIND_CITING, "R-08", when_full_still_takes_system_messages)

// C-37: lane full is an error, no fall-through to the user lane; and it does
// not matter how much room users have.
TEST_CITING("C-37", full_system_lane_does_not_spill_into_the_user_lane)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, limited_options(100, LBX_OVERFLOW_DROP_OLDEST),
            with.envelopes = true, with.system_reservation = 1,
            with.loss_sink = losses_sink(&losses));

    box_send_system(&box, 1);
    CHECK_STATUS(LBX_FULL, box_try_send_system(&box, 2));
    CHECK_INT(1, lbx_mailbox_depth(box.mailbox));
    CHECK_INT(0, losses.count);
}

// Taking a system message makes no room for a waiting user message.
BOX_TEST("R-07", system_messages_do_not_use_user_room,
         BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
             with.envelopes = true))
{
    LOCAL_SENDER(sender);

    box_send(box, 2);
    box_send_system(box, 1);
    sender_wait(&sender, box, 3);
    CHECK_INT(1, box_next(box));
    CHECK_INT(0, sender.bell.rings);
    CHECK_STATUS(LBX_PENDING, sender_poll(&sender));
    CHECK_INT(2, box_next(box));
    CHECK_INT(1, sender.bell.rings);
    CHECK_OK(sender_poll(&sender));
}

// C-40: cellex sorts control messages, and never the regular ones.
static void
control_by_priority_sorts_the_control_lane_alone(const char *kind)
{
    LOCAL_BOX(box) =
        BOX(kind, options_for(kind, 10), with.control_by_priority = true,
            with.higher_first = true);

    box_send_envelope(&box, lbx_envelope_of(letter(5), 1));
    box_send_envelope(&box, lbx_envelope_control(letter(4), 1));
    box_send_envelope(&box, lbx_envelope_of(letter(6), 7));
    box_send_envelope(&box, lbx_envelope_control(letter(1), 7));
    box_send_envelope(&box, lbx_envelope_control(letter(2), 5));
    box_send_envelope(&box, lbx_envelope_control(letter(3), 5));
    CHECK_RECEIVES(&box, 1, 2, 3, 4, 5, 6);
}

KIND_CITING(unbounded_control_aware, LBX_KIND_UNBOUNDED_CONTROL_AWARE, "C-40",
            control_by_priority_sorts_the_control_lane_alone)
KIND_CITING(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE, "C-40",
            control_by_priority_sorts_the_control_lane_alone)

// C-38: exceeding the reservation is full, also under BLOCK: what asks a
// mailbox to stop must not itself wait in line.
BOX_TEST("C-38", system_send_never_waits,
         BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
             with.envelopes = true, with.system_reservation = 1))
{
    lbx_envelope stop = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_STOP), NULL);

    box_send_system(box, 1);
    CHECK_STATUS(LBX_FULL, lbx_producer_send_envelope_until(box->in, &stop,
                                                            LBX_FOREVER, NULL));
    CHECK_INT(0, box_stats(box).waiting_senders);
}

// Akka: one capacity for both classes.
BOX_TEST("R-07", shared_control_capacity_counts_against_the_whole,
         BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
             limited_options(3, LBX_OVERFLOW_REJECT), with.envelopes = true))
{
    lbx_envelope control = lbx_envelope_control(letter(9), 0);

    box_send(box, 2);
    box_send_control(box, 1);
    box_send(box, 3);
    CHECK_STATUS(LBX_FULL,
                 lbx_producer_try_send_envelope(box->in, &control, NULL));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box->in, letter(4)));
    CHECK_RECEIVES(box, 1, 2, 3);
}

// cellex: control has room of its own.
BOX_TEST("R-07", control_capacity_of_its_own_is_apart_from_the_users,
         BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
             limited_options(1, LBX_OVERFLOW_REJECT), with.envelopes = true,
             with.control_capacity = 2))
{
    lbx_envelope control = lbx_envelope_control(letter(9), 0);

    box_send(box, 3);
    box_send_control(box, 1);
    box_send_control(box, 2);
    CHECK_STATUS(LBX_FULL,
                 lbx_producer_try_send_envelope(box->in, &control, NULL));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box->in, letter(4)));
    CHECK_INT(1, box_next(box));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box->in, letter(4)));
    box_send_control(box, 5);
    CHECK_RECEIVES(box, 2, 5, 3);
}

BOX_TEST("R-07", unlimited_control_capacity_takes_them_all,
         BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
             limited_options(1, LBX_OVERFLOW_REJECT), with.envelopes = true,
             with.control_capacity = LBX_UNLIMITED))
{
    box_send(box, 3001);
    for (int number = 1; number <= 3000; number++)
        box_send_control(box, number);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box->in, letter(4)));
    for (int number = 1; number <= 3001; number++)
        CHECK_INT(number, box_next(box));
}

// by the full value, no clamping to eight levels.
BOX_TEST("R-39", system_priorities_are_kept_beyond_eight_levels,
         BOX(LBX_KIND_UNBOUNDED, envelope_options()))
{
    lbx_system_message urgent = {LBX_SYSTEM_CODE_USER + 1, 42};
    lbx_envelope envelope = lbx_envelope_from_system(urgent, NULL);

    box_send_envelope(box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK_INT(42, envelope.priority);
    CHECK_INT(42, envelope.system.priority);
    CHECK_INT(LBX_CHANNEL_CONTROL, envelope.channel);
}

// What a plain mailbox cannot keep it refuses, rather than losing half.
static void
without_envelopes_refuses_those_that_say_more(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    lbx_envelope plain = lbx_envelope_with_default_priority(letter(1));
    lbx_envelope with_sender = plain;
    lbx_envelope with_deadline = plain;

    with_sender.sender = &box;
    with_deadline.deadline_ns = 5;
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_producer_try_send_envelope(box.in, &with_sender, NULL));
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_producer_try_send_envelope(box.in, &with_deadline, NULL));
    CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
    box_send_envelope(&box, plain);
    CHECK_RECEIVES(&box, 1);
}

KIND_TEST(unbounded, LBX_KIND_UNBOUNDED,
          without_envelopes_refuses_those_that_say_more)
KIND_TEST(bounded, LBX_KIND_BOUNDED,
          without_envelopes_refuses_those_that_say_more)
KIND_TEST(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY,
          without_envelopes_refuses_those_that_say_more)
KIND_TEST(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE,
          without_envelopes_refuses_those_that_say_more)

// options.h: deques always keep whole envelopes.
BOX_TEST("", deques_keep_envelopes_without_being_asked,
         box_make(LBX_KIND_BOUNDED_DEQUE, NULL))
{
    lbx_envelope envelope = lbx_envelope_of(letter(1), 3);

    envelope.sender = box;
    box_send_envelope(box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
    CHECK_PTR(box, envelope.sender);
    CHECK_INT(3, envelope.priority);
}

// consumer.h: a mailbox that keeps plain messages fills in defaults.
TEST(plain_mailbox_gives_envelopes_with_defaults)
{
    lbx_mailbox_options options = plain_options();
    lbx_envelope envelope;
    LOCAL_BOX(box);

    options.owner = &options;
    box = box_make(LBX_KIND_UNBOUNDED, &options);
    box_send_envelope(&box, lbx_envelope_with_default_priority(letter(1)));
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_INT(1, number_of(envelope.message));
    CHECK_INT(LBX_PRIORITY_DEFAULT, envelope.priority);
    CHECK_INT(LBX_CHANNEL_REGULAR, envelope.channel);
    CHECK_INT(LBX_FOREVER, envelope.deadline_ns);
    CHECK_INT(0, envelope.enqueued_ns);
    CHECK_INT(LBX_SYSTEM_CODE_NONE, envelope.system.code);
    CHECK_PTR(NULL, envelope.sender);
    CHECK_PTR(&options, envelope.recipient);
}

// ---- Suspension ----

// sends are accepted, users wait, system flows.
static void
suspended_holds_users_back_and_lets_system_flow(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 10));

    box_send(&box, 1);
    CHECK(lbx_mailbox_suspend(box.mailbox));
    CHECK_NOTHING(&box);
    box_send(&box, 2);
    box_send_system(&box, 7);
    CHECK_INT(7, box_next(&box));
    CHECK_NOTHING(&box);
    CHECK_INT(2, lbx_mailbox_depth(box.mailbox));
    CHECK(lbx_mailbox_resume(box.mailbox));
    CHECK_RECEIVES(&box, 1, 2);
}

EVERY_KIND(KIND_CITING, "R-16", suspended_holds_users_back_and_lets_system_flow)

// the counter nests; each call tells whether it changed anything.
BOX_TEST("A-20 R-16", suspensions_nest, box_unbounded())
{
    box_send(box, 1);
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK(!lbx_mailbox_suspend(box->mailbox));
    CHECK(!lbx_mailbox_suspend(box->mailbox));
    CHECK_INT(3, box_stats(box).suspensions);
    CHECK(!lbx_mailbox_resume(box->mailbox));
    CHECK(!lbx_mailbox_resume(box->mailbox));
    CHECK_NOTHING(box);
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_RECEIVES(box, 1);
}

BOX_TEST("R-16", resume_without_suspension_is_harmless, box_unbounded())
{
    CHECK(!lbx_mailbox_resume(box->mailbox));
    CHECK(lbx_mailbox_suspend(box->mailbox)); // not cancelled out beforehand
    CHECK_INT(1, box_stats(box).suspensions);
    CHECK(lbx_mailbox_resume(box->mailbox));
}

// R-16 names control-user messages as well.
BOX_TEST("R-16", suspension_holds_control_messages_back_too,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options()))
{
    CHECK(lbx_mailbox_suspend(box->mailbox));
    box_send_control(box, 1);
    CHECK_NOTHING(box);
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_RECEIVES(box, 1);
}

// A send while suspended wakes no waiter; the last resume wakes as many as
// there are messages.
BOX_TEST("R-16 R-35", resume_wakes_waiting_receivers, box_unbounded())
{
    struct receiver first;
    struct receiver second;

    receiver_wait(&first, box);
    receiver_wait(&second, box);
    CHECK(lbx_mailbox_suspend(box->mailbox));
    box_send_numbers(box, 1, 2);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&first));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&second));
    CHECK(lbx_mailbox_resume(box->mailbox));
    receiver_check(&first, 1);
    receiver_check(&second, 2);
    CHECK(first.bell.rings >= 1 && second.bell.rings >= 1);
}

// The reservation was for a user message; suspension takes it back.
TEST_CITING("R-16", suspension_comes_before_a_promise_not_yet_kept)
{
    struct receiver receiver;
    LOCAL_BOX(box) = box_with_promise(&receiver);

    CHECK(lbx_mailbox_suspend(box.mailbox));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    CHECK_INT(1, lbx_mailbox_depth(box.mailbox));
    CHECK(lbx_mailbox_resume(box.mailbox));
    receiver_check(&receiver, 1);
}

// A system message reaches a receiver that waits in a suspended mailbox.
BOX_TEST("R-16 MSG-9", system_message_wakes_a_receiver_while_suspended,
         BOX(LBX_KIND_UNBOUNDED, envelope_options()))
{
    struct receiver receiver;

    CHECK(lbx_mailbox_suspend(box->mailbox));
    box_send(box, 1);
    receiver_wait(&receiver, box);
    box_send_system(box, 2);
    CHECK_INT(1, receiver.bell.rings);
    receiver_check(&receiver, 2);
}

// Full stays full: suspension stops receivers, not the count.
BOX_TEST("R-16 MSG-5", suspended_mailbox_is_full_at_its_capacity,
         box_limited(2, LBX_OVERFLOW_REJECT))
{
    CHECK(lbx_mailbox_suspend(box->mailbox));
    box_send_numbers(box, 1, 2);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box->in, letter(3)));
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_RECEIVES(box, 1, 2);
}

// Close ends suspension, and none can begin after it.
BOX_TEST("A-20", close_ends_suspension, box_unbounded())
{
    box_send(box, 1);
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK(!lbx_mailbox_suspend(box->mailbox));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK(!lbx_mailbox_suspend(box->mailbox));
    CHECK_RECEIVES(box, 1);
    CHECK_ENDED(box);
}
