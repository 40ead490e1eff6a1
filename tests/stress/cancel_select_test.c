/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other operations that are cancelled at random points (canceller.h): selects
 * over two mailboxes take from exactly one, waits for a signal pass the
 * notification on, and a waker may end its own operation.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "stress/canceller.h"
#include "stress/slices.h"
#include "stress/storm.h"
#include "support/test.h"
#include "support/threads.h"

static void
select_round(struct canceller *self)
{
    struct cancel_storm *storm = self->storm;
    struct box_wait waits[2];
    lbx_operation *children[2] = {&waits[0].operation, &waits[1].operation};
    lbx_operation select;
    size_t winner = 2;
    lbx_status status = LBX_PENDING;
    unsigned polls = storm_random_below(&self->random, 4);
    // Sometimes the second one sends.
    bool sends = self->next < self->limit && storm_once_in(&self->random, 3);
    bool waited = false;

    memset(waits, 0, sizeof(waits));
    memset(&select, 0, sizeof(select));
    storm->box.ops->receive_start(&storm->box, &waits[0], LBX_FOREVER);
    if (sends)
        storm->box.ops->send_start(&storm->other, &waits[1],
                                   storm_message(self->next), LBX_FOREVER);
    else
        storm->box.ops->receive_start(&storm->other, &waits[1],
                                      canceller_deadline(self));
    CHECK_OK(lbx_select_init(&select, children, 2,
                             storm_random_below(&self->random, 2),
                             canceller_deadline(self), &winner));
    for (unsigned i = 0; i < polls && status == LBX_PENDING; i++) {
        struct canceller_alarm *alarm = &self->alarms[0];
        lbx_waker waker = {canceller_alarm_ring, alarm};

        atomic_store(&alarm->dead, false);
        status = lbx_operation_poll(&select, &waker);
        waited |= status == LBX_PENDING;
        storm_spin(storm_random_below(&self->random, 60));
    }
    if (status == LBX_PENDING && storm_once_in(&self->random, 2))
        status = lbx_operation_cancel(&select);
    if (status == LBX_PENDING && storm_once_in(&self->random, 2)) {
        // Children first, or the select first: both are allowed.
        lbx_operation_fini(&select);
        memset(&select, 0, sizeof(select));
    }

    lbx_status ends[2];

    for (unsigned i = 0; i < 2; i++) {
        ends[i] = lbx_operation_cancel(&waits[i].operation);
        // Exactly the winner of a finished select took something.
        if (status == LBX_OK && (i == 0 || !sends))
            CHECK((ends[i] == LBX_OK) == (i == winner));
        if (ends[i] == LBX_OK && (i == 0 || !sends))
            cancel_storm_end_message(storm, waits[i].message);
    }
    CHECK(ends[0] != LBX_OK || ends[1] != LBX_OK || sends);
    lbx_operation_fini(&select);
    atomic_store(&self->alarms[0].dead, true);
    lbx_operation_fini(&waits[0].operation);
    lbx_operation_fini(&waits[1].operation);
    canceller_count(self, status, waited);
    if (sends && ends[1] == LBX_OK)
        storm->ledger.fates[self->next++] = STORM_IN;
}

static void
select_work(unsigned index, void *context)
{
    struct cancel_storm *storm = context;
    static _Thread_local struct canceller self;

    canceller_init(&self, storm, index);
    for (uint64_t round = 0; round < storm->rounds; round++) {
        struct box *box =
            storm_once_in(&self.random, 2) ? &storm->box : &storm->other;

        if (index >= CANCEL_THREADS / 2) {
            select_round(&self);
        } else if (lbx_mailbox_depth(lbx_producer_mailbox(box->producer)) >=
                   2) {
            sched_yield(); // selects are to wait
        } else if (self.next < self.limit &&
                   box->ops->try_send(box, storm_message(self.next)) ==
                       LBX_OK) {
            storm->ledger.fates[self.next++] = STORM_IN;
            storm_spin(storm_random_below(&self.random, 60));
        }
    }
    canceller_fini(&self);
}

// One storm of selects over two mailboxes.
static void
select_run(const char *name, const struct box_case *first,
           const struct box_case *second, uint64_t seed, uint64_t rounds)
{
    static struct cancel_storm storm;
    struct ledger_report report;

    memset(&storm, 0, sizeof(storm));
    storm.seed = seed;
    storm.rounds = rounds;
    ledger_init(&storm.ledger, CANCEL_THREADS * rounds);
    box_open(&storm.box, first);
    box_open(&storm.other, second);
    threads_run(CANCEL_THREADS, select_work, &storm);
    cancel_storm_settle(&storm, &storm.box);
    report = cancel_storm_settle(&storm, &storm.other);
    cancel_storm_check(&storm, name, &report);
    cancel_storm_check_quiet(&storm.box);
    cancel_storm_check_quiet(&storm.other);
    storm.box.ops->fini(&storm.box);
    storm.other.ops->fini(&storm.other);
    ledger_fini(&storm.ledger);
}

