/* SPDX-License-Identifier: Apache-2.0 */
/* Egorushkin's atomic_queue: bounded MPMC of 1,024. No close, no waiting. */
#ifndef BENCH_PEERS_ATOMIC_QUEUE_H
#define BENCH_PEERS_ATOMIC_QUEUE_H

#include <atomic_queue/atomic_queue.h>
#include <cstdint>

namespace bench
{

/* The element itself says whether its slot is taken (AtomicQueue), or a state
 * beside it does (AtomicQueue2). */
template <class Queue> struct AtomicQueueOf {
    Queue queue;

    struct Producer {
        explicit Producer(AtomicQueueOf &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            return queue.try_push(value);
        }
        Queue &queue;
    };

    struct Consumer {
        explicit Consumer(AtomicQueueOf &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            return queue.try_pop(value);
        }
        Queue &queue;
    };
};

using AtomicQueue = AtomicQueueOf<atomic_queue::AtomicQueue<uint64_t, 1024>>;
using AtomicQueue2 = AtomicQueueOf<atomic_queue::AtomicQueue2<uint64_t, 1024>>;

} // namespace bench

#endif
