/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short ways to add contestants to a row of actors; everything such a program
 * includes. All sides run with two threads for actors, and where that makes
 * sense with one as well: some workloads have nothing to do for a second core,
 * and everyone is judged by what suits it best.
 */
#ifndef BENCH_SUPPORT_ACTOR_ROW_H
#define BENCH_SUPPORT_ACTOR_ROW_H

#include "support/actor_shapes.h"
#include "support/harness.h"
#include "support/our_actors.h"
#ifdef HAVE_CAF
#include "peers/caf.h"
#endif
#ifdef HAVE_ERLANG
#include "peers/erlang.h"
#endif

namespace bench
{

inline Row
actor_row(const char *name, const char *workload, double goal)
{
    char text[80];
    Row row;

    row.name = name;
    row.workload = workload;
    row.goal = goal;
    row.most_rounds = 5;    // a virtual machine starts in each
    row.fixed_count = true; // and that must not look like slow work
    std::snprintf(text, sizeof(text), "at least %.0f x the best peer's speed",
                  goal);
    row.goal_text = goal > 1 ? text : "ahead of all peers";
    return row;
}

/* The goal that the cost stays within 1.5 x the share of a cache line's
 * transfer time (50 ns there) that a prototype had. */
inline void
limit_by_prototype(Row &row, double prototype_ns)
{
    row.limit_transfers = 1.5 * prototype_ns / 50;
    row.goal_text += "; at most 1.5 x the prototype's share of the cache-line "
                     "transfer time";
}

enum class Threads {
    two,
    one_and_two,
};

/* `round` is called with the number of threads. */
template <class Round>
void
add_threads(Row &row, Side side, const char *name, const char *does,
            Threads threads, Round round)
{
    row.contestants.push_back(
        {side, name, "2 cores", does, [=] { return round(cores); }});
    if (threads == Threads::one_and_two)
        row.contestants.push_back(
            {side, name, "1 core", does, [=] { return round(1); }});
}

#ifdef HAVE_ERLANG
inline std::string
schedulers(unsigned count)
{
    return "+S " + std::to_string(count) + ":" + std::to_string(count);
}

inline void
add_erlang(Row &row, const char *name, const char *does, Threads threads,
           const char *module, const char *function,
           std::function<std::vector<uint64_t>()> numbers,
           const char *flags = "")
{
    add_threads(row, Side::peer, name, does, threads, [=](unsigned count) {
        return erlang(schedulers(count) + " " + flags, module, function,
                      numbers());
    });
}
#endif

#ifdef HAVE_CAF
/* `round` is called with a CafSetup. */
template <class Round>
void
add_caf(Row &row, const char *does, Threads threads, Round round)
{
    add_threads(row, Side::peer, "caf", does, threads, [=](unsigned count) {
        return round({count, false});
    });
    add_threads(row, Side::peer, "caf-sharing", does, Threads::two,
                [=](unsigned count) {
                    return round({count, true});
                });
}
#endif

} // namespace bench

#endif
