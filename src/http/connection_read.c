/* SPDX-License-Identifier: Apache-2.0 */
/* How a connection reads: bytes in, requests to the handler. */
#include "http/connection.h"
#include "http/request_line.h"

enum {
    CONNECTION_TLS_HELLO = 0x16 /* its first byte, of no method */
};

/* CONN-7: how far ahead a body can be. */
#define CONNECTION_BODY_AHEAD_NS (30 * LBX_SECOND)

/* Hands a request that has been read to the handler. */
static void
connection_dispatch(lbx__connection *connection, lbx__turn *turn)
{
    lbx__shard *shard = connection->shard;
    const lbx__http_handler *handler = &shard->common->options.handler;
    lbx__http_request *request = &turn->exchange.request;

    request->body =
        (lbx__slice){lbx__buffer_text(&turn->body), turn->body.size};
    request->peer = connection->peer;
    request->is_secure = connection->stream.session != NULL;
    connection->reading = NULL;
    connection->state = turn->is_last || shard->is_stopping
                            ? LBX__CONNECTION_LAST
                            : LBX__CONNECTION_HEAD;
    lbx__list_append(&connection->turns, &turn->link);
    connection->turn_count++;
    turn->is_handled = true;
    lbx__shard_add(&shard->counts.requests, 1);
    handler->handle(handler->context, &turn->exchange);
}

/* Parses a head; 0 or the status to refuse it with. */
static int
connection_parse(lbx__connection *connection, lbx__turn *turn, char *head,
                 size_t size, lbx__head_facts *facts)
{
    const lbx__http_limits *limits = lbx__connection_limits(connection);
    lbx__http_request *request = &turn->exchange.request;
    const char *line_end = memchr(head, '\r', size);
    lbx__slice line = {head, (size_t)(line_end - head)};
    lbx__request_line read;
    int status;

    request->fields = turn->parser.fields;
    status =
        lbx__request_line_parse(line, limits->max_target_bytes, request, &read);
    if (!status)
        status = lbx__http_parser_read_head(&turn->parser, head, size);
    if (status)
        return status;
    request->field_count = turn->parser.field_count;
    turn->is_old = read.is_old;
    status =
        lbx__head_fields_check(request, read.is_old, read.authority, facts);
    if (status)
        return status;
    // Both readers must see the same frame.
    if (facts->is_chunked != turn->parser.is_chunked)
        return 400;
    return facts->content_length > limits->max_body_bytes ? 413 : 0;
}

/* CONN-8: why a request whose head has come is not handled as it is. */
static lbx__http_refusal
connection_judge(lbx__connection *connection, const lbx__turn *turn)
{
    lbx__shard_common *common = connection->shard->common;
    const lbx__http_handler *handler = &common->options.handler;

    if (!lbx__rates_take(&common->rates, connection->rate_key,
                         lbx__loop_now_ns(connection->shard->loop)))
        return LBX__HTTP_TOO_OFTEN;
    if (lbx__budget_is_spent(common->budget))
        return LBX__HTTP_NO_SPACE; // BUDGET-2
    if (!turn->parser.is_complete && handler->wants_body &&
        !handler->wants_body(handler->context, &turn->exchange.request))
        return LBX__HTTP_UNWANTED;
    return LBX__HTTP_ACCEPTED;
}

/* Hands a request over without its body. */
static void
connection_dispatch_refused(lbx__connection *connection, lbx__turn *turn,
                            lbx__http_refusal refusal)
{
    turn->exchange.request.refusal = refusal;
    turn->is_last = turn->is_last || !turn->parser.is_complete;
    lbx__turn_forget_body(turn);
    lbx__deadlines_stop(&connection->input);
    connection_dispatch(connection, turn);
}

void
lbx__connection_read_start_body(lbx__connection *connection, lbx__turn *turn)
{
    turn->body_until_ns = lbx__loop_now_ns(connection->shard->loop) +
                          lbx__connection_limits(connection)->head_ns;
}

/* CONN-7: `size` bytes of the body came. */
static void
connection_extend_body(lbx__connection *connection, lbx__turn *turn,
                       size_t size)
{
    const lbx__http_limits *limits = lbx__connection_limits(connection);
    int64_t rate = limits->min_body_bytes_per_second;
    int64_t most_ns = lbx__loop_now_ns(connection->shard->loop) +
                      limits->head_ns + CONNECTION_BODY_AHEAD_NS;

    if (rate <= 0)
        return;
    // No overflow: what comes at once is a read, far below 2^33 bytes.
    turn->body_until_ns += (int64_t)size * LBX_SECOND / rate;
    if (turn->body_until_ns > most_ns)
        turn->body_until_ns = most_ns;
}

