/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking: receives that do not wait, of messages with all that belongs to them.
 *
 * The fast path is in take.h. Everything else is a turn under the lock.
 */
#include "mailbox/take.h"

bool
lbx__box_may_wait(const lbx_mailbox *box)
{
    return !box->options.may_wait ||
           box->options.may_wait(box->options.may_wait_context);
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