TEST(select_takes_from_exactly_one)
{
    uint64_t seed = storm_begin();
    static const struct {
        const char *name;
        struct box_case first, second;
    } pairs[] = {
        {"select, unbounded and bounded 2 BLOCK",
         BOX_UNLIMITED("unbounded", UNBOUNDED, BOX_PLAIN),
         BOX_BLOCKING("bounded", BOUNDED, 2, BOX_PLAIN)},
        {"select, bounded 2 and priority 1 BLOCK",
         BOX_BLOCKING("bounded", BOUNDED, 2, BOX_PLAIN),
         BOX_BLOCKING("bounded priority", BOUNDED_PRIORITY, 1, BOX_PRIORITIES)},
    };

    for (unsigned i = 0; i < 2; i++) {
        struct slices slices =
            slices_begin(storm_count(150000, 25000, 12000, 200), 2);

        for (uint64_t some; (some = slices_next(&slices)) > 0;)
            select_run(pairs[i].name, &pairs[i].first, &pairs[i].second,
                       seed + i + slices.made, some);
        storm_add(STORM_RUNS, 1);
    }
}

/* ---- Signals: as many waits succeed as there were permits to have ---- */

static void
signal_work(unsigned index, void *context)
{
    struct cancel_storm *storm = context;
    static _Thread_local struct canceller self;

    canceller_init(&self, storm, index);
    for (uint64_t round = 0; round < storm->rounds; round++) {
        struct canceller_alarm *alarm;
        struct box_wait wait;
        lbx_status status;
        enum canceller_end ending;

        if (index == 0) {
            // One at a time, so that permits do not run into each other: a
            // notification that is not passed on ends the storm here.
            atomic_fetch_add(&storm->notified, 1);
            lbx_signal_notify(storm->signal);
            while (atomic_load(&storm->signalled) <
                   atomic_load(&storm->notified))
                sched_yield();
            continue;
        }
        if (atomic_load(&storm->finished) > 0)
            break;
        alarm = canceller_set_alarm(&self, round);
        ending = canceller_ending(&self);
        if (ending == END_DROP)
            ending = END_CANCEL; // whether it was notified must be known
        memset(&wait, 0, sizeof(wait));
        CHECK_OK(lbx_signal_wait_init(&wait.operation, storm->signal,
                                      canceller_deadline(&self)));
        status =
            canceller_poll(&self, alarm, ending, storm->box.ops->poll, &wait);
        if (status == LBX_PENDING)
            status = lbx_operation_cancel(&wait.operation);
        self.cancels += status == LBX_CANCELLED;
        self.timeouts += status == LBX_TIMEOUT;
        lbx_operation_fini(&wait.operation);
        canceller_check_alarm(&self, alarm);
        if (status == LBX_OK)
            atomic_fetch_add(&storm->signalled, 1);
        round -= index != 0; // until the notifier is done
    }
    if (index == 0)
        atomic_fetch_add(&storm->finished, 1);
    canceller_fini(&self);
}

TEST(cancelled_signal_waits_pass_the_notification_on)
{
    static struct cancel_storm storm;
    static const struct box_case plain = {.name = "signal",
                                          .kind = LBX_KIND_UNBOUNDED};
    struct ledger_report report = {0};
    uint64_t seed = storm_begin();
    struct slices slices =
        slices_begin(storm_count(60000, 10000, 8000, 200), 1);

    for (uint64_t some; (some = slices_next(&slices)) > 0;) {
        memset(&storm, 0, sizeof(storm));
        storm.seed = seed + slices.made;
        storm.rounds = some;
        box_open(&storm.box, &plain); // only for its poll
        CHECK_OK(lbx_signal_create(NULL, NULL, &storm.signal));
        threads_run(CANCEL_THREADS, signal_work, &storm);
        CHECK_INT(atomic_load(&storm.notified), atomic_load(&storm.signalled));
        cancel_storm_check(&storm, "signal", &report);
        lbx_signal_unref(storm.signal);
        storm.box.ops->fini(&storm.box);
    }
    storm_add(STORM_RUNS, 1);
}

