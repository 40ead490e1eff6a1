/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and those who watch them: stats, metrics events (C-39), the
 * scheduler hook (C-37).
 */
#include "mailbox/fixture.h"

// depth is accepted minus taken, and a refused message never counts.
static void
counts_exactly(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 3));
    bool limited = kind_is_limited(kind);
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    box_send_numbers(&box, 1, 3);
    box_send_system(&box, 0);
    if (limited) {
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(4)));
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(5)));
    }
    CHECK_INT(0, box_next(&box));
    CHECK_INT(1, box_next(&box));

    stats = box_stats(&box);
    CHECK_INT(2, stats.depth);
    CHECK_INT(0, stats.system_depth);
    CHECK_INT(4, stats.accepted);
    CHECK_INT(2, stats.taken);
    CHECK_INT(limited ? 2 : 0, stats.rejected);
    CHECK_INT(0, stats.lost);
    CHECK_INT(limited ? 3 : LBX_UNLIMITED, stats.capacity_messages);
    CHECK_INT(0, stats.waiting_senders);
    CHECK_INT(0, stats.waiting_receivers);
    CHECK_INT(0, stats.suspensions);
}

EVERY_KIND(KIND_CITING, "R-41", counts_exactly)

BOX_TEST("R-41", empty_and_full_are_told_by_the_depth,
         box_limited(2, LBX_OVERFLOW_REJECT))
{
    CHECK(lbx_mailbox_is_empty(box->mailbox));
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    box_send(box, 1);
    CHECK(!lbx_mailbox_is_empty(box->mailbox));
    CHECK(!lbx_mailbox_is_full(box->mailbox));
    box_send(box, 2);
    CHECK(lbx_mailbox_is_full(box->mailbox));
    CHECK_RECEIVES(box, 1, 2);
    CHECK(lbx_mailbox_is_empty(box->mailbox));
}

// Sampled at takes: never above the truth, at most a batch of 256 below.
static void
high_water_mark_is_within_a_batch_of_the_peak(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    uint64_t mark;

    box_send_numbers(&box, 1, 1000);
    for (int number = 1; number <= 1000; number++)
        CHECK_INT(number, box_next(&box));
    box_send_numbers(&box, 1, 10);
    CHECK_INT(1, box_next(&box));
    mark = box_stats(&box).high_water;
    CHECK(mark <= 1000);
    CHECK(mark >= 1000 - 256);
}

EVERY_KIND(KIND_CITING, "R-28", high_water_mark_is_within_a_batch_of_the_peak)

BOX_TEST("", stats_count_those_who_wait, box_limited(1, LBX_OVERFLOW_BLOCK))
{
    struct receiver receiver;
    struct sender sender;

    receiver_wait(&receiver, box);
    CHECK_INT(1, box_stats(box).waiting_receivers);
    lbx_operation_fini(&receiver.operation);
    CHECK_INT(0, box_stats(box).waiting_receivers);
    box_send(box, 1);
    sender_wait(&sender, box, 2);
    CHECK_INT(1, box_stats(box).waiting_senders);
    lbx_operation_fini(&sender.operation);
    CHECK_INT(0, box_stats(box).waiting_senders);
}

// Kamon#673: external counters drift; ours do not, whatever happened.
BOX_TEST("R-41 MSG-1", accepted_is_taken_plus_depth_after_everything,
         BOX(LBX_KIND_BOUNDED, limited_options(3, LBX_OVERFLOW_DROP_OLDEST),
             with.envelopes = true))
{
    lbx_envelope late = lbx_envelope_with_default_priority(letter(9));
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    late.deadline_ns = 1;
    box_send_numbers(box, 1, 7); // evicts four
    box_send_envelope(box, late);
    box_send_system(box, 8);
    CHECK_RECEIVES(box, 8, 6, 7);
    box_send_numbers(box, 1, 2);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_IMMEDIATE));
    stats = box_stats(box);
    CHECK_INT(11, stats.accepted);
    CHECK_INT(11, stats.taken);
    CHECK_INT(0, stats.depth);
    CHECK_INT(5, stats.dropped_oldest);
    CHECK_INT(1, stats.expired);
    CHECK_INT(8, stats.lost); // five evicted, one expired, two closed
}

// ---- Metrics events ----

struct watched {
    struct events events;
    struct box box;
};

static void
watch(struct watched *watched, const char *kind,
      const lbx_mailbox_options *options)
{
    lbx_metrics_sink sink = events_sink(&watched->events);

    watched->events.count = 0;
    watched->box = box_make(kind, options);
    CHECK_OK(lbx_mailbox_set_metrics_sink(watched->box.mailbox, &sink));
}

