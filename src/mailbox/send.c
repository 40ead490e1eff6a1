/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A send that does not wait: check the envelope, find the lane, push, act on
 * the flags that the push returned. When the lane has no capacity, the overflow
 * policy decides: reject, drop this message, evict an older one, grow.
 * Waiting sends (LBX_OVERFLOW_BLOCK) are in send_operation.c, the fast paths in
 * producer.c.
 *
 * Threads    any, with no lock held, except lbx__send_push().
 */
#include "mailbox/mailbox.h"

#include "base/park.h"
#include <assert.h>
#include <string.h>

enum {
    MAX_EVICT_TRIES = 1000, /* while another sender is between claim and fill */
};

lbx_status
lbx__send_check(lbx_mailbox *box, lbx_envelope *envelope, lbx__lane **ret_lane)
{
    const lbx_mailbox_options *options = &box->options;
    bool dated =
        envelope->deadline_ns != LBX_FOREVER && envelope->deadline_ns != 0;

    if (options->may_wait && !options->may_wait(options->may_wait_context))
        return LBX_WOULD_BLOCK;
    if (envelope->channel > LBX_CHANNEL_CONTROL)
        return LBX_INVALID;
    envelope->lost = LBX_LOSS_NONE;
    envelope->recipient = options->owner;
    if (lbx_envelope_is_system(envelope)) {
        if (options->system_reservation == LBX_LIMIT_DISABLED)
            return LBX_UNSUPPORTED;
        return lbx__lanes_make_system(box, ret_lane);
    }
    if (!box->keeps_envelopes && (envelope->type || envelope->sender || dated))
        return LBX_UNSUPPORTED;
    *ret_lane = box->lane[LBX__USER_LANE];
    if (lbx_envelope_is_control(envelope) && box->lane[LBX__CONTROL_LANE])
        *ret_lane = box->lane[LBX__CONTROL_LANE];
    // Once, before the message is stored, and without a lock.
    if (((*ret_lane)->type == LBX__LANE_PRIORITY ||
         (box->capabilities & LBX_CAPABILITY_PRIORITIZE)) &&
        options->priority &&
        !options->priority(envelope->message, options->priority_context,
                           &envelope->priority))
        return LBX_REFUSED;
    return LBX_OK;
}

/* Why there is no capacity. The gate is set before the lanes are closed. */
static int
send_full_or_closed(lbx_mailbox *box)
{
    return lbx_mailbox_is_closed(box) ? LBX_CLOSED : LBX_FULL;
}

int
lbx__send_push(lbx_mailbox *box, lbx__lane *lane, const lbx_envelope *envelope,
               bool ahead, uint64_t *ret_grown)
{
    uint64_t item[LBX__ENVELOPE];
    lbx_envelope dated;
    uint64_t used = 0;
    int flags;

    *ret_grown = 0;
    if (lane->quota && !lbx__quota_take(lane->quota, ahead, &used))
        return send_full_or_closed(box);
    if (box->options.timestamps) {
        dated = *envelope;
        dated.enqueued_ns = lbx_clock_now(box->options.clock);
        envelope = &dated;
    }
    lbx__lanes_pack(lane, envelope, item);
    flags = lbx__lane_push(lane, item, ahead);
    if (!lane->quota)
        return flags;
    if (flags >= 0)
        *ret_grown = lbx__quota_grow(lane->quota, used);
    else if (lbx__quota_give(lane->quota, 1) && !ahead)
        lbx__visit_serve_senders(box);
    return flags;
}

void
lbx__send_pushed(lbx_mailbox *box, const lbx__lane *lane, int flags)
{
    if (lane == lbx__lanes_get(box, LBX__SYSTEM_LANE)) {
        // Before the send returns, so that a receive that starts later takes
        // from the system lane first.
        lbx__lock_take(&box->lock);
        lbx__gate_set(box, LBX__GATE_SYSTEM, true);
        lbx__lock_give(&box->lock);
    }
    if (flags == 0)
        return;
    lbx__mailbox_hold(box); // a callback may release the last handle
    if (flags & (LBX__FLAG_WAITING | LBX__FLAG_STALLED))
        lbx__visit_serve_receivers(box);
    if (flags & LBX__FLAG_OBSERVED)
        lbx__observers_enqueued(box, lane);
    lbx__mailbox_release(box);
}

