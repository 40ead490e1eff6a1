/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling others: losses, metrics, the signal, the scheduler's hook.
 *
 * Nothing here holds a lock while it calls out. Sinks are copied under
 * the lock first, so that detaching one is one step.
 */
#include "mailbox/box.h"

/* Ends a message that nobody will receive. */
static void
end_message(const lbx_mailbox *box, const lbx_envelope *envelope)
{
    if (envelope->type)
        lbx_type_end_message(envelope->type, envelope->message);
    else if (box->options.destroy)
        box->options.destroy(envelope->message, box->options.destroy_context);
}

static void
count_loss(lbx_mailbox *box, lbx_loss_reason reason)
{
    // Relaxed: these are numbers for people.
    if (reason == LBX_LOST_DROPPED_NEWEST)
        (void)lbx__add(&box->dropped_newest, 1, relaxed);
    else if (reason == LBX_LOST_DROPPED_OLDEST)
        (void)lbx__add(&box->dropped_oldest, 1, relaxed);
    else if (reason == LBX_LOST_EXPIRED)
        (void)lbx__add(&box->expired, 1, relaxed);
}

/* The metric that goes with a loss; false: none. */
static bool
metric_of(lbx_loss_reason reason, lbx_metric *ret)
{
    switch (reason) {
    case LBX_LOST_DROPPED_NEWEST:
        *ret = LBX_METRIC_DROPPED_NEWEST;
        return true;
    case LBX_LOST_DROPPED_OLDEST:
        *ret = LBX_METRIC_DROPPED_OLDEST;
        return true;
    case LBX_LOST_EXPIRED:
        *ret = LBX_METRIC_EXPIRED;
        return true;
    default:
        return false;
    }
}

void
lbx__box_lose(lbx_mailbox *box, const lbx_envelope *envelope,
              lbx_loss_reason reason)
{
    lbx_envelope lost = *envelope;
    lbx_producer *dead_letters = box->options.dead_letters;
    lbx_metric metric;
    lbx_loss loss = {
        .mailbox = box,
        .mailbox_name = box->options.name,
        .envelope = &lost,
        .lost_messages = lbx__add(&box->lost, 1, relaxed) + 1,
    };

    lost.lost = (uint8_t)reason;
    lost.recipient = box->options.owner;
    count_loss(box, reason);
    if (metric_of(reason, &metric))
        lbx__box_event(box, metric, 1);
    // Relaxed: see lbx__box_close().
    if (box->options.loss_sink.lost &&
        !lbx__load(&box->to_dead_letters, relaxed)) {
        box->options.loss_sink.lost(box->options.loss_sink.context, &loss);
        return;
    }
    lost.deadline_ns = LBX_FOREVER; // a dead letter does not expire again
    if (!dead_letters ||
        !lbx__box_bury(lbx__box_of_producer(dead_letters), &lost))
        end_message(box, &lost);
}

void
lbx__box_event_of(lbx_mailbox *box, const lbx_metric_event *event)
{
    lbx_metrics_sink sink;

    lbx__lock_take(&box->lock);
    sink = box->metrics;
    lbx__lock_give(&box->lock);
    if (sink.event)
        sink.event(sink.context, event);
}

void
lbx__box_event(lbx_mailbox *box, lbx_metric metric, uint64_t count)
{
    lbx_metric_event event = {
        .metric = metric,
        .mailbox = box,
        .count = count,
        .waited_ns = -1,
        .last_ns = -1,
        .total_ns = -1,
    };

    lbx__box_event_of(box, &event);
}

/* The system lane's metric: how many reserved slots are left. */
static void
report_reservation(lbx_mailbox *box, lbx__lane *lane)
{
    uint64_t capacity = (uint64_t)box->options.system_reservation;
    uint64_t depth;

    if (lane->type != LBX__LANE_RING)
        return;
    depth = lbx__lane_depth(lane);
    lbx__box_event(box, LBX_METRIC_RESERVATION_USED,
                   depth < capacity ? capacity - depth : 0);
}

void
lbx__box_pressure(lbx_mailbox *box)
{
    uint64_t depth = lbx__box_depth(box);

    // Relaxed: at worst one event too many or too few at the border.
    if (depth < (uint64_t)box->options.pressure_messages)
        lbx__store(&box->pressed, 0u, relaxed);
    else if (lbx__exchange(&box->pressed, 1u, relaxed) == 0)
        lbx__box_event(box, LBX_METRIC_PRESSURE, depth);
}

