/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates that are made by the test, and clients that speak TLS. */
#ifndef LBX_TEST_HTTP_TLS_FIXTURE_H
#define LBX_TEST_HTTP_TLS_FIXTURE_H

#include "http/fixture.h"

#include <openssl/ssl.h>

/* Writes a self-signed certificate for `name` and its key. */
void tls_write_files(const char *name, const char *certificate_file,
                     const char *key_file);

struct tls_client {
    struct client plain;
    SSL_CTX *context;
    SSL *ssl;
};

/* `version` 0: any; `protocols` as ALPN has them, or NULL. False: the server
 * ended the handshake. */
bool tls_client_open(struct tls_client *client, const struct rig *rig,
                     int version, const char *protocols);
void tls_client_close(struct tls_client *client);
void tls_client_send(struct tls_client *client, const char *text);
/* Reads until `size` bytes have come, or the end; returns how many. */
size_t tls_client_read(struct tls_client *client, char *ret, size_t size);
/* The name in the server's certificate. */
void tls_client_name(struct tls_client *client, char *ret, size_t size);

#endif
