/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Close modes x kinds, flush and stop: CLOSE-1 to CLOSE-6, R-14, R-15
 * and B-06.
 */
#include "mailbox/fixture.h"

// A closed mailbox refuses every way to send, and the message stays.
static void
check_refuses_every_send(const struct box *box)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(9));
    void *batch[] = {letter(9)};
    size_t sent = 77;
    LOCAL_OPERATION(operation);

    CHECK_STATUS(LBX_CLOSED, lbx_producer_try_send(box->in, letter(9)));
    CHECK_STATUS(LBX_CLOSED, lbx_producer_send(box->in, letter(9)));
    CHECK_STATUS(LBX_CLOSED,
                 lbx_producer_send_until(box->in, letter(9), LBX_FOREVER));
    CHECK_STATUS(LBX_CLOSED,
                 lbx_producer_try_send_envelope(box->in, &envelope, NULL));
    CHECK_STATUS(LBX_CLOSED, box_try_send_system(box, 9));
    CHECK_STATUS(LBX_CLOSED,
                 lbx_producer_try_send_batch(box->in, batch, 1, &sent));
    CHECK_INT(0, sent);
    CHECK_OK(
        lbx_producer_send_init(&operation, box->in, letter(9), LBX_FOREVER));
    CHECK_STATUS(LBX_CLOSED, lbx_operation_poll(&operation, NULL));
}

// CLOSE-1, CLOSE-2: after close sends fail, and what was accepted before is
// received.
static void
closed_to_drain_delivers_the_rest(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(kind, options_for(kind, 4), with.loss_sink = losses_sink(&losses));

    box_send_numbers(&box, 2, 4);
    box_send_system(&box, 1);
    CHECK_INT(0, box_stats(&box).closed);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(1, box_stats(&box).closed);
    CHECK(lbx_mailbox_is_closed(box.mailbox));
    check_refuses_every_send(&box);
    CHECK_INT(4, lbx_mailbox_depth(box.mailbox));
    CHECK_RECEIVES(&box, 1, 2, 3, 4);
    CHECK_ENDED(&box);
    CHECK_ENDED(&box); // and so it stays
    CHECK_INT(0, losses.count);
}

EVERY_KIND(KIND_CITING, "CLOSE-1 CLOSE-2 R-14",
           closed_to_drain_delivers_the_rest)

// CLOSE-3: every undelivered message goes to the sink, in receiving order.
static void
closed_immediately_loses_the_rest_in_order(const char *kind)
{
    struct losses losses = {.count = 0};
    struct box box =
        BOX(kind, options_for(kind, 4), with.loss_sink = losses_sink(&losses));

    box_send_numbers(&box, 2, 4);
    box_send_system(&box, 1);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_ENDED(&box);
    CHECK_INT(4, losses.count);
    for (unsigned i = 0; i < 4; i++)
        losses_check(&losses, i, (int)i + 1, LBX_LOSS_CLOSED);
    CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
    check_refuses_every_send(&box);
    box_end(&box);
    CHECK_INT(4, losses.count);
}

EVERY_KIND(KIND_CITING, "CLOSE-3 R-14",
           closed_immediately_loses_the_rest_in_order)

// the rest goes to the dead letters with the owner as recipient,
// also when a sink would catch ordinary losses.
static void
closed_to_dead_letters_sends_the_rest_there(const char *kind)
{
    lbx_mailbox_options options = options_for(kind, 4);
    LOCAL_BOX(dead) = BOX(LBX_KIND_UNBOUNDED, envelope_options());
    struct losses losses = {.count = 0};
    lbx_envelope envelope;
    LOCAL_BOX(box);

    options.owner = &options;
    options.loss_sink = losses_sink(&losses);
    options.dead_letters = dead.in;
    box = box_make(kind, &options);
    box_send_numbers(&box, 2, 3);
    box_send_system(&box, 1);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DEAD_LETTER));
    CHECK_ENDED(&box);
    CHECK_INT(0, losses.count);
    for (int number = 1; number <= 3; number++) {
        CHECK_OK(lbx_consumer_try_receive_envelope(dead.out, &envelope));
        CHECK_INT(number, number_of(envelope.message));
        CHECK_INT(LBX_LOSS_CLOSED, envelope.lost);
        CHECK_PTR(&options, envelope.recipient);
    }
    CHECK_NOTHING(&dead);
}

EVERY_KIND(KIND_CITING, "A-15 R-14",
           closed_to_dead_letters_sends_the_rest_there)

