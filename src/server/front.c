/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front: an HTTP request becomes a request of SQS.
 *
 * In this order, and each may refuse it: the page, if it is one; the limits;
 * the gate; the action; its input; its queue.
 */
#include "base/alloc.h"
#include "base/map.h"
#include "codec/uuid.h"
#include "server/server.h"
#include "server/sqs/received.h"

#include <stdio.h>
#include <string.h>

enum {
    /* What is sent has at most the size of an HTTP body. A letter of a program
     * may have 64 MiB, and is twice there if it must be encoded. */
    FRONT_ARENA_BYTES = 192 << 20,
    FRONT_REPLY_BYTES = LBX__RECEIVED_REPLY_BYTES
};

/* A UUID that is not used twice: random at the start, then counted up and
 * mixed. */
static void
front_make_id(lbx__server_worker *worker, char id[LBX__UUID_TEXT_BYTES])
{
    uint8_t bytes[LBX__UUID_BYTES];
    uint64_t words[2];

    worker->next_id[0]++;
    words[0] = lbx__map_hash_word(worker->next_id[0]);
    words[1] = lbx__map_hash_word(words[0] ^ worker->next_id[1]);
    memcpy(bytes, words, sizeof(bytes));
    lbx__uuid_mark_random(bytes);
    lbx__uuid_format(bytes, id);
}

static bool
front_is_json(const lbx__http_request *request)
{
    static const char json[] = "application/x-amz-json";
    lbx__slice type = lbx__http_field_of(request, "content-type");

    return lbx__http_field_of(request, "x-amz-target").bytes ||
           (type.size >= sizeof(json) - 1 &&
            strncasecmp(type.bytes, json, sizeof(json) - 1) == 0);
}

static lbx__sqs_format
front_format_of(const lbx__http_request *request)
{
    if (front_is_json(request))
        return LBX__SQS_JSON;
    if (lbx__slice_is(lbx__http_field_of(request, "accept"),
                      "application/json"))
        return LBX__SQS_TREE;
    return LBX__SQS_QUERY;
}

static lbx__request *
front_create_request(lbx_server *server, lbx__http_exchange *exchange)
{
    lbx__loop *loop = lbx__http_exchange_loop(exchange);
    lbx__server_worker *worker = lbx__server_worker_of(server, loop);
    lbx__request *request = lbx__zalloc(server->allocator, sizeof(*request));

    if (!request)
        return NULL;
    lbx__server_add_request(server);
    request->sqs = &server->sqs;
    request->exchange = exchange;
    request->loop = loop;
    request->start_ns = lbx_clock_now(NULL);
    request->format = front_format_of(&exchange->request);
    front_make_id(worker, request->id);
    lbx__list_init(&request->waiting);
    lbx__arena_init(&request->arena, server->allocator, FRONT_ARENA_BYTES);
    lbx__arena_count(&request->arena, &server->budget.held_bytes);
    lbx__buffer_init(&request->body, server->allocator, FRONT_REPLY_BYTES);
    lbx__reply_begin(&request->reply, request->format, "", request->id,
                     &request->body);
    exchange->context = request;
    return request;
}

static void
front_found_queue(lbx__request *request, lbx_status status)
{
    if (status != LBX_OK)
        lbx__request_fail_status(request, status);
    else
        request->action->start(request);
}

/* The account and the region of a queue's URL count where nothing is checked;
 * otherwise the queue of another account or region does not exist. */
bool
lbx__front_resolve(lbx__request *request, lbx__slice url, lbx__slice *ret_name)
{
    lbx_server *server = request->sqs->context;
    lbx__world *world = &request->world, named = *world;

    if (!request->is_signed)
        (void)lbx__queue_region_of_url(url, &named);
    if (!lbx__queue_parse_url(url, &named, ret_name))
        return false;
    if (strcmp(named.account, world->account) == 0 &&
        strcmp(named.region, world->region) == 0)
        return true;
    *world = named;
    return lbx__gate_is_open(&server->gate);
}

