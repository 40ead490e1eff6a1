/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping, at every moment: before a receive, in a long poll, between letters, in
 * a handler, while settling, in a pause. Whatever the moment, the letter that was
 * begun is finished, and the others can be had at once.
 */
#include "shelf.h"

#include "support/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* Stops the courier at the n-th moment: each call of the store and each call of
 * the handler is one. */
struct moment {
    struct desk *desk;
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
                     lbx_courier_stop(moment->desk->courier, LBX_FOREVER));
}

static lbx_status
pass_store(void *context, lbx_verb verb, const void *request)
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
    CHECK_OK(lbx_job_beat(job));
    return moment->jobs % 2 ? lbx_job_answer(job, &answer) : LBX_OK;
}

static void
stop_at(int when, int *ret_moments)
{
    struct moment moment = {.stop_at = when};
    const lbx_courier_stats *stats;
    struct desk desk;

    desk_open(&desk);
    moment.desk = &desk;
    desk.options.handle = pass_job;
    desk.options.context = &moment;
    desk.options.letters_most = 3;
    for (int i = 0; i < 6; i++)
        desk_send(&desk, "a book");
    desk.shelf.before = pass_store;
    desk.shelf.context = &moment;
    desk_courier(&desk);
    CHECK_OK(lbx_courier_run(desk.courier, 3));
    desk.shelf.before = NULL;
    stats = desk_stats(&desk);
    // All that was begun is done, and nothing is left leased (C2).
    CHECK_INT(moment.jobs, stats->acknowledged);
    CHECK_INT(stats->received, stats->acknowledged + stats->given_back);
    CHECK_COUNTS(&desk, "requests", (size_t)(6 - moment.jobs), 0, 0);
    CHECK_INT(0, stats->lost_leases + stats->unsettled + stats->returned);
    CHECK(!lbx_courier_is_running(desk.courier));
    moment.again = true;
    desk_run(&desk, 4); // and it can be started again
    CHECK_INT(6, moment.jobs);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    *ret_moments = moment.now;
    desk_close(&desk);
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
    struct desk desk;

    desk_open(&desk);
    desk.options.wait_ns = -1; // for ever
    desk.options.handlers = 4;
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    EVENTUALLY(shelf_waiting(&desk.shelf) == 4);
    CHECK(lbx_courier_is_running(desk.courier));
    CHECK_STATUS(LBX_BUSY, lbx_courier_start(desk.courier));
    CHECK_STATUS(LBX_BUSY, lbx_courier_run(desk.courier, 1));
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    CHECK_INT(0, shelf_waiting(&desk.shelf));
    CHECK(!lbx_courier_is_running(desk.courier));
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER)); // again: nothing
    CHECK_OK(lbx_courier_start(desk.courier));             // and on
    desk_send(&desk, "a book");
    EVENTUALLY(desk_stats(&desk)->acknowledged == 1);
    desk_close(&desk); // destroying stops
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
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = wait_at_gate;
    desk.options.context = &gate;
    desk.options.letters_most = 3;
    for (int i = 0; i < 3; i++)
        desk_send(&desk, "a book");
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    EVENTUALLY(atomic_load(&gate.reached));
    CHECK_STATUS(LBX_TIMEOUT, lbx_courier_stop(desk.courier, 0));
    CHECK(lbx_courier_is_running(desk.courier));
    atomic_store(&gate.is_open, true);
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    CHECK_INT(2, desk_stats(&desk)->given_back);
    CHECK_COUNTS(&desk, "requests", 2, 0, 0);
    desk_close(&desk);
}

static lbx_status
unreachable(void *context, lbx_verb verb, const void *request)
{
    (void)context;
    (void)request;
    return verb == LBX_VERB_RECEIVE ? LBX_UNREACHABLE : LBX_OK;
}

TEST(a_stop_ends_a_pause)
{
    struct desk desk;

    desk_open(&desk);
    desk.shelf.before = unreachable;
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    EVENTUALLY(desk_has_logged(&desk, "receiving from requests failed"));
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    desk_close(&desk);
}

/* Letters that come back from a stop that cannot reach the store. */
static lbx_status
stop_and_cut(lbx_job *job, void *context)
{
    struct moment *moment = context;

    (void)job;
    moment->jobs++;
    CHECK_STATUS(LBX_PENDING, lbx_courier_stop(moment->desk->courier, 0));
    return LBX_OK;
}

static lbx_status
cut_nacks(void *context, lbx_verb verb, const void *request)
{
    const lbx_settle_request *settle = request;

    (void)context;
    return verb == LBX_VERB_SETTLE && settle->entries[0].what == LBX_NACK
               ? LBX_UNREACHABLE
               : LBX_OK;
}

TEST(letters_that_cannot_be_given_back_come_when_their_lease_ends)
{
    struct moment moment = {.stop_at = 0};
    struct desk desk;

    desk_open(&desk);
    moment.desk = &desk;
    desk.options.handle = stop_and_cut;
    desk.options.context = &moment;
    desk.options.letters_most = 3;
    for (int i = 0; i < 3; i++)
        desk_send(&desk, "a book");
    desk.shelf.before = cut_nacks;
    desk_courier(&desk);
    CHECK_OK(lbx_courier_run(desk.courier, -1));
    CHECK_INT(1, moment.jobs);
    CHECK_INT(2, desk_stats(&desk)->unsettled);
    CHECK_COUNTS(&desk, "requests", 0, 2, 0);
    shelf_advance(&desk.shelf, 300 * LBX_SECOND);
    CHECK_COUNTS(&desk, "requests", 2, 0, 0);
    desk_close(&desk);
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
    struct desk desk;

    desk_open(&desk);
    desk.options.wait_ns = -1;
    desk.options.handlers = 2;
    threads_run(4, start_and_stop, desk_courier(&desk));
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    CHECK(!lbx_courier_is_running(desk.courier));
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    desk_close(&desk);
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

/* C6: who is told of the end of a run has stopped that, not the next. */
TEST(a_stop_does_not_wait_for_who_starts_again)
{
    struct restless restless = {.over = false};
    struct desk desk;

    desk_open(&desk);
    desk.options.wait_ns = -1;
    restless.courier = desk_courier(&desk);
    threads_run(3, stop_or_start_again, &restless);
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    desk_close(&desk);
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
        struct desk desk;

        desk_open(&desk);
        desk.options.wait_ns = -1;
        thread_start(&thread, run_for_ever, desk_courier(&desk));
        EVENTUALLY(shelf_waiting(&desk.shelf) == 1);
        CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
        lbx_courier_destroy(desk.courier); // it may not have returned yet
        desk.courier = NULL;
        thread_join(&thread);
        desk_close(&desk);
    }
}

TEST_CITING("W-09 W-37", a_closed_postbox_ends_all_handlers)
{
    struct desk desk;

    desk_open(&desk);
    desk.options.wait_ns = -1;
    desk.options.handlers = 3;
    CHECK_OK(lbx_courier_start(desk_courier(&desk)));
    EVENTUALLY(shelf_waiting(&desk.shelf) == 3);
    lbx_postbox_close(desk.requests);
    EVENTUALLY(!lbx_courier_is_running(desk.courier));
    CHECK_STATUS(LBX_CLOSED, lbx_courier_start(desk.courier));
    CHECK(!lbx_courier_is_running(desk.courier));
    CHECK_OK(lbx_courier_stop(desk.courier, LBX_FOREVER));
    desk_close(&desk);
}
