/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind with every policy, four threads, every way to send and to
 * receive, chosen at random.
 *
 * While it runs, any of the threads may suspend and resume the mailbox, attach
 * and detach metrics, scheduler hook and signal, and look at its numbers. What
 * must hold: every accepted message ends exactly once (MSG-1, MSG-2); one
 * thread's messages of one rank arrive in the order in which it sent them
 * (MSG-3, MSG-4); no more inside than the capacity (MSG-5); what is left at the
 * end is lost or destroyed once each (MSG-7); and the mailbox's own counts
 * agree with ours.
 *
 * The plain array that receivers read and senders write without atomics makes
 * ThreadSanitizer check that a message's content is published with it.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "stress/box.h"
#include "stress/slices.h"
#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    THREADS = 4,
    BATCH = 8,
    RANKS = 5,      // BOX_PRIORITIES has four, BOX_LANES three
    RANK_FRONT = 4, // sent to the front: in no order
};

enum leftovers {
    LEFT_DRAINED, // received at the end
    LEFT_SINK,    // given to the loss sink by the last unref
    LEFT_DESTROY, // given to the destructor
    LEFT_CLOSED,  // closed, IMMEDIATE
    LEFT_INTO,    // closed, into a callback
    LEFTOVERS,
};

struct stress_case {
    struct box_case box;
    bool deque;
    bool envelopes; // with deadlines
};

struct counts {
    uint64_t calls;     // of the library
    uint64_t sent;      // LBX_OK
    uint64_t swallowed; // of these, outcome LBX_OUTCOME_DROPPED_NEWEST
    uint64_t full;
    uint64_t timeouts;
    uint64_t received;
};

struct stress {
    const struct stress_case *how;
    struct box box;
    lbx_mailbox *mailbox;
    struct ledger ledger;
    uint64_t seed;
    uint64_t sends; // per sending thread
    enum leftovers leftovers;
    struct counts counts[THREADS];
    _Atomic(unsigned) sending;
    _Atomic(uint64_t) lost, destroyed, metric_events, hook_calls;
    _Atomic(uint64_t) lost_newest;
};

struct worker {
    struct stress *stress;
    unsigned index;
    struct counts *counts;
    struct storm_random random;
    uint64_t next, limit;
    unsigned suspensions;
    uint64_t last[THREADS][RANKS]; // number + 1 of the newest received
};

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

/* ---- Sending ---- */

// What became of the message with the next number.
static void
note_send(struct worker *worker, lbx_status status)
{
    struct ledger *ledger = &worker->stress->ledger;

    switch (status) {
    case LBX_OK:
        ledger->fates[worker->next++] = STORM_IN;
        worker->counts->sent++;
        break;
    case LBX_FULL:
        worker->counts->full++;
        break;
    case LBX_TIMEOUT:
    case LBX_CANCELLED:
        worker->counts->timeouts++;
        break;
    default:
        FAIL("send: %s", lbx_status_name(status));
    }
}

static void
send_batch(struct worker *worker)
{
    struct stress *stress = worker->stress;
    void *messages[BATCH];
    size_t count = 1 + storm_random_below(&worker->random, BATCH);
    size_t sent;
    lbx_status status;

    if (count > worker->limit - worker->next)
        count = (size_t)(worker->limit - worker->next);
    for (size_t i = 0; i < count; i++) {
        messages[i] = storm_message(worker->next + i);
        stress->ledger.ranks[worker->next + i] = RANK_FRONT - 1;
    }
    status = lbx_producer_try_send_batch(stress->box.producer, messages, count,
                                         &sent);
    CHECK((status == LBX_OK) == (sent == count));
    for (size_t i = 0; i < sent; i++)
        note_send(worker, LBX_OK);
    if (status != LBX_OK)
        note_send(worker, status);
}

static lbx_status
send_operation(struct worker *worker, const lbx_envelope *envelope,
               lbx_send_result *result)
{
    lbx_operation operation;
    lbx_status status = LBX_PENDING;

    CHECK_OK(lbx_producer_send_envelope_init(
        &operation, worker->stress->box.producer, envelope,
        storm_deadline_us(storm_random_below(&worker->random, 30)), result));
    for (unsigned i = 0; i < 4 && status == LBX_PENDING; i++)
        status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING)
        status = lbx_operation_cancel(&operation);
    lbx_operation_fini(&operation);
    return status;
}

