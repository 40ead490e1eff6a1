/* SPDX-License-Identifier: Apache-2.0 */
/* One message under way: between two actors, around a ring, and many such
 * between many. */
#include "support/actor_row.h"

using namespace bench;

namespace
{

constexpr Threads both = Threads::one_and_two;

uint64_t
pingpong_messages()
{
    return scaled(1000000);
}

uint64_t
ring_hops()
{
    return scaled(1000000);
}

uint64_t
pings_each()
{
    return scaled(600000) / big_members;
}

struct Player {
    static constexpr const char *name = "player";
    Finish *finish;
    uint64_t last;
    uint64_t *sum;          // only one of the two runs at any time
    const lbx_ref *partner; // where it will be

    void receive(lbx_context *, uint64_t number)
    {
        *sum += number;
        if (number == last)
            finish->done(*sum);
        else
            tell(*partner, number + 1);
    }
};

Sample
our_pingpong(unsigned threads, uint64_t messages)
{
    lbx_system *system = our_system(threads);
    Finish finish;
    uint64_t sum = 0;
    lbx_ref first, second;

    first = spawn(system, Player{&finish, messages, &sum, &second});
    second = spawn(system, Player{&finish, messages, &sum, &first});
    finish.start();
    tell(first, 1);
    return {finish.wait(sum_to(messages)) / double(messages), 0};
}

struct Member {
    static constexpr const char *name = "member";
    Finish *finish;
    uint64_t *seen; // only one member runs at any time
    const lbx_ref *next;

    void receive(lbx_context *, uint64_t hops)
    {
        ++*seen;
        if (hops == 1)
            finish->done(*seen);
        else
            tell(*next, hops - 1);
    }
};

Sample
our_ring(unsigned threads, uint64_t hops)
{
    lbx_system *system = our_system(threads);
    std::vector<lbx_ref> ring(ring_members);
    Finish finish;
    uint64_t seen = 0;

    for (uint64_t i = 0; i < ring_members; i++)
        ring[i] = spawn(system,
                        Member{&finish, &seen, &ring[(i + 1) % ring_members]});
    finish.start();
    tell(ring[0], hops);
    return {finish.wait(hops) / double(hops), 0};
}

/* What a number is, in its last two bits. */
enum BigMessage : uint64_t {
    ping,
    pong,
    go,
    report,
};

struct Big {
    lbx_ref members[big_members];
    lbx_ref sink;
    uint64_t pings;
    Finish finish, reports;
};

/* Hears that all are done, then asks for what they counted. */
struct Sink {
    static constexpr const char *name = "sink";
    Big *big;
    uint64_t done, answered, reported, sum;

    void receive(lbx_context *, uint64_t message)
    {
        switch (BigMessage(message & 3)) {
        case go:
            if (++done < big_members)
                return;
            big->finish.done(done);
            for (lbx_ref member : big->members)
                tell(member, report);
            break;
        case ping:
            answered += message >> 2;
            break;
        case pong:
            sum += message >> 2;
            if (++reported < big_members)
                return;
            if (answered != big_members * big->pings)
                fail("pings lost or doubled");
            big->reports.done(sum);
            break;
        case report:
            fail("nobody asks the sink");
        }
    }
};

struct Pinger {
    static constexpr const char *name = "pinger";
    Big *big;
    uint64_t me, random, left, answered, sum;

    void receive(lbx_context *context, uint64_t message)
    {
        switch (BigMessage(message & 3)) {
        case ping:
            answered++;
            lbx_context_reply(context, message_of(message | pong));
            break;
        case pong:
            sum += message >> 2;
            left--;
            send_ping();
            break;
        case go:
            send_ping();
            break;
        case report:
            tell(big->sink, answered << 2 | ping);
            tell(big->sink, sum << 2 | pong);
            break;
        }
    }

    void send_ping()
    {
        if (left > 0)
            tell(big->members[other_member(me, &random)], left << 2 | ping);
        else
            tell(big->sink, go);
    }
};

Sample
our_big(unsigned threads, uint64_t pings)
{
    lbx_system *system = our_system(threads);
    Big big;

    big.pings = pings;
    for (uint64_t i = 0; i < big_members; i++)
        big.members[i] = spawn(system, Pinger{&big, i, i + 1, pings, 0, 0});
    big.sink = spawn(system, Sink{&big, 0, 0, 0, 0});
    big.finish.start();
    for (lbx_ref member : big.members)
        tell(member, go);
    double ns = big.finish.wait(big_members);
    big.reports.wait(big_members * sum_to(pings));
    return {ns / double(2 * big_members * pings), 0};
}

Row
pingpong_row()
{
    Row row =
        actor_row("actor-pingpong",
                  "two actors, one message back and forth, ns one way", 1);

    limit_by_prototype(row, 13);
    add_threads(
        row, Side::ours, "letterbox", "lbx_tell() to a known ref", both,
        [](unsigned n) { return our_pingpong(n, pingpong_messages()); });
#ifdef HAVE_ERLANG
    add_erlang(row, "erlang", "sends to a known pid", both, "pingpong", "round",
               [] { return std::vector<uint64_t>{pingpong_messages()}; });
#endif
#ifdef HAVE_CAF
    add_caf(row, "sends to a known actor", both, [](const CafSetup &setup) {
        return caf_pingpong(setup, pingpong_messages());
    });
#endif
    return row;
}

Row
ring_row()
{
    Row row = actor_row("actor-ring",
                        "a ring of 1,000 actors, one token, ns per hop", 1);

    limit_by_prototype(row, 15);
    add_threads(row, Side::ours, "letterbox", "lbx_tell() to a known ref", both,
                [](unsigned n) { return our_ring(n, ring_hops()); });
#ifdef HAVE_ERLANG
    add_erlang(row, "erlang", "sends to a known pid", both, "ring", "round",
               [] {
                   return std::vector<uint64_t>{ring_members, ring_hops()};
               });
#endif
#ifdef HAVE_CAF
    add_caf(row, "sends to a known actor", both,
            [](const CafSetup &setup) { return caf_ring(setup, ring_hops()); });
#endif
    return row;
}

Row
big_row()
{
    Row row = actor_row("actor-big",
                        "60 actors, each pings random others and waits for "
                        "the pong, ns per message",
                        1);

    limit_by_prototype(row, 30);
    add_threads(row, Side::ours, "letterbox",
                "answers with lbx_context_reply()", both,
                [](unsigned n) { return our_big(n, pings_each()); });
#ifdef HAVE_ERLANG
    add_erlang(row, "erlang", "pings carry the sender's pid", both, "big",
               "round", [] {
                   return std::vector<uint64_t>{big_members, pings_each()};
               });
#endif
#ifdef HAVE_CAF
    add_caf(row, "answers by returning a value", both,
            [](const CafSetup &setup) { return caf_big(setup, pings_each()); });
#endif
    return row;
}

const char *const banner =
    "Messages are numbers, and each side adds or counts all of them. Erlang:\n"
    "plain processes, one receive each. CAF: event-based actors; a message of\n"
    "each type has its handler. Ours: one receive function per actor. All\n"
    "with two threads for actors, and with one.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "actors/messages", banner,
                    {pingpong_row, ring_row, big_row});
}
