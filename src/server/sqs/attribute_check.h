/* SPDX-License-Identifier: Apache-2.0 */
/* Whether SQS takes the attributes of a message, and why not. */
#ifndef LBX_SERVER_SQS_ATTRIBUTE_CHECK_H
#define LBX_SERVER_SQS_ATTRIBUTE_CHECK_H

#include "server/sqs/input.h"
#include <letterbox/store_driver.h>

enum {
    LBX__MAX_MESSAGE_ATTRIBUTES = 10
};

/* Checks message attributes, at most `max` of them, and puts them in the order
 * of their names. */
bool lbx__attribute_check_message(lbx__sqs_attributes *attributes, size_t max,
                                  lbx__sqs_fault *fault);

/* Checks system attributes: there is one, AWSTraceHeader. */
bool lbx__attribute_check_system(const lbx__sqs_attributes *attributes,
                                 lbx__sqs_fault *fault);

/* The kind that a data type begins with, and its label, "float" of
 * Number.float, or NULL bytes. False: it is none of the three. */
bool lbx__attribute_check_type(lbx__slice data_type, lbx_attribute_kind *kind,
                               lbx__slice *label);

#endif
