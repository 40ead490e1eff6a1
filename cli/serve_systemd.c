/* SPDX-License-Identifier: Apache-2.0 */
/* What systemd wants to know and passes: a datagram, and sockets from 3 on. */
#include "serve.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void
serve_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t size = path ? strlen(path) : 0;
    int fd;

    if (size == 0 || size >= sizeof(address.sun_path))
        return;
    memcpy(address.sun_path, path, size);
    if (path[0] == '@') // an abstract name
        address.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL,
                 (const struct sockaddr *)&address,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    close(fd);
}

/* systemd tells by the time whether READY=1 was sent before or after. */
void
serve_notify_reloading(void)
{
    struct timespec now;
    char state[80];

    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    serve_notify(state);
}

const char *
serve_passed_socket(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

    if (pid && count && strtol(pid, NULL, 10) == (long)getpid() &&
        strtol(count, NULL, 10) >= 1)
        return "fd:3";
    return "127.0.0.1:9324";
}
