/* SPDX-License-Identifier: Apache-2.0 */
/* Producers and one counter. */
#include "peers/caf/system.h"

namespace bench
{

namespace
{

class Counter : public caf::event_based_actor
{
  public:
    Counter(caf::actor_config &config, Finish *end, uint64_t total)
        : event_based_actor(config), finish(end), left(total)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](uint64_t number) {
                sum += number;
                if (--left == 0)
                    finish->done(sum);
            },
        };
    }

  private:
    Finish *finish;
    uint64_t left, sum = 0;
};

class Producer : public caf::event_based_actor
{
  public:
    Producer(caf::actor_config &config, const caf::actor &to, uint64_t each)
        : event_based_actor(config), counter(to), last(each)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](bool go) {
                uint64_t until = std::min(sent + chunk, last);

                while (sent < until)
                    send(counter, ++sent);
                if (sent < last)
                    send(this, go);
            },
        };
    }

  private:
    caf::actor counter;
    uint64_t last, sent = 0;
};

} // namespace

Sample
caf_counting(const CafSetup &setup, uint64_t producers, uint64_t each)
{
    caf::actor_system &system = caf_system(setup);
    Finish finish;
    auto counter = system.spawn<Counter>(&finish, producers * each);
    std::vector<caf::actor> makers;

    for (uint64_t i = 0; i < producers; i++)
        makers.push_back(system.spawn<Producer>(counter, each));
    finish.start();
    for (const caf::actor &maker : makers)
        caf::anon_send(maker, true);
    return {finish.wait(producers * sum_to(each)) / double(producers * each),
            0};
}

} // namespace bench
