/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lanes of a mailbox: which queue each one is, what they hold together, and
 * how an envelope becomes an item of a lane.
 *
 *   order of the kind      queue of the user lane
 *   FIFO, unlimited        segment queue
 *   FIFO, limited          ring; with GROW a segment queue and a quota
 *   control first          two segment queues; limited: with quotas
 *   by priority            priority queue; limited: with a quota
 *   storage                locked queue; limited: with a quota
 *
 * The system lane is created by the first system message and installed by one
 * compare-and-swap; the other lanes exist from the beginning.
 *
 * Threads    lbx__lanes_init() and _fini(): one. All others: any.
 */
#include "mailbox/mailbox.h"

#include "base/alloc.h"
#include "mailbox/kinds.h"

/* Words of an item in the user lane. */
static unsigned
lanes_item_words(const lbx__mailbox_kind *kind,
                 const lbx_mailbox_options *options)
{
    if (options->envelopes || kind->order == LBX__ORDER_STORAGE)
        return LBX__ENVELOPE;
    return kind->order == LBX__ORDER_PRIORITY ? LBX__PAIR : LBX__WORD;
}

/* A ring counts its own capacity; every other limited lane has a quota. */
static void
lanes_init_quotas(lbx_mailbox *box, const lbx__mailbox_kind *kind)
{
    const lbx_mailbox_options *options = &box->options;
    bool limited = options->capacity_messages != LBX_UNLIMITED;
    bool grows = options->overflow == LBX_OVERFLOW_GROW;
    bool in_ring = kind->order == LBX__ORDER_FIFO && !grows;

    if (limited && !in_ring) {
        lbx__quota_init(&box->quota, (uint64_t)options->capacity_messages,
                        grows);
        box->user_lane.quota = &box->quota;
    }
    if (kind->order != LBX__ORDER_CONTROL)
        return;
    if (options->control_capacity == LBX_LIMIT_SHARED) {
        box->control_lane.quota = box->user_lane.quota;
    } else if (options->control_capacity != LBX_UNLIMITED) {
        lbx__quota_init(&box->control_quota,
                        (uint64_t)options->control_capacity, grows);
        box->control_lane.quota = &box->control_quota;
    }
}

static lbx_status
lanes_init_segq(lbx_mailbox *box, lbx__lane *lane, unsigned words)
{
    lane->type = LBX__LANE_SEGQ;
    lane->words = words;
    return lbx__segq_init(&lane->q.segq, words, box->many,
                          box->options.allocator);
}

static lbx_status
lanes_init_fifo(lbx_mailbox *box, lbx__lane *lane, unsigned words)
{
    const lbx_mailbox_options *options = &box->options;

    if (options->capacity_messages == LBX_UNLIMITED || lane->quota)
        return lanes_init_segq(box, lane, words);
    lane->type = LBX__LANE_RING;
    lane->words = words;
    return lbx__ring_init(
        &lane->q.ring, (uint64_t)options->capacity_messages, words, box->many,
        options->overflow == LBX_OVERFLOW_BLOCK, options->allocator);
}

static lbx_status
lanes_init_priority(lbx_mailbox *box, lbx__lane *lane, unsigned words)
{
    lbx__bucket_order order = {
        .compare = box->options.compare,
        .context = box->options.compare_context,
        .higher_first = box->options.higher_first,
    };

    lane->type = LBX__LANE_PRIORITY;
    lane->words = words;
    return lbx__priority_queue_init(&lane->q.priority, words, &order,
                                    box->options.allocator);
}

static lbx_status
lanes_init_control(lbx_mailbox *box, unsigned words)
{
    if (!box->options.control_by_priority)
        return lanes_init_segq(box, &box->control_lane, words);
    return lanes_init_priority(box, &box->control_lane,
                               words == LBX__ENVELOPE ? LBX__ENVELOPE
                                                      : LBX__PAIR);
}

