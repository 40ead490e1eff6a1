/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SendMessageBatch: what is valid goes to the store in one call.
 *
 * A FIFO queue takes all entries or none: one that is not valid would leave a
 * gap in the order of its group.
 */
#include "server/sqs/batch.h"
#include "server/sqs/fault_text.h"
#include "server/sqs/message_check.h"
#include "server/sqs/outgoing.h"

#include <inttypes.h>

struct send_batch_state {
    lbx_send_request send;
    size_t index[LBX_MAX_BATCH];  /* of each parcel: its entry */
    size_t parcel[LBX_MAX_BATCH]; /* of each entry: its parcel */
    lbx__batch_result results[LBX_MAX_BATCH];
    lbx_parcel parcels[LBX_MAX_BATCH];
    lbx_sent_letter sent[LBX_MAX_BATCH];
};

static void
send_batch_members(lbx__request *request, size_t index)
{
    const struct send_batch_state *state = request->state;

    lbx__outgoing_reply(request, &request->input.entries[index],
                        &state->sent[state->parcel[index]]);
}

static void
send_batch_sent(lbx__request *request, lbx_status status)
{
    struct send_batch_state *state = request->state;

    if (status == LBX_CLOSED) { // the queue, and so all of it
        lbx__request_fail_status(request, status);
        return;
    }
    for (size_t i = 0; i < state->send.count; i++)
        lbx__batch_set_status(&state->results[state->index[i]],
                              state->sent[i].status);
    lbx__batch_finish(request, state->results, send_batch_members);
}

/* What is wrong with the batch as a whole. */
static bool
send_batch_check(lbx__request *request, lbx__sqs_fault *fault)
{
    int64_t bytes = 0, max = request->queue->options.limits.max_batch_bytes;

    if (max > LBX__MAX_MESSAGE_BYTES)
        max = LBX__MAX_MESSAGE_BYTES;
    for (size_t i = 0; i < request->input.entry_count; i++)
        bytes += lbx__message_check_bytes(&request->input.entries[i]);
    return bytes <= max ||
           lbx__fault_text_set(fault, LBX__SQS_BatchRequestTooLong,
                               "Batch requests cannot be longer than %" PRId64
                               " bytes. You have sent %" PRId64 " bytes.",
                               max, bytes);
}

/* Packs what is valid. False: the whole is refused. */
static bool
send_batch_pack(lbx__request *request, struct send_batch_state *state,
                lbx__sqs_fault *fault)
{
    for (size_t i = 0; i < request->input.entry_count; i++) {
        lbx__sqs_entry *entry = &request->input.entries[i];
        const size_t at = state->send.count;

        if (!lbx__message_check_send(entry, &request->queue->options, i + 1,
                                     fault)) {
            if (request->queue->options.fifo)
                return false;
            lbx__batch_refuse(request, &state->results[i], fault);
            continue;
        }
        lbx__batch_set_status(
            &state->results[i],
            lbx__outgoing_pack(request, entry, &state->parcels[at]));
        if (state->results[i].error != LBX__SQS_OK)
            continue;
        state->index[at] = i;
        state->parcel[i] = at;
        state->send.count++;
    }
    return true;
}

void
lbx__action_send_message_batch(lbx__request *request)
{
    struct send_batch_state *state;
    lbx__sqs_fault fault;

    if (!lbx__batch_check(request))
        return;
    if (!send_batch_check(request, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    state = lbx__arena_take(&request->arena, sizeof(*state));
    if (!state) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    request->state = state;
    state->send.box = request->queue->box;
    state->send.parcels = state->parcels;
    state->send.sent = state->sent;
    if (!send_batch_pack(request, state, &fault))
        lbx__request_fail_fault(request, &fault);
    else if (state->send.count == 0)
        lbx__batch_finish(request, state->results, send_batch_members);
    else
        lbx__request_call(request, LBX_CALL_SEND, &state->send,
                          send_batch_sent);
}
