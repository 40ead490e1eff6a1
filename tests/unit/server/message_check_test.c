/* SPDX-License-Identifier: Apache-2.0 */
/* What SQS takes of messages and receives, and the words it refuses with. */
#include "server/sqs/fault_text.h"
#include "server/sqs/message_check.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static lbx_box_options standard, fifo;
static lbx__sqs_fault fault;

static void
set_up(void)
{
    standard = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    fifo = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    memset(&fault, 0, sizeof(fault));
}

static lbx__sqs_entry
message(const char *body)
{
    set_up();
    return (lbx__sqs_entry){.body = lbx__slice_of(body)};
}

static void
check_fault(lbx__sqs_error error, const char *text)
{
    CHECK_INT(error, fault.error);
    CHECK_STR(text, fault.text);
}

static void
check_refused(lbx__sqs_entry *entry, lbx__sqs_error error, const char *text)
{
    CHECK(!lbx__message_check_send(entry, &standard, 0, &fault));
    check_fault(error, text);
}

static bool
takes(lbx__sqs_entry *entry)
{
    return lbx__message_check_send(entry, &standard, 0, &fault);
}

/* ---- Bodies ---- */

TEST(body_must_be_there)
{
    lbx__sqs_entry none = message(NULL), empty = message("");
    static const char text[] =
        "The request must contain the parameter MessageBody.";

    check_refused(&none, LBX__SQS_MissingRequiredParameterException, text);
    check_refused(&empty, LBX__SQS_MissingRequiredParameterException, text);
    CHECK(!lbx__message_check_send(&none, &standard, 2, &fault));
    check_fault(LBX__SQS_MissingRequiredParameterException,
                "The request must contain the parameter "
                "SendMessageBatchRequestEntry.2.MessageBody.");
}

TEST(body_has_characters_of_xml_only)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool is_good;
    } bodies[] = {
        {"\t\n\r", 3, true},
        {"a\0b", 3, false},
        {"\b", 1, false},
        {"\x13", 1, false},
        {"\x1f", 1, false},
        {"\x7f", 1, true},
        {"\xef\xbf\xbd", 3, true},
        {"\xef\xbf\xbe", 3, false},
        {"\xef\xbf\xbf", 3, false},
        {"\xed\xa0\x80", 3, false},
        {"\xf0\x9f\x98\x80", 4, true},
        {"\xff", 1, false},
    };

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        lbx__sqs_entry entry = message("");

        entry.body = (lbx__slice){bodies[i].bytes, bodies[i].size};
        CHECK_INT(bodies[i].is_good, takes(&entry));
        if (!bodies[i].is_good)
            CHECK_INT(LBX__SQS_InvalidMessageContents, fault.error);
    }
}

static char *
long_text(size_t size)
{
    char *text = malloc(size + 1);

    CHECK(text);
    memset(text, 'x', size);
    text[size] = '\0';
    return text;
}

TEST(message_is_at_most_as_long_as_its_queue_allows)
{
    char *text = long_text((1 << 20) + 1);
    lbx__sqs_entry entry = message(text);

    check_refused(&entry, LBX__SQS_InvalidParameterValueException,
                  "One or more parameters are invalid. Reason: Message must be "
                  "shorter than 1048576 bytes.");
    entry.body.size--;
    CHECK(takes(&entry));
    standard.limits.max_letter_bytes = 1024;
    CHECK(!lbx__message_check_send(&entry, &standard, 1, &fault));
    check_fault(LBX__SQS_InvalidParameterValueException,
                "One or more parameters cannot be validated. Reason: Message "
                "must be shorter than 1024 bytes.");
    free(text);
}

