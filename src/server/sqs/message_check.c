/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of messages, in the words of AWS; see message_check.h. */
#include "server/sqs/message_check.h"

#include "codec/xml.h"
#include "server/sqs/attribute_check.h"
#include "server/sqs/fault_text.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    MAX_ID_BYTES = 128
};

/* ---- Texts ---- */

bool
lbx__message_check_id(lbx__slice id, const char *parameter,
                      lbx__sqs_fault *fault)
{
    bool is_valid = id.size >= 1 && id.size <= MAX_ID_BYTES;

    if (!id.bytes)
        return true;
    for (size_t i = 0; is_valid && i < id.size; i++)
        is_valid = id.bytes[i] > ' ' && id.bytes[i] <= '~';
    return is_valid ||
           lbx__fault_text_set(
               fault, LBX__SQS_InvalidParameterValueException,
               "Value %.*s for parameter %s is invalid. Reason: %s can only "
               "include alphanumeric and punctuation characters. 1 to 128 in "
               "length.",
               LBX__QUOTED(id), parameter, parameter);
}

static bool
message_check_body(lbx__slice body, size_t number, lbx__sqs_fault *fault)
{
    if (body.size == 0 && number > 0)
        return lbx__fault_text_set(
            fault, LBX__SQS_MissingRequiredParameterException,
            "The request must contain the parameter "
            "SendMessageBatchRequestEntry.%zu.MessageBody.",
            number);
    if (body.size == 0)
        return lbx__fault_text_set(
            fault, LBX__SQS_MissingRequiredParameterException,
            "The request must contain the parameter MessageBody.");
    return lbx__xml_is_text(body) ||
           lbx__fault_text_set(fault, LBX__SQS_InvalidMessageContents,
                               LBX__INVALID_CHARACTERS);
}

/* ---- Sizes and numbers ---- */

int64_t
lbx__message_check_bytes(const lbx__sqs_entry *entry)
{
    size_t bytes = entry->body.size;

    // All of it lies in memory at once: the sum cannot overflow.
    for (size_t i = 0; i < entry->attributes.count; i++) {
        const lbx__sqs_attribute *attribute = &entry->attributes.items[i];

        bytes += attribute->name.size + attribute->data_type.size +
                 attribute->string_value.size + attribute->binary_value.size;
    }
    return (int64_t)bytes;
}

static bool
message_check_size(const lbx__sqs_entry *entry, const lbx_box_options *options,
                   bool is_entry, lbx__sqs_fault *fault)
{
    int64_t max = options->limits.max_letter_bytes;

    if (max > LBX__MAX_MESSAGE_BYTES)
        max = LBX__MAX_MESSAGE_BYTES;
    if (lbx__message_check_bytes(entry) <= max)
        return true;
    return lbx__fault_text_set(
        fault, LBX__SQS_InvalidParameterValueException,
        "One or more parameters %s. Reason: Message must be shorter than "
        "%" PRId64 " bytes.",
        is_entry ? "cannot be validated" : "are invalid", max);
}

static bool
message_check_delay(const lbx__sqs_number *delay,
                    const lbx_box_options *options, lbx__sqs_fault *fault)
{
    if (!delay->given)
        return true;
    if (delay->value < 0 || delay->value > LBX__MAX_DELAY_SECONDS)
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "Value %" PRId64 " for parameter DelaySeconds is invalid. Reason: "
            "DelaySeconds must be >= 0 and <= 900.",
            delay->value);
    // Zero is allowed, and does not change the delay of the queue.
    if (options->fifo && delay->value > 0)
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "Value %" PRId64 " for parameter DelaySeconds is invalid. Reason: "
            "The request include parameter that is not valid for this queue "
            "type.",
            delay->value);
    return true;
}

