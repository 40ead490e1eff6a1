/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For every creation and send that may allocate, allocation k fails for
 * k = 1, 2, ... until none is left to fail. Each time the call returns
 * LBX_NO_MEMORY, nothing has changed, nothing leaks, and the mailbox works once
 * there is memory again.
 */
#include "fault/nest.h"

// ---- Creation ----

static void
create_body(struct torture *memory, void *context)
{
    struct nest nest;

    if (!nest_make(&nest, memory, context, options_for(context, 100)))
        return;
    nest_relent(memory);
    box_send_numbers(&nest.box, 1, 10);
    CHECK_RECEIVES(&nest.box, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    box_end(&nest.box);
}

NEST_PROMISE(creation_survives_every_failing_allocation, create_body)

EVERY_KIND(KIND_TEST, creation_survives_every_failing_allocation)

// ---- Sends ----

// Sends; when that fails for want of memory, nothing has changed, and it
// works with memory.
static void
send_or_retry(struct nest *nest, const lbx_envelope *envelope)
{
    lbx_mailbox_stats before = box_stats(&nest->box);
    lbx_mailbox_stats after = LBX_MAILBOX_STATS_INIT;
    lbx_status status =
        lbx_producer_try_send_envelope(nest->box.in, envelope, NULL);

    if (status == LBX_OK)
        return;
    CHECK_STATUS(LBX_NO_MEMORY, status);
    after = box_stats(&nest->box);
    CHECK_INT(before.depth, after.depth);
    CHECK_INT(before.accepted, after.accepted);
    CHECK_INT(before.capacity_messages, after.capacity_messages);
    CHECK_INT(before.lost, after.lost);
    CHECK(!lbx_mailbox_is_closed(nest->box.mailbox));
    nest_relent(nest->memory);
    CHECK_OK(lbx_producer_try_send_envelope(nest->box.in, envelope, NULL));
}

// Sends messages 1 to `count`, each in the envelope that `wrap` makes.
static void
send_all_or_retry(struct nest *nest, int count, lbx_envelope (*wrap)(int))
{
    for (int number = 1; number <= count; number++) {
        lbx_envelope envelope = wrap(number);

        send_or_retry(nest, &envelope);
    }
}

static lbx_envelope
wrap_plain(int number)
{
    return lbx_envelope_with_default_priority(letter(number));
}

static lbx_envelope
wrap_system(int number)
{
    return lbx_envelope_from_system(lbx_system_message_of(LBX_SYSTEM_CODE_STOP),
                                    letter(number));
}

static lbx_envelope
wrap_control(int number)
{
    return lbx_envelope_control(letter(number), 0);
}

static void
send_body(struct torture *memory, void *context)
{
    struct nest nest;

    if (!nest_make(&nest, memory, context, options_for(context, MANY)))
        return;
    send_all_or_retry(&nest, MANY, wrap_plain);
    nest_relent(memory);
    nest_end(&nest, MANY);
}

NEST_PROMISE(sends_survive_every_failing_allocation, send_body)

EVERY_KIND(KIND_TEST, sends_survive_every_failing_allocation)

static void
plain_send_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = plain_options();
    struct nest nest;

    if (kind_is_limited(context))
        options.capacity_messages = MANY;
    if (!nest_make(&nest, memory, context, options))
        return;
    for (int number = 1; number <= MANY; number++) {
        lbx_status status = lbx_producer_try_send(nest.box.in, letter(number));

        if (status == LBX_OK)
            continue;
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(number - 1, lbx_mailbox_depth(nest.box.mailbox));
        nest_relent(memory);
        box_send(&nest.box, number);
    }
    nest_end(&nest, MANY);
}

// The one-word lanes are other code than the envelope lanes.
NEST_PROMISE(plain_sends_survive_every_failing_allocation, plain_send_body)

KIND_TEST(unbounded, LBX_KIND_UNBOUNDED,
          plain_sends_survive_every_failing_allocation)
KIND_TEST(single_consumer, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
          plain_sends_survive_every_failing_allocation)
KIND_TEST(bounded, LBX_KIND_BOUNDED,
          plain_sends_survive_every_failing_allocation)
KIND_TEST(unbounded_priority, LBX_KIND_UNBOUNDED_PRIORITY,
          plain_sends_survive_every_failing_allocation)

static void
system_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = options_for(context, 10);
    struct nest nest;

    options.system_reservation = LBX_UNLIMITED;
    if (!nest_make(&nest, memory, context, options))
        return;
    send_all_or_retry(&nest, MANY, wrap_system);
    nest_end(&nest, MANY);
}

// The first one may have to make its lane.
NEST_PROMISE(system_sends_survive_every_failing_allocation, system_body)

