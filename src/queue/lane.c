/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: the switch over the four types of queues. LANE-1 to LANE-3 are in
 * lane.h. The fast paths of the mailbox call the queues directly.
 */
#include "queue/lane.h"

#include <assert.h>

void
lbx__lane_fini(lbx__lane *lane)
{
    switch (lane->type) {
    case LBX__LANE_SEGQ:
        lbx__segq_fini(&lane->q.segq);
        break;
    case LBX__LANE_RING:
        lbx__ring_fini(&lane->q.ring);
        break;
    case LBX__LANE_PRIORITY:
        lbx__priority_queue_fini(&lane->q.priority);
        break;
    case LBX__LANE_LOCKED:
        lbx__locked_queue_fini(&lane->q.locked);
        break;
    }
}

static int
lane_push_segq(lbx__segq *q, const uint64_t *item)
{
    switch (q->words) {
    case LBX__WORD:
        return lbx__segq_push(q, item, LBX__WORD);
    case LBX__PAIR:
        return lbx__segq_push(q, item, LBX__PAIR);
    default:
        return lbx__segq_push(q, item, LBX__ENVELOPE);
    }
}

static size_t
lane_pop_segq(lbx__segq *q, uint64_t *items, size_t max, unsigned *ret_notes)
{
    if (q->words == LBX__WORD)
        return lbx__segq_pop(q, items, max, LBX__WORD, ret_notes);
    return lbx__segq_pop(q, items, max, LBX__ENVELOPE, ret_notes);
}

static int
lane_push_ring(lbx__ring *ring, const uint64_t *item, bool ahead)
{
    size_t count;

    if (ring->words == LBX__WORD)
        return lbx__ring_push(ring, item, 1, LBX__WORD, ahead, &count);
    return lbx__ring_push(ring, item, 1, LBX__ENVELOPE, ahead, &count);
}

static size_t
lane_pop_ring(lbx__ring *ring, uint64_t *items, size_t max, unsigned *ret_notes)
{
    if (ring->words == LBX__WORD)
        return lbx__ring_pop(ring, items, max, LBX__WORD, ret_notes);
    return lbx__ring_pop(ring, items, max, LBX__ENVELOPE, ret_notes);
}

static size_t
lane_pop_locked(lbx__locked_queue *queue, uint64_t *items, size_t max,
                unsigned *ret_notes)
{
    size_t count = 0;

    while (count < max &&
           lbx__locked_queue_pop(queue, &items[count * LBX__ENVELOPE], false,
                                 ret_notes))
        count++;
    return count;
}

int
lbx__lane_push(lbx__lane *lane, const uint64_t *item, bool ahead)
{
    switch (lane->type) {
    case LBX__LANE_SEGQ:
        return lane_push_segq(&lane->q.segq, item);
    case LBX__LANE_RING:
        return lane_push_ring(&lane->q.ring, item, ahead);
    case LBX__LANE_PRIORITY:
        return lane_push_segq(&lane->q.priority.inbox, item);
    case LBX__LANE_LOCKED:
        break;
    }
    return lbx__locked_queue_push(&lane->q.locked, item, false);
}

static size_t
lane_pop(lbx__lane *lane, uint64_t *items, size_t max, unsigned *ret_notes)
{
    switch (lane->type) {
    case LBX__LANE_SEGQ:
        return lane_pop_segq(&lane->q.segq, items, max, ret_notes);
    case LBX__LANE_RING:
        return lane_pop_ring(&lane->q.ring, items, max, ret_notes);
    case LBX__LANE_PRIORITY:
        return lbx__priority_queue_pop(&lane->q.priority, items, max,
                                       ret_notes);
    case LBX__LANE_LOCKED:
        break;
    }
    return lane_pop_locked(&lane->q.locked, items, max, ret_notes);
}

size_t
lbx__lane_pop(lbx__lane *lane, uint64_t *items, size_t max, unsigned *ret_notes)
{
    size_t count;

    *ret_notes = 0;
    count = lane_pop(lane, items, max, ret_notes);
    if (count > 0 && lane->quota && lbx__quota_give(lane->quota, count))
        *ret_notes |= LBX__NOTE_SENDERS;
    return count;
}

bool
lbx__lane_evict(lbx__lane *lane, uint64_t *item)
{
    unsigned notes;
    bool found;

    switch (lane->type) {
    case LBX__LANE_PRIORITY:
        found = lbx__priority_queue_evict(&lane->q.priority, item);
        break;
    case LBX__LANE_LOCKED:
        notes = 0;
        found = lbx__locked_queue_pop(&lane->q.locked, item, true, &notes);
        break;
    default:
        return lbx__lane_pop(lane, item, 1, &notes) == 1;
    }
    // Under DROP_OLDEST no sender waits.
    if (found && lane->quota)
        (void)lbx__quota_give(lane->quota, 1);
    return found;
}

