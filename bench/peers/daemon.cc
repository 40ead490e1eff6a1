/* SPDX-License-Identifier: Apache-2.0 */
#include "peers/daemon.h"
#include "support/harness.h"
#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace bench
{

namespace
{

sockaddr_in
address_of(int port)
{
    sockaddr_in address = {};

    address.sin_family = AF_INET;
    address.sin_port = htons(uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* -1: nobody listens there. */
int
try_connect(int port)
{
    sockaddr_in address = address_of(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0)
        fail("socket");
    if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address))) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

[[noreturn]] void
become(std::vector<std::string> words)
{
    std::vector<char *> arguments;
    int nothing = open("/dev/null", O_RDWR);

    for (std::string &word : words)
        arguments.push_back(&word[0]);
    arguments.push_back(nullptr);
    for (int fd = 0; fd < 3; fd++)
        dup2(nothing, fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // it does not outlive the round
    execvp(arguments[0], arguments.data());
    _exit(127);
}

} // namespace

int
free_port()
{
    sockaddr_in address = address_of(0);
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 ||
        bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) ||
        getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size))
        fail("no free port");
    close(fd);
    return ntohs(address.sin_port);
}

Daemon::Daemon(int port, const std::vector<std::string> &command)
{
    const timespec moment = {0, 5000000};

    child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0)
        become(command);
    for (int i = 0; i < 6000; i++) {
        int fd = try_connect(port);

        if (fd >= 0) {
            close(fd);
            return;
        }
        if (waitpid(child, nullptr, WNOHANG) == child)
            fail("%s does not start", command[0].c_str());
        nanosleep(&moment, nullptr);
    }
    fail("%s does not listen", command[0].c_str());
}

Daemon::~Daemon()
{
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

Connection::Connection(int port) : fd(try_connect(port))
{
    if (fd < 0)
        fail("no connection");
}

Connection::~Connection()
{
    close(fd);
}

/* All commands are written before an answer is read. The answers are small
 * enough to lie in the socket meanwhile. */
void
Connection::flush()
{
    for (std::size_t done = 0; done < out.size();) {
        ssize_t part = ::write(fd, out.data() + done, out.size() - done);

        if (part <= 0)
            fail("the server has gone");
        done += std::size_t(part);
    }
    out.clear();
}

void
Connection::more()
{
    char buffer[65536];
    ssize_t part = read(fd, buffer, sizeof(buffer));

    if (part <= 0)
        fail("the server has gone");
    in.erase(0, at);
    at = 0;
    in.append(buffer, std::size_t(part));
}

std::string
Connection::line()
{
    std::size_t end;

    while ((end = in.find("\r\n", at)) == std::string::npos)
        more();
    std::string text = in.substr(at, end - at);
    at = end + 2;
    return text;
}

std::string
Connection::bytes(std::size_t count)
{
    while (in.size() - at < count + 2)
        more();
    std::string text = in.substr(at, count);
    at += count + 2;
    return text;
}

} // namespace bench
