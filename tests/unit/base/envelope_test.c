/* SPDX-License-Identifier: Apache-2.0 */
/* Envelopes and system messages as values. */
#include "support/test.h"

#include <letterbox/mailbox/messages.h>

static char letter[] = "letter";
static char copied[] = "copied";

static void
check_plain(const lbx_envelope *envelope)
{
    CHECK_PTR(NULL, envelope->type);
    CHECK_PTR(NULL, envelope->sender);
    CHECK_PTR(NULL, envelope->recipient);
    CHECK_INT(LBX_FOREVER, envelope->deadline_ns);
    CHECK_INT(0, envelope->enqueued_ns);
    CHECK_INT(LBX_LOSS_NONE, envelope->lost);
    CHECK_INT(0, envelope->reserved[0]);
    CHECK_INT(0, envelope->reserved[1]);
}

TEST_CITING("C-07 C-08", envelope_constructors)
{
    lbx_envelope made = lbx_envelope_of(letter, -3);

    CHECK_PTR(letter, made.message);
    CHECK_INT(-3, made.priority);
    CHECK_INT(LBX_CHANNEL_REGULAR, made.channel);
    CHECK(!lbx_envelope_is_control(&made));
    CHECK(!lbx_envelope_is_system(&made));
    check_plain(&made);

    made = lbx_envelope_with_channel(letter, 7, LBX_CHANNEL_CONTROL);
    CHECK_INT(7, made.priority);
    CHECK(lbx_envelope_is_control(&made));
    CHECK(!lbx_envelope_is_system(&made));
    check_plain(&made);

    made = lbx_envelope_control(letter, INT32_MIN);
    CHECK_INT(INT32_MIN, made.priority);
    CHECK(lbx_envelope_is_control(&made));
}

TEST_CITING("V-15 R-06", envelope_default_priority_is_ten)
{
    lbx_envelope made = lbx_envelope_with_default_priority(letter);

    CHECK_INT(10, made.priority);
    CHECK_INT(LBX_CHANNEL_REGULAR, made.channel);
    check_plain(&made);
}

TEST_CITING("R-11", envelope_may_hold_no_message)
{
    lbx_envelope made = lbx_envelope_with_default_priority(NULL);

    CHECK_PTR(NULL, made.message);
}

TEST_CITING("R-06", envelope_of_type_has_its_priority)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_envelope made;
    lbx_type *type;

    options.name = "A";
    options.default_priority = 3;
    CHECK_OK(lbx_type_create(&options, &type));
    made = lbx_envelope_of_type(letter, type);
    CHECK_PTR(type, made.type);
    CHECK_INT(3, made.priority);
    CHECK_PTR(letter, made.message);
    lbx_type_destroy(type);

    made = lbx_envelope_of_type(letter, NULL);
    CHECK_PTR(NULL, made.type);
    CHECK_INT(LBX_PRIORITY_DEFAULT, made.priority);
}

TEST_CITING("C-12", system_messages_have_the_catalogue_priorities)
{
    static const struct {
        int32_t code, above_default;
    } catalogue[] = {
        {LBX_SYSTEM_CODE_WATCH, 5},           {LBX_SYSTEM_CODE_UNWATCH, 5},
        {LBX_SYSTEM_CODE_RECEIVE_TIMEOUT, 8}, {LBX_SYSTEM_CODE_SUSPEND, 9},
        {LBX_SYSTEM_CODE_RESUME, 9},          {LBX_SYSTEM_CODE_STOP, 10},
        {LBX_SYSTEM_CODE_RESTART, 11},        {LBX_SYSTEM_CODE_FAILURE, 12},
        {LBX_SYSTEM_CODE_ESCALATE, 13},
    };

    CHECK_INT(4, LBX_SYSTEM_PRIORITY_DEFAULT);
    for (size_t i = 0; i < sizeof(catalogue) / sizeof(catalogue[0]); i++) {
        lbx_system_message made = lbx_system_message_of(catalogue[i].code);

        CHECK_INT(catalogue[i].code, made.code);
        CHECK_INT(4 + catalogue[i].above_default, made.priority);
    }
}

