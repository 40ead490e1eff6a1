/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream over a libuv poll: the reads and writes are ours, so that one buffer
 * serves all streams of a loop, and the end of a connection is seen while it is
 * not read.
 */
#include "net/stream.h"

#include "base/list.h"
#include "net/session.h"
#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    STREAM_VECTORS = 32,            /* chunks for one call of the kernel */
    STREAM_READS = 4,               /* before other streams have their turn */
    STREAM_RECORD_BYTES = 16 * 1024 /* to be encrypted at once */
};

static void stream_on_poll(uv_poll_t *poll, int status, int events);

/* Watches what can happen now; costs nothing when that has not changed. */
static void
stream_watch(lbx__stream *stream)
{
    int events = 0;

    if (stream->is_closing)
        return;
    if (!stream->is_ended)
        events |= UV_DISCONNECT | (stream->is_reading ? UV_READABLE : 0);
    if (stream->is_blocked)
        events |= UV_WRITABLE;
    if (events == stream->polled)
        return;
    stream->polled = (uint8_t)events;
    if (events)
        (void)uv_poll_start(&stream->poll, events, stream_on_poll);
    else
        (void)uv_poll_stop(&stream->poll);
}

/* A connection that the other side has ended may still be lost (STREAM-1). */
static void
stream_end(lbx__stream *stream, lbx_status status)
{
    const bool is_lost = status != LBX_OK;

    if (stream->is_closing || stream->is_lost || (stream->is_ended && !is_lost))
        return;
    stream->is_ended = true;
    stream->is_lost = is_lost;
    stream->events->ended(stream, status);
}

/* ---- Writing ---- */

