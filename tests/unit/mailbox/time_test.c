/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: deadlines of messages (akka-core#32721), time in mailbox, and WAIT-9
 * for the waits themselves. The clock is the test's.
 */
#include "mailbox/fixture.h"

struct timed {
    struct test_clock time;
    lbx_clock clock;
    struct losses losses;
    struct box box;
};

static void
timed_begin(struct timed *timed, const char *kind, bool timestamps)
{
    lbx_mailbox_options options = options_for(kind, 10);

    *timed = (struct timed){.time = TEST_CLOCK_INIT};
    timed->clock = test_clock_interface(&timed->time);
    options.clock = &timed->clock;
    options.timestamps = timestamps;
    options.loss_sink = losses_sink(&timed->losses);
    timed->box = box_make(kind, &options);
}

static void
send_for(struct timed *timed, int number, int64_t life_ns)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(number));

    envelope.deadline_ns = test_clock_now(&timed->time) + life_ns;
    box_send_envelope(&timed->box, envelope);
}

// Too late is checked when a message is taken; the next one is delivered.
static void
expired_messages_become_losses(const char *kind)
{
    struct timed timed;

    timed_begin(&timed, kind, false);
    send_for(&timed, 1, 1 * LBX_MS);
    send_for(&timed, 2, 9 * LBX_MS);
    send_for(&timed, 3, 1 * LBX_MS);
    box_send(&timed.box, 4);
    test_clock_advance(&timed.time, 5 * LBX_MS);
    CHECK_INT(4, lbx_mailbox_depth(timed.box.mailbox));
    CHECK_RECEIVES(&timed.box, 2, 4);
    CHECK_INT(2, timed.losses.count);
    losses_check(&timed.losses, 0, 1, LBX_LOSS_EXPIRED);
    losses_check(&timed.losses, 1, 3, LBX_LOSS_EXPIRED);
    CHECK_INT(2, box_stats(&timed.box).expired);
    CHECK_INT(0, lbx_mailbox_depth(timed.box.mailbox));
    box_end(&timed.box);
    CHECK_INT(2, timed.losses.count);
}

EVERY_KIND(KIND_TEST, expired_messages_become_losses)

// A mailbox full of the dead looks empty, not stuck.
TEST(mailbox_with_only_expired_messages_is_empty)
{
    struct timed timed;

    timed_begin(&timed, LBX_KIND_BOUNDED, false);
    for (int number = 1; number <= 10; number++)
        send_for(&timed, number, LBX_MS);
    test_clock_advance(&timed.time, LBX_SECOND);
    CHECK_NOTHING(&timed.box);
    CHECK_INT(10, timed.losses.count);
    CHECK(!lbx_mailbox_is_full(timed.box.mailbox));
    box_end(&timed.box);
}

// One that is already late when sent is accepted, and lost when taken.
TEST(message_sent_after_its_deadline_is_never_delivered)
{
    struct timed timed;

    timed_begin(&timed, LBX_KIND_UNBOUNDED, false);
    send_for(&timed, 1, -1);
    box_send(&timed.box, 2);
    CHECK_RECEIVES(&timed.box, 2);
    CHECK_INT(1, timed.losses.count);
    losses_check(&timed.losses, 0, 1, LBX_LOSS_EXPIRED);
    box_end(&timed.box);
}

TEST(receive_batch_skips_expired_messages)
{
    struct timed timed;
    void *received[4];
    size_t count = 0;

    timed_begin(&timed, LBX_KIND_UNBOUNDED, false);
    send_for(&timed, 1, LBX_MS);
    box_send(&timed.box, 2);
    send_for(&timed, 3, LBX_MS);
    box_send(&timed.box, 4);
    test_clock_advance(&timed.time, LBX_SECOND);
    CHECK_OK(
        lbx_consumer_try_receive_batch(timed.box.out, received, 4, &count));
    CHECK_INT(2, count);
    CHECK_INT(2, number_of(received[0]));
    CHECK_INT(4, number_of(received[1]));
    CHECK_INT(2, timed.losses.count);
    box_end(&timed.box);
}

