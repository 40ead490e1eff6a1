/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer handle: its count, and the sends that do not wait.
 *
 * A plain message is one push into the user lane. Each kind of queue has a fast
 * path of its own, known to the compiler, so that none pays for the others;
 * what a fast path does not finish goes to a cold function and from there to
 * send.c.
 *
 * Threads    any.
 */
#include "mailbox/mailbox.h"

#include "base/refs.h"

#include <assert.h>

enum {
    SEND_CHUNK = 64,
    NO_FAST_PATH = -101,
};

lbx_producer *
lbx_producer_ref(lbx_producer *producer)
{
    // Relaxed: the caller has a handle.
    if (producer)
        (void)lbx__add(&lbx__mailbox_of_producer(producer)->producers, 1,
                       relaxed);
    return producer;
}

void
lbx_producer_unref(lbx_producer *producer)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);

    if (!box)
        return;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    if (!lbx__refs_drop(&box->producers)) // all sends come before the close
        return;
    lbx__mailbox_shut(box, false, false);
    lbx__mailbox_release(box);
}

lbx_mailbox *
lbx_producer_mailbox(lbx_producer *producer)
{
    return lbx__mailbox_of_producer(producer);
}

/* Finishes what the fast path did not. */
LBX__COLD lbx_status
producer_send_slow(lbx_mailbox *box, void *message, int flags)
{
    lbx_envelope envelope;

    if (flags >= 0) {
        lbx__send_pushed(box, &box->user_lane, flags);
        return LBX_OK;
    }
    if (flags != LBX_FULL && flags != NO_FAST_PATH)
        return lbx__send_refuse(box, &box->user_lane, flags);
    if (flags == LBX_FULL && (box->options.overflow == LBX_OVERFLOW_REJECT ||
                              box->options.overflow == LBX_OVERFLOW_BLOCK))
        return lbx__send_reject(box, &box->user_lane);
    envelope = lbx_envelope_of(message, box->options.default_priority);
    return lbx_producer_try_send_envelope((lbx_producer *)(void *)box,
                                          &envelope, NULL);
}

/* Pushes a message with its priority into the inbox of a priority queue. */
static int
producer_push_priority(lbx_mailbox *box, void *message)
{
    const lbx_mailbox_options *options = &box->options;
    int32_t priority = options->default_priority;
    uint64_t item[LBX__PAIR];

    if (options->priority &&
        !options->priority(message, options->priority_context, &priority))
        return LBX_REFUSED;
    item[0] = lbx__slot_encode(message);
    item[1] = (uint32_t)priority;
    return lbx__segq_push(&box->user_lane.q.priority.inbox, item, LBX__PAIR);
}

/* Pushes a plain message. Returns as lbx__lane_push(); NO_FAST_PATH when the
 * mailbox needs more than a push. */
LBX__INLINE int
producer_push_plain(lbx_mailbox *box, lbx__fast fast, void *message)
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
    case LBX__FAST_PRIORITY:
        return producer_push_priority(box, message);
    case LBX__FAST_NONE:
        break;
    }
    return NO_FAST_PATH;
}

LBX__INLINE lbx_status
producer_send_plain(lbx_mailbox *box, lbx__fast fast, void *message)
{
    int flags = producer_push_plain(box, fast, message);

    return LBX__LIKELY(flags == 0) ? LBX_OK
                                   : producer_send_slow(box, message, flags);
}

/* Finishes a claim that was not plain. */
LBX__COLD lbx_status
producer_send_claimed(lbx_mailbox *box, void *message, uint64_t seen)
{
    uint64_t word = lbx__slot_encode(message);
    int flags = lbx__segq_push_slow(&box->user_lane.q.segq, seen, &word);

    return flags == 0 ? LBX_OK : producer_send_slow(box, message, flags);
}

/* The shortest path. All other paths are tail calls: it needs no frame. */
LBX__INLINE lbx_status
producer_send_segq(lbx_mailbox *box, void *message)
{
    lbx__segq *q = &box->user_lane.q.segq;
    uint64_t word = lbx__slot_encode(message);
    uint64_t seen = lbx__segq_claim(q);

    if (LBX__UNLIKELY(!lbx__segq_is_plain(seen, LBX__WORD)))
        return producer_send_claimed(box, message, seen);
    if (LBX__UNLIKELY(lbx__segq_fill(q, seen, &word, LBX__WORD) != 0))
        return producer_send_slow(box, message, LBX__FLAG_STALLED);
    return LBX_OK;
}

