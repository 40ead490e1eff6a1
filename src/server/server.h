/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's own state.
 *
 * SERVER-1  A worker, its list of long polls and the requests in it belong to
 *           the thread of its loop.
 * SERVER-2  After `stopping` is set and the task of a worker has run, no
 *           receive of that loop waits, and none begins to.
 * SERVER-3  A request may outlive its answer, to put letters back. Loops are
 *           destroyed when none exists.
 */
#ifndef LBX_SERVER_SERVER_H
#define LBX_SERVER_SERVER_H

#include "base/atomic.h"
#include "http/http.h"
#include "net/tls.h"
#include "server/gate.h"
#include "server/metrics.h"
#include "server/sqs/request.h"
#include <letterbox/server.h>

typedef struct lbx__server_loop {
    struct lbx_server *server;
    lbx__loop *loop;
    lbx__link waiting; /* lbx__request.waiting */
    lbx__task stop;
    uint64_t next_id[2]; /* of requests */
    lbx__metrics metrics;
} lbx__server_loop;

struct lbx_server {
    const lbx_allocator *allocator;
    lbx__sqs sqs;
    lbx__gate gate;
    lbx__http *http;
    lbx__tls *tls;
    lbx__server_loop *workers;
    size_t worker_count;
    _Atomic(uint32_t) stopping;
    _Atomic(uint32_t) requests; /* that exist: SERVER-3 */
    char *url;
    void (*log)(void *context, const char *line);
    void *log_context;
    bool log_requests;
};

lbx__server_loop *lbx__server_loop_of(lbx_server *server,
                                      const lbx__loop *loop);

/* A line for people. */
void lbx__server_log(const lbx_server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A request was made. */
void lbx__server_add_request(lbx_server *server);

/* front.c: the handler of HTTP; its context is the server. */
extern const lbx__http_handler lbx__front_handler;

/* front.c: the name that a queue's URL has, and into request->world its
 * account. False: it cannot be a queue of the caller. */
bool lbx__front_resolve(lbx__request *request, lbx__slice url,
                        lbx__slice *ret_name);

/* pages.c: answers what needs no key. False: it is something else. */
bool lbx__pages_handle(lbx_server *server, lbx__http_exchange *exchange);

/* pages.c: what needs one, and is no action. False: it is something else. */
bool lbx__pages_start(lbx__request *request);

void lbx__pages_caller_identity(lbx__request *request);

#endif
