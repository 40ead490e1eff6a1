/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redis as a queue, the usual way: RPUSH; BLMOVE to a list of those being
 * worked on; LREM from there. With an append-only file that is synced before
 * each answer (appendfsync always), or in memory. Nothing comes back by itself
 * when a worker dies. Commands are pipelined on one connection.
 */
#ifndef BENCH_PEERS_REDIS_H
#define BENCH_PEERS_REDIS_H

#include "peers/daemon.h"
#include "support/folder.h"
#include "support/harness.h"

namespace bench
{

class Redis
{
  public:
    explicit Redis(bool synced)
        : port(free_port()), daemon(port, command(port, synced)), line(port)
    {
    }

    void put(const std::string &body, std::size_t count)
    {
        std::string push = request({"RPUSH", "queue", body});

        for (std::size_t i = 0; i < count; i++)
            line.write(push);
        line.flush();
        for (std::size_t i = 0; i < count; i++)
            number();
    }

    void take(std::size_t count)
    {
        std::string move =
            request({"BLMOVE", "queue", "working", "LEFT", "RIGHT", "1"});
        std::vector<std::string> bodies(count);

        for (std::size_t i = 0; i < count; i++)
            line.write(move);
        line.flush();
        for (std::string &body : bodies)
            body = text();
        for (std::string &body : bodies)
            line.write(request({"LREM", "working", "1", body}));
        line.flush();
        for (std::size_t i = 0; i < count; i++)
            if (number() != 1)
                fail("redis has lost one");
    }

  private:
    static std::vector<std::string> command(int port, bool synced)
    {
        return {"redis-server",
                "--bind",
                "127.0.0.1",
                "--port",
                std::to_string(port),
                "--save",
                "",
                "--dir",
                fresh_folder("redis"),
                "--appendonly",
                synced ? "yes" : "no",
                "--appendfsync",
                "always",
                "--auto-aof-rewrite-percentage",
                "0"};
    }

    static std::string request(const std::vector<std::string> &words)
    {
        std::string text = "*" + std::to_string(words.size()) + "\r\n";

        for (const std::string &word : words)
            text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
        return text;
    }

    long number()
    {
        std::string answer = line.line();

        if (answer.empty() || answer[0] != ':')
            fail("redis: %s", answer.c_str());
        return std::stol(answer.substr(1));
    }

    std::string text()
    {
        std::string answer = line.line();

        if (answer.size() < 2 || answer[0] != '$' || answer[1] == '-')
            fail("redis: %s", answer.c_str());
        return line.bytes(std::stoul(answer.substr(1)));
    }

    int port;
    Daemon daemon;
    Connection line;
};

} // namespace bench

#endif
