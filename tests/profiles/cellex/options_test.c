/* SPDX-License-Identifier: Apache-2.0 */
/* cellex: MailboxOptions and PriorityEnvelope. */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

static int64_t
capacity_limit(const lbx_mailbox_options *options)
{
    return lbx_mailbox_options_limit(options->capacity_messages, LBX_UNLIMITED);
}

static int64_t
priority_capacity_limit(const lbx_mailbox_options *options)
{
    return lbx_mailbox_options_limit(options->system_reservation,
                                     LBX_MAILBOX_DEFAULT_SYSTEM_RESERVATION);
}

/* Defaults: no limit for messages, 4 places for system messages. */
TEST_CITING("C-13 C-14 C-16", default_reservation_applied)
{
    lbx_mailbox_options plain = LBX_MAILBOX_OPTIONS_INIT;
    lbx_mailbox_options cellex = lbx_cellex_mailbox_options();

    CHECK_INT(4, LBX_MAILBOX_DEFAULT_SYSTEM_RESERVATION);
    CHECK_INT(4, priority_capacity_limit(&plain));
    CHECK_INT(-1, capacity_limit(&plain));
    CHECK_INT(4, priority_capacity_limit(&cellex));
    CHECK_INT(-1, capacity_limit(&cellex));
}

/* cellex's builders are assignments here; the limits read back the same. */
TEST_CITING("C-15", mailbox_options_helpers)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    options.capacity_messages = 8; // with_capacity
    CHECK_INT(8, capacity_limit(&options));
    CHECK_INT(4, priority_capacity_limit(&options)); // still there
    options.system_reservation = 2;                  // with_capacities
    CHECK_INT(2, priority_capacity_limit(&options));
    options.capacity_messages = LBX_UNLIMITED; // unbounded
    options.system_reservation = LBX_UNLIMITED;
    CHECK_INT(-1, capacity_limit(&options));
    CHECK_INT(-1, priority_capacity_limit(&options));
}

/* cellex takes "limitless" for "no lane at all". Here they differ: unlimited
 * accepts any number, disabled accepts none. */
TEST_CITING("C-16 R-08", limitless_reservation_is_not_a_missing_lane)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();
    struct box box;

    options.system_reservation = LBX_UNLIMITED;
    box = box_create(LBX_KIND_UNBOUNDED, &options);
    for (int i = 1; i <= 100; i++)
        CHECK_OK(box_post(&box, system_of(LBX_SYSTEM_CODE_WATCH, i), NULL));
    CHECK_INT(100, box_stats(&box).system_depth);
    box_destroy(&box);

    options.system_reservation = LBX_LIMIT_DISABLED;
    box = box_create(LBX_KIND_UNBOUNDED, &options);
    CHECK_STATUS(LBX_UNSUPPORTED,
                 box_post(&box, system_of(LBX_SYSTEM_CODE_WATCH, 1), NULL));
    CHECK_OK(box_send(&box, 2)); // it is only the lane that is missing
    box_destroy(&box);
}

/* A capacity of 0 is "limitless" in one cellex factory and 1 in another; here
 * it is a mistake, for both limits. */
TEST_CITING("C-15 R-09", capacity_zero_is_refused)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();
    lbx_producer *in;
    lbx_consumer *out;

    options.capacity_messages = 0;
    CHECK_STATUS(LBX_INVALID,
                 lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out));
    options.capacity_messages = 1;
    options.system_reservation = 0;
    CHECK_STATUS(LBX_INVALID,
                 lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out));
}

/* ---- Envelopes ---- */

static void *
next_number(void *message, void *context)
{
    (void)context;
    return message_of(number_of(message) + 1);
}

static int32_t
add(int32_t priority, void *context)
{
    return priority + *(int32_t *)context;
}

TEST_CITING("C-07 C-08 C-10", priority_envelope_exposes_priority)
{
    lbx_envelope envelope = lbx_envelope_of(message_of(5), 7);
    int32_t priority = 0;
    void *message = NULL;

    CHECK_INT(7, envelope.priority);
    CHECK_INT(LBX_CHANNEL_REGULAR, envelope.channel);
    CHECK(!lbx_envelope_is_control(&envelope));
    CHECK(!lbx_envelope_is_system(&envelope));
    lbx_envelope_into_parts(&envelope, &message, &priority, NULL, NULL);
    CHECK_INT(5, number_of(message));
    CHECK_INT(7, priority);
}

TEST_CITING("C-08", envelope_constructors_set_channel_and_priority)
{
    lbx_envelope by_channel =
        lbx_envelope_with_channel(message_of(1), 6, LBX_CHANNEL_CONTROL);
    lbx_envelope by_name = lbx_envelope_control(message_of(1), 6);
    lbx_envelope plain = lbx_envelope_with_default_priority(message_of(1));

    CHECK_INT(LBX_CHANNEL_CONTROL, by_channel.channel);
    CHECK_INT(6, by_channel.priority);
    CHECK(lbx_envelope_is_control(&by_name));
    CHECK_INT(6, by_name.priority);
    CHECK_INT(LBX_CHANNEL_REGULAR, plain.channel);
    CHECK_INT(LBX_PRIORITY_DEFAULT, plain.priority);
}