TEST_CITING("C-39", sink_is_told_when_it_comes_and_when_it_goes)
{
    struct watched watched;

    watch(&watched, LBX_KIND_UNBOUNDED, NULL);
    CHECK_INT(1, watched.events.count);
    CHECK_INT(LBX_METRIC_REGISTERED, watched.events.list[0].metric);
    CHECK_PTR(watched.box.mailbox, watched.events.list[0].mailbox);
    CHECK_OK(lbx_mailbox_set_metrics_sink(watched.box.mailbox, NULL));
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_DEREGISTERED));
    box_send(&watched.box, 1);
    CHECK_INT(2, watched.events.count); // nothing reaches a detached sink
    box_end(&watched.box);
    CHECK_INT(2, watched.events.count);
}

TEST_CITING("C-39", mailbox_lets_go_of_its_sink_at_its_end)
{
    struct watched watched;

    watch(&watched, LBX_KIND_UNBOUNDED, NULL);
    box_end(&watched.box);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_REGISTERED));
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_DEREGISTERED));
}

TEST_CITING("C-39", second_sink_replaces_the_first)
{
    struct events second = {.count = 0};
    lbx_metrics_sink sink = events_sink(&second);
    struct watched watched;

    watch(&watched, LBX_KIND_UNBOUNDED, NULL);
    CHECK_OK(lbx_mailbox_set_metrics_sink(watched.box.mailbox, &sink));
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_DEREGISTERED));
    CHECK_INT(1, events_of(&second, LBX_METRIC_REGISTERED));
    box_send(&watched.box, 1);
    CHECK_INT(0, events_of(&watched.events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, events_of(&second, LBX_METRIC_ENQUEUED));
    box_end(&watched.box);
}

TEST(sink_without_a_function_is_invalid)
{
    LOCAL_BOX(box) = box_unbounded();
    lbx_metrics_sink sink = {NULL, NULL};
    lbx_scheduler_hook hook = {NULL, NULL};

    CHECK_STATUS(LBX_INVALID, lbx_mailbox_set_metrics_sink(box.mailbox, &sink));
    CHECK_STATUS(LBX_INVALID,
                 lbx_mailbox_set_scheduler_hook(box.mailbox, &hook));
}

// One event per message in and out, in every lane of every kind.
static void
tells_of_each_message_in_and_out(const char *kind)
{
    lbx_mailbox_options options = options_for(kind, 10);
    struct watched watched;
    lbx_metric_event event;

    watch(&watched, kind, &options);
    box_send_numbers(&watched.box, 2, 3);
    box_send_system(&watched.box, 1);
    CHECK_INT(3, events_of(&watched.events, LBX_METRIC_ENQUEUED));
    CHECK_INT(0, events_of(&watched.events, LBX_METRIC_DEQUEUED));
    CHECK_RECEIVES(&watched.box, 1, 2, 3);
    CHECK_INT(3, events_of(&watched.events, LBX_METRIC_DEQUEUED));
    event = events_last(&watched.events, LBX_METRIC_DEQUEUED);
    CHECK_INT(-1, event.waited_ns); // no timestamps
    box_end(&watched.box);
}

EVERY_KIND(KIND_CITING, "C-39", tells_of_each_message_in_and_out)

// B-10: also when the message came in by hand-over.
TEST_CITING("C-39 B-10", send_that_waited_is_told_once)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_BLOCK);
    struct watched watched;
    struct sender sender;

    watch(&watched, LBX_KIND_BOUNDED, &options);
    box_send(&watched.box, 1);
    sender_wait(&sender, &watched.box, 2);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, box_next(&watched.box));
    CHECK_OK(sender_poll(&sender));
    CHECK_INT(2, events_of(&watched.events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_DEQUEUED));
    lbx_operation_fini(&sender.operation);
    box_end(&watched.box);
}

TEST_CITING("C-39", refused_send_is_not_told)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_REJECT);
    struct watched watched;

    watch(&watched, LBX_KIND_BOUNDED, &options);
    box_send(&watched.box, 1);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(watched.box.in, letter(2)));
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_ENQUEUED));
    box_end(&watched.box);
}

TEST_CITING("C-39", dropped_and_grown_are_told_with_their_numbers)
{
    lbx_mailbox_options options = limited_options(2, LBX_OVERFLOW_DROP_OLDEST);
    struct watched watched;

    watch(&watched, LBX_KIND_BOUNDED, &options);
    box_send_numbers(&watched.box, 1, 3);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_DROPPED_OLDEST));
    CHECK_INT(1, events_last(&watched.events, LBX_METRIC_DROPPED_OLDEST).count);
    box_end(&watched.box);

    options.overflow = LBX_OVERFLOW_DROP_NEWEST;
    watch(&watched, LBX_KIND_BOUNDED, &options);
    box_send_numbers(&watched.box, 1, 3);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_DROPPED_NEWEST));
    CHECK_INT(1, events_last(&watched.events, LBX_METRIC_DROPPED_NEWEST).count);
    CHECK_INT(2, events_of(&watched.events, LBX_METRIC_ENQUEUED));
    box_end(&watched.box);

    options.overflow = LBX_OVERFLOW_GROW;
    watch(&watched, LBX_KIND_BOUNDED, &options);
    box_send_numbers(&watched.box, 1, 3);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_GREW));
    CHECK_INT(4, events_last(&watched.events, LBX_METRIC_GREW).count);
    box_end(&watched.box);
}

