/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending that does not wait.
 *
 * The fast path is one push into the user lane. A flag that the push saw is
 * dealt with afterwards: the message is in. What finds no room is decided by
 * the overflow policy.
 */
#include "mailbox/box.h"

#include "base/park.h"
#include <assert.h>
#include <string.h>

enum {
    PATIENCE = 1000, /* tries, where another sender is between two steps */
};

lbx_status
lbx__box_admissible(lbx_mailbox *box, lbx_envelope *envelope,
                    lbx__lane **ret_lane)
{
    const lbx_mailbox_options *options = &box->options;
    bool dated =
        envelope->deadline_ns != LBX_FOREVER && envelope->deadline_ns != 0;

    if (options->may_wait && !options->may_wait(options->may_wait_context))
        return LBX_WOULD_BLOCK;
    if (envelope->channel > LBX_CONTROL)
        return LBX_INVALID;
    envelope->lost = LBX_NOT_LOST;
    envelope->recipient = options->owner;
    if (lbx_envelope_is_system(envelope)) {
        if (options->system_reservation == LBX_DISABLED)
            return LBX_UNSUPPORTED;
        return lbx__box_make_system(box, ret_lane);
    }
    if (!box->keeps_envelopes && (envelope->type || envelope->sender || dated))
        return LBX_UNSUPPORTED;
    *ret_lane = box->lane[LBX__USER_LANE];
    if (lbx_envelope_is_control(envelope) && box->lane[LBX__CONTROL_LANE])
        *ret_lane = box->lane[LBX__CONTROL_LANE];
    // once, before the message is stored, and without a lock.
    if (((*ret_lane)->type == LBX__LANE_SORTER ||
         (box->capabilities & LBX_CAN_PRIORITIZE)) &&
        options->priority &&
        !options->priority(envelope->message, options->priority_context,
                           &envelope->priority))
        return LBX_REFUSED;
    return LBX_OK;
}

/* Why there is no room. The gate is up before the lanes close. */
static int
full_or_closed(lbx_mailbox *box)
{
    return lbx_mailbox_is_closed(box) ? LBX_CLOSED : LBX_FULL;
}

int
lbx__box_push(lbx_mailbox *box, lbx__lane *lane, const lbx_envelope *envelope,
              bool ahead, uint64_t *ret_grown)
{
    uint64_t item[LBX__ENVELOPE];
    lbx_envelope dated;
    uint64_t used = 0;
    int flags;

    *ret_grown = 0;
    if (lane->budget && !lbx__budget_take(lane->budget, ahead, &used))
        return full_or_closed(box);
    if (box->options.timestamps) {
        dated = *envelope;
        dated.enqueued_ns = lbx_clock_now(box->options.clock);
        envelope = &dated;
    }
    lbx__box_pack(lane, envelope, item);
    flags = lbx__lane_push(lane, item, ahead);
    if (!lane->budget)
        return flags;
    if (flags >= 0)
        *ret_grown = lbx__budget_grow(lane->budget, used);
    else if (lbx__budget_give(lane->budget, 1) && !ahead)
        lbx__box_room(box);
    return flags;
}

void
lbx__box_pushed(lbx_mailbox *box, const lbx__lane *lane, int flags)
{
    if (lane == lbx__box_lane(box, LBX__SYSTEM_LANE)) {
        // Before the send is done, so that a receive that starts later looks
        // at the system lane first.
        lbx__lock_take(&box->lock);
        lbx__box_set_gate(box, LBX__GATE_SYSTEM, true);
        lbx__lock_give(&box->lock);
    }
    if (flags == 0)
        return;
    lbx__box_hold(box); // a callback may give up the last handle
    if (flags & (LBX__WAITING | LBX__STALLED))
        lbx__box_published(box);
    if (flags & LBX__OBSERVED)
        lbx__box_enqueued(box, lane);
    lbx__box_release(box);
}

lbx_status
lbx__box_drop(lbx_mailbox *box, const lbx_envelope *envelope,
              lbx_send_result *result)
{
    if (box->options.newest_to_sender) {
        // Relaxed: a number for people.
        (void)lbx__add(&box->dropped_newest, 1, relaxed);
        lbx__box_event(box, LBX_METRIC_DROPPED_NEWEST, 1);
        return LBX_FULL;
    }
    result->outcome = LBX_DROPPED_NEWEST;
    result->dropped_messages = 1;
    lbx__box_lose(box, envelope, LBX_LOST_DROPPED_NEWEST);
    return LBX_OK;
}

