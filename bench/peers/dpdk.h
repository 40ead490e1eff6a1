/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK's rte_ring, in our own memory: it needs no EAL for that. The flags say
 * how producers and consumers are synchronised. No close, no waiting. */
#ifndef BENCH_PEERS_DPDK_H
#define BENCH_PEERS_DPDK_H

#include "support/harness.h"
#include <cstdint>
#include <cstdlib>
#include <rte_ring.h>

namespace bench
{

template <unsigned Flags> struct RteRing {
    rte_ring *ring;

    RteRing()
    {
        ssize_t size = rte_ring_get_memsize(1024);

        ring = static_cast<rte_ring *>(
            std::aligned_alloc(64, (std::size_t(size) + 63) / 64 * 64));
        if (!ring || rte_ring_init(ring, "bench", 1024, Flags))
            fail("rte_ring_init");
    }

    ~RteRing()
    {
        std::free(ring);
    }

    struct Producer {
        explicit Producer(RteRing &r) : ring(r.ring)
        {
        }
        bool push(uint64_t value)
        {
            return !rte_ring_enqueue(ring, reinterpret_cast<void *>(value));
        }
        std::size_t push_batch(const uint64_t *values, std::size_t count)
        {
            return rte_ring_enqueue_burst(
                ring,
                reinterpret_cast<void *const *>(const_cast<uint64_t *>(values)),
                unsigned(count), nullptr);
        }
        rte_ring *ring;
    };

    struct Consumer {
        explicit Consumer(RteRing &r) : ring(r.ring)
        {
        }
        bool pop(uint64_t &value)
        {
            void *message;

            if (rte_ring_dequeue(ring, &message))
                return false;
            value = reinterpret_cast<uint64_t>(message);
            return true;
        }
        std::size_t pop_batch(uint64_t *values, std::size_t most)
        {
            return rte_ring_dequeue_burst(ring,
                                          reinterpret_cast<void **>(values),
                                          unsigned(most), nullptr);
        }
        rte_ring *ring;
    };
};

using RteMpmc = RteRing<0>;
using RteMpsc = RteRing<RING_F_SC_DEQ>;
using RteSpsc = RteRing<RING_F_SP_ENQ | RING_F_SC_DEQ>;
using RteHts = RteRing<RING_F_MP_HTS_ENQ | RING_F_MC_HTS_DEQ>;

} // namespace bench

#endif