// C-38: each use reports the slots that remain, each refusal the exhaustion.
TEST_CITING("C-38 C-39", system_reservation_is_reported)
{
    lbx_mailbox_options options = envelope_options();
    struct watched watched;

    options.system_reservation = 2;
    watch(&watched, LBX_KIND_UNBOUNDED, &options);
    box_send_system(&watched.box, 1);
    CHECK_INT(1,
              events_last(&watched.events, LBX_METRIC_RESERVATION_USED).count);
    box_send_system(&watched.box, 2);
    CHECK_INT(0,
              events_last(&watched.events, LBX_METRIC_RESERVATION_USED).count);
    CHECK_INT(0, events_of(&watched.events, LBX_METRIC_RESERVATION_EXHAUSTED));
    CHECK_STATUS(LBX_FULL, box_try_send_system(&watched.box, 3));
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_RESERVATION_EXHAUSTED));
    CHECK_INT(2, events_of(&watched.events, LBX_METRIC_RESERVATION_USED));
    box_end(&watched.box);
}

TEST_CITING("C-39", suspension_is_told_with_its_durations)
{
    TEST_CLOCK(time, clock);
    lbx_mailbox_options options = plain_options();
    struct watched watched;
    lbx_metric_event event;

    options.clock = &clock;
    options.timestamps = true;
    watch(&watched, LBX_KIND_UNBOUNDED, &options);
    for (int i = 1; i <= 2; i++) {
        lbx_mailbox_suspend(watched.box.mailbox);
        CHECK_INT(i, events_last(&watched.events, LBX_METRIC_SUSPENDED).count);
        test_clock_advance(&time, i * LBX_MS);
        lbx_mailbox_resume(watched.box.mailbox);
    }
    CHECK_INT(2, events_of(&watched.events, LBX_METRIC_RESUMED));
    event = events_last(&watched.events, LBX_METRIC_RESUMED);
    CHECK_INT(2, event.count);
    CHECK_INT(2 * LBX_MS, event.last_ns);
    CHECK_INT(3 * LBX_MS, event.total_ns);
    box_end(&watched.box);
}

// C-39: durations are absent when no clock is installed.
TEST_CITING("C-39", suspension_without_timestamps_has_no_durations)
{
    struct watched watched;
    lbx_metric_event event;

    watch(&watched, LBX_KIND_UNBOUNDED, NULL);
    lbx_mailbox_suspend(watched.box.mailbox);
    lbx_mailbox_resume(watched.box.mailbox);
    event = events_last(&watched.events, LBX_METRIC_RESUMED);
    CHECK_INT(1, event.count);
    CHECK_INT(-1, event.last_ns);
    CHECK_INT(-1, event.total_ns);
    box_end(&watched.box);
}

TEST_CITING("C-39", time_in_mailbox_and_expiry_are_told)
{
    TEST_CLOCK(time, clock);
    lbx_mailbox_options options = plain_options();
    lbx_envelope late = lbx_envelope_with_default_priority(letter(1));
    struct watched watched;

    options.clock = &clock;
    options.timestamps = true;
    watch(&watched, LBX_KIND_UNBOUNDED, &options);
    late.deadline_ns = test_clock_now(&time) + LBX_MS;
    box_send_envelope(&watched.box, late);
    box_send(&watched.box, 2);
    test_clock_advance(&time, 7 * LBX_MS);
    CHECK_RECEIVES(&watched.box, 2);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_EXPIRED));
    CHECK_INT(1, events_last(&watched.events, LBX_METRIC_EXPIRED).count);
    CHECK_INT(7 * LBX_MS,
              events_last(&watched.events, LBX_METRIC_DEQUEUED).waited_ns);
    box_end(&watched.box);
}

