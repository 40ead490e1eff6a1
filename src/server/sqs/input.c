/* SPDX-License-Identifier: Apache-2.0 */
/* The table of members, and what both readers share; see input_table.h. */
#include "server/sqs/input_table.h"

#include "server/sqs/fault_text.h"

#include <stdio.h>

#define OF_INPUT(kind, member)                                                 \
    LBX__INPUT_##kind, false, offsetof(lbx__sqs_input, member)
#define OF_ENTRY(kind, member)                                                 \
    LBX__INPUT_##kind, true, offsetof(lbx__sqs_entry, member)
#define FLAG(member) offsetof(lbx__sqs_input, member)

/* clang-format off */
const lbx__input_member lbx__input_members[] = {
    {"QueueUrl", "QueueUrl", NULL, OF_INPUT(TEXT, queue_url), 0},
    {"MessageBody", "MessageBody", NULL, OF_ENTRY(TEXT, body), 0},
    {"Id", "Id", NULL, OF_ENTRY(TEXT, id), 0},
    {"ReceiptHandle", "ReceiptHandle", NULL, OF_ENTRY(TEXT, receipt), 0},
    {"VisibilityTimeout", "VisibilityTimeout", NULL,
     OF_ENTRY(NUMBER, visibility), 0},
    {"DelaySeconds", "DelaySeconds", NULL, OF_ENTRY(NUMBER, delay), 0},
    {"MessageAttributes", "MessageAttribute", NULL,
     OF_ENTRY(ATTRIBUTES, attributes), 0},
    {"MessageSystemAttributes", "MessageSystemAttribute", NULL,
     OF_ENTRY(ATTRIBUTES, system_attributes), 0},
    {"MessageDeduplicationId", "MessageDeduplicationId", NULL,
     OF_ENTRY(TEXT, deduplication_id), 0},
    {"MessageGroupId", "MessageGroupId", NULL, OF_ENTRY(TEXT, group_id), 0},
    {"Entries", "SendMessageBatchRequestEntry", NULL,
     OF_INPUT(ENTRIES, entries), 0},
    {NULL, "DeleteMessageBatchRequestEntry", NULL,
     OF_INPUT(ENTRIES, entries), 0},
    {NULL, "ChangeMessageVisibilityBatchRequestEntry", NULL,
     OF_INPUT(ENTRIES, entries), 0},
    {"MaxNumberOfMessages", "MaxNumberOfMessages", NULL,
     OF_INPUT(NUMBER, max_messages), 0},
    {"WaitTimeSeconds", "WaitTimeSeconds", NULL, OF_INPUT(NUMBER, wait), 0},
    {"ReceiveRequestAttemptId", "ReceiveRequestAttemptId", NULL,
     OF_INPUT(TEXT, attempt_id), 0},
    {"AttributeNames", "AttributeName", NULL,
     OF_INPUT(TEXTS, attribute_names), 0},
    {"MessageSystemAttributeNames", "MessageSystemAttributeName", NULL,
     OF_INPUT(TEXTS, system_names), 0},
    {"MessageAttributeNames", "MessageAttributeName", NULL,
     OF_INPUT(TEXTS, message_names), 0},
    {"QueueName", "QueueName", NULL, OF_INPUT(TEXT, queue_name), 0},
    {"Attributes", "Attribute", "Name", OF_INPUT(PAIRS, attributes),
     FLAG(has_attributes)},
    {"tags", "Tag", "Key", OF_INPUT(PAIRS, tags), FLAG(has_tags)},
    {"Tags", NULL, NULL, OF_INPUT(PAIRS, queue_tags), FLAG(has_tags)},
    {"TagKeys", "TagKey", NULL, OF_INPUT(TEXTS, tag_keys), 0},
    {"QueueNamePrefix", "QueueNamePrefix", NULL,
     OF_INPUT(TEXT, queue_prefix), 0},
    {"QueueOwnerAWSAccountId", "QueueOwnerAWSAccountId", NULL,
     OF_INPUT(TEXT, owner), 0},
    {"MaxResults", "MaxResults", NULL, OF_INPUT(NUMBER, max_results), 0},
    {"NextToken", "NextToken", NULL, OF_INPUT(TEXT, next_token), 0},
    {"Label", "Label", NULL, OF_INPUT(TEXT, label), 0},
    {"AWSAccountIds", "AWSAccountId", NULL, OF_INPUT(TEXTS, account_ids), 0},
    {"Actions", "ActionName", NULL, OF_INPUT(TEXTS, action_names), 0},
    {"SourceArn", "SourceArn", NULL, OF_INPUT(TEXT, source_arn), 0},
    {"DestinationArn", "DestinationArn", NULL,
     OF_INPUT(TEXT, destination_arn), 0},
    {"TaskHandle", "TaskHandle", NULL, OF_INPUT(TEXT, task_handle), 0},
    {"ShowInvisible", "ShowInvisible", NULL, OF_INPUT(TEXT, show_leased), 0},
    {"ShowDelayed", "ShowDelayed", NULL, OF_INPUT(TEXT, show_delayed), 0},
    {"MaxNumberOfMessagesPerSecond", "MaxNumberOfMessagesPerSecond", NULL,
     OF_INPUT(NUMBER, rate), 0},
};
/* clang-format on */

