/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets that listen.
 *
 * SOCK-1  A port or a path on which another process listens is refused, also
 *         when that process shares its port between its own loops: the first
 *         socket is bound before it says that it would share.
 * SOCK-2  The file of a Unix socket on which no process listens is removed
 *         before listening; nothing but a socket ever is. It is removed again
 *         by lbx__socket_unlink(), if it is still the same file.
 */
#ifndef LBX_NET_SOCKET_H
#define LBX_NET_SOCKET_H

#include "net/address.h"
#include <sys/types.h>
#include <time.h>

/* What stands behind one address. */
typedef struct lbx__socket_group {
    int *fds; /* the caller's, `count` of them; -1: not open */
    size_t count;
    char text[LBX__ADDRESS_TEXT]; /* with the port that was chosen */
    dev_t device;                 /* of a Unix socket's file */
    ino_t inode;                  /* 0: there is none to remove */
    struct timespec made;         /* numbers of inodes are used again */
} lbx__socket_group;

/* Opens `count` descriptors that listen on the address and do not block: for
 * TCP a socket each, which share the port; otherwise one socket, duplicated. */
lbx_status lbx__socket_listen(const lbx__address *address,
                              lbx__socket_group *group, lbx_fault *fault);

/* Closes what is open, and forgets it. */
void lbx__socket_close(lbx__socket_group *group);

/* Removes a Unix socket's file. */
void lbx__socket_unlink(lbx__socket_group *group);

#endif
