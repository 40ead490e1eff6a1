/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beanstalkd: with a binlog that is synced after each change (-f0), or in
 * memory. A reserve is not logged; a job that is deleted was not leased
 * durably.
 */
#ifndef BENCH_PEERS_BEANSTALKD_H
#define BENCH_PEERS_BEANSTALKD_H

#include "peers/daemon.h"
#include "support/folder.h"
#include "support/harness.h"
#include <memory>

namespace bench
{

class Beanstalkd
{
  public:
    Beanstalkd(bool synced, std::size_t connections)
        : port(free_port()), daemon(port, command(port, synced))
    {
        for (std::size_t i = 0; i < connections; i++)
            lines.push_back(std::make_unique<Connection>(port));
    }

    /* `count` jobs, in turns over the connections, all ahead of the answers. */
    void put(const std::string &body, std::size_t count)
    {
        std::string job = "put 0 0 3600 " + std::to_string(body.size()) +
                          "\r\n" + body + "\r\n";

        ask(count, [&](std::size_t) { return job; });
        answers(count, "INSERTED ", [](std::size_t, const std::string &) {});
    }

    /* Reserves and deletes `count` jobs. */
    void take(std::size_t count)
    {
        std::vector<std::string> ids(count);

        ask(count, [](std::size_t) { return "reserve\r\n"; });
        answers(count, "RESERVED ",
                [&](std::size_t i, const std::string &rest) {
                    std::size_t space = rest.find(' ');

                    ids[i] = rest.substr(0, space);
                    line_of(i).bytes(std::stoul(rest.substr(space + 1)));
                });
        ask(count, [&](std::size_t i) { return "delete " + ids[i] + "\r\n"; });
        answers(count, "DELETED", [](std::size_t, const std::string &) {});
    }

  private:
    static std::vector<std::string> command(int port, bool synced)
    {
        std::vector<std::string> words = {"beanstalkd", "-l", "127.0.0.1", "-p",
                                          std::to_string(port)};

        if (synced)
            words.insert(words.end(),
                         {"-b", fresh_folder("beanstalkd"), "-f0"});
        return words;
    }

    Connection &line_of(std::size_t i)
    {
        return *lines[i % lines.size()];
    }

    template <class Text> void ask(std::size_t count, Text text)
    {
        for (std::size_t i = 0; i < count; i++)
            line_of(i).write(text(i));
        for (std::unique_ptr<Connection> &line : lines)
            line->flush();
    }

    template <class Then>
    void answers(std::size_t count, const std::string &expected, Then then)
    {
        for (std::size_t i = 0; i < count; i++) {
            std::string answer = line_of(i).line();

            if (answer.compare(0, expected.size(), expected) != 0)
                fail("beanstalkd: %s", answer.c_str());
            then(i, answer.substr(expected.size()));
        }
    }

    int port;
    Daemon daemon;
    std::vector<std::unique_ptr<Connection>> lines;
};

} // namespace bench

#endif
