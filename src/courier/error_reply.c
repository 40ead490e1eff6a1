/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error replies; see error_reply.h.
 *
 * A reply is sent as bytes with the name of its type, so that the postbox looks
 * up the type by name: a program may have registered a type of its own for it.
 * Of a request only those members are decoded that identify it; the others are
 * for the handler.
 */
#include "courier/error_reply.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "codec/record.h"

#include <stdio.h>
#include <string.h>

struct error_reply_request {
    lbx_id request_id;
    const char *payload;
};

struct error_reply_result {
    lbx_id request_id;
    const char *error;
    int64_t completed_ms;
};

LBX_RECORD(error_reply_request, struct error_reply_request, "letterbox.Request",
           LBX_FIELD_NAMED("request_id", struct error_reply_request,
                           request_id.text, CHARS),
           LBX_FIELD(struct error_reply_request, payload, JSON));

LBX_RECORD(error_reply_result, struct error_reply_result, "letterbox.Result",
           LBX_FIELD_NAMED("request_id", struct error_reply_result,
                           request_id.text, CHARS),
           LBX_OPTIONAL(struct error_reply_result, error, TEXT),
           LBX_OPTIONAL_NAMED("completed_at", struct error_reply_result,
                              completed_ms, TIME));

enum {
    ERROR_REPLY_MAX_BYTES = 64 << 10
};

lbx_id
lbx__error_reply_request_id(const lbx_letter *letter,
                            const lbx_allocator *allocator)
{
    const lbx_record *kind = &error_reply_request;
    const char *type_name = lbx_letter_type_name(letter);
    lbx_id id = {""};
    size_t size;
    const char *body = lbx_letter_body(letter, &size);
    void *record;

    if (!type_name || strcmp(type_name, kind->name) != 0 ||
        lbx__record_decode(kind, body, size, allocator, &record, NULL) !=
            LBX_OK)
        return id;
    id = ((const struct error_reply_request *)record)->request_id;
    lbx_record_destroy(record);
    return id;
}

const char *
lbx__error_reply_address(const lbx_letter *letter)
{
    return lbx_routes_address_by_name(lbx_letter_routes(letter),
                                      error_reply_result.name);
}

lbx_status
lbx__error_reply_send(lbx_letter *letter, const char *error,
                      const lbx_id *request_id, lbx_fault *fault)
{
    struct error_reply_result result = {
        .request_id = *request_id,
        .error = error,
        .completed_ms = lbx__clock_wall_ms(),
    };
    lbx_buffer json;
    lbx_status status;

    if (!request_id->text[0])
        (void)snprintf(result.request_id.text, sizeof(result.request_id.text),
                       "%s", lbx_letter_id(letter));
    lbx__buffer_init(&json, NULL, ERROR_REPLY_MAX_BYTES);
    status = lbx__record_encode(&error_reply_result, &result, &json, fault);
    if (status == LBX_OK) {
        lbx_draft draft = lbx_draft_of_bytes(json.bytes, json.size);

        draft.type_name = error_reply_result.name;
        status = lbx_letter_reply(letter, &draft, NULL, fault);
    }
    lbx__buffer_fini(&json);
    return status;
}
