/* SPDX-License-Identifier: Apache-2.0 */
/* Several handlers, several couriers, the watchdog, failing memory. */
#include "courier/courier.h"

#include "fixture.h"
#include "support/local_post.h"
#include "support/threads.h"
#include "support/torture.h"
#include <letterbox/testing.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What cannot work ---- */

static void
check_refused(struct fixture *fx, lbx_status expected, const char *words)
{
    lbx_courier *courier;
    lbx_fault fault;

    memset(&fault, 'Z', sizeof(fault));
    fault.text[sizeof(fault.text) - 1] = '\0';
    fx->options.fault = &fault;
    CHECK_STATUS(expected, lbx_courier_create(&fx->options, &courier));
    CHECK_STATUS(expected, fault.status);
    if (!strstr(fault.text, words))
        FAIL("%s", fault.text);
}

COURIER_TEST("", a_courier_that_cannot_work_is_not_made, fixture_open(fx))
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *sender, *same, *fleeting;
    lbx_fault fault;

    fx->options.size_bytes = 0;
    check_refused(fx, LBX_INVALID, "LBX_COURIER_OPTIONS_INIT");
    fx->options.size_bytes = sizeof(lbx_courier_options);
    fx->options.fault = &fault;
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(&fx->options, NULL));
    CHECK(strstr(fault.text, "ret is NULL"));
    fx->options.lease_ns = 0;
    check_refused(fx, LBX_INVALID, "lease_ns");
    fx->options.lease_ns = LBX_SECOND;

    options.send_only = true;
    CHECK_OK(
        lbx_postbox_open_in(&fx->store.base, "requests", &options, &sender));
    fx->options.postbox = sender;
    check_refused(fx, LBX_UNSUPPORTED, "requests was opened as send_only");
    fx->options.postbox = fx->requests;
    fx->options.dead_letters.postbox = sender; // the same box all the same
    check_refused(fx, LBX_INVALID, "box requests itself");
    lbx_postbox_unref(sender);

    CHECK_OK(lbx_postbox_open_in(&fx->store.base, "dead", NULL, &fleeting));
    lbx_postbox_close(fleeting);
    fx->options.dead_letters.postbox = fleeting;
    check_refused(fx, LBX_CLOSED, "dead_letters.postbox dead is closed");
    lbx_postbox_unref(fleeting);
    fx->options.dead_letters.postbox = NULL;

    CHECK_OK(lbx_postbox_open_in(&fx->store.base, "requests", NULL, &same));
    lbx_postbox_close(same);
    fx->options.postbox = same;
    check_refused(fx, LBX_CLOSED, "requests is closed");
    lbx_postbox_unref(same);
}

/* Options by which every receive would fail, or be in vain. */
COURIER_TEST("", a_courier_keeps_to_the_limits_of_its_box, fixture_open(fx))
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    lbx_postbox *fake;

    box.lease_ns = 0;
    options.box = &box;
    CHECK_OK(lbx_fake_postbox_create(&options, &fake));
    fx->options.postbox = fake;
    fx->options.lease_ns = LBX_DEFAULT;
    check_refused(fx, LBX_INVALID, "lease_ns is LBX_DEFAULT");
    lbx_postbox_unref(fake);
    box = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    CHECK_OK(lbx_fake_postbox_create(&options, &fake));
    fx->options.postbox = fake;
    fx->options.lease_ns = box.limits.max_lease_ns + 1;
    check_refused(fx, LBX_INVALID, "limits.max_lease_ns");
    fx->options.lease_ns = box.limits.max_lease_ns;
    fx->options.wait_ns = -1;
    check_refused(fx, LBX_INVALID, "limits.max_wait_ns");
    fx->options.wait_ns = 21 * LBX_SECOND;
    check_refused(fx, LBX_INVALID, "limits.max_wait_ns");
    fx->options.wait_ns = LBX_DEFAULT;
    CHECK_OK(lbx_courier_create(&fx->options, &fx->courier));
    lbx_postbox_unref(fake);
}

/* ---- Several at work ---- */

enum {
    LETTERS = 200
};

struct tally {
    _Atomic int seen[LETTERS];
    _Atomic int at_work;
    _Atomic int most;
    int fail_each; /* this many deliveries of each letter */
};

