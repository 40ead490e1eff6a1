/* SPDX-License-Identifier: Apache-2.0 */
/* A connection's life, and how it writes; connection_read.c and
 * connection_deadlines.c have the rest. */
#include "http/connection.h"

#include "base/alloc.h"
#include "net/session.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

enum {
    /* More than one read and a head; what is held above it is refused. */
    CONNECTION_HELD_BYTES = 256 * 1024,
    /* What a client may send after its last answer before it is cut off. */
    CONNECTION_LINGER_BYTES = 4 * 1024 * 1024
};

static const lbx__http_handler *
connection_handler(const lbx__connection *connection)
{
    return &connection->shard->common->options.handler;
}

static lbx__turn *
connection_turn_at(lbx__link *link)
{
    return lbx__member(link, lbx__turn, link);
}

/* ---- The end ---- */

/* CONN-6 */
static void
connection_free_if_over(lbx__connection *connection)
{
    lbx__shard *shard = connection->shard;

    if (!connection->is_closed || connection->is_settling ||
        !lbx__list_empty(&connection->turns))
        return;
    lbx__list_remove(&connection->link);
    lbx__connection_read_forget_held(connection);
    lbx__peers_remove(&shard->common->peers, connection->peer_key);
    lbx__free(shard->common->options.allocator, connection,
              sizeof(*connection));
    lbx__shard_release(shard);
}

/* Drops turns, those that are answered at the front excepted if they may
 * still be written; tells the handler of those that it has. */
static void
connection_drop_turns(lbx__connection *connection, bool keeps_answered)
{
    const lbx__http_handler *handler = connection_handler(connection);
    lbx__link *at = connection->turns.next;

    while (keeps_answered && at != &connection->turns &&
           connection_turn_at(at)->is_answered)
        at = at->next;
    // The handler may answer from inside, which removes nothing (CONN-5).
    for (; at != &connection->turns; at = at->next) {
        lbx__turn *turn = connection_turn_at(at);

        if (turn->is_dropped)
            continue;
        turn->is_dropped = true;
        connection->turn_count--;
        if (!turn->is_answered && handler->gone)
            handler->gone(handler->context, &turn->exchange);
    }
    lbx__turn_destroy(connection->reading);
    connection->reading = NULL;
    lbx__connection_settle_later(connection);
}

void
lbx__connection_cut(lbx__connection *connection)
{
    if (connection->stream.is_closing)
        return;
    connection->state = LBX__CONNECTION_LAST;
    lbx__deadlines_stop(&connection->input);
    lbx__deadlines_stop(&connection->output);
    lbx__stream_close(&connection->stream);
    connection_drop_turns(connection, false);
}

void
lbx__connection_stop(lbx__connection *connection)
{
    if (connection->state != LBX__CONNECTION_HEAD)
        return; // ends by itself
    connection->state = LBX__CONNECTION_LAST;
    if (connection->turn_count == 0 &&
        lbx__stream_is_drained(&connection->stream))
        lbx__connection_cut(connection);
    else
        lbx__connection_update(connection);
}

/* All is written: the client is told, and has time to read it. To close at once
 * would destroy what it has not read yet if it has sent more meanwhile. */
static void
connection_linger(lbx__connection *connection)
{
    if (connection->stream.is_ended) {
        lbx__connection_cut(connection);
        return;
    }
    connection->state = LBX__CONNECTION_LINGER;
    lbx__connection_read_forget_held(connection);
    lbx__stream_shutdown(&connection->stream);
}

/* ---- Writing ---- */

static void
connection_on_done(lbx__chunk *chunk, lbx_status status)
{
    lbx__answer *answer = lbx__member(chunk, lbx__answer, chunk);
    lbx__connection *connection = answer->owner;
    lbx__shard *shard = connection->shard;
    const lbx__http_handler *handler = connection_handler(connection);

    lbx__shard_add(&shard->counts.bytes_out, chunk->taken);
    if (answer->is_handled && handler->written)
        handler->written(handler->context, answer->exchange_context, status);
    lbx__answer_destroy(shard->common->options.allocator, answer);
}