lbx_status
lbx__send_drop(lbx_mailbox *box, const lbx_envelope *envelope,
               lbx_send_result *result)
{
    if (box->options.return_dropped_newest) {
        // Relaxed: statistics.
        (void)lbx__add(&box->dropped_newest, 1, relaxed);
        lbx__observers_count(box, LBX_METRIC_DROPPED_NEWEST, 1);
        return LBX_FULL;
    }
    result->outcome = LBX_OUTCOME_DROPPED_NEWEST;
    result->dropped_messages = 1;
    lbx__loss_report(box, envelope, LBX_LOSS_DROPPED_NEWEST);
    return LBX_OK;
}

lbx_status
lbx__send_reject(lbx_mailbox *box, const lbx__lane *lane)
{
    // Relaxed: statistics.
    (void)lbx__add(&box->rejected, 1, relaxed);
    if (lane == lbx__lanes_get(box, LBX__SYSTEM_LANE))
        lbx__observers_count(box, LBX_METRIC_RESERVATION_EXHAUSTED, 0);
    return LBX_FULL;
}

/* DROP_OLDEST: drops a message of the user lane; false when none can be taken
 * out. */
static bool
send_evict(lbx_mailbox *box, lbx_send_result *result)
{
    lbx_envelope oldest;
    uint64_t item[LBX__ENVELOPE];

    if (!lbx__lane_evict(box->lane[LBX__USER_LANE], item))
        return false;
    lbx__keep_order(); // MBOX-1, as every take
    if (lbx__load(&box->gate, relaxed) & (LBX__GATE_FLUSH | LBX__GATE_CLOSED))
        lbx__visit_serve_flushes(box);
    lbx__lanes_unpack(box, LBX__USER_LANE, item, &oldest);
    result->outcome = LBX_OUTCOME_DROPPED_OLDEST;
    result->dropped_messages++;
    lbx__loss_report(box, &oldest, LBX_LOSS_DROPPED_OLDEST);
    return true;
}

/* Whether dropping user messages can free capacity for `lane`: not when the
 * lane has a capacity of its own, nor when control messages fill the shared
 * one. */
static bool
send_eviction_helps(const lbx_mailbox *box, const lbx__lane *lane)
{
    const lbx__lane *user = box->lane[LBX__USER_LANE];
    lbx__lane *control = box->lane[LBX__CONTROL_LANE];

    if (lane != user && lane->quota != user->quota)
        return false;
    return !control || control->quota != user->quota ||
           lbx__lane_depth(control) < (uint64_t)box->options.capacity_messages;
}

/* DROP_OLDEST: evicts one message and returns PENDING (try again), or ends the
 * send. A full lane without a message to evict means that another sender has
 * taken its capacity and not filled its slot yet: yield, up to a limit. */
static lbx_status
send_evict_or_end(lbx_mailbox *box, const lbx__lane *lane,
                  const lbx_envelope *envelope, lbx_send_result *result,
                  int tries)
{
    if (!send_eviction_helps(box, lane))
        return lbx__send_reject(box, lane);
    if (send_evict(box, result))
        return LBX_PENDING;
    if (tries >= MAX_EVICT_TRIES)
        return lbx__send_drop(box, envelope, result);
    lbx__yield();
    return LBX_PENDING;
}

/* Reports in *result how the message was accepted. */
static void
send_note_accepted(lbx_mailbox *box, uint64_t grown, lbx_send_result *result)
{
    if (grown > 0) {
        result->outcome = LBX_OUTCOME_GREW;
        result->capacity_messages = (int64_t)grown;
        lbx__observers_count(box, LBX_METRIC_GREW, grown);
    } else if (result->outcome == LBX_OUTCOME_NOT_SENT) {
        result->outcome = LBX_OUTCOME_ENQUEUED;
    }
}