static lbx_status
count(lbx_job *job, void *context)
{
    struct tally *tally = context;
    const int number = atoi(lbx_letter_body(lbx_job_letter(job), NULL));
    const int now = atomic_fetch_add(&tally->at_work, 1) + 1;
    int most = atomic_load(&tally->most);
    int seen;

    while (most < now &&
           !atomic_compare_exchange_weak(&tally->most, &most, now))
        ;
    seen = atomic_fetch_add(&tally->seen[number], 1);
    CHECK_OK(lbx_job_heartbeat(job));
    sched_yield();
    atomic_fetch_sub(&tally->at_work, 1);
    return seen < tally->fail_each ? LBX_REFUSED : LBX_OK;
}

static void
send_numbers(struct fixture *fx)
{
    for (int i = 0; i < LETTERS; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%d", i);
        fixture_send(fx, text);
    }
}

TEST_CITING("W-19", several_handlers_share_the_letters)
{
    static struct tally tally;
    FIXTURE(fx);

    fixture_open_with(&fx, count, &tally);
    fx.options.handlers = 4;
    fx.options.max_letters = 3;
    fx.options.wait_ns = -1;
    send_numbers(&fx);
    CHECK_OK(lbx_courier_start(fixture_courier(&fx)));
    EVENTUALLY(fixture_stats(&fx)->acknowledged == LETTERS);
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
    for (int i = 0; i < LETTERS; i++)
        CHECK_INT(1, atomic_load(&tally.seen[i]));
    CHECK(atomic_load(&tally.most) <= 4);
    CHECK_INT(0, fixture_stats(&fx)->lost_leases);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
}

TEST_CITING("W-16 W-23", two_couriers_on_one_postbox_share_it)
{
    static struct tally tally = {.fail_each = 1};
    lbx_courier_stats a = LBX_COURIER_STATS_INIT, b = LBX_COURIER_STATS_INIT;
    lbx_courier *second;
    FIXTURE(fx);

    fixture_open_with(&fx, count, &tally);
    fx.options.handlers = 2;
    fx.options.wait_ns = -1;
    fx.options.retry_ns = 0; // failures come back at once
    send_numbers(&fx);
    CHECK_OK(lbx_courier_create(&fx.options, &second));
    CHECK_OK(lbx_courier_start(fixture_courier(&fx)));
    CHECK_OK(lbx_courier_start(second));
    do {
        CHECK_OK(lbx_courier_stats_read(fx.courier, &a));
        CHECK_OK(lbx_courier_stats_read(second, &b));
        sched_yield();
    } while (a.acknowledged + b.acknowledged < LETTERS);
    CHECK_OK(lbx_courier_stop(second, LBX_FOREVER));
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
    CHECK_OK(lbx_courier_stats_read(fx.courier, &a));
    CHECK_OK(lbx_courier_stats_read(second, &b));
    for (int i = 0; i < LETTERS; i++)
        CHECK_INT(2, atomic_load(&tally.seen[i]));
    CHECK_INT(LETTERS, a.acknowledged + b.acknowledged);
    CHECK_INT(LETTERS, a.returned + b.returned);
    CHECK_INT(2 * LETTERS, a.received + b.received);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    lbx_courier_destroy(second);
}

/* One hangs and loses its letter; the other finishes it; the first, when it
 * wakes up, changes nothing. */
struct relay {
    struct fixture *fx;
    _Atomic int deliveries;
    _Atomic bool go_on;
};

static lbx_status
hang_first(lbx_job *job, void *context)
{
    struct relay *relay = context;

    if (atomic_fetch_add(&relay->deliveries, 1) == 0)
        EVENTUALLY(atomic_load(&relay->go_on));
    (void)job;
    return LBX_OK;
}

TEST_CITING("W-16 W-17", what_a_hanging_handler_loses_another_finishes)
{
    struct relay relay = {.deliveries = 0};
    lbx_courier *second;
    FIXTURE(fx);

    relay.fx = &fx;
    fixture_open_with(&fx, hang_first, &relay);
    fx.options.wait_ns = -1;
    CHECK_OK(lbx_courier_create(&fx.options, &second));
    fixture_send(&fx, "a book");
    CHECK_OK(lbx_courier_start(fixture_courier(&fx)));
    EVENTUALLY(atomic_load(&relay.deliveries) == 1);
    CHECK_OK(lbx_courier_start(second));
    EVENTUALLY(fake_store_waiting(&fx.store) == 1);
    fixture_advance(&fx, 300 * LBX_SECOND);
    EVENTUALLY(atomic_load(&relay.deliveries) == 2);
    CHECK_OK(lbx_courier_stop(second, LBX_FOREVER));
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    atomic_store(&relay.go_on, true);
    EVENTUALLY(fixture_stats(&fx)->lost_leases == 1);
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
    CHECK_INT(0, fixture_stats(&fx)->acknowledged);
    lbx_courier_destroy(second);
}