static lbx_status
lanes_init_locked(lbx_mailbox *box, lbx__lane *lane,
                  const lbx__mailbox_kind *kind)
{
    const lbx__locked_ops ops = {
        .destroy = kind->ops->destroy,
        .push = kind->ops->push,
        .pop = kind->ops->pop,
        .push_front = kind->ops->push_front,
        .evict = kind->ops->evict,
    };
    void *storage;
    lbx_status status =
        kind->ops->create(kind->context, &box->options, &storage);

    if (status != LBX_OK)
        return status;
    lane->type = LBX__LANE_LOCKED;
    lane->words = LBX__ENVELOPE;
    lbx__locked_queue_init(&lane->q.locked, &ops, storage);
    return LBX_OK;
}

lbx_status
lbx__lanes_init(lbx_mailbox *box, const lbx__mailbox_kind *kind)
{
    unsigned words = lanes_item_words(kind, &box->options);
    lbx_status status = LBX_INVALID;

    lanes_init_quotas(box, kind);
    switch (kind->order) {
    case LBX__ORDER_FIFO:
        return lanes_init_fifo(box, &box->user_lane, words);
    case LBX__ORDER_PRIORITY:
        return lanes_init_priority(box, &box->user_lane, words);
    case LBX__ORDER_STORAGE:
        return lanes_init_locked(box, &box->user_lane, kind);
    case LBX__ORDER_CONTROL:
        box->lane[LBX__CONTROL_LANE] = &box->control_lane;
        status = lanes_init_control(box, words);
        if (status == LBX_OK)
            status = lanes_init_segq(box, &box->user_lane, words);
        break;
    }
    return status;
}

static void
lanes_free_system(lbx_mailbox *box, lbx__lane *lane)
{
    lbx__lane_fini(lane);
    lbx__free(box->options.allocator, lane, sizeof(*lane));
}

void
lbx__lanes_fini(lbx_mailbox *box)
{
    lbx__lane *system = lbx__peek(&box->system);

    if (system)
        lanes_free_system(box, system);
    if (box->lane[LBX__CONTROL_LANE])
        lbx__lane_fini(&box->control_lane);
    lbx__lane_fini(&box->user_lane);
}

lbx__lane *
lbx__lanes_get(lbx_mailbox *box, int lane)
{
    if (lane == LBX__SYSTEM_LANE)
        // Acquire: pairs with the release in lbx__lanes_make_system().
        return lbx__load(&box->system, acquire);
    return box->lane[lane];
}

/* The system lane is allocated apart, because most mailboxes never receive a
 * system message. */
static lbx_status
lanes_init_system(const lbx_mailbox *box, lbx__lane *lane)
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
lbx__lanes_make_system(lbx_mailbox *box, lbx__lane **ret)
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
    if (lanes_init_system(box, lane) != LBX_OK) {
        lanes_free_system(box, lane);
        return LBX_NO_MEMORY;
    }
    lbx__lock_take(&box->lock);
    // Under the lock, so that it starts with the flags of the other lanes.
    if (!lbx__list_empty(&box->receivers))
        lbx__lane_raise(lane, LBX__FLAG_WAITING);
    if (box->metrics.event || box->hook.ready || box->signal)
        lbx__lane_raise(lane, LBX__FLAG_OBSERVED);
    if (box->stalled)
        lbx__lane_stall(lane, true);
    if (box->closed)
        lbx__lane_close(lane);
    // Release: a thread that loads the pointer sees the lane initialised.
    if (lbx__cas(&box->system, &none, lane, acq_rel))
        none = lane;
    lbx__lock_give(&box->lock);
    if (none != lane)
        lanes_free_system(box, lane);
    *ret = none;
    return LBX_OK;
}

void
lbx__lanes_stall(lbx_mailbox *box, bool stalled)
{
    for (int i = 0; i < LBX__LANES; i++)
        if (lbx__lanes_get(box, i))
            lbx__lane_stall(lbx__lanes_get(box, i), stalled);
    box->stalled = stalled;
}