/* Name, type and value count; a queue of a program has no limit of its own. */
TEST(attributes_count_as_the_body_does)
{
    char *text = long_text(1 << 20);
    lbx__sqs_entry entry = message(text);
    lbx__sqs_attribute attribute = {
        .name = lbx__slice_of("a"),
        .data_type = lbx__slice_of("String"),
        .string_value = lbx__slice_of("v"),
    };

    standard.limits.max_letter_bytes = LBX_UNLIMITED;
    entry.attributes = (lbx__sqs_attributes){&attribute, 1};
    entry.body.size -= 7;
    CHECK_INT((1 << 20) + 1, lbx__message_check_bytes(&entry));
    CHECK(!takes(&entry));
    entry.body.size--;
    CHECK(takes(&entry));
    free(text);
}

/* ---- Delays ---- */

static lbx__sqs_number
number(int64_t value)
{
    return (lbx__sqs_number){.given = true, .value = value};
}

TEST(delay_is_between_0_and_900_seconds)
{
    lbx__sqs_entry entry = message("x");

    entry.delay = number(-1);
    check_refused(&entry, LBX__SQS_InvalidParameterValueException,
                  "Value -1 for parameter DelaySeconds is invalid. Reason: "
                  "DelaySeconds must be >= 0 and <= 900.");
    entry.delay = number(901);
    CHECK(!takes(&entry));
    entry.delay = number(900);
    CHECK(takes(&entry));
    entry.delay = number(0);
    CHECK(takes(&entry));
}

TEST(delay_of_a_message_is_refused_by_a_fifo_queue)
{
    lbx__sqs_entry entry = message("x");

    entry.group_id = entry.deduplication_id = lbx__slice_of("g");
    entry.delay = number(2);
    CHECK(!lbx__message_check_send(&entry, &fifo, 0, &fault));
    check_fault(LBX__SQS_InvalidParameterValueException,
                "Value 2 for parameter DelaySeconds is invalid. Reason: The "
                "request include parameter that is not valid for this queue "
                "type.");
    entry.delay = number(0);
    CHECK(lbx__message_check_send(&entry, &fifo, 0, &fault));
}

/* ---- Groups and duplicates ---- */

TEST(group_is_required_by_a_fifo_queue)
{
    static const char text[] =
        "The request must contain the parameter MessageGroupId.";
    lbx__sqs_entry entry = message("x");

    entry.deduplication_id = lbx__slice_of("d");
    CHECK(!lbx__message_check_send(&entry, &fifo, 0, &fault));
    check_fault(LBX__SQS_MissingRequiredParameterException, text);
    CHECK(!lbx__message_check_send(&entry, &fifo, 1, &fault));
    check_fault(LBX__SQS_InvalidParameterValueException, text);
}

TEST(duplicate_id_is_required_unless_the_body_is_hashed)
{
    lbx__sqs_entry entry = message("x");

    entry.group_id = lbx__slice_of("g");
    CHECK(!lbx__message_check_send(&entry, &fifo, 0, &fault));
    check_fault(LBX__SQS_InvalidParameterValueException,
                "The queue should either have ContentBasedDeduplication "
                "enabled or MessageDeduplicationId provided explicitly");
    fifo.deduplicate_by_content = true;
    CHECK(lbx__message_check_send(&entry, &fifo, 0, &fault));
}

TEST(duplicate_id_is_refused_by_a_standard_queue_and_a_group_is_not)
{
    lbx__sqs_entry entry = message("x");

    entry.group_id = lbx__slice_of("tenant");
    CHECK(takes(&entry));
    entry.deduplication_id = lbx__slice_of("d");
    check_refused(&entry, LBX__SQS_InvalidParameterValueException,
                  "Value d for parameter MessageDeduplicationId is invalid. "
                  "Reason: The request include parameter that is not valid for "
                  "this queue type.");
}

