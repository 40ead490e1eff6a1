/* SPDX-License-Identifier: Apache-2.0 */
#include "http/shard.h"

#include "base/clock.h"
#include "base/park.h"
#include "http/connection.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum {
    SHARD_LOG_LINES = 10, /* a second */
    SHARD_RATE_LOOKS = 8  /* at the rate of a body, in the time of a head; and
                             of answers, in that of a write */
};

#define SHARD_LINGER_NS (2 * LBX_SECOND)

const char *
lbx__shard_date(lbx__shard *shard)
{
    int64_t second = lbx__clock_wall() / LBX_SECOND;

    if (second != shard->date_second) {
        shard->date_second = second;
        lbx__answer_date(second, shard->date);
    }
    return shard->date;
}

void
lbx__shard_log(lbx__shard *shard, const char *format, ...)
{
    const lbx__http_options *options = &shard->common->options;
    int64_t second = lbx__loop_now_ns(shard->loop) / LBX_SECOND;
    char line[256];
    va_list arguments;

    if (second != shard->log_second) {
        shard->log_second = second;
        shard->log_lines = 0;
    }
    if (!options->log || shard->log_lines++ >= SHARD_LOG_LINES)
        return;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    options->log(options->log_context, line);
}

/* ---- The end ---- */

static void
shard_leave(lbx__shard_common *common)
{
    // Release: what the loop's thread did with the shard is done when the
    // destroyer, which loads with acquire, sees the count.
    (void)lbx__sub(&common->shards_left, 1u, release);
    lbx__futex_wake(&common->shards_left, 1);
}

static void
shard_on_timer_closed(lbx__timer *timer)
{
    lbx__deadlines *deadlines = lbx__member(timer, lbx__deadlines, timer);

    shard_leave(lbx__member(deadlines, lbx__shard, deadlines)->common);
}

/* SHARD-1 */
static void
shard_end_if_over(lbx__shard *shard)
{
    if (shard->is_stopping && !shard->is_listening &&
        shard->connection_count == 0)
        lbx__deadlines_close(&shard->deadlines, shard_on_timer_closed);
}

void
lbx__shard_release(lbx__shard *shard)
{
    shard->connection_count--;
    // Relaxed: a count for a limit and for metrics.
    (void)lbx__sub(&shard->common->connections, 1u, relaxed);
    shard_end_if_over(shard);
}

/* ---- Accepting ---- */

/* Tells a client of a plain connection why it is closed, if that needs no
 * waiting. */
static void
shard_refuse(lbx__shard *shard, int fd)
{
    static const char text[] = "HTTP/1.1 503 Service Unavailable\r\n"
                               "Content-Length: 0\r\n"
                               "Retry-After: 1\r\n"
                               "Connection: close\r\n\r\n";

    lbx__shard_add(&shard->counts.refused, 1);
    if (!shard->common->options.tls)
        (void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)close(fd);
}

static void
shard_on_accepted(lbx__listener *listener, int fd,
                  const struct sockaddr_storage *peer, socklen_t length)
{
    lbx__shard *shard = lbx__member(listener, lbx__shard, listener);
    lbx__shard_common *common = shard->common;
    const lbx__http_limits *limits = &common->options.limits;
    lbx__peer_key key = 0;

    if (fd < 0) {
        lbx__shard_add(&shard->counts.refused, 1);
        lbx__shard_log(shard, "no descriptors left: a connection was closed");
        return;
    }
    // Relaxed: the count itself is exact, and orders nothing.
    if (lbx__add(&common->connections, 1u, relaxed) >=
        limits->max_connections) {
        (void)lbx__sub(&common->connections, 1u, relaxed);
        shard_refuse(shard, fd);
        return;
    }
    if (limits->max_connections_per_peer > 0)
        key = lbx__peers_key(peer);
    if (!lbx__peers_add(&common->peers, key,
                        limits->max_connections_per_peer)) {
        (void)lbx__sub(&common->connections, 1u, relaxed);
        shard_refuse(shard, fd);
        return;
    }
    shard->connection_count++;
    lbx__shard_add(&shard->counts.accepted, 1);
    lbx__connection_create(shard, fd, peer, length, key);
}

static void
shard_on_listener_closed(lbx__listener *listener)
{
    lbx__shard *shard = lbx__member(listener, lbx__shard, listener);

    shard->is_listening = false;
    shard_end_if_over(shard);
}

static const lbx__listener_events shard_listener_events = {
    .accepted = shard_on_accepted,
    .closed = shard_on_listener_closed,
};

/* ---- Start, stop, cut ---- */

static void
shard_on_start(lbx__task *task)
{
    lbx__shard *shard = lbx__member(task, lbx__shard, start);
    const lbx__http_limits *limits = &shard->common->options.limits;
    int64_t *durations_ns = shard->deadlines.durations_ns;

    lbx__deadlines_init(&shard->deadlines, shard->loop, lbx__connection_passed);
    durations_ns[LBX__DEADLINE_IDLE] = limits->idle_ns;
    durations_ns[LBX__DEADLINE_HEAD] = limits->head_ns;
    durations_ns[LBX__DEADLINE_BODY] = limits->head_ns / SHARD_RATE_LOOKS;
    durations_ns[LBX__DEADLINE_LINGER] = SHARD_LINGER_NS;
    durations_ns[LBX__DEADLINE_WRITE] = limits->write_ns / SHARD_RATE_LOOKS;
    if (!lbx__listener_start(&shard->listener, shard->loop))
        lbx__shard_log(shard, "cannot watch the socket that listens");
}

static void
shard_on_stop(lbx__task *task)
{
    lbx__shard *shard = lbx__member(task, lbx__shard, stop);
    lbx__link *at, *next;

    shard->is_stopping = true;
    lbx__listener_close(&shard->listener);
    for (at = shard->connections.next; at != &shard->connections; at = next) {
        next = at->next; // none is freed before this round is over
        lbx__connection_stop(lbx__member(at, lbx__connection, link));
    }
}

static void
shard_on_cut(lbx__task *task)
{
    lbx__shard *shard = lbx__member(task, lbx__shard, cut);
    lbx__link *at, *next;

    for (at = shard->connections.next; at != &shard->connections; at = next) {
        next = at->next;
        lbx__connection_cut(lbx__member(at, lbx__connection, link));
    }
    shard_leave(shard->common);
}

void
lbx__shard_init(lbx__shard *shard, lbx__shard_common *common, lbx__loop *loop,
                int fd)
{
    shard->common = common;
    shard->loop = loop;
    shard->is_listening = true;
    shard->start.run = shard_on_start;
    shard->stop.run = shard_on_stop;
    shard->cut.run = shard_on_cut;
    lbx__list_init(&shard->connections);
    lbx__listener_init(&shard->listener, fd, &shard_listener_events);
}

void
lbx__shard_start(lbx__shard *shard)
{
    lbx__loop_post(shard->loop, &shard->start);
}

void
lbx__shard_stop(lbx__shard *shard)
{
    lbx__loop_post(shard->loop, &shard->stop);
}

void
lbx__shard_cut(lbx__shard *shard)
{
    // The shard stays until the task has run. Relaxed: the caller waits.
    (void)lbx__add(&shard->common->shards_left, 1u, relaxed);
    lbx__loop_post(shard->loop, &shard->cut);
}
