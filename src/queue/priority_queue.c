/* SPDX-License-Identifier: Apache-2.0 */
/* The sorter. T1 to T3 are in sorter.h. */
#include "queue/priority_queue.h"

enum {
    BATCH = 16
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
pop_inbox(lbx__priority_queue *q, uint64_t *items, size_t most)
{
    unsigned notes; // of no use here: takes are counted when they leave

    if (q->inbox.words == LBX__PAIR)
        return lbx__segq_pop_one(&q->inbox, items, most, LBX__PAIR, &notes);
    return lbx__segq_pop_one(&q->inbox, items, most, LBX__ENVELOPE, &notes);
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
differs(const lbx__priority_queue *q)
{
    return q->heap.words != q->inbox.words;
}

static void
sort_in(lbx__priority_queue *q, const uint64_t *item)
{
    uint64_t whole[LBX__ENVELOPE];

    if (differs(q)) {
        widen(item, whole);
        item = whole;
    }
    lbx__bucket_heap_push(&q->heap, item);
}

/* Takes from the heap with `take`: pop or evict. */
static bool
take_out(lbx__priority_queue *q, uint64_t *item,
         bool (*take)(lbx__bucket_heap *heap, uint64_t *ret_item))
{
    uint64_t whole[LBX__ENVELOPE];

    if (!differs(q))
        return take(&q->heap, item);
    if (!take(&q->heap, whole))
        return false;
    narrow(whole, item);
    return true;
}

/* Sorts a batch of what has arrived; how many. */
static size_t
drain_batch(lbx__priority_queue *q)
{
    uint64_t items[BATCH * LBX__ENVELOPE];
    size_t count;

    if (!lbx__bucket_heap_reserve(&q->heap, BATCH))
        return 0;
    count = pop_inbox(q, items, BATCH);
    for (size_t i = 0; i < count; i++)
        sort_in(q, &items[i * q->inbox.words]);
    return count;
}

/* T1, as far as there is memory: what had arrived when the take began, so that
 * a steady stream does not keep it from ending. */
static void
drain(lbx__priority_queue *q)
{
    uint64_t waiting;

    // Mostly a few or none: the producers' line is not touched for that.
    if (drain_batch(q) < BATCH)
        return;
    waiting = lbx__segq_accepted(&q->inbox) - lbx__segq_taken(&q->inbox);
    while (waiting > 0) {
        size_t count = drain_batch(q);

        if (count < BATCH)
            return;
        waiting -= waiting < count ? waiting : count;
    }
}

static bool
pop(lbx__priority_queue *q, uint64_t *item)
{
    if (take_out(q, item, lbx__bucket_heap_pop))
        return true;
    if (pop_inbox(q, item, 1) == 0)
        return false;
    q->heap.arrivals++; // T3: it has passed the heap by
    return true;
}

static unsigned
count_taken(lbx__priority_queue *q, size_t count)
{
    // Relaxed: only the holder of the lock writes it. Release: for those who
    // count.
    uint64_t taken = lbx__load(&q->taken, relaxed);

    lbx__store(&q->taken, taken + count, release);
    return lbx__note_sample(taken, taken + count);
}

size_t
lbx__priority_queue_pop(lbx__priority_queue *q, uint64_t *items, size_t most,
                        unsigned *ret_notes)
{
    unsigned words = q->inbox.words;
    size_t count = 0;

    lbx__lock_take(&q->lock);
    drain(q);
    while (count < most && pop(q, &items[count * words]))
        count++;
    *ret_notes = count_taken(q, count);
    lbx__lock_give(&q->lock);
    return count;
}

bool
lbx__priority_queue_evict(lbx__priority_queue *q, uint64_t *item)
{
    bool found;

    lbx__lock_take(&q->lock);
    drain(q);
    found = take_out(q, item, lbx__bucket_heap_evict) || pop(q, item);
    (void)count_taken(q, found);
    lbx__lock_give(&q->lock);
    return found;
}

bool
lbx__priority_queue_beats(lbx__priority_queue *q, const lbx_envelope *than)
{
    bool beats;

    lbx__lock_take(&q->lock);
    drain(q);
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
