/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking plain messages, one or many: the shortest ways, one for each kind of
 * queue. What they do not finish, take.c does.
 */
#include "mailbox/take.h"

enum {
    CHUNK = 64
};

/* Takes plain messages without the lock; `fast` is a constant where it pays.
 * Batches from one consumer's queue go another way: take_batch_one(). */
LBX__INLINE finding
take_plain(lbx_mailbox *box, lbx__fast fast, uint64_t *words, size_t most,
           size_t *ret_count)
{
    lbx__lane *user = &box->user_lane;
    unsigned control_notes = 0;
    unsigned notes = 0;
    size_t count = 0;

    if (LBX__UNLIKELY(!enter(box, fast == LBX__FAST_ONE))) {
        leave(box, fast == LBX__FAST_ONE);
        return FOUND_GATE;
    }
    if (fast == LBX__FAST_CONTROL &&
        !lbx__segq_looks_empty(&box->control_lane.q.segq))
        count = lbx__segq_pop_many(&box->control_lane.q.segq, words, most,
                                   &control_notes);
    if (fast == LBX__FAST_RING)
        count = lbx__ring_pop(&user->q.ring, words, most, LBX__WORD, &notes);
    else if (fast == LBX__FAST_ONE)
        count =
            lbx__segq_pop_one(&user->q.segq, words, most, LBX__WORD, &notes);
    else if (count < most)
        count += lbx__segq_pop_many(&user->q.segq, &words[count], most - count,
                                    &notes);
    leave(box, fast == LBX__FAST_ONE);
    *ret_count = count;
    return count > 0 ? found_some(box, notes | control_notes) : found_none(box);
}

/* Takes messages from a sorter without the box's lock. */
static finding
take_sorted(lbx_mailbox *box, void **ret_messages, size_t most,
            size_t *ret_count)
{
    uint64_t items[CHUNK * LBX__PAIR];
    unsigned notes = 0;
    size_t count;

    if (!enter(box, false))
        return FOUND_GATE;
    count = lbx__sorter_pop(&box->user_lane.q.sorter, items,
                            most < CHUNK ? most : CHUNK, &notes);
    for (size_t i = 0; i < count; i++)
        ret_messages[i] = lbx__slot_decode(items[i * LBX__PAIR]);
    *ret_count = count;
    return count > 0 ? found_some(box, notes) : found_none(box);
}

/* What the fast path did not finish. */
LBX__COLD lbx_status
receive_slow(lbx_mailbox *box, void **ret_message)
{
    lbx_envelope envelope;
    lbx_status status = lbx__box_take(box, &envelope);

    if (status == LBX_OK)
        *ret_message = envelope.message;
    return status;
}

/* One plain message, by a fast path known to the compiler. */
LBX__INLINE lbx_status
receive_plain(lbx_mailbox *box, lbx__fast fast, void **ret_message)
{
    uint64_t word;
    size_t count;
    finding found = take_plain(box, fast, &word, 1, &count);

    if (LBX__LIKELY(found == FOUND_SOME)) {
        *ret_message = lbx__slot_decode(word);
        return LBX_OK;
    }
    return found == FOUND_NONE ? LBX_EMPTY : receive_slow(box, ret_message);
}

static lbx_status
receive_sorted(lbx_mailbox *box, void **ret_message)
{
    size_t count;
    finding found = take_sorted(box, ret_message, 1, &count);

    if (found == FOUND_SOME)
        return LBX_OK;
    return found == FOUND_NONE ? LBX_EMPTY : receive_slow(box, ret_message);
}

LBX__COLD lbx_status
receive_one_slow(lbx_mailbox *box, void **ret_message)
{
    leave(box, true);
    return receive_plain(box, LBX__FAST_ONE, ret_message);
}

LBX__COLD lbx_status
receive_noted(lbx_mailbox *box, unsigned notes)
{
    (void)look_back(box, notes);
    return LBX_OK;
}

/* The shortest way. Everything else is a jump, so that it needs no frame. */
LBX__INLINE lbx_status
receive_one(lbx_mailbox *box, void **ret_message)
{
    lbx__segq *q = &box->user_lane.q.segq;
    bool open = enter(box, true);
    // Relaxed and acquire: as in lbx__segq_pop_one().
    uint64_t taken = lbx__load(&q->taken, relaxed);
    uint64_t word;
    unsigned notes;

    if (LBX__UNLIKELY(!open || taken == q->end))
        return receive_one_slow(box, ret_message);
    word = lbx__load(&q->segment->words[taken + LBX__SLOTS(LBX__WORD) - q->end],
                     acquire);
    if (word == 0) {
        leave(box, true);
        (void)found_none(box);
        return LBX_EMPTY;
    }
    lbx__store(&q->taken, taken + 1, release);
    leave(box, true);
    *ret_message = lbx__slot_decode(word);
    notes = lbx__note_sample(taken, taken + 1);
    lbx__keep_order();
    if (LBX__UNLIKELY(is_noteworthy(box, notes)))
        return receive_noted(box, notes);
    return LBX_OK;
}

