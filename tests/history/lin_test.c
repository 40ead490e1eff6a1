/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histories of real runs, recorded and checked for linearizability.
 *
 * Every kind runs with four threads that send and receive at random; every
 * call is written down with its start and end and judged afterwards (see
 * history.h for the aspects, and for exactly what MSG-11 is granted). The
 * control runs put the same recorder and checker on mini mailboxes with a
 * planted bug, which must be found, and on the sound one, which must pass
 * without MSG-11.
 *
 * What a loss sink is given (DROP_OLDEST) counts as dequeued by the send that
 * pushed it out; a message that is lost by its own send was never enqueued.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

#include "history/history.h"
#include "stress/box.h"
#include "stress/slices.h"
#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

enum {
    THREADS = 4,
    BATCH = 8,
    NEARBY = 1000, // what is printed around a violation
};

enum lin_style {
    LIN_MIXED, // every thread sends and receives
    LIN_SPLIT, // half of them each
    LIN_ONE,   // the last thread receives
    LIN_WAITS, // as split, with sends and receives that wait
    LIN_BATCH, // mixed, in batches
    LIN_FRONT, // mixed, half of the sends to the front
};

struct lin_case {
    struct box_case box;
    enum lin_style style;
    struct history_rules rules;
};

struct lin_run {
    const struct lin_case *how;
    struct box box;
    struct history history;
    uint64_t seed;
    uint64_t sends; // per sending thread
    _Atomic(unsigned) sending;
};

struct lin_worker {
    struct lin_run *run;
    struct history_log *log;
    struct storm_random random;
    uint64_t next;    // number to send
    uint64_t limit;   // past the last
    uint64_t answers; // EMPTY and FULL that may still be written down
    uint64_t call_start;
    bool was_dropped; // the message just sent was lost at once
};

static _Thread_local struct lin_worker *current;

static void
note_loss(void *context, const lbx_loss *loss)
{
    (void)context;
    if (loss->envelope->lost == LBX_LOSS_DROPPED_NEWEST) {
        current->was_dropped = true; // never enqueued
        return;
    }
    history_note(current->log, HISTORY_DEQUEUE,
                 storm_number(loss->envelope->message), 0, current->call_start,
                 history_clock());
}

static void
note_answer(struct lin_worker *worker, enum history_kind kind, uint64_t start)
{
    uint64_t end = history_clock();

    if (worker->answers == 0)
        return;
    worker->answers--;
    history_note(worker->log, kind, 0, 0, start, end);
}

static void
send_one(struct lin_worker *worker)
{
    struct lin_run *run = worker->run;
    struct box *box = &run->box;
    void *message = storm_message(worker->next);
    bool front =
        run->how->style == LIN_FRONT && storm_once_in(&worker->random, 2);
    uint64_t start = worker->call_start = history_clock();

    worker->was_dropped = false;

    lbx_status status =
        front ? lbx_producer_try_send_front(box->producer, message)
        : run->how->style == LIN_WAITS
            ? box->ops->send_until(box, message, LBX_FOREVER)
            : box->ops->try_send(box, message);

    if (status == LBX_FULL) {
        note_answer(worker, HISTORY_ANSWER_FULL, start);
        if (storm_once_in(&worker->random, 8))
            sched_yield();
        return;
    }
    CHECK_OK(status);
    if (worker->was_dropped) {
        worker->next++;
        return;
    }
    history_note(worker->log, front ? HISTORY_ENQUEUE_FRONT : HISTORY_ENQUEUE,
                 worker->next, box_rank(box->ranks, worker->next), start,
                 history_clock());
    worker->next++;
}

// False when there was nothing.
static bool
receive_one(struct lin_worker *worker)
{
    struct lin_run *run = worker->run;
    struct box *box = &run->box;
    bool waits = run->how->style == LIN_WAITS;
    void *message;
    uint64_t start = history_clock();
    lbx_status status =
        waits ? box->ops->receive_until(box, &message, storm_deadline_us(200))
              : box->ops->try_receive(box, &message);

    if (status == LBX_EMPTY) {
        note_answer(worker, HISTORY_ANSWER_EMPTY, start);
        return false;
    }
    if (status == LBX_TIMEOUT && waits)
        return false;
    CHECK_OK(status);

    uint64_t end = history_clock();

    history_note(worker->log, HISTORY_DEQUEUE, storm_number(message), 0, start,
                 end);
    return true;
}

