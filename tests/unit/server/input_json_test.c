/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs in AWS JSON 1.0: every member, and what is refused. */
#include "server/input_fixture.h"
#include "support/test.h"
#include "support/torture.h"

#include <stdio.h>
#include <stdlib.h>

TEST(json_has_texts_and_numbers)
{
    struct input_read read;
    const lbx__sqs_input *in = &read.input;

    input_json(&read,
               "{\"QueueUrl\":\"http:\\/\\/h\\/1\\/q\",\"QueueName\":\"n\","
               "\"QueueNamePrefix\":\"p\",\"QueueOwnerAWSAccountId\":\"o\","
               "\"Label\":\"l\",\"NextToken\":\"t\",\"SourceArn\":\"s\","
               "\"DestinationArn\":\"d\",\"TaskHandle\":\"h\","
               "\"ReceiveRequestAttemptId\":\"a\",\"MaxResults\":1,"
               "\"MaxNumberOfMessages\":10,\"WaitTimeSeconds\":-1,"
               "\"MaxNumberOfMessagesPerSecond\":500}");
    CHECK(read.fits);
    check_text("http://h/1/q", in->queue_url);
    check_text("n", in->queue_name);
    check_text("p", in->queue_prefix);
    check_text("o", in->owner);
    check_text("l", in->label);
    check_text("t", in->next_token);
    check_text("s", in->source_arn);
    check_text("d", in->destination_arn);
    check_text("h", in->task_handle);
    check_text("a", in->attempt_id);
    CHECK_INT(1, in->max_results.value);
    CHECK_INT(10, in->max_messages.value);
    CHECK(in->wait.given);
    CHECK_INT(-1, in->wait.value);
    check_text("-1", in->wait.text);
    CHECK_INT(500, in->rate.value);
    CHECK(!in->entry.body.bytes);
    CHECK(!in->entry.delay.given);
    CHECK(!in->has_attributes && !in->has_tags);
    CHECK_INT(0, in->entry_count);
    input_done(&read);
}

TEST(json_has_the_members_of_a_message)
{
    struct input_read read;
    const lbx__sqs_entry *entry = &read.input.entry;

    input_json(&read,
               "{\"MessageBody\":\"a\\u00fc\\ud83d\\ude00\\n\xc3\xbc\","
               "\"DelaySeconds\""
               ":0,\"MessageDeduplicationId\":\"d\",\"MessageGroupId\":\"\","
               "\"ReceiptHandle\":\"r\",\"VisibilityTimeout\":43200,"
               "\"MessageAttributes\":{\"one\":{\"DataType\":\"String\","
               "\"StringValue\":\"s\",\"StringListValues\":[],"
               "\"BinaryListValues\":[]},"
               "\"two\":{\"BinaryValue\":\"AP8=\",\"DataType\":\"Binary.x\","
               "\"more\":[]"
               "},\"three\":{\"StringListValues\":[\"a\"]},\"four\":null,"
               "\"five\":{\"DataType\":null,\"BinaryListValues\":[\"\"]}},"
               "\"MessageSystemAttributes\":{\"AWSTraceHeader\":{\"DataType\":"
               "\"String\",\"StringValue\":\"\"}}}");
    CHECK(read.fits);
    check_text("a\xc3\xbc\xf0\x9f\x98\x80\n\xc3\xbc", entry->body);
    CHECK(entry->delay.given);
    CHECK_INT(0, entry->delay.value);
    check_text("d", entry->deduplication_id);
    check_text("", entry->group_id); // is not the same as absent
    check_text("r", entry->receipt);
    CHECK_INT(43200, entry->visibility.value);
    CHECK_INT(4, entry->attributes.count);
    check_text("one", entry->attributes.items[0].name);
    check_text("String", entry->attributes.items[0].data_type);
    check_text("s", entry->attributes.items[0].string_value);
    CHECK(!entry->attributes.items[0].binary_value.bytes);
    CHECK(!entry->attributes.items[0].has_list_values);
    check_text("Binary.x", entry->attributes.items[1].data_type);
    CHECK(!entry->attributes.items[1].string_value.bytes);
    CHECK_INT(2, entry->attributes.items[1].binary_value.size);
    CHECK(memcmp("\0\xff", entry->attributes.items[1].binary_value.bytes, 3) ==
          0);
    CHECK(entry->attributes.items[2].has_list_values);
    check_text("five", entry->attributes.items[3].name);
    CHECK(!entry->attributes.items[3].data_type.bytes);
    CHECK(entry->attributes.items[3].has_list_values);
    CHECK_INT(1, entry->system_attributes.count);
    check_text("AWSTraceHeader", entry->system_attributes.items[0].name);
    check_text("", entry->system_attributes.items[0].string_value);
    input_done(&read);
}