/* Sends bytes of the queue's chunks; the count, 0: blocked, -1: lost. */
static ssize_t
stream_send(lbx__stream *stream, struct iovec *vectors, size_t count)
{
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
    ssize_t sent;

    do {
        sent = sendmsg(stream->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
        stream->sent_bytes += (uint64_t)sent;
        return sent;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return -1;
    stream->is_blocked = true;
    return 0;
}

static void
stream_pop_done(lbx__stream *stream, lbx_status status)
{
    lbx__chunk *chunk = stream->first;

    stream->first = chunk->next;
    if (!stream->first)
        stream->end = &stream->first;
    stream->is_begun = false;
    chunk->done(chunk, status);
}

/* Gathers chunks and sends them. False: blocked, lost, or nothing is left. */
static bool
stream_flush_plain(lbx__stream *stream, ssize_t *ret_sent)
{
    struct iovec vectors[STREAM_VECTORS];
    lbx__chunk *chunk;
    size_t count = 0, left;

    for (chunk = stream->first; chunk && count < STREAM_VECTORS;
         chunk = chunk->next) {
        vectors[count].iov_base =
            (void *)(uintptr_t)(chunk->bytes + chunk->taken);
        vectors[count++].iov_len = chunk->size - chunk->taken;
    }
    if (count == 0)
        return false;
    *ret_sent = stream_send(stream, vectors, count);
    if (*ret_sent <= 0)
        return false;
    left = (size_t)*ret_sent;
    while (left > 0 ||
           (stream->first && stream->first->taken == stream->first->size)) {
        size_t some = stream->first->size - stream->first->taken;

        some = some < left ? some : left;
        stream->first->taken += some;
        left -= some;
        if (stream->first->taken == stream->first->size)
            stream_pop_done(stream, LBX_OK);
    }
    return true;
}

/* Encrypts what waits, up to a record's size. False: no byte was encrypted. */
static bool
stream_encrypt(lbx__stream *stream)
{
    size_t budget = STREAM_RECORD_BYTES, taken;
    lbx__chunk *chunk;
    bool some = false;

    for (chunk = stream->first; chunk && budget > 0; chunk = chunk->next) {
        size_t size = chunk->size - chunk->taken;

        size = size < budget ? size : budget;
        if (size == 0)
            continue;
        if (lbx__session_write(stream->session, chunk->bytes + chunk->taken,
                               size, &taken) != LBX_OK)
            break;
        chunk->taken += taken;
        budget -= taken;
        some = true;
    }
    return some;
}

/* Sends the record under way, or makes the next one. The same results. */
static bool
stream_flush_session(lbx__stream *stream, ssize_t *ret_sent)
{
    struct iovec vector;
    const char *bytes;

    vector.iov_len = lbx__session_output(stream->session, &bytes);
    if (vector.iov_len == 0) {
        stream->is_partial = false;
        while (stream->first && stream->first->taken == stream->first->size)
            stream_pop_done(stream, LBX_OK);
        if (!stream->first)
            return false;
        stream->is_begun = stream->first->taken > 0;
        if (!stream_encrypt(stream))
            return false;
        vector.iov_len = lbx__session_output(stream->session, &bytes);
    }
    vector.iov_base = (void *)(uintptr_t)bytes;
    *ret_sent = stream_send(stream, &vector, 1);
    if (*ret_sent <= 0)
        return false;
    stream->is_partial = true;
    lbx__session_sent(stream->session, (size_t)*ret_sent);
    return true;
}

/* Reports whether the kernel took anything. */
static bool
stream_flush_some(lbx__stream *stream)
{
    ssize_t sent = 0;
    bool some = false;

    if (stream->is_closing || stream->is_blocked)
        return false;
    while (stream->session ? stream_flush_session(stream, &sent)
                           : stream_flush_plain(stream, &sent))
        some = true;
    if (sent < 0) {
        stream_end(stream, LBX_CLOSED);
        return false;
    }
    return some;
}

void
lbx__stream_flush(lbx__stream *stream)
{
    (void)stream_flush_some(stream);
    stream_watch(stream);
}

void
lbx__stream_write(lbx__stream *stream, lbx__chunk *chunk)
{
    assert(!stream->is_closing && chunk->size > 0);
    chunk->next = NULL;
    chunk->taken = 0;
    *stream->end = chunk;
    stream->end = &chunk->next;
}

bool
lbx__stream_is_drained(const lbx__stream *stream)
{
    return !stream->first;
}

uint64_t
lbx__stream_delivered_bytes(const lbx__stream *stream)
{
    int queued = 0; // of a Unix socket with what the kernel adds to them

    if (stream->is_closing || ioctl(stream->fd, SIOCOUTQ, &queued) != 0 ||
        queued < 0)
        return stream->sent_bytes;
    return stream->sent_bytes > (uint64_t)queued
               ? stream->sent_bytes - (uint64_t)queued
               : 0;
}

bool
lbx__stream_has_peer_left(const lbx__stream *stream)
{
    ssize_t got;
    char byte;

    if (stream->is_ended || stream->is_closing)
        return true;
    do
        got = recv(stream->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

/* ---- Reading ---- */

/* Hands over what can be decrypted, and sends what TLS itself has to say. */
static void
stream_decrypt(lbx__stream *stream)
{
    lbx_status status = LBX_OK;
    size_t size, got;
    char *scratch = lbx__loop_scratch(stream->loop, &size);

    while (stream->is_reading && !stream->is_closing && status == LBX_OK) {
        status = lbx__session_read(stream->session, scratch, size, &got);
        if (status == LBX_OK)
            stream->events->read(stream, scratch, got);
    }
    if (stream->is_closing)
        return;
    (void)stream_flush_some(stream); // alerts and handshakes too
    if (status == LBX_CLOSED)
        stream_end(stream, LBX_OK);
    else if (status != LBX_OK && status != LBX_EMPTY)
        stream_end(stream, LBX_CLOSED);
}

/* Reads once. False: there is no more for now. */
static bool
stream_receive(lbx__stream *stream)
{
    size_t size;
    char *scratch = lbx__loop_scratch(stream->loop, &size);
    ssize_t got;

    do {
        got = recv(stream->fd, scratch, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            stream_end(stream, LBX_CLOSED);
        return false;
    }
    if (got == 0) {
        stream_end(stream, LBX_OK);
        return false;
    }
    if (!stream->session) {
        stream->events->read(stream, scratch, (size_t)got);
    } else if (lbx__session_feed(stream->session, scratch, (size_t)got)) {
        stream_decrypt(stream);
    } else {
        stream_end(stream, LBX_CLOSED);
        return false;
    }
    return (size_t)got == size;
}

static void
stream_on_poll(uv_poll_t *poll, int status, int events)
{
    lbx__stream *stream = lbx__member(poll, lbx__stream, poll);
    int i;

    if (status < 0) {
        stream->polled = 0; // libuv has stopped the poll
        stream_end(stream, LBX_CLOSED);
        return;
    }
    if (events & UV_WRITABLE) {
        stream->is_blocked = false;
        if (stream_flush_some(stream) && !stream->is_closing)
            stream->events->wrote(stream);
    }
    if (events & (UV_READABLE | UV_DISCONNECT)) {
        for (i = 0; i < STREAM_READS && stream->is_reading &&
                    !stream->is_ended && !stream->is_closing &&
                    (stream_receive(stream) || events & UV_DISCONNECT);
             i++)
            continue;
        // Not being read, so nothing but the end can be told (STREAM-1).
        if (!stream->is_reading && events & UV_DISCONNECT)
            stream_end(stream, LBX_OK);
    }
    stream_watch(stream);
}

static void
stream_on_resume(lbx__task *task)
{
    lbx__stream *stream = lbx__member(task, lbx__stream, resume);

    stream->is_resuming = false;
    if (stream->is_closing || !stream->is_reading)
        return;
    stream_decrypt(stream);
    stream_watch(stream);
}

void
lbx__stream_read(lbx__stream *stream, bool on)
{
    if (stream->is_closing || stream->is_reading == on)
        return;
    stream->is_reading = on;
    if (on && stream->session && !stream->is_resuming) {
        stream->is_resuming = true;
        lbx__loop_defer(stream->loop, &stream->resume);
    }
    stream_watch(stream);
}

/* ---- Opening and closing ---- */

bool
lbx__stream_open(lbx__stream *stream, lbx__loop *loop, int fd,
                 lbx__session *session, const lbx__stream_events *events)
{
    *stream = (lbx__stream){
        .loop = loop, .events = events, .session = session, .fd = fd};
    stream->end = &stream->first;
    stream->resume.run = stream_on_resume;
    if (uv_poll_init(lbx__loop_uv(loop), &stream->poll, fd) != 0)
        return false;
    stream_watch(stream);
    return true;
}

void
lbx__stream_shutdown(lbx__stream *stream)
{
    if (stream->is_closing)
        return;
    if (stream->session) {
        lbx__session_shutdown(stream->session);
        (void)stream_flush_some(stream);
    }
    if (!stream->is_closing)
        (void)shutdown(stream->fd, SHUT_WR);
}

static void
stream_on_closed(uv_handle_t *handle)
{
    lbx__stream *stream = lbx__member(handle, lbx__stream, poll);

    stream->events->closed(stream);
}

void
lbx__stream_close(lbx__stream *stream)
{
    bool is_secure = stream->session != NULL;
    lbx__chunk *chunk;

    if (stream->is_closing)
        return;
    stream->is_closing = true;
    uv_close((uv_handle_t *)&stream->poll, stream_on_closed);
    (void)close(stream->fd);
    lbx__session_destroy(stream->session);
    stream->session = NULL;
    while ((chunk = stream->first)) {
        bool has_some = chunk->taken > 0;

        // STREAM-3: a TLS record of which nothing was sent has none.
        if (has_some && is_secure)
            has_some = stream->is_begun || stream->is_partial;
        stream_pop_done(stream, has_some ? LBX_UNKNOWN : LBX_CLOSED);
    }
}
