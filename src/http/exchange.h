/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange: one HTTP request and its answer.
 *
 * The connection reads a whole request, body included, checks its framing, and
 * calls `handle`. The handler answers at once or later, once, in the loop's
 * thread, with lbx__http_answer(); the connection writes answers in the order
 * of their requests.
 *
 * EXCH-1  `handle` is called once for each exchange, and for each there is one
 *         lbx__http_answer(), also when the client has gone: that is what frees
 *         the exchange. The request lives until then.
 * EXCH-2  `gone` is called at most once, between `handle` and the answer, when
 *         the client has closed its side or the connection is lost. It may
 *         answer from inside.
 * EXCH-3  `written` is called once after each answer: with OK when the kernel
 *         has all its bytes, else with CLOSED when not one byte of it was
 *         written, and UNKNOWN when some were. Not from inside
 *         lbx__http_answer(), but at the end of the loop's round or later.
 *
 * Threads    the loop's (LOOP-3), and lbx__http_exchange_loop() any.
 */
#ifndef LBX_HTTP_EXCHANGE_H
#define LBX_HTTP_EXCHANGE_H

#include "base/slice.h"
#include "net/loop.h"

typedef enum lbx__http_method {
    LBX__HTTP_GET,
    LBX__HTTP_HEAD,
    LBX__HTTP_POST,
    LBX__HTTP_PUT,
    LBX__HTTP_DELETE,
    LBX__HTTP_OPTIONS,
} lbx__http_method;

/* A header field: the name in lower case, the value without white space around
 * it. */
typedef struct lbx__http_field {
    lbx__slice name;
    lbx__slice value;
} lbx__http_field;

/* Why a request is not what was sent: its body was not read. The handler
 * answers it with an error. */
typedef enum lbx__http_refusal {
    LBX__HTTP_ACCEPTED,  /* it is what was sent */
    LBX__HTTP_UNWANTED,  /* `wants_body` said no */
    LBX__HTTP_NO_SPACE,  /* limits.max_held_bytes */
    LBX__HTTP_TOO_OFTEN, /* limits.max_requests_per_second */
} lbx__http_refusal;

typedef struct lbx__http_request {
    lbx__http_method method;
    lbx__slice method_name; /* as it was sent: signatures need it */
    lbx__slice target;      /* as it was sent, in origin form */
    lbx__slice path;        /* of the target, as it was sent */
    lbx__slice query;       /* behind the ?; NULL: there was none */
    const lbx__http_field *fields;
    size_t field_count;
    lbx__slice body;
    lbx__slice host;  /* HTTP/1.0 may have none: NULL */
    const char *peer; /* "192.0.2.1:40022", "unix:" */
    bool is_secure;   /* it came by TLS */
    lbx__http_refusal refusal;
} lbx__http_request;

typedef struct lbx__http_exchange {
    lbx__http_request request;
    void *context; /* the handler's, NULL at first */
} lbx__http_exchange;

/* The first field of that name, in lower case; NULL bytes: none. */
lbx__slice lbx__http_field_of(const lbx__http_request *request,
                              const char *name);

/* An answer. Date, Content-Length and Connection are added. */
typedef struct lbx__http_reply {
    int status;
    const char *content_type;      /* NULL: none */
    const lbx__http_field *fields; /* more; values have no CR and LF */
    size_t field_count;
    lbx__slice body;
    bool close;        /* the connection, after it */
    bool needs_client; /* one that has left by now is not written to: CLOSED */
} lbx__http_reply;

/* Copies everything. */
void lbx__http_answer(lbx__http_exchange *exchange,
                      const lbx__http_reply *reply);

lbx__loop *lbx__http_exchange_loop(const lbx__http_exchange *exchange);

/* All but `handle` may be NULL. */
typedef struct lbx__http_handler {
    void (*handle)(void *context, lbx__http_exchange *exchange);
    void (*gone)(void *context, lbx__http_exchange *exchange);
    void (*written)(void *context, void *exchange_context, lbx_status status);
    void *context;
    /* Asked when the head has come and a body follows: is it worth reading? */
    bool (*wants_body)(void *context, const lbx__http_request *request);
} lbx__http_handler;

#endif
