/* SPDX-License-Identifier: Apache-2.0 */
/* A million actors: the time to create and end them, the memory they take. */
#include "support/actor_row.h"
#include "support/memory.h"
#include <time.h>

using namespace bench;

namespace
{

/* What takes a peer longer than half a microsecond is done less often. */
uint64_t
children(uint64_t slowness = 1)
{
    return scaled(1000000 / slowness);
}

uint64_t
living_children()
{
    return scaled(300000);
}

struct Child {
    static constexpr const char *name = "child";

    void receive(lbx_context *context, uint64_t number)
    {
        lbx_context_reply(context, message_of(number));
        lbx_context_stop(context);
    }
};

struct StayingChild {
    static constexpr const char *name = "staying-child";

    void receive(lbx_context *context, uint64_t number)
    {
        lbx_context_reply(context, message_of(number));
    }
};

struct Parent {
    static constexpr const char *name = "parent";
    static constexpr uint64_t go = 0; // answers are from 1 up
    Finish *finish;
    const lbx_behaviour *child;
    uint64_t last, made, answers, sum;

    void receive(lbx_context *context, uint64_t number)
    {
        if (number == go) {
            make_chunk(context);
            return;
        }
        sum += number;
        if (++answers == last)
            finish->done(sum);
    }

    void make_chunk(lbx_context *context)
    {
        uint64_t until = std::min(made + chunk, last);
        lbx_props props = LBX_PROPS_INIT;
        lbx_ref ref;

        props.behaviour = child;
        while (made < until) {
            lbx_status status =
                lbx_context_spawn(context, &props, nullptr, &ref);

            if (status != LBX_OK)
                fail("lbx_context_spawn: %s", lbx_status_text(status));
            tell(ref, ++made);
        }
        if (made < last)
            tell_self(context, go);
    }
};

uint64_t
actors_of(lbx_system *system)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    if (lbx_system_stats_read(system, &stats) != LBX_OK)
        fail("no numbers");
    return stats.actors;
}

Sample
our_children(unsigned threads, uint64_t count, bool stay)
{
    lbx_system *system = our_system(threads);
    const lbx_behaviour *child =
        stay ? behaviour_of<StayingChild>() : behaviour_of<Child>();
    Finish finish;
    double before = resident_bytes();
    lbx_ref parent = spawn(system, Parent{&finish, child, count, 0, 0, 0});

    finish.start();
    tell(parent, Parent::go);
    double ns = finish.wait(sum_to(count)) / double(count);
    double bytes = (resident_bytes() - before) / double(count);
    if (stay && actors_of(system) < count)
        fail("not all children are alive");
    for (int i = 0; !stay && actors_of(system) > 1; i++) {
        const timespec moment = {0, 1000000};

        if (i == 5000)
            fail("children did not end");
        nanosleep(&moment, nullptr);
    }
    return stay ? Sample{bytes, ns} : Sample{ns, 0};
}

Row
create()
{
    Row row = actor_row("actor-create",
                        "a parent creates 1 M actors, each gets one message, "
                        "answers and stops, ns per actor",
                        1);

    row.limit = 200;
    row.goal_text += "; at most 200 ns";
    add_threads(row, Side::ours, "letterbox",
                "supervised children with names of their own",
                Threads::one_and_two,
                [](unsigned n) { return our_children(n, children(), false); });
#ifdef HAVE_ERLANG
    add_erlang(row, "erlang", "spawn; no links, no supervisor",
               Threads::one_and_two, "create", "round", [] {
                   return std::vector<uint64_t>{children(2), chunk};
               });
#endif
#ifdef HAVE_CAF
    add_threads(row, Side::peer, "caf-sharing",
                "lazy_init; no links, no supervisor", Threads::one_and_two,
                [](unsigned n) {
                    return caf_create({n, true}, children(10));
                });
#endif
    return row;
}

Row
memory()
{
    Row row = actor_row("actor-memory",
                        "300,000 living actors that have answered one message: "
                        "resident bytes each",
                        1);

    row.unit = "B";
    row.limit = 256;
    row.beside_unit = "ns to create";
    row.goal_text = "less than all peers; at most 256 bytes";
    add_threads(
        row, Side::ours, "letterbox", "no state of their own", Threads::two,
        [](unsigned n) { return our_children(n, living_children(), true); });
#ifdef HAVE_ERLANG
    auto numbers = [] {
        return std::vector<uint64_t>{living_children(), chunk};
    };
    add_erlang(row, "erlang", "heaps of 233 words, the default", Threads::two,
               "create", "memory", numbers);
    add_erlang(row, "erlang-small-heaps", "heaps of 12 words", Threads::two,
               "create", "memory", numbers, "+hms 12");
#endif
#ifdef HAVE_CAF
    add_threads(row, Side::peer, "caf-sharing", "one flag of state",
                Threads::two, [](unsigned n) {
                    return caf_memory({n, true}, living_children());
                });
#endif
    return row;
}

const char *const banner =
    "The parent is an actor: it creates 1,000 children and tells each its\n"
    "number in a handler, tells itself to go on, and adds the answers that\n"
    "arrive meanwhile; the time ends with the last answer. Afterwards it is\n"
    "checked that all have ended (or, for memory, that all are alive). Memory\n"
    "is what the process has more than before, allocator and parent\n"
    "included, on all sides. Erlang creates 500,000 and CAF 100,000 actors, "
    "so\n"
    "that a round ends in time. To steal an actor, CAF walks the other "
    "thread's\n"
    "list from the front; with 60,000 actors and two threads that took 8 s, "
    "so\n"
    "here it shares one queue.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "actors/create", banner, {create, memory});
}
