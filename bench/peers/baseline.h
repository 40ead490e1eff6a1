/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one writes in an afternoon: a mutex, condition variables and a standard
 * container. Needs no package, so every row of waiting and of priorities has
 * at least this peer.
 */
#ifndef BENCH_PEERS_BASELINE_H
#define BENCH_PEERS_BASELINE_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <queue>

namespace bench
{

/* `Capacity` 0: unbounded. */
template <std::size_t Capacity> struct MutexQueue {
    std::mutex mutex;
    std::condition_variable not_empty, not_full;
    std::deque<uint64_t> queue;

    struct Producer {
        explicit Producer(MutexQueue &q) : q(q)
        {
        }
        bool push(uint64_t value)
        {
            {
                std::lock_guard<std::mutex> lock(q.mutex);

                if (Capacity && q.queue.size() == Capacity)
                    return false;
                q.queue.push_back(value);
            }
            q.not_empty.notify_one();
            return true;
        }
        void push_wait(uint64_t value)
        {
            {
                std::unique_lock<std::mutex> lock(q.mutex);

                while (Capacity && q.queue.size() == Capacity)
                    q.not_full.wait(lock);
                q.queue.push_back(value);
            }
            q.not_empty.notify_one();
        }
        MutexQueue &q;
    };

    struct Consumer {
        explicit Consumer(MutexQueue &q) : q(q)
        {
        }
        void pop_wait(uint64_t &value)
        {
            {
                std::unique_lock<std::mutex> lock(q.mutex);

                while (q.queue.empty())
                    q.not_empty.wait(lock);
                value = q.queue.front();
                q.queue.pop_front();
            }
            if (Capacity)
                q.not_full.notify_one();
        }
        MutexQueue &q;
    };
};

template <class Less> struct MutexPriority {
    std::mutex mutex;
    std::priority_queue<uint64_t, std::vector<uint64_t>, Less> queue;

    struct Producer {
        explicit Producer(MutexPriority &q) : q(q)
        {
        }
        bool push(uint64_t value)
        {
            std::lock_guard<std::mutex> lock(q.mutex);

            q.queue.push(value);
            return true;
        }
        MutexPriority &q;
    };

    struct Consumer {
        explicit Consumer(MutexPriority &q) : q(q)
        {
        }
        bool pop(uint64_t &value)
        {
            std::lock_guard<std::mutex> lock(q.mutex);

            if (q.queue.empty())
                return false;
            value = q.queue.top();
            q.queue.pop();
            return true;
        }
        MutexPriority &q;
    };
};

} // namespace bench

#endif
