/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads against each other: whatever races with whatever, every message is
 * received, lost once, or given back, and no thread sleeps for ever (MSG-1,
 * MSG-9, MSG-10, WAIT-1, WAIT-4, CLOSE-6). Each test is short; tests/stress has
 * the long forms.
 */
#include "mailbox/fixture.h"

struct ledger {
    struct box box;
    struct losses losses;
    lbx_overflow overflow;
    int64_t patience_ns;
    _Atomic int working; /* senders still at it */
    _Atomic int sent;
    _Atomic int refused;
    _Atomic int received;
    _Atomic int given; /* to the closer */
};

enum {
    SENDERS = 2,
    RECEIVERS = 2,
    ROUNDS = 1500,
};

static unsigned
receivers_of(const char *kind)
{
    return lbx_kind_registry_capabilities(NULL, kind) &
                   LBX_CAPABILITY_MULTI_CONSUME
               ? RECEIVERS
               : 1;
}

static void
ledger_begin(struct ledger *ledger, const char *kind, int64_t capacity,
             lbx_overflow overflow)
{
    lbx_mailbox_options options = plain_options();

    *ledger = (struct ledger){.working = SENDERS, .overflow = overflow};
    if (kind_is_limited(kind)) {
        options.capacity_messages = capacity;
        options.overflow = overflow;
    }
    options.loss_sink = losses_sink(&ledger->losses);
    ledger->box = box_make(kind, &options);
}

// What went in came out, once, one way or the other.
static void
ledger_check(struct ledger *ledger)
{
    lbx_mailbox_stats stats = box_stats(&ledger->box);

    CHECK_INT(ledger->sent, ledger->received + ledger->given +
                                (int)ledger->losses.count +
                                (int)lbx_mailbox_depth(ledger->box.mailbox));
    CHECK_INT(stats.accepted, stats.taken + stats.depth);
    CHECK_INT(0, stats.waiting_senders);
    CHECK_INT(0, stats.waiting_receivers);
}

static void
note_send(struct ledger *ledger, lbx_status status)
{
    if (status == LBX_OK)
        atomic_fetch_add(&ledger->sent, 1);
    else
        atomic_fetch_add(&ledger->refused, 1);
}

// The last sender closes, so that the receivers come to an end.
static void
sender_done(struct ledger *ledger)
{
    if (atomic_fetch_sub(&ledger->working, 1) == 1)
        CHECK_OK(lbx_mailbox_close(ledger->box.mailbox, LBX_CLOSE_DRAIN));
}

static void
receive_all(struct ledger *ledger)
{
    void *message;

    while (lbx_consumer_receive(ledger->box.out, &message) == LBX_OK)
        atomic_fetch_add(&ledger->received, 1);
}

// ---- Policies ----

static void
press(unsigned index, void *context)
{
    struct ledger *ledger = context;

    if (index >= SENDERS) {
        receive_all(ledger);
        return;
    }
    for (int i = 0; i < ROUNDS; i++)
        note_send(ledger, lbx_producer_try_send(ledger->box.in, letter(i)));
    sender_done(ledger);
}

// MSG-1 for every policy: dropped ones are loss events, each once.
static void
accounts_for_every_message_under_each_policy(const char *kind)
{
    for (int policy = LBX_OVERFLOW_REJECT; policy <= LBX_OVERFLOW_BLOCK;
         policy++) {
        static struct ledger ledger;

        ledger_begin(&ledger, kind, 3, (lbx_overflow)policy);
        threads_run(SENDERS + RECEIVERS, press, &ledger);
        ledger_check(&ledger);
        CHECK_INT(SENDERS * ROUNDS, ledger.sent + ledger.refused);
        if (policy != LBX_OVERFLOW_REJECT && policy != LBX_OVERFLOW_BLOCK)
            CHECK_INT(0, ledger.refused);
        box_end(&ledger.box);
    }
}

LIMITED_KINDS(KIND_CITING, "MSG-1 R-01",
              accounts_for_every_message_under_each_policy)

// ---- Deadlines ----

