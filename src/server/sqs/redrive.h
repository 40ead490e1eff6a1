/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RedrivePolicy and RedriveAllowPolicy: the JSON in these attributes.
 *
 *     {"deadLetterTargetArn":"arn:aws:sqs:...:orders-dlq","maxReceiveCount":5}
 *     {"redrivePermission":"byQueue","sourceQueueArns":["arn:aws:sqs:..."]}
 *
 * The box's options have what the rules need, names and numbers; the text is
 * kept beside them, and shown as it was set while it means the same.
 */
#ifndef LBX_SERVER_SQS_REDRIVE_H
#define LBX_SERVER_SQS_REDRIVE_H

#include "server/sqs/input.h"
#include "server/sqs/queue.h"

/* The size of a buffer for such a policy, as the server writes it. */
#define LBX__REDRIVE_BYTES 2560

/* What a reader needs beside the text. */
typedef struct lbx__redrive_reader {
    lbx__arena *arena;
    const lbx_allocator *allocator;
    const lbx__world *world; /* of the queue */
    lbx__sqs_fault *fault;
} lbx__redrive_reader;

/* Sets dead_letters and max_deliveries; "" takes them away. False: the fault
 * has why. *as_given: whether the text is shown as it is; a count that is a
 * string is shown as a number, as AWS does. */
bool lbx__redrive_read(const lbx__redrive_reader *reader, lbx__slice text,
                       lbx_box_options *options, bool *as_given);

/* The same for dead_letter_allow and dead_letter_boxes. */
bool lbx__redrive_read_allow(const lbx__redrive_reader *reader, lbx__slice text,
                             lbx_box_options *options);

/* Writes the policy that options mean; "" when they have none. */
void lbx__redrive_write(const lbx__world *world, const lbx_box_options *options,
                        char buffer[LBX__REDRIVE_BYTES]);
void lbx__redrive_write_allow(const lbx__world *world,
                              const lbx_box_options *options,
                              char buffer[LBX__REDRIVE_BYTES]);

/* Whether two options have the same policy. */
bool lbx__redrive_equal(const lbx_box_options *a, const lbx_box_options *b);
bool lbx__redrive_equal_allow(const lbx_box_options *a,
                              const lbx_box_options *b);

#endif
