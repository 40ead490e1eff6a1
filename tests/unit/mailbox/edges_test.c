/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges: what planted bugs changed without a test noticing (tests/mutants), of
 * signals, of control messages, of times and of counts. Those of capacity, of
 * sends and of receives are in the other *_edges_test.c.
 */
#include "mailbox/fixture.h"

// ---- The signal ----

static void
close_by_call(struct box *box)
{
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
}

static void
close_by_last_producer(struct box *box)
{
    lbx_producer_unref(box->in);
    box->in = NULL;
}

// A thread that waits for the signal only would wait for ever.
TEST(close_notifies_the_signal)
{
    static void (*const closes[])(struct box *) = {close_by_call,
                                                   close_by_last_producer};

    for (size_t i = 0; i < sizeof(closes) / sizeof(closes[0]); i++) {
        struct box box = box_make(LBX_KIND_UNBOUNDED, NULL);
        struct bell bell = {0};
        lbx_operation wait;
        lbx_signal *signal;

        CHECK_OK(lbx_consumer_signal(box.out, &signal));
        CHECK_OK(lbx_signal_wait_init(&wait, signal, LBX_FOREVER));
        CHECK_STATUS(LBX_PENDING, bell_poll(&wait, &bell));
        closes[i](&box);
        CHECK_INT(1, bell.rings);
        CHECK_OK(lbx_operation_poll(&wait, NULL));
        lbx_operation_fini(&wait);
        lbx_signal_unref(signal);
        box_end(&box);
    }
}

// ---- Control messages that wait for shared capacity ----

static void
control_wait(struct sender *sender, const struct box *box, int number)
{
    lbx_envelope envelope = lbx_envelope_control(letter(number), 0);

    sender->bell = (struct bell){0};
    CHECK_OK(lbx_producer_send_envelope_init(&sender->operation, box->in,
                                             &envelope, LBX_FOREVER, NULL));
    CHECK_STATUS(LBX_PENDING, sender_poll(sender));
}

// Each take lets one in, the control messages first, until no send waits; then
// a plain send goes in again.
TEST(waiting_control_sends_with_shared_capacity_are_admitted_by_takes)
{
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
            limited_options(1, LBX_OVERFLOW_BLOCK), with.envelopes = true);
    struct sender user;
    struct sender control[2];

    box_send(&box, 1);
    sender_wait(&user, &box, 4);
    control_wait(&control[0], &box, 2);
    control_wait(&control[1], &box, 3);
    CHECK_INT(1, box_next(&box));
    CHECK_INT(1, control[0].bell.rings);
    CHECK_OK(sender_poll(&control[0]));
    CHECK_INT(2, box_next(&box));
    CHECK_OK(sender_poll(&control[1]));
    CHECK_INT(3, box_next(&box));
    CHECK_OK(sender_poll(&user));
    CHECK_INT(4, box_next(&box));
    box_send(&box, 5);
    CHECK_RECEIVES(&box, 5);
    lbx_operation_fini(&user.operation);
    lbx_operation_fini(&control[0].operation);
    lbx_operation_fini(&control[1].operation);
}

// No user message waits: the mark of waiting senders stays for the control
// lane's.
TEST(two_control_sends_alone_are_admitted_by_two_takes)
{
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
            limited_options(1, LBX_OVERFLOW_BLOCK), with.envelopes = true);
    struct sender control[2];

    box_send(&box, 1);
    control_wait(&control[0], &box, 2);
    control_wait(&control[1], &box, 3);
    CHECK_INT(2, box_stats(&box).waiting_senders);
    CHECK_INT(1, box_next(&box));
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(9)));
    CHECK_INT(2, box_next(&box));
    CHECK_RECEIVES(&box, 3);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(sender_poll(&control[i]));
        lbx_operation_fini(&control[i].operation);
    }
}

// ---- Moments ----