// An event at 75 %, once each time the depth rises to it.
TEST(pressure_is_told_once_each_time_it_rises)
{
    lbx_mailbox_options options = limited_options(4, LBX_OVERFLOW_REJECT);
    struct watched watched;

    watch(&watched, LBX_KIND_BOUNDED, &options);
    box_send_numbers(&watched.box, 1, 2);
    CHECK_INT(0, events_of(&watched.events, LBX_METRIC_PRESSURE));
    box_send(&watched.box, 3);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_PRESSURE));
    CHECK_INT(3, events_last(&watched.events, LBX_METRIC_PRESSURE).count);
    box_send(&watched.box, 4);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_PRESSURE));
    CHECK_RECEIVES(&watched.box, 1, 2, 3, 4);
    box_send_numbers(&watched.box, 5, 7);
    CHECK_INT(2, events_of(&watched.events, LBX_METRIC_PRESSURE));
    box_end(&watched.box);
}

TEST(pressure_threshold_can_be_chosen)
{
    lbx_mailbox_options options = plain_options();
    struct watched watched;

    options.pressure_messages = 2;
    watch(&watched, LBX_KIND_UNBOUNDED, &options);
    box_send_numbers(&watched.box, 1, 5);
    CHECK_INT(1, events_of(&watched.events, LBX_METRIC_PRESSURE));
    CHECK_INT(2, events_last(&watched.events, LBX_METRIC_PRESSURE).count);
    box_end(&watched.box);
}

// ---- Scheduler hook, and the order of it all ----

struct journal {
    char text[16];
    int length;
};

static void
journal_add(struct journal *journal, char letter_of)
{
    CHECK(journal->length < 15);
    journal->text[journal->length++] = letter_of;
}

static void
journal_wake(void *context)
{
    journal_add(context, 's');
}

static void
journal_event(void *context, const lbx_metric_event *event)
{
    if (event->metric == LBX_METRIC_ENQUEUED)
        journal_add(context, 'm');
}

static void
journal_ready(void *context, lbx_mailbox *mailbox)
{
    (void)mailbox;
    journal_add(context, 'h');
}

// C-37: after success notify the signal, record the metric, call the hook.
BOX_TEST("C-37", signal_then_metric_then_hook, box_unbounded())
{
    struct journal journal = {.length = 0};
    lbx_metrics_sink sink = {journal_event, &journal};
    lbx_scheduler_hook hook = {journal_ready, &journal};
    lbx_waker waker = {journal_wake, &journal};
    LOCAL_SIGNAL(signal);
    LOCAL_OPERATION(wait);

    CHECK_OK(lbx_mailbox_set_metrics_sink(box->mailbox, &sink));
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box->mailbox, &hook));
    CHECK_OK(lbx_consumer_signal(box->out, &signal));
    CHECK_OK(lbx_signal_wait_init(&wait, signal, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&wait, &waker));
    box_send(box, 1);
    CHECK_STR("smh", journal.text);
}

struct hook_calls {
    _Atomic int calls;
    lbx_mailbox *_Atomic mailbox;
};

static void
count_ready(void *context, lbx_mailbox *mailbox)
{
    struct hook_calls *hooked = context;

    atomic_fetch_add(&hooked->calls, 1);
    hooked->mailbox = mailbox;
}

// Once per accepted message, in every kind and lane; not for refused ones.
static void
calls_the_hook_for_each_accepted_message(const char *kind)
{
    struct hook_calls hooked = {0, NULL};
    lbx_scheduler_hook hook = {count_ready, &hooked};
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 2));

    CHECK_OK(lbx_mailbox_set_scheduler_hook(box.mailbox, &hook));
    box_send_numbers(&box, 1, 2);
    box_send_system(&box, 3);
    CHECK_INT(3, hooked.calls);
    CHECK_PTR(box.mailbox, hooked.mailbox);
    if (kind_is_limited(kind))
        CHECK_STATUS(LBX_FULL, lbx_producer_try_send(box.in, letter(4)));
    CHECK_INT(3, hooked.calls);
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box.mailbox, NULL));
    CHECK_INT(3, box_next(&box));
    CHECK_INT(1, box_next(&box));
    box_send(&box, 5);
    CHECK_INT(3, hooked.calls);
}

EVERY_KIND(KIND_CITING, "C-37", calls_the_hook_for_each_accepted_message)

static void
send_hundred(unsigned index, void *context)
{
    struct box *box = context;

    for (int i = 0; i < 100; i++)
        box_send(box, (int)index);
}

// Attached while senders are at work: from then on none is missed.
TEST_CITING("C-39", sinks_count_exactly_under_four_threads)
{
    struct hook_calls hooked = {0, NULL};
    lbx_scheduler_hook hook = {count_ready, &hooked};
    struct watched watched;

    watch(&watched, LBX_KIND_UNBOUNDED, NULL);
    CHECK_OK(lbx_mailbox_set_scheduler_hook(watched.box.mailbox, &hook));
    threads_run(4, send_hundred, &watched.box);
    CHECK_INT(401, watched.events.count); // and REGISTERED
    CHECK_INT(400, hooked.calls);
    box_end(&watched.box);
}
