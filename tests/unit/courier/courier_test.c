/* SPDX-License-Identifier: Apache-2.0 */
/* Several handlers, several couriers, the watchdog, failing memory. */
#include "courier/courier.h"

#include "shelf.h"
#include "support/threads.h"
#include "support/torture.h"
#include <letterbox/testing.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What cannot work ---- */

static void
check_refused(struct desk *desk, lbx_status expected, const char *words)
{
    lbx_courier *courier;
    lbx_fault fault;

    memset(&fault, 'Z', sizeof(fault));
    fault.text[sizeof(fault.text) - 1] = '\0';
    desk->options.fault = &fault;
    CHECK_STATUS(expected, lbx_courier_create(&desk->options, &courier));
    CHECK_STATUS(expected, fault.status);
    if (!strstr(fault.text, words))
        FAIL("%s", fault.text);
}

TEST(a_courier_that_cannot_work_is_not_made)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *sender, *same, *fleeting;
    struct desk desk;
    lbx_fault fault;

    desk_open(&desk);
    desk.options.version = 0;
    check_refused(&desk, LBX_INVALID, "LBX_COURIER_OPTIONS_INIT");
    desk.options.version = LBX_COURIER_OPTIONS_VERSION;
    desk.options.fault = &fault;
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(&desk.options, NULL));
    CHECK(strstr(fault.text, "ret is NULL"));
    desk.options.lease_ns = 0;
    check_refused(&desk, LBX_INVALID, "lease_ns");
    desk.options.lease_ns = LBX_SECOND;

    options.send_only = true;
    CHECK_OK(
        lbx_postbox_open_in(&desk.shelf.base, "requests", &options, &sender));
    desk.options.postbox = sender;
    check_refused(&desk, LBX_UNSUPPORTED, "requests was opened as send_only");
    desk.options.postbox = desk.requests;
    desk.options.dead_letters.postbox = sender; // the same box all the same
    check_refused(&desk, LBX_INVALID, "box requests itself");
    lbx_postbox_unref(sender);

    CHECK_OK(lbx_postbox_open_in(&desk.shelf.base, "dead", NULL, &fleeting));
    lbx_postbox_close(fleeting);
    desk.options.dead_letters.postbox = fleeting;
    check_refused(&desk, LBX_CLOSED, "dead_letters.postbox dead is closed");
    lbx_postbox_unref(fleeting);
    desk.options.dead_letters.postbox = NULL;

    CHECK_OK(lbx_postbox_open_in(&desk.shelf.base, "requests", NULL, &same));
    lbx_postbox_close(same);
    desk.options.postbox = same;
    check_refused(&desk, LBX_CLOSED, "requests is closed");
    lbx_postbox_unref(same);
    desk_close(&desk);
}

/* Options by which every receive would fail, or be in vain. */
TEST(a_courier_keeps_to_the_limits_of_its_box)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options box = LBX_BOX_OPTIONS_INIT;
    struct desk desk;
    lbx_postbox *fake;

    desk_open(&desk);
    box.lease_ns = 0;
    options.box = &box;
    CHECK_OK(lbx_fake_create(&options, &fake));
    desk.options.postbox = fake;
    desk.options.lease_ns = LBX_DEFAULT;
    check_refused(&desk, LBX_INVALID, "lease_ns is LBX_DEFAULT");
    lbx_postbox_unref(fake);
    box = lbx_box_options_set(LBX_BOX_SQS);
    CHECK_OK(lbx_fake_create(&options, &fake));
    desk.options.postbox = fake;
    desk.options.lease_ns = 13 * 3600 * LBX_SECOND;
    check_refused(&desk, LBX_INVALID, "limits.lease_most_ns");
    desk.options.lease_ns = LBX_DEFAULT;
    desk.options.wait_ns = -1;
    check_refused(&desk, LBX_INVALID, "limits.wait_most_ns");
    desk.options.wait_ns = 21 * LBX_SECOND;
    check_refused(&desk, LBX_INVALID, "limits.wait_most_ns");
    desk.options.wait_ns = LBX_DEFAULT;
    CHECK_OK(lbx_courier_create(&desk.options, &desk.courier));
    lbx_postbox_unref(fake);
    desk_close(&desk);
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
    CHECK_OK(lbx_job_beat(job));
    sched_yield();
    atomic_fetch_sub(&tally->at_work, 1);
    return seen < tally->fail_each ? LBX_REFUSED : LBX_OK;
}

static void
send_numbers(struct desk *desk)
{
    for (int i = 0; i < LETTERS; i++) {
        char text[16];

        snprintf(text, sizeof(text), "%d", i);
        desk_send(desk, text);
    }
}

