/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DeleteMessage and ChangeMessageVisibility, and their batches. An action on
 * one message is a batch of one, whose failure is that of the request.
 *
 * SQSET-1  On a standard queue, deleting with a receipt that is no longer
 *          current succeeds and changes nothing, and a change of visibility
 *          counts. On a FIFO queue, and on a strict box of a program, both
 *          fail: the message will come back.
 * SQSET-2  A receipt that the store does not know is told apart from a lease
 *          that would become too long. The store has one status for both
 *          (RSETTLE-2, RSETTLE-3), so it is asked again for something that it
 *          refuses in the second case only, and for another reason: to settle
 *          with an attachment for a box that cannot exist.
 */
#include "post/store.h"
#include "server/sqs/batch.h"
#include "server/sqs/fault_text.h"
#include "server/sqs/message_check.h"

#include <inttypes.h>
#include <stdio.h>

struct settle_state {
    lbx_settle_request settle;
    const lbx__sqs_entry *inputs;
    bool deletes;
    bool is_batch;
    lbx__batch_result *results; /* as many as inputs */
    size_t *index;              /* of each entry of the call: its input */
};

#define SETTLE_INVALID LBX__SQS_InvalidParameterValueException

/* ---- Results ---- */

static void
settle_finish(lbx__request *request)
{
    const struct settle_state *state = request->state;

    if (state->is_batch)
        lbx__batch_finish(request, state->results, NULL);
    else if (state->results[0].error != LBX__SQS_OK)
        lbx__request_fail(request, state->results[0].error, "%s",
                          state->results[0].text);
    else
        lbx__request_done(request);
}

static bool
settle_fail_receipt(lbx__slice receipt, lbx__sqs_fault *fault)
{
    return lbx__fault_text_set(fault, LBX__SQS_ReceiptHandleIsInvalid,
                               "The input receipt handle \"%.*s\" is not "
                               "a valid receipt handle.",
                               LBX__QUOTED(receipt));
}

static bool
settle_fail_reason(lbx__slice receipt, const char *reason,
                   lbx__sqs_fault *fault)
{
    return lbx__fault_text_set(
        fault, SETTLE_INVALID,
        "Value %.*s for parameter ReceiptHandle is invalid. Reason: %s",
        LBX__QUOTED(receipt), reason);
}

/* What the status of an entry means in SQS. False: the fault has it. */
static bool
settle_judge_entry(const lbx__request *request, lbx__slice receipt,
                   lbx_status status, lbx__sqs_fault *fault)
{
    const struct settle_state *state = request->state;
    const lbx_box_options *options = &request->queue->options;
    const char *text;

    switch (status) {
    case LBX_OK:
        return true;
    case LBX_GONE:
        if (state->deletes)
            return true;
        break;
    case LBX_EXPIRED:
        if (!state->deletes)
            break;
        return (!options->fifo && !options->strict) || // SQSET-1
               settle_fail_reason(receipt, "The receipt handle has expired.",
                                  fault);
    case LBX_INVALID:
        return settle_fail_receipt(receipt, fault);
    default:
        fault->error = lbx__request_error_of(status, &text);
        return lbx__fault_text_set(fault, fault->error, "%s", text);
    }
    return settle_fail_reason(receipt,
                              "Message does not exist or is not available for "
                              "visibility timeout change.",
                              fault);
}

static void
settle_judge_all(lbx__request *request)
{
    struct settle_state *state = request->state;
    lbx__sqs_fault fault;

    for (size_t i = 0; i < state->settle.count; i++) {
        const size_t at = state->index[i];

        if (!settle_judge_entry(request, state->inputs[at].receipt,
                                state->settle.entries[i].status, &fault))
            lbx__batch_refuse(request, &state->results[at], &fault);
    }
}

/* ---- Leases that become too long (SQSET-2) ---- */

static void
settle_probed(lbx__request *request, lbx_status status)
{
    struct settle_state *state = request->state;
    lbx__sqs_fault fault;

    (void)status;
    for (size_t i = 0; i < state->settle.count; i++) {
        const size_t at = state->index[i];

        if (state->settle.entries[i].status == LBX_INVALID)
            continue; // what settle_judge_all() has found stays
        lbx__fault_text_set(
            &fault, SETTLE_INVALID,
            "Value %" PRId64 " for parameter VisibilityTimeout is invalid. "
            "Reason: Total VisibilityTimeout for the message is beyond the "
            "limit [43200 seconds]",
            state->inputs[at].visibility.value);
        lbx__batch_refuse(request, &state->results[at], &fault);
    }
    settle_finish(request);
}

/* Makes the entries that were INVALID a request of their own. False: there are
 * none, or no memory. */
static bool
settle_make_probe(lbx__request *request)
{
    static const lbx_parcel nothing = {.body = ""};
    struct settle_state *state = request->state;
    lbx_attachment *attachment;
    size_t count = 0;

    for (size_t i = 0; i < state->settle.count; i++) {
        lbx_settle_request_entry *entry = &state->settle.entries[i];

        if (entry->status != LBX_INVALID || entry->action != LBX_SETTLE_EXTEND)
            continue;
        attachment = lbx__arena_take(&request->arena, sizeof(*attachment));
        if (!attachment)
            return false;
        attachment->box.uid = UINT64_MAX;
        attachment->parcel = &nothing;
        attachment->sent =
            lbx__arena_take(&request->arena, sizeof(*attachment->sent));
        if (!attachment->sent)
            return false;
        entry->action = LBX_SETTLE_NACK;
        entry->time_ns = 0;
        entry->attachments = attachment;
        entry->attachment_count = 1;
        state->index[count] = state->index[i];
        state->settle.entries[count++] = *entry;
    }
    state->settle.count = count;
    return count > 0;
}

