/* SPDX-License-Identifier: Apache-2.0 */
/* One message under way: two actors, a ring, and many to many. */
#include "peers/caf/system.h"

namespace bench
{

namespace
{

class Player : public caf::event_based_actor
{
  public:
    Player(caf::actor_config &config, Finish *end, uint64_t last_number,
           uint64_t *both_sums)
        : event_based_actor(config), finish(end), last(last_number),
          sum(both_sums)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](uint64_t number) {
                *sum += number;
                if (number == last)
                    finish->done(*sum);
                else
                    send(partner, number + 1);
            },
            [this](const caf::actor &other) { partner = other; },
        };
    }

  private:
    Finish *finish;
    uint64_t last;
    uint64_t *sum; // only one of the two runs at any time
    caf::actor partner;
};

class Member : public caf::event_based_actor
{
  public:
    Member(caf::actor_config &config, Finish *end, uint64_t *hops_seen)
        : event_based_actor(config), finish(end), seen(hops_seen)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](uint64_t hops) {
                ++*seen;
                if (hops == 1)
                    finish->done(*seen);
                else
                    send(next, hops - 1);
            },
            [this](const caf::actor &other) { next = other; },
        };
    }

  private:
    Finish *finish;
    uint64_t *seen; // only one member runs at any time
    caf::actor next;
};

struct Big {
    std::vector<caf::actor> members;
    uint64_t pings;
    Finish finish;
    caf::actor sink;
};

using Ping = uint64_t; // different types, so that CAF tells them apart
using Pong = int64_t;
using Go = bool;

class Pinger : public caf::event_based_actor
{
  public:
    Pinger(caf::actor_config &config, Big *all, uint64_t number)
        : event_based_actor(config), big(all), me(number), random(number + 1),
          left(all->pings)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](Ping number) {
                answered++;
                return Pong(number);
            },
            [this](Pong number) {
                sum += uint64_t(number);
                left--;
                ping();
            },
            [this](Go start) {
                if (start)
                    ping();
                else
                    send(big->sink, sum, Pong(answered));
            },
        };
    }

  private:
    void ping()
    {
        if (left > 0)
            send(big->members[other_member(me, &random)], Ping(left));
        else
            send(big->sink, Go(true));
    }

    Big *big;
    uint64_t me, random, left;
    uint64_t answered = 0, sum = 0;
};

/* Hears that all are done, then asks for what they counted. */
class Sink : public caf::event_based_actor
{
  public:
    Sink(caf::actor_config &config, Big *all, Finish *reported)
        : event_based_actor(config), big(all), reports(reported)
    {
    }

    caf::behavior make_behavior() override
    {
        return {
            [this](Go) {
                if (++done < big_members)
                    return;
                big->finish.done(done);
                for (const caf::actor &member : big->members)
                    send(member, Go(false));
            },
            [this](uint64_t sum, Pong answered) {
                total += sum;
                pings += uint64_t(answered);
                if (++reported < big_members)
                    return;
                if (pings != big_members * big->pings)
                    fail("pings lost or doubled");
                reports->done(total);
            },
        };
    }

  private:
    Big *big;
    Finish *reports;
    uint64_t done = 0, reported = 0, total = 0, pings = 0;
};

} // namespace

Sample
caf_pingpong(const CafSetup &setup, uint64_t messages)
{
    caf::actor_system &system = caf_system(setup);
    Finish finish;
    uint64_t sum = 0;
    auto first = system.spawn<Player>(&finish, messages, &sum);
    auto second = system.spawn<Player>(&finish, messages, &sum);

    caf::anon_send(first, second);
    caf::anon_send(second, first);
    finish.start();
    caf::anon_send(first, uint64_t(1));
    return {finish.wait(sum_to(messages)) / double(messages), 0};
}

Sample
caf_ring(const CafSetup &setup, uint64_t hops)
{
    caf::actor_system &system = caf_system(setup);
    std::vector<caf::actor> ring;
    Finish finish;
    uint64_t seen = 0;

    for (uint64_t i = 0; i < ring_members; i++)
        ring.push_back(system.spawn<Member>(&finish, &seen));
    for (uint64_t i = 0; i < ring_members; i++)
        caf::anon_send(ring[i], ring[(i + 1) % ring_members]);
    finish.start();
    caf::anon_send(ring[0], hops);
    return {finish.wait(hops) / double(hops), 0};
}

Sample
caf_big(const CafSetup &setup, uint64_t pings)
{
    caf::actor_system &system = caf_system(setup);
    Finish reports;
    Big big;

    big.pings = pings;
    for (uint64_t i = 0; i < big_members; i++)
        big.members.push_back(system.spawn<Pinger>(&big, i));
    big.sink = system.spawn<Sink>(&big, &reports);
    big.finish.start();
    for (const caf::actor &member : big.members)
        caf::anon_send(member, Go(true));
    double ns = big.finish.wait(big_members);
    reports.wait(big_members * sum_to(pings));
    return {ns / double(2 * big_members * pings), 0};
}

} // namespace bench