TEST(ids_are_1_to_128_visible_characters)
{
    char *text = long_text(129);
    lbx__slice id = {text, 129};

    set_up();
    CHECK(!lbx__message_check_id(id, "MessageGroupId", &fault));
    id.size--;
    CHECK(lbx__message_check_id(id, "MessageGroupId", &fault));
    CHECK(lbx__message_check_id(lbx__slice_of("!~"), "MessageGroupId", &fault));
    CHECK(lbx__message_check_id((lbx__slice){NULL, 0}, "x", &fault));
    CHECK(!lbx__message_check_id(lbx__slice_of(""), "x", &fault));
    CHECK(!lbx__message_check_id(lbx__slice_of("\xc3\xa4"), "x", &fault));
    CHECK(!lbx__message_check_id(lbx__slice_of("a\x7f"), "x", &fault));
    CHECK(
        !lbx__message_check_id(lbx__slice_of("a b"), "MessageGroupId", &fault));
    check_fault(LBX__SQS_InvalidParameterValueException,
                "Value a b for parameter MessageGroupId is invalid. Reason: "
                "MessageGroupId can only include alphanumeric and punctuation "
                "characters. 1 to 128 in length.");
    free(text);
}

/* ---- Receives ---- */

static void
check_receive(const lbx__sqs_input *input, const char *text)
{
    CHECK(!lbx__message_check_receive(input, true, &fault));
    check_fault(LBX__SQS_InvalidParameterValueException, text);
}

TEST(numbers_of_a_receive_have_bounds)
{
    lbx__sqs_input input = {.max_messages = number(0)};

    set_up();
    check_receive(&input,
                  "Value 0 for parameter MaxNumberOfMessages is invalid. "
                  "Reason: Must be between 1 and 10, if provided.");
    input = (lbx__sqs_input){.max_messages = number(11)};
    CHECK(!lbx__message_check_receive(&input, true, &fault));
    input = (lbx__sqs_input){.wait = number(21)};
    check_receive(&input, "Value 21 for parameter WaitTimeSeconds is invalid. "
                          "Reason: Must be >= 0 and <= 20, if provided.");
    input = (lbx__sqs_input){.wait = number(-1)};
    CHECK(!lbx__message_check_receive(&input, true, &fault));
    input = (lbx__sqs_input){.entry.visibility = number(43201)};
    check_receive(&input,
                  "Value 43201 for parameter VisibilityTimeout is invalid. "
                  "Reason: Must be >= 0 and <= 43200, if provided.");
    input = (lbx__sqs_input){.entry.visibility = number(-1)};
    CHECK(!lbx__message_check_receive(&input, true, &fault));
    input = (lbx__sqs_input){.max_messages = number(10),
                             .wait = number(20),
                             .entry.visibility = number(43200)};
    CHECK(lbx__message_check_receive(&input, true, &fault));
}

/* Spring sends it to standard queues too. */
TEST(attempt_id_matters_to_fifo_queues_only)
{
    const lbx__sqs_input input = {.attempt_id = lbx__slice_of("a b")};

    set_up();
    CHECK(!lbx__message_check_receive(&input, true, &fault));
    CHECK(lbx__message_check_receive(&input, false, &fault));
}

/* ---- Faults ---- */

TEST(quoted_text_is_cut_between_characters)
{
    char text[512];

    memset(text, 'x', sizeof(text));
    memcpy(text + 298, "\xe2\x82\xac", 3);
    CHECK_INT(298, lbx__fault_text_clip((lbx__slice){text, sizeof(text)}));
    CHECK_INT(100, lbx__fault_text_clip((lbx__slice){text, 100}));
}

TEST(fault_that_is_too_long_is_cut_between_characters)
{
    char text[600];

    for (size_t i = 0; i + 1 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    CHECK(!lbx__fault_text_set(&fault, LBX__SQS_InternalFailure, "%.*s",
                               (int)sizeof(text) - 2, text));
    CHECK_INT(sizeof(fault.text) - 2, strlen(fault.text)); // half of one is cut
    CHECK(!lbx__fault_text_set(&fault, LBX__SQS_InternalFailure, "x%.*s",
                               (int)sizeof(fault.text), text));
    CHECK_INT(sizeof(fault.text) - 3, strlen(fault.text));
}
