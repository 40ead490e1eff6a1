/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer handle: its count, and the receives that do not wait.
 *
 * Plain messages, one or a batch, are taken without the lock while the gate is
 * 0. Each kind of queue has a fast path of its own; what a fast path does not
 * finish goes to a cold function and from there to take.c.
 *
 * Threads    any; receives from a single-consumer kind: one at a time.
 */
#include "mailbox/take.h"

#include "base/refs.h"

enum {
    TAKE_CHUNK = 64
};

lbx_consumer *
lbx_consumer_ref(lbx_consumer *consumer)
{
    // Relaxed: the caller has a handle.
    if (consumer)
        (void)lbx__add(&lbx__mailbox_of_consumer(consumer)->consumers, 1,
                       relaxed);
    return consumer;
}

void
lbx_consumer_unref(lbx_consumer *consumer)
{
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);

    if (!box)
        return;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    if (!lbx__refs_drop(&box->consumers)) // all takes come before the close
        return;
    lbx__mailbox_shut(box, true, false);
    lbx__mailbox_release(box);
}

lbx_mailbox *
lbx_consumer_mailbox(lbx_consumer *consumer)
{
    return lbx__mailbox_of_consumer(consumer);
}

/* Takes plain messages without the lock. `fast` is a compile-time constant for
 * single messages. Batches of a single consumer: consumer_take_batch_one(). */
LBX__INLINE lbx__take_result
consumer_take_plain(lbx_mailbox *box, lbx__fast fast, uint64_t *words,
                    size_t max, size_t *ret_count)
{
    lbx__lane *user = &box->user_lane;
    unsigned control_notes = 0;
    unsigned notes = 0;
    size_t count = 0;

    if (LBX__UNLIKELY(!lbx__take_enter(box, fast == LBX__FAST_ONE))) {
        lbx__take_leave(box, fast == LBX__FAST_ONE);
        return LBX__TAKE_GATED;
    }
    if (fast == LBX__FAST_CONTROL &&
        !lbx__segq_looks_empty(&box->control_lane.q.segq))
        count = lbx__segq_pop_many(&box->control_lane.q.segq, words, max,
                                   &control_notes);
    if (fast == LBX__FAST_RING)
        count = lbx__ring_pop(&user->q.ring, words, max, LBX__WORD, &notes);
    else if (fast == LBX__FAST_ONE)
        count = lbx__segq_pop_one(&user->q.segq, words, max, LBX__WORD, &notes);
    else if (count < max)
        count += lbx__segq_pop_many(&user->q.segq, &words[count], max - count,
                                    &notes);
    lbx__take_leave(box, fast == LBX__FAST_ONE);
    *ret_count = count;
    return count > 0 ? lbx__take_some(box, notes | control_notes)
                     : lbx__take_none(box);
}

/* Takes messages from a priority queue without the mailbox's lock. */
static lbx__take_result
consumer_take_priority(lbx_mailbox *box, void **ret_messages, size_t max,
                       size_t *ret_count)
{
    uint64_t items[TAKE_CHUNK * LBX__PAIR];
    unsigned notes = 0;
    size_t count;

    if (!lbx__take_enter(box, false))
        return LBX__TAKE_GATED;
    count =
        lbx__priority_queue_pop(&box->user_lane.q.priority, items,
                                max < TAKE_CHUNK ? max : TAKE_CHUNK, &notes);
    for (size_t i = 0; i < count; i++)
        ret_messages[i] = lbx__slot_decode(items[i * LBX__PAIR]);
    *ret_count = count;
    return count > 0 ? lbx__take_some(box, notes) : lbx__take_none(box);
}

/* Finishes what the fast path did not. */
LBX__COLD lbx_status
consumer_receive_slow(lbx_mailbox *box, void **ret_message)
{
    lbx_envelope envelope;
    lbx_status status = lbx__take_one(box, &envelope);

    if (status == LBX_OK)
        *ret_message = envelope.message;
    return status;
}