/* ---- Operations that are ended by their own waker ---- */

/*
 * An operation has one owner at a time. The thread that started it passes it
 * on after a poll that answered PENDING; if the waker comes before that, the
 * thread keeps it, otherwise the waker, on some other thread and in the midst
 * of its send or receive, cancels and frees it.
 */
struct passed {
    struct cancel_storm *storm;
    struct box_wait wait;
    bool sends;
    uint64_t number;
    _Atomic(int) state; // 0; 1: the thread let go; 2: the waker was here
    _Atomic(unsigned) *left;
};

static void
end_passed(struct passed *passed, bool drops)
{
    struct cancel_storm *storm = passed->storm;
    const struct box_ops *ops = storm->box.ops;
    lbx_status status = drops ? LBX_PENDING : ops->cancel(&passed->wait);

    ops->end(&passed->wait);
    if (passed->sends)
        storm->ledger.fates[passed->number] = status == LBX_OK ? STORM_IN
                                              : status == LBX_PENDING
                                                  ? STORM_UNKNOWN
                                                  : STORM_OUT;
    else if (status == LBX_OK)
        cancel_storm_end_message(storm, passed->wait.message);
    if (status == LBX_PENDING)
        atomic_fetch_add(&storm->drops, 1);
    else if (status == LBX_CANCELLED)
        atomic_fetch_add(&storm->cancels, 1);
    atomic_fetch_sub(passed->left, 1);
    free(passed);
}

static void
end_from_waker(void *context)
{
    struct passed *passed = context;

    if (atomic_exchange(&passed->state, 2) == 1)
        end_passed(passed, passed->number % 2 == 0);
}

static void
passed_work(unsigned index, void *context)
{
    struct cancel_storm *storm = context;
    struct box *box = &storm->box;
    static _Thread_local struct canceller self;
    _Atomic(unsigned) left = 0;
    void *message;

    canceller_init(&self, storm, index);
    self.next = index * storm->rounds * 4;
    self.limit = self.next + storm->rounds * 3; // the rest is for the rounds
    for (uint64_t round = 0; round < storm->rounds; round++) {
        struct passed *passed = calloc(1, sizeof(*passed));
        lbx_waker waker = {end_from_waker, passed};
        lbx_status status;

        CHECK(passed != NULL);
        passed->storm = storm;
        passed->sends = storm_once_in(&self.random, 2);
        passed->number = self.next++;
        passed->left = &left;
        if (passed->sends)
            box->ops->send_start(box, &passed->wait,
                                 storm_message(passed->number), LBX_FOREVER);
        else
            box->ops->receive_start(box, &passed->wait, LBX_FOREVER);
        atomic_fetch_add(&left, 1);
        status = box->ops->poll(&passed->wait, &waker);
        if (status != LBX_PENDING) {
            end_passed(passed, false);
        } else if (atomic_exchange(&passed->state, 1) == 2) {
            end_passed(passed, storm_once_in(&self.random, 2));
        }
        // Keeps the number of those that wait small.
        if (box->ops->try_receive(box, &message) == LBX_OK)
            cancel_storm_end_message(storm, message);
        while (atomic_load(&left) > 8) {
            if (box->ops->try_receive(box, &message) == LBX_OK)
                cancel_storm_end_message(storm, message);
            else if (self.next < self.limit &&
                     box->ops->try_send(box, storm_message(self.next)) ==
                         LBX_OK)
                storm->ledger.fates[self.next++] = STORM_IN;
            sched_yield();
        }
    }
    // The others still come by; the last ones are woken by close.
    if (atomic_fetch_sub(&storm->finished, 1) == 1)
        box->ops->rescue(box);
    while (atomic_load(&left) > 0) {
        if (box->ops->try_receive(box, &message) == LBX_OK)
            cancel_storm_end_message(storm, message);
        sched_yield();
    }
    self.finished = 0;
    canceller_fini(&self);
}

TEST(operations_may_be_ended_by_their_own_waker)
{
    uint64_t seed = storm_begin();

    for (unsigned i = 0; i < CANCEL_CASES; i++) {
        struct slices slices =
            slices_begin(storm_count(60000, 10000, 6000, 200), CANCEL_CASES);

        if (cancel_cases[i].one_consumer)
            continue;
        for (uint64_t some; (some = slices_next(&slices)) > 0;)
            cancel_storm_run(&cancel_cases[i], passed_work,
                             seed + i + slices.made, some, 4);
        storm_add(STORM_RUNS, 1);
    }
}
