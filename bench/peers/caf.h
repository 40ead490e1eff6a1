/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CAF, the C++ Actor Framework: dynamically typed event-based actors, each a
 * class. Messages are numbers, allocated by CAF one by one. Each function is
 * one round.
 */
#ifndef BENCH_PEERS_CAF_H
#define BENCH_PEERS_CAF_H

#include "support/harness.h"

namespace bench
{

/* CAF's two ways to schedule: a queue per thread and stealing, which is its
 * default, or one queue for all. */
struct CafSetup {
    unsigned threads;
    bool sharing;
};

Sample caf_pingpong(const CafSetup &setup, uint64_t messages);
Sample caf_ring(const CafSetup &setup, uint64_t hops);
Sample caf_counting(const CafSetup &setup, uint64_t producers, uint64_t each);
Sample caf_create(const CafSetup &setup, uint64_t count);
Sample caf_memory(const CafSetup &setup, uint64_t count);
Sample caf_big(const CafSetup &setup, uint64_t pings);
Sample caf_priority(const CafSetup &setup, uint64_t total);
Sample caf_urgent(const CafSetup &setup, uint64_t questions);
Sample caf_fairness(const CafSetup &setup, uint64_t each);

} // namespace bench

#endif
