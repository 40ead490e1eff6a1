/* SPDX-License-Identifier: Apache-2.0 */
/* A mailbox's numbers. */
#include "mailbox/box.h"

uint64_t
lbx_mailbox_depth(lbx_mailbox *mailbox)
{
    return mailbox ? lbx__box_depth(mailbox) : 0;
}

bool
lbx_mailbox_is_empty(lbx_mailbox *mailbox)
{
    return lbx_mailbox_depth(mailbox) == 0;
}

int64_t
lbx_mailbox_capacity(lbx_mailbox *mailbox)
{
    const lbx__lane *lane;

    if (!mailbox)
        return 0;
    lane = mailbox->lane[LBX__USER_LANE];
    // Relaxed: a number that stands for itself.
    if (lane->budget)
        return (int64_t)lbx__load(&lane->budget->capacity, relaxed);
    return mailbox->options.capacity_messages;
}

bool
lbx_mailbox_is_full(lbx_mailbox *mailbox)
{
    int64_t capacity = lbx_mailbox_capacity(mailbox);
    lbx__lane *lane;

    if (!mailbox || capacity == LBX_UNLIMITED ||
        mailbox->options.overflow == LBX_GROW)
        return false;
    lane = mailbox->lane[LBX__USER_LANE];
    if (lane->budget)
        return lbx__budget_used(lane->budget) >= (uint64_t)capacity;
    return lbx__lane_depth(lane) >= (uint64_t)capacity;
}

uint32_t
lbx_mailbox_capabilities(lbx_mailbox *mailbox)
{
    return mailbox ? mailbox->capabilities : 0;
}

static uint64_t
length(const lbx__link *list)
{
    uint64_t count = 0;

    for (const lbx__link *link = list->next; link != list; link = link->next)
        count++;
    return count;
}

/* What only the lock makes readable. */
static void
read_locked(lbx_mailbox *box, lbx_mailbox_stats *ret)
{
    lbx__lock_take(&box->lock);
    ret->waiting_receivers = length(&box->receivers) + box->reserved;
    ret->waiting_senders = length(&box->user_lane.senders);
    if (box->lane[LBX__CONTROL_LANE])
        ret->waiting_senders += length(&box->control_lane.senders);
    ret->suspensions = box->suspensions;
    lbx__lock_give(&box->lock);
}

lbx_status
lbx_mailbox_stats_read(lbx_mailbox *mailbox, lbx_mailbox_stats *ret)
{
    lbx_mailbox_stats stats = {0};

    if (!mailbox || !ret)
        return LBX_INVALID;
    lbx__box_sample(mailbox);
    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__box_lane(mailbox, i);
        uint64_t depth = lane ? lbx__lane_depth(lane) : 0;

        if (!lane)
            continue;
        stats.depth += depth;
        if (i == LBX__SYSTEM_LANE)
            stats.system_depth = depth;
        else if (i == LBX__CONTROL_LANE)
            stats.control_depth = depth;
        stats.taken += lbx__lane_taken(lane);
        stats.accepted += lbx__lane_accepted(lane);
    }
    // Relaxed, all: numbers for people.
    stats.rejected = lbx__load(&mailbox->rejected, relaxed);
    stats.dropped_newest = lbx__load(&mailbox->dropped_newest, relaxed);
    stats.dropped_oldest = lbx__load(&mailbox->dropped_oldest, relaxed);
    stats.expired = lbx__load(&mailbox->expired, relaxed);
    stats.lost = lbx__load(&mailbox->lost, relaxed);
    stats.high_water = lbx__load(&mailbox->high_water, relaxed);
    stats.capacity_messages = lbx_mailbox_capacity(mailbox);
    stats.timed_messages = lbx__load(&mailbox->timed, relaxed);
    stats.waited_total_ns = lbx__load(&mailbox->waited_total_ns, relaxed);
    stats.waited_max_ns = lbx__load(&mailbox->waited_max_ns, relaxed);
    read_locked(mailbox, &stats);
    *ret = stats;
    return LBX_OK;
}
