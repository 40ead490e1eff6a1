/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping, at every moment: before a receive, in a long poll, between letters,
 * in a handler, while settling, in a pause. Whatever the moment, the letter
 * that was begun is finished, and the others can be had at once.
 */
#include "fixture.h"

#include "support/signals.h"
#include "support/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* Stops the courier at the n-th moment: each call of the store and each call of
 * the handler is one. */
struct moment {
    struct fixture *fx;
    int stop_at;
    int now;
    int jobs;
    bool again; /* started for the second time */
};

static void
pass(struct moment *moment)
{
    if (++moment->now == moment->stop_at)
        CHECK_STATUS(LBX_PENDING,
                     lbx_courier_stop(moment->fx->courier, LBX_FOREVER));
}

static lbx_status
pass_store(void *context, lbx_call_kind verb, const void *request)
{
    (void)verb;
    (void)request;
    pass(context);
    return LBX_OK;
}

static lbx_status
pass_job(lbx_job *job, void *context)
{
    struct moment *moment = context;
    lbx_draft answer = lbx_draft_of_text("done");

    moment->jobs++;
    pass(moment);
    CHECK(lbx_job_is_stopping(job) == (!moment->again && moment->stop_at > 0 &&
                                       moment->stop_at <= moment->now));
    CHECK_OK(lbx_job_heartbeat(job));
    return moment->jobs % 2 ? lbx_job_reply_and_acknowledge(job, &answer)
                            : LBX_OK;
}

static void
stop_at(int when, int *ret_moments)
{
    struct moment moment = {.stop_at = when};
    const lbx_courier_stats *stats;
    struct fixture fx;

    moment.fx = &fx;
    fixture_open_with(&fx, pass_job, &moment);
    fx.options.max_letters = 3;
    fixture_send_many(&fx, "a book", 6);
    fixture_before(&fx, pass_store, &moment);
    fixture_courier(&fx);
    CHECK_OK(lbx_courier_run(fx.courier, 3));
    fx.store.before = NULL;
    stats = fixture_stats(&fx);
    // All that was begun is done, and nothing is left leased (COUR-2).
    CHECK_INT(moment.jobs, stats->acknowledged);
    CHECK_INT(stats->received, stats->acknowledged + stats->released_unstarted);
    CHECK_COUNTS(&fx, "requests", (size_t)(6 - moment.jobs), 0, 0);
    CHECK_INT(0, stats->lost_leases + stats->unsettled + stats->returned);
    CHECK(!lbx_courier_is_running(fx.courier));
    moment.again = true;
    fixture_run(&fx, 4); // and it can be started again
    CHECK_INT(6, moment.jobs);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    *ret_moments = moment.now;
    fixture_close(&fx);
}

TEST_CITING("W-25", stopping_at_any_moment_loses_nothing)
{
    int moments = 0, unused;

    stop_at(0, &moments); // never: how many there are
    CHECK(moments > 15);
    for (int i = 1; i <= moments; i++)
        stop_at(i, &unused);
    test_note("%d moments", moments);
}

/* ---- From outside ---- */

TEST_CITING("W-37", a_stop_ends_a_long_poll_at_once)
{
    struct fixture fx;

    fixture_open(&fx);
    fx.options.wait_ns = -1; // for ever
    fx.options.handlers = 4;
    CHECK_OK(lbx_courier_start(fixture_courier(&fx)));
    EVENTUALLY(fake_store_waiting(&fx.store) == 4);
    CHECK(lbx_courier_is_running(fx.courier));
    CHECK_STATUS(LBX_BUSY, lbx_courier_start(fx.courier));
    CHECK_STATUS(LBX_BUSY, lbx_courier_run(fx.courier, 1));
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
    CHECK_INT(0, fake_store_waiting(&fx.store));
    CHECK(!lbx_courier_is_running(fx.courier));
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER)); // again: nothing
    CHECK_OK(lbx_courier_start(fx.courier));             // and on
    fixture_send(&fx, "a book");
    EVENTUALLY(fixture_stats(&fx)->acknowledged == 1);
    fixture_close(&fx); // destroying stops
}

struct gate {
    _Atomic bool reached;
    _Atomic bool is_open;
};

static lbx_status
wait_at_gate(lbx_job *job, void *context)
{
    struct gate *gate = context;

    (void)job;
    atomic_store(&gate->reached, true);
    EVENTUALLY(atomic_load(&gate->is_open));
    return LBX_OK;
}

TEST_CITING("W-25", a_stop_waits_for_the_letter_that_was_begun)
{
    struct gate gate = {false, false};
    FIXTURE(fx);

    fixture_open_with(&fx, wait_at_gate, &gate);
    fx.options.max_letters = 3;
    fixture_send_many(&fx, "a book", 3);
    CHECK_OK(lbx_courier_start(fixture_courier(&fx)));
    EVENTUALLY(atomic_load(&gate.reached));
    CHECK_STATUS(LBX_TIMEOUT, lbx_courier_stop(fx.courier, 0));
    CHECK(lbx_courier_is_running(fx.courier));
    atomic_store(&gate.is_open, true);
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
    CHECK_INT(2, fixture_stats(&fx)->released_unstarted);
    CHECK_COUNTS(&fx, "requests", 2, 0, 0);
}

static lbx_status
unreachable(void *context, lbx_call_kind verb, const void *request)
{
    (void)context;
    (void)request;
    return verb == LBX_CALL_RECEIVE ? LBX_UNREACHABLE : LBX_OK;
}

COURIER_TEST("", a_stop_ends_a_pause, fixture_open(fx))
{
    fx->store.before = unreachable;
    CHECK_OK(lbx_courier_start(fixture_courier(fx)));
    EVENTUALLY(fixture_has_logged(fx, "receiving from requests failed"));
    CHECK_OK(lbx_courier_stop(fx->courier, LBX_FOREVER));
}

