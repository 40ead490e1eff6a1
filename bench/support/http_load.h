/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep-alive connections to an HTTP server on 127.0.0.1, driven by one thread:
 * each has at most one request on its way. The client shares the machine with
 * the server, so it does little: requests are bytes that were made before, and
 * of an answer it reads the status and the length. An answer other than 200
 * ends the run.
 */
#ifndef BENCH_SUPPORT_HTTP_LOAD_H
#define BENCH_SUPPORT_HTTP_LOAD_H

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench
{

class HttpLoad
{
  public:
    /* A request's bytes; null: this connection has no more. */
    using Next = std::function<const std::string *(std::size_t connection)>;
    using Answered =
        std::function<void(std::size_t connection, std::string_view body)>;

    HttpLoad(int port, std::size_t connections);
    ~HttpLoad();
    HttpLoad(const HttpLoad &) = delete;

    std::size_t size() const
    {
        return lines.size();
    }

    void send(std::size_t connection, const std::string &request);

    /* Passes on the answers that are there, after waiting for one for at most
     * so long; -1: as long as it takes. */
    void wait(int timeout_ms, const Answered &answered);

    /* A closed loop: each answer is followed by the connection's next request,
     * until there is none and all are answered. */
    void run(const Next &next, const Answered &answered);

    /* One request by the first connection, and its answer's body. */
    std::string call(const std::string &request);

  private:
    struct Line {
        int fd;
        std::string in;
    };

    void read(std::size_t connection, const Answered &answered);

    int epoll;
    std::vector<Line> lines;
};

} // namespace bench

#endif
