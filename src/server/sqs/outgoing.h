/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message on its way into the store: an entry of the input that was checked,
 * as a parcel; and the members of the reply when it is stored.
 *
 * OUTGO-1  A parcel points into the input and the arena of its request; bodies
 *          are not copied.
 */
#ifndef LBX_SERVER_SQS_OUTGOING_H
#define LBX_SERVER_SQS_OUTGOING_H

#include "server/sqs/request.h"

/* Of an entry that lbx__message_check_send() took: OK; NO_MEMORY, UNSUPPORTED
 * (no SHA-256). */
lbx_status lbx__outgoing_pack(lbx__request *request,
                              const lbx__sqs_entry *entry, lbx_parcel *ret);

/* Writes MessageId, the MD5s and SequenceNumber. */
void lbx__outgoing_reply(lbx__request *request, const lbx__sqs_entry *entry,
                         const lbx_sent_letter *sent);

/* A sequence of the store as SQS shows it: 20 digits, the first not 0. */
#define LBX__SEQUENCE_TEXT_BYTES 24
void lbx__outgoing_sequence(uint64_t sequence,
                            char text[LBX__SEQUENCE_TEXT_BYTES]);

#endif
