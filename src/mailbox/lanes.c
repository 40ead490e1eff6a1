/* SPDX-License-Identifier: Apache-2.0 */
/* What the lanes of a mailbox hold, and how envelopes lie in them. */
#include "mailbox/box.h"

#include "base/alloc.h"
#include <assert.h>

lbx__lane *
lbx__box_lane(lbx_mailbox *box, int lane)
{
    if (lane == LBX__SYSTEM_LANE)
        // Acquire: pairs with the release in lbx__box_make_system().
        return lbx__load(&box->system, acquire);
    return box->lane[lane];
}

/* Makes the lane for the reservation; it lies in memory of its own, because
 * most mailboxes never see a system message. */
static lbx_status
init_system(const lbx_mailbox *box, lbx__lane *lane)
{
    int64_t reservation = box->options.system_reservation;
    const lbx_allocator *allocator = box->options.allocator;

    lane->words = LBX__ENVELOPE;
    lbx__list_init(&lane->senders);
    if (reservation == LBX_UNLIMITED) {
        lane->type = LBX__LANE_SEGQ;
        return lbx__segq_init(&lane->q.segq, LBX__ENVELOPE, true, allocator);
    }
    lane->type = LBX__LANE_RING;
    return lbx__ring_init(&lane->q.ring, (uint64_t)reservation, LBX__ENVELOPE,
                          true, false, allocator);
}

lbx_status
lbx__box_make_system(lbx_mailbox *box, lbx__lane **ret)
{
    lbx__lane *lane = lbx__load(&box->system, acquire);
    const lbx_allocator *allocator = box->options.allocator;
    lbx__lane *none = NULL;

    if (lane) {
        *ret = lane;
        return LBX_OK;
    }
    lane = lbx__alloc(allocator, sizeof(*lane), alignof(lbx__lane));
    if (!lane)
        return LBX_NO_MEMORY;
    memset(lane, 0, sizeof(*lane));
    if (init_system(box, lane) != LBX_OK) {
        lbx__lane_fini(lane);
        lbx__free(allocator, lane, sizeof(*lane));
        return LBX_NO_MEMORY;
    }
    lbx__lock_take(&box->lock);
    // Under the lock, so that it starts with the flags that the others have.
    if (!lbx__list_empty(&box->receivers))
        lbx__lane_raise(lane, LBX__WAITING);
    if (box->metrics.event || box->hook.ready || box->signal)
        lbx__lane_raise(lane, LBX__OBSERVED);
    if (box->stalled)
        lbx__lane_stall(lane, true);
    if (box->closed)
        lbx__lane_close(lane);
    // Release: whoever finds the lane finds it made.
    if (lbx__cas(&box->system, &none, lane, acq_rel))
        none = lane;
    lbx__lock_give(&box->lock);
    if (none != lane) {
        lbx__lane_fini(lane);
        lbx__free(allocator, lane, sizeof(*lane));
    }
    *ret = none;
    return LBX_OK;
}

uint64_t
lbx__box_depth(lbx_mailbox *box)
{
    uint64_t depth = 0;

    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__box_lane(box, i);

        if (lane)
            depth += lbx__lane_depth(lane);
    }
    return depth;
}

void
lbx__box_sample(lbx_mailbox *box)
{
    uint64_t depth = lbx__box_depth(box);
    // Relaxed: a maximum, it orders nothing.
    uint64_t high = lbx__load(&box->high_water, relaxed);

    while (depth > high)
        if (lbx__cas(&box->high_water, &high, depth, relaxed))
            break;
}

/* The lane of a user's message. */
static int
lane_of(const lbx_mailbox *box, const lbx_envelope *envelope)
{
    return box->lane[LBX__CONTROL_LANE] && envelope->channel == LBX_CONTROL
               ? LBX__CONTROL_LANE
               : LBX__USER_LANE;
}

int
lbx__box_compare(const lbx_mailbox *box, const lbx_envelope *a,
                 const lbx_envelope *b)
{
    int lane = lane_of(box, a);
    const lbx__lane *from = box->lane[lane];

    if (lane != lane_of(box, b))
        return lane - lane_of(box, b);
    if (from->type != LBX__LANE_SORTER)
        return 0;
    return lbx__heap_compare(&from->q.sorter.heap.order, a, b);
}

bool
lbx__box_beats(lbx_mailbox *box, const lbx_envelope *than)
{
    int lane = lane_of(box, than);
    lbx__lane *control = box->lane[LBX__CONTROL_LANE];
    lbx__lane *from = box->lane[lane];

    if (lane == LBX__USER_LANE && control && lbx__lane_depth(control) > 0)
        return true;
    return from->type == LBX__LANE_SORTER &&
           lbx__sorter_beats(&from->q.sorter, than);
}

void
lbx__box_pack(const lbx__lane *lane, const lbx_envelope *envelope,
              uint64_t *item)
{
    if (lane->words == LBX__ENVELOPE)
        memcpy(item, envelope, sizeof(*envelope));
    else if (lane->words == LBX__PAIR)
        item[1] = (uint32_t)envelope->priority;
    item[0] = lbx__slot_encode(envelope->message);
}

void
lbx__box_unpack(lbx_mailbox *box, int lane, const uint64_t *item,
                lbx_envelope *ret)
{
    const lbx__lane *from = lbx__box_lane(box, lane);

    if (from->words == LBX__ENVELOPE) {
        memcpy(ret, item, sizeof(*ret));
    } else {
        *ret = lbx_envelope_new(NULL, box->options.default_priority);
        if (from->words == LBX__PAIR)
            ret->priority = (int32_t)(uint32_t)item[1];
        if (lane == LBX__CONTROL_LANE)
            ret->channel = LBX_CONTROL;
        ret->recipient = box->options.owner;
    }
    ret->message = lbx__slot_decode(item[0]);
}