/* One plain message, by a fast path known to the compiler. */
LBX__INLINE lbx_status
consumer_receive_plain(lbx_mailbox *box, lbx__fast fast, void **ret_message)
{
    uint64_t word;
    size_t count;
    lbx__take_result found = consumer_take_plain(box, fast, &word, 1, &count);

    if (LBX__LIKELY(found == LBX__TAKE_SOME)) {
        *ret_message = lbx__slot_decode(word);
        return LBX_OK;
    }
    return found == LBX__TAKE_NONE ? LBX_EMPTY
                                   : consumer_receive_slow(box, ret_message);
}

static lbx_status
consumer_receive_priority(lbx_mailbox *box, void **ret_message)
{
    size_t count;
    lbx__take_result found =
        consumer_take_priority(box, ret_message, 1, &count);

    if (found == LBX__TAKE_SOME)
        return LBX_OK;
    return found == LBX__TAKE_NONE ? LBX_EMPTY
                                   : consumer_receive_slow(box, ret_message);
}

LBX__COLD lbx_status
consumer_receive_one_slow(lbx_mailbox *box, void **ret_message)
{
    lbx__take_leave(box, true);
    return consumer_receive_plain(box, LBX__FAST_ONE, ret_message);
}

LBX__COLD lbx_status
consumer_receive_noted(lbx_mailbox *box, unsigned notes)
{
    (void)lbx__take_follow_up(box, notes);
    return LBX_OK;
}

/* The shortest path. All other paths are tail calls: it needs no frame. */
LBX__INLINE lbx_status
consumer_receive_one(lbx_mailbox *box, void **ret_message)
{
    lbx__segq *q = &box->user_lane.q.segq;
    bool open = lbx__take_enter(box, true);
    // Relaxed and acquire: as in lbx__segq_pop_one().
    uint64_t taken = lbx__load(&q->taken, relaxed);
    uint64_t word;
    unsigned notes;

    if (LBX__UNLIKELY(!open || taken == q->end))
        return consumer_receive_one_slow(box, ret_message);
    word = lbx__load(&q->segment->words[taken + LBX__SLOTS(LBX__WORD) - q->end],
                     acquire);
    if (word == 0) {
        lbx__take_leave(box, true);
        (void)lbx__take_none(box);
        return LBX_EMPTY;
    }
    lbx__store(&q->taken, taken + 1, release);
    lbx__take_leave(box, true);
    *ret_message = lbx__slot_decode(word);
    notes = lbx__note_sample(taken, taken + 1);
    lbx__keep_order();
    if (LBX__UNLIKELY(lbx__take_is_notable(box, notes)))
        return consumer_receive_noted(box, notes);
    return LBX_OK;
}

/* The same for a ring. */
static __attribute__((noinline)) lbx_status
consumer_receive_ring(lbx_mailbox *box, void **ret_message)
{
    uint64_t word;
    unsigned notes;

    if (LBX__UNLIKELY(!lbx__take_enter(box, false)))
        return consumer_receive_slow(box, ret_message);
    if (lbx__ring_pop(&box->user_lane.q.ring, &word, 1, LBX__WORD, &notes) ==
        0) {
        (void)lbx__take_none(box);
        return LBX_EMPTY;
    }
    *ret_message = lbx__slot_decode(word);
    lbx__keep_order();
    if (LBX__UNLIKELY(lbx__take_is_notable(box, notes)))
        return consumer_receive_noted(box, notes);
    return LBX_OK;
}

static __attribute__((noinline)) lbx_status
consumer_receive_many(lbx_mailbox *box, void **ret_message)
{
    return consumer_receive_plain(box, LBX__FAST_MANY, ret_message);
}

static __attribute__((noinline)) lbx_status
consumer_receive_control(lbx_mailbox *box, void **ret_message)
{
    return consumer_receive_plain(box, LBX__FAST_CONTROL, ret_message);
}

