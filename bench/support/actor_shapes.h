/* SPDX-License-Identifier: Apache-2.0 */
/* What the actor rows do, for all sides alike. Erlang's programs are told the
 * numbers. */
#ifndef BENCH_SUPPORT_ACTOR_SHAPES_H
#define BENCH_SUPPORT_ACTOR_SHAPES_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace bench
{

constexpr unsigned cores = 2; // threads that run actors, on all sides

constexpr uint64_t ring_members = 1000;
constexpr uint64_t big_members = 60;

/* How many messages or children a handler makes before it lets others run and
 * tells itself to go on. */
constexpr uint64_t chunk = 1000;

constexpr uint64_t queued = 1000;     // in the mailboxes of busy actors
constexpr uint64_t urgent_every = 16; // messages

constexpr uint64_t flooded_actors = 4;
constexpr uint64_t note_every = 300; // messages of the first flooded actor

/* Whom to ping next: never oneself. */
inline uint64_t
other_member(uint64_t me, uint64_t *random)
{
    *random = *random * 48271 % 2147483647;
    return (me + 1 + *random % (big_members - 1)) % big_members;
}

struct Waits {
    double most_us; // what 99 of 100 did not exceed
    double longest_us;
};

inline Waits
waits_of(std::vector<int64_t> waits_ns)
{
    std::sort(waits_ns.begin(), waits_ns.end());
    return {double(waits_ns[waits_ns.size() * 99 / 100]) / 1e3,
            double(waits_ns.back()) / 1e3};
}

} // namespace bench

#endif
