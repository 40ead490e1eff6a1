/* SPDX-License-Identifier: Apache-2.0 */
#include "net/address.h"

#include "base/fault.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

/* Decimal digits, all of the text, at most `max`. */
static bool
address_number(const char *text, uint32_t max, uint32_t *ret)
{
    uint32_t number = 0;

    if (*text == '\0')
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        number = number * 10 + (uint32_t)(*text - '0');
        if (number > max)
            return false;
    }
    *ret = number;
    return true;
}

static lbx_status
address_parse_unix(const char *path, lbx__address *ret, lbx_fault *fault)
{
    struct sockaddr_un *un = (struct sockaddr_un *)(void *)&ret->socket;
    size_t size = strlen(path);
    char shown[LBX__FAULT_PATH_BYTES];

    if (size == 0)
        return lbx__fault_set(fault, LBX_INVALID,
                              "there is no path behind 'unix:'");
    if (size >= sizeof(un->sun_path))
        return lbx__fault_set(fault, LBX_INVALID,
                              "'%s' is too long for a socket: %zu bytes of at "
                              "most %zu",
                              lbx__fault_path(path, shown), size,
                              sizeof(un->sun_path) - 1);
    ret->kind = LBX__ADDRESS_UNIX;
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, size + 1);
    ret->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size + 1);
    return LBX_OK;
}

static bool
address_parse_host4(const char *host, uint16_t port, lbx__address *ret)
{
    struct sockaddr_in *in = (struct sockaddr_in *)(void *)&ret->socket;

    if (strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    ret->size = sizeof(*in);
    return inet_pton(AF_INET, host, &in->sin_addr) == 1;
}

static bool
address_parse_host6(const char *host, uint16_t port, lbx__address *ret)
{
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)(void *)&ret->socket;

    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    ret->size = sizeof(*in6);
    return inet_pton(AF_INET6, host, &in6->sin6_addr) == 1;
}

/* HOST:PORT, where an IPv6 host stands in brackets. */
static lbx_status
address_parse_tcp(const char *text, lbx__address *ret, lbx_fault *fault)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2], quoted[LBX__FAULT_QUOTED_BYTES];
    size_t size = colon ? (size_t)(colon - text) : 0;
    uint32_t port;
    bool good;

    lbx__fault_quote(text, quoted);
    if (!colon || (text[0] == '[' && text[size - (size > 0)] != ']'))
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s has no port: write it as 127.0.0.1:9324",
                              quoted);
    if (!address_number(colon + 1, 65535, &port))
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s: the port is a number from 0 to 65535",
                              quoted);
    ret->kind = LBX__ADDRESS_TCP;
    good = size > 0 && size < sizeof(host);
    if (good) {
        bool is_bracketed = text[0] == '[';

        size -= is_bracketed ? 2 : 0;
        memcpy(host, text + is_bracketed, size);
        host[size] = '\0';
        good = is_bracketed ? address_parse_host6(host, (uint16_t)port, ret)
                            : address_parse_host4(host, (uint16_t)port, ret);
    }
    if (!good)
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s is no address: use an IPv4 address, an IPv6 "
                              "address in brackets, or localhost, and a port",
                              quoted);
    return LBX_OK;
}

lbx_status
lbx__address_parse(const char *text, lbx__address *ret, lbx_fault *fault)
{
    lbx__address address = {.fd = -1};
    lbx_status status;
    uint32_t fd;

    if (strncmp(text, "unix:", 5) == 0) {
        status = address_parse_unix(text + 5, &address, fault);
    } else if (strncmp(text, "fd:", 3) == 0) {
        if (!address_number(text + 3, 1 << 20, &fd))
            return lbx__fault_set(fault, LBX_INVALID,
                                  "there is no descriptor's number behind "
                                  "'fd:'");
        address.kind = LBX__ADDRESS_FD;
        address.fd = (int)fd;
        status = LBX_OK;
    } else {
        status = address_parse_tcp(text, &address, fault);
    }
    if (status == LBX_OK)
        *ret = address;
    return status;
}

static void
address_print_unix(const struct sockaddr_storage *socket, socklen_t length,
                   char *ret, size_t size)
{
    const struct sockaddr_un *un = (const void *)socket;
    size_t before = offsetof(struct sockaddr_un, sun_path), path = 0;

    // The kernel's length may or may not count a NUL; abstract names, which
    // begin with one, are not shown.
    if (length > before)
        path = strnlen(un->sun_path, length - before);
    if (path + sizeof("unix:") > size)
        path = 0;
    (void)snprintf(ret, size, "unix:%.*s", (int)path, un->sun_path);
}

void
lbx__address_print(const struct sockaddr_storage *socket, socklen_t length,
                   char *ret, size_t size)
{
    const struct sockaddr_in *in = (const void *)socket;
    const struct sockaddr_in6 *in6 = (const void *)socket;
    char host[INET6_ADDRSTRLEN];

    if (socket->ss_family == AF_INET) {
        (void)inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
        (void)snprintf(ret, size, "%s:%u", host, ntohs(in->sin_port));
    } else if (socket->ss_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
        (void)snprintf(ret, size, "[%s]:%u", host, ntohs(in6->sin6_port));
    } else {
        address_print_unix(socket, length, ret, size);
    }
}

bool
lbx__address_is_local(const struct sockaddr_storage *socket)
{
    const struct sockaddr_in *in = (const void *)socket;
    const struct sockaddr_in6 *in6 = (const void *)socket;

    if (socket->ss_family == AF_INET)
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    if (socket->ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
               (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) &&
                in6->sin6_addr.s6_addr[12] == 127);
    return true;
}