lbx_status
lbx__box_reject(lbx_mailbox *box, const lbx__lane *lane)
{
    // Relaxed: a number for people.
    (void)lbx__add(&box->rejected, 1, relaxed);
    if (lane == lbx__box_lane(box, LBX__SYSTEM_LANE))
        lbx__box_event(box, LBX_METRIC_RESERVATION_EXHAUSTED, 0);
    return LBX_FULL;
}

/* DROP_OLDEST: loses a message of the user lane; false when there is none that
 * can be taken out. */
static bool
evict(lbx_mailbox *box, lbx_send_result *result)
{
    lbx_envelope oldest;
    uint64_t item[LBX__ENVELOPE];

    if (!lbx__lane_evict(box->lane[LBX__USER_LANE], item))
        return false;
    lbx__keep_order(); // B1, as every take
    if (lbx__load(&box->gate, relaxed) & (LBX__GATE_FLUSH | LBX__GATE_CLOSED))
        lbx__box_look_again(box);
    lbx__box_unpack(box, LBX__USER_LANE, item, &oldest);
    result->outcome = LBX_DROPPED_OLDEST;
    result->dropped_messages++;
    lbx__box_lose(box, &oldest, LBX_LOST_DROPPED_OLDEST);
    return true;
}

/* Tells whether losing user messages can make room in `lane` at all: not when
 * its room is its own, nor when control messages fill what they share. */
static bool
eviction_helps(const lbx_mailbox *box, const lbx__lane *lane)
{
    const lbx__lane *user = box->lane[LBX__USER_LANE];
    lbx__lane *control = box->lane[LBX__CONTROL_LANE];

    if (lane != user && lane->budget != user->budget)
        return false;
    return !control || control->budget != user->budget ||
           lbx__lane_depth(control) < (uint64_t)box->options.capacity_messages;
}

/* DROP_OLDEST: makes room, or says how the send ends; PENDING means: try again.
 * Nothing to evict in a full mailbox means that another sender has taken its
 * room and not filled it yet: wait a moment for it, and no longer. */
static lbx_status
make_room(lbx_mailbox *box, const lbx__lane *lane, const lbx_envelope *envelope,
          lbx_send_result *result, int tries)
{
    if (!eviction_helps(box, lane))
        return lbx__box_reject(box, lane);
    if (evict(box, result))
        return LBX_PENDING;
    if (tries >= PATIENCE)
        return lbx__box_drop(box, envelope, result);
    lbx__yield();
    return LBX_PENDING;
}

/* Fills in how a message got in. */
static void
note_accepted(lbx_mailbox *box, uint64_t grown, lbx_send_result *result)
{
    if (grown > 0) {
        result->outcome = LBX_GREW;
        result->capacity_messages = (int64_t)grown;
        lbx__box_event(box, LBX_METRIC_GREW, grown);
    } else if (result->outcome == LBX_NOT_SENT) {
        result->outcome = LBX_ENQUEUED;
    }
}

/* One try: a final status, or FULL. */
static lbx_status
send_once(lbx_mailbox *box, lbx__lane *lane, const lbx_envelope *envelope,
          lbx_send_result *result, bool *ret_final)
{
    uint64_t grown;
    int flags = lbx__box_push(box, lane, envelope, false, &grown);

    *ret_final = flags != LBX_FULL;
    if (flags < 0)
        return lbx__box_refuse(box, lane, flags);
    note_accepted(box, grown, result);
    lbx__box_pushed(box, lane, flags);
    return LBX_OK;
}

/* DROP_OLDEST: as often as it takes. */
static lbx_status
send_evicting(lbx_mailbox *box, lbx__lane *lane, const lbx_envelope *envelope,
              lbx_send_result *result)
{
    lbx_status status = LBX_PENDING;
    bool final = false;

    lbx__box_hold(box); // the loss sink may give up the last handle
    for (int tries = 0; !final; tries++) {
        status = make_room(box, lane, envelope, result, tries);
        final = status != LBX_PENDING;
        if (!final)
            status = send_once(box, lane, envelope, result, &final);
    }
    lbx__box_release(box);
    return status;
}

lbx_status
lbx__box_send(lbx_mailbox *box, lbx__lane *lane, const lbx_envelope *envelope,
              lbx_send_result *result)
{
    bool final;
    lbx_status status = send_once(box, lane, envelope, result, &final);

    if (final)
        return status;
    if (lane == lbx__box_lane(box, LBX__SYSTEM_LANE))
        return lbx__box_reject(box, lane);
    switch (box->options.overflow) {
    case LBX_DROP_NEWEST:
        return lbx__box_drop(box, envelope, result);
    case LBX_DROP_OLDEST:
        return send_evicting(box, lane, envelope, result);
    default:
        return lbx__box_reject(box, lane);
    }
}

