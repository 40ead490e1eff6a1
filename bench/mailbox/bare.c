/* SPDX-License-Identifier: Apache-2.0 */
#include "mailbox/bare.h"
#include "queue/ring.h"
#include "queue/segq.h"
#include <stdlib.h>

static void *
aligned(size_t size_bytes)
{
    size_t unit = 2 * LBX__LINE;

    return aligned_alloc(unit, (size_bytes + unit - 1) / unit * unit);
}

void *
bare_segq_create(bool many)
{
    lbx__segq *queue = aligned(sizeof(*queue));

    if (queue && lbx__segq_init(queue, LBX__WORD, many, NULL) == LBX_OK)
        return queue;
    free(queue);
    return NULL;
}

void
bare_segq_destroy(void *queue)
{
    lbx__segq_fini(queue);
    free(queue);
}

bool
bare_segq_push(void *queue, uint64_t value)
{
    return lbx__segq_push(queue, &value, LBX__WORD) >= 0;
}

size_t
bare_segq_pop(void *queue, uint64_t *values, size_t most)
{
    unsigned notes;

    return lbx__segq_pop(queue, values, most, LBX__WORD, &notes);
}

void *
bare_ring_create(uint64_t capacity)
{
    lbx__ring *ring = aligned(sizeof(*ring));

    if (ring &&
        lbx__ring_init(ring, capacity, LBX__WORD, true, false, NULL) == LBX_OK)
        return ring;
    free(ring);
    return NULL;
}

void
bare_ring_destroy(void *ring)
{
    lbx__ring_fini(ring);
    free(ring);
}

size_t
bare_ring_push(void *ring, const uint64_t *values, size_t count)
{
    size_t pushed;

    if (lbx__ring_push(ring, values, count, LBX__WORD, false, &pushed) < 0)
        return 0;
    return pushed;
}

size_t
bare_ring_pop(void *ring, uint64_t *values, size_t most)
{
    unsigned notes;

    return lbx__ring_pop(ring, values, most, LBX__WORD, &notes);
}
