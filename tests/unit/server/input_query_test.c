/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs in AWS Query: every member, and what is refused. */
#include "server/input_fixture.h"
#include "support/test.h"
#include "support/torture.h"

#include <stdio.h>
#include <stdlib.h>

TEST(query_has_texts_and_numbers)
{
    struct input_read read;
    const lbx__sqs_input *in = &read.input;

    input_query(
        &read,
        "Action=ReceiveMessage&Version=2012-11-05&QueueUrl=http%3A%2F%2F"
        "h%2F1%2Fq&MaxNumberOfMessages=10&WaitTimeSeconds=-1"
        "&QueueName=n&QueueNamePrefix=p&QueueOwnerAWSAccountId=o"
        "&Label=l&NextToken=t&SourceArn=s&DestinationArn=d&TaskHandle=h"
        "&ReceiveRequestAttemptId=a&MaxResults=1"
        "&MaxNumberOfMessagesPerSecond=500&X-Amz-Date=1&Foo.1.Bar=2",
        NULL);
    CHECK(read.fits);
    check_text("ReceiveMessage", read.action);
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
    CHECK(!in->has_attributes && !in->has_tags);
    input_done(&read);
}

TEST(query_has_the_members_of_a_message)
{
    struct input_read read;
    const lbx__sqs_entry *entry = &read.input.entry;

    input_query(&read,
                "MessageBody=a+b%0d%0a%C3%BC&DelaySeconds=0&MessageGroupId="
                "&MessageDeduplicationId=d&ReceiptHandle=r&VisibilityTimeout=7"
                "&MessageAttribute.2.Value.BinaryValue=AP8%3D"
                "&MessageAttribute.1.Name=one"
                "&MessageAttribute.1.Value.DataType=String"
                "&MessageAttribute.2.Name=two"
                "&MessageAttribute.2.Value.DataType=Binary"
                "&MessageAttribute.1.Value.StringValue=s%01"
                "&MessageAttribute.10.Name=ten"
                "&MessageAttribute.10.Value.StringListValue.1=a"
                "&MessageAttribute.10.Value.StringListValue.2=b"
                "&MessageSystemAttribute.1.Name=AWSTraceHeader"
                "&MessageSystemAttribute.1.Value.StringValue=x",
                NULL);
    CHECK(read.fits);
    check_text("a b\r\n\xc3\xbc", entry->body);
    CHECK(entry->delay.given);
    CHECK_INT(0, entry->delay.value);
    check_text("", entry->group_id);
    check_text("d", entry->deduplication_id);
    check_text("r", entry->receipt);
    CHECK_INT(7, entry->visibility.value);
    CHECK_INT(3, entry->attributes.count);
    check_text("one", entry->attributes.items[0].name);
    check_text("String", entry->attributes.items[0].data_type);
    check_text("s\x01", entry->attributes.items[0].string_value);
    CHECK(!entry->attributes.items[0].has_list_values);
    check_text("two", entry->attributes.items[1].name);
    CHECK_INT(2, entry->attributes.items[1].binary_value.size);
    CHECK(memcmp("\0\xff", entry->attributes.items[1].binary_value.bytes, 3) ==
          0);
    check_text("ten", entry->attributes.items[2].name);
    CHECK(entry->attributes.items[2].has_list_values);
    CHECK_INT(1, entry->system_attributes.count);
    check_text("AWSTraceHeader", entry->system_attributes.items[0].name);
    input_done(&read);
}

TEST(query_lists_are_in_the_order_of_their_indexes)
{
    struct input_read read;
    const lbx__sqs_input *in = &read.input;

    input_query(&read,
                "AttributeName.12=c&AttributeName.3=b&AttributeName.1=a"
                "&MessageAttributeName.1=m&MessageSystemAttributeName.1=s"
                "&TagKey.1=k&AWSAccountId.1=1&ActionName.1=x&ActionName.2=y"
                "&Attribute.7.Value=2&Attribute.2.Name=n&Attribute.2.Value="
                "&Attribute.7.Name=o&Tag.1.Key=k&Tag.1.Value=v",
                NULL);
    CHECK(read.fits);
    CHECK_INT(3, in->attribute_names.count);
    check_text("a", in->attribute_names.items[0]);
    check_text("b", in->attribute_names.items[1]);
    check_text("c", in->attribute_names.items[2]);
    check_text("m", in->message_names.items[0]);
    check_text("s", in->system_names.items[0]);
    check_text("k", in->tag_keys.items[0]);
    check_text("1", in->account_ids.items[0]);
    CHECK_INT(2, in->action_names.count);
    check_text("y", in->action_names.items[1]);
    CHECK(in->has_attributes && in->has_tags);
    CHECK_INT(2, in->attributes.count);
    check_text("n", in->attributes.items[0].name);
    check_text("", in->attributes.items[0].value);
    check_text("o", in->attributes.items[1].name);
    check_text("2", in->attributes.items[1].value);
    check_text("v", in->tags.items[0].value);
    input_done(&read);
}

