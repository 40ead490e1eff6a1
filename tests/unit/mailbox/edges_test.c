/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges: what planted bugs changed without a test noticing (tests/mutants).
 */
#include "mailbox/fixture.h"

#include <string.h>

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

// ---- Capacity ----

enum {
    UNWANTED = 13,
    TOO_MUCH = 14
};

// A kind for one message that refuses some, and meanwhile lets `waiter` begin
// to wait for capacity.
struct slot {
    lbx_envelope envelope;
    bool used;
    const struct box *box;
    struct sender *waiter;
};

static lbx_status
slot_create(void *context, const lbx_mailbox_options *options, void **ret)
{
    (void)options;
    *ret = context;
    return LBX_OK;
}

static void
slot_destroy(void *storage)
{
    (void)storage;
}

static lbx_status
slot_push(void *storage, const lbx_envelope *envelope)
{
    struct slot *slot = storage;

    if (number_of(envelope->message) == UNWANTED) {
        if (slot->waiter)
            sender_wait(slot->waiter, slot->box, 7);
        return LBX_REFUSED;
    }
    if (number_of(envelope->message) == TOO_MUCH)
        return LBX_FULL;
    CHECK(!slot->used);
    slot->envelope = *envelope;
    slot->used = true;
    return LBX_OK;
}

static bool
slot_pop(void *storage, lbx_envelope *ret)
{
    struct slot *slot = storage;
    bool used = slot->used;

    *ret = slot->envelope;
    slot->used = false;
    return used;
}

// A mailbox for one message, of the kind above.
static struct box
slot_box(struct slot *slot, lbx_kind_registry **kinds, lbx_overflow overflow)
{
    static const lbx_kind_ops ops = {
        .size_bytes = sizeof(lbx_kind_ops),
        .capabilities = LBX_CAPABILITY_SEND_FRONT,
        .create = slot_create,
        .destroy = slot_destroy,
        .push = slot_push,
        .pop = slot_pop,
        .push_front = slot_push,
    };

    CHECK_OK(lbx_kind_registry_create(NULL, kinds));
    CHECK_OK(lbx_kind_registry_add(*kinds, "slot", &ops, slot));
    return BOX("slot", limited_options(1, overflow), with.kinds = *kinds);
}

// A refused message has not used capacity, neither at the end nor at the front.
TEST(capacity_of_a_refused_message_is_given_back)
{
    struct slot slot = {.used = false};
    lbx_kind_registry *kinds;
    struct box box = slot_box(&slot, &kinds, LBX_OVERFLOW_REJECT);

    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(LBX_REFUSED,
                     lbx_producer_try_send(box.in, letter(UNWANTED)));
        CHECK_OK(lbx_producer_try_send(box.in, letter(1)));
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(2)));
        CHECK_RECEIVES(&box, 1);
        CHECK_STATUS(LBX_REFUSED,
                     lbx_producer_try_send_front(box.in, letter(UNWANTED)));
        CHECK_OK(lbx_producer_try_send_front(box.in, letter(2)));
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send_front(box.in, letter(3)));
        CHECK_RECEIVES(&box, 2);
    }
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// A send that began to wait while another message was being refused gets the
// capacity of that one.
TEST(capacity_of_a_refused_message_goes_to_a_send_that_waits)
{
    static lbx_status (*const sends[])(lbx_producer *, void *) = {
        lbx_producer_try_send, lbx_producer_try_send_front};
    struct slot slot = {.used = false};
    lbx_kind_registry *kinds;
    struct box box = slot_box(&slot, &kinds, LBX_OVERFLOW_BLOCK);

    slot.box = &box;
    for (size_t i = 0; i < sizeof(sends) / sizeof(sends[0]); i++) {
        struct sender waiter;

        slot.waiter = &waiter;
        CHECK_STATUS(LBX_REFUSED, sends[i](box.in, letter(UNWANTED)));
        CHECK_INT(1, waiter.bell.rings);
        CHECK_OK(sender_poll(&waiter));
        lbx_operation_fini(&waiter.operation);
        CHECK_RECEIVES(&box, 7);
    }
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// The capacity is there, and the storage has none: the send ends.
TEST(waiting_send_that_the_storage_has_no_place_for_is_rejected)
{
    struct slot slot = {.used = false};
    lbx_kind_registry *kinds;
    struct box box = slot_box(&slot, &kinds, LBX_OVERFLOW_BLOCK);
    struct sender sender;

    box_send(&box, 1);
    sender_wait(&sender, &box, TOO_MUCH);
    CHECK_RECEIVES(&box, 1);
    CHECK_STATUS(LBX_FULL, sender_poll(&sender));
    CHECK_INT(1, box_stats(&box).rejected);
    lbx_operation_fini(&sender.operation);
    box_end(&box);
    lbx_kind_registry_destroy(kinds);
}

// Closed comes before full, at both ends; nothing is rejected for capacity.
static void
full_mailbox_that_is_closed_is_closed(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, limited_options(1, LBX_OVERFLOW_REJECT));

    box_send(&box, 1);
    close_by_call(&box);
    CHECK_STATUS(LBX_CLOSED, lbx_producer_try_send(box.in, letter(2)));
    if (lbx_mailbox_capabilities(box.mailbox) & LBX_CAPABILITY_SEND_FRONT)
        CHECK_STATUS(LBX_CLOSED,
                     lbx_producer_try_send_front(box.in, letter(2)));
    CHECK_INT(0, box_stats(&box).rejected);
}