static void
send_some(struct worker *worker)
{
    struct stress *stress = worker->stress;
    lbx_producer *producer = stress->box.producer;
    const struct stress_case *how = stress->how;
    void *message = storm_message(worker->next);
    lbx_envelope envelope = box_envelope(&stress->box, message);
    unsigned rank = box_rank(how->box.ranks, worker->next);
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    lbx_status status;
    int64_t soon = storm_deadline_us(storm_random_below(&worker->random, 30));
    bool plain = how->box.ranks == BOX_PLAIN;

    worker->counts->calls++;
    if (how->envelopes && storm_once_in(&worker->random, 16))
        envelope.deadline_ns =
            storm_deadline_us(storm_random_below(&worker->random, 20));
    stress->ledger.ranks[worker->next] = (uint8_t)rank;
    switch (storm_random_below(&worker->random, how->deque ? 8 : 7)) {
    case 0:
        status = plain ? lbx_producer_try_send(producer, message)
                       : lbx_producer_try_send_envelope(producer, &envelope,
                                                        &result);
        break;
    case 1:
        status = lbx_producer_send_envelope_until(producer, &envelope, soon,
                                                  &result);
        break;
    case 2:
        if (plain) {
            send_batch(worker);
            return;
        }
        // fall through
    case 3:
        status = send_operation(worker, &envelope, &result);
        break;
    case 4:
        status = plain ? lbx_producer_send_until(producer, message, soon)
                       : lbx_producer_send_envelope_until(producer, &envelope,
                                                          0, &result);
        break;
    case 7:
        stress->ledger.ranks[worker->next] = RANK_FRONT;
        status = lbx_producer_try_send_front(producer, message);
        break;
    default:
        status = lbx_producer_try_send_envelope(producer, &envelope, &result);
        break;
    }
    worker->counts->swallowed +=
        status == LBX_OK && result.outcome == LBX_OUTCOME_DROPPED_NEWEST;
    note_send(worker, status);
}

/* ---- Receiving ---- */

// One thread's messages of one rank arrive in order.
static void
note_receive(struct worker *worker, void *message)
{
    struct stress *stress = worker->stress;
    size_t number = ledger_end(&stress->ledger, message);

    if (number == SIZE_MAX)
        FAIL("received %p, which was not sent; seed %" PRIu64, message,
             stress->seed);

    unsigned rank = stress->ledger.ranks[number];
    unsigned sender = (unsigned)(number / stress->sends);
    uint64_t *last = &worker->last[sender][rank];

    worker->counts->received++;
    if (rank == RANK_FRONT)
        return;
    // In a plain mailbox batches are ordered with everything else.
    if (stress->how->box.ranks == BOX_PLAIN)
        last = &worker->last[sender][0];
    if (*last > number)
        FAIL("%s: number %zu of thread %u (rank %u) after %" PRIu64
             "; seed %" PRIu64,
             stress->how->box.name, number, sender, rank, *last - 1,
             stress->seed);
    *last = number + 1;
}

static bool
receive_operation(struct worker *worker)
{
    lbx_operation operation;
    lbx_status status = LBX_PENDING;
    void *message;

    CHECK_OK(lbx_consumer_receive_init(
        &operation, worker->stress->box.consumer, &message,
        storm_deadline_us(storm_random_below(&worker->random, 30))));
    for (unsigned i = 0; i < 4 && status == LBX_PENDING; i++)
        status = lbx_operation_poll(&operation, NULL);
    if (status == LBX_PENDING)
        status = lbx_operation_cancel(&operation);
    lbx_operation_fini(&operation);
    CHECK(status == LBX_OK || status == LBX_TIMEOUT || status == LBX_CANCELLED);
    if (status == LBX_OK)
        note_receive(worker, message);
    return status == LBX_OK;
}

// False when there was nothing.
static bool
receive_some(struct worker *worker)
{
    lbx_consumer *consumer = worker->stress->box.consumer;
    void *messages[BATCH];
    lbx_envelope envelope;
    size_t count = 0;
    lbx_status status;

    worker->counts->calls++;
    switch (storm_random_below(&worker->random, 6)) {
    case 0:
        status = lbx_consumer_try_receive_batch(
            consumer, messages, 1 + storm_random_below(&worker->random, BATCH),
            &count);
        break;
    case 1:
        status = lbx_consumer_receive_until(
            consumer, &messages[0],
            storm_deadline_us(storm_random_below(&worker->random, 30)));
        count = status == LBX_OK;
        break;
    case 2:
        return receive_operation(worker);
    case 3:
        status = lbx_consumer_try_receive_envelope(consumer, &envelope);
        count = status == LBX_OK;
        if (count > 0)
            messages[0] = envelope.message;
        break;
    default:
        status = lbx_consumer_try_receive(consumer, &messages[0]);
        count = status == LBX_OK;
        break;
    }
    CHECK(status == LBX_OK || status == LBX_EMPTY || status == LBX_TIMEOUT);
    for (size_t i = 0; i < count; i++)
        note_receive(worker, messages[i]);
    return count > 0;
}

