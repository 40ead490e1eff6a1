/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream: a connection on a loop, by TCP or a Unix socket, plain or TLS.
 *
 * STREAM-1  `read` is called only while reading is on. The end of the peer's
 *           side and the loss of the connection are noticed also while it is
 *           off, and `ended` is called at most once with OK,
 *           and then once more if the connection is lost.
 * STREAM-2  What is written waits in a queue until a flush; the kernel gets
 *           as many chunks as it takes in one call. A flush never blocks: the
 *           rest goes out as the peer reads.
 * STREAM-3  `done` of each chunk is called once, in order, from a flush, an
 *           event or the close, never from a write: with OK when the kernel has
 *           all its bytes, else with CLOSED when it has none of them, and
 *           UNKNOWN when it may have some.
 * STREAM-4  A TLS stream encrypts only what the kernel takes soon: at most one
 *           record is under way. All chunks of a record share its fate.
 *
 * Threads    the loop's.
 */
#ifndef LBX_NET_STREAM_H
#define LBX_NET_STREAM_H

#include "net/loop.h"

typedef struct lbx__stream lbx__stream;
typedef struct lbx__session lbx__session; /* net/session.h */

/* Bytes to be written; memory of the caller's, until `done`. */
typedef struct lbx__chunk {
    struct lbx__chunk *next;
    void (*done)(struct lbx__chunk *chunk, lbx_status status);
    const char *bytes;
    size_t size;
    size_t taken; /* by the kernel, or by a TLS record */
} lbx__chunk;

typedef struct lbx__stream_events {
    /* Bytes that live until it returns. */
    void (*read)(lbx__stream *stream, const char *bytes, size_t size);
    /* OK: the peer has closed its side. CLOSED: the connection is lost. */
    void (*ended)(lbx__stream *stream, lbx_status status);
    /* The kernel took some of what waited. */
    void (*wrote)(lbx__stream *stream);
    /* The memory may be reused. */
    void (*closed)(lbx__stream *stream);
} lbx__stream_events;

struct lbx__stream {
    uv_poll_t poll;
    lbx__loop *loop;
    const lbx__stream_events *events;
    lbx__session *session; /* NULL: plain */
    lbx__chunk *first;
    lbx__chunk **end;
    uint64_t sent_bytes; /* that the kernel has taken, of records too */
    int fd;
    uint8_t polled; /* what the poll watches */
    bool is_reading;
    bool is_ended;   /* `ended` was called */
    bool is_lost;    /* and with a failure */
    bool is_blocked; /* the kernel takes no more for now */
    bool is_closing;
    bool is_begun;   /* the first chunk has bytes in records that were taken */
    bool is_partial; /* some of the TLS record under way was taken */
    bool is_resuming;
    lbx__task resume; /* reads what was decrypted while reading was off */
};

/* Takes over a descriptor that does not block, and a session, on success.
 * Reading is off. */
bool lbx__stream_open(lbx__stream *stream, lbx__loop *loop, int fd,
                      lbx__session *session, const lbx__stream_events *events);

void lbx__stream_read(lbx__stream *stream, bool on);

/* Appends to the queue. */
void lbx__stream_write(lbx__stream *stream, lbx__chunk *chunk);
void lbx__stream_flush(lbx__stream *stream);
bool lbx__stream_is_drained(const lbx__stream *stream);

/* How many bytes have left this machine's queue: those that the peer's kernel
 * has acknowledged, or, of a Unix socket, that the peer has read; about that
 * many. */
uint64_t lbx__stream_delivered_bytes(const lbx__stream *stream);

/* Asks the kernel whether the peer has closed its side or the connection is
 * lost, which the loop may not have noticed yet. False while there are bytes
 * to read. */
bool lbx__stream_has_peer_left(const lbx__stream *stream);

/* The peer sees the end of the stream when it has read all. What it still sends
 * may be read. The queue is empty. */
void lbx__stream_shutdown(lbx__stream *stream);

/* Closes the descriptor; chunks that wait are done. */
void lbx__stream_close(lbx__stream *stream);

#endif