static void
send_impatiently(unsigned index, void *context)
{
    struct ledger *ledger = context;

    if (index >= SENDERS) {
        receive_all(ledger);
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        int64_t deadline = lbx_deadline_after(NULL, (i % 20) * LBX_US);
        lbx_status status =
            lbx_producer_send_until(ledger->box.in, letter(i), deadline);

        CHECK(status == LBX_OK || status == LBX_TIMEOUT);
        note_send(ledger, status);
    }
    sender_done(ledger);
}

// WAIT-1, WAIT-4: room and the deadline at the same moment; one of them wins,
// and the sender is told which.
static void
sends_that_time_out_are_wholly_in_or_out(const char *kind)
{
    static struct ledger ledger;

    ledger_begin(&ledger, kind, 1, LBX_OVERFLOW_BLOCK);
    threads_run(SENDERS + RECEIVERS, send_impatiently, &ledger);
    ledger_check(&ledger);
    box_end(&ledger.box);
}

LIMITED_KINDS(KIND_CITING, "WAIT-1 WAIT-4",
              sends_that_time_out_are_wholly_in_or_out)

static void
receive_impatiently(unsigned index, void *context)
{
    struct ledger *ledger = context;

    if (index < SENDERS) {
        for (int i = 0; i < ROUNDS; i++)
            note_send(ledger, lbx_producer_send(ledger->box.in, letter(i)));
        sender_done(ledger);
        return;
    }
    for (int i = 0;; i++) {
        void *message;
        lbx_status status = lbx_consumer_receive_until(
            ledger->box.out, &message,
            lbx_deadline_after(NULL, (i % 20) * LBX_US));

        if (status == LBX_CLOSED)
            return;
        CHECK(status == LBX_OK || status == LBX_TIMEOUT);
        if (status == LBX_OK)
            atomic_fetch_add(&ledger->received, 1);
    }
}

// MSG-10: a promise to a receiver that is just giving up goes to the next.
static void
receives_that_time_out_lose_nothing(const char *kind)
{
    static struct ledger ledger;

    ledger_begin(&ledger, kind, 2, LBX_OVERFLOW_BLOCK);
    threads_run(SENDERS + receivers_of(kind), receive_impatiently, &ledger);
    ledger_check(&ledger);
    CHECK_INT(SENDERS * ROUNDS, ledger.received);
    box_end(&ledger.box);
}

EVERY_KIND(KIND_CITING, "MSG-10 WAIT-1", receives_that_time_out_lose_nothing)

// ---- Suspension, flush, watching ----

static void
disturb(struct ledger *ledger)
{
    while (ledger->working > 0) {
        (void)lbx_mailbox_suspend(ledger->box.mailbox);
        (void)box_stats(&ledger->box);
        sched_yield();
        (void)lbx_mailbox_resume(ledger->box.mailbox);
        sched_yield();
    }
}

static void
work_while_disturbed(unsigned index, void *context)
{
    struct ledger *ledger = context;

    if (index == 0) {
        disturb(ledger);
    } else if (index <= SENDERS) {
        for (int i = 0; i < ROUNDS; i++)
            note_send(ledger, lbx_producer_send(ledger->box.in, letter(i)));
        sender_done(ledger);
    } else {
        receive_all(ledger);
    }
}

// R-16, MSG-9: the last resume wakes the waiters that the messages are for.
static void
suspended_and_resumed_all_the_time_loses_nothing(const char *kind)
{
    static struct ledger ledger;

    ledger_begin(&ledger, kind, 4, LBX_OVERFLOW_BLOCK);
    threads_run(1 + SENDERS + receivers_of(kind), work_while_disturbed,
                &ledger);
    ledger_check(&ledger);
    CHECK_INT(SENDERS * ROUNDS, ledger.received);
    box_end(&ledger.box);
}

EVERY_KIND(KIND_CITING, "R-16 MSG-9",
           suspended_and_resumed_all_the_time_loses_nothing)

