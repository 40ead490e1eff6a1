/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges: what planted bugs changed without a test noticing (tests/mutants).
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

// ---- Numbers ----

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
    UNWANTED = 13
};

// A kind for one message that refuses some.
struct slot {
    lbx_envelope envelope;
    bool used;
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

    if (number_of(envelope->message) == UNWANTED)
        return LBX_REFUSED;
    CHECK(!slot->used);
    *slot = (struct slot){*envelope, true};
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

// A refused message has not used capacity, neither at the end nor at the front.
TEST(capacity_of_a_refused_message_is_given_back)
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
    struct slot slot = {.used = false};
    lbx_kind_registry *kinds;
    struct box box;

    CHECK_OK(lbx_kind_registry_create(NULL, &kinds));
    CHECK_OK(lbx_kind_registry_add(kinds, "slot", &ops, &slot));
    box = BOX("slot", limited_options(1, LBX_OVERFLOW_REJECT),
              with.kinds = kinds);
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
