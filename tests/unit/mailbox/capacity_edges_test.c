/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges of capacity: what a message that is refused gives back, and what a full
 * mailbox does with the next one (tests/mutants).
 */
#include "mailbox/fixture.h"

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
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
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
