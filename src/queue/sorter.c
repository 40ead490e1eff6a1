/* SPDX-License-Identifier: Apache-2.0 */
/* The sorter. T1 to T3 are in sorter.h. */
#include "queue/sorter.h"

enum {
    BATCH = 16
};

lbx_status
lbx__sorter_init(lbx__sorter *sorter, unsigned words,
                 const lbx__heap_order *order, const lbx_allocator *allocator)
{
    lbx__init(&sorter->taken, 0);
    lbx__init(&sorter->lock.word, 0);
    // A comparator sees envelopes, however messages come in.
    lbx__heap_init(&sorter->heap, order->compare ? LBX__ENVELOPE : words, order,
                   allocator);
    return lbx__segq_init(&sorter->inbox, words, false, allocator);
}

void
lbx__sorter_fini(lbx__sorter *sorter)
{
    lbx__heap_fini(&sorter->heap);
    lbx__segq_fini(&sorter->inbox);
}

static size_t
pop_inbox(lbx__sorter *sorter, uint64_t *items, size_t most)
{
    unsigned notes; // of no use here: takes are counted when they leave

    if (sorter->inbox.words == LBX__PAIR)
        return lbx__segq_pop_one(&sorter->inbox, items, most, LBX__PAIR,
                                 &notes);
    return lbx__segq_pop_one(&sorter->inbox, items, most, LBX__ENVELOPE,
                             &notes);
}

/* A pair as an envelope, for a comparator; and back. */

static void
widen(const uint64_t *pair, uint64_t *item)
{
    lbx_envelope envelope = lbx_envelope_new(NULL, (int32_t)(uint32_t)pair[1]);

    memcpy(item, &envelope, sizeof(envelope));
    item[0] = pair[0];
}

static void
narrow(const uint64_t *item, uint64_t *pair)
{
    lbx_envelope envelope;

    memcpy(&envelope, item, sizeof(envelope));
    pair[0] = item[0];
    pair[1] = (uint32_t)envelope.priority;
}

static bool
differs(const lbx__sorter *sorter)
{
    return sorter->heap.words != sorter->inbox.words;
}

static void
sort_in(lbx__sorter *sorter, const uint64_t *item)
{
    uint64_t whole[LBX__ENVELOPE];

    if (differs(sorter)) {
        widen(item, whole);
        item = whole;
    }
    lbx__heap_push(&sorter->heap, item);
}

/* Takes from the heap with `take`: pop or evict. */
static bool
take_out(lbx__sorter *sorter, uint64_t *item,
         bool (*take)(lbx__heap *heap, uint64_t *ret_item))
{
    uint64_t whole[LBX__ENVELOPE];

    if (!differs(sorter))
        return take(&sorter->heap, item);
    if (!take(&sorter->heap, whole))
        return false;
    narrow(whole, item);
    return true;
}

/* Sorts a batch of what has arrived; how many. */
static size_t
drain_batch(lbx__sorter *sorter)
{
    uint64_t items[BATCH * LBX__ENVELOPE];
    size_t count;

    if (!lbx__heap_reserve(&sorter->heap, BATCH))
        return 0;
    count = pop_inbox(sorter, items, BATCH);
    for (size_t i = 0; i < count; i++)
        sort_in(sorter, &items[i * sorter->inbox.words]);
    return count;
}

/* T1, as far as there is memory: what had arrived when the take began, so that
 * a steady stream does not keep it from ending. */
static void
drain(lbx__sorter *sorter)
{
    uint64_t waiting;

    // Mostly a few or none: the producers' line is not touched for that.
    if (drain_batch(sorter) < BATCH)
        return;
    waiting =
        lbx__segq_accepted(&sorter->inbox) - lbx__segq_taken(&sorter->inbox);
    while (waiting > 0) {
        size_t count = drain_batch(sorter);

        if (count < BATCH)
            return;
        waiting -= waiting < count ? waiting : count;
    }
}

static bool
pop(lbx__sorter *sorter, uint64_t *item)
{
    if (take_out(sorter, item, lbx__heap_pop))
        return true;
    if (pop_inbox(sorter, item, 1) == 0)
        return false;
    sorter->heap.arrivals++; // T3: it has passed the heap by
    return true;
}

static unsigned
count_taken(lbx__sorter *sorter, size_t count)
{
    // Relaxed: only the holder of the lock writes it. Release: for those who
    // count.
    uint64_t taken = lbx__load(&sorter->taken, relaxed);

    lbx__store(&sorter->taken, taken + count, release);
    return lbx__note_sample(taken, taken + count);
}

size_t
lbx__sorter_pop(lbx__sorter *sorter, uint64_t *items, size_t most,
                unsigned *ret_notes)
{
    unsigned words = sorter->inbox.words;
    size_t count = 0;

    lbx__lock_take(&sorter->lock);
    drain(sorter);
    while (count < most && pop(sorter, &items[count * words]))
        count++;
    *ret_notes = count_taken(sorter, count);
    lbx__lock_give(&sorter->lock);
    return count;
}

bool
lbx__sorter_evict(lbx__sorter *sorter, uint64_t *item)
{
    bool found;

    lbx__lock_take(&sorter->lock);
    drain(sorter);
    found = take_out(sorter, item, lbx__heap_evict) || pop(sorter, item);
    (void)count_taken(sorter, found);
    lbx__lock_give(&sorter->lock);
    return found;
}

bool
lbx__sorter_beats(lbx__sorter *sorter, const lbx_envelope *than)
{
    bool beats;

    lbx__lock_take(&sorter->lock);
    drain(sorter);
    beats = lbx__heap_beats(&sorter->heap, than);
    lbx__lock_give(&sorter->lock);
    return beats;
}

uint64_t
lbx__sorter_outstanding(lbx__sorter *sorter, uint64_t mark)
{
    uint64_t count;

    lbx__lock_take(&sorter->lock);
    count = lbx__heap_older(&sorter->heap, mark);
    if (sorter->heap.arrivals < mark)
        count += mark - sorter->heap.arrivals; // still in the inbox
    lbx__lock_give(&sorter->lock);
    return count;
}

uint64_t
lbx__sorter_taken(lbx__sorter *sorter)
{
    return lbx__load(&sorter->taken, acquire);
}
