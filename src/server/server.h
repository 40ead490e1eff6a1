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
#include "server/log.h"
#include "server/metrics.h"
#include "server/sqs/request.h"
#include <letterbox/server.h>

typedef struct lbx__server_worker {
    struct lbx_server *server;
    lbx__loop *loop;
    lbx__link waiting; /* lbx__request.waiting */
    lbx__task stop;
    uint64_t next_id[2]; /* of requests */
    lbx__metrics metrics;
} lbx__server_worker;

struct lbx_server {
    const lbx_allocator *allocator;
    lbx__sqs sqs;
    lbx__gate gate;
    lbx__http *http;
    lbx__budget budget; /* of it, and of the arenas of requests */
    lbx__tls *tls;
    lbx__server_worker *workers;
    size_t worker_count;
    _Atomic(uint32_t) stopping;
    _Atomic(uint32_t) requests; /* that exist: SERVER-3; and whether a thread
                                   waits for the last one */
    char *url;
    lbx__log log;
    bool open_metrics;
    _Atomic(uint32_t) log_requests;
};

lbx__server_worker *lbx__server_worker_of(lbx_server *server,
                                          const lbx__loop *loop);

/* A line for people. */
void lbx__server_log(lbx_server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* server_check.c: whether the options can be used; `fault` of theirs says why
 * not. */
lbx_status lbx__server_check_options(const lbx_server_options *options);
lbx_status lbx__server_check_home(const lbx_server_options *options,
                                  lbx__world *ret);

/* A request was made. */
void lbx__server_add_request(lbx_server *server);

/* front.c: the handler of HTTP; its context is the server. */
extern const lbx__http_handler lbx__front_handler;

/* front.c: the action that is asked for, by X-Amz-Target or the field Action,
 * NULL bytes if none, and its input. False: the fault has why. */
bool lbx__front_read(lbx__request *request, lbx__slice *ret_action,
                     lbx__sqs_fault *fault);

/* front.c: the name that a queue's URL has, and into request->world its
 * account and region. False: it cannot be a queue of the caller. */
bool lbx__front_resolve(lbx__request *request, lbx__slice url,
                        lbx__slice *ret_name);

/* pages.c: answers GET /health, before there is a request. False: it is another
 * page, or none. */
bool lbx__pages_handle(lbx_server *server, lbx__http_exchange *exchange);

/* pages.c: answers a page that needs no key: GET /metrics, if it is open.
 * False: as above. */
bool lbx__pages_start_open(lbx__request *request);

/* pages.c: answers a page that needs a key. False: as above. */
bool lbx__pages_start(lbx__request *request);

/* pages.c: answers GetCallerIdentity, an action of STS. */
void lbx__pages_caller_identity(lbx__request *request);

/* metrics_page.c: answers GET /metrics. */
void lbx__metrics_page_start(lbx__request *request);

#endif
