/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment queue with many consumers. SEGQ-1 to SEGQ-6 are in segq.h.
 *
 * The head is a word like the tail, moved by compare-and-swap. A consumer reads
 * a segment only while its hazard holds that segment. The hazard stays set from
 * call to call: it costs one store per segment, not per message. Threads beyond
 * the last hazard share it under the lock.
 *
 * Threads    any number of consumers.
 */
#include "queue/segq.h"

#include "base/park.h"

static lbx__hazard *
segq_take_hazard(lbx__segq *q)
{
    unsigned index = lbx__thread_index();

    if (index < LBX__HAZARDS - 1)
        return &q->hazards[index];
    lbx__lock_take(&q->lock);
    return &q->hazards[LBX__HAZARDS - 1];
}

static void
segq_give_hazard(lbx__segq *q, const lbx__hazard *hazard)
{
    if (hazard == &q->hazards[LBX__HAZARDS - 1])
        lbx__lock_give(&q->lock);
}

static bool
segq_is_hazard(const lbx__segq *q, const lbx__segment *segment)
{
    // seq_cst: pairs with the store in segq_protect(). Either this thread
    // sees the hazard, or its owner sees that the head has moved on.
    for (int i = 0; i < LBX__HAZARDS; i++)
        if (lbx__load(&q->hazards[i].segment, seq_cst) ==
            (uint64_t)(uintptr_t)segment)
            return true;
    return false;
}

/* Adds a used-up segment to the retired ones, and recycles those that no hazard
 * holds. */
static void
segq_retire(lbx__segq *q, lbx__segment *segment)
{
    lbx__segment **link = &q->retired;

    segment->retired = q->retired;
    q->retired = segment;
    while (*link) {
        lbx__segment *candidate = *link;

        if (segq_is_hazard(q, candidate)) {
            link = &candidate->retired;
            continue;
        }
        *link = candidate->retired;
        lbx__segq_recycle(q, candidate);
    }
}

/* The head word, with its segment protected by this hazard. */
static uint64_t
segq_protect(lbx__segq *q, lbx__hazard *hazard)
{
    // Acquire: pairs with the head's compare-and-swaps.
    uint64_t head = lbx__load(&q->head, acquire);

    for (;;) {
        uint64_t segment = head & LBX__SEGMENT_MASK;

        // Relaxed: only this thread writes its hazard.
        if (lbx__load(&hazard->segment, relaxed) == segment)
            return head;
        lbx__store(&hazard->segment, segment, seq_cst);
        head = lbx__load(&q->head, seq_cst);
        if ((head & LBX__SEGMENT_MASK) == segment)
            return head;
    }
}

/* Moves the head to the next segment; false when none is linked. */
static bool
segq_advance(lbx__segq *q, const lbx__hazard *hazard, uint64_t head)
{
    lbx__segment *old = lbx__segq_segment_of(head);
    lbx__segment *next = lbx__segq_after(q, old);
    bool shared = hazard == &q->hazards[LBX__HAZARDS - 1];

    if (!next)
        return false;
    // seq_cst: before the loads of the hazards in segq_retire().
    if (!lbx__cas(&q->head, &head,
                  lbx__segq_pack(0, next, lbx__segq_sequence_of(head) + 1, 0),
                  seq_cst))
        return true;
    // Release: SEGQ-5, as for installs.
    (void)lbx__add(&q->retires, 1, release);
    if (!old)
        return true;
    if (!shared)
        lbx__lock_take(&q->lock);
    segq_retire(q, old);
    if (!shared)
        lbx__lock_give(&q->lock);
    return true;
}

/* Copies up to `max` filled slots from `head` on and returns how many. */
LBX__INLINE size_t
segq_copy_filled(uint64_t head, uint64_t *items, size_t max, unsigned words)
{
    const _Atomic(uint64_t) *slot =
        &lbx__segq_segment_of(head)->words[lbx__segq_index_of(head) * words];
    uint64_t left = LBX__SLOTS(words) - lbx__segq_index_of(head);
    size_t count = 0;

    while (count < max && count < left) {
        // Acquire: pairs with the release in lbx__slot_fill().
        uint64_t word0 = lbx__load(&slot[0], acquire);

        if (word0 == 0)
            break;
        lbx__slot_copy(slot, word0, &items[count * words], words);
        slot += words;
        count++;
    }
    return count;
}

/* The state of a pop. */
struct segq_pop {
    uint64_t *items;
    size_t max;
    size_t total;
    unsigned notes;
};

/* One step of a pop: takes what it can from one segment. False when the pop is
 * done. */
LBX__INLINE bool
segq_pop_some(lbx__segq *q, lbx__hazard *hazard, struct segq_pop *pop,
              unsigned words)
{
    uint64_t head = segq_protect(q, hazard);
    uint64_t index = lbx__segq_index_of(head);
    size_t count;

    if (index >= LBX__SLOTS(words))
        return segq_advance(q, hazard, head);
    count = segq_copy_filled(head, &pop->items[pop->total * words],
                             pop->max - pop->total, words);
    if (count == 0)
        // Empty only if no other consumer moved the head meanwhile.
        return lbx__load(&q->head, acquire) != head;
    // Release: these reads come before the slots count as taken. Acquire: as
    // the load in segq_protect().
    if (lbx__cas(&q->head, &head, head + count * LBX__INDEX_ONE, acq_rel)) {
        pop->total += count;
        pop->notes |= lbx__note_sample(index, index + count);
        if (index + count < LBX__SLOTS(words))
            return false;
        pop->notes |= LBX__NOTE_SAMPLE;
        return true; // there may be a next segment
    }
    lbx__pause();
    return true;
}

LBX__INLINE size_t
segq_pop_all(lbx__segq *q, uint64_t *items, size_t max, unsigned words,
             unsigned *ret_notes)
{
    lbx__hazard *hazard = segq_take_hazard(q);
    struct segq_pop pop = {.items = items, .max = max};

    while (pop.total < max && segq_pop_some(q, hazard, &pop, words))
        ;
    segq_give_hazard(q, hazard);
    *ret_notes = pop.notes;
    return pop.total;
}

size_t
lbx__segq_pop_many(lbx__segq *q, uint64_t *items, size_t max,
                   unsigned *ret_notes)
{
    switch (q->words) {
    case LBX__WORD:
        return segq_pop_all(q, items, max, LBX__WORD, ret_notes);
    case LBX__PAIR:
        return segq_pop_all(q, items, max, LBX__PAIR, ret_notes);
    default:
        return segq_pop_all(q, items, max, LBX__ENVELOPE, ret_notes);
    }
}
