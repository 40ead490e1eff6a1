/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting: who may go next. B1 to B6 are in box.h.
 *
 * Under the lock, three lists say who waits: receivers on the mailbox, senders
 * on their lane, flushers on what is inside. Each has one function that hands
 * out what has become possible: grant, admit, flushed. Whoever changes what is
 * possible calls it before the turn ends.
 */
#include "mailbox/box.h"

#include "base/park.h"
#include <assert.h>

/* In a flush's `look`: nothing from before it is left in the lane. */
#define FLUSHED UINT64_MAX

void
lbx__turn_begin(lbx_mailbox *box, lbx__turn *turn)
{
    lbx__wakes_init(&turn->wakes);
    turn->enqueued = 0;
    lbx__lock_take(&box->lock);
}

void
lbx__turn_end(lbx_mailbox *box, lbx__turn *turn)
{
    if (lbx__list_empty(&turn->wakes.ops) && turn->enqueued == 0) {
        lbx__lock_give(&box->lock);
        return;
    }
    lbx__box_hold(box); // a callback may give up the last handle
    lbx__lock_give(&box->lock);
    lbx__wakes_run(&turn->wakes);
    for (uint64_t i = 0; i < turn->enqueued; i++)
        lbx__box_enqueued(box, box->lane[LBX__USER_LANE]);
    lbx__box_release(box);
}

void
lbx__box_set_gate(lbx_mailbox *box, uint32_t bit, bool up)
{
    // Relaxed: it changes under the lock only; the look saves a
    // read-modify-write.
    if (((lbx__load(&box->gate, relaxed) & bit) != 0) == up)
        return;
    // seq_cst: B1, before the barrier of those who need one.
    if (up)
        (void)lbx__or(&box->gate, bit, seq_cst);
    else
        (void)lbx__and(&box->gate, ~bit, seq_cst);
}

uint64_t
lbx__box_takeable(lbx_mailbox *box)
{
    lbx__lane *system = lbx__box_lane(box, LBX__SYSTEM_LANE);
    uint64_t count = system ? lbx__lane_depth(system) : 0;

    if (box->suspensions > 0)
        return count;
    if (box->lane[LBX__CONTROL_LANE])
        count += lbx__lane_depth(box->lane[LBX__CONTROL_LANE]);
    return count + lbx__lane_depth(box->lane[LBX__USER_LANE]);
}

/* B3: WAITING is up while someone is on the list. */

void
lbx__box_raise_waiting(lbx_mailbox *box)
{
    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__box_lane(box, i);

        if (lane)
            lbx__lane_raise(lane, LBX__WAITING);
    }
    box->waiting_up = true;
    lbx__box_set_gate(box, LBX__GATE_WAITERS, true);
}

void
lbx__box_stall(lbx_mailbox *box, bool stalled)
{
    for (int i = 0; i < LBX__LANES; i++)
        if (lbx__box_lane(box, i))
            lbx__lane_stall(lbx__box_lane(box, i), stalled);
    box->stalled = stalled;
}

static void
lower_waiting(lbx_mailbox *box)
{
    for (int i = 0; i < LBX__LANES; i++)
        if (lbx__box_lane(box, i))
            lbx__lane_lower(lbx__box_lane(box, i), LBX__WAITING);
    box->waiting_up = false;
    if (box->stalled && !box->discarding)
        lbx__box_stall(box, false);
}

static lbx__op *
first_of(const lbx__link *list)
{
    return lbx__member(list->next, lbx__op, link);
}

void
lbx__box_grant(lbx_mailbox *box, lbx__turn *turn)
{
    while (!lbx__list_empty(&box->receivers)) {
        if (box->closed && lbx__box_depth(box) == 0) {
            lbx__wakes_grant(&turn->wakes, first_of(&box->receivers),
                             LBX_CLOSED);
            continue;
        }
        if (lbx__box_takeable(box) <= box->reserved)
            break;
        lbx__wakes_grant(&turn->wakes, first_of(&box->receivers), LBX_OK);
        box->reserved++; // B2
    }
    if (box->waiting_up && lbx__list_empty(&box->receivers))
        lower_waiting(box);
    lbx__box_set_gate(box, LBX__GATE_WAITERS,
                      !lbx__list_empty(&box->receivers) || box->reserved > 0);
}

