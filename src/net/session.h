/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TLS session: one connection's keys and records, over memory; the stream
 * moves the bytes.
 *
 * Threads    the loop's.
 */
#ifndef LBX_NET_SESSION_H
#define LBX_NET_SESSION_H

#include "net/tls.h"

typedef struct lbx__session lbx__session;

/* A session of the context as it is now; a later reload does not change it. */
lbx_status lbx__session_create(lbx__tls *tls, lbx__session **ret);
void lbx__session_destroy(lbx__session *session);

/* Takes bytes that the peer sent. False: no memory. */
bool lbx__session_feed(lbx__session *session, const char *bytes, size_t size);

/* Decrypts. OK: some bytes; EMPTY: no whole record; CLOSED: the peer has closed
 * its side; IO: what it sends is no TLS that we understand. */
lbx_status lbx__session_read(lbx__session *session, char *ret, size_t size,
                             size_t *ret_size);

/* Encrypts. OK: `ret_taken` of the bytes; EMPTY: the handshake is not over;
 * IO: never again. */
lbx_status lbx__session_write(lbx__session *session, const char *bytes,
                              size_t size, size_t *ret_taken);

/* Tells the peer that nothing follows. */
void lbx__session_shutdown(lbx__session *session);

/* What the peer shall get: bytes that stay until some are sent, or until
 * another function is called. */
size_t lbx__session_output(lbx__session *session, const char **ret);
void lbx__session_sent(lbx__session *session, size_t size);

#endif
