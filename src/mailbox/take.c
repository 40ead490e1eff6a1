/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives that do not wait, of messages with their envelopes.
 *
 * While the gate is 0, a take pops the control and then the user lane without
 * the lock (take.h). Otherwise it is one visit under the lock: system, control,
 * user lane in that order, without the messages that are reserved (MBOX-2).
 * Capacity that a take frees goes to the first waiting sender in the same
 * visit. Expired messages are lost and the take goes on.
 *
 * Threads    any; from a single-consumer kind one at a time.
 */
#include "mailbox/take.h"

/* Takes an envelope without the lock. */
static lbx__take_result
take_envelope_unlocked(lbx_mailbox *box, lbx_envelope *ret)
{
    uint64_t item[LBX__ENVELOPE];
    unsigned notes = 0;
    int lane = LBX__CONTROL_LANE;
    size_t count = 0;

    if (!lbx__take_enter(box, !box->many)) {
        lbx__take_leave(box, !box->many);
        return LBX__TAKE_GATED;
    }
    if (box->lane[LBX__CONTROL_LANE])
        count = lbx__lane_pop(&box->control_lane, item, 1, &notes);
    if (count == 0) {
        lane = LBX__USER_LANE;
        count = lbx__lane_pop(&box->user_lane, item, 1, &notes);
    }
    lbx__take_leave(box, !box->many);
    if (count == 0)
        return lbx__take_none(box);
    lbx__lanes_unpack(box, lane, item, ret);
    return lbx__take_some(box, notes);
}

bool
lbx__take_unlocked(lbx_mailbox *box, lbx_envelope *ret)
{
    return take_envelope_unlocked(box, ret) == LBX__TAKE_SOME;
}

/* Pops one message of one lane under the lock. */
static bool
take_pop_lane(lbx_mailbox *box, int lane, lbx_envelope *ret, unsigned *notes)
{
    lbx__lane *from = lbx__lanes_get(box, lane);
    uint64_t item[LBX__ENVELOPE];

    if (!from || lbx__lane_pop(from, item, 1, notes) == 0)
        return false;
    lbx__lanes_unpack(box, lane, item, ret);
    return true;
}

/* Clears SYSTEM in the gate when the system lane is empty. A system send sets
 * it under the lock, after its push. */
static void
take_lower_system(lbx_mailbox *box)
{
    lbx__lane *system = lbx__lanes_get(box, LBX__SYSTEM_LANE);

    if (system && lbx__lane_depth(system) == 0)
        lbx__gate_set(box, LBX__GATE_SYSTEM, false);
}

bool
lbx__take_locked(lbx_mailbox *box, lbx__visit *visit, lbx_envelope *ret)
{
    unsigned notes = 0;
    bool some;

    lbx__lanes_sample(box);
    some = take_pop_lane(box, LBX__SYSTEM_LANE, ret, &notes);
    take_lower_system(box);
    if (!some && box->suspensions == 0)
        some = take_pop_lane(box, LBX__CONTROL_LANE, ret, &notes) ||
               take_pop_lane(box, LBX__USER_LANE, ret, &notes);
    if (!some)
        return false;
    if (notes & LBX__NOTE_SENDERS)
        lbx__visit_admit(box, visit);
    if (!lbx__list_empty(&box->flushers))
        lbx__visit_flush(box, visit);
    if (box->closed)
        lbx__visit_grant(box, visit);
    return true;
}

/* Records a message's time in the mailbox and returns it; -1 when unknown. */
static int64_t
take_record_time(lbx_mailbox *box, const lbx_envelope *envelope, int64_t now)
{
    int64_t waited = now - envelope->enqueued_ns;
    // Relaxed, all: statistics.
    int64_t longest = lbx__load(&box->max_waited_ns, relaxed);

    if (!box->options.timestamps)
        return -1;
    (void)lbx__add(&box->timed, 1, relaxed);
    (void)lbx__add(&box->waited_total_ns, waited, relaxed);
    while (waited > longest)
        if (lbx__cas(&box->max_waited_ns, &longest, waited, relaxed))
            break;
    return waited;
}

/* Checks the deadline, records the time and reports the take; false: the
 * message had expired and is lost. */
LBX__COLD bool
take_finish_slow(lbx_mailbox *box, const lbx_envelope *envelope, bool dated,
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
            lbx__loss_report(box, envelope, LBX_LOSS_EXPIRED);
            return false;
        }
        event.waited_ns = take_record_time(box, envelope, now);
    }
    if (watched) {
        lbx__observers_event(box, &event);
        lbx__observers_pressure(box);
    }
    return true;
}

bool
lbx__take_finish(lbx_mailbox *box, const lbx_envelope *envelope)
{
    bool dated =
        envelope->deadline_ns != LBX_FOREVER && envelope->deadline_ns != 0;
    // Relaxed: a sink that was just attached may miss this take.
    bool watched = lbx__load(&box->gate, relaxed) & LBX__GATE_WATCHED;

    if (LBX__LIKELY(!dated && !watched && !box->options.timestamps))
        return true;
    return take_finish_slow(box, envelope, dated, watched);
}

/* One message under the lock, if no receiver waits and it is not reserved. */
static lbx_status
take_one_locked(lbx_mailbox *box, lbx_envelope *ret)
{
    lbx_status status = LBX_EMPTY;
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    if (lbx__list_empty(&box->receivers) &&
        lbx__lanes_takeable(box) > box->reserved && // MBOX-2
        lbx__take_locked(box, &visit, ret))
        status = LBX_OK;
    else if (box->closed && lbx__lanes_depth(box) == 0)
        status = LBX_CLOSED;
    else
        (void)lbx__take_none(box);
    lbx__visit_end(box, &visit);
    return status;
}

lbx_status
lbx__take_one(lbx_mailbox *box, lbx_envelope *ret)
{
    if (!lbx__mailbox_may_wait(box))
        return LBX_WOULD_BLOCK;
    for (;;) {
        lbx__take_result found = take_envelope_unlocked(box, ret);
        lbx_status status = found == LBX__TAKE_SOME ? LBX_OK : LBX_EMPTY;

        if (found == LBX__TAKE_GATED)
            status = take_one_locked(box, ret);
        if (status != LBX_OK || lbx__take_finish(box, ret))
            return status;
    }
}

lbx_status
lbx__take_batch(lbx_mailbox *box, void **ret_messages,
                lbx_envelope *ret_envelopes, size_t max, size_t *ret_count)
{
    lbx_status status = LBX_OK;
    lbx_envelope envelope;

    while (*ret_count < max) {
        status = lbx__take_one(box, &envelope);
        if (status != LBX_OK)
            break;
        if (ret_messages)
            ret_messages[*ret_count] = envelope.message;
        else
            ret_envelopes[*ret_count] = envelope;
        (*ret_count)++;
    }
    return *ret_count > 0 ? LBX_OK : status;
}
