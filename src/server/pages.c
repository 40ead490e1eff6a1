/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not an action of SQS: health, messages without a receive, the one
 * action of STS that tools ask for, and the way to the metrics.
 */
#include "server/server.h"
#include "server/sqs/peek.h"

#include <stdio.h>
#include <string.h>

/* Health needs no key: load balancers have none. */
bool
lbx__pages_handle(lbx_server *server, lbx__http_exchange *exchange)
{
    const lbx__http_request *request = &exchange->request;
    lbx__http_reply reply = {.status = 200, .content_type = "application/json"};

    if ((request->method != LBX__HTTP_GET &&
         request->method != LBX__HTTP_HEAD) ||
        !lbx__slice_is(request->path, "/health"))
        return false;
    // Relaxed: a moment later it would be true anyway.
    if (lbx__load(&server->stopping, relaxed)) {
        reply.status = 503;
        reply.body = lbx__slice_of("{\"status\":\"stopping\"}\n");
    } else
        reply.body = lbx__slice_of("{\"status\":\"ok\"}\n");
    lbx__http_answer(exchange, &reply);
    return true;
}

/* ---- Messages without a receive ---- */

static void
peek_found(lbx__request *request, lbx_status status)
{
    if (status != LBX_OK)
        lbx__request_fail_status(request, status);
    else
        lbx__peek_start(request);
}

static const lbx__action peek_action = {"ReceiveMessage", lbx__peek_start, true,
                                        false};

/* LocalStack tells a URL that has no account from a queue that is not there. */
static bool
peek_is_address(lbx__slice url)
{
    lbx__world named = {"", ""};
    lbx__slice name;

    return !url.bytes || !memmem(url.bytes, url.size, "://", 3) ||
           (lbx__queue_parse_url(url, &named, &name) && named.account[0]);
}

static void
peek_find(lbx__request *request, lbx__slice url)
{
    lbx__slice name;

    if (lbx__front_resolve(request, url, &name))
        lbx__queues_find(request, &request->world, name, peek_found);
    else
        lbx__request_fail_status(request, LBX_NOT_FOUND);
}

static void
peek_choose_format(lbx__request *request)
{
    const lbx__slice accept =
        lbx__http_field_of(&request->exchange->request, "accept");

    if (request->format != LBX__SQS_JSON)
        request->format =
            accept.bytes && memmem(accept.bytes, accept.size, "json", 4)
                ? LBX__SQS_TREE
                : LBX__SQS_QUERY;
    lbx__reply_begin(&request->reply, request->format, peek_action.name,
                     request->id, &request->body);
    request->reply.has_xml_names = request->format == LBX__SQS_TREE;
}

/* /_aws/sqs/messages?QueueUrl=URL, /_aws/sqs/messages/REGION/ACCOUNT/NAME; also
 * as the endpoint of a client, whose ReceiveMessage then receives nothing. */
static void
peek_page(lbx__request *request, lbx__slice rest)
{
    lbx__slice action;
    lbx__sqs_fault fault;

    request->action = &peek_action;
    peek_choose_format(request);
    if (!lbx__front_read(request, &action, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    if (action.bytes && !lbx__slice_is(action, peek_action.name)) {
        lbx__request_fail(request, LBX__SQS_InvalidRequest,
                          "This endpoint only accepts ReceiveMessage calls");
        return;
    }
    if (request->input.queue_url.bytes)
        rest = request->input.queue_url;
    if (peek_is_address(rest))
        peek_find(request, rest);
    else
        lbx__request_fail(request, LBX__SQS_InvalidAddress,
                          "The address is not valid for this endpoint.");
}

/* What is behind a prefix of a path, which ends there or goes on with a slash;
 * NULL bytes: it is another path. */
static lbx__slice
pages_rest(lbx__slice path, const char *prefix)
{
    const size_t size = strlen(prefix);

    if (path.size < size || memcmp(path.bytes, prefix, size) != 0 ||
        (path.size > size && path.bytes[size] != '/'))
        return (lbx__slice){NULL, 0};
    return (lbx__slice){path.bytes + size, path.size - size};
}

static bool
pages_is_metrics(const lbx__http_request *http)
{
    return http->method == LBX__HTTP_GET &&
           lbx__slice_is(http->path, "/metrics");
}

/* Prometheus cannot sign what it reads. */
bool
lbx__pages_start_open(lbx__request *request)
{
    const lbx_server *server = request->sqs->context;

    if (!server->open_metrics || !pages_is_metrics(&request->exchange->request))
        return false;
    request->world = request->sqs->home;
    lbx__metrics_page_start(request);
    return true;
}

bool
lbx__pages_start(lbx__request *request)
{
    const lbx__http_request *http = &request->exchange->request;
    const lbx__slice rest = pages_rest(http->path, "/_aws/sqs/messages");

    if (rest.bytes)
        peek_page(request, rest);
    else if (pages_is_metrics(http))
        lbx__metrics_page_start(request);
    else
        return false;
    return true;
}

/* GetCallerIdentity of STS: tools ask for it before anything else. */
void
lbx__pages_caller_identity(lbx__request *request)
{
    char text[1024];
    int size = snprintf(
        text, sizeof(text),
        "<GetCallerIdentityResponse "
        "xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
        "<GetCallerIdentityResult><Arn>arn:aws:iam::%s:root</Arn>"
        "<UserId>%s</UserId><Account>%s</Account></GetCallerIdentityResult>"
        "<ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata>"
        "</GetCallerIdentityResponse>\n",
        request->world.account, request->world.account, request->world.account,
        request->id);

    lbx__buffer_add(&request->body, text, (size_t)size);
    lbx__request_page(request, "text/xml");
}
