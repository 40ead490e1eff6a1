/* SPDX-License-Identifier: Apache-2.0 */
/* Boost.Lockfree: MPMC queue (growing, or fixed to 1,024), and the SPSC ring.
 * No close, no size, no waiting. */
#ifndef BENCH_PEERS_BOOST_H
#define BENCH_PEERS_BOOST_H

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>

namespace bench
{

template <class Queue> struct BoostOf {
    Queue queue;

    BoostOf() = default;
    explicit BoostOf(std::size_t reserved) : queue(reserved)
    {
    }

    struct Producer {
        explicit Producer(BoostOf &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            return queue.push(value);
        }
        std::size_t push_batch(const uint64_t *values, std::size_t count)
        {
            return queue.push(values, count);
        }
        Queue &queue;
    };

    struct Consumer {
        explicit Consumer(BoostOf &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return queue.pop(value);
        }
        std::size_t pop_batch(uint64_t *values, std::size_t most)
        {
            return queue.pop(values, most);
        }
        Queue &queue;
    };
};

struct BoostGrowing : BoostOf<boost::lockfree::queue<uint64_t>> {
    BoostGrowing() : BoostOf(1024)
    {
    }
};

using BoostFixed =
    BoostOf<boost::lockfree::queue<uint64_t, boost::lockfree::capacity<1024>>>;
using BoostSpsc = BoostOf<
    boost::lockfree::spsc_queue<uint64_t, boost::lockfree::capacity<1024>>>;

} // namespace bench

#endif