TEST_CITING("W-19", several_handlers_share_the_letters)
{
    static struct tally tally;
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = count;
    desk.options.context = &tally;
    desk.options.handlers = 4;
    desk.options.letters_most = 3;
    desk.options.wait_ns = -1;
    send_numbers(&desk);
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    EVENTUALLY(desk_stats(&desk)->acknowledged == LETTERS);
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    for (int i = 0; i < LETTERS; i++)
        CHECK_INT(1, atomic_load(&tally.seen[i]));
    CHECK(atomic_load(&tally.most) <= 4);
    CHECK_INT(0, desk_stats(&desk)->lost_leases);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    desk_close(&desk);
}

TEST_CITING("W-16 W-23", two_couriers_on_one_postbox_share_it)
{
    static struct tally tally = {.fail_each = 1};
    lbx_courier_stats a, b;
    lbx_courier *second;
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = count;
    desk.options.context = &tally;
    desk.options.handlers = 2;
    desk.options.wait_ns = -1;
    desk.options.retry_ns = 0; // failures come back at once
    send_numbers(&desk);
    CHECK_OK(lbx_courier_create(&desk.options, &second));
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    CHECK_OK(lbx_courier_start(second));
    do {
        CHECK_OK(lbx_courier_stats_read(desk.courier, &a));
        CHECK_OK(lbx_courier_stats_read(second, &b));
        sched_yield();
    } while (a.acknowledged + b.acknowledged < LETTERS);
    CHECK_OK(lbx_courier_stop(second, LBX_FOREVER));
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    CHECK_OK(lbx_courier_stats_read(desk.courier, &a));
    CHECK_OK(lbx_courier_stats_read(second, &b));
    for (int i = 0; i < LETTERS; i++)
        CHECK_INT(2, atomic_load(&tally.seen[i]));
    CHECK_INT(LETTERS, a.acknowledged + b.acknowledged);
    CHECK_INT(LETTERS, a.returned + b.returned);
    CHECK_INT(2 * LETTERS, a.received + b.received);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    lbx_courier_destroy(second);
    desk_close(&desk);
}

/* One hangs and loses its letter; the other finishes it; the first, when it wakes
 * up, changes nothing. */
struct relay {
    struct desk *desk;
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
    struct desk desk;

    desk_open(&desk);
    relay.desk = &desk;
    desk.options.handle = hang_first;
    desk.options.context = &relay;
    desk.options.wait_ns = -1;
    CHECK_OK(lbx_courier_create(&desk.options, &second));
    desk_send(&desk, "a book");
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    EVENTUALLY(atomic_load(&relay.deliveries) == 1);
    CHECK_OK(lbx_courier_start(second));
    EVENTUALLY(shelf_waiting(&desk.shelf) == 1);
    shelf_advance(&desk.shelf, 300 * LBX_SECOND);
    EVENTUALLY(atomic_load(&relay.deliveries) == 2);
    CHECK_OK(lbx_courier_stop(second, LBX_FOREVER));
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    atomic_store(&relay.go_on, true);
    EVENTUALLY(desk_stats(&desk)->lost_leases == 1);
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    CHECK_INT(0, desk_stats(&desk)->acknowledged);
    lbx_courier_destroy(second);
    desk_close(&desk);
}

/* ---- The watchdog ---- */