/* boto2 and scripts; and what botocore sends for a list that is empty. */
TEST(query_lists_may_have_no_indexes)
{
    struct input_read read;
    const lbx__sqs_input *in = &read.input;

    input_query(&read,
                "Attribute.Name=n&Attribute.Value=v&AttributeName=All&TagKey="
                "&Attribute.1.Name=m&Attribute.1.Value=w&AttributeNames=",
                NULL);
    CHECK(read.fits);
    CHECK_INT(2, in->attributes.count);
    check_text("n", in->attributes.items[0].name);
    check_text("v", in->attributes.items[0].value);
    check_text("m", in->attributes.items[1].name);
    CHECK_INT(1, in->attribute_names.count);
    CHECK_INT(0, in->tag_keys.count);
    input_done(&read);
}

TEST(query_has_entries)
{
    struct input_read read;
    const lbx__sqs_entry *entries;

    input_query(
        &read,
        "SendMessageBatchRequestEntry.2.Id=b"
        "&SendMessageBatchRequestEntry.1.Id=a"
        "&SendMessageBatchRequestEntry.1.MessageBody=one"
        "&SendMessageBatchRequestEntry.1.MessageAttribute.2.Name=y"
        "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Name=x"
        "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType=S"
        "&SendMessageBatchRequestEntry.2.MessageAttribute.1.Name=z"
        "&SendMessageBatchRequestEntry.2.MessageSystemAttribute.1.Name=t"
        "&SendMessageBatchRequestEntry.2.DelaySeconds=3"
        "&SendMessageBatchRequestEntry.2.QueueUrl=ignored"
        "&SendMessageBatchRequestEntry.2.Attribute.1.Name=ignored",
        NULL);
    CHECK(read.fits);
    entries = read.input.entries;
    CHECK_INT(2, read.input.entry_count);
    check_text("a", entries[0].id);
    check_text("one", entries[0].body);
    CHECK_INT(2, entries[0].attributes.count);
    check_text("x", entries[0].attributes.items[0].name);
    check_text("S", entries[0].attributes.items[0].data_type);
    check_text("y", entries[0].attributes.items[1].name);
    check_text("b", entries[1].id);
    CHECK_INT(3, entries[1].delay.value);
    CHECK_INT(1, entries[1].attributes.count);
    check_text("z", entries[1].attributes.items[0].name);
    check_text("t", entries[1].system_attributes.items[0].name);
    CHECK(!read.input.queue_url.bytes);
    CHECK(!read.input.has_attributes);
    input_done(&read);

    input_query(&read,
                "DeleteMessageBatchRequestEntry.1.ReceiptHandle=r"
                "&DeleteMessageBatchRequestEntry.1.Id=i",
                NULL);
    CHECK_INT(1, read.input.entry_count);
    check_text("r", read.input.entries[0].receipt);
    input_done(&read);

    input_query(
        &read, "ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout=9",
        NULL);
    CHECK_INT(1, read.input.entry_count);
    CHECK_INT(9, read.input.entries[0].visibility.value);
    input_done(&read);
}

TEST(query_takes_fields_of_the_body_and_of_the_url)
{
    struct input_read read;

    input_query(&read, "QueueUrl=q", "Action=SendMessage&MessageBody=b");
    CHECK(read.fits);
    check_text("SendMessage", read.action);
    check_text("q", read.input.queue_url);
    check_text("b", read.input.entry.body);
    input_done(&read);
    input_query(&read, NULL, "Action=ListQueues");
    CHECK(read.fits);
    check_text("ListQueues", read.action);
    input_done(&read);
    input_query(&read, NULL, NULL);
    CHECK(read.fits);
    CHECK(!read.action.bytes);
    input_done(&read);
    input_query(&read, "Action=A&QueueUrl=q", "Action=A&QueueUrl=q");
    CHECK(read.fits); // twice the same is once
    check_text("q", read.input.queue_url);
    input_done(&read);
}

