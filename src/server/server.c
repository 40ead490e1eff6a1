/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, reloading and stopping a server. SERVER-1 to SERVER-3 are in
 * server.h. */
#include "server/server.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "base/park.h"
#include "base/sized.h"
#include "base/time.h"
#include "codec/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SERVER_MAX_THREADS = 64,
    SERVER_STOP_SECONDS = 5,
    /* The longest request that can be valid: 1 MiB of messages of which each
     * byte is written as \u0022 in JSON (Query needs three bytes, base64 four
     * for three), and what is around them: ten entries with their ids, names
     * and receipts. */
    SERVER_BODY_BYTES = (6 << 20) + (128 << 10)
};

LBX__SIZED(server_options, lbx_server_options, log_requests,
           LBX_SERVER_OPTIONS_INIT);

lbx__server_worker *
lbx__server_worker_of(lbx_server *server, const lbx__loop *loop)
{
    size_t index = 0;

    while (index + 1 < server->worker_count &&
           server->workers[index].loop != loop)
        index++;
    return &server->workers[index];
}

void
lbx__server_log(lbx_server *server, const char *format, ...)
{
    char line[512];
    va_list arguments;

    if (!server->log.write)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    lbx__log_write(&server->log, lbx_clock_now(NULL), line);
}

/* A line of the HTTP server. */
static void
server_log_line(void *context, const char *line)
{
    lbx_server *server = context;

    lbx__log_write(&server->log, lbx_clock_now(NULL), line);
}

static void
server_wait(lbx__request *request)
{
    lbx__server_worker *worker =
        lbx__server_worker_of(request->sqs->context, request->loop);

    lbx__list_append(&worker->waiting, &request->waiting);
}

static bool
server_is_stopping(const lbx__sqs *sqs)
{
    const lbx_server *server = sqs->context;

    // Acquire: pairs with the store in lbx_server_stop(); SERVER-2.
    return lbx__load(&server->stopping, acquire) != 0;
}

static bool
server_is_open(const lbx__sqs *sqs)
{
    lbx_server *server = sqs->context;

    return lbx__gate_is_open(&server->gate);
}

static void
server_answered(lbx__request *request, int status)
{
    lbx_server *server = request->sqs->context;
    lbx__server_worker *worker = lbx__server_worker_of(server, request->loop);
    int64_t time_ns = lbx_clock_now(NULL) - request->start_ns;

    lbx__metrics_count(&worker->metrics, request->action, status, time_ns);
    // Relaxed: it orders nothing; a request more or less has its line.
    if (!lbx__load(&server->log_requests, relaxed))
        return;
    lbx__server_log(server,
                    "request=%s peer=%s action=%s queue=%s status=%d "
                    "error=%s time_us=%lld",
                    request->id, request->exchange->request.peer,
                    request->action ? request->action->name : "-",
                    request->queue ? request->queue->name : "-", status,
                    request->error ? lbx__sqs_error_row_of(request->error)->code
                                   : "-",
                    (long long)(time_ns / 1000));
}

void
lbx__server_add_request(lbx_server *server)
{
    // Relaxed: the loop that frees it is the one that has made it.
    (void)lbx__add(&server->requests, 1u, relaxed);
}

/* In `requests`, beside their number: a thread waits for the last one. */
#define SERVER_AWAITED 0x80000000u

static void
server_freed(lbx__sqs *sqs)
{
    lbx_server *server = sqs->context;

    // Release: pairs with the loads in server_await_requests(). A wake-up is a
    // system call: it is made only while the server stops, for the last one.
    if (lbx__sub(&server->requests, 1u, release) == SERVER_AWAITED + 1)
        lbx__futex_wake(&server->requests, 1);
}

/* SERVER-3. What is put back is a call of the store, which ends. */
static void
server_await_requests(lbx_server *server)
{
    uint32_t left = lbx__or(&server->requests, SERVER_AWAITED, acquire);

    left |= SERVER_AWAITED;
    while (left != SERVER_AWAITED) {
        lbx__futex_wait(&server->requests, left, -1);
        // Acquire: pairs with the release of the last request.
        left = lbx__load(&server->requests, acquire);
    }
}