/* A whole head has come. */
static void
connection_begin(lbx__connection *connection, const char *bytes, size_t size)
{
    size_t field_count = connection->scan.lines - 1;
    lbx__turn *turn = lbx__turn_create(connection, field_count, bytes, size);
    lbx__http_refusal refusal;
    lbx__head_facts facts;
    int status;

    connection->scan = (lbx__head_scan){0};
    connection->has_empty_line = false;
    lbx__deadlines_stop(&connection->input);
    if (!turn) {
        lbx__connection_refuse(connection, 503);
        return;
    }
    status = connection_parse(connection, turn,
                              (char *)(turn->parser.fields + field_count), size,
                              &facts);
    if (status) {
        lbx__turn_destroy(turn);
        lbx__connection_refuse(connection, status);
        return;
    }
    turn->is_last = facts.closes;
    refusal = connection_judge(connection, turn);
    if (refusal != LBX__HTTP_ACCEPTED) {
        connection_dispatch_refused(connection, turn, refusal);
        return;
    }
    if (turn->parser.is_complete) {
        connection_dispatch(connection, turn);
        return;
    }
    connection->reading = turn;
    connection->state = LBX__CONNECTION_BODY;
    lbx__connection_read_start_body(connection, turn);
    turn->is_awaited = facts.expects_continue;
    if (turn->is_awaited)
        lbx__connection_settle_later(connection);
}

/* What cannot be a head: refused, or the connection ends without a word that
 * the client would not understand. */
static void
connection_refuse_head(lbx__connection *connection, char first, int status)
{
    if (first != CONNECTION_TLS_HELLO) {
        lbx__connection_refuse(connection, status);
        return;
    }
    lbx__shard_log(connection->shard,
                   "%s speaks TLS, and this port does not: closed",
                   connection->peer);
    lbx__shard_add(&connection->shard->counts.rejected, 1);
    lbx__connection_cut(connection);
}

/* Returns how many bytes were used; 0: more are needed, or it was refused. */
static size_t
connection_take_head(lbx__connection *connection, const char *bytes,
                     size_t size)
{
    int status = lbx__head_scan_bytes(&connection->scan, bytes, size,
                                      lbx__connection_limits(connection));
    size_t used = connection->scan.offset;

    if (status == LBX__HEAD_MORE)
        return 0;
    if (status == LBX__HEAD_COMPLETE && connection->scan.lines > 0) {
        connection_begin(connection, bytes, used);
        return used;
    }
    // Clients of old send an empty line after a body: one is skipped.
    if (status == LBX__HEAD_COMPLETE && !connection->has_empty_line) {
        connection->has_empty_line = true;
        connection->scan = (lbx__head_scan){0};
        return used;
    }
    connection_refuse_head(connection, bytes[0], status ? status : 400);
    return 0;
}

static size_t
connection_take_body(lbx__connection *connection, const char *bytes,
                     size_t size)
{
    lbx__budget *budget = connection->shard->common->budget;
    lbx__turn *turn = connection->reading;
    size_t before = turn->body.size, capacity = turn->body.capacity, used = 0;
    int status = lbx__http_parser_read_body(&turn->parser, bytes, size, &used);

    lbx__budget_take(budget, turn->body.capacity - capacity);
    turn->is_awaited = false; // it has not waited
    if (status) {
        lbx__connection_refuse(connection, status);
        return 0;
    }
    connection_extend_body(connection, turn, turn->body.size - before);
    if (lbx__budget_is_spent(budget)) { // BUDGET-2
        connection_dispatch_refused(connection, turn, LBX__HTTP_NO_SPACE);
    } else if (turn->parser.is_complete) {
        lbx__deadlines_stop(&connection->input);
        connection_dispatch(connection, turn);
    }
    return used;
}

/* Returns how many bytes were used. */
static size_t
connection_consume(lbx__connection *connection, const char *bytes, size_t size)
{
    size_t all = 0, used = 1;

    while (all < size && used > 0 && !connection->stream.is_closing) {
        if (connection->state == LBX__CONNECTION_BODY)
            used = connection_take_body(connection, bytes + all, size - all);
        else if (connection->state == LBX__CONNECTION_HEAD)
            used =
                lbx__connection_may_begin(connection)
                    ? connection_take_head(connection, bytes + all, size - all)
                    : 0;
        else
            used = size - all; // CONN-3
        all += used;
    }
    return connection->state >= LBX__CONNECTION_LAST ? size : all;
}

void
lbx__connection_read_forget_held(lbx__connection *connection)
{
    lbx__budget_give(connection->shard->common->budget,
                     connection->held.capacity);
    lbx__buffer_fini(&connection->held);
}

void
lbx__connection_read_held(lbx__connection *connection)
{
    lbx_buffer *held = &connection->held;
    size_t used = connection_consume(connection, held->bytes, held->size);

    if (used == held->size) {
        lbx__connection_read_forget_held(connection); // CONN-1
        return;
    }
    if (used > 0) {
        held->size -= used;
        memmove(held->bytes, held->bytes + used, held->size + 1);
    }
}

void
lbx__connection_read_bytes(lbx__connection *connection, const char *bytes,
                           size_t size)
{
    lbx__budget *budget = connection->shard->common->budget;
    size_t capacity, used = 0;
    lbx_status status;

    if (connection->held.size == 0)
        used = connection_consume(connection, bytes, size);
    if (used == size || connection->stream.is_closing)
        return;
    capacity = connection->held.capacity;
    status = lbx_buffer_append(&connection->held, bytes + used, size - used);
    lbx__budget_take(budget, connection->held.capacity - capacity);
    if (status != LBX_OK || lbx__budget_is_spent(budget)) {
        lbx__connection_refuse(connection, 503);
        return;
    }
    if (used == 0 && connection->held.size > size)
        lbx__connection_read_held(connection);
}