struct rest {
    int count;
    int numbers[16];
    lbx_mailbox *mailbox;
};

static void
keep_rest(void *context, const lbx_envelope *envelope)
{
    struct rest *rest = context;

    CHECK(rest->count < 16);
    rest->numbers[rest->count++] = number_of(envelope->message);
    CHECK(lbx_mailbox_is_closed(rest->mailbox)); // callable from here
}

// R-14, B-04: or back to the closer.
static void
closed_into_a_callback_gives_the_rest_to_the_closer(const char *kind)
{
    struct losses losses = {.count = 0};
    struct rest rest = {.count = 0};
    struct box box =
        BOX(kind, options_for(kind, 4), with.loss_sink = losses_sink(&losses));

    rest.mailbox = box.mailbox;
    box_send_numbers(&box, 2, 4);
    box_send_system(&box, 1);
    CHECK_OK(lbx_mailbox_close_into(box.mailbox, keep_rest, &rest));
    CHECK_INT(4, rest.count);
    for (int i = 0; i < 4; i++)
        CHECK_INT(i + 1, rest.numbers[i]);
    CHECK_ENDED(&box);
    box_end(&box);
    CHECK_INT(4, rest.count);
    CHECK_INT(0, losses.count); // given, not lost
}

EVERY_KIND(KIND_CITING, "CLOSE-3 B-04",
           closed_into_a_callback_gives_the_rest_to_the_closer)

// A mode that cannot be kept changes nothing.
BOX_TEST("R-14", dead_letter_close_without_dead_letters_is_invalid,
         box_unbounded())
{
    CHECK_STATUS(LBX_INVALID,
                 lbx_mailbox_close(box->mailbox, LBX_CLOSE_DEAD_LETTER));
    CHECK(!lbx_mailbox_is_closed(box->mailbox));
    box_send(box, 1);
    CHECK_RECEIVES(box, 1);
}

BOX_TEST("", unknown_close_mode_and_missing_callback_are_invalid,
         box_unbounded())
{
    CHECK_STATUS(LBX_INVALID,
                 lbx_mailbox_close(box->mailbox, (lbx_close_mode)9));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_close_into(box->mailbox, NULL, NULL));
    CHECK(!lbx_mailbox_is_closed(box->mailbox));
}

// 84, CLOSE-5: closing again is OK.
BOX_TEST("CLOSE-5", closing_twice_is_closing_once, box_unbounded())
{
    box_send(box, 1);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_RECEIVES(box, 1);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_ENDED(box);
}

// First politely, then not: the stricter mode still applies.
TEST_CITING("CLOSE-5 R-14", stricter_close_after_drain_loses_what_is_left)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, plain_options(),
                         with.loss_sink = losses_sink(&losses));

    box_send_numbers(&box, 1, 3);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(1, box_next(&box));
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_INT(2, losses.count);
    losses_check(&losses, 0, 2, LBX_LOSS_CLOSED);
    CHECK_ENDED(&box);
}

// CLOSE-4, R-35: close is a broadcast (cellex woke one).
static void
close_wakes_every_waiting_receiver(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    struct receiver receivers[5];

    for (int i = 0; i < 5; i++)
        receiver_wait(&receivers[i], &box);
    CHECK_INT(5, box_stats(&box).waiting_receivers);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    for (int i = 0; i < 5; i++) {
        CHECK_INT(1, receivers[i].bell.rings);
        CHECK_STATUS(LBX_CLOSED, receiver_poll(&receivers[i]));
        lbx_operation_fini(&receivers[i].operation);
    }
}

KIND_CITING(unbounded, LBX_KIND_UNBOUNDED, "CLOSE-4 R-35",
            close_wakes_every_waiting_receiver)
LIMITED_KINDS(KIND_CITING, "CLOSE-4 R-35", close_wakes_every_waiting_receiver)

// CLOSE-4, R-12: and every sender, who keeps the message.
static void
close_wakes_every_waiting_sender(const char *kind)
{
    struct losses losses = {.count = 0};
    struct sender senders[5];
    LOCAL_BOX(box) = BOX(kind, limited_options(1, LBX_OVERFLOW_BLOCK),
                         with.loss_sink = losses_sink(&losses));

    box_send(&box, 1);
    for (int i = 0; i < 5; i++)
        sender_wait(&senders[i], &box, i + 2);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    for (int i = 0; i < 5; i++) {
        CHECK_INT(1, senders[i].bell.rings);
        CHECK_STATUS(LBX_CLOSED, sender_poll(&senders[i]));
        lbx_operation_fini(&senders[i].operation);
    }
    CHECK_INT(0, losses.count);
    CHECK_RECEIVES(&box, 1);
}

