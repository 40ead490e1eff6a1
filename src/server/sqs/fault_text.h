/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of an input, with values in them that may be of any length. */
#ifndef LBX_SERVER_SQS_FAULT_TEXT_H
#define LBX_SERVER_SQS_FAULT_TEXT_H

#include "server/sqs/input.h"

/* How much of a client's value a text shows: whole characters. For "%.*s":
 * LBX__QUOTED(value). */
enum {
    LBX__FAULT_VALUE_BYTES = 300
};
int lbx__fault_text_clip(lbx__slice value);

#define LBX__QUOTED(value)                                                     \
    lbx__fault_text_clip(value), ((value).bytes ? (value).bytes : "")

/* Writes a fault; always false. A text that is too long is cut between two
 * characters. */
bool lbx__fault_text_set(lbx__sqs_fault *fault, lbx__sqs_error error,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
