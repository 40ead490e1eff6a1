/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many connections each peer has: an IPv4 address, or the first half of an
 * IPv6 address, which is what one customer of a network gets at least.
 *
 * Threads    any.
 */
#ifndef LBX_HTTP_PEERS_H
#define LBX_HTTP_PEERS_H

#include "base/lock.h"
#include "base/map.h"
#include <sys/socket.h>

typedef struct lbx__peers {
    const lbx_allocator *allocator;
    uint64_t seed; /* random: peers choose their addresses */
    lbx__lock lock;
    lbx__map map; /* under the lock */
} lbx__peers;

/* 0: not counted. */
typedef uint64_t lbx__peer_key;

void lbx__peers_init(lbx__peers *peers, const lbx_allocator *allocator);
void lbx__peers_fini(lbx__peers *peers);

/* The key of a remote address; 0 for one of this machine. */
lbx__peer_key lbx__peers_key(const struct sockaddr_storage *socket);

/* The same for every address; 0 for Unix sockets only. */
lbx__peer_key lbx__peers_network(const struct sockaddr_storage *socket);

/* Counts one more. False: it would be more than `max`, or there is no
 * memory. */
bool lbx__peers_add(lbx__peers *peers, lbx__peer_key key, uint32_t max);
void lbx__peers_remove(lbx__peers *peers, lbx__peer_key key);

#endif
