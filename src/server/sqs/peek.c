/* SPDX-License-Identifier: Apache-2.0 */
/* Messages without receiving them; see peek.h. */
#include "server/sqs/peek.h"

#include "server/sqs/attribute_filter.h"
#include "server/sqs/next_token.h"
#include "server/sqs/received.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

enum {
    PEEK_MAX = 1000,
    /* No more letters after so many bytes: a page is in memory as a whole. */
    PEEK_BYTES = 16 << 20
};

struct peek {
    lbx_peek_request call;
    bool shows_leased, shows_delayed;
};

/* What LocalStack writes where a receive has a receipt. */
static const char peek_receipt[] = "SQS/BACKDOOR/ACCESS";

/* Whether an earlier letter of the list has the same group, and is leased: a
 * FIFO queue delivers neither. */
static bool
peek_is_behind_leased(const lbx__request *request, const lbx__received *letter)
{
    const char *group = letter->delivery.parcel.group;
    const lbx__received *one = request->received;

    for (; group && one && one != letter; one = one->next) {
        if (one->delivery.state == LBX_LETTER_STATE_LEASED &&
            one->delivery.parcel.group &&
            strcmp(one->delivery.parcel.group, group) == 0)
            return true;
    }
    return false;
}

static bool
peek_shows(const lbx__request *request, const lbx__received *letter)
{
    const struct peek *peek = request->state;

    switch (letter->delivery.state) {
    case LBX_LETTER_STATE_LEASED:
        return peek->shows_leased;
    case LBX_LETTER_STATE_DELAYED:
        return peek->shows_delayed;
    case LBX_LETTER_STATE_READY:
    case LBX_LETTER_STATE_UNKNOWN:
    default:
        return peek->shows_leased || !request->queue->options.fifo ||
               !peek_is_behind_leased(request, letter);
    }
}

/* Whether the store may have more than the request has received. */
static bool
peek_is_cut(const lbx__request *request, const lbx_peek_request *call)
{
    size_t bytes = 0;

    for (const lbx__received *one = request->received; one; one = one->next)
        bytes += one->size_bytes; // more than what the store counts
    return request->received_count == call->max_letters ||
           bytes >= call->max_bytes;
}

/* Drops what is not to be shown. What is shown of one depends on those before
 * it: so the list is complete until the end. */
static void
peek_filter(lbx__request *request)
{
    lbx__received *shown = NULL, **last = &shown, *hidden = NULL, *next;
    lbx__received **last_hidden = &hidden;

    for (lbx__received *one = request->received; one; one = one->next)
        one->is_hidden = !peek_shows(request, one);
    for (lbx__received *one = request->received; one; one = next) {
        lbx__received ***end = one->is_hidden ? &last_hidden : &last;

        next = one->next;
        one->next = NULL;
        **end = one;
        *end = &one->next;
    }
    request->received = shown;
    lbx__received_destroy_all(request->sqs->allocator, hidden);
}

static void
peek_peeked(lbx__request *request, lbx_status status)
{
    const struct peek *peek = request->state;
    lbx__slice all = lbx__slice_of("All");
    const lbx__sqs_texts names = {&all, 1};
    const lbx__received_view view = {
        .system = lbx__attribute_filter_system(&names, &names),
        .names = &names,
        .receipt = peek_receipt,
        .shows_leased = peek->shows_leased,
        .shows_delayed = peek->shows_delayed,
    };
    lbx__received *rest;
    uint64_t next_sequence = 0;
    char next[24];

    if (status != LBX_OK && status != LBX_EMPTY) {
        lbx__request_fail_status(request, status);
        return;
    }
    rest = lbx__received_cut(request);
    if (rest || peek_is_cut(request, &peek->call))
        next_sequence = request->last_received->delivery.sequence + 1;
    lbx__received_destroy_all(request->sqs->allocator, rest);
    peek_filter(request);
    request->reply.has_one_item = request->reply.has_xml_names &&
                                  request->received && !request->received->next;
    if (!lbx__received_write(request, &view)) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    if (next_sequence > 0) {
        snprintf(next, sizeof(next), "%" PRIu64, next_sequence);
        lbx__reply_text(&request->reply, "NextToken", lbx__slice_of(next));
    }
    lbx__request_done(request);
}

static bool
peek_is_true(lbx__slice text)
{
    return (text.size == 4 && strncasecmp(text.bytes, "true", 4) == 0) ||
           lbx__slice_is(text, "1");
}

void
lbx__peek_start(lbx__request *request)
{
    const lbx__sqs_number *max = &request->input.max_results;
    struct peek *peek;
    uint64_t from;

    if (max->given && (max->value < 1 || max->value > PEEK_MAX)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Value %" PRId64 " for parameter MaxResults is "
                          "invalid. Reason: Must be between 1 and %d.",
                          max->value, PEEK_MAX);
        return;
    }
    if (!lbx__next_token_read_sequence(request->input.next_token, &from)) {
        lbx__request_fail(request, LBX__SQS_InvalidParameterValueException,
                          "Invalid or expired next token.");
        return;
    }
    peek = lbx__arena_take(&request->arena, sizeof(*peek));
    if (!peek) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    peek->call.box = request->queue->box;
    peek->call.from = from;
    peek->call.max_letters = max->given ? (uint32_t)max->value : PEEK_MAX;
    peek->call.max_bytes = PEEK_BYTES;
    peek->shows_leased = peek_is_true(request->input.show_leased);
    peek->shows_delayed = peek_is_true(request->input.show_delayed);
    request->state = peek;
    lbx__request_call(request, LBX_CALL_PEEK, &peek->call, peek_peeked);
}