// The receiver was promised a message that is dead when it looks: it goes on
// waiting, and the next message wakes it again (MSG-9).
TEST_CITING("MSG-9", receiver_of_an_expired_message_goes_on_waiting)
{
    struct receiver receiver;
    struct timed timed;

    timed_begin(&timed, LBX_KIND_UNBOUNDED, false);
    receiver_wait(&receiver, &timed.box);
    send_for(&timed, 1, LBX_MS);
    CHECK_INT(1, receiver.bell.rings);
    test_clock_advance(&timed.time, LBX_SECOND);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    CHECK_INT(1, timed.losses.count);
    box_send(&timed.box, 2);
    CHECK_INT(2, receiver.bell.rings);
    receiver_check(&receiver, 2);
    box_end(&timed.box);
}

// An expired message makes room like any other that is taken.
TEST_CITING("MSG-9", expired_messages_let_waiting_senders_in)
{
    TEST_CLOCK(time, clock);
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(1));
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
            with.envelopes = true, with.clock = &clock);
    LOCAL_SENDER(sender);

    envelope.deadline_ns = test_clock_now(&time) + LBX_MS;
    box_send_envelope(&box, envelope);
    sender_wait(&sender, &box, 2);
    test_clock_advance(&time, LBX_SECOND);
    CHECK_INT(2, box_next(&box));
    CHECK_INT(1, sender.bell.rings);
    CHECK_OK(sender_poll(&sender));
}

// A message may expire while its send still waits for room.
TEST(message_may_expire_while_its_send_waits)
{
    TEST_CLOCK(time, clock);
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(2));
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
            with.envelopes = true, with.clock = &clock,
            with.loss_sink = losses_sink(&losses));
    LOCAL_OPERATION(send);

    box_send(&box, 1);
    envelope.deadline_ns = test_clock_now(&time) + LBX_MS;
    CHECK_OK(lbx_producer_send_envelope_init(&send, box.in, &envelope,
                                             LBX_FOREVER, NULL));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
    test_clock_advance(&time, LBX_SECOND);
    CHECK_RECEIVES(&box, 1);
    CHECK_OK(lbx_operation_poll(&send, NULL)); // it was sent,
    CHECK_INT(1, losses.count);                // and lost when taken
    losses_check(&losses, 0, 2, LBX_LOSS_EXPIRED);
}

// ---- Time in mailbox ----

static void
timestamps_tell_when_and_how_long(const char *kind)
{
    struct timed timed;
    lbx_envelope envelope;
    int64_t sent_ns;

    timed_begin(&timed, kind, true);
    sent_ns = test_clock_now(&timed.time);
    box_send(&timed.box, 1);
    test_clock_advance(&timed.time, 2 * LBX_MS);
    box_send(&timed.box, 2);
    test_clock_advance(&timed.time, 3 * LBX_MS);
    CHECK_OK(lbx_consumer_try_receive_envelope(timed.box.out, &envelope));
    CHECK_INT(sent_ns, envelope.enqueued_ns);
    CHECK_INT(2, box_next(&timed.box));
    CHECK_INT(2, box_stats(&timed.box).timed_messages);
    CHECK_INT(8 * LBX_MS, box_stats(&timed.box).waited_total_ns);
    CHECK_INT(5 * LBX_MS, box_stats(&timed.box).max_waited_ns);
    box_end(&timed.box);
}

EVERY_KIND(KIND_TEST, timestamps_tell_when_and_how_long)

// Time in mailbox begins when a message is in, not when its sender first
// knocked.
TEST(time_in_mailbox_does_not_count_the_wait_for_room)
{
    TEST_CLOCK(time, clock);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
            with.timestamps = true, with.clock = &clock);
    LOCAL_SENDER(sender);

    box_send(&box, 1);
    sender_wait(&sender, &box, 2);
    test_clock_advance(&time, 10 * LBX_MS);
    CHECK_INT(1, box_next(&box));
    test_clock_advance(&time, 1 * LBX_MS);
    CHECK_INT(2, box_next(&box));
    CHECK_INT(11 * LBX_MS, box_stats(&box).waited_total_ns);
    CHECK_INT(10 * LBX_MS, box_stats(&box).max_waited_ns);
    CHECK_OK(sender_poll(&sender));
}

// ~20 ns per message that were not asked for.
TEST_CITING("MSG-6", mailbox_without_timestamps_does_not_read_the_clock)
{
    struct timed timed;
    lbx_envelope envelope;
    int64_t readings;

    timed_begin(&timed, LBX_KIND_UNBOUNDED, false);
    readings = timed.time.readings;
    box_send(&timed.box, 1);
    CHECK_OK(lbx_consumer_try_receive_envelope(timed.box.out, &envelope));
    CHECK_INT(readings, timed.time.readings);
    CHECK_INT(0, envelope.enqueued_ns);
    CHECK_INT(0, box_stats(&timed.box).timed_messages);
    box_end(&timed.box);
}

