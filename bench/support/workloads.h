/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads: what is done to a queue, whoever made it.
 *
 * A queue is any type with nested Producer and Consumer, each made from the
 * queue by the thread that uses it, outside the measured time, with some of
 *
 *     Producer: bool push(v)         size_t push_batch(values, count)
 *               void push_wait(v)
 *     Consumer: bool pop(v)          size_t pop_batch(values, most)
 *               void pop_wait(v)     size_t pop_wait_batch(values, most)
 *
 * `make` is a function that returns a unique_ptr to a new queue. Messages are
 * 8-byte values, never 0 and never odd, so that they may pass as pointers.
 * Their number and sum are checked: a lost or doubled message ends the run.
 */
#ifndef BENCH_SUPPORT_WORKLOADS_H
#define BENCH_SUPPORT_WORKLOADS_H

#include "support/harness.h"
#include "support/threads.h"
#include <memory>

namespace bench
{

constexpr std::size_t bulk = 64;  // what a bulk take asks for
constexpr std::size_t batch = 32; // what a batch send brings

inline uint64_t
value_of(uint64_t number)
{
    return (number + 1) << 4;
}

inline uint64_t
sum_of(uint64_t count)
{
    return (count * (count + 1) / 2) << 4;
}

/* Ways to put `count` messages, numbered from `first`. */

struct PutOne {
    template <class Producer>
    void operator()(Producer &producer, uint64_t first, uint64_t count) const
    {
        Backoff backoff;

        for (uint64_t i = 0; i < count; i++) {
            while (!producer.push(value_of(first + i)))
                backoff.wait();
            backoff.reset();
        }
    }
};

struct PutWaiting {
    template <class Producer>
    void operator()(Producer &producer, uint64_t first, uint64_t count) const
    {
        for (uint64_t i = 0; i < count; i++)
            producer.push_wait(value_of(first + i));
    }
};

struct PutBatch {
    template <class Producer>
    void operator()(Producer &producer, uint64_t first, uint64_t count) const
    {
        Backoff backoff;
        uint64_t values[batch];

        for (uint64_t i = 0; i < count; i += batch) {
            std::size_t n = count - i < batch ? count - i : batch;

            for (std::size_t k = 0; k < n; k++)
                values[k] = value_of(first + i + k);
            for (std::size_t done = 0; done < n;) {
                std::size_t put = producer.push_batch(values + done, n - done);

                done += put;
                if (put)
                    backoff.reset();
                else
                    backoff.wait();
            }
        }
    }
};

/* Ways to take: add what was taken to `sum`, say how many, 0 if none. */

struct TakeOne {
    template <class Consumer>
    std::size_t operator()(Consumer &consumer, uint64_t &sum) const
    {
        uint64_t value = 0;

        if (!consumer.pop(value))
            return 0;
        sum += value;
        return 1;
    }
};

template <std::size_t Most> struct TakeUpTo {
    template <class Consumer>
    std::size_t operator()(Consumer &consumer, uint64_t &sum) const
    {
        uint64_t values[Most];
        std::size_t count = consumer.pop_batch(values, Most);

        for (std::size_t i = 0; i < count; i++)
            sum += values[i];
        return count;
    }
};

using TakeBulk = TakeUpTo<bulk>;
using TakeBatch = TakeUpTo<batch>;

struct TakeWaiting {
    template <class Consumer>
    std::size_t operator()(Consumer &consumer, uint64_t &sum) const
    {
        uint64_t value = 0;

        consumer.pop_wait(value);
        sum += value;
        return 1;
    }
};

struct TakeBulkWaiting {
    template <class Consumer>
    std::size_t operator()(Consumer &consumer, uint64_t &sum) const
    {
        uint64_t values[bulk];
        std::size_t count = consumer.pop_wait_batch(values, bulk);

        for (std::size_t i = 0; i < count; i++)
            sum += values[i];
        return count;
    }
};

/* What the consumers of one round share: when it is over, and the sum. Each
 * tells its count only when it finds nothing, on a line of its own. */
class Tally
{
  public:
    Tally(int consumers, uint64_t total_messages)
        : lines(std::size_t(consumers)), total(total_messages)
    {
    }

