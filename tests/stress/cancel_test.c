/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A7: operations that are cancelled, time out or are dropped at random points
 * against delivery (WAIT-1 to WAIT-8).
 *
 * Every message has a number in a ledger. A send says whether its message is
 * in (LBX_OK) or out (anything else); one that was dropped with fini without
 * asking says nothing, and its message may turn up once or never. A receive
 * that answers LBX_OK ends a message. After a full drain each message that is
 * in has ended exactly once and each that is out never, and no registration is
 * left behind. Wakers are watched too: at most one call for each poll that
 * answered LBX_PENDING, and none after cancel or fini has returned.
 *
 * A cancel is counted when the operation had answered LBX_PENDING before.
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
    WAKERS = 16, // so that a late call finds a waker that is still dead
};

/* A waker that keeps its books. */
struct alarm_clock {
    _Atomic(uint64_t) allowed; // polls that answered PENDING, or may yet
    _Atomic(uint64_t) calls;
    _Atomic(bool) dead;
    _Atomic(bool) late;
};

static void
ring(void *context)
{
    struct alarm_clock *alarm = context;

    if (atomic_load(&alarm->dead))
        atomic_store(&alarm->late, true);
    atomic_fetch_add(&alarm->calls, 1);
}

struct storm {
    struct box box;
    struct box other; // selects: a second mailbox
    lbx_signal *signal;
    const struct box_case *how;
    struct ledger ledger;
    uint64_t seed;
    uint64_t rounds; // per thread
    bool planted;    // a bug that makes two threads own one message
    _Atomic(uint64_t) cancels, timeouts, drops, finished, late, too_often;
    _Atomic(uint64_t) notified, signalled;
};

struct canceller {
    struct storm *storm;
    struct storm_random random;
    struct alarm_clock alarms[WAKERS];
    uint64_t next, limit; // numbers of messages
    uint64_t cancels, timeouts, drops, finished;
};

static void
canceller_init(struct canceller *self, struct storm *storm, unsigned index)
{
    memset(self, 0, sizeof(*self));
    self->storm = storm;
    self->random = storm_random_of(storm->seed, index);
    self->next = index * storm->rounds;
    self->limit = self->next + storm->rounds;
}

static void
canceller_fini(struct canceller *self)
{
    struct storm *storm = self->storm;

    atomic_fetch_add(&storm->cancels, self->cancels);
    atomic_fetch_add(&storm->timeouts, self->timeouts);
    atomic_fetch_add(&storm->drops, self->drops);
    atomic_fetch_add(&storm->finished, self->finished);
    for (unsigned i = 0; i < WAKERS; i++) {
        if (atomic_load(&self->alarms[i].late))
            atomic_fetch_add(&storm->late, 1);
    }
}

static struct alarm_clock *
set_alarm(struct canceller *self, uint64_t round)
{
    struct alarm_clock *alarm = &self->alarms[round % WAKERS];

    atomic_store(&alarm->allowed, 0);
    atomic_store(&alarm->calls, 0);
    atomic_store(&alarm->dead, false);
    return alarm;
}

// After the operation has ended.
static void
check_alarm(struct canceller *self, struct alarm_clock *alarm)
{
    atomic_store(&alarm->dead, true);
    if (atomic_load(&alarm->calls) > atomic_load(&alarm->allowed))
        atomic_fetch_add(&self->storm->too_often, 1);
}

static int64_t
some_deadline(struct canceller *self)
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

/* What happens to an operation that is pending. */
enum ending {
    END_CANCEL,
    END_DROP,
    END_PERSIST, // polls on, as long as that can help
};

