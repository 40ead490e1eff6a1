/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A visit: what one thread does under the lock of a mailbox, and the callbacks
 * that it makes after it has released the lock (MBOX-4).
 *
 * Three lists under the lock hold the operations that wait: receives in the
 * mailbox, sends in their lane, flushes in the mailbox. Each list has one
 * function that completes what has become possible: grant, admit, flush. A
 * thread that makes something possible calls it before its visit ends.
 *
 * Threads    any. lbx__visit_serve_*() are called without the lock, all others
 *            between lbx__visit_begin() and lbx__visit_end().
 */
#include "mailbox/mailbox.h"

#include "base/park.h"
#include <assert.h>

/* In a flush's `next_check`: no message from before the flush is in the
 * lane. */
#define LANE_FLUSHED UINT64_MAX

void
lbx__visit_begin(lbx_mailbox *box, lbx__visit *visit)
{
    lbx__wakes_init(&visit->wakes);
    visit->enqueued = 0;
    lbx__lock_take(&box->lock);
}

void
lbx__visit_end(lbx_mailbox *box, lbx__visit *visit)
{
    if (lbx__list_empty(&visit->wakes.ops) && visit->enqueued == 0) {
        lbx__lock_give(&box->lock);
        return;
    }
    lbx__mailbox_hold(box); // a callback may release the last handle
    lbx__lock_give(&box->lock);
    lbx__wakes_run(&visit->wakes);
    for (uint64_t i = 0; i < visit->enqueued; i++)
        lbx__observers_enqueued(box, box->lane[LBX__USER_LANE]);
    lbx__mailbox_release(box);
}

void
lbx__visit_raise_waiting(lbx_mailbox *box)
{
    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__lanes_get(box, i);

        if (lane)
            lbx__lane_raise(lane, LBX__FLAG_WAITING);
    }
    box->waiting_up = true;
    lbx__gate_set(box, LBX__GATE_WAITERS, true);
}

static void
visit_lower_waiting(lbx_mailbox *box)
{
    for (int i = 0; i < LBX__LANES; i++)
        if (lbx__lanes_get(box, i))
            lbx__lane_lower(lbx__lanes_get(box, i), LBX__FLAG_WAITING);
    box->waiting_up = false;
    if (box->stalled && !box->discarding)
        lbx__lanes_stall(box, false);
}

static lbx__op *
visit_first(const lbx__link *list)
{
    return lbx__member(list->next, lbx__op, link);
}

void
lbx__visit_grant(lbx_mailbox *box, lbx__visit *visit)
{
    while (!lbx__list_empty(&box->receivers)) {
        if (box->closed && lbx__lanes_depth(box) == 0) {
            lbx__wakes_grant(&visit->wakes, visit_first(&box->receivers),
                             LBX_CLOSED);
            continue;
        }
        if (lbx__lanes_takeable(box) <= box->reserved)
            break;
        lbx__wakes_grant(&visit->wakes, visit_first(&box->receivers), LBX_OK);
        box->reserved++; // MBOX-2
    }
    if (box->waiting_up && lbx__list_empty(&box->receivers))
        visit_lower_waiting(box);
    lbx__gate_set(box, LBX__GATE_WAITERS,
                  !lbx__list_empty(&box->receivers) || box->reserved > 0);
}

static lbx_status
visit_send_status(lbx_mailbox *box, const lbx__lane *lane, int flags)
{
    if (flags == LBX__STORAGE_FULL)
        return lbx__send_reject(box, lane);
    return flags < 0 ? (lbx_status)flags : LBX_OK;
}

/* Moves the messages of waiting sends into the lane while there is capacity;
 * true when receivers wait for them. */
static bool
visit_admit_lane(lbx_mailbox *box, lbx__lane *lane, lbx__visit *visit)
{
    bool wake = false;

    while (!lbx__list_empty(&lane->senders)) {
        lbx__op *op = visit_first(&lane->senders);
        uint64_t grown;
        int flags = box->closed
                        ? (int)LBX_CLOSED
                        : lbx__send_push(box, lane, &lbx__op_send(op)->envelope,
                                         true, &grown);

        if (flags == LBX_FULL)
            break;
        lbx__wakes_grant(&visit->wakes, op,
                         visit_send_status(box, lane, flags));
        if (flags < 0)
            continue;
        wake = wake || (flags & (LBX__FLAG_WAITING | LBX__FLAG_STALLED)) != 0;
        visit->enqueued += (flags & LBX__FLAG_OBSERVED) != 0;
    }
    return wake;
}

void
lbx__visit_admit(lbx_mailbox *box, lbx__visit *visit)
{
    lbx__lane *control = box->lane[LBX__CONTROL_LANE];
    lbx__lane *user = box->lane[LBX__USER_LANE];
    bool wake = control && visit_admit_lane(box, control, visit);

    wake = visit_admit_lane(box, user, visit) || wake;
    if (control && control->quota != user->quota &&
        lbx__list_empty(&control->senders))
        lbx__lane_lower_senders(control);
    if (lbx__list_empty(&user->senders) &&
        (!control || control->quota != user->quota ||
         lbx__list_empty(&control->senders)))
        lbx__lane_lower_senders(user);
    if (wake)
        lbx__visit_grant(box, visit);
}

void
lbx__visit_serve_senders(lbx_mailbox *box)
{
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    lbx__visit_admit(box, &visit);
    lbx__visit_end(box, &visit);
}

/* Whether a lane holds no message from before the flush. Counting them costs
 * O(n) in a priority queue, so the next count waits until as many messages have
 * been taken as the last one found. */
static bool
visit_lane_flushed(lbx__lane *lane, uint64_t mark, uint64_t *next_check)
{
    uint64_t taken;
    uint64_t left;

    if (!lane || *next_check == LANE_FLUSHED)
        return true;
    taken = lbx__lane_taken(lane); // read first: a count too many is harmless
    if (taken < *next_check)
        return false;
    left = lbx__lane_outstanding(lane, mark);
    *next_check = left > 0 ? taken + left : LANE_FLUSHED;
    return left == 0;
}

void
lbx__visit_flush(lbx_mailbox *box, lbx__visit *visit)
{
    lbx__link *link = box->flushers.next;

    while (link != &box->flushers) {
        lbx__op *op = lbx__member(link, lbx__op, link);
        bool done = true;

        link = link->next;
        for (int i = 0; i < LBX__LANES; i++)
            if (!visit_lane_flushed(lbx__lanes_get(box, i),
                                    lbx__op_flush(op)->mark[i],
                                    &lbx__op_flush(op)->next_check[i]))
                done = false;
        if (done)
            lbx__wakes_grant(&visit->wakes, op, LBX_OK);
    }
    lbx__gate_set(box, LBX__GATE_FLUSH, !lbx__list_empty(&box->flushers));
}

void
lbx__visit_serve_receivers(lbx_mailbox *box)
{
    lbx__visit visit;
    bool discarding;

    lbx__visit_begin(box, &visit);
    discarding = box->discarding;
    lbx__visit_grant(box, &visit);
    lbx__visit_end(box, &visit);
    if (discarding)
        lbx__mailbox_discard(box);
}

void
lbx__visit_serve_flushes(lbx_mailbox *box)
{
    lbx__visit visit;

    lbx__visit_begin(box, &visit);
    lbx__visit_flush(box, &visit);
    if (box->closed)
        lbx__visit_grant(box, &visit);
    lbx__visit_end(box, &visit);
}