static void
settle_settled(lbx__request *request, lbx_status status)
{
    struct settle_state *state = request->state;

    (void)status; // each entry has its own
    settle_judge_all(request);
    if (!state->deletes && settle_make_probe(request))
        lbx__request_call(request, LBX_CALL_SETTLE, &state->settle,
                          settle_probed);
    else
        settle_finish(request);
}

/* ---- Input ---- */

/* `number`: of an entry in its batch, from 1. */
static bool
settle_fail_missing(const char *parameter, size_t number, lbx__sqs_fault *fault)
{
    char entry[64] = "";

    if (number > 0)
        snprintf(entry, sizeof(entry),
                 "ChangeMessageVisibilityBatchRequestEntry.%zu.", number);
    return lbx__fault_text_set(
        fault, LBX__SQS_MissingRequiredParameterException,
        "The request must contain the parameter %s%s.", entry, parameter);
}

/* The receipt in the store's own form, in the arena. */
static bool
settle_parse_receipt(lbx__request *request, lbx__slice receipt,
                     lbx_settle_request_entry *ret, lbx__sqs_fault *fault)
{
    char bytes[LBX_MAX_RECEIPT_BYTES];
    char *copy;
    size_t size = 0;

    if (!receipt.bytes || strspn(receipt.bytes, " ") == receipt.size)
        return settle_fail_missing("ReceiptHandle", 0, fault);
    if (strlen(receipt.bytes) != receipt.size ||
        lbx__store_call_receipt_parse(request->sqs->store, request->queue->box,
                                      receipt.bytes, bytes, &size) != LBX_OK)
        return settle_fail_receipt(receipt, fault);
    copy = lbx__arena_copy(&request->arena, bytes, size);
    if (!copy)
        return lbx__fault_text_set(fault, LBX__SQS_ServiceUnavailable,
                                   "There is no memory for the request.");
    ret->receipt = copy;
    ret->receipt_bytes = size;
    return true;
}

static bool
settle_pack(lbx__request *request, size_t index, lbx_settle_request_entry *ret,
            lbx__sqs_fault *fault)
{
    const struct settle_state *state = request->state;
    const lbx__sqs_number *visibility = &state->inputs[index].visibility;

    *ret = (lbx_settle_request_entry){.action = LBX_SETTLE_ACKNOWLEDGE};
    if (!state->deletes) {
        if (!visibility->given)
            return settle_fail_missing("VisibilityTimeout",
                                       state->is_batch ? index + 1 : 0, fault);
        if (!lbx__message_check_visibility(visibility, LBX__REASON_VISIBILITY,
                                           fault))
            return false;
        ret->action =
            visibility->value == 0 ? LBX_SETTLE_NACK : LBX_SETTLE_EXTEND;
        ret->time_ns = visibility->value * LBX_SECOND;
        ret->flags = LBX_SETTLE_ANY_DELIVERY; // SQSET-1
    }
    return settle_parse_receipt(request, state->inputs[index].receipt, ret,
                                fault);
}

static bool
settle_init(lbx__request *request, const lbx__sqs_entry *inputs, size_t count)
{
    struct settle_state *state =
        lbx__arena_take(&request->arena, sizeof(*state));

    if (!state)
        return false;
    request->state = state;
    state->inputs = inputs;
    state->is_batch = inputs != &request->input.entry;
    state->settle.box = request->queue->box;
    state->settle.entries = lbx__arena_take(
        &request->arena, count * sizeof(*state->settle.entries));
    state->results =
        lbx__arena_take(&request->arena, count * sizeof(*state->results));
    state->index =
        lbx__arena_take(&request->arena, count * sizeof(*state->index));
    return state->settle.entries && state->results && state->index;
}

static void
settle_start(lbx__request *request, const lbx__sqs_entry *inputs, size_t count,
             bool deletes)
{
    struct settle_state *state;
    lbx__sqs_fault fault;

    if (!settle_init(request, inputs, count)) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    state = request->state;
    state->deletes = deletes;
    for (size_t i = 0; i < count; i++) {
        const size_t at = state->settle.count;

        if (!settle_pack(request, i, &state->settle.entries[at], &fault)) {
            lbx__batch_refuse(request, &state->results[i], &fault);
            continue;
        }
        state->index[at] = i;
        state->settle.count++;
    }
    if (state->settle.count == 0)
        settle_finish(request);
    else
        lbx__request_call(request, LBX_CALL_SETTLE, &state->settle,
                          settle_settled);
}

/* ---- Actions ---- */

void
lbx__action_delete_message(lbx__request *request)
{
    settle_start(request, &request->input.entry, 1, true);
}

void
lbx__action_delete_message_batch(lbx__request *request)
{
    if (lbx__batch_check(request))
        settle_start(request, request->input.entries,
                     request->input.entry_count, true);
}

void
lbx__action_change_message_visibility(lbx__request *request)
{
    settle_start(request, &request->input.entry, 1, false);
}

void
lbx__action_change_message_visibility_batch(lbx__request *request)
{
    if (lbx__batch_check(request))
        settle_start(request, request->input.entries,
                     request->input.entry_count, false);
}
