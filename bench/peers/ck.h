/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrency Kit's ring. The mode is part of the name; a ring of 1,024 slots
 * holds 1,023. No close, no waiting. */
#ifndef BENCH_PEERS_CK_H
#define BENCH_PEERS_CK_H

// One `return false` in a function that returns a pointer is not C++.
#define false 0
#include <ck_ring.h>
#undef false
#include <cstdint>

namespace bench
{

template <bool (*Enqueue)(ck_ring_t *, ck_ring_buffer_t *, const void *),
          bool (*Dequeue)(ck_ring_t *, const ck_ring_buffer_t *, void *)>
struct CkRing {
    alignas(64) ck_ring_t ring;
    alignas(64) ck_ring_buffer_t slots[1024];

    CkRing()
    {
        ck_ring_init(&ring, 1024);
    }

    struct Producer {
        explicit Producer(CkRing &r) : ring(r)
        {
        }
        bool push(uint64_t value)
        {
            return Enqueue(&ring.ring, ring.slots,
                           reinterpret_cast<void *>(value));
        }
        CkRing &ring;
    };

    struct Consumer {
        explicit Consumer(CkRing &r) : ring(r)
        {
        }
        bool pop(uint64_t &value)
        {
            return Dequeue(&ring.ring, ring.slots, &value);
        }
        CkRing &ring;
    };
};

inline bool
ck_mpmc_dequeue(ck_ring_t *ring, const ck_ring_buffer_t *slots, void *ret)
{
    return ck_ring_dequeue_mpmc(ring, slots, ret);
}

inline bool
ck_mpsc_dequeue(ck_ring_t *ring, const ck_ring_buffer_t *slots, void *ret)
{
    return ck_ring_dequeue_mpsc(ring, slots, ret);
}

inline bool
ck_spsc_dequeue(ck_ring_t *ring, const ck_ring_buffer_t *slots, void *ret)
{
    return ck_ring_dequeue_spsc(ring, slots, ret);
}

inline bool
ck_mpmc_enqueue(ck_ring_t *ring, ck_ring_buffer_t *slots, const void *message)
{
    return ck_ring_enqueue_mpmc(ring, slots, message);
}

inline bool
ck_mpsc_enqueue(ck_ring_t *ring, ck_ring_buffer_t *slots, const void *message)
{
    return ck_ring_enqueue_mpsc(ring, slots, message);
}

inline bool
ck_spsc_enqueue(ck_ring_t *ring, ck_ring_buffer_t *slots, const void *message)
{
    return ck_ring_enqueue_spsc(ring, slots, message);
}

using CkMpmc = CkRing<ck_mpmc_enqueue, ck_mpmc_dequeue>;
using CkMpsc = CkRing<ck_mpsc_enqueue, ck_mpsc_dequeue>;
using CkSpsc = CkRing<ck_spsc_enqueue, ck_spsc_dequeue>;

} // namespace bench

#endif