// From its deadline on it is too late, not a moment later.
TEST(message_expires_at_its_deadline)
{
    struct test_clock time = {.now_ns = 1000};
    lbx_clock clock = test_clock_interface(&time);
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, envelope_options(), with.clock = &clock,
            with.loss_sink = losses_sink(&losses));

    for (int number = 1; number <= 2; number++) {
        lbx_envelope envelope = lbx_envelope_of(letter(number), 0);

        envelope.deadline_ns = 2000;
        box_send_envelope(&box, envelope);
    }
    test_clock_set(&time, 1999);
    CHECK_INT(1, box_next(&box));
    test_clock_set(&time, 2000);
    CHECK_NOTHING(&box);
    losses_check(&losses, 0, 2, LBX_LOSS_EXPIRED);
}

// A dead letter is kept, although its deadline has passed.
TEST(expired_message_is_a_dead_letter_that_does_not_expire)
{
    struct test_clock time = {.now_ns = 1000};
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(dead) =
        BOX(LBX_KIND_UNBOUNDED, envelope_options(), with.clock = &clock);
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, envelope_options(),
                         with.clock = &clock, with.dead_letters = dead.in);
    lbx_envelope envelope = lbx_envelope_of(letter(1), 0);

    envelope.deadline_ns = 1000;
    box_send_envelope(&box, envelope);
    CHECK_NOTHING(&box);
    CHECK_RECEIVES(&dead, 1);
}

// Where the call's deadline and the mailbox's wait end at the same moment, the
// mailbox's policy decides; a send that gets its message back is rejected.
TEST(send_that_waited_in_vain_ends_as_the_first_of_two_limits_says)
{
    static const struct {
        int64_t deadline_ns;
        lbx_status status;
        unsigned lost;
    } rows[] = {{1004, LBX_TIMEOUT, 0}, {1005, LBX_OK, 1}, {1006, LBX_OK, 1}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct test_clock time = {.now_ns = 1000};
        lbx_clock clock = test_clock_interface(&time);
        struct losses losses = {.count = 0};
        LOCAL_BOX(box) =
            BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
                with.clock = &clock, with.wait_ns = 5,
                with.after_wait = LBX_OVERFLOW_DROP_NEWEST,
                with.loss_sink = losses_sink(&losses));
        LOCAL_SENDER(sender);

        box_send(&box, 1);
        sender_wait_until(&sender, &box, 2, rows[i].deadline_ns);
        test_clock_set(&time, 1005);
        CHECK_STATUS(rows[i].status, sender_poll(&sender));
        CHECK_INT(rows[i].lost, losses.count);
        CHECK_INT(1 - rows[i].lost, box_stats(&box).rejected);
    }
}

// ---- Numbers ----

static void
send_one_more(void *context, const lbx_loss *loss)
{
    const struct box *box = context;

    if (number_of(loss->envelope->message) == 1)
        box_send(box, 9);
}

// The sink takes the capacity that the first eviction freed: the send evicts
// once more, and reports both.
TEST(send_reports_every_message_that_it_evicts)
{
    struct box box;
    LOCAL_BOX(ended) =
        BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_DROP_OLDEST),
            with.loss_sink =
                (lbx_loss_sink){.lost = send_one_more, .context = &box});
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    const lbx_envelope envelope = lbx_envelope_of(letter(2), 0);

    box = ended;
    box_send(&box, 1);
    CHECK_OK(lbx_producer_try_send_envelope(box.in, &envelope, &result));
    CHECK_INT(2, result.dropped_messages);
    CHECK_RECEIVES(&box, 2);
}

// A message that goes back to its sender is counted and reported all the same.
TEST(dropped_message_that_is_returned_is_reported)
{
    struct events events = {.count = 0};
    LOCAL_BOX(box) = BOX(
        LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_DROP_NEWEST),
        with.return_dropped_newest = true, with.metrics = events_sink(&events));

    box_send(&box, 1);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(2)));
    CHECK_INT(1, events_of(&events, LBX_METRIC_DROPPED_NEWEST));
    CHECK_INT(1, box_stats(&box).dropped_newest);
}

// A receive that was promised a message waits until it has polled.
TEST(receive_with_a_promise_counts_as_waiting)
{
    struct receiver receiver;
    LOCAL_BOX(box) = box_with_promise(&receiver);

    CHECK_INT(1, box_stats(&box).waiting_receivers);
    receiver_check(&receiver, 1);
    CHECK_INT(0, box_stats(&box).waiting_receivers);
}