/* ---- Disturbing ---- */

static void
look(struct worker *worker)
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

static void
disturb(struct worker *worker)
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

static void
resume_all(struct worker *worker)
{
    for (; worker->suspensions > 0; worker->suspensions--)
        lbx_mailbox_resume(worker->stress->mailbox);
}

static void
stress_work(unsigned index, void *context)
{
    struct stress *stress = context;
    bool one = stress->how->box.one_consumer;
    bool sends = !one || index < THREADS - 1;
    bool receives = !one || index == THREADS - 1;
    struct worker worker = {
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
            disturb(&worker);
        else if (storm_once_in(&worker.random, 4))
            resume_all(&worker);
        for (; phase > 0 && sends_now && worker.next < worker.limit; phase--)
            send_some(&worker);
        for (; phase > 0 && receives && !sends_now; phase--)
            found = receive_some(&worker);
        if (is_sending && worker.next == worker.limit) {
            is_sending = false;
            atomic_fetch_sub(&stress->sending, 1);
        }
        if (last && stress->leftovers != LEFT_DRAINED)
            break;
        if (!is_sending &&
            (!receives || (last && !found && worker.suspensions == 0 &&
                           lbx_mailbox_is_empty(stress->mailbox))))
            break;
        if (!found || storm_once_in(&worker.random, 16))
            sched_yield();
        if (!is_sending && !found)
            resume_all(&worker);
    }
    resume_all(&worker);
}

/* ---- The end ---- */