/* One try; *ret_final is false when the lane has no capacity. */
static lbx_status
send_once(lbx_mailbox *box, lbx__lane *lane, const lbx_envelope *envelope,
          lbx_send_result *result, bool *ret_final)
{
    uint64_t grown;
    int flags = lbx__send_push(box, lane, envelope, false, &grown);

    *ret_final = flags != LBX_FULL;
    if (flags < 0)
        return lbx__send_refuse(box, lane, flags);
    send_note_accepted(box, grown, result);
    lbx__send_pushed(box, lane, flags);
    return LBX_OK;
}

/* DROP_OLDEST: evicts until the message is accepted or the send ends. */
static lbx_status
send_evicting(lbx_mailbox *box, lbx__lane *lane, const lbx_envelope *envelope,
              lbx_send_result *result)
{
    lbx_status status = LBX_PENDING;
    bool final = false;

    lbx__mailbox_hold(box); // the loss sink may release the last handle
    for (int tries = 0; !final; tries++) {
        status = send_evict_or_end(box, lane, envelope, result, tries);
        final = status != LBX_PENDING;
        if (!final)
            status = send_once(box, lane, envelope, result, &final);
    }
    lbx__mailbox_release(box);
    return status;
}

lbx_status
lbx__send_envelope(lbx_mailbox *box, lbx__lane *lane,
                   const lbx_envelope *envelope, lbx_send_result *result)
{
    bool final;
    lbx_status status = send_once(box, lane, envelope, result, &final);

    if (final)
        return status;
    if (lane == lbx__lanes_get(box, LBX__SYSTEM_LANE))
        return lbx__send_reject(box, lane);
    switch (box->options.overflow) {
    case LBX_OVERFLOW_DROP_NEWEST:
        return lbx__send_drop(box, envelope, result);
    case LBX_OVERFLOW_DROP_OLDEST:
        return send_evicting(box, lane, envelope, result);
    default:
        return lbx__send_reject(box, lane);
    }
}

bool
lbx__send_dead_letter(lbx_mailbox *box, const lbx_envelope *dead)
{
    lbx_send_result result = {.outcome = LBX_OUTCOME_NOT_SENT};

    return lbx__send_envelope(box, box->lane[LBX__USER_LANE], dead, &result) ==
           LBX_OK;
}

lbx_status
lbx__send_front(lbx_mailbox *box, lbx_envelope envelope)
{
    lbx_send_result result = {.outcome = LBX_OUTCOME_NOT_SENT};
    uint64_t item[LBX__ENVELOPE];
    uint64_t used = 0;
    lbx__lane *lane;
    lbx_status status;
    int flags;

    if (!(box->capabilities & LBX_CAPABILITY_SEND_FRONT) ||
        lbx_envelope_is_system(&envelope)) // its lane has no front
        return LBX_UNSUPPORTED;
    status = lbx__send_check(box, &envelope, &lane);
    if (status != LBX_OK)
        return status;
    if (lane->quota && !lbx__quota_take(lane->quota, false, &used))
        return send_full_or_closed(box) == LBX_FULL
                   ? lbx__send_reject(box, lane)
                   : lbx__send_refuse(box, lane, LBX_CLOSED);
    if (box->options.timestamps)
        envelope.enqueued_ns = lbx_clock_now(box->options.clock);
    lbx__lanes_pack(lane, &envelope, item);
    flags = lbx__locked_queue_push(&lane->q.locked, item, true);
    if (flags >= 0) {
        if (lane->quota)
            send_note_accepted(box, lbx__quota_grow(lane->quota, used),
                               &result);
        lbx__send_pushed(box, lane, flags);
        return LBX_OK;
    }
    if (lane->quota && lbx__quota_give(lane->quota, 1))
        lbx__visit_serve_senders(box);
    return lbx__send_refuse(box, lane, flags);
}

lbx_status
lbx__send_refuse(lbx_mailbox *box, const lbx__lane *lane, int flags)
{
    if (flags == LBX__STORAGE_FULL)
        return lbx__send_reject(box, lane);
    if (flags == LBX_CLOSED) { // MBOX-7: return after the closing visit
        lbx__lock_take(&box->lock);
        lbx__lock_give(&box->lock);
    }
    return (lbx_status)flags;
}
