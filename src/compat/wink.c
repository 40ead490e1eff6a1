/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WINK's request and result: their members, and their types; and its rules.
 *
 * The types live in static memory and are made by the first call: there is
 * nothing to fail and nothing to free. Records are decoded into the C library's
 * memory, as a type has no allocator.
 */
#include "compat/wink.h"

#include "base/clock.h"
#include "base/sized.h"
#include "codec/random.h"
#include "codec/record.h"
#include "codec/uuid.h"
#include <letterbox/compat/wink.h>

#include <pthread.h>

static const lbx_field wink_request_fields[] = {
    LBX_FIELD_NAMED("request_id", lbx_wink_request, request_id.text, CHARS),
    LBX_FIELD(lbx_wink_request, payload, JSON),
    LBX_OPTIONAL(lbx_wink_request, budget, JSON),
    LBX_OPTIONAL_NAMED("deadline", lbx_wink_request, deadline_ms, TIME),
    LBX_OPTIONAL_NAMED("created_at", lbx_wink_request, created_ms, TIME),
};

const lbx_record lbx__wink_request_table = {sizeof(lbx_record),
                                            "letterbox.Request",
                                            sizeof(lbx_wink_request),
                                            wink_request_fields,
                                            sizeof(wink_request_fields) /
                                                sizeof(lbx_field),
                                            sizeof(lbx_field)};

static const lbx_field wink_result_fields[] = {
    LBX_FIELD_NAMED("request_id", lbx_wink_result, request_id.text, CHARS),
    LBX_OPTIONAL(lbx_wink_result, output, JSON),
    LBX_OPTIONAL(lbx_wink_result, error, TEXT),
    LBX_OPTIONAL_NAMED("session_id", lbx_wink_result, session_id.text, CHARS),
    LBX_OPTIONAL_NAMED("completed_at", lbx_wink_result, completed_ms, TIME),
};

const lbx_record lbx__wink_result_table = {sizeof(lbx_record),
                                           "letterbox.Result",
                                           sizeof(lbx_wink_result),
                                           wink_result_fields,
                                           sizeof(wink_result_fields) /
                                               sizeof(lbx_field),
                                           sizeof(lbx_field)};

lbx_wink_request
lbx_wink_request_of(const char *payload)
{
    lbx_wink_request request = {.payload = payload,
                                .created_ms = lbx__clock_wall_ms()};
    uint8_t bytes[LBX__UUID_BYTES];

    // Without random bytes it has no id, and cannot be encoded.
    if (lbx__random(bytes, sizeof(bytes))) {
        lbx__uuid_mark_random(bytes);
        lbx__uuid_format(bytes, request.request_id.text);
    }
    return request;
}

lbx_wink_result
lbx_wink_result_of(const lbx_wink_request *request)
{
    lbx_wink_result result = {.completed_ms = lbx__clock_wall_ms()};

    if (request)
        result.request_id = request->request_id;
    return result;
}

/* ---- Types ---- */

static lbx__type_storage wink_type_storages[2];
static const lbx_type *wink_request_type;
static const lbx_type *wink_result_type;
static pthread_once_t wink_types_once = PTHREAD_ONCE_INIT;

static void
wink_make_types(void)
{
    wink_request_type = lbx__type_init_static(
        &wink_type_storages[0],
        lbx__record_type_options(&lbx__wink_request_table));
    wink_result_type = lbx__type_init_static(
        &wink_type_storages[1],
        lbx__record_type_options(&lbx__wink_result_table));
}

const lbx_type *
lbx_wink_request_type(void)
{
    (void)pthread_once(&wink_types_once, wink_make_types);
    return wink_request_type;
}

const lbx_type *
lbx_wink_result_type(void)
{
    (void)pthread_once(&wink_types_once, wink_make_types);
    return wink_result_type;
}

/* ---- Rules ---- */

lbx_status
lbx_wink_box_options_read(lbx_box_options *ret)
{
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;

    options.limits.max_lease_ns = (int64_t)12 * 3600 * LBX_SECOND;
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_box_options,
                                  dead_letter_box_count)
               : LBX_INVALID;
}

lbx_status
lbx_wink_postbox_options_read(lbx_postbox_options *ret)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

    options.late_is_expired = true;
    options.refuse_undecodable = true;
    options.refuse_endless_wait = true;
    return ret ? LBX__SIZED_WRITE(ret, &options, lbx_postbox_options,
                                  refuse_endless_wait)
               : LBX_INVALID;
}