static void
send_batch(struct lin_worker *worker)
{
    struct box *box = &worker->run->box;
    size_t count = 1 + storm_random_below(&worker->random, BATCH);
    void *messages[BATCH];
    size_t sent;

    if (count > worker->limit - worker->next)
        count = (size_t)(worker->limit - worker->next);
    for (size_t i = 0; i < count; i++)
        messages[i] = storm_message(worker->next + i);

    uint64_t start = history_clock();
    lbx_status status =
        lbx_producer_try_send_batch(box->producer, messages, count, &sent);
    uint64_t end = history_clock();

    CHECK(status == (sent == count ? LBX_OK : LBX_FULL));
    for (size_t i = 0; i < sent; i++)
        history_note(worker->log, HISTORY_ENQUEUE, worker->next++, 0, start,
                     end);
}

static bool
receive_batch(struct lin_worker *worker)
{
    struct box *box = &worker->run->box;
    size_t most = 1 + storm_random_below(&worker->random, BATCH);
    void *messages[BATCH];
    size_t count;
    uint64_t start = history_clock();
    lbx_status status =
        lbx_consumer_try_receive_batch(box->consumer, messages, most, &count);

    if (status == LBX_EMPTY) {
        note_answer(worker, HISTORY_ANSWER_EMPTY, start);
        return false;
    }
    CHECK_OK(status);

    uint64_t end = history_clock();

    for (size_t i = 0; i < count; i++)
        history_note(worker->log, HISTORY_DEQUEUE, storm_number(messages[i]), 0,
                     start, end);
    return true;
}

static void
lin_work(unsigned index, void *context)
{
    struct lin_run *run = context;
    enum lin_style style = run->how->style;
    bool split = style == LIN_SPLIT || style == LIN_WAITS;
    bool sends = style == LIN_ONE ? index < THREADS - 1
                 : split          ? index < THREADS / 2
                                  : true;
    bool receives = !sends || (style != LIN_ONE && !split);
    struct lin_worker worker = {
        .run = run,
        .log = &run->history.logs[index],
        .random = storm_random_of(run->seed, index),
        .next = index * run->sends,
        .limit = (index + sends) * run->sends,
        .answers = run->sends,
    };
    bool is_sending = sends;

    current = &worker;
    for (;;) {
        uint32_t phase = 1 + storm_random_below(&worker.random, 32);
        // Looked at before receiving: what was sent by then is seen after.
        bool last = atomic_load(&run->sending) == 0;
        bool sends_now =
            is_sending && (!receives || storm_once_in(&worker.random, 2));
        bool found = true;

        for (; phase > 0 && sends_now && worker.next < worker.limit; phase--) {
            if (style == LIN_BATCH)
                send_batch(&worker);
            else
                send_one(&worker);
        }
        for (; phase > 0 && receives && !sends_now; phase--)
            found = style == LIN_BATCH ? receive_batch(&worker)
                                       : receive_one(&worker);
        if (is_sending && worker.next == worker.limit) {
            is_sending = false;
            atomic_fetch_sub(&run->sending, 1);
        }
        if (!is_sending && (!receives || (last && !found)))
            break;
        if (!found || (sends_now && worker.log->count % 64 == 0))
            sched_yield();
    }
    current = NULL;
}

static struct history_report
lin_record(const struct lin_case *how, unsigned bug, uint64_t seed,
           uint64_t total)
{
    unsigned senders = how->style == LIN_ONE ? THREADS - 1
                       : how->style == LIN_SPLIT || how->style == LIN_WAITS
                           ? THREADS / 2
                           : THREADS;
    struct lin_run run = {
        .how = how,
        .seed = seed,
        .sends = total / 2 / senders + 1,
        .sending = senders,
    };
    struct history_report report;

    if (how->box.kind)
        box_open(&run.box, &how->box);
    else
        box_open_mini(&run.box, bug, (size_t)how->box.capacity);
    history_init(&run.history, THREADS,
                 (size_t)run.sends * (2 + THREADS) + 2 * BATCH);
    threads_run(THREADS, lin_work, &run);
    report = history_check(&run.history, &how->rules);
    if (report.violations > 0 && how->box.kind) {
        test_note("%s: around %s", how->box.name, report.first);
        history_print(&run.history, report.first_start - NEARBY,
                      report.first_end + NEARBY, 60);
    }
    history_fini(&run.history);
    run.box.ops->fini(&run.box);
    return report;
}

