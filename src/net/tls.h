/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS of a server: a certificate and its key, in files.
 *
 * TLS 1.2 and later, without renegotiation; of protocols above it, http/1.1. A
 * client's side will be another constructor: sessions do not care.
 *
 * TLSCTX-1  A reload that fails changes nothing. Connections that exist keep
 *           the certificate they began with.
 *
 * Threads    any.
 */
#ifndef LBX_NET_TLS_H
#define LBX_NET_TLS_H

#include <letterbox/base.h>

typedef struct lbx__tls lbx__tls;

/* Reads both files (PEM; the certificate may be followed by its chain). */
lbx_status lbx__tls_create(const lbx_allocator *allocator,
                           const char *certificate_file, const char *key_file,
                           lbx__tls **ret, lbx_fault *fault);

/* Reads the files again, for connections to come. */
lbx_status lbx__tls_reload(lbx__tls *tls, lbx_fault *fault);

/* Takes NULL. Sessions may outlive it. */
void lbx__tls_destroy(lbx__tls *tls);

/* A reference to the context as it is now, an SSL_CTX. */
struct ssl_ctx_st *lbx__tls_context(lbx__tls *tls);
const lbx_allocator *lbx__tls_allocator(const lbx__tls *tls);

#endif
