/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of an input, with values in them that may be of any length. */
#ifndef LBX_SERVER_SQS_FAULT_TEXT_H
#define LBX_SERVER_SQS_FAULT_TEXT_H

#include "server/sqs/input.h"

/* How much of a value a text shows: whole characters, for "%.*s". */
enum {
    LBX__FAULT_VALUE_BYTES = 320
};
int lbx__fault_text_clip(lbx__slice value);

/* Writes a fault; always false. */
bool lbx__fault_text_set(lbx__sqs_fault *fault, lbx__sqs_error error,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
