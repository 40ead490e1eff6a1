/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segment queue with many consumers. Q1 to Q6 are in segq.h.
 *
 * The head is a word like the tail's, moved by compare-and-swap. A consumer
 * reads a segment only while its own hazard names it, and the hazard stays from
 * call to call: it costs a store per segment, not per message. Threads beyond
 * the last hazard share it under the lock.
 */
#include "queue/segq_word.h"

#include "base/park.h"

static lbx__hazard *
take_hazard(lbx__segq *q)
{
    unsigned index = lbx__thread_index();

    if (index < LBX__HAZARDS - 1)
        return &q->hazards[index];
    lbx__lock_take(&q->lock);
    return &q->hazards[LBX__HAZARDS - 1];
}

static void
give_hazard(lbx__segq *q, const lbx__hazard *hazard)
{
    if (hazard == &q->hazards[LBX__HAZARDS - 1])
        lbx__lock_give(&q->lock);
}

static bool
is_hazard(const lbx__segq *q, const lbx__segment *segment)
{
    // seq_cst: pairs with the store in protect(). Either we see the hazard,
    // or its owner sees that the head has moved on.
    for (int i = 0; i < LBX__HAZARDS; i++)
        if (lbx__load(&q->hazards[i].segment, seq_cst) ==
            (uint64_t)(uintptr_t)segment)
            return true;
    return false;
}

/* Puts a used-up segment on the list, and recycles those that nobody reads. */
static void
retire(lbx__segq *q, lbx__segment *segment)
{
    lbx__segment **place = &q->retired;

    segment->retired = q->retired;
    q->retired = segment;
    while (*place) {
        lbx__segment *candidate = *place;

        if (is_hazard(q, candidate)) {
            place = &candidate->retired;
            continue;
        }
        *place = candidate->retired;
        lbx__segq_recycle(q, candidate);
    }
}

/* The head word, with its segment protected by our hazard. */
static uint64_t
protect(lbx__segq *q, lbx__hazard *hazard)
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

/* Moves the head to the next segment; false when there is none. */
static bool
advance(lbx__segq *q, const lbx__hazard *hazard, uint64_t head)
{
    lbx__segment *old = lbx__segq_segment_of(head);
    lbx__segment *next = lbx__segq_after(q, old);
    bool shared = hazard == &q->hazards[LBX__HAZARDS - 1];

    if (!next)
        return false;
    // seq_cst: before the look at the hazards in retire().
    if (!lbx__cas(&q->head, &head,
                  lbx__segq_pack(0, next, lbx__segq_sequence_of(head) + 1, 0),
                  seq_cst))
        return true;
    // Release: Q5, as for installs.
    (void)lbx__add(&q->retires, 1, release);
    if (!old)
        return true;
    if (!shared)
        lbx__lock_take(&q->lock);
    retire(q, old);
    if (!shared)
        lbx__lock_give(&q->lock);
    return true;
}

/* Copies up to `most` filled slots from `head` on; how many. */
LBX__INLINE size_t
copy_filled(uint64_t head, uint64_t *items, size_t most, unsigned words)
{
    const _Atomic(uint64_t) *slot =
        &lbx__segq_segment_of(head)->words[lbx__segq_index_of(head) * words];
    uint64_t room = LBX__SLOTS(words) - lbx__segq_index_of(head);
    size_t count = 0;

    while (count < most && count < room) {
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

/* A pop under way. */
struct pop {
    uint64_t *items;
    size_t most;
    size_t total;
    unsigned notes;
};

/* One step of a pop: takes what it can of one segment. False when there is
 * nothing more. */
LBX__INLINE bool
pop_some(lbx__segq *q, lbx__hazard *hazard, struct pop *pop, unsigned words)
{
    uint64_t head = protect(q, hazard);
    uint64_t index = lbx__segq_index_of(head);
    size_t count;

    if (index >= LBX__SLOTS(words))
        return advance(q, hazard, head);
    count = copy_filled(head, &pop->items[pop->total * words],
                        pop->most - pop->total, words);
    if (count == 0)
        // Empty only if nobody moved the head meanwhile.
        return lbx__load(&q->head, acquire) != head;
    // Release: our reads come before the slots count as taken. Acquire: as the
    // load in protect().
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
pop_all(lbx__segq *q, uint64_t *items, size_t most, unsigned words,
        unsigned *ret_notes)
{
    lbx__hazard *hazard = take_hazard(q);
    struct pop pop = {.items = items, .most = most};

    while (pop.total < most && pop_some(q, hazard, &pop, words))
        ;
    give_hazard(q, hazard);
    *ret_notes = pop.notes;
    return pop.total;
}

size_t
lbx__segq_pop_many(lbx__segq *q, uint64_t *items, size_t most,
                   unsigned *ret_notes)
{
    switch (q->words) {
    case LBX__WORD:
        return pop_all(q, items, most, LBX__WORD, ret_notes);
    case LBX__PAIR:
        return pop_all(q, items, most, LBX__PAIR, ret_notes);
    default:
        return pop_all(q, items, most, LBX__ENVELOPE, ret_notes);
    }
}