EVERY_KIND(KIND_CITING, "R-08", system_sends_survive_every_failing_allocation)

static void
control_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = options_for(context, 10);
    struct nest nest;

    options.control_capacity = LBX_UNLIMITED;
    if (!nest_make(&nest, memory, context, options))
        return;
    send_all_or_retry(&nest, MANY, wrap_control);
    nest_end(&nest, MANY);
}

NEST_PROMISE(control_sends_survive_every_failing_allocation, control_body)

KIND_TEST(unbounded_control_aware, LBX_KIND_UNBOUNDED_CONTROL_AWARE,
          control_sends_survive_every_failing_allocation)
KIND_TEST(bounded_control_aware, LBX_KIND_BOUNDED_CONTROL_AWARE,
          control_sends_survive_every_failing_allocation)

static void
front_body(struct torture *memory, void *context)
{
    struct nest nest;

    if (!nest_make(&nest, memory, context, options_for(context, MANY)))
        return;
    for (int number = MANY; number >= 1; number--) {
        lbx_status status =
            lbx_producer_try_send_front(nest.box.in, letter(number));

        if (status == LBX_OK)
            continue;
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(MANY - number, lbx_mailbox_depth(nest.box.mailbox));
        nest_relent(memory);
        CHECK_OK(lbx_producer_try_send_front(nest.box.in, letter(number)));
    }
    nest_end(&nest, MANY);
}

TEST(sends_to_the_front_survive_every_failing_allocation)
{
    CHECK(nest_torture_kind(front_body, LBX_KIND_UNBOUNDED_DEQUE) > 0);
    CHECK(nest_torture_kind(front_body, LBX_KIND_BOUNDED_DEQUE) > 0);
}

static void
batch_body(struct torture *memory, void *context)
{
    static void *messages[MANY];
    struct nest nest;
    size_t sent = 0;
    lbx_status status;

    for (int i = 0; i < MANY; i++)
        messages[i] = letter(i + 1);
    if (!nest_make(&nest, memory, context, options_for(context, MANY)))
        return;
    status = lbx_producer_try_send_batch(nest.box.in, messages, MANY, &sent);
    if (status != LBX_OK) {
        size_t rest = 0;

        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_INT(sent, lbx_mailbox_depth(nest.box.mailbox));
        nest_relent(memory);
        CHECK_OK(lbx_producer_try_send_batch(nest.box.in, messages + sent,
                                             MANY - sent, &rest));
        sent += rest;
    }
    CHECK_INT(MANY, sent);
    nest_end(&nest, MANY);
}

// How many went in is exact, also when memory ran out in the middle.
NEST_PROMISE(batches_survive_every_failing_allocation, batch_body)

EVERY_KIND(KIND_TEST, batches_survive_every_failing_allocation)

static void
grow_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_GROW);
    struct nest nest;

    if (!nest_make(&nest, memory, context, options))
        return;
    send_all_or_retry(&nest, 1000, wrap_plain);
    CHECK_INT(1024, lbx_mailbox_capacity(nest.box.mailbox));
    nest_end(&nest, 1000);
}

// A capacity that could not be doubled stays as it was.
NEST_PROMISE(growing_survives_every_failing_allocation, grow_body)

LIMITED_KINDS(KIND_TEST, growing_survives_every_failing_allocation)

// ---- Waiting sends ----

static void
hand_over_body(struct torture *memory, void *context)
{
    lbx_mailbox_options options = options_for(context, 2);
    struct sender senders[3];
    struct nest nest;
    int in = 0;
    int out = 0;

    options.overflow = LBX_OVERFLOW_BLOCK;
    if (!nest_make(&nest, memory, context, options))
        return;
    send_all_or_retry(&nest, 2, wrap_plain);
    for (int i = 0; i < 3; i++)
        sender_wait(&senders[i], &nest.box, i + 3);
    while (box_look(&nest.box) == LBX_OK)
        out++;
    for (int i = 0; i < 3; i++) {
        lbx_status status = sender_poll(&senders[i]);

        CHECK(status == LBX_OK || status == LBX_NO_MEMORY);
        in += status == LBX_OK;
        lbx_operation_fini(&senders[i].operation);
    }
    CHECK_INT(2 + in, out); // wholly in or wholly out
    CHECK_INT(0, box_stats(&nest.box).waiting_senders);
    box_end(&nest.box);
}

// WAIT-4 without memory: a receive that frees space moves the waiting message
// in, or ends its send with LBX_NO_MEMORY; no sender waits for ever.
static void
hand_over_survives_every_failing_allocation(const char *kind)
{
    (void)nest_torture_kind(hand_over_body, kind);
}

LIMITED_KINDS(KIND_CITING, "WAIT-4",
              hand_over_survives_every_failing_allocation)
