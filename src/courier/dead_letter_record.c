/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a dead letter: its members, and its type.
 *
 * The type lives in static memory and is made by the first call: there is
 * nothing to fail and nothing to free.
 */
#include "courier/dead_letter_record.h"

#include <letterbox/courier.h>

#include <pthread.h>

static const lbx__record_field dead_letter_fields[] = {
    LBX__RECORD_FIELD(lbx_dead_letter_record, "message_id", ID, true,
                      message_id),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "body", BODY, true, body),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "body_type", TEXT, false,
                      body_type),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "source_mailbox", TEXT, false,
                      source_mailbox),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "delivery_count", COUNT, false,
                      delivery_count),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "last_error", TEXT, false,
                      last_error),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "last_error_type", TEXT, false,
                      last_error_type),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "dead_lettered_at", TIME, false,
                      dead_lettered_ms),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "first_received_at", TIME, false,
                      first_received_ms),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "request_id", ID, false,
                      request_id),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "reply_mailbox", TEXT, false,
                      reply_mailbox),
    LBX__RECORD_FIELD(lbx_dead_letter_record, "trace_id", TEXT, false,
                      trace_id),
};

_Static_assert(offsetof(lbx_dead_letter_record, body_bytes) ==
                   offsetof(lbx_dead_letter_record, body) + sizeof(void *),
               "a body is a pointer and a size behind it");
_Static_assert(LBX__RECORD_FIELD_COUNT(dead_letter_fields) <=
                   LBX__RECORD_MAX_FIELDS,
               "a record has a limit");

const lbx__record_kind lbx__dead_letter_kind = {
    "letterbox.DeadLetter", sizeof(lbx_dead_letter_record), dead_letter_fields,
    LBX__RECORD_FIELD_COUNT(dead_letter_fields)};

static lbx__type_storage dead_letter_type_room;
static const lbx_type *dead_letter_type;
static pthread_once_t dead_letter_type_once = PTHREAD_ONCE_INIT;

static void
dead_letter_make_type(void)
{
    dead_letter_type =
        lbx__record_make_type(&dead_letter_type_room, &lbx__dead_letter_kind);
}

const lbx_type *
lbx_dead_letter_type(void)
{
    (void)pthread_once(&dead_letter_type_once, dead_letter_make_type);
    return dead_letter_type;
}
