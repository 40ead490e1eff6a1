/* SPDX-License-Identifier: Apache-2.0 */
/* When a connection reads, and how long its client has for what it is doing. */
#include "base/time.h"
#include "http/connection.h"

static lbx__deadline_kind
connection_input_kind(const lbx__connection *connection)
{
    switch (connection->state) {
    case LBX__CONNECTION_BODY:
        return LBX__DEADLINE_BODY;
    case LBX__CONNECTION_LINGER:
        return LBX__DEADLINE_LINGER;
    case LBX__CONNECTION_HEAD:
        if (connection->held.size > 0 && lbx__connection_may_begin(connection))
            return LBX__DEADLINE_HEAD;
        if (connection->held.size == 0 && connection->turn_count == 0 &&
            lbx__stream_is_drained(&connection->stream))
            return LBX__DEADLINE_IDLE;
        return LBX__DEADLINE_NONE;
    default:
        return LBX__DEADLINE_NONE;
    }
}

/* ---- CONN-9 ---- */

/* The kernel did not take all of the answers. */
static void
connection_start_write(lbx__connection *connection)
{
    lbx__shard *shard = connection->shard;

    connection->write_until_ns =
        lbx__time_add(lbx__loop_now_ns(shard->loop),
                      lbx__connection_limits(connection)->write_ns);
    connection->delivered_bytes =
        lbx__stream_delivered_bytes(&connection->stream);
    lbx__deadlines_start(&shard->deadlines, &connection->output,
                         LBX__DEADLINE_WRITE);
}

/* Adds the time for what was delivered since the last look. */
static void
connection_extend_write(lbx__connection *connection, int64_t now_ns)
{
    const lbx__http_limits *limits = lbx__connection_limits(connection);
    const int64_t rate = limits->min_answer_bytes_per_second;
    const int64_t write_ns = limits->write_ns;
    const int64_t most_ns = lbx__time_add(now_ns, write_ns);
    const uint64_t delivered = lbx__stream_delivered_bytes(&connection->stream);
    int64_t more_ns = write_ns;

    if (delivered <= connection->delivered_bytes)
        return;
    if (rate > 0)
        more_ns =
            lbx__time_scale((int64_t)(delivered - connection->delivered_bytes),
                            LBX_SECOND) /
            rate;
    connection->write_until_ns =
        lbx__time_add(connection->write_until_ns, more_ns);
    if (connection->write_until_ns > most_ns)
        connection->write_until_ns = most_ns;
    connection->delivered_bytes = delivered;
}

static bool
connection_write_is_late(lbx__connection *connection)
{
    const int64_t now_ns = lbx__loop_now_ns(connection->shard->loop);

    connection_extend_write(connection, now_ns);
    return now_ns >= connection->write_until_ns;
}

/* ---- What the state requires ---- */

void
lbx__connection_update(lbx__connection *connection)
{
    lbx__deadlines *deadlines = &connection->shard->deadlines;
    lbx__deadline_kind kind = connection_input_kind(connection);

    if (connection->stream.is_closing)
        return;
    lbx__stream_read(&connection->stream,
                     connection->state == LBX__CONNECTION_HEAD
                         ? lbx__connection_may_begin(connection)
                         : connection->state != LBX__CONNECTION_LAST);
    if (kind == LBX__DEADLINE_NONE)
        lbx__deadlines_stop(&connection->input);
    else if (kind != connection->input.kind)
        lbx__deadlines_start(deadlines, &connection->input, kind);
    if (lbx__stream_is_drained(&connection->stream))
        lbx__deadlines_stop(&connection->output);
    else if (connection->output.kind == LBX__DEADLINE_NONE)
        connection_start_write(connection);
}

static bool
connection_body_is_late(const lbx__connection *connection)
{
    const lbx__turn *turn = connection->reading;

    if (turn->is_awaited ||
        lbx__connection_limits(connection)->min_body_bytes_per_second <= 0)
        return false;
    return lbx__loop_now_ns(connection->shard->loop) >= turn->body_until_ns;
}

void
lbx__connection_passed(lbx__deadline *deadline, lbx__deadline_kind kind)
{
    lbx__connection *connection =
        kind == LBX__DEADLINE_WRITE
            ? lbx__member(deadline, lbx__connection, output)
            : lbx__member(deadline, lbx__connection, input);

    if (kind == LBX__DEADLINE_HEAD && connection->held.size > 0)
        lbx__connection_refuse(connection, 408);
    else if (kind == LBX__DEADLINE_BODY && !connection_body_is_late(connection))
        lbx__connection_update(connection); // looks again later
    else if (kind == LBX__DEADLINE_BODY)
        lbx__connection_refuse(connection, 408);
    else if (kind == LBX__DEADLINE_WRITE &&
             !connection_write_is_late(connection))
        lbx__deadlines_start(&connection->shard->deadlines, deadline, kind);
    else
        lbx__connection_cut(connection);
}
