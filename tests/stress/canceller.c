/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See canceller.h.
 */
#include "stress/canceller.h"

#include <inttypes.h>
#include <sched.h>
#include <string.h>

#include "support/test.h"
#include "support/threads.h"

const struct box_case cancel_cases[CANCEL_CASES] = {
    BOX_UNLIMITED("unbounded", UNBOUNDED, BOX_PLAIN),
    BOX_SINGLE_CONSUMER,
    BOX_BLOCKING("bounded", BOUNDED, 4, BOX_PLAIN),
    BOX_BLOCKING("bounded", BOUNDED, 1, BOX_PLAIN),
    BOX_BLOCKING("bounded priority", BOUNDED_PRIORITY, 4, BOX_PRIORITIES),
    BOX_BLOCKING("bounded control-aware", BOUNDED_CONTROL_AWARE, 4, BOX_LANES),
    BOX_BLOCKING("bounded deque", BOUNDED_DEQUE, 2, BOX_PLAIN),
};

void
canceller_alarm_ring(void *context)
{
    struct canceller_alarm *alarm = context;

    if (atomic_load(&alarm->dead))
        atomic_store(&alarm->late, true);
    atomic_fetch_add(&alarm->calls, 1);
}

void
canceller_init(struct canceller *self, struct cancel_storm *storm,
               unsigned index)
{
    memset(self, 0, sizeof(*self));
    self->storm = storm;
    self->random = storm_random_of(storm->seed, index);
    self->next = index * storm->rounds;
    self->limit = self->next + storm->rounds;
}

void
canceller_fini(struct canceller *self)
{
    struct cancel_storm *storm = self->storm;

    atomic_fetch_add(&storm->cancels, self->cancels);
    atomic_fetch_add(&storm->timeouts, self->timeouts);
    atomic_fetch_add(&storm->drops, self->drops);
    atomic_fetch_add(&storm->finished, self->finished);
    for (unsigned i = 0; i < CANCEL_WAKERS; i++) {
        if (atomic_load(&self->alarms[i].late))
            atomic_fetch_add(&storm->late, 1);
    }
}

struct canceller_alarm *
canceller_set_alarm(struct canceller *self, uint64_t round)
{
    struct canceller_alarm *alarm = &self->alarms[round % CANCEL_WAKERS];

    atomic_store(&alarm->allowed, 0);
    atomic_store(&alarm->calls, 0);
    atomic_store(&alarm->dead, false);
    return alarm;
}

void
canceller_check_alarm(struct canceller *self, struct canceller_alarm *alarm)
{
    atomic_store(&alarm->dead, true);
    if (atomic_load(&alarm->calls) > atomic_load(&alarm->allowed))
        atomic_fetch_add(&self->storm->too_often, 1);
}

int64_t
canceller_deadline(struct canceller *self)
{
    switch (storm_random_below(&self->random, 6)) {
    case 0:
        return 0; // in the past: one try
    case 1:
        return storm_deadline_us(storm_random_below(&self->random, 4));
    case 2:
        return storm_deadline_us(storm_random_below(&self->random, 50));
    default:
        return LBX_FOREVER;
    }
}

lbx_status
canceller_poll(struct canceller *self, struct canceller_alarm *alarm,
               enum canceller_end ending,
               lbx_status (*poll)(struct box_wait *wait,
                                  const lbx_waker *waker),
               struct box_wait *wait)
{
    lbx_waker waker = {canceller_alarm_ring, alarm};
    unsigned polls = storm_random_below(&self->random, 4);
    unsigned most = ending == END_PERSIST ? 60 : 4;
    lbx_status status = LBX_PENDING;

    if (ending == END_PERSIST)
        polls = 60;
    for (unsigned i = 0; i < most && i < polls; i++) {
        bool woken = atomic_load(&alarm->calls) > 0;

        atomic_fetch_add(&alarm->allowed, 1);
        status = poll(wait, storm_once_in(&self->random, 16) ? NULL : &waker);
        if (status != LBX_PENDING)
            return status;
        // Others must run between two polls, on a busy machine too.
        if ((i > 20 && !woken) || storm_once_in(&self->random, 32))
            sched_yield();
        else
            storm_spin(storm_random_below(&self->random, 60));
    }
    return status;
}

