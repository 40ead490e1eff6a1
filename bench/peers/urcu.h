/* SPDX-License-Identifier: Apache-2.0 */
/* Userspace RCU's wfcqueue: unbounded, intrusive, wait-free for producers. An
 * 8-byte message needs a node, which is allocated and freed as a user would.
 * No close, no size, no waiting. */
#ifndef BENCH_PEERS_URCU_H
#define BENCH_PEERS_URCU_H

#define URCU_INLINE_SMALL_FUNCTIONS
#define _LGPL_SOURCE
#include <cstdint>
#include <cstdlib>
#include <urcu/wfcqueue.h>

namespace bench
{

struct Wfcqueue {
    struct Node {
        cds_wfcq_node link; // first: a link's address is its node's
        uint64_t value;
    };

    alignas(64) __cds_wfcq_head head;
    alignas(64) cds_wfcq_tail tail;

    Wfcqueue()
    {
        __cds_wfcq_init(&head, &tail);
    }

    struct Producer {
        explicit Producer(Wfcqueue &q) : queue(q)
        {
        }
        bool push(uint64_t value)
        {
            Node *node = static_cast<Node *>(std::malloc(sizeof(Node)));

            if (!node)
                return false;
            node->value = value;
            cds_wfcq_node_init(&node->link);
            cds_wfcq_enqueue(__cds_wfcq_head_cast(&queue.head), &queue.tail,
                             &node->link);
            return true;
        }
        Wfcqueue &queue;
    };

    struct Consumer {
        explicit Consumer(Wfcqueue &q) : queue(q)
        {
        }
        bool pop(uint64_t &value)
        {
            cds_wfcq_node *link = __cds_wfcq_dequeue_nonblocking(
                __cds_wfcq_head_cast(&queue.head), &queue.tail);

            if (!link || link == CDS_WFCQ_WOULDBLOCK)
                return false;
            Node *node = reinterpret_cast<Node *>(link);
            value = node->value;
            std::free(node);
            return true;
        }
        Wfcqueue &queue;
    };
};

} // namespace bench

#endif
