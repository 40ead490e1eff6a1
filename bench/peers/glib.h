/* SPDX-License-Identifier: Apache-2.0 */
/* GLib's GAsyncQueue: a mutex, a condition and a list. Exact length, no
 * close; consumers sleep. */
#ifndef BENCH_PEERS_GLIB_H
#define BENCH_PEERS_GLIB_H

#include <cstdint>
#include <glib.h>

namespace bench
{

struct GAsync {
    GAsyncQueue *queue = g_async_queue_new();

    ~GAsync()
    {
        g_async_queue_unref(queue);
    }

    struct Producer {
        explicit Producer(GAsync &q) : queue(q.queue)
        {
        }
        bool push(uint64_t value)
        {
            g_async_queue_push(queue, reinterpret_cast<gpointer>(value));
            return true;
        }
        GAsyncQueue *queue;
    };

    struct Consumer {
        explicit Consumer(GAsync &q) : queue(q.queue)
        {
        }
        void pop_wait(uint64_t &value)
        {
            value = reinterpret_cast<uint64_t>(g_async_queue_pop(queue));
        }
        GAsyncQueue *queue;
    };
};

} // namespace bench

#endif