static lbx_status
status_of(lbx_mailbox *box, const lbx__lane *lane, int flags)
{
    if (flags == LBX__STORAGE_FULL)
        return lbx__box_reject(box, lane);
    return flags < 0 ? (lbx_status)flags : LBX_OK;
}

/* Moves waiting messages of one lane in while there is room; true when a
 * receiver should hear of it. */
static bool
admit_lane(lbx_mailbox *box, lbx__lane *lane, lbx__turn *turn)
{
    bool wake = false;

    while (!lbx__list_empty(&lane->senders)) {
        lbx__op *op = first_of(&lane->senders);
        uint64_t grown;
        int flags = box->closed
                        ? (int)LBX_CLOSED
                        : lbx__box_push(box, lane, &lbx__op_send(op)->envelope,
                                        true, &grown);

        if (flags == LBX_FULL)
            break;
        lbx__wakes_grant(&turn->wakes, op, status_of(box, lane, flags));
        if (flags < 0)
            continue;
        wake = wake || (flags & (LBX__WAITING | LBX__STALLED)) != 0;
        turn->enqueued += (flags & LBX__OBSERVED) != 0;
    }
    return wake;
}

void
lbx__box_admit(lbx_mailbox *box, lbx__turn *turn)
{
    lbx__lane *control = box->lane[LBX__CONTROL_LANE];
    lbx__lane *user = box->lane[LBX__USER_LANE];
    bool wake = control && admit_lane(box, control, turn);

    wake = admit_lane(box, user, turn) || wake;
    if (control && control->budget != user->budget &&
        lbx__list_empty(&control->senders))
        lbx__lane_lower_senders(control);
    if (lbx__list_empty(&user->senders) &&
        (!control || control->budget != user->budget ||
         lbx__list_empty(&control->senders)))
        lbx__lane_lower_senders(user);
    if (wake)
        lbx__box_grant(box, turn);
}

void
lbx__box_room(lbx_mailbox *box)
{
    lbx__turn turn;

    lbx__turn_begin(box, &turn);
    lbx__box_admit(box, &turn);
    lbx__turn_end(box, &turn);
}

/* Looks whether one lane still holds something from before the flush. A look
 * costs O(n) in a sorter, so not before as many messages have been taken as the
 * last one found. */
static bool
lane_flushed(lbx__lane *lane, uint64_t mark, uint64_t *look)
{
    uint64_t taken;
    uint64_t left;

    if (!lane || *look == FLUSHED)
        return true;
    taken = lbx__lane_taken(lane); // first: a look too many does no harm
    if (taken < *look)
        return false;
    left = lbx__lane_outstanding(lane, mark);
    *look = left > 0 ? taken + left : FLUSHED;
    return left == 0;
}

void
lbx__box_flushed(lbx_mailbox *box, lbx__turn *turn)
{
    lbx__link *link = box->flushers.next;

    while (link != &box->flushers) {
        lbx__op *op = lbx__member(link, lbx__op, link);
        bool done = true;

        link = link->next;
        for (int i = 0; i < LBX__LANES; i++)
            if (!lane_flushed(lbx__box_lane(box, i), lbx__op_flush(op)->mark[i],
                              &lbx__op_flush(op)->look[i]))
                done = false;
        if (done)
            lbx__wakes_grant(&turn->wakes, op, LBX_OK);
    }
    lbx__box_set_gate(box, LBX__GATE_FLUSH, !lbx__list_empty(&box->flushers));
}

void
lbx__box_published(lbx_mailbox *box)
{
    lbx__turn turn;
    bool discarding;

    lbx__turn_begin(box, &turn);
    discarding = box->discarding;
    lbx__box_grant(box, &turn);
    lbx__turn_end(box, &turn);
    if (discarding)
        lbx__box_discard(box);
}

void
lbx__box_look_again(lbx_mailbox *box)
{
    lbx__turn turn;

    lbx__turn_begin(box, &turn);
    lbx__box_flushed(box, &turn);
    if (box->closed)
        lbx__box_grant(box, &turn);
    lbx__turn_end(box, &turn);
}
