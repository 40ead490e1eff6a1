/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server beside us: started on a free port of 127.0.0.1, ended with the
 * round, also when that is killed. Starting it does not count. And a connection
 * to it, over which commands are written ahead of their answers.
 */
#ifndef BENCH_PEERS_DAEMON_H
#define BENCH_PEERS_DAEMON_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace bench
{

/* A port that nobody listens on now. */
int free_port();

class Daemon
{
  public:
    /* Returns when it accepts connections. */
    Daemon(int port, const std::vector<std::string> &command);
    ~Daemon();
    Daemon(const Daemon &) = delete;

    pid_t pid() const
    {
        return child;
    }

  private:
    pid_t child;
};

class Connection
{
  public:
    explicit Connection(int port);
    ~Connection();
    Connection(const Connection &) = delete;

    /* Kept until flush(), which writes all. */
    void write(const std::string &bytes)
    {
        out += bytes;
    }

    void flush();

    /* Up to \r\n, which is taken off; and so many bytes, with their \r\n. */
    std::string line();
    std::string bytes(std::size_t count);

  private:
    void more();

    int fd;
    std::string out, in;
    std::size_t at = 0;
};

} // namespace bench

#endif
