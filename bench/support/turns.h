/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages through all of their life: each connection receives one, deletes it
 * and sends another, so that as many stay queued as there were.
 */
#ifndef BENCH_SUPPORT_TURNS_H
#define BENCH_SUPPORT_TURNS_H

#include "support/serve_row.h"

namespace bench
{

class Turns
{
  public:
    Turns(const Sqs &dialect, const std::string &queue_name,
          const std::string &body, std::size_t connections)
        : sqs(dialect), queue(queue_name), receive(sqs.receive(queue_name)),
          send(sqs.send(queue_name, body)), lines(connections)
    {
    }

    /* For so long; what was begun is finished the next time. The cost is that
     * of a request. */
    Sample drive(HttpLoad &load, int64_t ns)
    {
        return bench::drive(
            load, ns,
            [this](std::size_t i) -> const std::string & { return next(i); },
            [this](std::size_t i, std::string_view answer) {
                answered(i, answer);
            });
    }

  private:
    enum Step {
        receives,
        removes,
        sends
    };

    struct Line {
        Step step = receives;
        std::string remove;
    };

    const std::string &next(std::size_t i)
    {
        switch (lines[i].step) {
        case receives:
            return receive;
        case removes:
            return lines[i].remove;
        default:
            return send;
        }
    }

    void answered(std::size_t i, std::string_view answer)
    {
        Line &line = lines[i];

        if (line.step == receives) {
            std::string receipt = sqs.receipt_of(answer);

            if (receipt.empty())
                fail("nothing received: %.*s", int(answer.size()),
                     answer.data());
            line.remove = sqs.remove(queue, receipt);
        }
        line.step = line.step == receives  ? removes
                    : line.step == removes ? sends
                                           : receives;
    }

    const Sqs &sqs;
    const std::string queue, receive, send;
    std::vector<Line> lines;
};

} // namespace bench

#endif