/* ---- Starting ---- */

static lbx_status
server_start_workers(lbx_server *server, uint32_t count, lbx_fault *fault)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    lbx_status status = LBX_OK;

    if (count == 0)
        count = processors > 0 ? (uint32_t)processors : 1;
    if (count > SERVER_MAX_THREADS)
        count = SERVER_MAX_THREADS;
    server->workers =
        lbx__zalloc(server->allocator, count * sizeof(*server->workers));
    if (!server->workers)
        return LBX_NO_MEMORY;
    server->worker_count = count;
    for (uint32_t i = 0; i < count && status == LBX_OK; i++) {
        lbx__server_worker *worker = &server->workers[i];

        worker->server = server;
        lbx__list_init(&worker->waiting);
        if (!lbx__random(worker->next_id, sizeof(worker->next_id)))
            return lbx__fault_set(fault, LBX_IO,
                                  "the kernel has no random bytes");
        status = lbx__loop_create(server->allocator, "letterbox", &worker->loop,
                                  fault);
    }
    return status;
}

static lbx_status
server_listen(lbx_server *server, const lbx_server_options *options)
{
    lbx__loop *loops[SERVER_MAX_THREADS];
    lbx__http_options http = {
        .allocator = server->allocator,
        .loops = loops,
        .loop_count = server->worker_count,
        .address = options->listen,
        .limits = lbx__http_default_limits,
        .handler = lbx__front_handler,
        .log = server_log_line,
        .log_context = server,
    };
    lbx_status status;

    for (size_t i = 0; i < server->worker_count; i++)
        loops[i] = server->workers[i].loop;
    http.limits.max_body_bytes = SERVER_BODY_BYTES;
    server->budget.max_bytes = options->max_held_bytes;
    http.budget = &server->budget;
    http.limits.max_requests_per_second = options->max_requests_per_second;
    http.limits.max_connections_per_peer = options->max_connections_per_address;
    http.limits.head_ns = options->request_timeout_ns;
    http.limits.write_ns = options->write_timeout_ns;
    http.limits.idle_ns = options->idle_timeout_ns;
    if (options->max_connections > 0)
        http.limits.max_connections = options->max_connections;
    http.handler.context = server;
    if (options->tls_certificate) {
        status =
            lbx__tls_create(server->allocator, options->tls_certificate,
                            options->tls_key, &server->tls, options->fault);
        if (status != LBX_OK)
            return status;
    }
    http.tls = server->tls;
    return lbx__http_create(&http, &server->http, options->fault);
}

static lbx_status
server_open(lbx_server *server, const lbx_server_options *options)
{
    lbx__sqs *sqs = &server->sqs;
    lbx_status status = lbx__server_check_home(options, &sqs->home);

    if (status != LBX_OK)
        return status;
    *sqs = (lbx__sqs){
        .allocator = server->allocator,
        .store = lbx_store_ref(options->store),
        .home = sqs->home,
        .trusts_forwarded = options->trust_forwarded,
        .allows_quick_purge = options->quick_purge,
        .allows_quick_create = options->quick_create,
        .max_leased = options->max_leased,
        .wait = server_wait,
        .is_stopping = server_is_stopping,
        .is_open = server_is_open,
        .answered = server_answered,
        .freed = server_freed,
        .context = server,
    };
    if (options->url) {
        size_t size = strlen(options->url) + 1;

        server->url = lbx__alloc(server->allocator, size, 1);
        if (!server->url)
            return LBX_NO_MEMORY;
        memcpy(server->url, options->url, size);
        sqs->url = server->url;
    }
    lbx__change_locks_init(&sqs->change_locks);
    lbx__polls_init(&sqs->polls, server->allocator, options->max_polls);
    lbx__gate_init(&server->gate, server->allocator, &sqs->home);
    status = lbx__gate_set_keys(&server->gate, options->keys,
                                options->key_count, options->fault);
    if (status == LBX_OK)
        status =
            lbx__queues_create(server->allocator, &sqs->home, &sqs->queues);
    if (status == LBX_OK)
        status = server_start_workers(server, options->threads, options->fault);
    if (status == LBX_OK)
        status = server_listen(server, options);
    return status;
}