struct guard {
    struct desk *desk;
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

/* Looks by hand, as the watchdog's thread would. */
static lbx_status
fall_silent(lbx_job *job, void *context)
{
    struct guard *guard = context;
    lbx_courier *courier = guard->desk->courier;
    lbx_courier_stats stats;
    const int64_t start = test_clock_now(&guard->desk->time);

    courier->options.stuck = bark; // without the thread, which would look too
    CHECK_INT(start + 100 * LBX_SECOND, lbx__watchdog_check(courier));
    test_clock_advance(&guard->desk->time, 100 * LBX_SECOND - 1);
    CHECK_INT(start + 100 * LBX_SECOND, lbx__watchdog_check(courier));
    CHECK_INT(0, atomic_load(&guard->stuck));
    CHECK_OK(lbx_job_beat(job)); // in time
    test_clock_advance(&guard->desk->time, 100 * LBX_SECOND - 1);
    (void)lbx__watchdog_check(courier);
    CHECK_INT(0, atomic_load(&guard->stuck));
    test_clock_advance(&guard->desk->time, 1);
    CHECK_OK(lbx_courier_stats_read(courier, &stats));
    CHECK_INT(100 * LBX_SECOND, stats.silent_ns);
    (void)lbx__watchdog_check(courier);
    CHECK_INT(1, atomic_load(&guard->stuck));
    CHECK_INT(100 * LBX_SECOND, atomic_load(&guard->silent_ns));
    test_clock_advance(&guard->desk->time, 500 * LBX_SECOND);
    (void)lbx__watchdog_check(courier);
    CHECK_INT(1, atomic_load(&guard->stuck)); // once for each silence
    (void)lbx_job_beat(job);
    test_clock_advance(&guard->desk->time, 100 * LBX_SECOND);
    (void)lbx__watchdog_check(courier);
    CHECK_INT(2, atomic_load(&guard->stuck));
    return LBX_OK;
}

TEST_CITING("W-25", the_watchdog_speaks_once_for_each_silence)
{
    struct guard guard = {.stuck = 0};
    struct desk desk;

    desk_open(&desk);
    guard.desk = &desk;
    desk.options.handle = fall_silent;
    desk.options.context = &guard;
    desk.options.watchdog_ns = 100 * LBX_SECOND;
    desk.options.extend_every_ns = 0;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(2, atomic_load(&guard.stuck));
    CHECK_INT(0, desk_stats(&desk)->silent_ns); // not running
    desk_close(&desk);
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
    struct desk desk;

    desk_open(&desk);
    desk.options.clock = NULL; // the real one: the thread sleeps by it
    desk.options.handle = hang_until_heard;
    desk.options.context = &guard;
    desk.options.stuck = bark;
    desk.options.watchdog_ns = LBX_MS;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK(atomic_load(&guard.silent_ns) >= LBX_MS);
    desk_send(&desk, "a pen");
    atomic_store(&guard.stuck, 0);
    CHECK_OK(lbx_courier_start(desk.courier));
    EVENTUALLY(desk_stats(&desk)->acknowledged == 2);
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    desk_close(&desk);
}

static void
stop_it(void *context, int64_t silent_ns)
{
    struct guard *guard = context;

    (void)silent_ns;
    if (!atomic_load(&guard->reached))
        return; // a slow machine: the thread has not come so far
    CHECK_STATUS(LBX_PENDING,
                 lbx_courier_stop(guard->desk->courier, LBX_FOREVER));
    atomic_fetch_add(&guard->stuck, 1);
}

TEST(the_watchdog_may_stop_its_courier)
{
    struct guard guard = {.stuck = 0};
    struct desk desk;

    desk_open(&desk);
    guard.desk = &desk;
    desk.options.clock = NULL;
    desk.options.handle = hang_until_heard;
    desk.options.context = &guard;
    desk.options.stuck = stop_it;
    desk.options.watchdog_ns = LBX_MS;
    desk_send(&desk, "a book");
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    EVENTUALLY(!lbx_courier_is_running(desk.courier));
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    desk_close(&desk);
}

/* ---- Failing memory ---- */

/* Everything a courier allocates: itself, letters, drafts, records. */
static lbx_status
answer_or_fail(lbx_job *job, void *context)
{
    lbx_draft answer = lbx_draft_of_text("done");

    (void)context;
    if (strcmp(lbx_letter_body(lbx_job_letter(job), NULL), "good") == 0)
        return lbx_job_answer(job, &answer);
    return lbx_job_fail(job, LBX_REFUSED, "bad", "bad");
}

static void
run_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_postbox *requests, *dead;
    lbx_courier *courier;
    struct desk desk;

    (void)context;
    desk_open(&desk);
    desk_send(&desk, "good");
    desk_send(&desk, "bad");
    options.allocator = &allocator;
    if (lbx_postbox_open_in(&desk.shelf.base, "requests", &options,
                            &requests) != LBX_OK)
        goto done;
    if (lbx_postbox_open_in(&desk.shelf.base, "dead", &options, &dead) !=
        LBX_OK) {
        lbx_postbox_unref(requests);
        goto done;
    }
    desk.options.postbox = requests;
    desk.options.allocator = &allocator;
    desk.options.handle = answer_or_fail;
    desk.options.dead_letters.postbox = dead;
    desk.options.dead_letters.deliveries = 1;
    if (lbx_courier_create(&desk.options, &courier) == LBX_OK) {
        lbx_courier_stats stats;

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
    shelf_advance(&desk.shelf, 1000 * LBX_SECOND);
    desk.options.postbox = desk.requests;
    desk.options.allocator = NULL;
    desk.options.handle = answer_or_fail;
    desk.options.dead_letters.postbox = desk.dead;
    desk.options.dead_letters.deliveries = 1;
    desk_run(&desk, 3);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    CHECK_COUNTS(&desk, "dead", 1, 0, 0);
    desk_close(&desk);
}

TEST_LIMIT(couriers_survive_every_failing_allocation, 60)
{
    const long points = torture_every_allocation(run_once, NULL);

    CHECK(points >= 6);
    test_note("%ld allocations", points);
}
