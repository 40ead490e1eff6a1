/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The priority queue: drain, take, evict, compare. PRIOQ-1 to PRIOQ-3 are in
 * priority_queue.h.
 *
 * A comparator sees envelopes. When messages come in as pairs, the heap holds
 * them as envelopes, and items are converted on the way in and out.
 */
#include "queue/priority_queue.h"

enum {
    DRAIN_BATCH = 16
};

lbx_status
lbx__priority_queue_init(lbx__priority_queue *q, unsigned words,
                         const lbx__bucket_order *order,
                         const lbx_allocator *allocator)
{
    lbx__init(&q->taken, 0);
    lbx__init(&q->lock.word, 0);
    // A comparator sees envelopes, however messages come in.
    lbx__bucket_heap_init(&q->heap, order->compare ? LBX__ENVELOPE : words,
                          order, allocator);
    return lbx__segq_init(&q->inbox, words, false, allocator);
}

void
lbx__priority_queue_fini(lbx__priority_queue *q)
{
    lbx__bucket_heap_fini(&q->heap);
    lbx__segq_fini(&q->inbox);
}

static size_t
prioq_pop_inbox(lbx__priority_queue *q, uint64_t *items, size_t max)
{
    unsigned notes; // not used: takes are counted when they leave the heap

    if (q->inbox.words == LBX__PAIR)
        return lbx__segq_pop_one(&q->inbox, items, max, LBX__PAIR, &notes);
    return lbx__segq_pop_one(&q->inbox, items, max, LBX__ENVELOPE, &notes);
}

/* A pair as an envelope, for a comparator. */
static void
prioq_widen(const uint64_t *pair, uint64_t *item)
{
    lbx_envelope envelope = lbx_envelope_of(NULL, (int32_t)(uint32_t)pair[1]);

    memcpy(item, &envelope, sizeof(envelope));
    item[0] = pair[0];
}

static void
prioq_narrow(const uint64_t *item, uint64_t *pair)
{
    lbx_envelope envelope;

    memcpy(&envelope, item, sizeof(envelope));
    pair[0] = item[0];
    pair[1] = (uint32_t)envelope.priority;
}

static bool
prioq_converts(const lbx__priority_queue *q)
{
    return q->heap.words != q->inbox.words;
}

static void
prioq_push_heap(lbx__priority_queue *q, const uint64_t *item)
{
    uint64_t whole[LBX__ENVELOPE];

    if (prioq_converts(q)) {
        prioq_widen(item, whole);
        item = whole;
    }
    lbx__bucket_heap_push(&q->heap, item);
}

/* Takes an item out of the heap with `take`: pop or evict. */
static bool
prioq_take_heap(lbx__priority_queue *q, uint64_t *item,
                bool (*take)(lbx__bucket_heap *heap, uint64_t *ret_item))
{
    uint64_t whole[LBX__ENVELOPE];

    if (!prioq_converts(q))
        return take(&q->heap, item);
    if (!take(&q->heap, whole))
        return false;
    prioq_narrow(whole, item);
    return true;
}

/* Moves a batch from the inbox into the heap and returns how many. */
static size_t
prioq_drain_batch(lbx__priority_queue *q)
{
    uint64_t items[DRAIN_BATCH * LBX__ENVELOPE];
    size_t count;

    if (!lbx__bucket_heap_reserve(&q->heap, DRAIN_BATCH))
        return 0;
    count = prioq_pop_inbox(q, items, DRAIN_BATCH);
    for (size_t i = 0; i < count; i++)
        prioq_push_heap(q, &items[i * q->inbox.words]);
    return count;
}

/* PRIOQ-1, as far as there is memory: moves what had arrived when the take
 * began, so that it ends under a steady stream of pushes. */
static void
prioq_drain(lbx__priority_queue *q)
{
    uint64_t waiting;

    // Mostly few or none: then the producers' cache line is not read.
    if (prioq_drain_batch(q) < DRAIN_BATCH)
        return;
    waiting = lbx__segq_accepted(&q->inbox) - lbx__segq_taken(&q->inbox);
    while (waiting > 0) {
        size_t count = prioq_drain_batch(q);

        if (count < DRAIN_BATCH)
            return;
        waiting -= waiting < count ? waiting : count;
    }
}

static bool
prioq_pop(lbx__priority_queue *q, uint64_t *item)
{
    if (prioq_take_heap(q, item, lbx__bucket_heap_pop))
        return true;
    if (prioq_pop_inbox(q, item, 1) == 0)
        return false;
    q->heap.arrivals++; // PRIOQ-3: it never was in the heap
    return true;
}

static unsigned
prioq_count_taken(lbx__priority_queue *q, size_t count)
{
    // Relaxed: written under the lock only. Release: pairs with the acquire
    // of threads that read the count.
    uint64_t taken = lbx__load(&q->taken, relaxed);

    lbx__store(&q->taken, taken + count, release);
    return lbx__note_sample(taken, taken + count);
}

size_t
lbx__priority_queue_pop(lbx__priority_queue *q, uint64_t *items, size_t max,
                        unsigned *ret_notes)
{
    unsigned words = q->inbox.words;
    size_t count = 0;

    lbx__lock_take(&q->lock);
    prioq_drain(q);
    while (count < max && prioq_pop(q, &items[count * words]))
        count++;
    *ret_notes = prioq_count_taken(q, count);
    lbx__lock_give(&q->lock);
    return count;
}

bool
lbx__priority_queue_evict(lbx__priority_queue *q, uint64_t *item)
{
    bool found;

    lbx__lock_take(&q->lock);
    prioq_drain(q);
    found =
        prioq_take_heap(q, item, lbx__bucket_heap_evict) || prioq_pop(q, item);
    (void)prioq_count_taken(q, found);
    lbx__lock_give(&q->lock);
    return found;
}

bool
lbx__priority_queue_beats(lbx__priority_queue *q, const lbx_envelope *than)
{
    bool beats;

    lbx__lock_take(&q->lock);
    prioq_drain(q);
    beats = lbx__bucket_heap_beats(&q->heap, than);
    lbx__lock_give(&q->lock);
    return beats;
}

uint64_t
lbx__priority_queue_outstanding(lbx__priority_queue *q, uint64_t mark)
{
    uint64_t count;

    lbx__lock_take(&q->lock);
    count = lbx__bucket_heap_older(&q->heap, mark);
    if (q->heap.arrivals < mark)
        count += mark - q->heap.arrivals; // still in the inbox
    lbx__lock_give(&q->lock);
    return count;
}

uint64_t
lbx__priority_queue_taken(lbx__priority_queue *q)
{
    return lbx__load(&q->taken, acquire);
}