enum canceller_end
canceller_ending(struct canceller *self)
{
    switch (storm_random_below(&self->random, 8)) {
    case 0:
    case 1:
        return END_DROP;
    case 2:
        return END_PERSIST;
    default:
        return END_CANCEL;
    }
}

lbx_status
canceller_count(struct canceller *self, lbx_status status, bool waited)
{
    self->cancels += waited && status == LBX_CANCELLED;
    self->timeouts += waited && status == LBX_TIMEOUT;
    self->drops += waited && status == LBX_PENDING;
    self->finished += status == LBX_OK;
    return status;
}

void
cancel_storm_end_message(struct cancel_storm *storm, void *message)
{
    size_t number = ledger_end(&storm->ledger, message);

    if (number != SIZE_MAX) {
        volatile uint8_t rank = storm->ledger.ranks[number];

        (void)rank;
    }
}

struct ledger_report
cancel_storm_settle(struct cancel_storm *storm, struct box *box)
{
    void *message;

    while (box->ops->try_receive(box, &message) == LBX_OK)
        cancel_storm_end_message(storm, message);
    return ledger_check(&storm->ledger);
}

void
cancel_storm_check_quiet(struct box *box)
{
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    box->ops->numbers(box, &stats);
    CHECK_INT(0, stats.waiting_senders);
    CHECK_INT(0, stats.waiting_receivers);
    CHECK_INT(0, stats.depth);
    CHECK_INT(stats.accepted, stats.taken);
}

static void
cancel_storm_note(struct cancel_storm *storm, const char *name,
                  const struct ledger_report *report)
{
    uint64_t given_up = atomic_load(&storm->cancels) +
                        atomic_load(&storm->timeouts) +
                        atomic_load(&storm->drops);

    storm_add(STORM_CANCELS, given_up);
    storm_add(STORM_OPERATIONS, report->in + report->ended);
    test_note(
        "cancel: %s: cancelled=%" PRIu64 " timed_out=%" PRIu64
        " dropped=%" PRIu64 " finished=%" PRIu64 " in=%" PRIu64
        " recovered=%" PRIu64 " lost=%" PRIu64 " phantom=%" PRIu64
        " duplicate=%" PRIu64 " late_wakers=%" PRIu64 " extra_wakers=%" PRIu64,
        name, atomic_load(&storm->cancels), atomic_load(&storm->timeouts),
        atomic_load(&storm->drops), atomic_load(&storm->finished), report->in,
        report->recovered, report->lost, report->phantom, report->duplicate,
        atomic_load(&storm->late), atomic_load(&storm->too_often));
}

void
cancel_storm_check(struct cancel_storm *storm, const char *name,
                   const struct ledger_report *report)
{
    cancel_storm_note(storm, name, report);
    CHECK_INT(0, report->bad);
    CHECK_INT(0, atomic_load(&storm->late));
    CHECK_INT(0, atomic_load(&storm->too_often));
}

void
cancel_storm_run(const struct box_case *how, void (*work)(unsigned, void *),
                 uint64_t seed, uint64_t rounds, unsigned each)
{
    static struct cancel_storm storm;
    struct ledger_report report;

    memset(&storm, 0, sizeof(storm));
    storm.how = how;
    storm.seed = seed;
    storm.rounds = rounds;
    storm.finished = each > 1 ? CANCEL_THREADS : 0; // see passed_work()
    ledger_init(&storm.ledger, CANCEL_THREADS * rounds * each);
    box_open(&storm.box, how);
    threads_run(CANCEL_THREADS, work, &storm);
    report = cancel_storm_settle(&storm, &storm.box);
    cancel_storm_check(&storm, how->name, &report);
    cancel_storm_check_quiet(&storm.box);
    storm.box.ops->fini(&storm.box);
    ledger_fini(&storm.ledger);
}