static void
lin_note(const char *name, const struct history_report *report)
{
    test_note("lin: %" PRIu64 " operations on %s: enqueued=%" PRIu64
              " dequeued=%" PRIu64 " empty=%" PRIu64 " full=%" PRIu64
              " excused=%" PRIu64 " violations=%" PRIu64,
              report->enqueued + report->dequeued, name, report->enqueued,
              report->dequeued, report->empties, report->fulls, report->excused,
              report->violations);
}

static void
lin_storm(const struct lin_case *how)
{
    uint64_t seed = storm_begin();
    uint64_t runs = storm_count(1, 1, 1, 50);
    uint64_t calls = storm_count(1300000, 250000, 150000, 1);

    for (uint64_t i = 0; i < runs; i++) {
        struct slices slices = slices_begin(calls, 1);

        for (uint64_t some; (some = slices_next(&slices)) > 0;) {
            struct history_report report =
                lin_record(how, MINI_SOUND, seed + i + slices.made, some);

            lin_note(how->box.name, &report);
            storm_add(STORM_OPERATIONS, report.enqueued + report.dequeued);
            if (report.violations > 0)
                FAIL("%s: %s; seed %" PRIu64, how->box.name, report.first,
                     seed + i + slices.made);
        }
        storm_add(STORM_RUNS, 1);
    }
}

#define LIN_TEST(test_name, ...)                                               \
    TEST(test_name)                                                            \
    {                                                                          \
        static const struct lin_case how = {__VA_ARGS__};                      \
                                                                               \
        lin_storm(&how);                                                       \
    }

#define PLAIN .rules = {.claims = true, .drained = true}
#define LIMITED(limit)                                                         \
    .rules = {.claims = true,                                                  \
              .drained = true,                                                 \
              .capacity = (limit),                                             \
              .exact_full = true}

LIN_TEST(unbounded_is_linearizable,
         .box = {.name = "unbounded", .kind = LBX_KIND_UNBOUNDED}, PLAIN)

LIN_TEST(unbounded_is_linearizable_with_separate_roles,
         .box = {.name = "unbounded, 2 to 2", .kind = LBX_KIND_UNBOUNDED},
         .style = LIN_SPLIT, PLAIN)

LIN_TEST(unbounded_is_linearizable_in_batches,
         .box = {.name = "unbounded, batches", .kind = LBX_KIND_UNBOUNDED},
         .style = LIN_BATCH, PLAIN)

LIN_TEST(unbounded_is_linearizable_with_waiting_receivers,
         .box = {.name = "unbounded, waiting", .kind = LBX_KIND_UNBOUNDED},
         .style = LIN_WAITS, PLAIN)

LIN_TEST(single_consumer_is_linearizable,
         .box = {.name = "single consumer",
                 .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER},
         .style = LIN_ONE, PLAIN)

LIN_TEST(bounded_is_linearizable,
         .box = {.name = "bounded 64",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 64},
         LIMITED(64))

LIN_TEST(tightly_bounded_is_linearizable,
         .box = {.name = "bounded 3", .kind = LBX_KIND_BOUNDED, .capacity = 3},
         LIMITED(3))

LIN_TEST(bounded_with_separate_roles_is_linearizable,
         .box = {.name = "bounded 16, 2 to 2",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 16},
         .style = LIN_SPLIT, LIMITED(16))

LIN_TEST(blocking_is_linearizable,
         .box = {.name = "bounded 8, BLOCK",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 8,
                 .overflow = LBX_OVERFLOW_BLOCK},
         .style = LIN_WAITS,
         .rules = {.claims = true, .drained = true, .capacity = 8})

LIN_TEST(dropping_the_oldest_is_linearizable,
         .box = {.name = "bounded 16, DROP_OLDEST",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 16,
                 .overflow = LBX_OVERFLOW_DROP_OLDEST,
                 .sink = {note_loss, NULL}},
         .rules = {.claims = true, .drained = true, .capacity = 16})

LIN_TEST(growing_is_linearizable,
         .box = {.name = "bounded 4, GROW",
                 .kind = LBX_KIND_BOUNDED,
                 .capacity = 4,
                 .overflow = LBX_OVERFLOW_GROW},
         PLAIN)

