/* SPDX-License-Identifier: Apache-2.0 */
/* Urgent messages to an actor that always has 1,000 ordinary ones queued. */
#include "support/actor_row.h"
#include <time.h>

using namespace bench;

namespace
{

uint64_t
mixed_messages()
{
    return scaled(200000);
}

/* Peers take up to a millisecond for one. */
uint64_t
questions(uint64_t slowness = 1)
{
    return scaled(30000 / slowness);
}

constexpr int32_t urgent = 0, ordinary = LBX_PRIORITY_DEFAULT;

/* Sends itself a message for each that it handles. Numbers that urgent_every
 * divides are urgent; 0 begins. */
struct Worker {
    static constexpr const char *name = "worker";
    Finish *finish;
    uint64_t *before; // ordinary messages that went before an urgent one
    uint64_t last, sent, count, sum, open;

    void receive(lbx_context *context, uint64_t number)
    {
        if (number == 0) {
            while (sent < queued)
                send_next(context);
            return;
        }
        if (number % urgent_every == 0)
            open--;
        else
            *before += open > 0;
        sum += number;
        if (++count == last)
            finish->done(sum);
        else if (sent < last)
            send_next(context);
    }

    void send_next(lbx_context *context)
    {
        bool is_urgent = ++sent % urgent_every == 0;

        open += is_urgent;
        tell_with_priority(lbx_context_self(context), sent,
                           is_urgent ? urgent : ordinary);
    }
};

Sample
our_priority(unsigned threads, uint64_t total)
{
    lbx_system *system = our_system(threads);
    Finish finish;
    uint64_t before = 0;
    lbx_ref worker = spawn(system, Worker{&finish, &before, total, 0, 0, 0, 0},
                           LBX_KIND_UNBOUNDED_PRIORITY);

    finish.start();
    tell(worker, 0);
    double ns = finish.wait(sum_to(total));
    return {ns / double(total), double(before * urgent_every) / double(total)};
}

/* Questions are odd numbers, its own messages even ones. An answer is the
 * question above bit 40, and below how many ordinary messages it has handled
 * so far. */
struct Busy {
    static constexpr const char *name = "busy";
    static constexpr uint64_t go = 1;
    uint64_t handled;

    void receive(lbx_context *context, uint64_t message)
    {
        lbx_ref self = lbx_context_self(context);

        if (message == go) {
            for (uint64_t i = 0; i < queued; i++)
                tell_with_priority(self, i << 1, ordinary);
        } else if (message & 1) {
            lbx_context_reply(context,
                              message_of(message >> 1 << 40 | handled));
        } else {
            handled++;
            tell_with_priority(self, message, ordinary);
        }
    }
};

struct Client {
    static constexpr const char *name = "client";
    static constexpr uint64_t go = 0;
    Finish *finish;
    lbx_ref busy;
    uint64_t left, sum;
    uint64_t *worked; // by the busy one, between the first and last answer

    void receive(lbx_context *, uint64_t answer)
    {
        uint64_t handled = answer & ((uint64_t(1) << 40) - 1);

        if (answer != go) {
            if (sum == 0)
                *worked = handled;
            sum += answer >> 40;
            left--;
        }
        if (left > 0) {
            tell_with_priority(busy, left << 1 | 1, urgent);
            return;
        }
        *worked = handled - *worked;
        finish->done(sum);
    }
};

Sample
our_urgent(unsigned threads, uint64_t count)
{
    lbx_system *system = our_system(threads);
    const timespec moment = {0, 10000000};
    Finish finish;
    uint64_t worked = 0;
    lbx_ref busy = spawn(system, Busy{0}, LBX_KIND_UNBOUNDED_PRIORITY);
    lbx_ref client = spawn(system, Client{&finish, busy, count, 0, &worked});

    tell(busy, Busy::go);
    nanosleep(&moment, nullptr);
    finish.start();
    tell(client, Client::go);
    double ns = finish.wait(sum_to(count));
    return {ns / double(count), double(worked) / double(count)};
}

Row
priority()
{
    Row row = actor_row("actor-priority",
                        "an actor with 1,000 messages queued, every 16th "
                        "urgent, ns per message",
                        1);

    row.beside_unit = "went before an urgent one";
    row.beside_goal = 1;
    row.goal_text += "; urgent ones are handled next";
    add_threads(row, Side::ours, "letterbox", "a priority mailbox",
                Threads::one_and_two,
                [](unsigned n) { return our_priority(n, mixed_messages()); });
#ifdef HAVE_ERLANG
    auto numbers = [] {
        return std::vector<uint64_t>{queued, mixed_messages(), urgent_every};
    };
    add_erlang(row, "erlang-selective", "selective receive",
               Threads::one_and_two, "priority", "selective", numbers);
    add_erlang(row, "erlang-sorting", "two queues of the process's own",
               Threads::one_and_two, "priority", "sorted", numbers);
#endif
#ifdef HAVE_CAF
    add_caf(row, "two priorities; urgent ones get a greater share",
            Threads::one_and_two, [](const CafSetup &setup) {
                return caf_priority(setup, mixed_messages());
            });
#endif
    return row;
}

Row
urgent_row()
{
    Row row = actor_row("actor-urgent",
                        "an urgent question to an actor with 1,000 messages "
                        "queued: ns until the answer is handled",
                        1);

    row.beside_unit = "ordinary messages an answer";
    add_threads(row, Side::ours, "letterbox", "a priority mailbox",
                Threads::two,
                [](unsigned n) { return our_urgent(n, questions()); });
#ifdef HAVE_ERLANG
    auto numbers = [] { return std::vector<uint64_t>{queued, questions(10)}; };
    add_erlang(row, "erlang-selective", "selective receive", Threads::two,
               "priority", "urgent_selective", numbers);
    add_erlang(row, "erlang-sorting", "two queues of the process's own",
               Threads::two, "priority", "urgent_sorted", numbers);
#endif
#ifdef HAVE_CAF
    add_caf(
        row, "two priorities; urgent ones get a greater share", Threads::two,
        [](const CafSetup &setup) { return caf_urgent(setup, questions(10)); });
#endif
    return row;
}

const char *const banner =
    "The busy actor sends itself one message for each that it handles, so\n"
    "that 1,000 are always queued. Ours: a priority mailbox (any 32-bit\n"
    "priority; here two are used). CAF: its two priorities, which are shares,\n"
    "not an order. Erlang has no priorities: selective receive, which looks\n"
    "through the whole mailbox for an urgent one, and a process that sorts\n"
    "what has arrived into two queues.";

} // namespace

int
main(int argc, char **argv)
{
    return run_rows(argc, argv, "actors/priority", banner,
                    {priority, urgent_row});
}