LIMITED_KINDS(KIND_CITING, "CLOSE-4 R-12", close_wakes_every_waiting_sender)

TEST_CITING("CLOSE-4", close_wakes_parked_threads)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_BLOCK);
    LOCAL_BOX(full) = box_make(LBX_KIND_BOUNDED, &options);
    LOCAL_BOX(empty) = box_make(LBX_KIND_BOUNDED, &options);
    struct parked sender;
    struct parked receiver;

    box_send(&full, 1);
    parked_send(&sender, &full, 2, LBX_FOREVER);
    parked_receive(&receiver, &empty, LBX_FOREVER);
    CHECK_OK(lbx_mailbox_close(full.mailbox, LBX_CLOSE_DRAIN));
    CHECK_OK(lbx_mailbox_close(empty.mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, parked_end(&sender));
    CHECK_STATUS(LBX_CLOSED, parked_end(&receiver));
    CHECK_RECEIVES(&full, 1);
}

// CLOSE-2 and R-34 together: a promise made before the close is kept by a
// drain.
TEST_CITING("CLOSE-2 R-34", promise_made_before_a_draining_close_is_kept)
{
    struct receiver receiver;
    LOCAL_BOX(box) = box_with_promise(&receiver);

    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    receiver_check(&receiver, 1);
    CHECK_ENDED(&box);
}

// An immediate close takes the promised message back: a loss event, and the
// receiver learns CLOSED. Never both, never neither.
TEST_CITING("CLOSE-3 MSG-1", promise_made_before_an_immediate_close_is_a_loss)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, plain_options(),
                         with.loss_sink = losses_sink(&losses));
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, &box);
    box_send(&box, 1);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&receiver));
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 1, LBX_LOSS_CLOSED);
}

// The same when the closer wants the rest for itself.
TEST_CITING("CLOSE-3 MSG-1",
            promise_made_before_a_close_into_goes_to_the_closer)
{
    struct receiver receiver;
    LOCAL_BOX(box) = box_with_promise(&receiver);
    struct rest rest = {.count = 0, .mailbox = box.mailbox};

    CHECK_OK(lbx_mailbox_close_into(box.mailbox, keep_rest, &rest));
    CHECK_INT(1, rest.count);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&receiver));
    lbx_operation_fini(&receiver.operation);
}

// A send that a receiver completed before the close was sent.
TEST_CITING("CLOSE-6", send_completed_by_hand_over_survives_a_close)
{
    struct sender sender;
    LOCAL_BOX(box) = box_with_sender(&sender);

    CHECK_INT(1, box_next(&box)); // moves 2 in
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_OK(sender_poll(&sender));
    CHECK_RECEIVES(&box, 2);
    lbx_operation_fini(&sender.operation);
}

struct race {
    struct box box;
    _Atomic int sent;
    _Atomic int received;
    lbx_close_mode mode;
};

static void
race_to_close(unsigned index, void *context)
{
    struct race *race = context;
    void *message;
    lbx_status status;

    if (index == 0) {
        EVENTUALLY(race->sent > 20);
        CHECK_OK(lbx_mailbox_close(race->box.mailbox, race->mode));
        return;
    }
    if (index == 1) {
        while (lbx_consumer_receive(race->box.out, &message) == LBX_OK)
            atomic_fetch_add(&race->received, 1);
        return;
    }
    for (unsigned sends = 0;; sends++) {
        status = lbx_producer_send(race->box.in, letter(1));
        if (status != LBX_OK)
            break;
        atomic_fetch_add(&race->sent, 1);
        if (sends >= 2000) // the closer waits for a processor: nap
            test_pause(sends);
    }
    CHECK_STATUS(LBX_CLOSED, status);
}

// CLOSE-6: no send that returned OK is lost by a racing close, and every loss
// of an immediate close is one event.
static void
close_racing_with_sends_loses_nothing(const char *kind)
{
    for (int round = 0; round < 20; round++) {
        lbx_mailbox_options options = plain_options();
        struct losses losses = {.count = 0};
        struct race race = {.sent = 0};

        if (kind_is_limited(kind)) {
            options.capacity_messages = 8;
            options.overflow = LBX_OVERFLOW_BLOCK;
        }
        options.loss_sink = losses_sink(&losses);
        race.box = box_make(kind, &options);
        race.mode = round % 2 ? LBX_CLOSE_IMMEDIATE : LBX_CLOSE_DRAIN;
        threads_run(4, race_to_close, &race);
        CHECK_INT(race.sent, race.received + (int)losses.count);
        if (race.mode == LBX_CLOSE_DRAIN)
            CHECK_INT(0, losses.count);
        box_end(&race.box);
    }
}

