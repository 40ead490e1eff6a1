/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the WINK main loop (W-24, behaviours 2.2): their members, and
 * their types.
 *
 * The types live in static memory, made by whoever asks first: there is nothing
 * to fail and nothing to free. Records are decoded into the C library's memory,
 * as a type knows no other.
 */
#include "courier/records.h"

#include "base/clock.h"
#include "base/type.h"
#include "codec/text.h"
#include <letterbox/courier.h>

#include <pthread.h>

#define FIELD(record, name, kind, required, member)                            \
    {                                                                          \
        name, LBX__FIELD_##kind, required, offsetof(record, member)            \
    }
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const lbx__field request_fields[] = {
    FIELD(lbx_request, "request_id", ID, true, request_id),
    FIELD(lbx_request, "payload", JSON, true, payload),
    FIELD(lbx_request, "budget", JSON, false, budget),
    FIELD(lbx_request, "deadline", TIME, false, deadline_ms),
    FIELD(lbx_request, "created_at", TIME, false, created_ms),
};

static const lbx__field result_fields[] = {
    FIELD(lbx_result, "request_id", ID, true, request_id),
    FIELD(lbx_result, "output", JSON, false, output),
    FIELD(lbx_result, "error", TEXT, false, error),
    FIELD(lbx_result, "session_id", ID, false, session_id),
    FIELD(lbx_result, "completed_at", TIME, false, completed_ms),
};

static const lbx__field dead_letter_fields[] = {
    FIELD(lbx_dead_letter_record, "message_id", ID, true, message_id),
    FIELD(lbx_dead_letter_record, "body", BODY, true, body),
    FIELD(lbx_dead_letter_record, "body_type", TEXT, false, body_type),
    FIELD(lbx_dead_letter_record, "source_mailbox", TEXT, false,
          source_mailbox),
    FIELD(lbx_dead_letter_record, "delivery_count", COUNT, false,
          delivery_count),
    FIELD(lbx_dead_letter_record, "last_error", TEXT, false, last_error),
    FIELD(lbx_dead_letter_record, "last_error_type", TEXT, false,
          last_error_type),
    FIELD(lbx_dead_letter_record, "dead_lettered_at", TIME, false,
          dead_lettered_ms),
    FIELD(lbx_dead_letter_record, "first_received_at", TIME, false,
          first_received_ms),
    FIELD(lbx_dead_letter_record, "request_id", ID, false, request_id),
    FIELD(lbx_dead_letter_record, "reply_mailbox", TEXT, false, reply_mailbox),
    FIELD(lbx_dead_letter_record, "trace_id", TEXT, false, trace_id),
};

_Static_assert(offsetof(lbx_dead_letter_record, body_bytes) ==
                   offsetof(lbx_dead_letter_record, body) + sizeof(void *),
               "a body is a pointer and a size behind it");
_Static_assert(COUNT(dead_letter_fields) <= LBX__FIELDS_MOST,
               "a record has a limit");

const lbx__record_kind lbx__request_kind = {"letterbox.Request",
                                            sizeof(lbx_request), request_fields,
                                            COUNT(request_fields)};
const lbx__record_kind lbx__result_kind = {"letterbox.Result",
                                           sizeof(lbx_result), result_fields,
                                           COUNT(result_fields)};
const lbx__record_kind lbx__dead_letter_kind = {
    "letterbox.DeadLetter", sizeof(lbx_dead_letter_record), dead_letter_fields,
    COUNT(dead_letter_fields)};

lbx_request
lbx_request_of(const char *payload)
{
    lbx_request request = {.payload = payload, .created_ms = lbx__wall_ms()};
    uint8_t bytes[LBX__UUID_BYTES];

    // Without random bytes it has no id, and cannot be encoded.
    if (lbx__random(bytes, sizeof(bytes))) {
        lbx__uuid_mark(bytes);
        lbx__uuid_text(bytes, request.request_id.text);
    }
    return request;
}

lbx_result
lbx_result_of(const lbx_request *request)
{
    lbx_result result = {.completed_ms = lbx__wall_ms()};

    if (request)
        result.request_id = request->request_id;
    return result;
}

/* ---- Types ---- */

static lbx__type_room rooms[3];
static const lbx_type *request_type;
static const lbx_type *result_type;
static const lbx_type *dead_letter_type;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
destroy(void *message, void *context)
{
    (void)context;
    lbx__record_end(message);
}

static lbx_status
encode(const void *message, lbx_buffer *out, void *context)
{
    return message ? lbx__record_encode(context, message, NULL, out)
                   : LBX_ENCODING;
}

static lbx_status
decode(const void *bytes, size_t size_bytes, void **ret, void *context)
{
    return lbx__record_decode(context, bytes, size_bytes, NULL, ret);
}

static const lbx_type *
make(lbx__type_room *room, const lbx__record_kind *kind)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;

    options.name = kind->name;
    options.context = (void *)(uintptr_t)kind;
    options.destroy = destroy;
    options.encode = encode;
    options.decode = decode;
    return lbx__type_make_static(room, options);
}

static void
make_all(void)
{
    request_type = make(&rooms[0], &lbx__request_kind);
    result_type = make(&rooms[1], &lbx__result_kind);
    dead_letter_type = make(&rooms[2], &lbx__dead_letter_kind);
}

const lbx_type *
lbx_request_type(void)
{
    (void)pthread_once(&once, make_all);
    return request_type;
}

const lbx_type *
lbx_result_type(void)
{
    (void)pthread_once(&once, make_all);
    return result_type;
}

const lbx_type *
lbx_dead_letter_type(void)
{
    (void)pthread_once(&once, make_all);
    return dead_letter_type;
}