/* Letters that come back from a stop that cannot reach the store. */
static lbx_status
stop_and_cut(lbx_job *job, void *context)
{
    struct moment *moment = context;

    (void)job;
    moment->jobs++;
    CHECK_STATUS(LBX_PENDING, lbx_courier_stop(moment->fx->courier, 0));
    return LBX_OK;
}

static lbx_status
cut_nacks(void *context, lbx_call_kind verb, const void *request)
{
    const lbx_settle_request *settle = request;

    (void)context;
    return verb == LBX_CALL_SETTLE &&
                   settle->entries[0].action == LBX_SETTLE_NACK
               ? LBX_UNREACHABLE
               : LBX_OK;
}

TEST(letters_that_cannot_be_given_back_come_when_their_lease_ends)
{
    struct moment moment = {.stop_at = 0};
    FIXTURE(fx);

    moment.fx = &fx;
    fixture_open_with(&fx, stop_and_cut, &moment);
    fx.options.max_letters = 3;
    fixture_send_many(&fx, "a book", 3);
    fx.store.before = cut_nacks;
    fixture_courier(&fx);
    CHECK_OK(lbx_courier_run(fx.courier, -1));
    CHECK_INT(1, moment.jobs);
    CHECK_INT(2, fixture_stats(&fx)->unsettled);
    CHECK_COUNTS(&fx, "requests", 0, 2, 0);
    fixture_advance(&fx, 300 * LBX_SECOND);
    CHECK_COUNTS(&fx, "requests", 2, 0, 0);
}

/* ---- Many at once ---- */

static void
start_and_stop(unsigned index, void *context)
{
    lbx_courier *courier = context;

    for (int i = 0; i < 50; i++) {
        lbx_status status;

        if (index % 2)
            status = lbx_courier_start(courier);
        else
            status = lbx_courier_stop(courier, LBX_FOREVER);
        CHECK(status == LBX_OK || status == LBX_BUSY);
    }
}

TEST(starts_and_stops_from_many_threads_agree)
{
    FIXTURE(fx);

    fixture_open(&fx);
    fx.options.wait_ns = -1;
    fx.options.handlers = 2;
    threads_run(4, start_and_stop, fixture_courier(&fx));
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
    CHECK(!lbx_courier_is_running(fx.courier));
    fixture_deliver(&fx, "a book", 1);
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
}

struct restless {
    lbx_courier *courier;
    atomic_bool over;
};

static void
stop_or_start_again(unsigned index, void *context)
{
    struct restless *restless = context;

    if (index == 0) {
        for (long i = test_rounds(300, 30000); i > 0; i--) {
            EVENTUALLY(lbx_courier_is_running(restless->courier));
            CHECK_OK(lbx_courier_stop(restless->courier, LBX_FOREVER));
        }
        atomic_store(&restless->over, true);
    }
    while (!atomic_load(&restless->over)) {
        lbx_status status = lbx_courier_start(restless->courier);

        CHECK(status == LBX_OK || status == LBX_BUSY);
        sched_yield();
    }
}

/* COUR-6: a stop waits for the run it has notified, not for the next one. */
TEST(a_stop_does_not_wait_for_a_later_run)
{
    struct restless restless = {.over = false};
    FIXTURE(fx);

    fixture_open(&fx);
    fx.options.wait_ns = -1;
    restless.courier = fixture_courier(&fx);
    threads_run(3, stop_or_start_again, &restless);
    CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
}

static void
run_for_ever(void *context)
{
    CHECK_OK(lbx_courier_run(context, -1));
}

TEST(a_run_in_another_thread_can_be_stopped_and_destroyed)
{
    for (int i = 0; i < 50; i++) {
        struct thread thread;
        FIXTURE(fx);

        fixture_open(&fx);
        fx.options.wait_ns = -1;
        thread_start(&thread, run_for_ever, fixture_courier(&fx));
        EVENTUALLY(fake_store_waiting(&fx.store) == 1);
        CHECK_OK(lbx_courier_stop(fx.courier, LBX_FOREVER));
        lbx_courier_destroy(fx.courier); // it may not have returned yet
        fx.courier = NULL;
        thread_join(&thread);
    }
}

COURIER_TEST("W-09 W-37", a_closed_postbox_ends_all_handlers, fixture_open(fx))
{
    fx->options.wait_ns = -1;
    fx->options.handlers = 3;
    CHECK_OK(lbx_courier_start(fixture_courier(fx)));
    EVENTUALLY(fake_store_waiting(&fx->store) == 3);
    lbx_postbox_close(fx->requests);
    EVENTUALLY(!lbx_courier_is_running(fx->courier));
    CHECK_STATUS(LBX_CLOSED, lbx_courier_start(fx->courier));
    CHECK(!lbx_courier_is_running(fx->courier));
    CHECK_OK(lbx_courier_stop(fx->courier, LBX_FOREVER));
}

static void
note_nothing(void *context, int64_t silent_ns)
{
    (void)context;
    (void)silent_ns;
}

/* SIGMASK-1: neither the handlers' threads nor the watchdog's take a signal
 * that the program waits for. */
COURIER_TEST("", a_courier_leaves_signals_to_the_program, fixture_open(fx))
{
    fx->options.wait_ns = 20 * LBX_SECOND;
    fx->options.handlers = 2;
    fx->options.stuck = note_nothing;
    CHECK_OK(lbx_courier_start(fixture_courier(fx)));
    EVENTUALLY(fake_store_waiting(&fx->store) == 2);
    test_await_own_signal();
    CHECK_OK(lbx_courier_stop(fx->courier, LBX_FOREVER));
}