EVERY_KIND(KIND_CITING, "CLOSE-6", close_racing_with_sends_loses_nothing)

static void
close_once(unsigned index, void *context)
{
    struct box *box = context;

    CHECK_OK(lbx_mailbox_close(box->mailbox, index % 2 ? LBX_CLOSE_IMMEDIATE
                                                       : LBX_CLOSE_DRAIN));
}

TEST_CITING("CLOSE-5", four_threads_close_at_once)
{
    for (int round = 0; round < 50; round++) {
        struct losses losses = {.count = 0};
        struct box box = BOX(LBX_KIND_UNBOUNDED, plain_options(),
                             with.loss_sink = losses_sink(&losses));

        box_send_numbers(&box, 1, 5);
        threads_run(4, close_once, &box);
        CHECK_ENDED(&box);
        CHECK_INT(5, losses.count);
        box_end(&box);
    }
}

// ---- Flush ----

BOX_TEST("B-06", flush_of_an_empty_mailbox_is_done_at_once, box_unbounded())
{
    LOCAL_OPERATION(flush);

    CHECK_OK(lbx_mailbox_flush_init(&flush, box->mailbox, LBX_FOREVER));
    CHECK_OK(lbx_operation_poll(&flush, NULL));
}

// Done when everything sent before it has been taken.
static void
flush_waits_for_what_was_sent_before_it(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    struct bell bell = {0};
    LOCAL_OPERATION(flush);

    box_send_numbers(&box, 1, 2);
    flush_wait(&flush, &box, &bell);
    box_send(&box, 3); // sent after: does not hold it up
    CHECK_INT(1, box_next(&box));
    CHECK_STATUS(LBX_PENDING, bell_poll(&flush, &bell));
    CHECK_INT(2, box_next(&box));
    CHECK_INT(1, bell.rings);
    CHECK_OK(bell_poll(&flush, &bell));
    CHECK_RECEIVES(&box, 3);
}

EVERY_KIND(KIND_CITING, "B-06", flush_waits_for_what_was_sent_before_it)

// Evicted messages are gone as well.
static void
flush_is_done_when_the_rest_is_evicted(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, limited_options(2, LBX_OVERFLOW_DROP_OLDEST));
    struct bell bell = {0};
    LOCAL_OPERATION(flush);

    box_send_numbers(&box, 1, 2);
    flush_wait(&flush, &box, &bell);
    box_send_numbers(&box, 3, 4); // evicts 1 and 2
    CHECK_INT(1, bell.rings);
    CHECK_OK(bell_poll(&flush, &bell));
}

LIMITED_KINDS(KIND_CITING, "B-06", flush_is_done_when_the_rest_is_evicted)

static void
flush_is_done_when_the_rest_is_closed_away(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    struct bell bell = {0};
    LOCAL_OPERATION(flush);

    box_send_numbers(&box, 1, 2);
    flush_wait(&flush, &box, &bell);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_INT(1, bell.rings);
    CHECK_OK(bell_poll(&flush, &bell));
}

EVERY_KIND(KIND_CITING, "B-06", flush_is_done_when_the_rest_is_closed_away)

// A message put before the others must not be counted in their place.
static void
flush_is_not_deceived_by_a_message_at_the_front(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    LOCAL_OPERATION(flush);

    box_send(&box, 1);
    flush_wait(&flush, &box, NULL);
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(2)));
    CHECK_INT(2, box_next(&box));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, NULL));
    CHECK_INT(1, box_next(&box));
    CHECK_OK(lbx_operation_poll(&flush, NULL));
}

KIND_CITING(unbounded_deque, LBX_KIND_UNBOUNDED_DEQUE, "B-06",
            flush_is_not_deceived_by_a_message_at_the_front)
KIND_CITING(bounded_deque, LBX_KIND_BOUNDED_DEQUE, "B-06",
            flush_is_not_deceived_by_a_message_at_the_front)