TEST(query_fields_that_are_given_twice_are_refused)
{
    static const char *const bad[] = {
        "Action=A&Action=B",
        "QueueUrl=a&QueueUrl=b",
        "AttributeName.1=a&AttributeName.1=b",
        "AttributeName.1=a&AttributeName.01=b",
        "DelaySeconds=1&DelaySeconds=2",
        "Attribute.1.Name=a&Attribute.1.Value=1&Attribute.1.Value=2",
        "Attribute.1.Name=a&Attribute.1.Value=1&Attribute.2.Name=a"
        "&Attribute.2.Value=2",
        "Tag.1.Key=a&Tag.1.Value=1&Tag.2.Key=a&Tag.2.Value=1",
        "MessageAttribute.1.Name=a&MessageAttribute.2.Name=a",
        "MessageSystemAttribute.1.Name=a&MessageSystemAttribute.2.Name=a",
        "SendMessageBatchRequestEntry.1.MessageAttribute.1.Name=a&"
        "SendMessageBatchRequestEntry.1.MessageAttribute.2.Name=a",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        check_query_fault(bad[i], LBX__SQS_InvalidParameterValueException,
                          "given twice");
}

TEST(query_names_and_values_of_maps_must_be_there)
{
    static const char *const rows[][2] = {
        {"Attribute.1.Value=v", "Attribute.Name."},
        {"Attribute.1.Name=v", "Attribute.Value."},
        {"Tag.1.Value=v", "Tag.Key."},
        {"Tag.1.Key=v", "Tag.Value."},
        {"MessageAttribute.1.Value.DataType=v", "MessageAttribute.Name."},
        {"MessageSystemAttribute.1.Value.DataType=v",
         "MessageSystemAttribute.Name."},
        {"SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType=S",
         "MessageAttribute.Name."},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_query_fault(
            rows[i][0], LBX__SQS_MissingRequiredParameterException, rows[i][1]);
}

TEST(query_indexes_have_a_range)
{
    static const char *const bad[] = {
        "AttributeName.0=x",
        "AttributeName.00=x",
        "AttributeName.10000=x",
        "AttributeName.1000000000=x",
        "AttributeName.99999999999999999999999=x",
        "AttributeName.18446744073709551617=x",
        "Attribute.0.Name=x",
        "Tag.65536.Key=x",
        "MessageAttribute.0.Name=x",
        "SendMessageBatchRequestEntry.0.Id=x",
        "SendMessageBatchRequestEntry.65537.Id=x",
        "SendMessageBatchRequestEntry.1.MessageAttribute.0.Name=x",
    };
    struct input_read read;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        check_query_fault(bad[i], LBX__SQS_InvalidParameterValueException,
                          "Indexes are from 1");
    input_query(&read,
                "AttributeName.9999=x&AttributeName.x=y&AttributeName.-1=z"
                "&AttributeName.1.2=z&AttributeName.=z&Attribute.1=z"
                "&Attribute.1.Nam=z&.=&=&QueueUrl.1=z"
                "&SendMessageBatchRequestEntry.1=z"
                "&SendMessageBatchRequestEntry.1.SendMessageBatchRequestEntry"
                ".1.Id=z&MessageAttribute.1.Value.Foo=z",
                NULL);
    CHECK(read.fits);
    CHECK_INT(2, read.input.attribute_names.count); // "" is index 0: the first
    check_text("x", read.input.attribute_names.items[1]);
    CHECK(!read.input.has_attributes);
    CHECK(!read.input.queue_url.bytes);
    CHECK_INT(0, read.input.entry_count);
    CHECK_INT(0, read.input.entry.attributes.count);
    input_done(&read);
}

TEST(query_numbers_are_integers)
{
    static const char *const bad[] = {"",
                                      "1.5",
                                      "1e2",
                                      "x",
                                      "%2B1",
                                      "0x1",
                                      "-",
                                      " 1",
                                      "1+",
                                      "9223372036854775808",
                                      "-9223372036854775809"};
    char text[80];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(text, sizeof(text), "DelaySeconds=%s", bad[i]);
        check_query_fault(text, LBX__SQS_InvalidParameterValueException,
                          "for parameter DelaySeconds is invalid. Reason: Must "
                          "be an integer.");
    }
}

TEST(query_values_are_utf8)
{
    struct input_read read;

    check_query_fault("QueueUrl=%FF", LBX__SQS_InvalidParameterValueException,
                      "UTF-8");
    check_query_fault("QueueUrl=a%00b", LBX__SQS_InvalidParameterValueException,
                      "U+0000");
    check_query_fault("QueueUrl=%zz", LBX__SQS_InvalidParameterValueException,
                      "encoded");
    check_query_fault("%=1", LBX__SQS_InvalidParameterValueException,
                      "encoded");
    check_query_fault("MessageAttribute.1.Name=a&MessageAttribute.1.Value."
                      "BinaryValue=A",
                      LBX__SQS_InvalidParameterValueException, "base64");
    check_query_fault("MessageBody=%ED%A0%80", LBX__SQS_InvalidMessageContents,
                      "Invalid characters");
    // The action refuses these, of an entry only that one.
    input_query(&read, "MessageBody=a%00b%EF%BF%BF", NULL);
    CHECK(read.fits);
    CHECK_INT(6, read.input.entry.body.size);
    CHECK(memcmp("a\0b\xef\xbf\xbf", read.input.entry.body.bytes, 7) == 0);
    input_done(&read);
}

/* name1=&name2=... */
static char *
query_repeat(const char *name, const char *leaf, size_t count)
{
    char *text = malloc(count * (strlen(name) + strlen(leaf) + 12) + 1);
    size_t at = 0;

    CHECK(text);
    text[0] = '\0';
    for (size_t i = 1; i <= count; i++)
        at += (size_t)sprintf(text + at, "&%s%zu%s=%zu", name, i, leaf, i);
    return text;
}

/* INPUT-2 */
TEST(query_lists_have_a_limit)
{
    static const struct {
        const char *name, *leaf;
        lbx__sqs_error error;
    } rows[] = {
        {"TagKey.", "", LBX__SQS_InvalidParameterValueException},
        {"Tag.", ".Key", LBX__SQS_InvalidParameterValueException},
        {"MessageAttribute.", ".Name", LBX__SQS_InvalidParameterValueException},
        {"DeleteMessageBatchRequestEntry.", ".Id",
         LBX__SQS_TooManyEntriesInBatchRequest},
    };
    struct input_read read;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text =
            query_repeat(rows[i].name, rows[i].leaf, LBX__SQS_MAX_ITEMS + 1);

        check_query_fault(text, rows[i].error, "more than 256");
        free(text);
        text = query_repeat(rows[i].name, rows[i].leaf, LBX__SQS_MAX_ITEMS);
        input_query(&read, text, NULL);
        if (i != 1) // it has no values
            CHECK(read.fits);
        input_done(&read);
        free(text);
    }
}