static void
flush_or_drain(unsigned index, void *context)
{
    struct ledger *ledger = context;

    if (index == 0) {
        for (int i = 0; i < 300; i++) {
            lbx_operation flush;

            for (int j = 0; j < 3; j++)
                note_send(ledger, lbx_producer_send(ledger->box.in, letter(j)));
            CHECK_OK(lbx_mailbox_flush_init(&flush, ledger->box.mailbox,
                                            LBX_FOREVER));
            CHECK_OK(lbx_operation_wait(&flush));
            lbx_operation_fini(&flush);
            CHECK_INT(0, lbx_mailbox_depth(ledger->box.mailbox));
        }
        CHECK_OK(lbx_mailbox_close(ledger->box.mailbox, LBX_CLOSE_DRAIN));
    } else {
        receive_all(ledger);
    }
}

// B-06, MSG-9: a flush is always told, by whichever consumer takes the last.
static void
flushed_over_and_over_never_hangs(const char *kind)
{
    static struct ledger ledger;

    ledger_begin(&ledger, kind, 2, LBX_OVERFLOW_BLOCK);
    threads_run(1 + receivers_of(kind), flush_or_drain, &ledger);
    ledger_check(&ledger);
    CHECK_INT(900, ledger.received);
    box_end(&ledger.box);
}

EVERY_KIND(KIND_CITING, "B-06 MSG-9", flushed_over_and_over_never_hangs)

struct counted {
    _Atomic long events;
    _Atomic long ready;
};

static void
count_event(void *context, const lbx_metric_event *event)
{
    struct counted *counted = context;

    (void)event;
    atomic_fetch_add(&counted->events, 1);
}

static void
count_ready(void *context, lbx_mailbox *mailbox)
{
    struct counted *counted = context;

    (void)mailbox;
    atomic_fetch_add(&counted->ready, 1);
}

static struct counted counted; // outlives every call under way

static void
work_while_watched(unsigned index, void *context)
{
    lbx_metrics_sink sink = {count_event, &counted};
    lbx_scheduler_hook hook = {count_ready, &counted};
    struct ledger *ledger = context;

    if (index != 0) {
        work_while_disturbed(index, context);
        return;
    }
    while (ledger->working > 0) {
        CHECK_OK(lbx_mailbox_set_metrics_sink(ledger->box.mailbox, &sink));
        CHECK_OK(lbx_mailbox_set_scheduler_hook(ledger->box.mailbox, &hook));
        sched_yield();
        CHECK_OK(lbx_mailbox_set_metrics_sink(ledger->box.mailbox, NULL));
        CHECK_OK(lbx_mailbox_set_scheduler_hook(ledger->box.mailbox, NULL));
    }
}

// Sinks come and go while the mailbox works.
static void
watched_on_and_off_loses_nothing(const char *kind)
{
    static struct ledger ledger;

    ledger_begin(&ledger, kind, 4, LBX_OVERFLOW_BLOCK);
    threads_run(1 + SENDERS + receivers_of(kind), work_while_watched, &ledger);
    ledger_check(&ledger);
    CHECK_INT(SENDERS * ROUNDS, ledger.received);
    box_end(&ledger.box);
}

EVERY_KIND(KIND_CITING, "C-39 MSG-1", watched_on_and_off_loses_nothing)

// ---- The signal as the only way to wait ----

static void
follow_the_signal(unsigned index, void *context)
{
    struct ledger *ledger = context;
    lbx_signal *signal;
    void *message;

    if (index < SENDERS) {
        for (int i = 0; i < ROUNDS; i++)
            note_send(ledger, lbx_producer_send(ledger->box.in, letter(i)));
        return;
    }
    CHECK_OK(lbx_consumer_signal(ledger->box.out, &signal));
    while (ledger->received < SENDERS * ROUNDS) {
        if (lbx_consumer_try_receive(ledger->box.out, &message) == LBX_OK)
            atomic_fetch_add(&ledger->received, 1);
        else
            CHECK_OK(lbx_signal_wait_until(signal, LBX_FOREVER));
    }
    lbx_signal_unref(signal);
}

