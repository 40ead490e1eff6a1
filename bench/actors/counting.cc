/* SPDX-License-Identifier: Apache-2.0 */
/* Millions of messages into one actor, from one producer and from several. */
#include "support/actor_row.h"

using namespace bench;

namespace
{

constexpr uint64_t messages = 10000000;

struct Counter {
    static constexpr const char *name = "counter";
    Finish *finish;
    uint64_t left, sum;

    void receive(lbx_context *, uint64_t number)
    {
        sum += number;
        if (--left == 0)
            finish->done(sum);
    }
};

struct Producer {
    static constexpr const char *name = "producer";
    lbx_ref counter;
    uint64_t last, sent;

    void receive(lbx_context *context, uint64_t go)
    {
        uint64_t until = std::min(sent + chunk, last);

        while (sent < until)
            tell(counter, ++sent);
        if (sent < last)
            tell_self(context, go);
    }
};

Sample
our_counting(unsigned threads, uint64_t producers, uint64_t each)
{
    // As many as a producer sends in a turn. CAF's actors never yield unless
    // told to, Erlang's after 4,000 reductions.
    lbx_system *system = our_system(threads, int64_t(chunk));
    Finish finish;
    lbx_ref counter = spawn(system, Counter{&finish, producers * each, 0});
    std::vector<lbx_ref> makers;

    for (uint64_t i = 0; i < producers; i++)
        makers.push_back(spawn(system, Producer{counter, each, 0}));
    finish.start();
    for (lbx_ref maker : makers)
        tell(maker, 0);
    return {finish.wait(producers * sum_to(each)) / double(producers * each),
            0};
}

Row
counting(const char *name, const char *workload, uint64_t producers,
         double prototype_ns)
{
    auto each = [=] { return scaled(messages) / producers; };
    Row row = actor_row(name, workload, 3);

    limit_by_prototype(row, prototype_ns);
    add_threads(row, Side::ours, "letterbox",
                "unbounded mailbox; tells itself to go on after 1,000",
                Threads::one_and_two,
                [=](unsigned n) { return our_counting(n, producers, each()); });
#ifdef HAVE_ERLANG
    add_erlang(row, "erlang", "the counter's messages are off its heap",
               Threads::one_and_two, "counting", "round", [=] {
                   return std::vector<uint64_t>{producers, each()};
               });
#endif
#ifdef HAVE_CAF
    add_caf(row, "unbounded mailbox; tells itself to go on after 1,000",
            Threads::one_and_two, [=](const CafSetup &setup) {
                return caf_counting(setup, producers, each());
            });
#endif
    return row;
}

const char *const banner =
    "Producers are actors. Those of ours and CAF's send 1,000 messages in a\n"
    "handler and then tell themselves to go on; Erlang's send in a loop that\n"
    "the virtual machine interrupts. The counter adds all numbers; the time\n"
    "ends when it has handled the last. Mailboxes have no limit on any side.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(
        argc, argv, "actors/counting", banner,
        {
            [] {
                return counting("actor-counting",
                                "10 M messages from one actor to another", 1,
                                15);
            },
            [] {
                return counting("actor-pressure",
                                "10 M messages from four actors to one", 4, 26);
            },
        });
}