static void
check_counts(struct stress *stress, const struct counts *sum,
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

static uint64_t
stress_run(const struct stress_case *how, enum leftovers leftovers,
           uint64_t seed, uint64_t total)
{
    static struct stress stress;
    unsigned senders = how->box.one_consumer ? THREADS - 1 : THREADS;
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_fault fault = {.text = ""};
    struct counts sum = {0};
    struct ledger_report report;

    memset(&stress, 0, sizeof(stress));
    stress.how = how;
    stress.seed = seed;
    stress.leftovers = leftovers;
    stress.sends = total / 2 / senders + 1;
    stress.sending = senders;
    stress.box.ranks = how->box.ranks;
    ledger_init(&stress.ledger, stress.sends * THREADS);

    if (how->box.capacity > 0)
        options.capacity_messages = how->box.capacity;
    options.overflow = how->box.overflow;
    options.wait_ns = 50 * LBX_US;
    options.envelopes = how->envelopes || how->box.ranks != BOX_PLAIN;
    options.timestamps = how->envelopes;
    if (leftovers != LEFT_DESTROY)
        options.loss_sink = (lbx_loss_sink){stress_lost, &stress};
    options.destroy = stress_destroy;
    options.destroy_context = &stress;
    options.fault = &fault;
    if (lbx_mailbox_create(how->box.kind, &options, &stress.box.producer,
                           &stress.box.consumer) != LBX_OK)
        FAIL("%s: %s", how->box.name, fault.text);
    stress.mailbox = lbx_producer_mailbox(stress.box.producer);

    threads_run(THREADS, stress_work, &stress);
    for (unsigned i = 0; i < THREADS; i++) {
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
    if (leftovers == LEFT_DRAINED)
        CHECK(lbx_mailbox_is_empty(stress.mailbox));
    CHECK_OK(lbx_mailbox_set_metrics_sink(stress.mailbox, NULL));
    CHECK_OK(lbx_mailbox_set_scheduler_hook(stress.mailbox, NULL));
    if (leftovers == LEFT_CLOSED)
        CHECK_OK(lbx_mailbox_close(stress.mailbox, LBX_CLOSE_IMMEDIATE));
    if (leftovers == LEFT_INTO)
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

static void
stress_storm(const struct stress_case *cases, size_t count, uint64_t plain)
{
    uint64_t seed = storm_begin();
    uint64_t calls = storm_count(plain, plain / 4, plain / 4, 1);
    uint64_t runs = storm_count(1, 1, 1, 100);

    for (uint64_t run = 0; run < runs; run++) {
        for (size_t i = 0; i < count; i++) {
            struct slices slices = slices_begin(calls, (unsigned)count);

            // Every slice ends in another way than the one before.
            for (uint64_t some; (some = slices_next(&slices)) > 0;) {
                uint64_t how = seed + run + i + slices.made / some;

                storm_add(STORM_OPERATIONS,
                          stress_run(&cases[i],
                                     (enum leftovers)(how % LEFTOVERS),
                                     seed + run + slices.made, some));
            }
            storm_add(STORM_RUNS, 1);
        }
    }
}

#define STORM(cases, calls)                                                    \
    stress_storm(cases, sizeof(cases) / sizeof((cases)[0]), calls)

TEST(unbounded_kinds_keep_their_promises)
{
    static const struct stress_case cases[] = {
        {.box = {.name = "unbounded", .kind = LBX_KIND_UNBOUNDED}},
        {.box = {.name = "unbounded, envelopes", .kind = LBX_KIND_UNBOUNDED},
         .envelopes = true},
        {.box = {.name = "single consumer",
                 .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
                 .one_consumer = true}},
        {.box = {.name = "single consumer, envelopes",
                 .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
                 .one_consumer = true},
         .envelopes = true},
        {.box = {.name = "deque", .kind = LBX_KIND_UNBOUNDED_DEQUE},
         .deque = true},
        {.box = {.name = "priority",
                 .kind = LBX_KIND_UNBOUNDED_PRIORITY,
                 .ranks = BOX_PRIORITIES}},
        {.box = {.name = "control-aware",
                 .kind = LBX_KIND_UNBOUNDED_CONTROL_AWARE,
                 .ranks = BOX_LANES}},
    };

    STORM(cases, 300000);
}

#define POLICIES(title, kind_name, limit, ...)                                 \
    {.box = {.name = title " REJECT",                                          \
             .kind = (kind_name),                                              \
             .capacity = (limit),                                              \
             .overflow = LBX_OVERFLOW_REJECT,                                  \
             __VA_ARGS__}},                                                    \
        {.box = {.name = title " DROP_NEWEST",                                 \
                 .kind = (kind_name),                                          \
                 .capacity = (limit),                                          \
                 .overflow = LBX_OVERFLOW_DROP_NEWEST,                         \
                 __VA_ARGS__}},                                                \
        {.box = {.name = title " DROP_OLDEST",                                 \
                 .kind = (kind_name),                                          \
                 .capacity = (limit),                                          \
                 .overflow = LBX_OVERFLOW_DROP_OLDEST,                         \
                 __VA_ARGS__}},                                                \
        {.box = {.name = title " GROW",                                        \
                 .kind = (kind_name),                                          \
                 .capacity = (limit),                                          \
                 .overflow = LBX_OVERFLOW_GROW,                                \
                 __VA_ARGS__}},                                                \
    {                                                                          \
        .box = {                                                               \
            .name = title " BLOCK",                                            \
            .kind = (kind_name),                                               \
            .capacity = (limit),                                               \
            .overflow = LBX_OVERFLOW_BLOCK,                                    \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

TEST(bounded_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded 16", LBX_KIND_BOUNDED, 16, .ranks = BOX_PLAIN),
        {.box = {.name = "bounded 5 DROP_OLDEST, envelopes",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 5,
                 .overflow = LBX_OVERFLOW_DROP_OLDEST},
         .envelopes = true},
        {.box = {.name = "bounded 5 BLOCK, envelopes",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 5,
                 .overflow = LBX_OVERFLOW_BLOCK},
         .envelopes = true},
    };

    STORM(cases, 200000);
}

// One place: everyone meets everyone.
TEST(tightly_bounded_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded 1", LBX_KIND_BOUNDED, 1, .ranks = BOX_PLAIN),
    };

    STORM(cases, 50000);
}

TEST(bounded_priority_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded priority 16", LBX_KIND_BOUNDED_PRIORITY, 16,
                 .ranks = BOX_PRIORITIES),
    };

    STORM(cases, 200000);
}

TEST(bounded_control_aware_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded control-aware 16", LBX_KIND_BOUNDED_CONTROL_AWARE, 16,
                 .ranks = BOX_LANES),
    };

    STORM(cases, 200000);
}

TEST(bounded_deque_keeps_its_promises_with_every_policy)
{
    static const struct stress_case cases[] = {
        POLICIES("bounded deque 16", LBX_KIND_BOUNDED_DEQUE, 16,
                 .ranks = BOX_PLAIN),
        {.box = {.name = "bounded deque 8 REJECT, fronts",
                 .kind = LBX_KIND_BOUNDED_DEQUE,
                 .capacity = 8},
         .deque = true},
    };

    STORM(cases, 200000);
}