    template <class Consumer, class Take>
    void consume(Consumer &consumer, std::size_t who, Take take)
    {
        Backoff backoff;
        uint64_t sum = 0, taken = 0;

        while (taken < total) {
            std::size_t count = take(consumer, sum);

            taken += count;
            if (count) {
                backoff.reset();
                continue;
            }
            if (lines.size() > 1) {
                lines[who].taken.store(taken, std::memory_order_relaxed);
                if (all_taken() >= total)
                    break;
            }
            backoff.wait();
        }
        lines[who].taken.store(taken, std::memory_order_relaxed);
        lines[who].sum = sum;
    }

    void check() const
    {
        uint64_t sum = 0;

        for (const Line &line : lines)
            sum += line.sum;
        if (all_taken() != total || sum != sum_of(total))
            fail("messages lost or doubled: %llu of %llu, sum %s",
                 (unsigned long long)all_taken(), (unsigned long long)total,
                 sum == sum_of(total) ? "right" : "wrong");
    }

  private:
    struct alignas(line_bytes) Line {
        std::atomic<uint64_t> taken{0};
        uint64_t sum = 0;
    };

    uint64_t all_taken() const
    {
        uint64_t taken = 0;

        for (const Line &line : lines)
            taken += line.taken.load(std::memory_order_relaxed);
        return taken;
    }

    std::vector<Line> lines;
    const uint64_t total;
};

struct Shape {
    int producers;
    int consumers;
    uint64_t messages; // in all
};

/* Threads on both sides, as fast as they can. */
template <class Make, class Put, class Take>
Sample
stream(const Shape &shape, Make make, Put put, Take take)
{
    auto queue = make();
    using Queue = typename decltype(queue)::element_type;
    uint64_t each = scaled(shape.messages) / uint64_t(shape.producers);
    uint64_t total = each * uint64_t(shape.producers);
    Tally tally(shape.consumers, total);
    std::vector<std::function<void(Gate &)>> bodies;

    for (int c = 0; c < shape.consumers; c++)
        bodies.push_back([&, c](Gate &gate) {
            typename Queue::Consumer consumer(*queue);

            gate.pass();
            tally.consume(consumer, std::size_t(c), take);
        });
    for (int p = 0; p < shape.producers; p++)
        bodies.push_back([&, p](Gate &gate) {
            typename Queue::Producer producer(*queue);

            gate.pass();
            put(producer, uint64_t(p) * each, each);
        });
    int64_t ns = run_threads(bodies);
    tally.check();
    return {double(ns) / double(total), 0};
}

/* One thread puts `run` messages and takes them again, over and over. */
template <class Make, class Take>
Sample
one_thread(uint64_t messages, uint64_t run, Make make, Take take)
{
    auto queue = make();
    using Queue = typename decltype(queue)::element_type;
    uint64_t total = scaled(messages) / run * run;
    uint64_t sum = 0;
    typename Queue::Producer producer(*queue);
    typename Queue::Consumer consumer(*queue);
    PutOne put;
    int64_t start = thread_cpu_ns();

    for (uint64_t first = 0; first < total; first += run) {
        put(producer, first, run);
        for (uint64_t taken = 0; taken < run;)
            taken += take(consumer, sum);
    }
    int64_t ns = thread_cpu_ns() - start;
    if (sum != sum_of(total))
        fail("messages lost or doubled");
    return {double(ns) / double(total), 0};
}

/* Two threads, two queues, one message: ns for one way. */
template <class Make, class Put, class Take>
Sample
ping_pong(uint64_t round_trips, Make make, Put put, Take take)
{
    auto there = make(), back = make();
    using Queue = typename decltype(there)::element_type;
    uint64_t trips = scaled(round_trips);
    uint64_t sums[2] = {0, 0};
    auto player = [&](Queue &in, Queue &out, bool first) {
        return [&, first](Gate &gate) {
            typename Queue::Producer producer(out);
            typename Queue::Consumer consumer(in);
            uint64_t sum = 0;
            auto receive = [&] {
                Backoff backoff;

                while (!take(consumer, sum))
                    backoff.wait();
            };

            gate.pass();
            for (uint64_t i = 0; i < trips; i++) {
                if (!first)
                    receive();
                put(producer, i, 1);
                if (first)
                    receive();
            }
            sums[first] = sum;
        };
    };

    int64_t ns = run_threads(
        {player(*back, *there, true), player(*there, *back, false)});
    if (sums[0] != sum_of(trips) || sums[1] != sum_of(trips))
        fail("messages lost or doubled");
    return {double(ns) / double(2 * trips), 0};
}

} // namespace bench

#endif
