/* SPDX-License-Identifier: Apache-2.0 */
/* Messages without receiving them; see peek.h. */
#include "server/sqs/peek.h"

#include "server/sqs/attribute_filter.h"
#include "server/sqs/received.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    PEEK_DEFAULT = 100,
    PEEK_MAX = 1000
};

/* What LocalStack writes where a receive has a receipt. */
static const char peek_receipt[] = "SQS/BACKDOOR/ACCESS";

static void
peek_peeked(lbx__request *request, lbx_status status)
{
    const lbx_peek_request *peek = request->state;
    lbx__slice all = lbx__slice_of("All");
    const lbx__sqs_texts names = {&all, 1};
    const lbx__received_view view = {
        .system = lbx__attribute_filter_system(&names, &names),
        .names = &names,
        .receipt = peek_receipt,
    };
    lbx__received *rest;
    char next[24];

    if (status != LBX_OK && status != LBX_EMPTY) {
        lbx__request_fail_status(request, status);
        return;
    }
    rest = lbx__received_cut(request);
    if (!lbx__received_write(request, &view)) {
        lbx__received_destroy_all(request->sqs->allocator, rest);
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    if (rest || request->received_count == peek->max_letters) {
        snprintf(next, sizeof(next), "%" PRIu64,
                 request->last_received->delivery.sequence + 1);
        lbx__reply_text(&request->reply, "NextToken", lbx__slice_of(next));
    }
    lbx__received_destroy_all(request->sqs->allocator, rest);
    lbx__request_done(request);
}

/* A token is a number in decimal; false: it is something else. */
static bool
peek_read_token(lbx__slice token, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < token.size; i++) {
        if (token.bytes[i] < '0' || token.bytes[i] > '9' ||
            __builtin_mul_overflow(*ret, 10U, ret) ||
            __builtin_add_overflow(*ret, (uint64_t)(token.bytes[i] - '0'), ret))
            return false;
    }
    return true;
}

void
lbx__peek_start(lbx__request *request)
{
    const lbx__sqs_number *max = &request->input.max_results;
    lbx_peek_request *peek;
    uint64_t from;

    if (max->given && (max->value < 1 || max->value > PEEK_MAX)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Value %" PRId64 " for parameter MaxResults is "
                          "invalid. Reason: Must be between 1 and %d.",
                          max->value, PEEK_MAX);
        return;
    }
    if (!peek_read_token(request->input.next_token, &from)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Invalid or expired next token.");
        return;
    }
    peek = lbx__arena_take(&request->arena, sizeof(*peek));
    if (!peek) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    peek->box = request->queue->box;
    peek->from = from;
    peek->max_letters = max->given ? (uint32_t)max->value : PEEK_DEFAULT;
    request->state = peek;
    lbx__request_call(request, LBX_CALL_PEEK, peek, peek_peeked);
}
