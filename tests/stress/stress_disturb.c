/* SPDX-License-Identifier: Apache-2.0 */
/* What threads do to a mailbox in between, and how many messages may be seen in
 * it (MSG-5); stress.h. */
#include "stress/stress.h"

#include <inttypes.h>

#include "support/test.h"

static void
stress_metric(void *context, const lbx_metric_event *event)
{
    struct stress *stress = context;

    CHECK(event->metric <= LBX_METRIC_DEREGISTERED);
    atomic_fetch_add_explicit(&stress->metric_events, 1, memory_order_relaxed);
}

static void
stress_hook(void *context, lbx_mailbox *mailbox)
{
    struct stress *stress = context;

    (void)mailbox;
    atomic_fetch_add_explicit(&stress->hook_calls, 1, memory_order_relaxed);
}

static void
look(struct stress_worker *worker)
{
    struct stress *stress = worker->stress;
    int64_t limit = stress->how->box.capacity;
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    CHECK_OK(lbx_mailbox_stats_read(stress->mailbox, &stats));
    lbx_mailbox_is_empty(stress->mailbox);
    lbx_mailbox_is_full(stress->mailbox);
    if (limit == 0 || stress->how->box.overflow == LBX_OVERFLOW_GROW ||
        stress->how->box.ranks == BOX_LANES)
        return;

    uint64_t depth = lbx_mailbox_depth(stress->mailbox);

    if (depth > (uint64_t)limit || stats.depth > (uint64_t)limit)
        FAIL("%s: %" PRIu64 " and %" PRIu64 " inside of %" PRId64
             "; seed %" PRIu64,
             stress->how->box.name, depth, stats.depth, limit, stress->seed);
}

void
stress_disturb(struct stress_worker *worker)
{
    struct stress *stress = worker->stress;
    lbx_metrics_sink sink = {stress_metric, stress};
    lbx_scheduler_hook hook = {stress_hook, stress};
    bool on = storm_once_in(&worker->random, 2);
    lbx_signal *signal;

    switch (storm_random_below(&worker->random, 6)) {
    case 0:
        if (worker->suspensions < 2) {
            lbx_mailbox_suspend(stress->mailbox);
            worker->suspensions++;
        }
        break;
    case 1:
        CHECK_OK(
            lbx_mailbox_set_metrics_sink(stress->mailbox, on ? &sink : NULL));
        break;
    case 2:
        CHECK_OK(
            lbx_mailbox_set_scheduler_hook(stress->mailbox, on ? &hook : NULL));
        break;
    case 3:
        CHECK_OK(lbx_consumer_signal(stress->box.consumer, &signal));
        lbx_signal_notify(signal);
        lbx_signal_unref(signal);
        break;
    case 4:
        lbx_producer_unref(lbx_producer_ref(stress->box.producer));
        lbx_consumer_unref(lbx_consumer_ref(stress->box.consumer));
        break;
    default:
        look(worker);
        break;
    }
}

void
stress_resume(struct stress_worker *worker)
{
    for (; worker->suspensions > 0; worker->suspensions--)
        lbx_mailbox_resume(worker->stress->mailbox);
}