bool
lbx__message_check_visibility(const lbx__sqs_number *visibility,
                              const char *reason, lbx__sqs_fault *fault)
{
    if (!visibility->given ||
        (visibility->value >= 0 &&
         visibility->value <= LBX__MAX_VISIBILITY_SECONDS))
        return true;
    return lbx__fault_text_set(fault, LBX__SQS_InvalidParameterValueException,
                               "Value %" PRId64
                               " for parameter VisibilityTimeout is invalid. "
                               "Reason: %s",
                               visibility->value, reason);
}

bool
lbx__message_check_receive(const lbx__sqs_input *input, bool is_fifo,
                           lbx__sqs_fault *fault)
{
    const lbx__sqs_number *max = &input->max_messages, *wait = &input->wait;

    if (max->given &&
        (max->value < 1 || max->value > LBX__MAX_RECEIVE_MESSAGES))
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "Value %" PRId64 " for parameter MaxNumberOfMessages is invalid. "
            "Reason: Must be between 1 and 10, if provided.",
            max->value);
    if (wait->given && (wait->value < 0 || wait->value > LBX__MAX_WAIT_SECONDS))
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "Value %" PRId64 " for parameter WaitTimeSeconds is invalid. "
            "Reason: Must be >= 0 and <= 20, if provided.",
            wait->value);
    if (!lbx__message_check_visibility(&input->entry.visibility,
                                       LBX__REASON_RECEIVE, fault))
        return false;
    return !is_fifo || lbx__message_check_id(input->attempt_id,
                                             "ReceiveRequestAttemptId", fault);
}

/* ---- A message ---- */

/* What a FIFO queue must know of a message: group, duplicate id. */
static bool
message_check_fifo(const lbx__sqs_entry *entry, const lbx_box_options *options,
                   bool is_entry, lbx__sqs_fault *fault)
{
    if (!options->fifo)
        return true;
    if (!entry->group_id.bytes)
        return lbx__fault_text_set(
            fault,
            is_entry ? LBX__SQS_InvalidParameterValueException
                     : LBX__SQS_MissingRequiredParameterException,
            "The request must contain the parameter MessageGroupId.");
    if (!entry->deduplication_id.bytes && !options->deduplicate_by_content)
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "The queue should either have ContentBasedDeduplication enabled or "
            "MessageDeduplicationId provided explicitly");
    return true;
}

/* The id of a duplicate is refused where there are no duplicates. */
static bool
message_check_ids(const lbx__sqs_entry *entry, const lbx_box_options *options,
                  lbx__sqs_fault *fault)
{
    if (!lbx__message_check_id(entry->group_id, "MessageGroupId", fault))
        return false;
    if (!options->fifo && entry->deduplication_id.bytes)
        return lbx__fault_text_set(
            fault, LBX__SQS_InvalidParameterValueException,
            "Value %.*s for parameter MessageDeduplicationId is invalid. "
            "Reason: The request include parameter that is not valid for this "
            "queue type.",
            LBX__QUOTED(entry->deduplication_id));
    return lbx__message_check_id(entry->deduplication_id,
                                 "MessageDeduplicationId", fault);
}

bool
lbx__message_check_send(lbx__sqs_entry *entry, const lbx_box_options *options,
                        size_t number, lbx__sqs_fault *fault)
{
    // A FIFO queue refuses the whole batch, in the words for a message alone.
    const bool is_entry = number > 0 && !options->fifo;
    size_t max = options->limits.max_attributes;

    if (max > LBX__MAX_MESSAGE_ATTRIBUTES)
        max = LBX__MAX_MESSAGE_ATTRIBUTES;
    return message_check_body(entry->body, number, fault) &&
           message_check_size(entry, options, is_entry, fault) &&
           lbx__attribute_check_message(&entry->attributes, max, fault) &&
           lbx__attribute_check_system(&entry->system_attributes, fault) &&
           message_check_delay(&entry->delay, options, fault) &&
           message_check_fifo(entry, options, number > 0, fault) &&
           message_check_ids(entry, options, fault);
}
