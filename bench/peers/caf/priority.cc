/* SPDX-License-Identifier: Apache-2.0 */
/* CAF has two priorities. The urgent queue is served first in each round of
 * the mailbox, with a greater share. */
#include "peers/caf/system.h"
#include <time.h>

namespace bench
{

namespace
{

using Normal = uint64_t; // different types, so that CAF tells them apart
using Urgent = int64_t;
using Go = bool;

constexpr auto high = caf::message_priority::high;

class Worker : public caf::event_based_actor
{
  public:
    Worker(caf::actor_config &config, Finish *end, uint64_t total,
           uint64_t *overtaken)
        : event_based_actor(config), finish(end), last(total), before(overtaken)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](Normal number) {
                *before += open > 0;
                handled(number);
            },
            [this](Urgent number) {
                open--;
                handled(uint64_t(number));
            },
            [this](Go) {
                for (uint64_t i = 0; i < queued; i++)
                    send_next();
            },
        };
    }

  private:
    void handled(uint64_t number)
    {
        sum += number;
        if (++count == last)
            finish->done(sum);
        else if (sent < last)
            send_next();
    }

    void send_next()
    {
        sent++;
        if (sent % urgent_every) {
            send(this, Normal(sent));
        } else {
            open++;
            send<high>(this, Urgent(sent));
        }
    }

    Finish *finish;
    uint64_t last;
    uint64_t *before;
    uint64_t sent = 0, count = 0, sum = 0, open = 0;
};

class Busy : public caf::event_based_actor
{
  public:
    explicit Busy(caf::actor_config &config) : event_based_actor(config)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](Normal number) {
                handled++;
                send(this, number);
            },
            [this](Urgent question) {
                return caf::make_message(question, handled);
            },
            [this](Go) {
                for (uint64_t i = 0; i < queued; i++)
                    send(this, Normal(i));
            },
        };
    }

  private:
    uint64_t handled = 0;
};

class Client : public caf::event_based_actor
{
  public:
    Client(caf::actor_config &config, Finish *end, const caf::actor &to,
           uint64_t questions, uint64_t *handled)
        : event_based_actor(config), finish(end), busy(to), left(questions),
          worked(handled)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](Urgent question, uint64_t handled) {
                if (sum == 0)
                    *worked = handled;
                sum += uint64_t(question);
                if (--left > 0) {
                    send<high>(busy, Urgent(left));
                    return;
                }
                *worked = handled - *worked;
                finish->done(sum);
            },
            [this](Go) { send<high>(busy, Urgent(left)); },
        };
    }

  private:
    Finish *finish;
    caf::actor busy;
    uint64_t left, sum = 0;
    uint64_t *worked;
};

} // namespace

Sample
caf_priority(const CafSetup &setup, uint64_t total)
{
    caf::actor_system &system = caf_system(setup);
    Finish finish;
    uint64_t before = 0;
    auto worker = system.spawn<Worker>(&finish, total, &before);

    finish.start();
    caf::anon_send(worker, Go(true));
    double ns = finish.wait(sum_to(total));
    return {ns / double(total), double(before * urgent_every) / double(total)};
}

Sample
caf_urgent(const CafSetup &setup, uint64_t questions)
{
    caf::actor_system &system = caf_system(setup);
    const timespec moment = {0, 10000000};
    Finish finish;
    uint64_t worked = 0;
    auto busy = system.spawn<Busy>();
    auto client = system.spawn<Client>(&finish, busy, questions, &worked);

    caf::anon_send(busy, Go(true));
    nanosleep(&moment, nullptr);
    finish.start();
    caf::anon_send(client, Go(true));
    double ns = finish.wait(sum_to(questions));
    return {ns / double(questions), double(worked) / double(questions)};
}

} // namespace bench
