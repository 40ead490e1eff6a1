/* SPDX-License-Identifier: Apache-2.0 */
/* oneTBB: unbounded and bounded MPMC queues (the bounded one waits on both
 * sides), and a priority queue. No close. */
#ifndef BENCH_PEERS_TBB_H
#define BENCH_PEERS_TBB_H

#include <cstdint>
#include <oneapi/tbb/concurrent_priority_queue.h>
#include <oneapi/tbb/concurrent_queue.h>

namespace bench
{

struct TbbUnbounded {
    using Queue = oneapi::tbb::concurrent_queue<uint64_t>;
    Queue queue;

    struct Producer {
        explicit Producer(TbbUnbounded &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            queue.push(value);
            return true;
        }
        Queue &queue;
    };

    struct Consumer {
        explicit Consumer(TbbUnbounded &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return queue.try_pop(value);
        }
        Queue &queue;
    };
};

/* `Capacity` 0: as much as memory holds. */
template <int Capacity> struct TbbBounded {
    using Queue = oneapi::tbb::concurrent_bounded_queue<uint64_t>;
    Queue queue;

    TbbBounded()
    {
        if (Capacity)
            queue.set_capacity(Capacity);
    }

    struct Producer {
        explicit Producer(TbbBounded &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            return queue.try_push(value);
        }
        void push_wait(uint64_t value)
        {
            queue.push(value);
        }
        Queue &queue;
    };

    struct Consumer {
        explicit Consumer(TbbBounded &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return queue.try_pop(value);
        }
        void pop_wait(uint64_t &value)
        {
            queue.pop(value);
        }
        Queue &queue;
    };
};

/* `Less` is std::priority_queue's: greatest first. */
template <class Less> struct TbbPriority {
    using Queue = oneapi::tbb::concurrent_priority_queue<uint64_t, Less>;
    Queue queue;

    struct Producer {
        explicit Producer(TbbPriority &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            queue.push(value);
            return true;
        }
        Queue &queue;
    };

    struct Consumer {
        explicit Consumer(TbbPriority &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return queue.try_pop(value);
        }
        Queue &queue;
    };
};

} // namespace bench

#endif