LIMITED_KINDS(KIND_TEST, full_mailbox_that_is_closed_is_closed)

// A clock that takes a message when it is read, and waits for the next: a send
// reads it after it has found the mailbox full, and before it waits.
struct taking_clock {
    const struct box *box;
    struct receiver *receiver; /* NULL: it only tells the time */
};

static int64_t
taking_clock_now(void *context)
{
    struct taking_clock *clock = context;

    struct receiver *receiver = clock->receiver;

    clock->receiver = NULL;
    if (receiver) {
        CHECK_INT(1, box_next(clock->box));
        receiver_wait(receiver, clock->box);
    }
    return 1000;
}

// The thread that freed the capacity has seen no waiting send: the send itself
// must look once more, and wake the receive that waits now.
static void
send_looks_again_before_it_waits(const char *kind)
{
    static const lbx_channel channels[] = {LBX_CHANNEL_REGULAR,
                                           LBX_CHANNEL_CONTROL};

    for (int i = 0; i < 2; i++) {
        struct taking_clock taking = {.receiver = NULL};
        const lbx_clock clock = {taking_clock_now, &taking};
        LOCAL_BOX(box) = BOX(kind, limited_options(1, LBX_OVERFLOW_BLOCK),
                             with.clock = &clock, with.wait_ns = LBX_SECOND);
        const lbx_envelope envelope =
            lbx_envelope_with_channel(letter(2), 0, channels[i]);
        struct receiver receiver;
        lbx_operation send;

        box_send(&box, 1);
        CHECK_OK(lbx_producer_send_envelope_init(&send, box.in, &envelope,
                                                 LBX_FOREVER, NULL));
        taking = (struct taking_clock){&box, &receiver};
        CHECK_OK(lbx_operation_poll(&send, NULL));
        lbx_operation_fini(&send);
        CHECK_INT(1, receiver.bell.rings);
        receiver_check(&receiver, 2);
    }
}

LIMITED_KINDS(KIND_TEST, send_looks_again_before_it_waits)

// A control message evicts a user message for the capacity that they share, and
// none for a capacity of its own.
TEST(control_send_evicts_only_what_frees_capacity_for_it)
{
    static const struct {
        int64_t control_capacity;
        lbx_status status;
        int first_user;
    } rows[] = {{LBX_LIMIT_SHARED, LBX_OK, 3}, {1, LBX_FULL, 2}};
    const lbx_envelope control = lbx_envelope_control(letter(9), 0);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct losses losses = {.count = 0};
        LOCAL_BOX(box) = BOX(LBX_KIND_BOUNDED_CONTROL_AWARE,
                             limited_options(3, LBX_OVERFLOW_DROP_OLDEST),
                             with.control_capacity = rows[i].control_capacity,
                             with.loss_sink = losses_sink(&losses));

        box_send_control(&box, 1);
        box_send_numbers(&box, 2, 3);
        CHECK_STATUS(rows[i].status,
                     lbx_producer_try_send_envelope(box.in, &control, NULL));
        CHECK_INT(rows[i].status == LBX_OK, losses.count);
        CHECK_INT(1, box_next(&box));
        if (rows[i].status == LBX_OK)
            CHECK_INT(9, box_next(&box));
        CHECK_INT(rows[i].first_user, box_next(&box));
    }
}

// ---- Batches ----

// A batch is cancelled while one of its messages is in, and the batch does not
// know it yet: whole, it was sent.
TEST(batch_that_is_cancelled_counts_the_message_that_went_in)
{
    for (size_t count = 2; count <= 3; count++) {
        LOCAL_BOX(box) = box_limited(1, LBX_OVERFLOW_BLOCK);
        void *messages[] = {letter(1), letter(2), letter(3)};
        size_t sent = 99;
        lbx_operation send;

        CHECK_OK(lbx_producer_send_batch_init(&send, box.in, messages, count,
                                              LBX_FOREVER, &sent));
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
        CHECK_INT(1, box_next(&box));
        CHECK_STATUS(count == 2 ? LBX_OK : LBX_CANCELLED,
                     lbx_operation_cancel(&send));
        CHECK_INT(2, sent);
        lbx_operation_fini(&send);
        CHECK_RECEIVES(&box, 2);
    }
}

