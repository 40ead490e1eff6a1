/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is not an action of SQS: health, metrics, messages without a receive,
 * and the one action of STS that tools ask for.
 */
#include "base/alloc.h"
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

/* ---- Metrics: the names of all queues, then the counts of each ---- */

struct name {
    struct name *next;
    char *text;
};

struct listing {
    lbx__request *request;
    lbx_list_request list;
    lbx_box_request describe;
    lbx_box_counts counts;
    struct name *first, **end;
    struct name *at;
};

static bool
metrics_add_name(void *context, const char *text)
{
    struct listing *listing = context;
    lbx__arena *arena = &listing->request->arena;
    struct name *name = lbx__arena_take(arena, sizeof(*name));

    if (!name)
        return false;
    name->text = lbx__arena_copy(arena, text, strlen(text));
    if (!name->text)
        return false;
    *listing->end = name;
    listing->end = &name->next;
    return true;
}

static void
metrics_answer(lbx__request *request)
{
    lbx__request_page(request, "text/plain; version=0.0.4");
}

static void metrics_described(lbx__request *request, lbx_status status);

static void
metrics_describe(lbx__request *request)
{
    struct listing *listing = request->state;

    if (!listing->at) {
        metrics_answer(request);
        return;
    }
    listing->counts = (lbx_box_counts)LBX_BOX_COUNTS_INIT;
    listing->describe = (lbx_box_request){
        .name = listing->at->text,
        .ret_counts = &listing->counts,
    };
    lbx__request_call(request, LBX_CALL_DESCRIBE, &listing->describe,
                      metrics_described);
}

static void
metrics_described(lbx__request *request, lbx_status status)
{
    struct listing *listing = request->state;

    if (status == LBX_OK)
        lbx__metrics_write_queue(listing->at->text, &listing->counts,
                                 &request->body);
    listing->at = listing->at->next;
    metrics_describe(request);
}

static void
metrics_listed(lbx__request *request, lbx_status status)
{
    struct listing *listing = request->state;

    (void)status; // without queues there are still the counts of requests
    listing->at = listing->first;
    metrics_describe(request);
}

static void
metrics_start(lbx__request *request)
{
    lbx_server *server = request->sqs->context;
    const lbx__metrics **all = lbx__arena_take(
        &request->arena, server->worker_count * sizeof(const lbx__metrics *));
    struct listing *listing =
        lbx__arena_take(&request->arena, sizeof(*listing));
    lbx__http_counts http;

    if (!all || !listing) {
        lbx__request_fail_status(request, LBX_NO_MEMORY);
        return;
    }
    for (size_t i = 0; i < server->worker_count; i++)
        all[i] = &server->workers[i].metrics;
    lbx__http_count(server->http, &http);
    lbx__metrics_write(all, server->worker_count, &http, &request->body);
    listing->request = request;
    listing->end = &listing->first;
    listing->list =
        (lbx_list_request){.each = metrics_add_name, .context = listing};
    request->state = listing;
    if (strcmp(request->world.account, request->sqs->home.account) != 0) {
        metrics_answer(request); // the queues are another account's
        return;
    }
    lbx__request_call(request, LBX_CALL_LIST, &listing->list, metrics_listed);
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

/* /_aws/sqs/messages?QueueUrl=URL, /_aws/sqs/messages/REGION/ACCOUNT/NAME */
static void
peek_page(lbx__request *request, lbx__slice rest)
{
    const lbx__http_request *http = &request->exchange->request;
    lbx__slice accept = lbx__http_field_of(http, "accept"), name, action;
    lbx__sqs_fault fault;

    request->format =
        accept.bytes && memmem(accept.bytes, accept.size, "json", 4)
            ? LBX__SQS_TREE
            : LBX__SQS_QUERY;
    request->action = &peek_action;
    lbx__reply_begin(&request->reply, request->format, peek_action.name,
                     request->id, &request->body);
    request->reply.has_xml_names = request->format == LBX__SQS_TREE;
    if (!lbx__sqs_input_read_query(&request->input, &request->arena,
                                   (lbx__slice){NULL, 0}, http->query, &action,
                                   &fault)) {
        lbx__request_fail(request, fault.error, "%s", fault.text);
        return;
    }
    if (request->input.queue_url.bytes)
        rest = request->input.queue_url;
    if (lbx__front_resolve(request, rest, &name))
        lbx__queues_find(request, &request->world, name, peek_found);
    else
        lbx__request_fail_status(request, LBX_NOT_FOUND);
}

bool
lbx__pages_start(lbx__request *request)
{
    static const char messages[] = "/_aws/sqs/messages";
    const lbx__http_request *http = &request->exchange->request;
    lbx__slice path = http->path;

    if (http->method != LBX__HTTP_GET)
        return false;
    if (lbx__slice_is(path, "/metrics")) {
        metrics_start(request);
        return true;
    }
    if (path.size >= sizeof(messages) - 1 &&
        memcmp(path.bytes, messages, sizeof(messages) - 1) == 0) {
        peek_page(request, (lbx__slice){path.bytes + sizeof(messages) - 1,
                                        path.size - (sizeof(messages) - 1)});
        return true;
    }
    return false;
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