// C-37, MSG-9: notified after the message is there, so that try until EMPTY and
// then wait never sleeps on a message.
static void
is_emptied_by_following_its_signal(const char *kind)
{
    static struct ledger ledger;
    lbx_signal *signal;

    ledger_begin(&ledger, kind, 4, LBX_OVERFLOW_BLOCK);
    CHECK_OK(lbx_consumer_signal(ledger.box.out, &signal));
    threads_run(SENDERS + 1, follow_the_signal, &ledger);
    ledger_check(&ledger);
    lbx_signal_unref(signal);
    box_end(&ledger.box);
}

EVERY_KIND(KIND_CITING, "C-37 MSG-9", is_emptied_by_following_its_signal)

// ---- Close ----

static void
count_given(void *context, const lbx_envelope *envelope)
{
    struct ledger *ledger = context;

    (void)envelope;
    atomic_fetch_add(&ledger->given, 1);
}

static void
close_into_hands(unsigned index, void *context)
{
    struct ledger *ledger = context;

    if (index == 0) {
        EVENTUALLY(ledger->sent > 20);
        CHECK_OK(
            lbx_mailbox_close_into(ledger->box.mailbox, count_given, ledger));
    } else if (index == 1) {
        receive_all(ledger);
    } else {
        lbx_status status = LBX_OK;

        for (unsigned sends = 0; status == LBX_OK; sends++) {
            status = lbx_producer_send(ledger->box.in, letter(1));
            note_send(ledger, status);
            if (sends >= 2000) // the closer waits for a processor: nap
                test_pause(sends);
        }
        CHECK_STATUS(LBX_CLOSED, status);
    }
}

// CLOSE-3, CLOSE-6: what a racing receiver does not get, the closer does.
static void
closed_into_hands_while_busy_loses_nothing(const char *kind)
{
    for (int round = 0; round < 20; round++) {
        static struct ledger ledger;

        ledger_begin(&ledger, kind, 4, LBX_OVERFLOW_BLOCK);
        threads_run(4, close_into_hands, &ledger);
        ledger_check(&ledger);
        CHECK_INT(0, lbx_mailbox_depth(ledger.box.mailbox));
        box_end(&ledger.box);
    }
}

EVERY_KIND(KIND_CITING, "CLOSE-3 CLOSE-6",
           closed_into_hands_while_busy_loses_nothing)

struct burial {
    struct ledger ledger;
    struct box dead;
};

static void
drop_or_bury(unsigned index, void *context)
{
    struct burial *burial = context;
    lbx_status status;

    if (index == 0) {
        EVENTUALLY(burial->ledger.sent > 20);
        CHECK_OK(lbx_mailbox_close(burial->ledger.box.mailbox,
                                   LBX_CLOSE_DEAD_LETTER));
        return;
    }
    do {
        status = lbx_producer_try_send(burial->ledger.box.in, letter(1));
        note_send(&burial->ledger, status);
    } while (status == LBX_OK);
}

// A loss to the sink while the rest is being buried: each goes to one place.
static void
buried_while_dropping_loses_each_message_once(const char *kind)
{
    const lbx_overflow policies[] = {LBX_OVERFLOW_DROP_NEWEST,
                                     LBX_OVERFLOW_DROP_OLDEST};

    for (int round = 0; round < 20; round++) {
        static struct burial burial;
        lbx_mailbox_options options = limited_options(2, policies[round % 2]);
        lbx_mailbox_options keep = envelope_options();

        burial.dead = box_make(LBX_KIND_UNBOUNDED, &keep);
        burial.ledger = (struct ledger){.sent = 0};
        options.loss_sink = losses_sink(&burial.ledger.losses);
        options.dead_letters = burial.dead.in;
        burial.ledger.box = box_make(kind, &options);
        threads_run(3, drop_or_bury, &burial);
        burial.ledger.given = (int)lbx_mailbox_depth(burial.dead.mailbox);
        CHECK_INT(burial.ledger.sent,
                  burial.ledger.given + (int)burial.ledger.losses.count);
        box_end(&burial.ledger.box);
        box_end(&burial.dead);
    }
}

LIMITED_KINDS(KIND_CITING, "MSG-1",
              buried_while_dropping_loses_each_message_once)
