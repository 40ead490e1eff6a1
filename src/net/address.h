/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses: where a server listens.
 *
 *     127.0.0.1:9324  [::1]:0  localhost:9324  unix:/run/letterbox.sock  fd:3
 *
 * Names other than localhost are not looked up: where a server listens should
 * not depend on a name server.
 */
#ifndef LBX_NET_ADDRESS_H
#define LBX_NET_ADDRESS_H

#include <letterbox/base.h>
#include <sys/socket.h>

typedef enum lbx__address_kind {
    LBX__ADDRESS_TCP,
    LBX__ADDRESS_UNIX,
    LBX__ADDRESS_FD, /* a listening socket that the process was started with */
} lbx__address_kind;

typedef struct lbx__address {
    lbx__address_kind kind;
    struct sockaddr_storage socket; /* not of a descriptor */
    socklen_t size;
    int fd; /* of a descriptor */
} lbx__address;

enum {
    /* "unix:" and a path, or an IPv6 address with its port; with the NUL. */
    LBX__ADDRESS_TEXT = 120,
    /* The same for the peers of connections: a Unix socket's has no path. */
    LBX__ADDRESS_PEER = 56
};

/* Reads a text. LBX_INVALID: `fault` says what is wrong with it. */
lbx_status lbx__address_parse(const char *text, lbx__address *ret,
                              lbx_fault *fault);

/* Writes a socket's address as text: "127.0.0.1:9324", "[::1]:9324",
 * "unix:/path", and "unix:" for one without a name or when `size` is too small
 * for the path. */
void lbx__address_print(const struct sockaddr_storage *socket, socklen_t length,
                        char *ret, size_t size);

/* Reports whether only this machine can use the address: loopback and Unix
 * sockets. */
bool lbx__address_is_local(const struct sockaddr_storage *socket);

#endif