TEST(json_has_lists_and_maps)
{
    struct input_read read;
    const lbx__sqs_input *in = &read.input;

    input_json(&read,
               "{\"Attributes\":{\"b\":\"2\",\"a\":\"\"},"
               "\"Tags\":{\"k\":\"v\"},\"TagKeys\":[\"x\",\"y\"],"
               "\"AttributeNames\":[\"All\"],\"MessageSystemAttributeNames\":"
               "[\"SenderId\"],\"MessageAttributeNames\":[\"foo.*\",\"\"],"
               "\"AWSAccountIds\":[\"1\"],\"Actions\":[\"*\"]}");
    CHECK(read.fits);
    CHECK(in->has_attributes && in->has_tags);
    CHECK_INT(2, in->attributes.count);
    check_text("b", in->attributes.items[0].name);
    check_text("2", in->attributes.items[0].value);
    check_text("", in->attributes.items[1].value);
    CHECK_INT(1, in->queue_tags.count);
    CHECK_INT(0, in->tags.count);
    CHECK_INT(2, in->tag_keys.count);
    check_text("y", in->tag_keys.items[1]);
    check_text("All", in->attribute_names.items[0]);
    check_text("SenderId", in->system_names.items[0]);
    check_text("", in->message_names.items[1]);
    check_text("1", in->account_ids.items[0]);
    check_text("*", in->action_names.items[0]);
    input_done(&read);

    input_json(&read, "{\"Attributes\":{},\"tags\":{\"k\":\"v\"}}");
    CHECK(read.fits);
    CHECK(read.input.has_attributes);
    CHECK_INT(0, read.input.attributes.count);
    CHECK_INT(1, read.input.tags.count); // in lower case, of CreateQueue
    input_done(&read);
}

TEST(json_has_entries)
{
    struct input_read read;
    const lbx__sqs_entry *entries;

    input_json(
        &read,
        "{\"Entries\":[{\"Id\":\"1\",\"MessageBody\":\"a\","
        "\"QueueUrl\":7},{\"Id\":\"2\",\"ReceiptHandle\":\"r\","
        "\"VisibilityTimeout\":5,\"MessageAttributes\":{\"n\":{}}},{}]}");
    CHECK(read.fits);
    entries = read.input.entries;
    CHECK_INT(3, read.input.entry_count);
    check_text("1", entries[0].id);
    check_text("a", entries[0].body);
    check_text("r", entries[1].receipt);
    CHECK_INT(5, entries[1].visibility.value);
    CHECK_INT(1, entries[1].attributes.count);
    CHECK(!entries[2].id.bytes);
    CHECK(!read.input.entry.id.bytes);
    CHECK(!read.input.queue_url.bytes); // not a member of entries: ignored
    input_done(&read);
}

TEST(json_members_that_are_null_or_unknown_are_absent)
{
    struct input_read read;

    input_json(&read,
               " { \"MessageBody\" : null , \"DelaySeconds\":null,\"Entries\":"
               "null,\"Attributes\":null,\"TagKeys\":null,\"New\":{\"a\":[1,{}]"
               "},\"MessageAttributes\":null, \"queueurl\":1 }\r\n");
    CHECK(read.fits);
    CHECK(!read.input.entry.body.bytes);
    CHECK(!read.input.entry.delay.given);
    CHECK(!read.input.has_attributes);
    CHECK_INT(0, read.input.entry_count);
    input_done(&read);
    input_json(&read, "{}");
    CHECK(read.fits);
    input_done(&read);
    input_json(&read, "{\"Queue\\u0055rl\":\"q\"}");
    CHECK(read.fits);
    check_text("q", read.input.queue_url);
    input_done(&read);
}

