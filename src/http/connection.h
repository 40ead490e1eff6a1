/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection: reads requests, hands them to the handler, and writes the
 * answers in the order of the requests.
 *
 * CONN-1  An idle connection has no memory but its own struct: bytes are read
 *         into the loop's, and kept only when they are not a whole request.
 * CONN-2  No request is begun while `max_pipelined` are not answered, or while
 *         the client does not read its answers: then the connection is not
 *         read, and watched for its end only.
 * CONN-3  After the last request (Connection: close, a refusal, a stop) no
 *         byte is taken for a request.
 * CONN-4  A client that closes its side while requests of it are not answered
 *         counts as gone, whether or not it would still read: the two look
 *         alike. Answers that were given before are still written.
 * CONN-5  The handler is called from events of the connection and from the
 *         task `settle`, never from inside lbx__http_answer().
 * CONN-6  A connection is freed when its descriptor is closed and each of its
 *         exchanges was answered.
 * CONN-7  A body has the time of a head, and more for each byte that comes, as
 *         the slowest rate allows; but never more than half a minute ahead, so
 *         that what was sent quickly cannot be kept for long.
 * CONN-8  A request that will not be handled as it is (no body is wanted, too
 *         much is held, too many came) goes to the handler without its body,
 *         with the reason. A body that was not read makes it the last.
 * CONN-9  Answers that wait have the time `write_ns`, and more for each byte
 *         that is delivered, as the slowest rate allows; but never more than
 *         `write_ns` ahead. What counts is what the client's kernel takes, not
 *         ours, which takes megabytes at once.
 *
 * Threads    the loop's.
 */
#ifndef LBX_HTTP_CONNECTION_H
#define LBX_HTTP_CONNECTION_H

#include "base/buffer.h"
#include "http/head.h"
#include "http/parser.h"
#include "http/shard.h"
#include "net/address.h"

typedef enum lbx__connection_state {
    LBX__CONNECTION_HEAD,   /* between requests, or in a head */
    LBX__CONNECTION_BODY,   /* in the body of `reading` */
    LBX__CONNECTION_LAST,   /* no more requests; answers are owed */
    LBX__CONNECTION_LINGER, /* all is written: waits for the client's close */
} lbx__connection_state;

typedef struct lbx__connection lbx__connection;

/* One exchange in its connection's order. Fields and the head lie behind it. */
typedef struct lbx__turn {
    lbx__http_exchange exchange; /* first: the handler's */
    lbx__connection *connection;
    lbx__link link;
    lbx__answer *answer;
    bool is_handled;       /* the handler has it, or had it */
    bool is_answered;      /* `answer` NULL: there was no memory for one */
    bool is_dropped;       /* the answer will not be written */
    bool is_old;           /* HTTP/1.0 */
    bool is_last;          /* the client wants no more after it */
    bool is_awaited;       /* the client wants 100 Continue */
    int64_t body_until_ns; /* it must have come on by then: CONN-7 */
    lbx_buffer body;
    lbx__http_parser parser;
    size_t size_bytes; /* of this memory */
} lbx__turn;

struct lbx__connection {
    lbx__stream stream; /* first */
    lbx__shard *shard;
    lbx__link link;
    lbx__deadline input;      /* idle, head, body, linger */
    lbx__deadline output;     /* write */
    int64_t write_until_ns;   /* answers must have come on by then: CONN-9 */
    uint64_t delivered_bytes; /* at the last look */
    lbx__link turns;          /* handed to the handler, or refused */
    uint32_t turn_count;      /* of these, not dropped */
    lbx__connection_state state;
    lbx__turn *reading;
    lbx_buffer held; /* bytes that were read and not used */
    lbx__head_scan scan;
    size_t lingered; /* bytes that came after the last answer */
    lbx__peer_key peer_key;
    lbx__peer_key rate_key;
    lbx__task settle;
    bool is_settling; /* the task is deferred */
    bool is_closed;
    bool has_empty_line; /* one was skipped before this head */
    char peer[LBX__ADDRESS_PEER];
};

/* Takes over the descriptor, also when it fails. */
void lbx__connection_create(lbx__shard *shard, int fd,
                            const struct sockaddr_storage *peer,
                            socklen_t length, lbx__peer_key key);

/* Ends after the answers that are owed; at once when there are none. */
void lbx__connection_stop(lbx__connection *connection);

/* Ends at once. */
void lbx__connection_cut(lbx__connection *connection);

/* Refuses what is being read, and everything after it. */
void lbx__connection_refuse(lbx__connection *connection, int status);

/* Runs `settle` at the end of this round: something was answered. */
void lbx__connection_settle_later(lbx__connection *connection);

static inline const lbx__http_limits *
lbx__connection_limits(const lbx__connection *connection)
{
    return &connection->shard->common->options.limits;
}

/* CONN-2: reports whether another request may be begun. */
static inline bool
lbx__connection_may_begin(const lbx__connection *connection)
{
    return connection->turn_count <
               lbx__connection_limits(connection)->max_pipelined &&
           lbx__stream_is_drained(&connection->stream);
}

/* ---- connection_read.c ---- */

/* Frees bytes that were kept. */
void lbx__connection_read_forget_held(lbx__connection *connection);

/* Gives a body the time that it has at its beginning (CONN-7). */
void lbx__connection_read_start_body(lbx__connection *connection,
                                     lbx__turn *turn);

/* Uses bytes that came; those that are left are kept. */
void lbx__connection_read_bytes(lbx__connection *connection, const char *bytes,
                                size_t size);
/* The same for bytes that were kept. */
void lbx__connection_read_held(lbx__connection *connection);

/* ---- connection_deadlines.c ---- */

/* Starts or stops reading and the deadlines, as the state requires. */
void lbx__connection_update(lbx__connection *connection);

/* A deadline of the connection has passed. */
void lbx__connection_passed(lbx__deadline *deadline, lbx__deadline_kind kind);

/* ---- turn.c ---- */

/* A turn with memory for a head; NULL: no memory. */
lbx__turn *lbx__turn_create(lbx__connection *connection, size_t field_count,
                            const char *head, size_t head_bytes);
void lbx__turn_destroy(lbx__turn *turn);

/* Frees what was read of the body. */
void lbx__turn_forget_body(lbx__turn *turn);

/* Makes the turn's answer; without memory it is NULL. */
void lbx__turn_answer(lbx__turn *turn, const lbx__http_reply *reply);

#endif
