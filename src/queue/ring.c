/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring: init, fini, counts and flags. The design, push, pop and RING-1 to
 * RING-7 are in ring.h.
 *
 * Threads    init and fini: one. All others: any.
 */
#include "queue/ring.h"

#include "base/alloc.h"
#include <assert.h>

static size_t
ring_slots_bytes(const lbx__ring *ring)
{
    return (size_t)(ring->mask + 1) * (ring->words + 1) * sizeof(uint64_t);
}

lbx_status
lbx__ring_init(lbx__ring *ring, uint64_t capacity, unsigned words, bool many,
               bool gated, const lbx_allocator *allocator)
{
    uint64_t size = 1;

    assert(capacity >= 1);
    memset(ring, 0, sizeof(*ring));
    if (capacity > SIZE_MAX / 32 / ((words + 1) * sizeof(uint64_t)))
        return LBX_NO_MEMORY;
    while (size < capacity)
        size *= 2;
    ring->words = words;
    ring->many = many;
    ring->gated = gated;
    ring->capacity = capacity;
    ring->mask = size - 1;
    ring->allocator = allocator;
    ring->slots = lbx__alloc(allocator, ring_slots_bytes(ring), LBX__LINE);
    if (!ring->slots)
        return LBX_NO_MEMORY;
    memset(ring->slots, 0, ring_slots_bytes(ring));
    return LBX_OK;
}

void
lbx__ring_fini(lbx__ring *ring)
{
    lbx__free(ring->allocator, ring->slots,
              ring->slots ? ring_slots_bytes(ring) : 0);
    ring->slots = NULL;
}

uint64_t
lbx__ring_accepted(lbx__ring *ring)
{
    return lbx__load(&ring->tail, acquire) >> LBX__TICKET_SHIFT;
}

uint64_t
lbx__ring_taken(lbx__ring *ring)
{
    return lbx__load(&ring->head, acquire) >> LBX__TICKET_SHIFT;
}

void
lbx__ring_raise(lbx__ring *ring, unsigned flags)
{
    // Release and acquire: RING-6, as lbx__segq_raise().
    (void)lbx__or(&ring->tail, (uint64_t)flags, acq_rel);
}

void
lbx__ring_lower(lbx__ring *ring, unsigned flags)
{
    assert(!(flags & LBX__FLAG_CLOSED)); // RING-5
    (void)lbx__and(&ring->tail, ~(uint64_t)flags, acq_rel);
}

void
lbx__ring_close(lbx__ring *ring)
{
    (void)lbx__or(&ring->tail, (uint64_t)LBX__FLAG_CLOSED, acq_rel);
}

void
lbx__ring_raise_senders(lbx__ring *ring)
{
    assert(ring->gated);
    (void)lbx__or(&ring->tail, (uint64_t)LBX__FLAG_GATED, acq_rel);
    (void)lbx__or(&ring->head, (uint64_t)LBX__FLAG_SENDERS, acq_rel);
}

void
lbx__ring_lower_senders(lbx__ring *ring)
{
    (void)lbx__and(&ring->head, ~(uint64_t)LBX__FLAG_SENDERS, acq_rel);
    (void)lbx__and(&ring->tail, ~(uint64_t)LBX__FLAG_GATED, acq_rel);
}

bool
lbx__ring_valid(lbx__ring *ring)
{
    uint64_t head = lbx__ring_taken(ring);
    uint64_t tail = lbx__ring_accepted(ring);

    if (head > tail || tail - head > ring->capacity) // RING-1
        return false;
    for (uint64_t t = head; t < tail; t++)
        if (lbx__peek(lbx__ring_slot(ring, t, ring->words)) != t + 1) // RING-3
            return false;
    return true;
}