lbx_status
lbx_consumer_try_receive(lbx_consumer *consumer, void **ret_message)
{
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);

    if (LBX__UNLIKELY(!box || !ret_message))
        return LBX_INVALID;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    if (box->fast == LBX__FAST_ONE)
        return consumer_receive_one(box, ret_message);
    if (box->fast == LBX__FAST_MANY)
        return consumer_receive_many(box, ret_message);
    if (box->fast == LBX__FAST_RING)
        return consumer_receive_ring(box, ret_message);
    if (box->fast == LBX__FAST_CONTROL)
        return consumer_receive_control(box, ret_message);
    if (box->fast == LBX__FAST_PRIORITY)
        return consumer_receive_priority(box, ret_message);
    return consumer_receive_slow(box, ret_message);
}

/* Takes a batch of plain messages without the lock. */
static lbx__take_result
consumer_take_plain_batch(lbx_mailbox *box, void **ret_messages, size_t max,
                          size_t *ret_count)
{
    uint64_t words[TAKE_CHUNK];
    size_t total = 0;
    size_t count;
    size_t wanted;
    lbx__take_result found;

    do {
        wanted = max - total < TAKE_CHUNK ? max - total : TAKE_CHUNK;
        count = 0;
        found = consumer_take_plain(box, box->fast, words, wanted, &count);
        for (size_t i = 0; i < count; i++)
            ret_messages[total + i] = lbx__slot_decode(words[i]);
        total += count;
    } while (count == wanted && total < max);
    *ret_count = total;
    return total > 0 ? LBX__TAKE_SOME : found;
}

/* The same for a single consumer, straight into the array of the caller. */
static lbx__take_result
consumer_take_batch_one(lbx_mailbox *box, void **ret_messages, size_t max,
                        size_t *ret_count)
{
    unsigned notes;

    if (LBX__UNLIKELY(!lbx__take_enter(box, true))) {
        lbx__take_leave(box, true);
        return LBX__TAKE_GATED;
    }
    *ret_count = lbx__segq_pop_messages(&box->user_lane.q.segq, ret_messages,
                                        max, &notes);
    lbx__take_leave(box, true);
    return *ret_count > 0 ? lbx__take_some(box, notes) : lbx__take_none(box);
}

static lbx__take_result
consumer_take_batch(lbx_mailbox *box, void **ret_messages, size_t max,
                    size_t *ret_count)
{
    if (box->fast == LBX__FAST_ONE)
        return consumer_take_batch_one(box, ret_messages, max, ret_count);
    if (box->fast == LBX__FAST_PRIORITY)
        return consumer_take_priority(box, ret_messages, max, ret_count);
    return consumer_take_plain_batch(box, ret_messages, max, ret_count);
}

lbx_status
lbx_consumer_try_receive_batch(lbx_consumer *consumer, void **ret_messages,
                               size_t max, size_t *ret_count)
{
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);

    if (ret_count)
        *ret_count = 0;
    if (!box || !ret_messages || !ret_count || max == 0)
        return LBX_INVALID;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    if (LBX__LIKELY(box->fast != LBX__FAST_NONE)) {
        lbx__take_result found =
            consumer_take_batch(box, ret_messages, max, ret_count);

        if (found == LBX__TAKE_SOME)
            return LBX_OK;
        if (found == LBX__TAKE_NONE)
            return LBX_EMPTY;
    }
    return lbx__take_batch(box, ret_messages, NULL, max, ret_count);
}

lbx_status
lbx_consumer_try_receive_envelope_batch(lbx_consumer *consumer,
                                        lbx_envelope *ret_envelopes, size_t max,
                                        size_t *ret_count)
{
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);

    if (ret_count)
        *ret_count = 0;
    if (!box || !ret_envelopes || !ret_count || max == 0)
        return LBX_INVALID;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    return lbx__take_batch(box, NULL, ret_envelopes, max, ret_count);
}

lbx_status
lbx_consumer_try_receive_envelope(lbx_consumer *consumer,
                                  lbx_envelope *ret_envelope)
{
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);
    lbx_envelope envelope;
    lbx_status status;

    if (!box || !ret_envelope)
        return LBX_INVALID;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    status = lbx__take_one(box, &envelope);
    if (status == LBX_OK)
        *ret_envelope = envelope;
    return status;
}