/* map replaces the message and keeps everything beside it. */
TEST_CITING("C-08", envelope_map_keeps_metadata)
{
    lbx_envelope before = lbx_envelope_control(message_of(41), 9);
    lbx_envelope after;

    before.sender = &before;
    before.deadline_ns = 77;
    after = lbx_envelope_map(before, next_number, NULL);
    CHECK_INT(42, number_of(after.message));
    CHECK_INT(9, after.priority);
    CHECK(lbx_envelope_is_control(&after));
    CHECK_PTR(&before, after.sender);
    CHECK_INT(77, after.deadline_ns);
    CHECK_INT(41, number_of(before.message));
}

TEST_CITING("C-08", envelope_map_priority_changes_the_number_only)
{
    int32_t more = 5;
    lbx_envelope envelope = lbx_envelope_map_priority(
        lbx_envelope_control(message_of(1), 2), add, &more);

    CHECK_INT(7, envelope.priority);
    CHECK_INT(1, number_of(envelope.message));
    CHECK(lbx_envelope_is_control(&envelope));
}

/* into_parts_with_channel, and the system message with it. */
TEST_CITING("C-08", envelope_comes_apart_into_all_its_parts)
{
    lbx_envelope envelope = system_of(LBX_SYSTEM_CODE_STOP, 3);
    void *message = NULL;
    int32_t priority = 0;
    lbx_channel channel = LBX_CHANNEL_REGULAR;
    lbx_system_message system = {0, 0};

    lbx_envelope_into_parts(&envelope, &message, &priority, &channel, &system);
    CHECK_INT(3, number_of(message));
    CHECK_INT(14, priority);
    CHECK_INT(LBX_CHANNEL_CONTROL, channel);
    CHECK_INT(LBX_SYSTEM_CODE_STOP, system.code);
    CHECK_INT(14, system.priority);
}

TEST_CITING("C-09 C-12", from_system_is_above_the_default)
{
    lbx_envelope envelope = system_of(LBX_SYSTEM_CODE_SUSPEND, 1);

    CHECK(lbx_envelope_is_system(&envelope));
    CHECK(lbx_envelope_is_control(&envelope));
    CHECK(envelope.priority > LBX_CELLEX_PRIORITY_DEFAULT);
    CHECK_INT(envelope.system.priority, envelope.priority);
}

/* The seed's scenario: a system message of priority 42. */
TEST_CITING("C-11 R-39", control_message_keeps_metadata_intact)
{
    lbx_system_message urgent = {LBX_SYSTEM_CODE_STOP, 42};
    lbx_envelope envelope = lbx_envelope_from_system(urgent, NULL);

    urgent.priority = 0; // it was copied
    CHECK_INT(LBX_CHANNEL_CONTROL, envelope.channel);
    CHECK_INT(LBX_SYSTEM_CODE_STOP, envelope.system.code);
    CHECK_INT(42, envelope.system.priority);
    CHECK_INT(42, envelope.priority);
}

/* And it is still 42 on the other side of a mailbox. */
BOX_TEST("C-09 C-11 R-39", envelope_travels_unchanged, cellex_unbounded())
{
    lbx_system_message urgent = {LBX_SYSTEM_CODE_USER + 1, 42};
    lbx_envelope received;

    CHECK_OK(
        box_post(box, lbx_envelope_from_system(urgent, message_of(1)), NULL));
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &received));
    CHECK_INT(42, received.priority);
    CHECK_INT(42, received.system.priority);
    CHECK_INT(LBX_SYSTEM_CODE_USER + 1, received.system.code);
    CHECK(lbx_envelope_is_control(&received));
    CHECK_INT(1, number_of(received.message));
}

static void
send_many(unsigned index, void *context)
{
    struct box *box = context;

    for (int i = 0; i < 500; i++) {
        lbx_envelope envelope = lbx_envelope_of(message_of(i), (int32_t)index);

        envelope.sender = message_of((intptr_t)index + 1);
        CHECK_OK(box_post(box, envelope, NULL));
    }
}

/* An envelope may cross threads whenever its message may, and arrives whole:
 * no field of one with the message of another. */
BOX_TEST("C-10", envelope_crosses_threads_whole, cellex_unbounded())
{
    intptr_t next[3] = {0};
    lbx_envelope envelope;

    threads_run(3, send_many, box);
    for (int i = 0; i < 1500; i++) {
        CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &envelope));
        CHECK_INT(envelope.priority + 1, number_of(envelope.sender));
        CHECK_INT(next[envelope.priority]++, number_of(envelope.message));
    }
}
