/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges of receives, flushes and observers: what planted bugs changed without a
 * test noticing (tests/mutants). Those of sends are in edges_test.c.
 */
#include "mailbox/fixture.h"
#include "mailbox/mailbox.h"

// ---- Places among the receives that wait ----

// The first receive was granted a message that had expired: it goes on waiting
// at its place.
TEST(receive_of_an_expired_message_keeps_its_place)
{
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, envelope_options());
    lbx_envelope expired = lbx_envelope_of(letter(9), 0);
    LOCAL_RECEIVER(first);
    LOCAL_RECEIVER(second);

    receiver_wait(&first, &box);
    receiver_wait(&second, &box);
    expired.deadline_ns = 1;
    box_send_envelope(&box, expired);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&first));
    box_send(&box, 1);
    CHECK_INT(0, second.bell.rings);
    receiver_check(&first, 1);
}

// Started again, a receive is the last one.
TEST(restarted_receive_waits_behind_the_others)
{
    LOCAL_BOX(box) = box_unbounded();
    LOCAL_RECEIVER(first);
    LOCAL_RECEIVER(second);

    receiver_wait(&first, &box);
    receiver_wait(&second, &box);
    box_send(&box, 1);
    CHECK_OK(receiver_poll(&first));
    CHECK_OK(lbx_operation_restart(&first.operation, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&first));
    box_send(&box, 2);
    receiver_check(&second, 2);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&first));
}

// ---- Reserved messages ----

// What is promised to a receive is there, though not for others.
TEST(closed_mailbox_with_a_promised_message_is_not_at_its_end)
{
    struct receiver receiver;
    LOCAL_BOX(box) = box_with_promise(&receiver);

    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_NOTHING(&box);
    receiver_check(&receiver, 1);
    CHECK_ENDED(&box);
}

// The promised message is discarded: no receive may wait for what follows it.
TEST(receive_behind_a_promise_ends_when_the_message_is_discarded)
{
    struct receiver promised;
    LOCAL_BOX(box) = box_with_promise(&promised);
    LOCAL_RECEIVER(next);

    receiver_wait(&next, &box);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_INT(1, next.bell.rings);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&next));
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&promised));
    receiver_end(&promised);
}

// Not at its end for a receive that waits behind the promise, either.
TEST(receive_behind_a_promise_of_a_closed_mailbox_goes_on_waiting)
{
    struct receiver promised;
    LOCAL_BOX(box) = box_with_promise(&promised);
    LOCAL_RECEIVER(next);

    receiver_wait(&next, &box);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&next));
    receiver_check(&promised, 1);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&next));
}

// ---- Messages that are counted and cannot be taken yet ----

enum {
    CLOSET_ITEMS = 4
};

// A kind whose door may be shut, as a slot that is not filled yet shuts a queue
// for a moment.
struct closet {
    lbx_envelope items[CLOSET_ITEMS];
    int first, end;
    bool shut;
    bool bare; // it keeps messages, and not their envelopes
};

static lbx_status
closet_create(void *context, const lbx_mailbox_options *options, void **ret)
{
    (void)options;
    *ret = context;
    return LBX_OK;
}

static void
closet_destroy(void *storage)
{
    (void)storage;
}

static lbx_status
closet_push(void *storage, const lbx_envelope *envelope)
{
    struct closet *closet = storage;

    CHECK(closet->end < CLOSET_ITEMS);
    closet->items[closet->end++] = *envelope;
    return LBX_OK;
}

static bool
closet_pop(void *storage, lbx_envelope *ret)
{
    struct closet *closet = storage;

    if (closet->shut || closet->first == closet->end)
        return false;
    *ret = closet->items[closet->first++];
    if (closet->bare)
        *ret = lbx_envelope_of(ret->message, 0);
    return true;
}

