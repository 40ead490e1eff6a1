/* SPDX-License-Identifier: Apache-2.0 */
#include "net/socket.h"

#include "base/fault.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    SOCKET_BACKLOG = 1024 /* the kernel lowers it to its own maximum */
};

static lbx_status
socket_fault(lbx_fault *fault, const lbx__socket_group *group, int error)
{
    lbx_status status = LBX_IO;

    if (error == EADDRINUSE)
        return lbx__fault_set(fault, LBX_EXISTS,
                              "%s is in use by another process", group->text);
    if (error == EACCES || error == EPERM)
        status = LBX_DENIED;
    else if (error == EADDRNOTAVAIL || error == ENOENT || error == ENOTDIR)
        status = LBX_NOT_FOUND;
    return lbx__fault_set(fault, status, "cannot listen on %s: %s", group->text,
                          strerror(error));
}

/* Reports whether the file is a socket that refuses connections. */
static bool
socket_is_stale(const lbx__address *address)
{
    const struct sockaddr_un *un = (const void *)&address->socket;
    struct stat file;
    bool is_stale;
    int fd;

    if (lstat(un->sun_path, &file) != 0 || !S_ISSOCK(file.st_mode))
        return false;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    is_stale = connect(fd, (const struct sockaddr *)&address->socket,
                       address->size) != 0 &&
               errno == ECONNREFUSED;
    (void)close(fd);
    return is_stale;
}

static int
socket_bind(int fd, const lbx__address *address)
{
    const struct sockaddr_un *un = (const void *)&address->socket;
    const struct sockaddr *to = (const struct sockaddr *)&address->socket;

    if (bind(fd, to, address->size) == 0)
        return 0;
    if (errno != EADDRINUSE || address->kind != LBX__ADDRESS_UNIX)
        return errno;
    if (!socket_is_stale(address)) // SOCK-2
        return EADDRINUSE;
    if (unlink(un->sun_path) != 0)
        return errno;
    return bind(fd, to, address->size) == 0 ? 0 : errno;
}

/* Sets options before the bind, and for the first socket, the sharing of the
 * port after it (SOCK-1). Returns an errno. */
static int
socket_bind_tcp(int fd, const lbx__address *address, bool is_first,
                bool is_shared)
{
    int on = 1, error;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
        return errno;
    if (address->socket.ss_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0)
        return errno;
    if (!is_first &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0)
        return errno;
    error = socket_bind(fd, address);
    if (error)
        return error;
    if (is_first && is_shared &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0)
        return errno;
    return 0;
}

/* The text of the address that the socket has now; it is copied to `ret`. */
static void
socket_read_name(int fd, lbx__socket_group *group, lbx__address *ret)
{
    lbx__address name = {.kind = LBX__ADDRESS_TCP, .fd = -1};

    name.size = sizeof(name.socket);
    if (getsockname(fd, (struct sockaddr *)&name.socket, &name.size) != 0)
        return;
    lbx__address_print(&name.socket, name.size, group->text,
                       sizeof(group->text));
    *ret = name;
}

static int
socket_open_tcp(const lbx__address *address, lbx__socket_group *group)
{
    lbx__address name = *address; // with the port, from the second on
    size_t i;

    for (i = 0; i < group->count; i++) {
        int fd = socket(name.socket.ss_family,
                        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        int error;

        if (fd < 0)
            return errno;
        group->fds[i] = fd;
        error = socket_bind_tcp(fd, &name, i == 0, group->count > 1);
        if (error)
            return error;
        if (i == 0)
            socket_read_name(fd, group, &name);
    }
    // Only now: clients wait rather than being refused while sockets are added.
    for (i = 0; i < group->count; i++) {
        if (listen(group->fds[i], SOCKET_BACKLOG) != 0)
            return errno;
    }
    return 0;
}

/* Fills the group with duplicates of its first descriptor. */
static int
socket_duplicate(lbx__socket_group *group)
{
    size_t i;

    for (i = 1; i < group->count; i++) {
        group->fds[i] = fcntl(group->fds[0], F_DUPFD_CLOEXEC, 3);
        if (group->fds[i] < 0)
            return errno;
    }
    return 0;
}

static int
socket_open_unix(const lbx__address *address, lbx__socket_group *group)
{
    const struct sockaddr_un *un = (const void *)&address->socket;
    struct stat file;
    int error;

    group->fds[0] =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (group->fds[0] < 0)
        return errno;
    error = socket_bind(group->fds[0], address);
    if (error)
        return error;
    if (lstat(un->sun_path, &file) == 0) {
        group->device = file.st_dev;
        group->inode = file.st_ino;
        group->made = file.st_mtim;
    }
    if (listen(group->fds[0], SOCKET_BACKLOG) != 0)
        return errno;
    return socket_duplicate(group);
}

static lbx_status
socket_open_inherited(const lbx__address *address, lbx__socket_group *group,
                      lbx_fault *fault)
{
    lbx__address name;
    int listens = 0, error, flags;
    socklen_t size = sizeof(listens);

    if (getsockopt(address->fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) !=
            0 ||
        !listens)
        return lbx__fault_set(fault, LBX_INVALID,
                              "descriptor %d is no socket that listens",
                              address->fd);
    group->fds[0] = fcntl(address->fd, F_DUPFD_CLOEXEC, 3);
    if (group->fds[0] < 0)
        return socket_fault(fault, group, errno);
    flags = fcntl(group->fds[0], F_GETFL);
    if (flags < 0 || fcntl(group->fds[0], F_SETFL, flags | O_NONBLOCK) != 0)
        return socket_fault(fault, group, errno);
    socket_read_name(group->fds[0], group, &name);
    error = socket_duplicate(group);
    return error ? socket_fault(fault, group, error) : LBX_OK;
}

lbx_status
lbx__socket_listen(const lbx__address *address, lbx__socket_group *group,
                   lbx_fault *fault)
{
    lbx_status status;
    int error;
    size_t i;

    for (i = 0; i < group->count; i++)
        group->fds[i] = -1;
    group->inode = 0;
    group->text[0] = '\0';
    if (address->kind == LBX__ADDRESS_FD) {
        status = socket_open_inherited(address, group, fault);
    } else {
        lbx__address_print(&address->socket, address->size, group->text,
                           sizeof(group->text));
        error = address->kind == LBX__ADDRESS_TCP
                    ? socket_open_tcp(address, group)
                    : socket_open_unix(address, group);
        status = error ? socket_fault(fault, group, error) : LBX_OK;
    }
    if (status != LBX_OK) {
        lbx__socket_close(group);
        lbx__socket_unlink(group);
    }
    return status;
}

void
lbx__socket_close(lbx__socket_group *group)
{
    size_t i;

    for (i = 0; i < group->count; i++) {
        if (group->fds[i] >= 0)
            (void)close(group->fds[i]);
        group->fds[i] = -1;
    }
}

void
lbx__socket_unlink(lbx__socket_group *group)
{
    const char *path = group->text + strlen("unix:");
    struct stat file;

    if (group->inode == 0)
        return;
    if (lstat(path, &file) == 0 && file.st_dev == group->device &&
        file.st_ino == group->inode &&
        file.st_mtim.tv_sec == group->made.tv_sec &&
        file.st_mtim.tv_nsec == group->made.tv_nsec)
        (void)unlink(path);
    group->inode = 0;
}