/* The same for a ring. */
static __attribute__((noinline)) lbx_status
receive_ring(lbx_mailbox *box, void **ret_message)
{
    uint64_t word;
    unsigned notes;

    if (LBX__UNLIKELY(!enter(box, false)))
        return receive_slow(box, ret_message);
    if (lbx__ring_pop(&box->user_lane.q.ring, &word, 1, LBX__WORD, &notes) ==
        0) {
        (void)found_none(box);
        return LBX_EMPTY;
    }
    *ret_message = lbx__slot_decode(word);
    lbx__keep_order();
    if (LBX__UNLIKELY(is_noteworthy(box, notes)))
        return receive_noted(box, notes);
    return LBX_OK;
}

/* One function for each of the others, so that none pays for the rest. */

static __attribute__((noinline)) lbx_status
receive_many(lbx_mailbox *box, void **ret_message)
{
    return receive_plain(box, LBX__FAST_MANY, ret_message);
}

static __attribute__((noinline)) lbx_status
receive_control(lbx_mailbox *box, void **ret_message)
{
    return receive_plain(box, LBX__FAST_CONTROL, ret_message);
}

lbx_status
lbx_consumer_try_receive(lbx_consumer *consumer, void **ret_message)
{
    lbx_mailbox *box = lbx__box_of_consumer(consumer);

    if (LBX__UNLIKELY(!box || !ret_message))
        return LBX_INVALID;
    assert(box->magic == LBX__BOX_MAGIC);
    if (box->fast == LBX__FAST_ONE)
        return receive_one(box, ret_message);
    if (box->fast == LBX__FAST_MANY)
        return receive_many(box, ret_message);
    if (box->fast == LBX__FAST_RING)
        return receive_ring(box, ret_message);
    if (box->fast == LBX__FAST_CONTROL)
        return receive_control(box, ret_message);
    if (box->fast == LBX__FAST_SORTER)
        return receive_sorted(box, ret_message);
    return receive_slow(box, ret_message);
}

/* Takes a batch of plain messages without the lock. */
static finding
take_plain_batch(lbx_mailbox *box, void **ret_messages, size_t most,
                 size_t *ret_count)
{
    uint64_t words[CHUNK];
    size_t total = 0;
    size_t count;
    size_t wanted;
    finding found;

    do {
        wanted = most - total < CHUNK ? most - total : CHUNK;
        count = 0;
        found = take_plain(box, box->fast, words, wanted, &count);
        for (size_t i = 0; i < count; i++)
            ret_messages[total + i] = lbx__slot_decode(words[i]);
        total += count;
    } while (count == wanted && total < most);
    *ret_count = total;
    return total > 0 ? FOUND_SOME : found;
}

/* The same where there is one consumer: no detour through words. */
static finding
take_batch_one(lbx_mailbox *box, void **ret_messages, size_t most,
               size_t *ret_count)
{
    unsigned notes;

    if (LBX__UNLIKELY(!enter(box, true))) {
        leave(box, true);
        return FOUND_GATE;
    }
    *ret_count = lbx__segq_pop_messages(&box->user_lane.q.segq, ret_messages,
                                        most, &notes);
    leave(box, true);
    return *ret_count > 0 ? found_some(box, notes) : found_none(box);
}

static finding
take_batch(lbx_mailbox *box, void **ret_messages, size_t most,
           size_t *ret_count)
{
    if (box->fast == LBX__FAST_ONE)
        return take_batch_one(box, ret_messages, most, ret_count);
    if (box->fast == LBX__FAST_SORTER)
        return take_sorted(box, ret_messages, most, ret_count);
    return take_plain_batch(box, ret_messages, most, ret_count);
}

lbx_status
lbx_consumer_try_receive_batch(lbx_consumer *consumer, void **ret_messages,
                               size_t most, size_t *ret_count)
{
    lbx_mailbox *box = lbx__box_of_consumer(consumer);

    if (ret_count)
        *ret_count = 0;
    if (!box || !ret_messages || !ret_count || most == 0)
        return LBX_INVALID;
    assert(box->magic == LBX__BOX_MAGIC);
    if (LBX__LIKELY(box->fast != LBX__FAST_NONE)) {
        finding found = take_batch(box, ret_messages, most, ret_count);

        if (found == FOUND_SOME)
            return LBX_OK;
        if (found == FOUND_NONE)
            return LBX_EMPTY;
    }
    return lbx__box_take_batch(box, ret_messages, most, ret_count);
}