bool
lbx__box_bury(lbx_mailbox *box, const lbx_envelope *dead)
{
    lbx_send_result result = {.outcome = LBX_NOT_SENT};

    return lbx__box_send(box, box->lane[LBX__USER_LANE], dead, &result) ==
           LBX_OK;
}

static lbx_send_result
fresh_result(const lbx_mailbox *box)
{
    lbx_send_result result = {
        .outcome = LBX_NOT_SENT,
        .capacity_messages = 0,
        .overflow = box ? box->options.overflow : LBX_REJECT,
    };

    return result;
}

/* The short way for an ordinary envelope: see goes_straight(). */
static lbx_status
send_straight(lbx_mailbox *box, const lbx_envelope *envelope,
              lbx_send_result *ret_result)
{
    lbx__lane *lane = &box->user_lane;
    lbx_envelope copy = *envelope;
    uint64_t item[LBX__ENVELOPE];
    int flags;

    copy.lost = LBX_NOT_LOST;
    copy.recipient = box->options.owner;
    memcpy(item, &copy, sizeof(copy));
    item[0] = lbx__slot_encode(copy.message);
    flags = lbx__lane_push(lane, item, false);
    if (ret_result) {
        *ret_result = fresh_result(box);
        if (flags >= 0)
            ret_result->outcome = LBX_ENQUEUED;
    }
    if (flags > 0)
        lbx__box_pushed(box, lane, flags); // after this it may be gone
    return flags >= 0 ? LBX_OK : lbx__box_refuse(box, lane, flags);
}

lbx_status
lbx_producer_try_send_envelope(lbx_producer *producer,
                               const lbx_envelope *envelope,
                               lbx_send_result *ret_result)
{
    lbx_mailbox *box = lbx__box_of_producer(producer);
    lbx_send_result result;
    lbx_status status = LBX_INVALID;
    lbx_envelope copy;
    lbx__lane *lane;

    if (box && envelope && box->straight && envelope->channel == LBX_REGULAR &&
        envelope->system.code == LBX_SYSTEM_NONE)
        return send_straight(box, envelope, ret_result);
    result = fresh_result(box);
    if (box && envelope) {
        assert(box->magic == LBX__BOX_MAGIC);
        copy = *envelope;
        status = lbx__box_admissible(box, &copy, &lane);
        if (status == LBX_OK)
            status = lbx__box_send(box, lane, &copy, &result);
    }
    if (status != LBX_OK)
        result.outcome = LBX_NOT_SENT;
    if (ret_result)
        *ret_result = result;
    return status;
}

lbx_status
lbx_producer_try_send_front(lbx_producer *producer, void *message)
{
    lbx_mailbox *box = lbx__box_of_producer(producer);
    lbx_envelope envelope;
    lbx_send_result result = {.outcome = LBX_NOT_SENT};
    uint64_t item[LBX__ENVELOPE];
    uint64_t used = 0;
    lbx__lane *lane;
    lbx_status status;
    int flags;

    if (!box)
        return LBX_INVALID;
    if (!(box->capabilities & LBX_CAN_SEND_FRONT))
        return LBX_UNSUPPORTED;
    envelope = lbx_envelope_new(message, box->options.default_priority);
    status = lbx__box_admissible(box, &envelope, &lane);
    if (status != LBX_OK)
        return status;
    if (lane->budget && !lbx__budget_take(lane->budget, false, &used))
        return full_or_closed(box) == LBX_FULL
                   ? lbx__box_reject(box, lane)
                   : lbx__box_refuse(box, lane, LBX_CLOSED);
    if (box->options.timestamps)
        envelope.enqueued_ns = lbx_clock_now(box->options.clock);
    lbx__box_pack(lane, &envelope, item);
    flags = lbx__shelf_push(&lane->q.shelf, item, true);
    if (flags >= 0) {
        if (lane->budget)
            note_accepted(box, lbx__budget_grow(lane->budget, used), &result);
        lbx__box_pushed(box, lane, flags);
        return LBX_OK;
    }
    if (lane->budget && lbx__budget_give(lane->budget, 1))
        lbx__box_room(box);
    return lbx__box_refuse(box, lane, flags);
}
