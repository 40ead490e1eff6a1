/* SPDX-License-Identifier: Apache-2.0 */
#include "support/http_load.h"
#include "support/harness.h"
#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench
{

namespace
{

constexpr int most_events = 256;

int
connect_to(int port)
{
    sockaddr_in address = {};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;

    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 ||
        connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)))
        fail("cannot connect to port %d: %s", port, std::strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

std::size_t
content_length(std::string_view head)
{
    static const char name[] = "\r\ncontent-length:";

    for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;
         at = head.find("\r\n", at + 2))
        if (strncasecmp(head.data() + at, name, sizeof(name) - 1) == 0)
            return std::strtoul(head.data() + at + sizeof(name) - 1, nullptr,
                                10);
    fail("an answer without a length: %.*s", int(head.size()), head.data());
}

} // namespace

HttpLoad::HttpLoad(int port, std::size_t connections)
    : epoll(epoll_create1(EPOLL_CLOEXEC)), lines(connections)
{
    for (std::size_t i = 0; i < connections; i++) {
        epoll_event event = {};

        lines[i].fd = connect_to(port);
        event.events = EPOLLIN;
        event.data.u64 = i;
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, lines[i].fd, &event))
            fail("epoll_ctl");
    }
}

HttpLoad::~HttpLoad()
{
    for (Line &line : lines)
        close(line.fd);
    close(epoll);
}

/* A request always fits into the socket: the one before it was answered. */
void
HttpLoad::send(std::size_t connection, const std::string &request)
{
    if (::send(lines[connection].fd, request.data(), request.size(),
               MSG_NOSIGNAL) != ssize_t(request.size()))
        fail("cannot send a request: %s", std::strerror(errno));
}

void
HttpLoad::read(std::size_t connection, const Answered &answered)
{
    std::string &in = lines[connection].in;
    char buffer[16384];
    ssize_t part =
        recv(lines[connection].fd, buffer, sizeof(buffer), MSG_DONTWAIT);

    if (part <= 0)
        fail("the server has closed a connection");
    // Most answers come in one piece, and need no copy.
    std::string_view all(buffer, std::size_t(part));
    if (!in.empty()) {
        in.append(all);
        all = in;
    }
    std::size_t head = all.find("\r\n\r\n");
    std::size_t size = 0;
    if (head != std::string_view::npos)
        size = head + 4 + content_length(all.substr(0, head + 2));
    if (size == 0 || all.size() < size) {
        if (in.empty())
            in = all;
        return;
    }
    if (all.size() > size || all.substr(0, 12) != "HTTP/1.1 200")
        fail("not the answer of one request: %.*s", int(all.size()),
             all.data());
    std::string_view body = all.substr(head + 4);
    if (in.empty()) {
        answered(connection, body);
        return;
    }
    std::string whole;
    whole.swap(in); // the answer's end may be the next one's beginning
    answered(connection, std::string_view(whole).substr(head + 4));
}

void
HttpLoad::wait(int timeout_ms, const Answered &answered)
{
    epoll_event events[most_events];
    int count = epoll_wait(epoll, events, most_events, timeout_ms);

    if (count < 0 && errno != EINTR)
        fail("epoll_wait");
    for (int i = 0; i < count; i++)
        read(std::size_t(events[i].data.u64), answered);
}

void
HttpLoad::run(const Next &next, const Answered &answered)
{
    std::size_t away = 0;

    for (std::size_t i = 0; i < lines.size(); i++)
        if (const std::string *request = next(i)) {
            send(i, *request);
            away++;
        }
    while (away > 0)
        wait(-1, [&](std::size_t i, std::string_view body) {
            answered(i, body);
            if (const std::string *request = next(i))
                send(i, *request);
            else
                away--;
        });
}

std::string
HttpLoad::call(const std::string &request)
{
    std::string answer;
    bool is_there = false;

    send(0, request);
    while (!is_there)
        wait(-1, [&](std::size_t, std::string_view body) {
            answer = body;
            is_there = true;
        });
    return answer;
}

} // namespace bench