uint64_t
lbx__lanes_depth(lbx_mailbox *box)
{
    uint64_t depth = 0;

    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__lanes_get(box, i);

        if (lane)
            depth += lbx__lane_depth(lane);
    }
    return depth;
}

uint64_t
lbx__lanes_takeable(lbx_mailbox *box)
{
    lbx__lane *system = lbx__lanes_get(box, LBX__SYSTEM_LANE);
    uint64_t count = system ? lbx__lane_depth(system) : 0;

    if (box->suspensions > 0)
        return count;
    if (box->lane[LBX__CONTROL_LANE])
        count += lbx__lane_depth(box->lane[LBX__CONTROL_LANE]);
    return count + lbx__lane_depth(box->lane[LBX__USER_LANE]);
}

void
lbx__lanes_sample(lbx_mailbox *box)
{
    uint64_t depth = lbx__lanes_depth(box);
    // Relaxed: a maximum, it orders nothing.
    uint64_t high = lbx__load(&box->high_water, relaxed);

    while (depth > high)
        if (lbx__cas(&box->high_water, &high, depth, relaxed))
            break;
}

/* The lane of a message that is not a system message. */
static int
lanes_index_of(const lbx_mailbox *box, const lbx_envelope *envelope)
{
    return box->lane[LBX__CONTROL_LANE] &&
                   envelope->channel == LBX_CHANNEL_CONTROL
               ? LBX__CONTROL_LANE
               : LBX__USER_LANE;
}

int
lbx_mailbox_compare(const lbx_mailbox *mailbox, const lbx_envelope *a,
                    const lbx_envelope *b)
{
    int lane;
    const lbx__lane *from;

    if (!mailbox || !a || !b)
        return 0;
    lane = lanes_index_of(mailbox, a);
    from = mailbox->lane[lane];
    if (lane != lanes_index_of(mailbox, b))
        return lane - lanes_index_of(mailbox, b);
    if (from->type != LBX__LANE_PRIORITY)
        return 0;
    return lbx__bucket_heap_compare(&from->q.priority.heap.order, a, b);
}

bool
lbx_mailbox_has_before(lbx_mailbox *mailbox, const lbx_envelope *than)
{
    int lane;
    lbx__lane *control;
    lbx__lane *from;

    if (!mailbox || !than)
        return false;
    lane = lanes_index_of(mailbox, than);
    control = mailbox->lane[LBX__CONTROL_LANE];
    from = mailbox->lane[lane];
    if (lane == LBX__USER_LANE && control && lbx__lane_depth(control) > 0)
        return true;
    return from->type == LBX__LANE_PRIORITY &&
           lbx__priority_queue_beats(&from->q.priority, than);
}

void
lbx__lanes_pack(const lbx__lane *lane, const lbx_envelope *envelope,
                uint64_t *item)
{
    if (lane->words == LBX__ENVELOPE)
        memcpy(item, envelope, sizeof(*envelope));
    else if (lane->words == LBX__PAIR)
        item[1] = (uint32_t)envelope->priority;
    item[0] = lbx__slot_encode(envelope->message);
}

void
lbx__lanes_unpack(lbx_mailbox *box, int lane, const uint64_t *item,
                  lbx_envelope *ret)
{
    const lbx__lane *from = lbx__lanes_get(box, lane);

    if (from->words == LBX__ENVELOPE) {
        memcpy(ret, item, sizeof(*ret));
    } else {
        *ret = lbx_envelope_of(NULL, box->options.default_priority);
        if (from->words == LBX__PAIR)
            ret->priority = (int32_t)(uint32_t)item[1];
        if (lane == LBX__CONTROL_LANE)
            ret->channel = LBX_CHANNEL_CONTROL;
        ret->recipient = box->options.owner;
    }
    ret->message = lbx__slot_decode(item[0]);
}