static void
front_find_queue(lbx__request *request)
{
    lbx__slice url = request->input.queue_url, name;

    if (!url.bytes)
        url = request->exchange->request.path;
    if (lbx__front_resolve(request, url, &name))
        lbx__queues_find(request, &request->world, name, front_found_queue);
    else
        lbx__request_fail_status(request, LBX_NOT_FOUND);
}

static void
front_fail_space(lbx__request *request)
{
    lbx__request_fail(request, LBX__SQS_ServiceUnavailable,
                      "Too many bytes are being sent and received at the "
                      "moment. Try again.");
}

/* The input is in the arena now, and has had no effect yet: the last moment at
 * which a request can be refused (BUDGET-2). */
static void
front_start(lbx__request *request, const lbx__action *action)
{
    const lbx_server *server = request->sqs->context;

    request->action = action;
    request->reply.action = action->name;
    if (lbx__budget_is_spent(&server->budget))
        front_fail_space(request);
    else if (action->has_queue)
        front_find_queue(request);
    else
        action->start(request);
}

/* The action of X-Amz-Target; NULL bytes: it is none of SQS. */
static lbx__slice
front_target(const lbx__http_request *http)
{
    static const char service[] = "AmazonSQS.";
    const lbx__slice target = lbx__http_field_of(http, "x-amz-target");

    if (target.size <= sizeof(service) - 1 ||
        memcmp(target.bytes, service, sizeof(service) - 1) != 0)
        return (lbx__slice){NULL, 0};
    return (lbx__slice){target.bytes + sizeof(service) - 1,
                        target.size - (sizeof(service) - 1)};
}

bool
lbx__front_read(lbx__request *request, lbx__slice *ret_action,
                lbx__sqs_fault *fault)
{
    const lbx__http_request *http = &request->exchange->request;
    const lbx__slice none = {NULL, 0};

    if (request->format != LBX__SQS_JSON)
        return lbx__sqs_input_read_query(
            &request->input, &request->arena,
            http->method == LBX__HTTP_POST ? http->body : none, http->query,
            ret_action, fault);
    *ret_action = front_target(http);
    // The one action that needs no member: clients may send nothing at all.
    return (http->body.size == 0 && lbx__slice_is(*ret_action, "ListQueues")) ||
           lbx__sqs_input_read_json(&request->input, &request->arena,
                                    http->body, fault);
}