static void
connection_write(lbx__connection *connection, lbx__answer *answer)
{
    answer->owner = connection;
    answer->chunk.done = connection_on_done;
    lbx__stream_write(&connection->stream, &answer->chunk);
}

/* Moves the answers whose turn it is to the stream. */
static void
connection_write_answers(lbx__connection *connection)
{
    while (!lbx__list_empty(&connection->turns) &&
           !connection->stream.is_closing) {
        lbx__turn *turn = connection_turn_at(connection->turns.next);
        lbx__answer *answer = turn->answer;

        if (!turn->is_answered || turn->is_dropped)
            return;
        if (!answer) { // no memory
            lbx__connection_cut(connection);
            return;
        }
        turn->answer = NULL;
        connection->turn_count--;
        lbx__turn_destroy(turn);
        connection_write(connection, answer);
        if (answer->is_last) {
            connection->state = LBX__CONNECTION_LAST;
            connection_drop_turns(connection, false);
        }
    }
}

/* Frees turns that were answered in vain. */
static void
connection_free_dropped(lbx__connection *connection)
{
    const lbx__http_handler *handler = connection_handler(connection);
    lbx__link *at = connection->turns.next;

    while (at != &connection->turns) {
        lbx__turn *turn = connection_turn_at(at);
        void *context = turn->exchange.context;
        bool is_handled = turn->is_handled;

        at = at->next;
        if (!turn->is_answered || !turn->is_dropped)
            continue;
        lbx__turn_destroy(turn);
        // The handler may answer others from inside, which removes nothing.
        if (is_handled && handler->written)
            handler->written(handler->context, context, LBX_CLOSED);
    }
}

/* 100 Continue, when nothing else is owed before it. */
static void
connection_write_continue(lbx__connection *connection)
{
    lbx__turn *reading = connection->reading;
    lbx__answer *answer;

    if (!reading || !reading->is_awaited || connection->turn_count > 0)
        return;
    reading->is_awaited = false;
    lbx__connection_read_start_body(connection, reading);
    answer = lbx__answer_create_continue(
        connection->shard->common->options.allocator);
    if (answer) // the client goes on without it after a while
        connection_write(connection, answer);
}

/* After something was read or written: what follows from it. */
static void
connection_advance(lbx__connection *connection)
{
    if (connection->stream.is_closing)
        return;
    if (connection->state == LBX__CONNECTION_HEAD && connection->held.size > 0)
        lbx__connection_read_held(connection);
    if (connection->state == LBX__CONNECTION_LAST &&
        connection->turn_count == 0 && !connection->is_settling &&
        lbx__stream_is_drained(&connection->stream))
        connection_linger(connection);
    lbx__connection_update(connection);
}

static void
connection_on_settle(lbx__task *task)
{
    lbx__connection *connection = lbx__member(task, lbx__connection, settle);

    connection->is_settling = false;
    connection_write_answers(connection);
    connection_free_dropped(connection);
    if (!connection->stream.is_closing) {
        connection_write_continue(connection);
        lbx__stream_flush(&connection->stream);
    }
    connection_advance(connection);
    connection_free_if_over(connection);
}

void
lbx__connection_settle_later(lbx__connection *connection)
{
    if (connection->is_settling)
        return;
    connection->is_settling = true;
    lbx__loop_defer(connection->shard->loop, &connection->settle);
}

void
lbx__connection_refuse(lbx__connection *connection, int status)
{
    lbx__http_reply reply;
    lbx__turn *turn;

    lbx__shard_add(&connection->shard->counts.rejected, 1);
    lbx__turn_destroy(connection->reading);
    connection->reading = NULL;
    connection->state = LBX__CONNECTION_LAST;
    turn = lbx__turn_create(connection, 0, NULL, 0);
    if (!turn) {
        lbx__connection_cut(connection);
        return;
    }
    lbx__list_append(&connection->turns, &turn->link);
    connection->turn_count++;
    lbx__answer_refusal(status, &reply);
    lbx__turn_answer(turn, &reply);
    turn->is_answered = true;
    lbx__connection_settle_later(connection);
}

