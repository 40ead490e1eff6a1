/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listener: accepts connections on a loop.
 *
 * LSTN-1  When the process has no descriptor left, connections that wait are
 *         accepted into a spare one and closed at once: the client sees it, and
 *         the loop does not spin over a socket that stays readable. When the
 *         kernel has no memory, accepting pauses for a moment.
 *
 * Threads    the loop's, but lbx__listener_init() and lbx__listener_fini().
 */
#ifndef LBX_NET_LISTENER_H
#define LBX_NET_LISTENER_H

#include "net/loop.h"
#include <sys/socket.h>

typedef struct lbx__listener lbx__listener;

typedef struct lbx__listener_events {
    /* The descriptor is the receiver's. -1: one was closed for want of
     * descriptors. */
    void (*accepted)(lbx__listener *listener, int fd,
                     const struct sockaddr_storage *peer, socklen_t length);
    /* The memory may be reused. */
    void (*closed)(lbx__listener *listener);
} lbx__listener_events;

struct lbx__listener {
    uv_poll_t poll;
    lbx__timer pause;
    const lbx__listener_events *events;
    int fd;
    int spare;
    bool is_closing;
    uint32_t handles; /* that are not closed yet */
};

/* Takes over the descriptor of a socket that listens; -1: there is none, and
 * it never starts. */
void lbx__listener_init(lbx__listener *listener, int fd,
                        const lbx__listener_events *events);

/* Closes the descriptors of a listener that was never started. */
void lbx__listener_fini(lbx__listener *listener);

/* False: the loop does not take the descriptor. It is to be closed then. */
bool lbx__listener_start(lbx__listener *listener, lbx__loop *loop);

/* Stops accepting at once; `closed` is called later. Takes one that is closed
 * or closing already: then it does nothing. */
void lbx__listener_close(lbx__listener *listener);

#endif
