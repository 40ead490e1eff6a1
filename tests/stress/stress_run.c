/* SPDX-License-Identifier: Apache-2.0 */
/* A run: its threads, how its mailbox ends, and the sums that must agree
 * (MSG-1, MSG-2, MSG-7); stress.h. */
#include "stress/stress.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "support/test.h"
#include "support/threads.h"

static void
stress_lost(void *context, const lbx_loss *loss)
{
    struct stress *stress = context;

    CHECK(loss->envelope->lost != LBX_LOSS_NONE);
    atomic_fetch_add(&stress->lost, 1);
    if (loss->envelope->lost == LBX_LOSS_DROPPED_NEWEST)
        atomic_fetch_add(&stress->lost_newest, 1);
    ledger_end(&stress->ledger, loss->envelope->message);
}

static void
stress_destroy(void *message, void *context)
{
    struct stress *stress = context;

    atomic_fetch_add(&stress->destroyed, 1);
    ledger_end(&stress->ledger, message);
}

static void
stress_rest(void *context, const lbx_envelope *envelope)
{
    stress_destroy(envelope->message, context);
}

static void
stress_work(unsigned index, void *context)
{
    struct stress *stress = context;
    bool one = stress->how->box.one_consumer;
    bool sends = !one || index < STRESS_THREADS - 1;
    bool receives = !one || index == STRESS_THREADS - 1;
    struct stress_worker worker = {
        .stress = stress,
        .index = index,
        .counts = &stress->counts[index],
        .random = storm_random_of(stress->seed, index),
        .next = index * stress->sends,
        .limit = (index + sends) * stress->sends,
    };
    bool is_sending = sends;

    for (;;) {
        unsigned phase = 1 + storm_random_below(&worker.random, 32);
        bool last = atomic_load(&stress->sending) == 0;
        bool sends_now =
            is_sending && (!receives || storm_once_in(&worker.random, 2));
        bool found = true;

        if (storm_once_in(&worker.random, 8))
            stress_disturb(&worker);
        else if (storm_once_in(&worker.random, 4))
            stress_resume(&worker);
        for (; phase > 0 && sends_now && worker.next < worker.limit; phase--)
            stress_send_some(&worker);
        for (; phase > 0 && receives && !sends_now; phase--)
            found = stress_receive_some(&worker);
        if (is_sending && worker.next == worker.limit) {
            is_sending = false;
            atomic_fetch_sub(&stress->sending, 1);
        }
        if (last && stress->leftovers != STRESS_LEFT_DRAINED)
            break;
        if (!is_sending &&
            (!receives || (last && !found && worker.suspensions == 0 &&
                           lbx_mailbox_is_empty(stress->mailbox))))
            break;
        if (!found || storm_once_in(&worker.random, 16))
            sched_yield();
        if (!is_sending && !found)
            stress_resume(&worker);
    }
    stress_resume(&worker);
}

static void
check_counts(struct stress *stress, const struct stress_counts *sum,
             uint64_t ended_before)
{
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;
    lbx_overflow overflow = stress->how->box.overflow;

    CHECK_OK(lbx_mailbox_stats_read(stress->mailbox, &stats));
    CHECK_INT(0, stats.waiting_senders);
    CHECK_INT(0, stats.waiting_receivers);
    CHECK_INT(0, stats.suspensions);
    CHECK_INT(stats.accepted, stats.taken + stats.depth);
    CHECK_INT(sum->sent - stats.dropped_newest, stats.accepted);
    CHECK_INT(sum->sent - ended_before, stats.depth);
    CHECK_INT(atomic_load(&stress->lost) + atomic_load(&stress->destroyed),
              stats.lost);
    CHECK_INT(stats.dropped_newest + stats.dropped_oldest + stats.expired,
              stats.lost);
    CHECK_INT(sum->received + stats.lost, ended_before);
    // DROP_OLDEST loses the new one when there is nothing to push out.
    if (overflow != LBX_OVERFLOW_DROP_NEWEST &&
        overflow != LBX_OVERFLOW_DROP_OLDEST)
        CHECK_INT(0, stats.dropped_newest);
    if (overflow != LBX_OVERFLOW_DROP_OLDEST)
        CHECK_INT(0, stats.dropped_oldest);
    if (overflow == LBX_OVERFLOW_REJECT)
        CHECK_INT(sum->full, stats.rejected);
    // These always find a way, except that system and control messages are
    // never pushed out.
    if (overflow == LBX_OVERFLOW_DROP_NEWEST ||
        overflow == LBX_OVERFLOW_DROP_OLDEST || overflow == LBX_OVERFLOW_GROW) {
        if (stress->how->box.ranks != BOX_LANES && sum->full > 0)
            FAIL("%s: %" PRIu64 " sends of %" PRIu64 " answered LBX_FULL",
                 stress->how->box.name, sum->full, sum->calls);
    }
    CHECK(stats.high_water <= stats.accepted);
    CHECK(sum->swallowed <= stats.dropped_newest);
}

