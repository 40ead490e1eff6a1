/* SPDX-License-Identifier: Apache-2.0 */
/* Letters that were received or peeked, as messages in a reply. */
#ifndef LBX_SERVER_SQS_RECEIVED_H
#define LBX_SERVER_SQS_RECEIVED_H

#include "server/sqs/request.h"

/* The longest answer: one letter of 64 MiB, however it is escaped. */
enum {
    LBX__RECEIVED_REPLY_BYTES = 512 << 20
};

/* Cuts off the letters that an answer may not hold, beside the first; they are
 * the caller's. NULL: all fit. */
lbx__received *lbx__received_cut(lbx__request *request);

/* What of a message is written. */
typedef struct lbx__received_view {
    uint32_t system;             /* attribute_filter.h */
    const lbx__sqs_texts *names; /* of message attributes */
    const char *receipt;         /* instead of the letter's own; NULL: that */
    bool shows_leased;           /* attributes IsVisible, */
    bool shows_delayed;          /* and IsDelayed, of a peek */
} lbx__received_view;

/* Writes all letters of the request as the list Messages; nothing when there
 * are none. False: no memory, or a receipt that has no text. */
bool lbx__received_write(lbx__request *request, const lbx__received_view *view);

#endif