LIN_TEST(deque_is_linearizable,
         .box = {.name = "deque", .kind = LBX_KIND_UNBOUNDED_DEQUE}, PLAIN)

LIN_TEST(deque_with_fronts_is_linearizable,
         .box = {.name = "bounded deque 64, fronts",
                 .kind = LBX_KIND_BOUNDED_DEQUE,
                 .capacity = 64},
         .style = LIN_FRONT, LIMITED(64))

LIN_TEST(control_aware_is_linearizable_lane_by_lane,
         .box = {.name = "control-aware",
                 .kind = LBX_KIND_UNBOUNDED_CONTROL_AWARE,
                 .ranks = BOX_LANES},
         .rules = {.ranks = 3, .lanes = true, .claims = true, .drained = true})

LIN_TEST(bounded_control_aware_is_linearizable_lane_by_lane,
         .box = {.name = "bounded control-aware 32",
                 .kind = LBX_KIND_BOUNDED_CONTROL_AWARE,
                 .capacity = 32,
                 .ranks = BOX_LANES},
         .rules = {.ranks = 3, .lanes = true, .claims = true, .drained = true})

LIN_TEST(priority_is_linearizable_rank_by_rank,
         .box = {.name = "priority",
                 .kind = LBX_KIND_UNBOUNDED_PRIORITY,
                 .ranks = BOX_PRIORITIES},
         .rules = {.ranks = 4, .claims = true, .drained = true})

LIN_TEST(bounded_priority_is_linearizable_rank_by_rank,
         .box = {.name = "bounded priority 32",
                 .kind = LBX_KIND_BOUNDED_PRIORITY,
                 .capacity = 32,
                 .ranks = BOX_PRIORITIES},
         .rules = {.ranks = 4,
                   .claims = true,
                   .drained = true,
                   .capacity = 32,
                   .exact_full = true})

/* ---- Controls ---- */

// The clock, the recorder and the checker, on a mailbox known to be right.
TEST(sound_mailbox_passes_without_any_excuse)
{
    static const struct lin_case how = {
        .box = {.name = "mini", .capacity = 64},
        .rules = {.drained = true, .capacity = 64, .exact_full = true},
    };
    struct history_report report =
        lin_record(&how, MINI_SOUND, storm_begin(),
                   storm_count(400000, 100000, 50000, 50));

    lin_note("mini", &report);
    if (report.violations > 0)
        FAIL("%s", report.first);
}

TEST(broken_mailboxes_are_found_out)
{
    static const struct lin_case how = {
        .box = {.name = "broken mini", .capacity = 8},
        .rules = {.claims = true,
                  .drained = true,
                  .capacity = 8,
                  .exact_full = true},
    };
    static const struct {
        unsigned bug;
        enum history_aspect aspect;
    } rows[] = {
        {MINI_DUPLICATE, HISTORY_TWICE}, {MINI_LOSE, HISTORY_LOST},
        {MINI_OVERTAKE, HISTORY_ORDER},  {MINI_FALSE_EMPTY, HISTORY_EMPTY},
        {MINI_FALSE_FULL, HISTORY_FULL}, {MINI_OVERFILL, HISTORY_CAPACITY},
    };
    uint64_t seed = storm_begin();

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct history_report report = lin_record(
            &how, rows[i].bug, seed + i, storm_count(100000, 50000, 40000, 1));

        test_note("lin: control: %s found %" PRIu64 " times",
                  history_aspect_name(rows[i].aspect),
                  report.by_aspect[rows[i].aspect]);
        if (report.by_aspect[rows[i].aspect] == 0)
            FAIL("%s was not found; the first was %s",
                 history_aspect_name(rows[i].aspect), report.first);
    }
}

// The short form's goal, reached or not; last in the file, so that it runs
// last.
TEST(histories_are_long_enough)
{
    enum {
        RUNS = 17
    };
    uint64_t floor = storm_count(20000000, 1000000, 1000000, 1);

    test_note("lin: %" PRIu64 " operations in %" PRIu64 " runs, violations=0",
              storm_sum(STORM_OPERATIONS), storm_sum(STORM_RUNS));
    if (storm_sum(STORM_RUNS) >= RUNS && !slices_were_cut())
        CHECK(storm_sum(STORM_OPERATIONS) >= floor);
}