static void
server_destroy(lbx_server *server)
{
    for (size_t i = 0; i < server->worker_count; i++)
        lbx__loop_destroy(server->workers[i].loop);
    lbx__free(server->allocator, server->workers,
              server->worker_count * sizeof(*server->workers));
    lbx__tls_destroy(server->tls);
    lbx__queues_destroy(server->sqs.queues);
    lbx__polls_fini(&server->sqs.polls);
    lbx__log_flush(&server->log);
    lbx__gate_fini(&server->gate);
    lbx_store_unref(server->sqs.store);
    if (server->url)
        lbx__free(server->allocator, server->url, strlen(server->url) + 1);
    lbx__free(server->allocator, server, sizeof(*server));
}

lbx_status
lbx_server_start(const lbx_server_options *given, lbx_server **ret)
{
    lbx_server_options options;
    lbx_server *server;
    lbx_status status;

    if (!ret)
        return LBX_INVALID;
    status = lbx__sized_read(&options, given, &server_options,
                             given ? given->fault : NULL);
    if (status != LBX_OK)
        return status;
    lbx__fault_clear(options.fault);
    status = lbx__server_check_options(&options);
    if (status != LBX_OK)
        return status;
    server = lbx__zalloc(options.allocator, sizeof(*server));
    if (!server)
        return lbx__fault_complete(options.fault, LBX_NO_MEMORY, "server",
                                   NULL);
    server->allocator = options.allocator;
    server->log = (lbx__log){.write = options.log,
                             .context = options.log_context,
                             .max_lines = options.max_log_lines};
    server->open_metrics = options.open_metrics;
    lbx_server_log_requests(server, options.log_requests);
    status = server_open(server, &options);
    if (status != LBX_OK) {
        server_destroy(server);
        return lbx__fault_complete(options.fault, status, "server", NULL);
    }
    *ret = server;
    return LBX_OK;
}

const char *
lbx_server_address(const lbx_server *server)
{
    return server ? lbx__http_address(server->http) : NULL;
}

lbx_status
lbx_server_reload(lbx_server *server, const lbx_server_key *keys,
                  size_t key_count, lbx_fault *fault)
{
    lbx_status status;

    lbx__fault_clear(fault);
    if (!server)
        return lbx__fault_set(fault, LBX_INVALID, "server: there is none");
    if (key_count == 0 && !lbx__gate_is_open(&server->gate))
        return lbx__fault_set(fault, LBX_INVALID,
                              "keys: there were some, and now there are none; "
                              "the server would be open to anybody");
    status = lbx__gate_check_keys(keys, key_count, fault);
    if (status == LBX_OK && server->tls)
        status = lbx__tls_reload(server->tls, fault);
    if (status == LBX_OK && key_count > 0)
        status = lbx__gate_set_keys(&server->gate, keys, key_count, fault);
    return status;
}

void
lbx_server_log_requests(lbx_server *server, bool on)
{
    if (server)
        // Relaxed: pairs with nothing; see server_answered().
        lbx__store(&server->log_requests, on ? 1u : 0u, relaxed);
}

/* ---- Stopping ---- */

static void
worker_stop(lbx__task *task)
{
    lbx__server_worker *worker = lbx__member(task, lbx__server_worker, stop);

    // A cancel may finish at once, but its step runs in a task of its own.
    for (lbx__link *link = worker->waiting.next; link != &worker->waiting;
         link = link->next)
        lbx__request_cancel_receive(lbx__member(link, lbx__request, waiting));
}

void
lbx_server_stop(lbx_server *server)
{
    if (!server)
        return;
    // Release: pairs with server_is_stopping(); SERVER-2.
    lbx__store(&server->stopping, 1u, release);
    lbx__http_stop(server->http);
    for (size_t i = 0; i < server->worker_count; i++) {
        server->workers[i].stop.run = worker_stop;
        lbx__loop_post(server->workers[i].loop, &server->workers[i].stop);
    }
    lbx__http_destroy(
        server->http,
        lbx__time_add(lbx_clock_now(NULL), SERVER_STOP_SECONDS * LBX_SECOND));
    server_await_requests(server);
    server_destroy(server);
}
