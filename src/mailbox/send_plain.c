/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending plain messages: one push into the user lane, the shortest way for each
 * kind of queue. What they do not finish, send.c does.
 */
#include "mailbox/box.h"

#include <assert.h>

enum {
    CHUNK = 64,
    NO_FAST_PATH = -101,
};

/* What the fast path did not finish. */
LBX__COLD lbx_status
send_plain_slow(lbx_mailbox *box, void *message, int flags)
{
    lbx_envelope envelope;

    if (flags >= 0) {
        lbx__box_pushed(box, &box->user_lane, flags);
        return LBX_OK;
    }
    if (flags != LBX_FULL && flags != NO_FAST_PATH)
        return lbx__box_refuse(box, &box->user_lane, flags);
    if (flags == LBX_FULL && (box->options.overflow == LBX_REJECT ||
                              box->options.overflow == LBX_BLOCK))
        return lbx__box_reject(box, &box->user_lane);
    envelope = lbx_envelope_new(message, box->options.default_priority);
    return lbx_producer_try_send_envelope((lbx_producer *)(void *)box,
                                          &envelope, NULL);
}

/* Pushes a message with its priority into a sorter's inbox. */
static int
push_sorter(lbx_mailbox *box, void *message)
{
    const lbx_mailbox_options *options = &box->options;
    int32_t priority = options->default_priority;
    uint64_t item[LBX__PAIR];

    if (options->priority &&
        !options->priority(message, options->priority_context, &priority))
        return LBX_REFUSED;
    item[0] = lbx__slot_encode(message);
    item[1] = (uint32_t)priority;
    return lbx__segq_push(&box->user_lane.q.sorter.inbox, item, LBX__PAIR);
}

/* Pushes a plain message where that is all there is to do. As lbx__lane_push();
 * NO_FAST_PATH elsewhere. */
LBX__INLINE int
push_plain(lbx_mailbox *box, lbx__fast fast, void *message)
{
    uint64_t word = lbx__slot_encode(message);
    size_t count;

    switch (fast) {
    case LBX__FAST_ONE:
    case LBX__FAST_MANY:
    case LBX__FAST_CONTROL:
        return lbx__segq_push(&box->user_lane.q.segq, &word, LBX__WORD);
    case LBX__FAST_RING:
        return lbx__ring_push(&box->user_lane.q.ring, &word, 1, LBX__WORD,
                              false, &count);
    case LBX__FAST_SORTER:
        return push_sorter(box, message);
    case LBX__FAST_NONE:
        break;
    }
    return NO_FAST_PATH;
}

/* One function for each, so that none pays for the others. */

LBX__INLINE lbx_status
send_plain(lbx_mailbox *box, lbx__fast fast, void *message)
{
    int flags = push_plain(box, fast, message);

    return LBX__LIKELY(flags == 0) ? LBX_OK
                                   : send_plain_slow(box, message, flags);
}

/* A claim that was not plain. */
LBX__COLD lbx_status
send_claimed(lbx_mailbox *box, void *message, uint64_t seen)
{
    uint64_t word = lbx__slot_encode(message);
    int flags = lbx__segq_push_slow(&box->user_lane.q.segq, seen, &word);

    return flags == 0 ? LBX_OK : send_plain_slow(box, message, flags);
}

/* The shortest way. Everything else is a jump, so that it needs no frame. */
LBX__INLINE lbx_status
send_segq(lbx_mailbox *box, void *message)
{
    lbx__segq *q = &box->user_lane.q.segq;
    uint64_t word = lbx__slot_encode(message);
    uint64_t seen = lbx__segq_claim(q);

    if (LBX__UNLIKELY(!lbx__segq_is_plain(seen, LBX__WORD)))
        return send_claimed(box, message, seen);
    if (LBX__UNLIKELY(lbx__segq_fill(q, seen, &word, LBX__WORD) != 0))
        return send_plain_slow(box, message, LBX__STALLED);
    return LBX_OK;
}

static __attribute__((noinline)) lbx_status
send_ring(lbx_mailbox *box, void *message)
{
    return send_plain(box, LBX__FAST_RING, message);
}

static __attribute__((noinline)) lbx_status
send_other(lbx_mailbox *box, void *message)
{
    return send_plain(box, box->fast, message);
}

lbx_status
lbx_producer_try_send(lbx_producer *producer, void *message)
{
    lbx_mailbox *box = lbx__box_of_producer(producer);

    if (LBX__UNLIKELY(!box))
        return LBX_INVALID;
    assert(box->magic == LBX__BOX_MAGIC);
    if (LBX__LIKELY(box->fast <=
                    LBX__FAST_CONTROL)) // the three that push alike
        return send_segq(box, message);
    if (box->fast == LBX__FAST_RING)
        return send_ring(box, message);
    return send_other(box, message);
}

lbx_status
lbx_producer_send_until(lbx_producer *producer, void *message,
                        int64_t deadline_ns)
{
    lbx_mailbox *box = lbx__box_of_producer(producer);
    lbx_envelope envelope;
    int flags;

    if (LBX__UNLIKELY(!box))
        return LBX_INVALID;
    assert(box->magic == LBX__BOX_MAGIC);
    flags = push_plain(box, box->fast, message);
    if (LBX__LIKELY(flags == 0))
        return LBX_OK;
    // An operation is needed only where room may be waited for.
    if (!(box->capabilities & LBX_CAN_BLOCK) ||
        (flags != LBX_FULL && flags != NO_FAST_PATH))
        return send_plain_slow(box, message, flags);
    envelope = lbx_envelope_new(message, box->options.default_priority);
    return lbx_producer_send_envelope_until(producer, &envelope, deadline_ns,
                                            NULL);
}

lbx_status
lbx_producer_send(lbx_producer *producer, void *message)
{
    return lbx_producer_send_until(producer, message, LBX_FOREVER);
}

/* A whole batch into a ring of plain messages, as far as it goes. */
static size_t
push_ring_batch(lbx_mailbox *box, void *const *messages, size_t count)
{
    uint64_t words[CHUNK];
    size_t total = 0;
    size_t done;
    int flags;

    do {
        size_t wanted = count - total < CHUNK ? count - total : CHUNK;

        for (size_t i = 0; i < wanted; i++)
            words[i] = lbx__slot_encode(messages[total + i]);
        done = 0;
        flags = lbx__ring_push(&box->user_lane.q.ring, words, wanted, LBX__WORD,
                               false, &done);
        if (flags < 0)
            break;
        total += done;
        if (flags > 0)
            lbx__box_pushed(box, &box->user_lane, flags);
    } while (total < count);
    return total;
}

lbx_status
lbx_producer_try_send_batch(lbx_producer *producer, void *const *messages,
                            size_t count, size_t *ret_sent)
{
    lbx_mailbox *box = lbx__box_of_producer(producer);
    size_t sent = 0;
    lbx_status status = LBX_OK;

    if (ret_sent)
        *ret_sent = 0;
    if (!box || !ret_sent || (!messages && count > 0))
        return LBX_INVALID;
    if (box->fast == LBX__FAST_RING && count > 0)
        sent = push_ring_batch(box, messages, count);
    while (sent < count && status == LBX_OK) {
        status = lbx_producer_try_send(producer, messages[sent]);
        sent += status == LBX_OK;
    }
    *ret_sent = sent;
    return status;
}
