/* SPDX-License-Identifier: Apache-2.0 */
/* How a request is answered: with a result, a page or an error. See
 * request.h. */
#include "server/sqs/request.h"

#include <stdarg.h>
#include <stdio.h>

/* Gives the answer to the connection. The request outlives it only when it has
 * letters that may have to be put back. */
static void
request_answer(lbx__request *request, lbx__http_reply *reply)
{
    bool keeps = request->received_count > 0 && request->is_receive;

    lbx__change_lock_give(request);
    request->sqs->answered(request, reply->status);
    request->exchange->context = keeps ? request : NULL;
    // The kernel takes bytes for a client that has just left. Only of a poll: a
    // client that closes its side after a request may still read the answer.
    reply->needs_client = keeps && request->has_timer;
    lbx__http_answer(request->exchange, reply);
    if (!keeps) {
        lbx__request_destroy(request);
        return;
    }
    // The answer has its own copy, which is counted (BUDGET-1); this one would
    // be there as long as the client does not read.
    lbx__buffer_fini(&request->body);
    request->last_received = lbx__received_keep_receipts(
        request->sqs->allocator, &request->received);
}

static const char *
request_content_type(const lbx__request *request)
{
    switch (request->format) {
    case LBX__SQS_JSON:
        return "application/x-amz-json-1.0";
    case LBX__SQS_TREE:
        return "application/json";
    case LBX__SQS_QUERY:
    default:
        return "text/xml";
    }
}

static lbx__http_field
request_id_field(const lbx__request *request)
{
    return (lbx__http_field){lbx__slice_of("x-amzn-RequestId"),
                             lbx__slice_of(request->id)};
}

void
lbx__request_done(lbx__request *request)
{
    const lbx__http_field id = request_id_field(request);
    lbx__http_reply reply = {
        .status = 200,
        .content_type = request_content_type(request),
        .fields = &id,
        .field_count = 1,
    };

    lbx__reply_finish(&request->reply, request->action->is_empty);
    if (request->body.status != LBX_OK) {
        lbx__request_fail(request, LBX__SQS_InternalFailure,
                          "The answer could not be made: %s.",
                          lbx_status_text(request->body.status));
        return;
    }
    reply.body = (lbx__slice){request->body.bytes, request->body.size};
    request_answer(request, &reply);
}

void
lbx__request_page(lbx__request *request, const char *content_type)
{
    const lbx__http_field id = request_id_field(request);
    lbx__http_reply reply = {
        .status = request->status_override ? request->status_override : 200,
        .content_type = content_type,
        .fields = &id,
        .field_count = 1,
    };

    if (request->body.status != LBX_OK)
        reply.status = 503;
    else
        reply.body = (lbx__slice){request->body.bytes, request->body.size};
    request_answer(request, &reply);
}

void
lbx__request_fail(lbx__request *request, lbx__sqs_error error,
                  const char *format, ...)
{
    const lbx__sqs_error_row *row = lbx__sqs_error_row_of(error);
    char text[1400], query_error[96];
    lbx__http_field fields[2] = {request_id_field(request)};
    lbx__http_reply reply = {
        .status =
            request->status_override ? request->status_override : row->status,
        .content_type = request_content_type(request),
        .fields = fields,
        .field_count = request->format == LBX__SQS_JSON ? 2 : 1,
    };
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(query_error, sizeof(query_error), "%s;%s", row->code,
             row->is_sender ? "Sender" : "Receiver");
    fields[1].name = lbx__slice_of("x-amzn-query-error");
    fields[1].value = lbx__slice_of(query_error);
    request->error = error;
    lbx__buffer_reset(&request->body);
    lbx__reply_error(&request->reply, error, text);
    reply.body = (lbx__slice){request->body.bytes, request->body.size};
    request_answer(request, &reply);
}

void
lbx__request_fail_fault(lbx__request *request, const lbx__sqs_fault *fault)
{
    lbx__request_fail(request, fault->error, "%s", fault->text);
}

lbx__sqs_error
lbx__request_error_of(lbx_status status, const char **ret_text)
{
    switch (status) {
    case LBX_CLOSED:
    case LBX_NOT_FOUND:
        *ret_text = "The specified queue does not exist.";
        return LBX__SQS_QueueDoesNotExist;
    case LBX_FULL:
    case LBX_NO_SPACE:
        *ret_text = "The store has no space left for more messages.";
        return LBX__SQS_OverLimit;
    case LBX_TOO_LARGE:
        *ret_text = "One or more parameters are invalid. Reason: the message "
                    "is larger than the store can keep.";
        return LBX__SQS_InvalidParameterValueException;
    case LBX_UNSUPPORTED:
        *ret_text = "The store behind this server does not support it.";
        return LBX__SQS_UnsupportedOperation;
    case LBX_BUSY:
    case LBX_UNREACHABLE:
    case LBX_NO_MEMORY:
        *ret_text = "The store cannot be used at the moment. Try again.";
        return LBX__SQS_ServiceUnavailable;
    default:
        *ret_text = "The store has failed; it is not known whether the "
                    "request took effect.";
        return LBX__SQS_InternalFailure;
    }
}

void
lbx__request_fail_status(lbx__request *request, lbx_status status)
{
    const char *text;
    lbx__sqs_error error = lbx__request_error_of(status, &text);

    if (error == LBX__SQS_QueueDoesNotExist) {
        if (request->queue) // what the directory knew is over
            lbx__queues_forget(request->sqs->queues, &request->world,
                               request->queue->name);
        if (request->format != LBX__SQS_JSON)
            text = "The specified queue does not exist for this wsdl version.";
    }
    lbx__request_fail(request, error, "%s", text);
}