// Batches go through in chunks.
static void
large_batch_keeps_its_order(const char *kind)
{
    enum {
        MESSAGES = 150
    };
    LOCAL_BOX(box) = BOX(
        kind, limited_options(kind_is_limited(kind) ? MESSAGES : LBX_UNLIMITED,
                              LBX_OVERFLOW_REJECT));
    void *messages[MESSAGES];
    void *received[MESSAGES];
    size_t count;

    for (int i = 0; i < MESSAGES; i++)
        messages[i] = letter(i);
    CHECK_OK(lbx_producer_try_send_batch(box.in, messages, MESSAGES, &count));
    CHECK_INT(MESSAGES, count);
    for (size_t total = 0; total < MESSAGES; total += count)
        CHECK_OK(lbx_consumer_try_receive_batch(box.out, &received[total],
                                                MESSAGES - total, &count));
    CHECK_INT(0, memcmp(messages, received, sizeof(messages)));
}

EVERY_KIND(KIND_TEST, large_batch_keeps_its_order)

// A batch that is received again, and in vain, holds nothing.
TEST(restarted_batch_begins_with_nothing)
{
    LOCAL_BOX(box) = box_unbounded();
    void *messages[2];
    size_t count;
    lbx_operation receive;

    box_send_numbers(&box, 1, 2);
    CHECK_OK(lbx_consumer_receive_batch_init(&receive, box.out, messages, 2,
                                             &count, LBX_FOREVER));
    CHECK_OK(lbx_operation_poll(&receive, NULL));
    CHECK_INT(2, count);
    CHECK_OK(lbx_operation_restart(&receive, 1));
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&receive, NULL));
    CHECK_INT(0, count);
    lbx_operation_fini(&receive);
}

// ---- Results ----

static lbx_send_result
unwritten_result(void)
{
    lbx_send_result result;

    memset(&result, 0xa5, sizeof(result));
    result.size_bytes = sizeof(result);
    return result;
}

// Sends that cannot succeed; what each says of its message is written.
static void
check_not_sent(const struct box *box, lbx_status at_once, lbx_status later)
{
    const lbx_envelope envelope = lbx_envelope_of(letter(2), 0);
    lbx_send_result result = unwritten_result();

    CHECK_STATUS(at_once,
                 lbx_producer_try_send_envelope(box->in, &envelope, &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    result = unwritten_result();
    CHECK_STATUS(later, lbx_producer_send_envelope_until(box->in, &envelope, 1,
                                                         &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
}

static void
result_of_a_failed_send_is_not_sent(const char *kind)
{
    LOCAL_BOX(box) =
        BOX(kind, options_for(kind, 1), with.overflow = LBX_OVERFLOW_BLOCK);

    box_send(&box, 1);
    if (kind_is_limited(kind))
        check_not_sent(&box, LBX_FULL, LBX_TIMEOUT);
    close_by_call(&box);
    check_not_sent(&box, LBX_CLOSED, LBX_CLOSED);
}

EVERY_KIND(KIND_TEST, result_of_a_failed_send_is_not_sent)

// ---- The front ----

// A message at the front has its time, and makes the mailbox grow, as any.
TEST(message_at_the_front_is_dated_and_counted_as_any)
{
    struct test_clock time = {.now_ns = 1000};
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED_DEQUE, limited_options(1, LBX_OVERFLOW_GROW),
            with.clock = &clock, with.timestamps = true);

    CHECK_OK(lbx_producer_try_send_front(box.in, letter(2)));
    CHECK_INT(1, lbx_mailbox_capacity(box.mailbox));
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(1)));
    CHECK_INT(2, lbx_mailbox_capacity(box.mailbox));
    test_clock_set(&time, 1500);
    CHECK_RECEIVES(&box, 1, 2);
    CHECK_INT(500, box_stats(&box).max_waited_ns);
    CHECK_INT(1000, box_stats(&box).waited_total_ns);
}

static void
message_at_the_front_wakes_a_receive(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 1));
    struct receiver receiver;

    receiver_wait(&receiver, &box);
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(1)));
    CHECK_INT(1, receiver.bell.rings);
    receiver_check(&receiver, 1);
}

KIND_TEST(bounded_deque, LBX_KIND_BOUNDED_DEQUE,
          message_at_the_front_wakes_a_receive)
KIND_TEST(unbounded_deque, LBX_KIND_UNBOUNDED_DEQUE,
          message_at_the_front_wakes_a_receive)

// ---- Envelopes ----

// What a dead letter says of its loss is not true of the next mailbox.
static void
envelope_that_was_lost_can_be_sent_again(const char *kind)
{
    int owner, stranger;
    lbx_envelope envelope = lbx_envelope_of(letter(1), 0);
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 4), with.owner = &owner);

    envelope.lost = LBX_LOSS_EXPIRED;
    envelope.recipient = &stranger;
    box_send_envelope(&box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_INT(LBX_LOSS_NONE, envelope.lost);
    CHECK_PTR(&owner, envelope.recipient);
}

EVERY_KIND(KIND_TEST, envelope_that_was_lost_can_be_sent_again)
