/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether SQS takes a message, and the numbers of a receive; if not, with the
 * words of AWS.
 *
 * All functions write `fault` when they return false, and only then.
 */
#ifndef LBX_SERVER_SQS_MESSAGE_CHECK_H
#define LBX_SERVER_SQS_MESSAGE_CHECK_H

#include "server/sqs/input.h"
#include <letterbox/store_driver.h>

#define LBX__MAX_MESSAGE_BYTES (INT64_C(1) << 20)

enum {
    LBX__MAX_DELAY_SECONDS = 900,
    LBX__MAX_VISIBILITY_SECONDS = 43200,
    LBX__MAX_WAIT_SECONDS = 20,
    LBX__MAX_RECEIVE_MESSAGES = 10
};

/* A message for a queue with these options. Puts its attributes in order.
 * `number` is that of an entry in its batch, from 1, which is refused in other
 * words than a message alone: 0. */
bool lbx__message_check_send(lbx__sqs_entry *entry,
                             const lbx_box_options *options, size_t number,
                             lbx__sqs_fault *fault);

/* What counts against limits: the body; names, types and values of message
 * attributes. */
int64_t lbx__message_check_bytes(const lbx__sqs_entry *entry);

/* MessageGroupId, MessageDeduplicationId, ReceiveRequestAttemptId: if given, 1
 * to 128 visible characters of ASCII. */
bool lbx__message_check_id(lbx__slice id, const char *parameter,
                           lbx__sqs_fault *fault);

/* VisibilityTimeout, if given. AWS has other words for it when a message is
 * received than when it is changed. */
#define LBX__REASON_RECEIVE    "Must be >= 0 and <= 43200, if provided."
#define LBX__REASON_VISIBILITY "Must be between 0 and 43200."
bool lbx__message_check_visibility(const lbx__sqs_number *visibility,
                                   const char *reason, lbx__sqs_fault *fault);

/* MaxNumberOfMessages, WaitTimeSeconds, VisibilityTimeout and
 * ReceiveRequestAttemptId. */
bool lbx__message_check_receive(const lbx__sqs_input *input, bool is_fifo,
                                lbx__sqs_fault *fault);

#define LBX__INVALID_CHARACTERS                                                \
    "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD "  \
    "| #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"

#endif