static struct box
closet_box(struct closet *closet, lbx_kind_registry **kinds,
           const lbx_mailbox_options *options)
{
    static const lbx_kind_ops ops = {
        .size_bytes = sizeof(lbx_kind_ops),
        .create = closet_create,
        .destroy = closet_destroy,
        .push = closet_push,
        .pop = closet_pop,
    };

    CHECK_OK(lbx_kind_registry_create(NULL, kinds));
    CHECK_OK(lbx_kind_registry_add(*kinds, "closet", &ops, closet));
    return BOX("closet", *options, with.kinds = *kinds);
}

// The message is for the receive that waits, although the door was shut when it
// looked.
TEST(nobody_overtakes_a_receive_that_found_the_door_shut)
{
    const lbx_mailbox_options options = plain_options();
    struct closet closet = {.shut = true};
    lbx_kind_registry *kinds;
    struct box box = closet_box(&closet, &kinds, &options);
    struct receiver first, second;

    receiver_wait(&first, &box);
    box_send(&box, 1);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&first));
    closet.shut = false;
    CHECK_NOTHING(&box);
    receiver_wait(&second, &box);
    receiver_check(&first, 1);
    box_send(&box, 2);
    receiver_check(&second, 2);
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// A loss says whose it is, although the storage has not kept it.
TEST(loss_names_the_owner_whatever_the_storage_gives_back)
{
    lbx_mailbox_options options = plain_options();
    struct losses losses = {.count = 0};
    struct closet closet = {.bare = true};
    lbx_kind_registry *kinds;
    struct box box;

    options.owner = &losses;
    options.loss_sink = losses_sink(&losses);
    box = closet_box(&closet, &kinds, &options);
    box_send(&box, 1);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    losses_check(&losses, 0, 1, LBX_LOSS_CLOSED);
    CHECK_PTR(&losses, losses.envelopes[0].recipient);
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// The first receive is too late, and what it was promised is for the next.
TEST(receive_that_is_too_late_for_its_promise_passes_it_on)
{
    struct test_clock time = {.now_ns = 1000};
    const lbx_clock clock = test_clock_interface(&time);
    lbx_mailbox_options options = plain_options();
    struct closet closet = {.shut = true};
    lbx_kind_registry *kinds;
    struct box box;
    struct receiver first, second;

    options.clock = &clock;
    box = closet_box(&closet, &kinds, &options);
    receiver_wait_until(&first, &box, 2000);
    receiver_wait(&second, &box);
    box_send(&box, 1);
    CHECK_INT(0, second.bell.rings);
    test_clock_set(&time, 2000);
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&first));
    receiver_end(&first);
    CHECK_INT(1, second.bell.rings);
    closet.shut = false;
    receiver_check(&second, 1);
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// The take of a receive lets a send in, whose message is promised to the very
// receive: it has one already, and the other is for all.
TEST(receive_that_took_a_message_gives_up_its_promise_of_another)
{
    const lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_BLOCK);
    struct closet closet = {.shut = true};
    lbx_kind_registry *kinds;
    struct box box = closet_box(&closet, &kinds, &options);
    struct receiver receiver;
    struct sender sender;

    receiver_wait(&receiver, &box);
    box_send(&box, 1);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    sender_wait(&sender, &box, 2);
    closet.shut = false;
    receiver_check(&receiver, 1);
    CHECK_OK(sender_poll(&sender));
    sender_end(&sender);
    CHECK_INT(0, box_stats(&box).waiting_receivers);
    CHECK_RECEIVES(&box, 2);
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// ---- Close and flush ----

// The lane of system messages is made by the first one, closed if need be.
static void
first_system_message_after_close_is_refused(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 4));

    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, box_try_send_system(&box, 1));
    CHECK_ENDED(&box);
}

EVERY_KIND(KIND_TEST, first_system_message_after_close_is_refused)