/* The segment queue of a lane that has one. */
static lbx__segq *
lane_segq(lbx__lane *lane)
{
    if (lane->type == LBX__LANE_PRIORITY)
        return &lane->q.priority.inbox;
    return &lane->q.segq;
}

uint64_t
lbx__lane_accepted(lbx__lane *lane)
{
    switch (lane->type) {
    case LBX__LANE_RING:
        return lbx__ring_accepted(&lane->q.ring);
    case LBX__LANE_LOCKED:
        return lbx__load(&lane->q.locked.accepted, acquire);
    default:
        return lbx__segq_accepted(lane_segq(lane));
    }
}

uint64_t
lbx__lane_taken(lbx__lane *lane)
{
    switch (lane->type) {
    case LBX__LANE_SEGQ:
        return lbx__segq_taken(&lane->q.segq);
    case LBX__LANE_RING:
        return lbx__ring_taken(&lane->q.ring);
    case LBX__LANE_PRIORITY:
        return lbx__priority_queue_taken(&lane->q.priority);
    case LBX__LANE_LOCKED:
        break;
    }
    return lbx__load(&lane->q.locked.taken, acquire);
}

uint64_t
lbx__lane_depth(lbx__lane *lane)
{
    uint64_t taken = lbx__lane_taken(lane);

    for (int i = 0;; i++) {
        uint64_t accepted = lbx__lane_accepted(lane);
        uint64_t again = lbx__lane_taken(lane);

        // The same count before and after: exact when `accepted` was read.
        // Under a steady stream of takes, close enough after a few tries.
        if (again == taken || i == 3)
            return accepted > again ? accepted - again : 0;
        taken = again;
    }
}

uint64_t
lbx__lane_mark(lbx__lane *lane)
{
    if (lane->type == LBX__LANE_LOCKED)
        return lbx__locked_queue_backs(&lane->q.locked);
    return lbx__lane_accepted(lane);
}

uint64_t
lbx__lane_outstanding(lbx__lane *lane, uint64_t mark)
{
    uint64_t taken;

    if (lane->type == LBX__LANE_PRIORITY)
        return lbx__priority_queue_outstanding(&lane->q.priority, mark);
    if (lane->type == LBX__LANE_LOCKED)
        return lbx__locked_queue_outstanding(&lane->q.locked, mark);
    taken = lbx__lane_taken(lane);
    return mark > taken ? mark - taken : 0;
}

void
lbx__lane_raise(lbx__lane *lane, unsigned flags)
{
    switch (lane->type) {
    case LBX__LANE_RING:
        lbx__ring_raise(&lane->q.ring, flags);
        break;
    case LBX__LANE_LOCKED:
        lbx__locked_queue_raise(&lane->q.locked, flags);
        break;
    default:
        lbx__segq_raise(lane_segq(lane), flags);
    }
}

void
lbx__lane_lower(lbx__lane *lane, unsigned flags)
{
    switch (lane->type) {
    case LBX__LANE_RING:
        lbx__ring_lower(&lane->q.ring, flags);
        break;
    case LBX__LANE_LOCKED:
        lbx__locked_queue_lower(&lane->q.locked, flags);
        break;
    default:
        lbx__segq_lower(lane_segq(lane), flags);
    }
}

void
lbx__lane_close(lbx__lane *lane)
{
    switch (lane->type) {
    case LBX__LANE_RING:
        lbx__ring_close(&lane->q.ring);
        break;
    case LBX__LANE_LOCKED:
        lbx__locked_queue_raise(&lane->q.locked, LBX__FLAG_CLOSED);
        break;
    default:
        lbx__segq_close(lane_segq(lane));
    }
}

void
lbx__lane_stall(lbx__lane *lane, bool stalled)
{
    // seq_cst: before the barrier that follows (SEGQ-6).
    if (lane->type == LBX__LANE_RING)
        lbx__store(&lane->q.ring.stalled, (uint32_t)stalled, seq_cst);
    else if (lane->type != LBX__LANE_LOCKED)
        lbx__store(&lane_segq(lane)->stalled, (uint32_t)stalled, seq_cst);
}

void
lbx__lane_raise_senders(lbx__lane *lane)
{
    if (lane->quota)
        lbx__quota_raise_senders(lane->quota);
    else if (lane->type == LBX__LANE_RING)
        lbx__ring_raise_senders(&lane->q.ring);
}

void
lbx__lane_lower_senders(lbx__lane *lane)
{
    if (lane->quota)
        lbx__quota_lower_senders(lane->quota);
    else if (lane->type == LBX__LANE_RING)
        lbx__ring_lower_senders(&lane->q.ring);
}