static __attribute__((noinline)) lbx_status
producer_send_ring(lbx_mailbox *box, void *message)
{
    return producer_send_plain(box, LBX__FAST_RING, message);
}

static __attribute__((noinline)) lbx_status
producer_send_other(lbx_mailbox *box, void *message)
{
    return producer_send_plain(box, box->fast, message);
}

lbx_status
lbx_producer_try_send(lbx_producer *producer, void *message)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);

    if (LBX__UNLIKELY(!box))
        return LBX_INVALID;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    if (LBX__LIKELY(box->fast <=
                    LBX__FAST_CONTROL)) // the three that push alike
        return producer_send_segq(box, message);
    if (box->fast == LBX__FAST_RING)
        return producer_send_ring(box, message);
    return producer_send_other(box, message);
}

lbx_status
lbx_producer_send_until(lbx_producer *producer, void *message,
                        int64_t deadline_ns)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);
    lbx_envelope envelope;
    int flags;

    if (LBX__UNLIKELY(!box))
        return LBX_INVALID;
    assert(box->magic == LBX__MAILBOX_MAGIC);
    flags = producer_push_plain(box, box->fast, message);
    if (LBX__LIKELY(flags == 0))
        return LBX_OK;
    // An operation is needed only where the policy may wait.
    if (!(box->capabilities & LBX_CAPABILITY_BLOCK) ||
        (flags != LBX_FULL && flags != NO_FAST_PATH))
        return producer_send_slow(box, message, flags);
    envelope = lbx_envelope_of(message, box->options.default_priority);
    return lbx_producer_send_envelope_until(producer, &envelope, deadline_ns,
                                            NULL);
}

lbx_status
lbx_producer_send_for(lbx_producer *producer, void *message, int64_t wait_ns)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);
    int64_t deadline_ns = LBX_FOREVER;

    if (!box)
        return LBX_INVALID;
    if (box->capabilities & LBX_CAPABILITY_BLOCK)
        deadline_ns = lbx_deadline_after(box->options.clock, wait_ns);
    return lbx_producer_send_until(producer, message, deadline_ns);
}

lbx_status
lbx_producer_send(lbx_producer *producer, void *message)
{
    return lbx_producer_send_until(producer, message, LBX_FOREVER);
}

/* Pushes a batch into a ring of plain messages; returns how many. */
static size_t
producer_push_ring_batch(lbx_mailbox *box, void *const *messages, size_t count)
{
    uint64_t words[SEND_CHUNK];
    size_t total = 0;
    size_t done;
    int flags;

    do {
        size_t wanted = count - total < SEND_CHUNK ? count - total : SEND_CHUNK;

        for (size_t i = 0; i < wanted; i++)
            words[i] = lbx__slot_encode(messages[total + i]);
        done = 0;
        flags = lbx__ring_push(&box->user_lane.q.ring, words, wanted, LBX__WORD,
                               false, &done);
        if (flags < 0)
            break;
        total += done;
        if (flags > 0)
            lbx__send_pushed(box, &box->user_lane, flags);
    } while (total < count);
    return total;
}

lbx_status
lbx_producer_try_send_batch(lbx_producer *producer, void *const *messages,
                            size_t count, size_t *ret_sent)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);
    size_t sent = 0;
    lbx_status status = LBX_OK;

    if (ret_sent)
        *ret_sent = 0;
    if (!box || !ret_sent || (!messages && count > 0))
        return LBX_INVALID;
    if (box->fast == LBX__FAST_RING && count > 0)
        sent = producer_push_ring_batch(box, messages, count);
    while (sent < count && status == LBX_OK) {
        status = lbx_producer_try_send(producer, messages[sent]);
        sent += status == LBX_OK;
    }
    *ret_sent = sent;
    return status;
}