/* ---- The watchdog ---- */

struct guard {
    struct fixture *fx;
    _Atomic int stuck;
    _Atomic int64_t silent_ns;
    _Atomic bool reached; /* the handler */
};

static void
bark(void *context, int64_t silent_ns)
{
    struct guard *guard = context;

    atomic_store(&guard->silent_ns, silent_ns);
    atomic_fetch_add(&guard->stuck, 1);
}

/* Else a courier that waits for letters would be reported as stuck. */
COURIER_TEST("", the_watchdog_must_be_more_patient_than_a_receive,
             fixture_open(fx))
{
    static const struct {
        int64_t wait_ns;
        int64_t watchdog_ns;
        bool is_refused;
    } rows[] = {
        {20 * LBX_SECOND, 20 * LBX_SECOND - 1, true},
        {20 * LBX_SECOND, 20 * LBX_SECOND, true},
        {20 * LBX_SECOND, 20 * LBX_SECOND + 1, false},
        {LBX_DEFAULT, 5 * LBX_SECOND - 1, true}, // the box waits 5 s
        {LBX_DEFAULT, 5 * LBX_SECOND, true},
        {LBX_DEFAULT, 5 * LBX_SECOND + 1, false},
    };
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    LOCAL_POSTBOX(fake);

    box.wait_ns = 5 * LBX_SECOND;
    options.box = &box;
    CHECK_OK(lbx_fake_postbox_create(&options, &fake));
    fx->options.postbox = fake;
    fx->options.stuck = bark;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lbx_courier *courier;

        fx->options.wait_ns = rows[i].wait_ns;
        fx->options.watchdog_ns = rows[i].watchdog_ns;
        if (rows[i].is_refused) {
            check_refused(fx, LBX_INVALID, "watchdog_ns");
        } else {
            CHECK_OK(lbx_courier_create(&fx->options, &courier));
            lbx_courier_destroy(courier);
        }
    }
}

/* Checks by hand, as the watchdog's thread does. */
static lbx_status
fall_silent(lbx_job *job, void *context)
{
    struct guard *guard = context;
    lbx_courier *courier = guard->fx->courier;
    lbx_courier_stats stats = LBX_COURIER_STATS_INIT;
    const int64_t start = test_clock_now(&guard->fx->time);

    courier->options.stuck = bark; // without the thread, which would look too
    CHECK_INT(start + 100 * LBX_SECOND, lbx__watchdog_check(courier));
    test_clock_advance(&guard->fx->time, 100 * LBX_SECOND - 1);
    CHECK_INT(start + 100 * LBX_SECOND, lbx__watchdog_check(courier));
    CHECK_INT(0, atomic_load(&guard->stuck));
    CHECK_OK(lbx_job_heartbeat(job)); // in time
    test_clock_advance(&guard->fx->time, 100 * LBX_SECOND - 1);
    (void)lbx__watchdog_check(courier);
    CHECK_INT(0, atomic_load(&guard->stuck));
    test_clock_advance(&guard->fx->time, 1);
    CHECK_OK(lbx_courier_stats_read(courier, &stats));
    CHECK_INT(100 * LBX_SECOND, stats.silent_ns);
    CHECK_INT(test_clock_now(&guard->fx->time) + 100 * LBX_SECOND,
              lbx__watchdog_check(courier));
    CHECK_INT(1, atomic_load(&guard->stuck));
    CHECK_INT(100 * LBX_SECOND, atomic_load(&guard->silent_ns));
    test_clock_advance(&guard->fx->time, 500 * LBX_SECOND);
    (void)lbx__watchdog_check(courier);
    CHECK_INT(1, atomic_load(&guard->stuck)); // once for each silence
    (void)lbx_job_heartbeat(job);
    test_clock_advance(&guard->fx->time, 100 * LBX_SECOND);
    (void)lbx__watchdog_check(courier);
    CHECK_INT(2, atomic_load(&guard->stuck));
    return LBX_OK;
}

TEST_CITING("W-25", the_watchdog_speaks_once_for_each_silence)
{
    struct guard guard = {.stuck = 0};
    FIXTURE(fx);

    guard.fx = &fx;
    fixture_open_with(&fx, fall_silent, &guard);
    fx.options.watchdog_ns = 100 * LBX_SECOND;
    fx.options.extend_every_ns = 0;
    fixture_deliver(&fx, "a book", 1);
    CHECK_INT(2, atomic_load(&guard.stuck));
    CHECK_INT(0, fixture_stats(&fx)->silent_ns); // not running
}

