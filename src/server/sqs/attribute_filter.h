/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receive wants to see beside the body: message attributes by name or by
 * the beginning of a name, and system attributes.
 */
#ifndef LBX_SERVER_SQS_ATTRIBUTE_FILTER_H
#define LBX_SERVER_SQS_ATTRIBUTE_FILTER_H

#include "server/sqs/input.h"

/* Whether one of the names asks for the message attribute `name`: All, *, .*,
 * the name itself, or its beginning and ".*". */
bool lbx__attribute_filter_matches(const lbx__sqs_texts *names,
                                   lbx__slice name);

/* The system attributes of a message, in the order they are written. */
/* clang-format off */
#define LBX__SYSTEM_ATTRIBUTES(XX)                                             \
    XX(SenderId)                                                               \
    XX(SentTimestamp)                                                          \
    XX(ApproximateReceiveCount)                                                \
    XX(ApproximateFirstReceiveTimestamp)                                       \
    XX(SequenceNumber)                                                         \
    XX(MessageDeduplicationId)                                                 \
    XX(MessageGroupId)                                                         \
    XX(AWSTraceHeader)                                                         \
    XX(DeadLetterQueueSourceArn)
/* clang-format on */

typedef enum lbx__system_attribute {
#define XX(name) LBX__SYSTEM_##name,
    LBX__SYSTEM_ATTRIBUTES(XX)
#undef XX
    LBX__SYSTEM_ATTRIBUTE_COUNT
} lbx__system_attribute;

/* The system attributes that either list asks for, a bit for each; unknown
 * names are ignored. */
uint32_t lbx__attribute_filter_system(const lbx__sqs_texts *names,
                                      const lbx__sqs_texts *more);

#endif