// MBOX-9: a send has claimed its slot when the mailbox is closed, and fills it
// afterwards: then it discards its own message.
static void
message_that_comes_after_the_close_is_lost_by_its_send(const char *kind)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(kind, plain_options(), with.loss_sink = losses_sink(&losses));
    lbx__segq *queue = &box.mailbox->user_lane.q.segq;
    const uint64_t item[LBX__WORD] = {lbx__slot_encode(letter(2))};
    uint64_t claim;

    box_send(&box, 1); // so that there is a segment
    claim = lbx__segq_claim(queue);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_INT(1, losses.count);
    CHECK_INT(LBX__FLAG_STALLED, lbx__segq_fill(queue, claim, item, LBX__WORD));
    lbx__visit_serve_receivers(box.mailbox); // as a send does by that flag
    CHECK_INT(2, losses.count);
    losses_check(&losses, 1, 2, LBX_LOSS_CLOSED);
    CHECK(lbx_mailbox_is_empty(box.mailbox));
}

KIND_TEST(unbounded, LBX_KIND_UNBOUNDED,
          message_that_comes_after_the_close_is_lost_by_its_send)
KIND_TEST(single_consumer, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
          message_that_comes_after_the_close_is_lost_by_its_send)

// It was done in time, although it is polled too late.
TEST(flush_that_is_done_does_not_time_out)
{
    struct test_clock time = {.now_ns = 1000};
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.clock = &clock);
    lbx_operation flush;

    box_send(&box, 1);
    CHECK_OK(lbx_mailbox_flush_init(&flush, box.mailbox, 2000));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, NULL));
    CHECK_RECEIVES(&box, 1);
    test_clock_set(&time, 3000);
    CHECK_OK(lbx_operation_poll(&flush, NULL));
    lbx_operation_fini(&flush);
}

// ---- Control messages ----

// Control messages come first, for those who ask before they receive, too; a
// plain mailbox gives them back as what they are.
TEST(control_messages_are_told_from_others)
{
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED_CONTROL_AWARE, NULL);
    const lbx_envelope control = lbx_envelope_control(letter(1), 0);
    const lbx_envelope regular = lbx_envelope_of(letter(2), 0);
    lbx_envelope received;

    CHECK(lbx_mailbox_compare(box.mailbox, &control, &regular) < 0);
    CHECK(lbx_mailbox_compare(box.mailbox, &regular, &control) > 0);
    CHECK_INT(0, lbx_mailbox_compare(box.mailbox, &control, &control));
    box_send_envelope(&box, control);
    CHECK(lbx_mailbox_has_before(box.mailbox, &regular));
    CHECK(!lbx_mailbox_has_before(box.mailbox, &control));
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &received));
    CHECK(lbx_envelope_is_control(&received));
}

// While it is suspended, only system messages wake a receive.
TEST(control_message_wakes_no_receive_of_a_suspended_mailbox)
{
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED_CONTROL_AWARE, NULL);
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, &box);
    CHECK(lbx_mailbox_suspend(box.mailbox));
    box_send_control(&box, 1);
    CHECK_INT(0, receiver.bell.rings);
    CHECK(lbx_mailbox_resume(box.mailbox));
    CHECK_INT(1, receiver.bell.rings);
    receiver_check(&receiver, 1);
}

// With a sink, receives go through the lock.
TEST(control_messages_come_first_under_a_sink)
{
    struct events events = {.count = 0};
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, plain_options(),
                         with.metrics = events_sink(&events));

    box_send(&box, 1);
    box_send_control(&box, 2);
    CHECK_RECEIVES(&box, 2, 1);
    CHECK_OK(lbx_mailbox_set_metrics_sink(box.mailbox, NULL));
}

// ---- What observers are told ----

TEST(resumption_by_a_close_is_told)
{
    struct events events = {.count = 0};
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, plain_options(),
                         with.metrics = events_sink(&events));

    CHECK(lbx_mailbox_suspend(box.mailbox));
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(1, events_of(&events, LBX_METRIC_RESUMED));
    CHECK_OK(lbx_mailbox_set_metrics_sink(box.mailbox, NULL));
}

static void
count_ready(void *context, lbx_mailbox *mailbox)
{
    (void)mailbox;
    ++*(int *)context;
}

