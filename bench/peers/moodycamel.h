/* SPDX-License-Identifier: Apache-2.0 */
/* moodycamel's ConcurrentQueue: unbounded MPMC, a queue per producer, so no
 * order between producers, no close, approximate size. */
#ifndef BENCH_PEERS_MOODYCAMEL_H
#define BENCH_PEERS_MOODYCAMEL_H

#include <concurrentqueue/blockingconcurrentqueue.h>
#include <cstdint>

namespace bench
{

constexpr const char *moodycamel_does =
    "no close, no order between producers, size approximate";

struct Moodycamel {
    moodycamel::ConcurrentQueue<uint64_t> queue;

    struct Producer {
        explicit Producer(Moodycamel &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            return queue.enqueue(value);
        }
        moodycamel::ConcurrentQueue<uint64_t> &queue;
    };

    struct Consumer {
        explicit Consumer(Moodycamel &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return queue.try_dequeue(value);
        }
        std::size_t pop_batch(uint64_t *values, std::size_t most)
        {
            return queue.try_dequeue_bulk(values, most);
        }
        moodycamel::ConcurrentQueue<uint64_t> &queue;
    };
};

struct MoodycamelTokens {
    moodycamel::ConcurrentQueue<uint64_t> queue;

    struct Producer {
        explicit Producer(MoodycamelTokens &q) : queue(q.queue), token(queue)
        {
        }
        bool push(uint64_t value)
        {
            return queue.enqueue(token, value);
        }
        moodycamel::ConcurrentQueue<uint64_t> &queue;
        moodycamel::ProducerToken token;
    };

    struct Consumer {
        explicit Consumer(MoodycamelTokens &q) : queue(q.queue), token(queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return queue.try_dequeue(token, value);
        }
        std::size_t pop_batch(uint64_t *values, std::size_t most)
        {
            return queue.try_dequeue_bulk(token, values, most);
        }
        moodycamel::ConcurrentQueue<uint64_t> &queue;
        moodycamel::ConsumerToken token;
    };
};

/* The variant whose consumers sleep; with tokens, its fastest form. */
struct MoodycamelBlocking {
    moodycamel::BlockingConcurrentQueue<uint64_t> queue;

    struct Producer {
        explicit Producer(MoodycamelBlocking &q) : queue(q.queue), token(queue)
        {
        }
        bool push(uint64_t value)
        {
            return queue.enqueue(token, value);
        }
        moodycamel::BlockingConcurrentQueue<uint64_t> &queue;
        moodycamel::ProducerToken token;
    };

    struct Consumer {
        explicit Consumer(MoodycamelBlocking &q) : queue(q.queue), token(queue)
        {
        }
        void pop_wait(uint64_t &value)
        {
            queue.wait_dequeue(token, value);
        }
        std::size_t pop_wait_batch(uint64_t *values, std::size_t most)
        {
            return queue.wait_dequeue_bulk(token, values, most);
        }
        moodycamel::BlockingConcurrentQueue<uint64_t> &queue;
        moodycamel::ConsumerToken token;
    };
};

} // namespace bench

#endif
