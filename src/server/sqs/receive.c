/* SPDX-License-Identifier: Apache-2.0 */
/* ReceiveMessage. */
#include "base/time.h"
#include "server/sqs/attribute_filter.h"
#include "server/sqs/message_check.h"
#include "server/sqs/received.h"

/* Nothing was received: not an error. */
static void
receive_finish_empty(lbx__request *request)
{
    lbx__reply_null(&request->reply, "messages");
    lbx__request_done(request);
}

static void
receive_write(lbx__request *request)
{
    const lbx__sqs_input *input = &request->input;
    const lbx__received_view view = {
        .system = lbx__attribute_filter_system(&input->attribute_names,
                                               &input->system_names),
        .names = &input->message_names,
    };

    if (lbx__received_write(request, &view))
        lbx__request_done(request);
    else
        lbx__request_fail_status(request, LBX_NO_MEMORY);
}

static void
receive_was_cut(lbx__request *request, lbx_status status)
{
    (void)status; // what could not be put back comes back by its lease
    receive_write(request);
}

/* Letters of programs may be larger than an answer can hold together. */
static void
receive_fit(lbx__request *request)
{
    lbx__received *rest = lbx__received_cut(request);

    if (rest)
        lbx__request_put_back(request, rest, receive_was_cut);
    else
        receive_write(request);
}

/* A queue that is deleted ends its long polls without an error; one that was
 * deleted before the call does not exist. */
static void
receive_closed(lbx__request *request)
{
    const lbx_receive_request *receive = request->state;

    if (receive->wait_ns == 0) {
        lbx__request_fail_status(request, LBX_CLOSED);
        return;
    }
    lbx__queues_forget(request->sqs->queues, &request->world,
                       request->queue->name);
    receive_finish_empty(request);
}

static void
receive_received(lbx__request *request, lbx_status status)
{
    switch (status) {
    case LBX_OK:
        receive_fit(request);
        return;
    case LBX_EMPTY:
        receive_finish_empty(request);
        return;
    case LBX_CLOSED:
        receive_closed(request);
        return;
    case LBX_FULL:
        if (request->queue->options.fifo)
            receive_finish_empty(request);
        else
            lbx__request_fail(request, LBX__SQS_OverLimit,
                              "The maximum number of messages in flight is "
                              "reached for queue %s.",
                              request->queue->name);
        return;
    default:
        lbx__request_fail_status(request, status);
        return;
    }
}

/* How long to wait. A box of a program may say for ever. */
static int64_t
receive_wait_ns(const lbx__request *request)
{
    const int64_t max = LBX__MAX_WAIT_SECONDS * LBX_SECOND;
    const int64_t own = request->queue->options.wait_ns;

    if (request->input.wait.given)
        return request->input.wait.value * LBX_SECOND;
    return own < 0 || own > max ? max : own;
}

void
lbx__action_receive_message(lbx__request *request)
{
    const lbx__sqs_input *input = &request->input;
    const lbx_box_options *options = &request->queue->options;
    const lbx__sqs_number *visibility = &input->entry.visibility;
    lbx_receive_request *receive;
    lbx__sqs_fault fault;

    if (!lbx__message_check_receive(input, options->fifo, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    receive = lbx__arena_take(&request->arena, sizeof(*receive));
    if (!receive) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    *receive = (lbx_receive_request){
        .box = request->queue->box,
        .max_letters =
            input->max_messages.given ? (uint32_t)input->max_messages.value : 1,
        .min_letters = 1,
        .lease_ns = visibility->given ? visibility->value * LBX_SECOND
                                      : options->lease_ns,
        .wait_ns = receive_wait_ns(request),
        .attempt_id = options->fifo ? input->attempt_id.bytes : NULL,
    };
    request->state = receive;
    lbx__request_receive(request, receive, receive_received);
}