lbx_status
lbx_producer_send_batch_until(lbx_producer *producer, void *const *messages,
                              size_t count, int64_t deadline_ns,
                              size_t *ret_sent)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);
    lbx_operation operation;
    lbx_status status;
    size_t first = 0; /* as many go in at once */
    size_t rest;

    if (ret_sent)
        *ret_sent = 0;
    if (!box || !ret_sent || (!messages && count > 0))
        return LBX_INVALID;
    if (box->fast == LBX__FAST_RING && count > 0)
        first = producer_push_ring_batch(box, messages, count);
    *ret_sent = first;
    if (first == count)
        return LBX_OK;
    status =
        lbx_producer_send_batch_init(&operation, producer, &messages[first],
                                     count - first, deadline_ns, &rest);
    if (status != LBX_OK)
        return status;
    status = lbx_operation_wait(&operation);
    lbx_operation_fini(&operation);
    *ret_sent = first + rest;
    return status;
}

static lbx_send_result
producer_fresh_result(const lbx_mailbox *box)
{
    lbx_send_result result = {
        .outcome = LBX_OUTCOME_NOT_SENT,
        .capacity_messages = 0,
        .overflow = box ? box->options.overflow : LBX_OVERFLOW_REJECT,
    };

    return result;
}

/* The fast path of an ordinary envelope: see mailbox_is_straight(). */
static lbx_status
producer_send_straight(lbx_mailbox *box, const lbx_envelope *envelope,
                       lbx_send_result *ret_result)
{
    lbx__lane *lane = &box->user_lane;
    lbx_envelope copy = *envelope;
    uint64_t item[LBX__ENVELOPE];
    int flags;

    copy.lost = LBX_LOSS_NONE;
    copy.recipient = box->options.owner;
    memcpy(item, &copy, sizeof(copy));
    item[0] = lbx__slot_encode(copy.message);
    flags = lbx__lane_push(lane, item, false);
    if (ret_result) {
        lbx_send_result result = producer_fresh_result(box);

        if (flags >= 0)
            result.outcome = LBX_OUTCOME_ENQUEUED;
        lbx__send_result_write(ret_result, &result);
    }
    if (flags > 0)
        lbx__send_pushed(box, lane, flags); // the mailbox may be freed here
    return flags >= 0 ? LBX_OK : lbx__send_refuse(box, lane, flags);
}

lbx_status
lbx_producer_try_send_envelope(lbx_producer *producer,
                               const lbx_envelope *envelope,
                               lbx_send_result *ret_result)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);
    lbx_send_result result;
    lbx_status status = LBX_INVALID;
    lbx_envelope copy;
    lbx__lane *lane;

    if (ret_result && !lbx__send_result_is_writable(ret_result))
        return LBX_INVALID;
    if (box && envelope && box->straight &&
        envelope->channel == LBX_CHANNEL_REGULAR &&
        envelope->system.code == LBX_SYSTEM_CODE_NONE)
        return producer_send_straight(box, envelope, ret_result);
    result = producer_fresh_result(box);
    if (box && envelope) {
        assert(box->magic == LBX__MAILBOX_MAGIC);
        copy = *envelope;
        status = lbx__send_check(box, &copy, &lane);
        if (status == LBX_OK)
            status = lbx__send_envelope(box, lane, &copy, &result);
    }
    if (status != LBX_OK)
        result.outcome = LBX_OUTCOME_NOT_SENT;
    if (ret_result)
        lbx__send_result_write(ret_result, &result);
    return status;
}

lbx_status
lbx_producer_try_send_front(lbx_producer *producer, void *message)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);

    if (!box)
        return LBX_INVALID;
    return lbx__send_front(
        box, lbx_envelope_of(message, box->options.default_priority));
}

lbx_status
lbx_producer_try_send_front_envelope(lbx_producer *producer,
                                     const lbx_envelope *envelope)
{
    lbx_mailbox *box = lbx__mailbox_of_producer(producer);

    return box && envelope ? lbx__send_front(box, *envelope) : LBX_INVALID;
}

lbx_status
lbx_producer_try_send_envelope_batch(lbx_producer *producer,
                                     const lbx_envelope *envelopes,
                                     size_t count, size_t *ret_sent)
{
    lbx_status status = LBX_OK;

    if (ret_sent)
        *ret_sent = 0;
    if (!producer || !ret_sent || (!envelopes && count > 0))
        return LBX_INVALID;
    while (*ret_sent < count && status == LBX_OK) {
        status = lbx_producer_try_send_envelope(producer, &envelopes[*ret_sent],
                                                NULL);
        *ret_sent += status == LBX_OK;
    }
    return status;
}