// One batch of takes lets two sends in: both are told.
TEST(every_send_that_a_batch_lets_in_is_told)
{
    LOCAL_BOX(box) = box_limited(2, LBX_OVERFLOW_BLOCK);
    int calls = 0;
    const lbx_scheduler_hook hook = {.ready = count_ready, .context = &calls};
    LOCAL_SENDER(first);
    LOCAL_SENDER(second);
    void *messages[2];
    size_t count;

    box_send_numbers(&box, 1, 2);
    sender_wait(&first, &box, 3);
    sender_wait(&second, &box, 4);
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box.mailbox, &hook));
    CHECK_OK(lbx_consumer_try_receive_batch(box.out, messages, 2, &count));
    CHECK_INT(2, count);
    CHECK_INT(2, calls);
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box.mailbox, NULL));
    CHECK_RECEIVES(&box, 3, 4);
}

// The depth is sampled whenever the numbers are read.
TEST(high_water_is_known_before_the_first_take)
{
    LOCAL_BOX(box) = box_unbounded();

    box_send_numbers(&box, 1, 3);
    CHECK_INT(3, box_stats(&box).high_water);
}

// A first take does that too: nobody may read them before the mailbox is empty.
TEST(high_water_is_known_after_the_first_take)
{
    LOCAL_BOX(box) = box_unbounded();

    box_send_numbers(&box, 1, 3);
    CHECK_RECEIVES(&box, 1, 2, 3);
    CHECK(box_stats(&box).high_water >= 2);
}

// A permit beside a notified wait is for the next one.
TEST(notified_wait_leaves_the_permit)
{
    struct bell bell = {0};
    lbx_operation wait;
    lbx_signal *signal;

    CHECK_OK(lbx_signal_create(NULL, NULL, &signal));
    CHECK_OK(lbx_signal_wait_init(&wait, signal, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, bell_poll(&wait, &bell));
    lbx_signal_notify(signal);
    lbx_signal_notify(signal);
    CHECK_OK(bell_poll(&wait, &bell));
    lbx_operation_fini(&wait);
    CHECK_OK(lbx_signal_wait_until(signal, 1));
    CHECK_STATUS(LBX_TIMEOUT, lbx_signal_wait_until(signal, 1));
    lbx_signal_unref(signal);
}

// A take that brings the depth below the limit ends the pressure.
TEST(pressure_is_told_again_after_a_take)
{
    struct events events = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.pressure_messages = 2,
            with.metrics = events_sink(&events));

    box_send_numbers(&box, 1, 2);
    CHECK_INT(1, events_of(&events, LBX_METRIC_PRESSURE));
    CHECK_INT(1, box_next(&box));
    box_send(&box, 3);
    CHECK_INT(2, events_of(&events, LBX_METRIC_PRESSURE));
    CHECK_OK(lbx_mailbox_set_metrics_sink(box.mailbox, NULL));
}

TEST(reservation_is_told_for_system_messages_only)
{
    struct events events = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, envelope_options(), with.system_reservation = 4,
            with.metrics = events_sink(&events));

    box_send_system(&box, 1);
    CHECK_INT(1, events_of(&events, LBX_METRIC_RESERVATION_USED));
    box_send(&box, 2);
    CHECK_INT(1, events_of(&events, LBX_METRIC_RESERVATION_USED));
    CHECK_OK(lbx_mailbox_set_metrics_sink(box.mailbox, NULL));
}

// ---- Envelopes ----

static bool
refuse_priority(const void *message, void *context, int32_t *priority)
{
    (void)message;
    (void)context;
    (void)priority;
    return false;
}

TEST(priority_of_an_envelope_is_asked_too)
{
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED_PRIORITY, envelope_options(),
                         with.priority = refuse_priority);
    const lbx_envelope envelope = lbx_envelope_of(letter(1), 0);

    CHECK_STATUS(LBX_REFUSED,
                 lbx_producer_try_send_envelope(box.in, &envelope, NULL));
}

// As in an envelope that was zeroed.
TEST(deadline_of_zero_is_none)
{
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, envelope_options());

    box_send_envelope(&box, (lbx_envelope){.message = letter(1)});
    CHECK_RECEIVES(&box, 1);
}