TEST(query_fields_have_a_limit)
{
    char *text = query_repeat("QueueUrl.", "", LBX__SQS_MAX_MEMBERS);
    struct input_read read;

    input_query(&read, text, NULL); // all are unknown
    CHECK(read.fits);
    input_done(&read);
    free(text);
    text = query_repeat("QueueUrl.", "", LBX__SQS_MAX_MEMBERS + 1);
    check_query_fault(text, LBX__SQS_InvalidParameterValueException,
                      "more than 4096");
    free(text);
}

static void
read_query_once(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx__sqs_fault fault;
    lbx__sqs_input input;
    lbx__arena arena;
    lbx__slice action;
    bool fits;

    lbx__arena_init(&arena, &allocator, 1 << 20);
    fits = lbx__sqs_input_read_query(&input, &arena, lbx__slice_of(context),
                                     (lbx__slice){0}, &action, &fault);
    CHECK(fits ||
          (fault.error == LBX__SQS_ServiceUnavailable && memory->failures > 0));
    lbx__arena_fini(&arena);
}

TEST(query_survives_every_failing_allocation)
{
    char *text = query_repeat("DeleteMessageBatchRequestEntry.", ".Id", 100);

    CHECK(torture_every_allocation(read_query_once, text) > 0);
    free(text);
}