void
lbx__box_enqueued(lbx_mailbox *box, const lbx__lane *lane)
{
    lbx_metrics_sink metrics;
    lbx_scheduler_hook hook;
    lbx_signal *signal;

    lbx__lock_take(&box->lock);
    metrics = box->metrics;
    hook = box->hook;
    signal = lbx_signal_ref(box->signal);
    lbx__lock_give(&box->lock);
    lbx__box_hold(box); // a callback may give up the last handle
    lbx_signal_notify(signal);
    lbx_signal_unref(signal);
    if (metrics.event) {
        lbx__lane *system = lbx__box_lane(box, LBX__SYSTEM_LANE);

        lbx__box_event(box, LBX_METRIC_ENQUEUED, 0);
        if (lane == system)
            report_reservation(box, system);
        lbx__box_pressure(box);
    }
    if (hook.ready)
        hook.ready(hook.context, box);
    lbx__box_release(box);
}

/* Raises or lowers OBSERVED and WATCHED as the sinks demand. Under the lock. */
static void
refresh_observed(lbx_mailbox *box)
{
    bool observed = box->metrics.event || box->hook.ready || box->signal;

    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__box_lane(box, i);

        if (lane && observed)
            lbx__lane_raise(lane, LBX__OBSERVED);
        else if (lane)
            lbx__lane_lower(lane, LBX__OBSERVED);
    }
    lbx__box_set_gate(box, LBX__GATE_WATCHED, box->metrics.event != NULL);
}

lbx_status
lbx_mailbox_set_metrics_sink(lbx_mailbox *mailbox, const lbx_metrics_sink *sink)
{
    static const lbx_metrics_sink none;
    lbx_metrics_sink before;
    lbx_metric_event event = {
        .mailbox = mailbox, .waited_ns = -1, .last_ns = -1, .total_ns = -1};

    if (!mailbox || (sink && !sink->event))
        return LBX_INVALID;
    lbx__lock_take(&mailbox->lock);
    before = mailbox->metrics;
    mailbox->metrics = sink ? *sink : none;
    refresh_observed(mailbox);
    lbx__lock_give(&mailbox->lock);
    event.metric = LBX_METRIC_DEREGISTERED;
    if (before.event)
        before.event(before.context, &event);
    event.metric = LBX_METRIC_REGISTERED;
    if (sink)
        sink->event(sink->context, &event);
    return LBX_OK;
}

lbx_status
lbx_mailbox_set_scheduler_hook(lbx_mailbox *mailbox,
                               const lbx_scheduler_hook *hook)
{
    static const lbx_scheduler_hook none;

    if (!mailbox || (hook && !hook->ready))
        return LBX_INVALID;
    lbx__lock_take(&mailbox->lock);
    mailbox->hook = hook ? *hook : none;
    refresh_observed(mailbox);
    lbx__lock_give(&mailbox->lock);
    return LBX_OK;
}

/* One more reference to the mailbox's signal; `fresh` becomes it if there is
 * none. NULL: there is none, and no fresh one. */
static lbx_signal *
share_signal(lbx_mailbox *box, lbx_signal *fresh)
{
    lbx_signal *signal;

    lbx__lock_take(&box->lock);
    if (!box->signal && fresh) {
        box->signal = lbx_signal_ref(fresh);
        refresh_observed(box);
    }
    signal = lbx_signal_ref(box->signal);
    lbx__lock_give(&box->lock);
    return signal;
}

lbx_status
lbx_consumer_signal(lbx_consumer *consumer, lbx_signal **ret)
{
    lbx_mailbox *box = lbx__box_of_consumer(consumer);
    lbx_signal *signal;
    lbx_signal *fresh;
    lbx_status status;

    if (!box || !ret)
        return LBX_INVALID;
    signal = share_signal(box, NULL);
    if (!signal) {
        status = lbx_signal_create(box->options.allocator, box->options.clock,
                                   &fresh);
        if (status != LBX_OK)
            return status;
        signal = share_signal(box, fresh);
        lbx_signal_unref(fresh);
    }
    *ret = signal;
    return LBX_OK;
}