static void
front_start_json(lbx__request *request)
{
    const lbx__http_request *http = &request->exchange->request;
    lbx__slice target = lbx__http_field_of(http, "x-amz-target"), name;
    const lbx__action *action = lbx__action_find(front_target(http));
    lbx__sqs_fault fault;

    if (!action) {
        lbx__request_fail(request, LBX__SQS_UnknownOperationException,
                          "The operation %.*s is not one of SQS.",
                          (int)(target.size < 200 ? target.size : 200),
                          target.bytes ? target.bytes : "");
        return;
    }
    if (!lbx__front_read(request, &name, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    front_start(request, action);
}

/* What AWS answers to a GET of a queue's URL without an action. */
static void
front_answer_unknown(lbx__request *request)
{
    static const char body[] = "<UnknownOperationException/>\n";

    request->status_override = 404;
    request->error = LBX__SQS_UnknownOperationException;
    lbx__buffer_add(&request->body, body, sizeof(body) - 1);
    lbx__request_page(request, "text/xml");
}

static bool
front_is_root(lbx__slice path)
{
    return path.size == 0 || lbx__slice_is(path, "/");
}

/* CreateQueue and ListQueues work at the root only, as in SQS. */
static bool
front_is_allowed_at(const lbx__action *action, lbx__slice path)
{
    return front_is_root(path) || (strcmp(action->name, "CreateQueue") != 0 &&
                                   strcmp(action->name, "ListQueues") != 0);
}

static void
front_start_query(lbx__request *request)
{
    const lbx__http_request *http = &request->exchange->request;
    const lbx__action *action;
    lbx__sqs_fault fault;
    lbx__slice name;

    if (!lbx__front_read(request, &name, &fault)) {
        lbx__request_fail_fault(request, &fault);
        return;
    }
    if (!name.bytes) {
        front_answer_unknown(request);
        return;
    }
    if (lbx__slice_is(name, "GetCallerIdentity")) {
        lbx__pages_caller_identity(request);
        return;
    }
    action = lbx__action_find(name);
    if (!action || !front_is_allowed_at(action, http->path)) {
        lbx__request_fail(request, LBX__SQS_UnknownOperationException,
                          "The action %.*s is not valid for this endpoint.",
                          (int)(name.size < 200 ? name.size : 200), name.bytes);
        return;
    }
    front_start(request, action);
}

/* A request that is not signed names its region by the host, or not at all. */
static void
front_find_region(lbx__request *request)
{
    static const char credential[] = "X-Amz-Credential=";
    const lbx__http_request *http = &request->exchange->request;

    request->is_signed =
        lbx__http_field_of(http, "authorization").bytes ||
        (http->query.bytes && memmem(http->query.bytes, http->query.size,
                                     credential, sizeof(credential) - 1));
    if (!request->is_signed)
        (void)lbx__queue_region_of_host(http->host, &request->world);
}

static bool
front_wants_body(void *context, const lbx__http_request *request)
{
    lbx_server *server = context;

    return lbx__gate_may_admit(&server->gate, request);
}

/* What the limits of the server refuse; false: it is within them. */
static bool
front_is_over_limit(lbx__request *request)
{
    switch (request->exchange->request.refusal) {
    case LBX__HTTP_NO_SPACE:
        front_fail_space(request);
        return true;
    case LBX__HTTP_TOO_OFTEN:
        lbx__request_fail(request, LBX__SQS_RequestThrottled,
                          "Too many requests come from this address. Try "
                          "again.");
        return true;
    case LBX__HTTP_ACCEPTED:
    case LBX__HTTP_UNWANTED: // the gate says why
        break;
    }
    return false;
}

static void
front_handle(void *context, lbx__http_exchange *exchange)
{
    lbx_server *server = context;
    const lbx__http_request *http = &exchange->request;
    lbx__request *request;
    lbx__sqs_error error;
    const char *text = NULL;

    if (lbx__pages_handle(server, exchange))
        return;
    request = front_create_request(server, exchange);
    if (!request) {
        lbx__http_reply reply = {.status = 503};

        lbx__http_answer(exchange, &reply);
        return;
    }
    if (front_is_over_limit(request))
        return;
    if (http->method != LBX__HTTP_GET && http->method != LBX__HTTP_POST) {
        request->status_override = 405;
        lbx__request_fail(request, LBX__SQS_UnknownOperationException,
                          "%.*s is not allowed: actions are sent with GET or "
                          "POST.",
                          (int)http->method_name.size, http->method_name.bytes);
        return;
    }
    if (lbx__pages_start_open(request))
        return;
    error = lbx__gate_admit(&server->gate, http, &request->world, &text);
    front_find_region(request);
    if (error == LBX__SQS_OK && http->refusal != LBX__HTTP_ACCEPTED) {
        error = LBX__SQS_ServiceUnavailable;
        text = "The keys of the server have changed. Try again.";
    }
    if (error != LBX__SQS_OK)
        lbx__request_fail(request, error, "%s", text ? text : "");
    else if (lbx__pages_start(request))
        return;
    else if (request->format == LBX__SQS_JSON)
        front_start_json(request);
    else
        front_start_query(request);
}

static void
front_gone(void *context, lbx__http_exchange *exchange)
{
    lbx__request *request = exchange->context;

    (void)context;
    if (!request)
        return;
    request->is_gone = true;
    lbx__request_cancel_receive(request);
}

static void
front_written(void *context, void *exchange_context, lbx_status status)
{
    (void)context;
    if (exchange_context)
        lbx__request_written(exchange_context, status);
}

const lbx__http_handler lbx__front_handler = {
    .handle = front_handle,
    .gone = front_gone,
    .written = front_written,
    .wants_body = front_wants_body,
};
