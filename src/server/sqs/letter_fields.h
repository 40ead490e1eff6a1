/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What letters of programs have and messages of SQS do not: the name of the
 * body's type, routes, and the letter they reply to. Clients of SQS see them
 * as message attributes, of type String, and a message that is sent with them
 * becomes a letter with these fields:
 *
 *   lbx.type          the name of the body's type
 *   lbx.routes        where replies go, in JSON
 *   lbx.in-reply-to   the id of the letter it replies to
 *
 * Programs may also send what SQS does not allow: bodies that are empty, or
 * not text. Clients of SQS get them in base64, with the message attribute
 * lbx.encoding of value base64.
 */
#ifndef LBX_SERVER_SQS_LETTER_FIELDS_H
#define LBX_SERVER_SQS_LETTER_FIELDS_H

#include "server/sqs/input.h"
#include <letterbox/store_driver.h>

/* Attributes that a letter may have on top of its own. */
enum {
    LBX__LETTER_FIELDS = 4
};

/* Makes an attribute that was checked a field of the parcel. False: it is an
 * attribute like any other. */
bool lbx__letter_fields_take(lbx_parcel *parcel,
                             const lbx__sqs_attribute *attribute);

/* The fields of a parcel as attributes; returns how many. */
size_t lbx__letter_fields_show(const lbx_parcel *parcel, bool is_base64,
                               lbx__sqs_attribute ret[LBX__LETTER_FIELDS]);

#endif