const size_t lbx__input_member_count =
    sizeof(lbx__input_members) / sizeof(lbx__input_members[0]);

void *
lbx__input_at(const lbx__input_member *member, lbx__sqs_input *input,
              lbx__sqs_entry *entry)
{
    return (char *)(member->in_entry ? (void *)entry : (void *)input) +
           member->offset;
}

bool
lbx__input_is_body(const lbx__input_member *member)
{
    return member->in_entry && member->offset == offsetof(lbx__sqs_entry, body);
}

void *
lbx__input_grow(lbx__arena *arena, void *items, size_t count, size_t item_bytes)
{
    enum {
        FIRST = 8
    };
    void *more;

    // The capacity is FIRST, and then the powers of two behind it.
    if (count != 0 && (count < FIRST || (count & (count - 1)) != 0))
        return items;
    more = lbx__arena_take(arena, (count ? count * 2 : FIRST) * item_bytes);
    if (more && count > 0)
        memcpy(more, items, count * item_bytes);
    return more;
}

bool
lbx__input_integer(lbx__slice text, int64_t *ret)
{
    const bool negative = text.size > 0 && text.bytes[0] == '-';
    const uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t number = 0;

    if (text.size == negative)
        return false;
    for (size_t i = negative; i < text.size; i++) {
        const unsigned digit = (unsigned)text.bytes[i] - '0';

        if (digit > 9 || number > (limit - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    *ret = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

bool
lbx__input_fail_memory(lbx__sqs_fault *fault, const lbx__arena *arena)
{
    if (arena->full)
        return lbx__fault_text_set(fault,
                                   LBX__SQS_InvalidParameterValueException,
                                   "The request is too large.");
    return lbx__fault_text_set(fault, LBX__SQS_ServiceUnavailable,
                               "The server is out of memory.");
}

bool
lbx__input_fail_body(lbx__sqs_fault *fault)
{
    return lbx__fault_text_set(
        fault, LBX__SQS_InvalidMessageContents,
        "Invalid characters found. Valid unicode characters are #x9 | #xA | "
        "#xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF");
}

bool
lbx__input_fail_count(lbx__sqs_fault *fault, const lbx__input_member *member)
{
    if (member->kind == LBX__INPUT_ENTRIES)
        return lbx__fault_text_set(
            fault, LBX__SQS_TooManyEntriesInBatchRequest,
            "Maximum number of entries per request are 10. "
            "You have sent more than %d.",
            LBX__SQS_MAX_ITEMS);
    return lbx__fault_text_set(fault, LBX__SQS_InvalidParameterValueException,
                               "The parameter %s has more than %d items.",
                               member->json ? member->json : member->query,
                               LBX__SQS_MAX_ITEMS);
}
