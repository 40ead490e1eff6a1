/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that start together, one back-off for everybody, and what moving a
 * cache line costs on this machine now.
 */
#ifndef BENCH_SUPPORT_THREADS_H
#define BENCH_SUPPORT_THREADS_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <sched.h>
#include <vector>

namespace bench
{

constexpr std::size_t line_bytes = 64;

int64_t now_ns();

/* Time that this thread has spent on a processor: for work that needs nobody
 * else, it does not see who shares the machine. */
int64_t thread_cpu_ns();

inline void
pause()
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* How many pauses follow an empty or a full look, for everybody; the harness
 * sets it. Few suit some queues, many others: with few, both sides can end up
 * fighting over one line; with many, a message waits. */
extern unsigned patience;

/* What everyone does who finds a queue empty or full: pauses, and yields after
 * a while, since there may be more threads than cores. */
class Backoff
{
  public:
    void wait()
    {
        for (unsigned i = 0; i < pauses; i++)
            pause();
        if (++failures > tries)
            sched_yield();
    }

    void reset()
    {
        failures = 0;
    }

  private:
    static constexpr unsigned tries = 64;
    const unsigned pauses = patience;
    unsigned failures = 0;
};

/* Runs each function in a thread of its own. A function gets itself ready,
 * calls Gate::pass() and works. Returns the ns between the opening of the
 * gate and the end of the last one. */
class Gate
{
  public:
    void pass();

  private:
    friend int64_t
    run_threads(const std::vector<std::function<void(Gate &)>> &bodies);
    std::atomic<int> arrived{0};
    std::atomic<bool> open{false};
};

int64_t run_threads(const std::vector<std::function<void(Gate &)>> &bodies);

/* One way of a ping-pong over one line between two threads, ns: a quarter of
 * the tries were faster. */
double cache_line_transfer_ns();

} // namespace bench

#endif
