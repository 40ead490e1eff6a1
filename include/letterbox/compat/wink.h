/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coming from WINK: its rules of boxes, and the records of its main loop.
 *
 *     lbx_box_options box = lbx_wink_box_options();
 *     lbx_postbox_options options = lbx_wink_postbox_options();
 *
 *     options.box = &box;
 *     lbx_postbox_open("file:shop/orders", &options, &orders);
 *
 * Requests and results travel as JSON objects:
 *
 *     letterbox.Request     {"request_id": "...", "payload": {...},
 *                            "budget": {...}, "deadline": "...",
 *                            "created_at": "2026-11-16T10:51:36.000Z"}
 *     letterbox.Result      {"request_id": "...", "output": {...},
 *                            "error": "...", "session_id": "...",
 *                            "completed_at": "..."}
 *
 * Times are RFC 3339, written in UTC with milliseconds, read with any offset.
 * Absent members are left out when written; null is read as absent. Unknown
 * members are ignored. Texts of a decoded record are inside it.
 *
 *     lbx_wink_request request = lbx_wink_request_of("{\"order\": 1}");
 *     lbx_draft draft =
 *         lbx_draft_of_message(lbx_wink_request_type(), &request);
 *
 *     lbx_postbox_send_draft(postbox, &draft, NULL);
 *
 * Threads    any.
 */
#ifndef LETTERBOX_COMPAT_WINK_H
#define LETTERBOX_COMPAT_WINK_H

#include <letterbox/base.h>
#include <letterbox/post/box.h>
#include <letterbox/post/draft.h>
#include <letterbox/post/postbox.h>
#include <letterbox/type.h>

LBX_BEGIN

/*
 * lbx_wink_box_options_read() writes into `ret`, whose
 * `size_bytes` is set, LBX_BOX_OPTIONS_INIT with leases of 12 hours at
 * most.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_wink_box_options_read(lbx_box_options *ret);

/* lbx_wink_box_options() returns them, made in the program itself. */
LBX_INLINE lbx_box_options
lbx_wink_box_options(void)
{
    lbx_box_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_wink_box_options_read(&options);
    return options;
}

/*
 * lbx_wink_postbox_options_read() writes into `ret`, whose
 * `size_bytes` is set, LBX_POSTBOX_OPTIONS_INIT with WINK's error
 * codes: `late_is_expired`, `refuse_undecodable` and `refuse_endless_wait`.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_wink_postbox_options_read(lbx_postbox_options *ret);

/* lbx_wink_postbox_options() returns them, made in the program itself. */
LBX_INLINE lbx_postbox_options
lbx_wink_postbox_options(void)
{
    lbx_postbox_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_wink_postbox_options_read(&options);
    return options;
}

/* A request. Texts are NULL when there is none. Start from
 * lbx_wink_request_of(). */
typedef struct lbx_wink_request {
    const char *payload; /* JSON; required */
    const char *budget;  /* JSON */
    int64_t deadline_ms; /* wall time, ms since 1970; 0: none */
    lbx_id request_id;   /* required */
    int64_t created_ms;  /* wall time */
} lbx_wink_request;

/* A result. Start from lbx_wink_result_of(). */
typedef struct lbx_wink_result {
    lbx_id request_id;  /* required */
    const char *output; /* JSON */
    const char *error;  /* plain text */
    lbx_id session_id;  /* empty: none */
    int64_t completed_ms;
} lbx_wink_result;

/*
 * lbx_wink_request_of() is a request with a new random id, made now.
 *
 * Ownership  the payload, JSON, is borrowed.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_wink_request lbx_wink_request_of(const char *payload);

/*
 * lbx_wink_result_of() is the result of a request, without output or error,
 * completed now.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_wink_result lbx_wink_result_of(const lbx_wink_request *request);

/*
 * lbx_wink_request_type() is the type of lbx_wink_request: messages are
 * lbx_wink_request, and are encoded as JSON. Put it into your
 * lbx_type_registry. A record that lacks what is required, or whose JSON is
 * none, is LBX_ENCODING.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_type *lbx_wink_request_type(void);

/*
 * lbx_wink_result_type() is the type of lbx_wink_result.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_type *lbx_wink_result_type(void);

LBX_END

#endif