static lbx_status
hang_until_heard(lbx_job *job, void *context)
{
    struct guard *guard = context;

    (void)job;
    atomic_store(&guard->reached, true);
    EVENTUALLY(atomic_load(&guard->stuck) > 0);
    return LBX_OK;
}

TEST(the_watchdog_has_a_thread_of_its_own)
{
    struct guard guard = {.stuck = 0};
    FIXTURE(fx);

    fixture_open(&fx);
    fx.options.clock = NULL; // the real one: the thread sleeps by it
    fx.options.handle = hang_until_heard;
    fx.options.context = &guard;
    fx.options.stuck = bark;
    fx.options.watchdog_ns = LBX_MS;
    fixture_deliver(&fx, "a book", 1);
    CHECK(atomic_load(&guard.silent_ns) >= LBX_MS);
    fixture_send(&fx, "a pen");
    atomic_store(&guard.stuck, 0);
    CHECK_OK(lbx_courier_start(fx.courier));
    EVENTUALLY(fixture_stats(&fx)->acknowledged == 2);
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
}

static void
stop_it(void *context, int64_t silent_ns)
{
    struct guard *guard = context;

    (void)silent_ns;
    if (!atomic_load(&guard->reached))
        return; // a slow machine: the thread has not come so far
    CHECK_STATUS(LBX_PENDING,
                 lbx_courier_stop(guard->fx->courier, LBX_FOREVER));
    atomic_fetch_add(&guard->stuck, 1);
}

TEST(the_watchdog_may_stop_its_courier)
{
    struct guard guard = {.stuck = 0};
    FIXTURE(fx);

    fixture_open(&fx);
    guard.fx = &fx;
    fx.options.clock = NULL;
    fx.options.handle = hang_until_heard;
    fx.options.context = &guard;
    fx.options.stuck = stop_it;
    fx.options.watchdog_ns = LBX_MS;
    fixture_send(&fx, "a book");
    CHECK_OK(lbx_courier_start(fixture_courier(&fx)));
    EVENTUALLY(!lbx_courier_is_running(fx.courier));
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
}

/* ---- Failing memory ---- */

/* Everything a courier allocates: itself, letters, drafts, records. */
static lbx_status
answer_or_fail(lbx_job *job, void *context)
{
    lbx_draft answer = lbx_draft_of_text("done");

    (void)context;
    if (strcmp(lbx_letter_body(lbx_job_letter(job), NULL), "good") == 0)
        return lbx_job_reply_and_acknowledge(job, &answer);
    return lbx_job_fail(job, LBX_REFUSED, "bad", "bad");
}

static void
run_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *requests, *dead;
    lbx_courier *courier;
    struct fixture fx;

    (void)context;
    fixture_open(&fx);
    fixture_send(&fx, "good");
    fixture_send(&fx, "bad");
    options.allocator = &allocator;
    if (lbx_postbox_open_in(&fx.store.base, "requests", &options, &requests) !=
        LBX_OK)
        goto done;
    if (lbx_postbox_open_in(&fx.store.base, "dead", &options, &dead) !=
        LBX_OK) {
        lbx_postbox_unref(requests);
        goto done;
    }
    fx.options.postbox = requests;
    fx.options.allocator = &allocator;
    fx.options.handle = answer_or_fail;
    fx.options.dead_letters.postbox = dead;
    fx.options.dead_letters.deliveries = 1;
    if (lbx_courier_create(&fx.options, &courier) == LBX_OK) {
        lbx_courier_stats stats = LBX_COURIER_STATS_INIT;

        CHECK_OK(lbx_courier_run(courier, 2));
        CHECK_OK(lbx_courier_stats_read(courier, &stats));
        if (memory->failures == 0)
            CHECK_INT(2, stats.acknowledged);
        lbx_courier_destroy(courier);
    }
    lbx_postbox_unref(dead);
    lbx_postbox_unref(requests);
done:
    // Whatever failed, each letter is where it was, given back, or done with.
    fixture_advance(&fx, 1000 * LBX_SECOND);
    fx.options.postbox = fx.requests;
    fx.options.allocator = NULL;
    fx.options.handle = answer_or_fail;
    fx.options.dead_letters.postbox = fx.dead;
    fx.options.dead_letters.deliveries = 1;
    fixture_run(&fx, 3);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    CHECK_COUNTS(&fx, "dead", 1, 0, 0);
    fixture_close(&fx);
}

TEST(couriers_survive_every_failing_allocation)
{
    const long points = torture_every_allocation(run_once, NULL);

    CHECK(points >= 6);
    test_note("%ld allocations", points);
}