TEST(system_messages_of_ones_own_start_at_the_default)
{
    lbx_system_message made = lbx_system_message_of(LBX_SYSTEM_CODE_USER + 5);

    CHECK_INT(LBX_SYSTEM_CODE_USER + 5, made.code);
    CHECK_INT(LBX_SYSTEM_PRIORITY_DEFAULT, made.priority);
    made = lbx_system_message_of(-1);
    CHECK_INT(LBX_SYSTEM_PRIORITY_DEFAULT, made.priority);
}

TEST_CITING("C-09 C-11 R-39", envelope_from_system_keeps_its_priority)
{
    lbx_system_message stop = lbx_system_message_of(LBX_SYSTEM_CODE_STOP);
    lbx_envelope made;

    stop.priority = 42;
    made = lbx_envelope_from_system(stop, letter);
    stop.priority = 0; // the envelope has a copy
    CHECK_PTR(letter, made.message);
    CHECK_INT(42, made.priority);
    CHECK_INT(42, made.system.priority);
    CHECK_INT(LBX_SYSTEM_CODE_STOP, made.system.code);
    CHECK(lbx_envelope_is_control(&made));
    CHECK(lbx_envelope_is_system(&made));
    check_plain(&made);
}

static void *
exchange_message(void *message, void *context)
{
    CHECK_PTR(letter, message);
    return context;
}

static int32_t
add(int32_t priority, void *context)
{
    return priority + *(const int32_t *)context;
}

TEST_CITING("C-08", envelope_map_keeps_everything_else)
{
    lbx_envelope made = lbx_envelope_control(letter, 2);
    lbx_envelope mapped;

    made.sender = &made;
    made.deadline_ns = 99;
    mapped = lbx_envelope_map(made, exchange_message, copied);
    CHECK_PTR(copied, mapped.message);
    CHECK_PTR(letter, made.message);
    CHECK_INT(2, mapped.priority);
    CHECK_INT(99, mapped.deadline_ns);
    CHECK_PTR(&made, mapped.sender);
    CHECK(lbx_envelope_is_control(&mapped));
    CHECK_PTR(letter, lbx_envelope_map(made, NULL, NULL).message);
}

TEST_CITING("C-08", envelope_map_priority_keeps_everything_else)
{
    lbx_envelope made = lbx_envelope_control(letter, 2);
    int32_t more = 5;
    lbx_envelope mapped = lbx_envelope_map_priority(made, add, &more);

    CHECK_INT(7, mapped.priority);
    CHECK_PTR(letter, mapped.message);
    CHECK(lbx_envelope_is_control(&mapped));
    CHECK_INT(2, lbx_envelope_map_priority(made, NULL, NULL).priority);
}

TEST_CITING("C-08", envelope_comes_apart)
{
    lbx_envelope made = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_SUSPEND), letter);
    lbx_system_message system = {0, 0};
    lbx_channel channel = LBX_CHANNEL_REGULAR;
    void *message = NULL;
    int32_t priority = 0;

    lbx_envelope_into_parts(&made, &message, &priority, &channel, &system);
    CHECK_PTR(letter, message);
    CHECK_INT(13, priority);
    CHECK_INT(LBX_CHANNEL_CONTROL, channel);
    CHECK_INT(LBX_SYSTEM_CODE_SUSPEND, system.code);

    lbx_envelope_into_parts(&made, NULL, NULL, NULL, NULL);
    lbx_envelope_into_parts(NULL, &message, NULL, NULL, NULL);
    CHECK_PTR(letter, message);
}

TEST(envelope_questions_take_no_envelope)
{
    CHECK(!lbx_envelope_is_control(NULL));
    CHECK(!lbx_envelope_is_system(NULL));
}
