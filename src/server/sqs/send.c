/* SPDX-License-Identifier: Apache-2.0 */
/* SendMessage. */
#include "server/sqs/message_check.h"
#include "server/sqs/outgoing.h"

struct send_state {
    lbx_send_request send;
    lbx_parcel parcel;
    lbx_sent_letter sent;
};

static void
send_sent(lbx__request *request, lbx_status status)
{
    const struct send_state *state = request->state;

    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    lbx__outgoing_reply(request, &request->input.entry, &state->sent);
    lbx__request_done(request);
}

void
lbx__action_send_message(lbx__request *request)
{
    struct send_state *state;
    lbx__sqs_fault fault;
    lbx_status status;

    if (!lbx__message_check_send(&request->input.entry,
                                 &request->queue->options, 0, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    state = lbx__arena_take(&request->arena, sizeof(*state));
    status = state ? lbx__outgoing_pack(request, &request->input.entry,
                                        &state->parcel)
                   : LBX_NO_MEMORY;
    if (status != LBX_OK) {
        lbx__request_fail_status(request, status);
        return;
    }
    state->send.box = request->queue->box;
    state->send.parcels = &state->parcel;
    state->send.count = 1;
    state->send.sent = &state->sent;
    request->state = state;
    lbx__request_call(request, LBX_CALL_SEND, &state->send, send_sent);
}