// Nor by a more urgent one.
BOX_TEST("B-06", flush_is_not_deceived_by_a_more_urgent_message,
         box_make(LBX_KIND_UNBOUNDED_PRIORITY, NULL))
{
    LOCAL_OPERATION(flush);

    box_send(box, 1);
    flush_wait(&flush, box, NULL);
    box_send_envelope(box, lbx_envelope_of(letter(2), -1));
    box_send_envelope(box, lbx_envelope_of(letter(3), 99));
    CHECK_INT(2, box_next(box));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, NULL));
    CHECK_INT(1, box_next(box));
    CHECK_OK(lbx_operation_poll(&flush, NULL));
    CHECK_RECEIVES(box, 3);
}

TEST_CITING("B-06", flush_ends_at_its_deadline)
{
    TEST_CLOCK(time, clock);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.clock = &clock);
    LOCAL_OPERATION(flush);

    box_send(&box, 1);
    CHECK_OK(lbx_mailbox_flush_init(&flush, box.mailbox,
                                    test_clock_now(&time) + LBX_MS));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, NULL));
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&flush, NULL));
    CHECK_RECEIVES(&box, 1);
}

BOX_TEST("B-06", several_flushes_end_each_at_its_own_message, box_unbounded())
{
    struct bell early_bell = {0};
    struct bell late_bell = {0};
    LOCAL_OPERATION(late);
    LOCAL_OPERATION(early);

    box_send(box, 1);
    flush_wait(&early, box, &early_bell);
    box_send(box, 2);
    flush_wait(&late, box, &late_bell);

    CHECK_INT(1, box_next(box));
    CHECK_OK(bell_poll(&early, &early_bell));
    CHECK_STATUS(LBX_PENDING, bell_poll(&late, &late_bell));
    CHECK_INT(2, box_next(box));
    CHECK_OK(bell_poll(&late, &late_bell));
}

BOX_TEST("C-32", cancelled_flush_leaves_no_registration, box_unbounded())
{
    struct bell bell = {0};
    lbx_operation flush;

    box_send(box, 1);
    flush_wait(&flush, box, &bell);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&flush));
    lbx_operation_fini(&flush);
    CHECK_INT(1, box_next(box));
    CHECK_INT(0, bell.rings);
}

// ---- Stop ----

// B-06: closes at its first poll, not before, and is done when empty.
static void
stop_closes_and_waits_until_empty(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    struct bell bell = {0};
    LOCAL_OPERATION(stop);

    box_send_numbers(&box, 1, 2);
    CHECK_OK(lbx_mailbox_stop_init(&stop, box.mailbox, LBX_FOREVER));
    CHECK(!lbx_mailbox_is_closed(box.mailbox));
    CHECK_STATUS(LBX_PENDING, bell_poll(&stop, &bell));
    CHECK(lbx_mailbox_is_closed(box.mailbox));
    CHECK_STATUS(LBX_CLOSED, lbx_producer_try_send(box.in, letter(3)));
    CHECK_INT(1, box_next(&box));
    CHECK_STATUS(LBX_PENDING, bell_poll(&stop, &bell));
    CHECK_INT(2, box_next(&box));
    CHECK_INT(1, bell.rings);
    CHECK_OK(bell_poll(&stop, &bell));
}

EVERY_KIND(KIND_CITING, "B-06", stop_closes_and_waits_until_empty)

// Giving up waiting does not open the mailbox again.
BOX_TEST("B-06", cancelled_stop_leaves_the_mailbox_closed, box_unbounded())
{
    lbx_operation stop;

    box_send(box, 1);
    stop_wait(&stop, box, NULL);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&stop));
    lbx_operation_fini(&stop);
    CHECK(lbx_mailbox_is_closed(box->mailbox));
    CHECK_RECEIVES(box, 1);
}

static void
drain_slowly(void *context)
{
    struct box *box = context;
    void *message;

    while (lbx_consumer_receive(box->out, &message) == LBX_OK)
        sched_yield();
}

BOX_TEST("B-06", stop_is_awaited_in_a_thread, box_unbounded())
{
    struct thread thread;
    LOCAL_OPERATION(stop);

    box_send_numbers(box, 1, 100);
    CHECK_OK(lbx_mailbox_stop_init(&stop, box->mailbox, LBX_FOREVER));
    thread_start(&thread, drain_slowly, box);
    CHECK_OK(lbx_operation_wait(&stop));
    CHECK_INT(0, lbx_mailbox_depth(box->mailbox));
    thread_join(&thread);
}