// ---- Deadlines of waits ----

// WAIT-9: one try, no wait.
BOX_TEST("WAIT-9 R-02", deadline_in_the_past_is_one_try,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    void *message = NULL;

    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_consumer_receive_until(box->out, &message, 0));
    CHECK_OK(lbx_producer_send_until(box->in, letter(1), 0));
    CHECK_STATUS(LBX_TIMEOUT, lbx_producer_send_until(box->in, letter(2), 0));
    CHECK_OK(lbx_consumer_receive_until(box->out, &message, INT64_MIN));
    CHECK_INT(1, number_of(message));
}

TEST_CITING("WAIT-9", operation_past_its_deadline_times_out_when_polled)
{
    struct timed timed;
    struct receiver receiver;

    timed_begin(&timed, LBX_KIND_UNBOUNDED, false);
    receiver_wait_until(&receiver, &timed.box,
                        test_clock_now(&timed.time) + LBX_MS);
    CHECK_INT(test_clock_now(&timed.time) + LBX_MS,
              lbx_operation_deadline(&receiver.operation));
    test_clock_advance(&timed.time, LBX_MS - 1);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    test_clock_advance(&timed.time, 1);
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&receiver));
    CHECK_INT(0, box_stats(&timed.box).waiting_receivers);
    box_send(&timed.box, 1); // for someone else
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&receiver));
    CHECK_RECEIVES(&timed.box, 1);
    lbx_operation_fini(&receiver.operation);
    box_end(&timed.box);
}

// MSG-10: a promise and the deadline at the same moment: the message is taken
// or passed on, never lost.
TEST_CITING("MSG-10 WAIT-1",
            promise_reaches_a_receiver_past_its_deadline_or_the_next)
{
    struct timed timed;
    struct receiver late;
    struct receiver next;

    timed_begin(&timed, LBX_KIND_UNBOUNDED, false);
    receiver_wait_until(&late, &timed.box,
                        test_clock_now(&timed.time) + LBX_MS);
    receiver_wait(&next, &timed.box);
    box_send(&timed.box, 1);
    test_clock_advance(&timed.time, LBX_SECOND);
    if (receiver_poll(&late) == LBX_OK) {
        CHECK_INT(1, number_of(late.message));
        CHECK_STATUS(LBX_PENDING, receiver_poll(&next));
        lbx_operation_fini(&next.operation);
    } else {
        receiver_check(&next, 1);
    }
    lbx_operation_fini(&late.operation);
    box_end(&timed.box);
}

// A parked thread looks at an injected clock again at the latest when the
// real time that was left has passed (base.h).
TEST_CITING("WAIT-9", parked_thread_follows_the_injected_clock)
{
    struct timed timed;
    struct parked parked;

    timed_begin(&timed, LBX_KIND_UNBOUNDED, false);
    parked_receive(&parked, &timed.box, test_clock_now(&timed.time) + LBX_MS);
    CHECK(!parked.is_done); // however long that took: the clock stands still
    test_clock_advance(&timed.time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, parked_end(&parked));
    box_end(&timed.box);
}

TEST_CITING("R-33", deadlines_saturate_instead_of_overflowing)
{
    TEST_CLOCK(time, clock);

    CHECK_INT(test_clock_now(&time) + 5, lbx_deadline_after(&clock, 5));
    CHECK_INT(test_clock_now(&time), lbx_deadline_after(&clock, 0));
    CHECK_INT(LBX_FOREVER, lbx_deadline_after(&clock, -1));
    CHECK_INT(LBX_FOREVER, lbx_deadline_after(&clock, INT64_MAX));
    CHECK_INT(LBX_FOREVER, lbx_deadline_after(&clock, INT64_MAX - 5));
}

// A wait so long that now + wait does not fit is for ever, not in the past.
TEST_CITING("R-33", enormous_wait_is_for_ever)
{
    TEST_CLOCK(time, clock);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
            with.clock = &clock, with.wait_ns = INT64_MAX);
    LOCAL_SENDER(sender);

    box_send(&box, 1);
    sender_wait(&sender, &box, 2);
    CHECK_INT(LBX_FOREVER, lbx_operation_deadline(&sender.operation));
}
