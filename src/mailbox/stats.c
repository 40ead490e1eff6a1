/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of a mailbox.
 *
 * Depth, accepted and taken come from the tickets of the lanes and are exact;
 * the other numbers are counters that other files update. What the lock guards
 * is read under it, in one step.
 *
 * Threads    any.
 */
#include "mailbox/mailbox.h"

uint64_t
lbx_mailbox_depth(lbx_mailbox *mailbox)
{
    return mailbox ? lbx__lanes_depth(mailbox) : 0;
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
    // Relaxed: it orders nothing.
    if (lane->quota)
        return (int64_t)lbx__load(&lane->quota->capacity, relaxed);
    return mailbox->options.capacity_messages;
}

/* The sum of two limits; LBX_UNLIMITED if one is. */
static int64_t
stats_add_limits(int64_t a, int64_t b)
{
    return a == LBX_UNLIMITED || b == LBX_UNLIMITED ? LBX_UNLIMITED : a + b;
}

/* The limit of a lane apart from the user lane: 0 if it has none of its own. */
static int64_t
stats_lane_limit(int64_t limit)
{
    return limit == LBX_LIMIT_DISABLED || limit == LBX_LIMIT_SHARED ? 0 : limit;
}

int64_t
lbx_mailbox_total_capacity(lbx_mailbox *mailbox)
{
    int64_t control = 0;
    int64_t total;

    if (!mailbox)
        return 0;
    total =
        stats_add_limits(lbx_mailbox_capacity(mailbox),
                         stats_lane_limit(mailbox->options.system_reservation));
    if (!mailbox->lane[LBX__CONTROL_LANE])
        return total;
    control = stats_lane_limit(mailbox->options.control_capacity);
    // Relaxed: it orders nothing.
    if (mailbox->control_lane.quota == &mailbox->control_quota)
        control = (int64_t)lbx__load(&mailbox->control_quota.capacity, relaxed);
    return stats_add_limits(total, control);
}

bool
lbx_mailbox_is_full(lbx_mailbox *mailbox)
{
    int64_t capacity = lbx_mailbox_capacity(mailbox);
    lbx__lane *lane;

    if (!mailbox || capacity == LBX_UNLIMITED ||
        mailbox->options.overflow == LBX_OVERFLOW_GROW)
        return false;
    lane = mailbox->lane[LBX__USER_LANE];
    if (lane->quota)
        return lbx__quota_used(lane->quota) >= (uint64_t)capacity;
    return lbx__lane_depth(lane) >= (uint64_t)capacity;
}

uint32_t
lbx_mailbox_capabilities(lbx_mailbox *mailbox)
{
    return mailbox ? mailbox->capabilities : 0;
}

static uint64_t
stats_list_length(const lbx__link *list)
{
    uint64_t count = 0;

    for (const lbx__link *link = list->next; link != list; link = link->next)
        count++;
    return count;
}

/* Reads what the lock guards. */
static void
stats_read_locked(lbx_mailbox *box, lbx_mailbox_stats *ret)
{
    lbx__lock_take(&box->lock);
    ret->waiting_receivers = stats_list_length(&box->receivers) + box->reserved;
    ret->waiting_senders = stats_list_length(&box->user_lane.senders);
    if (box->lane[LBX__CONTROL_LANE])
        ret->waiting_senders += stats_list_length(&box->control_lane.senders);
    ret->suspensions = box->suspensions;
    lbx__lock_give(&box->lock);
}

lbx_status
lbx_mailbox_stats_read(lbx_mailbox *mailbox, lbx_mailbox_stats *ret)
{
    lbx_mailbox_stats stats = {0};

    if (!mailbox || !ret)
        return LBX_INVALID;
    lbx__lanes_sample(mailbox);
    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__lanes_get(mailbox, i);
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
    // Relaxed, all: statistics.
    stats.rejected = lbx__load(&mailbox->rejected, relaxed);
    stats.dropped_newest = lbx__load(&mailbox->dropped_newest, relaxed);
    stats.dropped_oldest = lbx__load(&mailbox->dropped_oldest, relaxed);
    stats.expired = lbx__load(&mailbox->expired, relaxed);
    stats.lost = lbx__load(&mailbox->lost, relaxed);
    stats.high_water = lbx__load(&mailbox->high_water, relaxed);
    stats.capacity_messages = lbx_mailbox_capacity(mailbox);
    stats.closed = lbx_mailbox_is_closed(mailbox);
    stats.timed_messages = lbx__load(&mailbox->timed, relaxed);
    stats.waited_total_ns = lbx__load(&mailbox->waited_total_ns, relaxed);
    stats.max_waited_ns = lbx__load(&mailbox->max_waited_ns, relaxed);
    stats_read_locked(mailbox, &stats);
    return LBX__SIZED_WRITE(ret, &stats, lbx_mailbox_stats, max_waited_ns);
}
