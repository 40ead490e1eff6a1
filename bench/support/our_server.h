/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our servers as processes: `letterbox serve`, and the same HTTP stack with
 * nothing behind it. Each chooses a port and prints its address when it
 * listens. It ends with the object, by SIGTERM, and with the round.
 */
#ifndef BENCH_SUPPORT_OUR_SERVER_H
#define BENCH_SUPPORT_OUR_SERVER_H

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bench
{

class Server
{
  public:
    /* Returns when it has printed where it listens. */
    explicit Server(std::vector<std::string> command);
    ~Server();
    Server(const Server &) = delete;

    int port() const
    {
        return number;
    }

    pid_t pid() const
    {
        return child;
    }

    int64_t cpu_ns() const; // of all its threads, since it began

  private:
    pid_t child;
    int number;
};

/* `letterbox serve` of a store, on all processors. */
std::vector<std::string> serve_command(const std::string &store_url,
                                       std::vector<std::string> options = {});

/* Each request is answered at once with 200 and no body. */
std::vector<std::string> empty_answer_command();

} // namespace bench

#endif
