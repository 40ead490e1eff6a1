/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observers of a mailbox: metrics sink, signal, scheduler hook.
 *
 * While one of them is set, OBSERVED is set in every lane, and a push that sees
 * it calls lbx__observers_enqueued(). A metrics sink also sets WATCHED in the
 * gate, so that takes report too. Observers are copied under the lock and
 * called after it is released; detaching one is one step.
 *
 * Threads    any, with no lock held, unless a comment states otherwise.
 */
#include "mailbox/mailbox.h"

void
lbx__observers_event(lbx_mailbox *box, const lbx_metric_event *event)
{
    lbx_metrics_sink sink;

    lbx__lock_take(&box->lock);
    sink = box->metrics;
    lbx__lock_give(&box->lock);
    if (sink.event)
        sink.event(sink.context, event);
}

void
lbx__observers_count(lbx_mailbox *box, lbx_metric metric, uint64_t count)
{
    lbx_metric_event event = {
        .metric = metric,
        .mailbox = box,
        .count = count,
        .waited_ns = -1,
        .last_ns = -1,
        .total_ns = -1,
    };

    lbx__observers_event(box, &event);
}

/* Reports how many reserved slots of the system lane are left. */
static void
observers_report_reservation(lbx_mailbox *box, lbx__lane *lane)
{
    uint64_t capacity = (uint64_t)box->options.system_reservation;
    uint64_t depth;

    if (lane->type != LBX__LANE_RING)
        return;
    depth = lbx__lane_depth(lane);
    lbx__observers_count(box, LBX_METRIC_RESERVATION_USED,
                         depth < capacity ? capacity - depth : 0);
}

void
lbx__observers_pressure(lbx_mailbox *box)
{
    uint64_t depth = lbx__lanes_depth(box);

    // Relaxed: at worst one event too many or too few at the limit.
    if (depth < (uint64_t)box->options.pressure_messages)
        lbx__store(&box->pressed, 0u, relaxed);
    else if (lbx__exchange(&box->pressed, 1u, relaxed) == 0)
        lbx__observers_count(box, LBX_METRIC_PRESSURE, depth);
}

void
lbx__observers_enqueued(lbx_mailbox *box, const lbx__lane *lane)
{
    lbx_metrics_sink metrics;
    lbx_scheduler_hook hook;
    lbx_signal *signal;

    lbx__lock_take(&box->lock);
    metrics = box->metrics;
    hook = box->hook;
    signal = lbx_signal_ref(box->signal);
    lbx__lock_give(&box->lock);
    lbx__mailbox_hold(box); // a callback may release the last handle
    lbx_signal_notify(signal);
    lbx_signal_unref(signal);
    if (metrics.event) {
        lbx__lane *system = lbx__lanes_get(box, LBX__SYSTEM_LANE);

        lbx__observers_count(box, LBX_METRIC_ENQUEUED, 0);
        if (lane == system)
            observers_report_reservation(box, system);
        lbx__observers_pressure(box);
    }
    if (hook.ready)
        hook.ready(hook.context, box);
    lbx__mailbox_release(box);
}

/* Sets OBSERVED and WATCHED if there are observers, else clears them. Under the
 * lock. */
static void
observers_refresh(lbx_mailbox *box)
{
    bool observed = box->metrics.event || box->hook.ready || box->signal;

    for (int i = 0; i < LBX__LANES; i++) {
        lbx__lane *lane = lbx__lanes_get(box, i);

        if (lane && observed)
            lbx__lane_raise(lane, LBX__FLAG_OBSERVED);
        else if (lane)
            lbx__lane_lower(lane, LBX__FLAG_OBSERVED);
    }
    lbx__gate_set(box, LBX__GATE_WATCHED, box->metrics.event != NULL);
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
    observers_refresh(mailbox);
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
    observers_refresh(mailbox);
    lbx__lock_give(&mailbox->lock);
    return LBX_OK;
}

/* Returns a new reference to the mailbox's signal. If the mailbox has none,
 * `fresh` becomes its signal; NULL if `fresh` is NULL too. */
static lbx_signal *
observers_share_signal(lbx_mailbox *box, lbx_signal *fresh)
{
    lbx_signal *signal;

    lbx__lock_take(&box->lock);
    if (!box->signal && fresh) {
        box->signal = lbx_signal_ref(fresh);
        observers_refresh(box);
    }
    signal = lbx_signal_ref(box->signal);
    lbx__lock_give(&box->lock);
    return signal;
}

lbx_status
lbx_consumer_signal(lbx_consumer *consumer, lbx_signal **ret)
{
    lbx_mailbox *box = lbx__mailbox_of_consumer(consumer);
    lbx_signal *signal;
    lbx_signal *fresh;
    lbx_status status;

    if (!box || !ret)
        return LBX_INVALID;
    signal = observers_share_signal(box, NULL);
    if (!signal) {
        status = lbx_signal_create(box->options.allocator, box->options.clock,
                                   &fresh);
        if (status != LBX_OK)
            return status;
        signal = observers_share_signal(box, fresh);
        lbx_signal_unref(fresh);
    }
    *ret = signal;
    return LBX_OK;
}
