/* SPDX-License-Identifier: Apache-2.0 */
/* The segment queue's word, and what its two files share. */
#ifndef LBX_QUEUE_SEGQ_WORD_H
#define LBX_QUEUE_SEGQ_WORD_H

#include "queue/segq.h"

static inline uint32_t
lbx__segq_slots_of(const lbx__segq *q)
{
    switch (q->words) {
    case LBX__WORD:
        return LBX__SLOTS(LBX__WORD);
    case LBX__PAIR:
        return LBX__SLOTS(LBX__PAIR);
    default:
        return LBX__SLOTS(LBX__ENVELOPE);
    }
}

static inline lbx__segment *
lbx__segq_segment_of(uint64_t word)
{
    return (lbx__segment *)(uintptr_t)(word & LBX__SEGMENT_MASK);
}

static inline uint64_t
lbx__segq_index_of(uint64_t word)
{
    return word >> LBX__INDEX_SHIFT;
}

static inline uint64_t
lbx__segq_sequence_of(uint64_t word)
{
    return (word >> LBX__SEQUENCE_SHIFT) & LBX__SEQUENCE_MASK;
}

static inline uint64_t
lbx__segq_pack(uint64_t index, lbx__segment *segment, uint64_t sequence,
               uint64_t flags)
{
    return index << LBX__INDEX_SHIFT | (uint64_t)(uintptr_t)segment |
           (sequence & LBX__SEQUENCE_MASK) << LBX__SEQUENCE_SHIFT | flags;
}

/* Puts a clean segment away for later, or frees it. */
void lbx__segq_keep(lbx__segq *q, lbx__segment *segment);

/* Makes a used-up segment as good as new, and keeps it. */
void lbx__segq_recycle(lbx__segq *q, lbx__segment *segment);

/* The segment after `segment`, NULL being before the first; NULL when there is
 * none yet. */
lbx__segment *lbx__segq_after(lbx__segq *q, lbx__segment *segment);

#endif
