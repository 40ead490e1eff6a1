/* SPDX-License-Identifier: Apache-2.0 */
#include "support/threads.h"
#include <algorithm>
#include <thread>
#include <time.h>

namespace bench
{

unsigned patience = 1;

static int64_t
read_clock(clockid_t clock)
{
    timespec t;

    clock_gettime(clock, &t);
    return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
}

int64_t
now_ns()
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t
thread_cpu_ns()
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void
Gate::pass()
{
    arrived.fetch_add(1);
    while (!open.load(std::memory_order_acquire))
        sched_yield();
}

int64_t
run_threads(const std::vector<std::function<void(Gate &)>> &bodies)
{
    Gate gate;
    std::vector<int64_t> ends(bodies.size());
    std::vector<std::thread> threads;

    for (std::size_t i = 0; i < bodies.size(); i++)
        threads.emplace_back([&, i] {
            bodies[i](gate);
            ends[i] = now_ns();
        });
    while (gate.arrived.load() < int(bodies.size()))
        sched_yield();
    int64_t start = now_ns();
    gate.open.store(true, std::memory_order_release);
    for (std::thread &thread : threads)
        thread.join();
    return *std::max_element(ends.begin(), ends.end()) - start;
}

static double
transfer_once(uint32_t rounds)
{
    alignas(line_bytes) std::atomic<uint32_t> word{0};
    auto side = [&](uint32_t parity) {
        return [&, parity](Gate &gate) {
            Backoff backoff;

            gate.pass();
            for (uint32_t i = parity; i < 2 * rounds; i += 2) {
                while (word.load(std::memory_order_acquire) != i)
                    backoff.wait();
                backoff.reset();
                word.store(i + 1, std::memory_order_release);
            }
        };
    };

    int64_t ns = run_threads({side(0), side(1)});
    return double(ns) / (2.0 * rounds);
}

double
cache_line_transfer_ns()
{
    std::vector<double> times;

    for (int i = 0; i < 16; i++)
        times.push_back(transfer_once(20000));
    std::sort(times.begin(), times.end());
    return times[times.size() / 4];
}

} // namespace bench
