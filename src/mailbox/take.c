/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking: receives that do not wait.
 *
 * The fast path: the gate is 0, pop, look at the gate once more (B1).
 * Everything else is a turn under the lock.
 */
#include "mailbox/box.h"

#include <assert.h>

enum {
    CHUNK = 64
};

/* What the fast path found. */
typedef enum finding {
    FOUND_SOME,
    FOUND_NONE,
    FOUND_GATE, /* use the lock */
} finding;

bool
lbx__box_may_wait(const lbx_mailbox *box)
{
    return !box->options.may_wait ||
           box->options.may_wait(box->options.may_wait_context);
}

/* Enters the fast path; false when the gate is up. B6: a single consumer says
 * that it is inside before it looks. */
LBX__INLINE bool
enter(lbx_mailbox *box, bool one)
{
    if (one) {
        assert(lbx__peek(&box->inside) == 0); // two threads, one consumer
        // Relaxed: ordered by the barrier of whoever raised the gate.
        lbx__store(&box->inside, 1u, relaxed);
        lbx__keep_order();
    }
    // Acquire: what the thread that opened the gate did under the lock.
    return lbx__load(&box->gate, acquire) == 0;
}

LBX__INLINE void
leave(lbx_mailbox *box, bool one)
{
    // Release: our pops come before those of a thread that waited for us.
    if (one)
        lbx__store(&box->inside, 0u, release);
}

LBX__INLINE finding
found_none(lbx_mailbox *box)
{
    // Relaxed, both: a hint among consumers.
    lbx__store(&box->dry, lbx__load(&box->dry, relaxed) + 1, relaxed);
    return FOUND_NONE;
}

/* Worth a depth sample: the mailbox filled up after it had run dry. Not every
 * time, or a fast consumer would do nothing else. */
LBX__INLINE bool
was_dry(lbx_mailbox *box)
{
    return lbx__load(&box->dry, relaxed) >= LBX__DRY_SPELL;
}

/* B1: was the gate raised while we took something? */
LBX__INLINE bool
was_gated(lbx_mailbox *box)
{
    // Relaxed: ordered by the barrier of whoever raised the gate.
    return (lbx__load(&box->gate, relaxed) &
            (LBX__GATE_CLOSED | LBX__GATE_FLUSH)) != 0;
}

/* One branch for all three. */
LBX__INLINE bool
is_noteworthy(lbx_mailbox *box, unsigned notes)
{
    return (notes | (unsigned)was_dry(box) | (unsigned)was_gated(box)) != 0;
}

/* What a pop noted, or the gate says after it. */
LBX__COLD finding
look_back(lbx_mailbox *box, unsigned notes)
{
    if ((notes & LBX__NOTE_SAMPLE) || was_dry(box)) {
        // Relaxed: a hint among consumers.
        lbx__store(&box->dry, 0u, relaxed);
        lbx__box_sample(box);
    }
    if (!(notes & LBX__NOTE_SENDERS) && !was_gated(box))
        return FOUND_SOME;
    lbx__box_hold(box); // a callback may give up the last handle
    if (notes & LBX__NOTE_SENDERS)
        lbx__box_room(box);
    if (was_gated(box))
        lbx__box_look_again(box);
    lbx__box_release(box);
    return FOUND_SOME;
}

LBX__INLINE finding
found_some(lbx_mailbox *box, unsigned notes)
{
    lbx__keep_order();
    if (LBX__UNLIKELY(is_noteworthy(box, notes)))
        return look_back(box, notes);
    return FOUND_SOME;
}

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

/* Takes an envelope without the lock. */
static finding
take_open(lbx_mailbox *box, lbx_envelope *ret)
{
    uint64_t item[LBX__ENVELOPE];
    unsigned notes = 0;
    int lane = LBX__CONTROL_LANE;
    size_t count = 0;

    if (!enter(box, !box->many)) {
        leave(box, !box->many);
        return FOUND_GATE;
    }
    if (box->lane[LBX__CONTROL_LANE])
        count = lbx__lane_pop(&box->control_lane, item, 1, &notes);
    if (count == 0) {
        lane = LBX__USER_LANE;
        count = lbx__lane_pop(&box->user_lane, item, 1, &notes);
    }
    leave(box, !box->many);
    if (count == 0)
        return found_none(box);
    lbx__box_unpack(box, lane, item, ret);
    return found_some(box, notes);
}

bool
lbx__box_take_open(lbx_mailbox *box, lbx_envelope *ret)
{
    return take_open(box, ret) == FOUND_SOME;
}

/* Pops one message of one lane under the lock. */
static bool
pop_lane(lbx_mailbox *box, int lane, lbx_envelope *ret, unsigned *notes)
{
    lbx__lane *from = lbx__box_lane(box, lane);
    uint64_t item[LBX__ENVELOPE];

    if (!from || lbx__lane_pop(from, item, 1, notes) == 0)
        return false;
    lbx__box_unpack(box, lane, item, ret);
    return true;
}

/* When the system lane is empty, the gate need not say otherwise. A system send
 * raises it under the lock, after its push. */
static void
lower_system(lbx_mailbox *box)
{
    lbx__lane *system = lbx__box_lane(box, LBX__SYSTEM_LANE);

    if (system && lbx__lane_depth(system) == 0)
        lbx__box_set_gate(box, LBX__GATE_SYSTEM, false);
}