TEST(json_maps_have_no_null)
{
    static const char text[] = "the parameter 'value' may not be null";

    check_json_fault("{\"Attributes\":{\"a\":\"1\",\"b\":null}}",
                     LBX__SQS_InvalidParameterValueException, text);
    check_json_fault("{\"tags\":{\"b\":null}}",
                     LBX__SQS_InvalidParameterValueException, text);
}

TEST(json_must_be_one_object)
{
    static const char *const bad[] = {
        "",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{",
        "{}{}",
        "{} x",
        "{\"a\":}",
        "{'a'}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "\xff",
        "{\"a\":\"\xff\"}",
        "{\"QueueUrl\":\"cut",
        "{\"a\":1e}",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        check_json_fault(bad[i], LBX__SQS_SerializationException, "");
    check_json_fault("{\"QueueUrl\":\"a\",\"QueueUrl\":\"b\"}",
                     LBX__SQS_SerializationException, "");
}

TEST(json_values_of_another_kind_are_named)
{
    static const char *const rows[][2] = {
        {"{\"QueueUrl\":7}", "NUMBER_VALUE can not be converted to a String"},
        {"{\"MessageBody\":true}",
         "TRUE_VALUE can not be converted to a String"},
        {"{\"MessageBody\":{}}", "MessageBody must be a string"},
        {"{\"DelaySeconds\":\"1\"}",
         "STRING_VALUE can not be converted to an Integer"},
        {"{\"DelaySeconds\":false}",
         "FALSE_VALUE can not be converted to an Integer"},
        {"{\"DelaySeconds\":1.5}", "DelaySeconds"},
        {"{\"DelaySeconds\":1e2}", "DelaySeconds"},
        {"{\"DelaySeconds\":9223372036854775808}", "DelaySeconds"},
        {"{\"DelaySeconds\":1e400}", "DelaySeconds"},
        {"{\"DelaySeconds\":[]}", "DelaySeconds"},
        {"{\"Attributes\":[]}", "Attributes"},
        {"{\"Attributes\":{\"Delay\":1}}", "NUMBER_VALUE can not be"},
        {"{\"TagKeys\":\"x\"}", "TagKeys"},
        {"{\"TagKeys\":{}}", "TagKeys"},
        {"{\"TagKeys\":[null]}", "TagKeys"},
        {"{\"TagKeys\":[1]}", "NUMBER_VALUE can not be converted to a String"},
        {"{\"Entries\":{}}", "Entries"},
        {"{\"Entries\":[7]}", "Entries"},
        {"{\"Entries\":[{\"Id\":7}]}", "NUMBER_VALUE can not be"},
        {"{\"MessageAttributes\":[]}", "MessageAttributes"},
        {"{\"MessageAttributes\":{\"x\":\"y\"}}", "x must be an object"},
        {"{\"MessageAttributes\":{\"x\":{\"DataType\":1}}}",
         "NUMBER_VALUE can"},
        {"{\"MessageAttributes\":{\"x\":{\"StringValue\":1}}}", "to a String"},
        {"{\"MessageAttributes\":{\"x\":{\"BinaryValue\":\"A\"}}}",
         "BinaryValue must be base64"},
        {"{\"MessageAttributes\":{\"x\":{\"StringListValues\":1}}}",
         "StringListValues"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_json_fault(rows[i][0], LBX__SQS_SerializationException,
                         rows[i][1]);
}

/* AWS says so, and not that the JSON is bad: it can express them. */
TEST(json_bodies_with_impossible_characters_have_their_own_error)
{
    check_json_fault("{\"MessageBody\":\"a\\u0000b\"}",
                     LBX__SQS_InvalidMessageContents, "Invalid characters");
    check_json_fault("{\"MessageBody\":\"a\\ud800\"}",
                     LBX__SQS_InvalidMessageContents, "");
    check_json_fault("{\"MessageBody\":\"\xc3(\"}",
                     LBX__SQS_InvalidMessageContents, "");
    check_json_fault("{\"Entries\":[{\"MessageBody\":\"\\udc00x\"}]}",
                     LBX__SQS_InvalidMessageContents, "");
    check_json_fault("{\"QueueUrl\":\"a\\u0000b\"}",
                     LBX__SQS_SerializationException, "");
    check_json_fault("{\"MessageBody\":\"a\\x\"}",
                     LBX__SQS_SerializationException, "");
    check_json_fault("{\"MessageBody\":\"a\\u12",
                     LBX__SQS_SerializationException, "");
    check_json_fault("{\"MessageBody\":\"a\tb\"}",
                     LBX__SQS_SerializationException, "");
}

/* {"a":[x,x,x...]} */
static char *
json_repeat(const char *before, const char *item, size_t count,
            const char *after)
{
    const size_t size = strlen(item);
    char *text =
        malloc(strlen(before) + count * (size + 16) + strlen(after) + 1);
    size_t at = 0;

    CHECK(text);
    at += (size_t)sprintf(text + at, "%s", before);
    for (size_t i = 0; i < count; i++) {
        at += (size_t)sprintf(text + at, "%s", i > 0 ? "," : "");
        if (strcmp(item, "#") == 0)
            at += (size_t)sprintf(text + at, "\"%zu\":\"\"", i);
        else
            at += (size_t)sprintf(text + at, "%s", item);
    }
    (void)sprintf(text + at, "%s", after);
    return text;
}

static void
check_repeated(const char *before, const char *item, const char *after,
               lbx__sqs_error error)
{
    struct input_read read;
    char *text = json_repeat(before, item, LBX__SQS_MAX_ITEMS, after);

    input_json(&read, text);
    CHECK(read.fits);
    input_done(&read);
    free(text);
    text = json_repeat(before, item, LBX__SQS_MAX_ITEMS + 1, after);
    check_json_fault(text, error, "more than 256");
    free(text);
}

/* INPUT-2 */
TEST(json_lists_have_a_limit)
{
    check_repeated("{\"TagKeys\":[", "\"x\"", "]}",
                   LBX__SQS_InvalidParameterValueException);
    check_repeated("{\"Entries\":[", "{}", "]}",
                   LBX__SQS_TooManyEntriesInBatchRequest);
    check_repeated("{\"Attributes\":{", "#", "}}",
                   LBX__SQS_InvalidParameterValueException);
}

TEST(json_members_have_a_limit)
{
    char *text = json_repeat("{", "#", LBX__SQS_MAX_MEMBERS + 1, "}");

    check_json_fault(text, LBX__SQS_InvalidParameterValueException,
                     "more than 4096");
    free(text);
}

TEST(json_that_is_larger_than_the_arena_is_refused)
{
    lbx__sqs_fault fault;
    lbx__sqs_input input;
    lbx__arena arena;
    char *text = json_repeat("{\"TagKeys\":[", "\"x\"", 200, "]}");

    lbx__arena_init(&arena, NULL, 4096);
    CHECK(
        !lbx__sqs_input_read_json(&input, &arena, lbx__slice_of(text), &fault));
    CHECK_INT(LBX__SQS_InvalidParameterValueException, fault.error);
    CHECK_STR("The request is too large.", fault.text);
    lbx__arena_fini(&arena);
    free(text);
}

static void
read_json_once(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx__sqs_fault fault;
    lbx__sqs_input input;
    lbx__arena arena;
    bool fits;

    lbx__arena_init(&arena, &allocator, 1 << 20);
    fits = lbx__sqs_input_read_json(&input, &arena, lbx__slice_of(context),
                                    &fault);
    CHECK(fits ||
          (fault.error == LBX__SQS_ServiceUnavailable && memory->failures > 0));
    lbx__arena_fini(&arena);
}

TEST(json_survives_every_failing_allocation)
{
    char *text = json_repeat("{\"TagKeys\":[", "\"x\"", 200,
                             "],\"Entries\":[{\"Id\":\"1\"}]}");

    CHECK(torture_every_allocation(read_json_once, text) > 0);
    free(text);
}