uint64_t
stress_run(const struct stress_case *how, enum stress_leftovers leftovers,
           uint64_t seed, uint64_t total)
{
    static struct stress stress;
    unsigned senders =
        how->box.one_consumer ? STRESS_THREADS - 1 : STRESS_THREADS;
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_fault fault = {.text = ""};
    struct stress_counts sum = {0};
    struct ledger_report report;

    memset(&stress, 0, sizeof(stress));
    stress.how = how;
    stress.seed = seed;
    stress.leftovers = leftovers;
    stress.sends = total / 2 / senders + 1;
    stress.sending = senders;
    stress.box.ranks = how->box.ranks;
    ledger_init(&stress.ledger, stress.sends * STRESS_THREADS);

    if (how->box.capacity > 0)
        options.capacity_messages = how->box.capacity;
    options.overflow = how->box.overflow;
    options.wait_ns = 50 * LBX_US;
    options.envelopes = how->envelopes || how->box.ranks != BOX_PLAIN;
    options.timestamps = how->envelopes;
    if (leftovers != STRESS_LEFT_DESTROY)
        options.loss_sink = (lbx_loss_sink){stress_lost, &stress};
    options.destroy = stress_destroy;
    options.destroy_context = &stress;
    options.fault = &fault;
    if (lbx_mailbox_create(how->box.kind, &options, &stress.box.producer,
                           &stress.box.consumer) != LBX_OK)
        FAIL("%s: %s", how->box.name, fault.text);
    stress.mailbox = lbx_producer_mailbox(stress.box.producer);

    threads_run(STRESS_THREADS, stress_work, &stress);
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        sum.calls += stress.counts[i].calls;
        sum.sent += stress.counts[i].sent;
        sum.swallowed += stress.counts[i].swallowed;
        sum.full += stress.counts[i].full;
        sum.timeouts += stress.counts[i].timeouts;
        sum.received += stress.counts[i].received;
    }

    report = ledger_check(&stress.ledger);
    CHECK_INT(0, report.phantom);
    CHECK_INT(0, report.duplicate);
    CHECK_INT(sum.sent, report.in);
    check_counts(&stress, &sum, report.ended);
    if (leftovers == STRESS_LEFT_DRAINED)
        CHECK(lbx_mailbox_is_empty(stress.mailbox));
    CHECK_OK(lbx_mailbox_set_metrics_sink(stress.mailbox, NULL));
    CHECK_OK(lbx_mailbox_set_scheduler_hook(stress.mailbox, NULL));
    if (leftovers == STRESS_LEFT_CLOSED)
        CHECK_OK(lbx_mailbox_close(stress.mailbox, LBX_CLOSE_IMMEDIATE));
    if (leftovers == STRESS_LEFT_INTO)
        CHECK_OK(lbx_mailbox_close_into(stress.mailbox, stress_rest, &stress));
    lbx_producer_unref(stress.box.producer);
    lbx_consumer_unref(stress.box.consumer);

    report = ledger_check(&stress.ledger);
    test_note("stress: %s: calls=%" PRIu64 " sent=%" PRIu64 " received=%" PRIu64
              " full=%" PRIu64 " timeouts=%" PRIu64 " lost_events=%" PRIu64
              " destroyed=%" PRIu64 " metrics=%" PRIu64 " lost=%" PRIu64
              " phantom=%" PRIu64 " duplicate=%" PRIu64,
              how->box.name, sum.calls, sum.sent, sum.received, sum.full,
              sum.timeouts, atomic_load(&stress.lost),
              atomic_load(&stress.destroyed),
              atomic_load(&stress.metric_events), report.lost, report.phantom,
              report.duplicate);
    CHECK_INT(0, report.bad);
    ledger_fini(&stress.ledger);
    return sum.sent + sum.received;
}