bool
lbx__box_take_locked(lbx_mailbox *box, lbx__turn *turn, lbx_envelope *ret)
{
    unsigned notes = 0;
    bool some;

    lbx__box_sample(box);
    some = pop_lane(box, LBX__SYSTEM_LANE, ret, &notes);
    lower_system(box);
    if (!some && box->suspensions == 0)
        some = pop_lane(box, LBX__CONTROL_LANE, ret, &notes) ||
               pop_lane(box, LBX__USER_LANE, ret, &notes);
    if (!some)
        return false;
    if (notes & LBX__NOTE_SENDERS)
        lbx__box_admit(box, turn);
    if (!lbx__list_empty(&box->flushers))
        lbx__box_flushed(box, turn);
    if (box->closed)
        lbx__box_grant(box, turn);
    return true;
}

/* Adds a message's time in the mailbox to the numbers; -1 when unknown. */
static int64_t
note_time(lbx_mailbox *box, const lbx_envelope *envelope, int64_t now)
{
    int64_t waited = now - envelope->enqueued_ns;
    // Relaxed, all: numbers for people.
    int64_t longest = lbx__load(&box->waited_max_ns, relaxed);

    if (!box->options.timestamps)
        return -1;
    (void)lbx__add(&box->timed, 1, relaxed);
    (void)lbx__add(&box->waited_total_ns, waited, relaxed);
    while (waited > longest)
        if (lbx__cas(&box->waited_max_ns, &longest, waited, relaxed))
            break;
    return waited;
}

/* What is due for one that has a deadline, or whose take somebody wants to know
 * of; false: it is lost. */
LBX__COLD bool
taken_slowly(lbx_mailbox *box, const lbx_envelope *envelope, bool dated,
             bool watched)
{
    lbx_metric_event event = {
        .metric = LBX_METRIC_DEQUEUED,
        .mailbox = box,
        .waited_ns = -1,
        .last_ns = -1,
        .total_ns = -1,
    };

    if (box->options.timestamps || dated) {
        int64_t now = lbx_clock_now(box->options.clock);

        if (dated && now >= envelope->deadline_ns) {
            lbx__box_lose(box, envelope, LBX_LOST_EXPIRED);
            return false;
        }
        event.waited_ns = note_time(box, envelope, now);
    }
    if (watched) {
        lbx__box_event_of(box, &event);
        lbx__box_pressure(box);
    }
    return true;
}

bool
lbx__box_taken(lbx_mailbox *box, const lbx_envelope *envelope)
{
    bool dated =
        envelope->deadline_ns != LBX_FOREVER && envelope->deadline_ns != 0;
    // Relaxed: a sink that was just attached may miss this one.
    bool watched = lbx__load(&box->gate, relaxed) & LBX__GATE_WATCHED;

    if (LBX__LIKELY(!dated && !watched && !box->options.timestamps))
        return true;
    return taken_slowly(box, envelope, dated, watched);
}

/* One message under the lock, if nobody waits and nobody was promised it. */
static lbx_status
take_once(lbx_mailbox *box, lbx_envelope *ret)
{
    lbx_status status = LBX_EMPTY;
    lbx__turn turn;

    lbx__turn_begin(box, &turn);
    if (lbx__list_empty(&box->receivers) &&
        lbx__box_takeable(box) > box->reserved && // B2
        lbx__box_take_locked(box, &turn, ret))
        status = LBX_OK;
    else if (box->closed && lbx__box_depth(box) == 0)
        status = LBX_CLOSED;
    else
        (void)found_none(box);
    lbx__turn_end(box, &turn);
    return status;
}

lbx_status
lbx__box_take(lbx_mailbox *box, lbx_envelope *ret)
{
    if (!lbx__box_may_wait(box))
        return LBX_WOULD_BLOCK;
    for (;;) {
        finding found = take_open(box, ret);
        lbx_status status = found == FOUND_SOME ? LBX_OK : LBX_EMPTY;

        if (found == FOUND_GATE)
            status = take_once(box, ret);
        if (status != LBX_OK || lbx__box_taken(box, ret))
            return status;
    }
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

lbx_status
lbx_consumer_try_receive_envelope(lbx_consumer *consumer,
                                  lbx_envelope *ret_envelope)
{
    lbx_mailbox *box = lbx__box_of_consumer(consumer);
    lbx_envelope envelope;
    lbx_status status;

    if (!box || !ret_envelope)
        return LBX_INVALID;
    assert(box->magic == LBX__BOX_MAGIC);
    status = lbx__box_take(box, &envelope);
    if (status == LBX_OK)
        *ret_envelope = envelope;
    return status;
}

lbx_status
lbx__box_take_batch(lbx_mailbox *box, void **ret_messages, size_t most,
                    size_t *ret_count)
{
    lbx_status status = LBX_OK;
    lbx_envelope envelope;

    while (*ret_count < most) {
        status = lbx__box_take(box, &envelope);
        if (status != LBX_OK)
            break;
        ret_messages[(*ret_count)++] = envelope.message;
    }
    return *ret_count > 0 ? LBX_OK : status;
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