// Polls a few times and then gives up, or not. Gives the final status, or
// LBX_PENDING if the operation is to be dropped.
static lbx_status
live(struct canceller *self, struct alarm_clock *alarm, enum ending ending,
     lbx_status (*poll)(struct box_wait *wait, const lbx_waker *waker),
     struct box_wait *wait)
{
    lbx_waker waker = {ring, alarm};
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

static enum ending
some_ending(struct canceller *self)
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

static lbx_status
count_end(struct canceller *self, lbx_status status, bool waited)
{
    self->cancels += waited && status == LBX_CANCELLED;
    self->timeouts += waited && status == LBX_TIMEOUT;
    self->drops += waited && status == LBX_PENDING;
    self->finished += status == LBX_OK;
    return status;
}

static void
storm_send(struct canceller *self, uint64_t round)
{
    struct storm *storm = self->storm;
    const struct box_ops *ops = storm->box.ops;
    struct alarm_clock *alarm = set_alarm(self, round);
    enum ending ending = some_ending(self);
    uint64_t number = self->next;
    struct box_wait wait;
    lbx_status status;
    bool waited;

    if (self->next == self->limit)
        return;
    memset(&wait, 0, sizeof(wait));
    if (!storm->planted)
        storm->ledger.ranks[number] = (uint8_t)round; // for TSan: published
    ops->send_start(&storm->box, &wait, storm_message(number),
                    some_deadline(self));
    status = live(self, alarm, ending, ops->poll, &wait);
    waited = atomic_load(&alarm->allowed) > 0;
    if (status == LBX_PENDING && ending != END_DROP) {
        status = ops->cancel(&wait);
        atomic_store(&alarm->dead, true);
    }
    count_end(self, status, waited);
    ops->end(&wait);
    check_alarm(self, alarm);
    if (status == LBX_OK)
        storm->ledger.fates[number] = STORM_IN;
    else if (status == LBX_PENDING)
        storm->ledger.fates[number] = STORM_UNKNOWN;
    else
        CHECK(status == LBX_CANCELLED || status == LBX_TIMEOUT ||
              status == LBX_FULL);
    // A number that is surely out can be used again.
    self->next += status == LBX_OK || status == LBX_PENDING;
}

static void
end_message(struct storm *storm, void *message)
{
    size_t number = ledger_end(&storm->ledger, message);

    if (number != SIZE_MAX) {
        volatile uint8_t rank = storm->ledger.ranks[number];

        (void)rank;
    }
}

static void
storm_receive(struct canceller *self, uint64_t round)
{
    struct storm *storm = self->storm;
    const struct box_ops *ops = storm->box.ops;
    struct alarm_clock *alarm = set_alarm(self, round);
    enum ending ending = some_ending(self);
    struct box_wait wait;
    lbx_status status;
    bool waited;

    memset(&wait, 0, sizeof(wait));
    ops->receive_start(&storm->box, &wait, some_deadline(self));
    status = live(self, alarm, ending, ops->poll, &wait);
    waited = atomic_load(&alarm->allowed) > 0;
    if (status == LBX_PENDING && ending != END_DROP) {
        status = ops->cancel(&wait);
        atomic_store(&alarm->dead, true);
    }
    count_end(self, status, waited);
    if (status == LBX_OK)
        end_message(storm, wait.message);
    else
        CHECK(status == LBX_CANCELLED || status == LBX_TIMEOUT ||
              status == LBX_PENDING);
    ops->end(&wait);
    check_alarm(self, alarm);
}

static void
storm_work(unsigned index, void *context)
{
    struct storm *storm = context;
    static _Thread_local struct canceller self;
    bool one = storm->how && storm->how->one_consumer;
    bool unlimited = storm->how && storm->how->capacity == 0;

    canceller_init(&self, storm, index);
    for (uint64_t round = 0; round < storm->rounds; round++) {
        // Where sends never wait there are fewer of them, so that receives do.
        bool sends = one         ? index > 0
                     : unlimited ? storm_once_in(&self.random, 3)
                                 : storm_once_in(&self.random, 2);

        if (one && sends && !storm_once_in(&self.random, 4))
            storm_spin(storm_random_below(&self.random, 60));
        else if (sends)
            storm_send(&self, round);
        else
            storm_receive(&self, round);
    }
    canceller_fini(&self);
}

// Empties the box and says how bad it was.
static struct ledger_report
settle(struct storm *storm, struct box *box)
{
    void *message;

    while (box->ops->try_receive(box, &message) == LBX_OK)
        end_message(storm, message);
    return ledger_check(&storm->ledger);
}

static void
check_quiet(struct box *box)
{
    lbx_mailbox_stats stats;

    box->ops->numbers(box, &stats);
    CHECK_INT(0, stats.waiting_senders);
    CHECK_INT(0, stats.waiting_receivers);
    CHECK_INT(0, stats.depth);
    CHECK_INT(stats.accepted, stats.taken);
}

static void
note_storm(struct storm *storm, const char *name,
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

static void
check_storm(struct storm *storm, const char *name,
            const struct ledger_report *report)
{
    note_storm(storm, name, report);
    CHECK_INT(0, report->bad);
    CHECK_INT(0, atomic_load(&storm->late));
    CHECK_INT(0, atomic_load(&storm->too_often));
}

static const struct box_case cases[] = {
    {.name = "unbounded", .kind = LBX_KIND_UNBOUNDED},
    {.name = "single-consumer",
     .kind = LBX_KIND_UNBOUNDED_SINGLE_CONSUMER,
     .one_consumer = true},
    {.name = "bounded 4 BLOCK",
     .kind = LBX_KIND_BOUNDED,
     .capacity = 4,
     .overflow = LBX_OVERFLOW_BLOCK},
    {.name = "bounded 1 BLOCK",
     .kind = LBX_KIND_BOUNDED,
     .capacity = 1,
     .overflow = LBX_OVERFLOW_BLOCK},
    {.name = "bounded priority 4 BLOCK",
     .kind = LBX_KIND_BOUNDED_PRIORITY,
     .capacity = 4,
     .overflow = LBX_OVERFLOW_BLOCK,
     .ranks = BOX_PRIORITIES},
    {.name = "bounded control-aware 4 BLOCK",
     .kind = LBX_KIND_BOUNDED_CONTROL_AWARE,
     .capacity = 4,
     .overflow = LBX_OVERFLOW_BLOCK,
     .ranks = BOX_LANES},
    {.name = "bounded deque 2 BLOCK",
     .kind = LBX_KIND_BOUNDED_DEQUE,
     .capacity = 2,
     .overflow = LBX_OVERFLOW_BLOCK},
};

enum {
    CASES = sizeof(cases) / sizeof(cases[0])
};

// One storm of `work` over one mailbox, `each` messages for a round.
static void
storm_run(const struct box_case *how, void (*work)(unsigned, void *),
          uint64_t seed, uint64_t rounds, unsigned each)
{
    static struct storm storm;
    struct ledger_report report;

    memset(&storm, 0, sizeof(storm));
    storm.how = how;
    storm.seed = seed;
    storm.rounds = rounds;
    storm.finished = each > 1 ? THREADS : 0; // see passed_work()
    ledger_init(&storm.ledger, THREADS * rounds * each);
    box_open(&storm.box, how);
    threads_run(THREADS, work, &storm);
    report = settle(&storm, &storm.box);
    check_storm(&storm, how->name, &report);
    check_quiet(&storm.box);
    storm.box.ops->fini(&storm.box);
    ledger_fini(&storm.ledger);
}

TEST_LIMIT(cancelled_sends_and_receives_lose_nothing, 120)
{
    uint64_t seed = storm_begin();

    for (unsigned i = 0; i < CASES; i++) {
        struct slices slices =
            slices_begin(storm_count(120000, 20000, 12000, 200), CASES);

        for (uint64_t some; (some = slices_next(&slices)) > 0;)
            storm_run(&cases[i], storm_work, seed + i + slices.made, some, 1);
        storm_add(STORM_RUNS, 1);
    }
}

/* ---- Select over two mailboxes ---- */

static void
select_round(struct canceller *self)
{
    struct storm *storm = self->storm;
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
                                      some_deadline(self));
    CHECK_OK(lbx_select_init(&select, children, 2,
                             storm_random_below(&self->random, 2),
                             some_deadline(self), &winner));
    for (unsigned i = 0; i < polls && status == LBX_PENDING; i++) {
        struct alarm_clock *alarm = &self->alarms[0];
        lbx_waker waker = {ring, alarm};

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
            end_message(storm, waits[i].message);
    }
    CHECK(ends[0] != LBX_OK || ends[1] != LBX_OK || sends);
    lbx_operation_fini(&select);
    atomic_store(&self->alarms[0].dead, true);
    lbx_operation_fini(&waits[0].operation);
    lbx_operation_fini(&waits[1].operation);
    count_end(self, status, waited);
    if (sends && ends[1] == LBX_OK)
        storm->ledger.fates[self->next++] = STORM_IN;
}

static void
select_work(unsigned index, void *context)
{
    struct storm *storm = context;
    static _Thread_local struct canceller self;

    canceller_init(&self, storm, index);
    for (uint64_t round = 0; round < storm->rounds; round++) {
        struct box *box =
            storm_once_in(&self.random, 2) ? &storm->box : &storm->other;

        if (index >= THREADS / 2) {
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
    static struct storm storm;
    struct ledger_report report;

    memset(&storm, 0, sizeof(storm));
    storm.seed = seed;
    storm.rounds = rounds;
    ledger_init(&storm.ledger, THREADS * rounds);
    box_open(&storm.box, first);
    box_open(&storm.other, second);
    threads_run(THREADS, select_work, &storm);
    settle(&storm, &storm.box);
    report = settle(&storm, &storm.other);
    check_storm(&storm, name, &report);
    check_quiet(&storm.box);
    check_quiet(&storm.other);
    storm.box.ops->fini(&storm.box);
    storm.other.ops->fini(&storm.other);
    ledger_fini(&storm.ledger);
}

TEST_LIMIT(select_takes_from_exactly_one, 120)
{
    uint64_t seed = storm_begin();
    static const struct {
        const char *name;
        struct box_case first, second;
    } pairs[] = {
        {"select, unbounded and bounded 2 BLOCK",
         {.name = "unbounded", .kind = LBX_KIND_UNBOUNDED},
         {.name = "bounded 2 BLOCK",
          .kind = LBX_KIND_BOUNDED,
          .capacity = 2,
          .overflow = LBX_OVERFLOW_BLOCK}},
        {"select, bounded 2 and priority 1 BLOCK",
         {.name = "bounded 2 BLOCK",
          .kind = LBX_KIND_BOUNDED,
          .capacity = 2,
          .overflow = LBX_OVERFLOW_BLOCK},
         {.name = "bounded priority 1 BLOCK",
          .kind = LBX_KIND_BOUNDED_PRIORITY,
          .capacity = 1,
          .overflow = LBX_OVERFLOW_BLOCK,
          .ranks = BOX_PRIORITIES}},
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
    struct storm *storm = context;
    static _Thread_local struct canceller self;

    canceller_init(&self, storm, index);
    for (uint64_t round = 0; round < storm->rounds; round++) {
        struct alarm_clock *alarm;
        struct box_wait wait;
        lbx_status status;
        enum ending ending;

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
        alarm = set_alarm(&self, round);
        ending = some_ending(&self);
        if (ending == END_DROP)
            ending = END_CANCEL; // whether it was notified must be known
        memset(&wait, 0, sizeof(wait));
        CHECK_OK(lbx_signal_wait_init(&wait.operation, storm->signal,
                                      some_deadline(&self)));
        status = live(&self, alarm, ending, storm->box.ops->poll, &wait);
        if (status == LBX_PENDING)
            status = lbx_operation_cancel(&wait.operation);
        self.cancels += status == LBX_CANCELLED;
        self.timeouts += status == LBX_TIMEOUT;
        lbx_operation_fini(&wait.operation);
        check_alarm(&self, alarm);
        if (status == LBX_OK)
            atomic_fetch_add(&storm->signalled, 1);
        round -= index != 0; // until the notifier is done
    }
    if (index == 0)
        atomic_fetch_add(&storm->finished, 1);
    canceller_fini(&self);
}

TEST_LIMIT(cancelled_signal_waits_pass_the_notification_on, 120)
{
    static struct storm storm;
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
        threads_run(THREADS, signal_work, &storm);
        CHECK_INT(atomic_load(&storm.notified), atomic_load(&storm.signalled));
        check_storm(&storm, "signal", &report);
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
    struct storm *storm;
    struct box_wait wait;
    bool sends;
    uint64_t number;
    _Atomic(int) state; // 0; 1: the thread let go; 2: the waker was here
    _Atomic(unsigned) *left;
};

static void
end_passed(struct passed *passed, bool drops)
{
    struct storm *storm = passed->storm;
    const struct box_ops *ops = storm->box.ops;
    lbx_status status = drops ? LBX_PENDING : ops->cancel(&passed->wait);

    ops->end(&passed->wait);
    if (passed->sends)
        storm->ledger.fates[passed->number] = status == LBX_OK ? STORM_IN
                                              : status == LBX_PENDING
                                                  ? STORM_UNKNOWN
                                                  : STORM_OUT;
    else if (status == LBX_OK)
        end_message(storm, passed->wait.message);
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
    struct storm *storm = context;
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
            end_message(storm, message);
        while (atomic_load(&left) > 8) {
            if (box->ops->try_receive(box, &message) == LBX_OK)
                end_message(storm, message);
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
            end_message(storm, message);
        sched_yield();
    }
    self.finished = 0;
    canceller_fini(&self);
}

TEST_LIMIT(operations_may_be_ended_by_their_own_waker, 120)
{
    uint64_t seed = storm_begin();

    for (unsigned i = 0; i < CASES; i++) {
        struct slices slices =
            slices_begin(storm_count(60000, 10000, 6000, 200), CASES);

        if (cases[i].one_consumer)
            continue;
        for (uint64_t some; (some = slices_next(&slices)) > 0;)
            storm_run(&cases[i], passed_work, seed + i + slices.made, some, 4);
        storm_add(STORM_RUNS, 1);
    }
}

/* ---- Controls ---- */

// One storm over a mini mailbox; false when it found nothing wrong.
static bool
control_finds(unsigned bug, uint64_t seed)
{
    static struct storm storm;
    struct ledger_report report;
    lbx_mailbox_stats stats;

    memset(&storm, 0, sizeof(storm));
    storm.seed = seed;
    storm.rounds = 10000;
    storm.planted = bug != MINI_SOUND;
    ledger_init(&storm.ledger, THREADS * storm.rounds);
    box_open_mini(&storm.box, bug, 2);
    threads_run(THREADS, storm_work, &storm);
    storm.box.ops->numbers(&storm.box, &stats);
    report = settle(&storm, &storm.box);
    storm.box.ops->fini(&storm.box);
    ledger_fini(&storm.ledger);
    return report.bad > 0 || atomic_load(&storm.late) > 0 ||
           atomic_load(&storm.too_often) > 0 ||
           stats.waiting_senders + stats.waiting_receivers > 0;
}

// A busy machine may run the threads one after another; hence several tries.
static void
check_control(unsigned bug)
{
    uint64_t seed = storm_begin();

    for (unsigned tries = 1; tries <= 50; tries++) {
        if (!control_finds(bug, seed + tries))
            continue;
        test_note("cancel: control: found in storm %u", tries);
        return;
    }
    FAIL("the planted bug was not found");
}

TEST_LIMIT(cancel_storm_passes_a_sound_mailbox, 120)
{
    CHECK(!control_finds(MINI_SOUND, storm_begin()));
}

TEST_LIMIT(cancel_storm_finds_a_message_that_was_cancelled_away, 120)
{
    check_control(MINI_EAT_MESSAGE);
}

TEST_LIMIT(cancel_storm_finds_a_cancelled_send_that_is_in, 120)
{
    check_control(MINI_SEND_BOTH);
}

TEST_LIMIT(cancel_storm_finds_a_duplicate, 120)
{
    check_control(MINI_DUPLICATE);
}

TEST_LIMIT(cancel_storm_finds_a_forgotten_registration, 120)
{
    check_control(MINI_FORGET_WAIT);
}
