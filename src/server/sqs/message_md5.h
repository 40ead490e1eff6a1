/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MD5 that SQS answers with, of bodies and of attributes, by which clients
 * check that nothing was changed on the way.
 *
 * Threads    any; each has an MD5 of its own.
 */
#ifndef LBX_SERVER_SQS_MESSAGE_MD5_H
#define LBX_SERVER_SQS_MESSAGE_MD5_H

#include "codec/md5.h"
#include "server/sqs/input.h"

/* Both return false when there is no memory for it. */
bool lbx__message_md5_body(lbx__slice body, char text[LBX__MD5_TEXT_BYTES]);

/* Of attributes that are in the order of their names, at least one. */
bool lbx__message_md5_attributes(const lbx__sqs_attribute *sorted, size_t count,
                                 char text[LBX__MD5_TEXT_BYTES]);

/* Puts attributes in the order of their names, byte by byte. */
void lbx__message_md5_sort(lbx__sqs_attribute *attributes, size_t count);

#endif