/* ---- Events ---- */

static void
connection_on_read(lbx__stream *stream, const char *bytes, size_t size)
{
    lbx__connection *connection = lbx__member(stream, lbx__connection, stream);

    lbx__shard_add(&connection->shard->counts.bytes_in, size);
    if (connection->state == LBX__CONNECTION_LINGER) {
        connection->lingered += size;
        if (connection->lingered > CONNECTION_LINGER_BYTES)
            lbx__connection_cut(connection);
        return;
    }
    lbx__connection_read_bytes(connection, bytes, size);
    lbx__connection_update(connection);
}

static void
connection_on_wrote(lbx__stream *stream)
{
    connection_advance(lbx__member(stream, lbx__connection, stream));
}

static void
connection_on_ended(lbx__stream *stream, lbx_status status)
{
    lbx__connection *connection = lbx__member(stream, lbx__connection, stream);

    if (status != LBX_OK || connection->state == LBX__CONNECTION_LINGER) {
        lbx__connection_cut(connection);
        return;
    }
    connection->state = LBX__CONNECTION_LAST;
    connection_drop_turns(connection, true); // CONN-4
}

static void
connection_on_closed(lbx__stream *stream)
{
    lbx__connection *connection = lbx__member(stream, lbx__connection, stream);

    connection->is_closed = true;
    connection_free_if_over(connection);
}

static const lbx__stream_events connection_events = {
    .read = connection_on_read,
    .ended = connection_on_ended,
    .wrote = connection_on_wrote,
    .closed = connection_on_closed,
};

/* ---- The beginning ---- */

static lbx__connection *
connection_alloc(lbx__shard *shard)
{
    const lbx_allocator *allocator = shard->common->options.allocator;
    lbx__connection *connection = lbx__zalloc(allocator, sizeof(*connection));

    if (!connection)
        return NULL;
    connection->shard = shard;
    connection->settle.run = connection_on_settle;
    lbx__list_init(&connection->link);
    lbx__list_init(&connection->turns);
    lbx__deadline_init(&connection->input);
    lbx__deadline_init(&connection->output);
    lbx__buffer_init(&connection->held, allocator, CONNECTION_HELD_BYTES);
    return connection;
}

void
lbx__connection_create(lbx__shard *shard, int fd,
                       const struct sockaddr_storage *peer, socklen_t length,
                       lbx__peer_key key)
{
    lbx__connection *connection = connection_alloc(shard);
    lbx__tls *tls = shard->common->options.tls;
    lbx__session *session = NULL;
    int on = 1;

    // Answers are written whole: waiting to fill packets only delays them.
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (!connection || (tls && lbx__session_create(tls, &session) != LBX_OK) ||
        !lbx__stream_open(&connection->stream, shard->loop, fd, session,
                          &connection_events)) {
        lbx__session_destroy(session);
        if (connection)
            lbx__free(shard->common->options.allocator, connection,
                      sizeof(*connection));
        (void)close(fd);
        lbx__peers_remove(&shard->common->peers, key);
        lbx__shard_add(&shard->counts.refused, 1);
        lbx__shard_release(shard);
        return;
    }
    connection->peer_key = key;
    connection->rate_key = lbx__peers_network(peer);
    lbx__address_print(peer, length, connection->peer,
                       sizeof(connection->peer));
    lbx__list_append(&shard->connections, &connection->link);
    lbx__stream_read(&connection->stream, true);
    // A handshake has the time of a head.
    lbx__deadlines_start(&shard->deadlines, &connection->input,
                         tls ? LBX__DEADLINE_HEAD : LBX__DEADLINE_IDLE);
}
