/* SPDX-License-Identifier: Apache-2.0 */
/* xenium: Ramalhete's unbounded MPMC queue with epoch-based reclamation, and
 * Vyukov's bounded MPMC queue. No close, no size, no waiting. */
#ifndef BENCH_PEERS_XENIUM_H
#define BENCH_PEERS_XENIUM_H

#include <cstdint>
#include <xenium/ramalhete_queue.hpp>
#include <xenium/reclamation/generic_epoch_based.hpp>
#include <xenium/vyukov_bounded_queue.hpp>

namespace bench
{

struct Ramalhete {
    using Queue = xenium::ramalhete_queue<
        uint64_t *,
        xenium::policy::reclaimer<xenium::reclamation::epoch_based<>>,
        xenium::policy::entries_per_node<512>>;
    Queue queue;

    struct Producer {
        explicit Producer(Ramalhete &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            queue.push(reinterpret_cast<uint64_t *>(value));
            return true;
        }
        Queue &queue;
    };

    struct Consumer {
        explicit Consumer(Ramalhete &q) : queue(q.queue)
        {
        }
        bool pop(uint64_t &value)
        {
            uint64_t *message;

            if (!queue.try_pop(message))
                return false;
            value = reinterpret_cast<uint64_t>(message);
            return true;
        }
        Queue &queue;
    };
};

struct Vyukov {
    using Queue = xenium::vyukov_bounded_queue<uint64_t>;
    Queue queue{1024};

    struct Producer {
        explicit Producer(Vyukov &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            return queue.try_push(value);
        }
        Queue &queue;
    };

    struct Consumer {
        explicit Consumer(Vyukov &q) : queue(q.queue)
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
