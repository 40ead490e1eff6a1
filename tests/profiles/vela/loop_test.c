/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela: test_message_loop.py, the loop itself; its actors are in actor_test.c.
 *
 * Theirs waits by sleeping and so can only hope that "nothing was processed
 * while paused" is more than "not yet". Here a system without threads shows it:
 * when run() returns, no loop has anything left to do.
 */
#include "profiles/vela/actor.h"
#include <letterbox/compat/vela.h>

#include <string.h>

TEST_CITING("V-28", loop_states_exist)
{
    CHECK_STR("idle", lbx_vela_loop_state_name(LBX_VELA_LOOP_IDLE));
    CHECK_STR("running", lbx_vela_loop_state_name(LBX_VELA_LOOP_RUNNING));
    CHECK_STR("paused", lbx_vela_loop_state_name(LBX_VELA_LOOP_PAUSED));
    CHECK_STR("stopping", lbx_vela_loop_state_name(LBX_VELA_LOOP_STOPPING));
    CHECK_STR("stopped", lbx_vela_loop_state_name(LBX_VELA_LOOP_STOPPED));
    CHECK_STR("?", lbx_vela_loop_state_name((lbx_vela_loop_state)5));
}

/* Their processor cannot be made without its two methods. Here either may be
 * left out, and the loop knows what to do. */
TEST_CITING("V-19 V-32", loop_without_a_processor_processes)
{
    lbx_system *system = vela_system(0);
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;
    lbx_vela_loop *loop;

    CHECK_OK(lbx_vela_loop_create(system, NULL, &loop));
    CHECK_OK(lbx_vela_loop_send(loop, NULL));
    CHECK_OK(lbx_vela_loop_start(loop, NULL));
    run(system);
    CHECK_OK(lbx_vela_loop_stats_read(loop, &stats));
    CHECK_INT(1, stats.processed);
    lbx_vela_loop_destroy(loop);
    lbx_system_destroy(system);
}

static lbx_status
fail_always(lbx_vela_loop *loop, void *context, void *message)
{
    (void)loop;
    (void)context;
    (void)message;
    return LBX_REFUSED;
}

TEST_CITING("V-32", loop_without_handle_error_counts_and_goes_on)
{
    lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
    lbx_system *system = vela_system(0);
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;
    lbx_vela_loop *loop;

    options.receive = fail_always;
    CHECK_OK(lbx_vela_loop_create(system, &options, &loop));
    CHECK_OK(lbx_vela_loop_send(loop, NULL));
    CHECK_OK(lbx_vela_loop_send(loop, NULL));
    CHECK_OK(lbx_vela_loop_start(loop, NULL));
    run(system);
    CHECK_OK(lbx_vela_loop_stats_read(loop, &stats));
    CHECK_INT(2, stats.errors);
    CHECK_INT(0, stats.processed);
    lbx_vela_loop_destroy(loop);
    lbx_system_destroy(system);
}

ACTOR_TEST("V-32", both_methods_of_the_processor_are_called)
{
    actor_send(actor, 4);
    actor_send(actor, BAD);
    actor_start(actor);
    run(system);
    CHECK_INT(1, actor->count);
    CHECK_INT(1, actor->bad);
    CHECK_STATUS(LBX_REFUSED, actor->error);
    CHECK_INT(BAD, actor->bad_number);
}

ACTOR_TEST("V-28 V-33", loop_initialization)
{
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;

    stats = actor_stats(actor);
    CHECK_INT(LBX_VELA_LOOP_IDLE, stats.state);
    CHECK_STR("idle", stats.state_name);
    CHECK_INT(0, stats.processed);
    CHECK_INT(0, stats.errors);
    CHECK_INT(0, stats.cycles);
    CHECK_INT(0, stats.average_ns);
    CHECK_INT(0, stats.waiting);
}

THREADS_TEST("V-28", loop_start, 2)
{
    actor_start(actor);
    CHECK_STATE(RUNNING, actor);
}

THREADS_TEST("V-29", start_while_running_is_refused, 2)
{
    actor_start(actor);
    CHECK_REFUSED("already running", lbx_vela_loop_start(actor->loop, &fault));
    CHECK_STATE(RUNNING, actor);
}

ACTOR_TEST("V-29", start_while_paused_is_told_to_resume)
{
    actor_start(actor);
    CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
    CHECK_REFUSED("paused: resume it instead",
                  lbx_vela_loop_start(actor->loop, &fault));
    CHECK_STATE(PAUSED, actor);
}

THREADS_TEST("V-28", loop_stop, 2)
{
    actor_start(actor);
    actor_stop(actor);
    CHECK_STATE(STOPPED, actor);
}

ACTOR_TEST("V-29", stop_of_a_loop_that_is_not_running_is_refused)
{
    CHECK_REFUSED("not running", lbx_vela_loop_stop(actor->loop, 0, &fault));
    CHECK_STATE(IDLE, actor);
    actor_start(actor);
    actor_stop(actor);
    CHECK_REFUSED("not running", lbx_vela_loop_stop(actor->loop, 0, &fault));
    CHECK_STATE(STOPPED, actor);
}

ACTOR_TEST("V-29", pause_and_resume_out_of_turn_are_refused)
{
    CHECK_REFUSED("not running", lbx_vela_loop_pause(actor->loop, &fault));
    CHECK_REFUSED("not paused", lbx_vela_loop_resume(actor->loop, &fault));
    actor_start(actor);
    CHECK_REFUSED("not paused", lbx_vela_loop_resume(actor->loop, &fault));
    CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
    CHECK_REFUSED("not running", lbx_vela_loop_pause(actor->loop, &fault));
    CHECK_OK(lbx_vela_loop_resume(actor->loop, NULL));
    actor_stop(actor);
    CHECK_REFUSED("not running", lbx_vela_loop_pause(actor->loop, &fault));
    CHECK_REFUSED("not paused", lbx_vela_loop_resume(actor->loop, &fault));
}

THREADS_TEST("V-21 V-33", loop_processes_messages_from_its_mailbox, 2)
{
    for (int i = 1; i <= 3; i++)
        actor_send(actor, i);
    actor_start(actor);
    AWAIT(actor, 3);
    for (int i = 1; i <= 3; i++)
        CHECK_INT(i, actor->got[i - 1]);
    CHECK_INT(3, actor_stats(actor).processed);
}

THREADS_TEST("V-21 V-36", loop_processes_in_sequence, 2)
{
    actor_start(actor);
    for (int i = 0; i < 10; i++)
        actor_send(actor, i);
    AWAIT(actor, 10);
    for (int i = 0; i < 10; i++)
        CHECK_INT(i, actor->got[i]);
}

THREADS_TEST("V-22 R-11", loop_processes_null_messages, 2)
{
    actor_start(actor);
    for (int i = 0; i < 3; i++)
        actor_send(actor, 0);
    AWAIT(actor, 3);
    CHECK_INT(3, actor->count);
}

THREADS_TEST("V-21 V-32 R-19", loop_goes_on_after_an_error, 2)
{
    actor_start(actor);
    actor_send(actor, 1);
    actor_send(actor, BAD);
    actor_send(actor, 2);
    AWAIT(actor, 2);
    CHECK_INT(2, actor_stats(actor).processed);
    CHECK_INT(1, actor_stats(actor).errors);
    CHECK_INT(1, actor->bad);
    CHECK_STATE(RUNNING, actor);
}

ACTOR_TEST_WITH("V-32", an_error_in_handle_error_is_another_error, 0,
                .error_answer = LBX_NO_MEMORY)
{
    actor_start(actor);
    actor_send(actor, BAD);
    actor_send(actor, 1);
    run(system);
    CHECK_INT(2, actor_stats(actor).errors);
    CHECK_INT(1, actor_stats(actor).processed);
    CHECK_STATE(RUNNING, actor);
}

TEST_CITING("V-30 V-31", max_throughput_bounds_a_cycle)
{
    lbx_system_options one_by_one = LBX_SYSTEM_OPTIONS_INIT;
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system;

    one_by_one.threads = 0;
    one_by_one.throughput = 1; // cycles in a turn
    CHECK_OK(lbx_system_create(&one_by_one, &system));
    actor.options.max_throughput = 5;
    actor_create(&actor, system);
    for (int i = 0; i < 20; i++)
        actor_send(&actor, i);
    actor_start(&actor);
    CHECK_OK(lbx_system_run(system, 1, NULL));
    CHECK_INT(5, actor.count);
    run(system);
    CHECK_INT(20, actor_stats(&actor).processed);
    CHECK_INT(4, actor_stats(&actor).cycles);
    end(system, &actor);
}

ACTOR_TEST("V-30 V-31", without_max_throughput_one_cycle_empties_the_mailbox)
{
    for (int i = 0; i < 20; i++)
        actor_send(actor, i);
    actor_start(actor);
    run(system);
    CHECK_INT(20, actor_stats(actor).processed);
    CHECK_INT(1, actor_stats(actor).cycles);
}

TEST_CITING("V-30", options_are_checked)
{
    lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
    lbx_system *system = vela_system(0);
    lbx_fault fault = {LBX_OK, ""};
    lbx_vela_loop *loop = NULL;

    options.fault = &fault;
    options.max_throughput = 0;
    CHECK_STATUS(LBX_INVALID, lbx_vela_loop_create(system, &options, &loop));
    CHECK(strstr(fault.text, "max_throughput") != NULL);
    options.max_throughput = LBX_UNLIMITED;
    options.idle_sleep_ms = -1;
    CHECK_STATUS(LBX_INVALID, lbx_vela_loop_create(system, &options, &loop));
    CHECK(strstr(fault.text, "idle_sleep_ms") != NULL);
    options.idle_sleep_ms = 0;
    options.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID, lbx_vela_loop_create(system, &options, &loop));
    options.size_bytes = sizeof(lbx_vela_loop_options);
    CHECK_STATUS(LBX_INVALID, lbx_vela_loop_create(NULL, &options, &loop));
    CHECK_STATUS(LBX_INVALID, lbx_vela_loop_create(system, &options, NULL));
    CHECK_PTR(NULL, loop);
    lbx_vela_loop_destroy(NULL);
    lbx_system_destroy(system);
}

ACTOR_TEST("V-28 V-31 R-16", pause_and_resume)
{
    actor_start(actor);
    run(system);
    CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
    actor_send(actor, 1);
    actor_send(actor, 2);
    run(system);
    CHECK_INT(0, actor->count);
    CHECK_INT(2, actor_stats(actor).waiting);
    CHECK_STATE(PAUSED, actor);
    CHECK_OK(lbx_vela_loop_resume(actor->loop, NULL));
    run(system);
    CHECK_INT(2, actor->count);
    CHECK_INT(0, actor_stats(actor).waiting);
}

/* With threads: a handler must not see what was sent after the pause before
 * the test allows it, whatever the pump was doing. */
struct guarded {
    struct actor actor;
    atomic_bool closed;
};

static lbx_status
check_open(struct actor *actor, intptr_t number)
{
    (void)number;
    CHECK(!atomic_load(&((struct guarded *)actor)->closed));
    return LBX_OK;
}

TEST_CITING("V-31", nothing_sent_after_a_pause_is_handled_before_resume)
{
    struct guarded guarded = {.actor.also = check_open};
    lbx_system *system = vela_system(2);
    long rounds = test_rounds(2000, 20000);

    actor_create(&guarded.actor, system);
    actor_start(&guarded.actor);
    for (long i = 0; i < rounds; i++) {
        actor_send(&guarded.actor, 1);
        AWAIT(&guarded.actor, 2 * i + 1); // the cycle may not be over
        CHECK_OK(lbx_vela_loop_pause(guarded.actor.loop, NULL));
        atomic_store(&guarded.closed, true);
        actor_send(&guarded.actor, 2);
        CHECK_INT(2 * i + 1, actor_stats(&guarded.actor).processed);
        atomic_store(&guarded.closed, false);
        CHECK_OK(lbx_vela_loop_resume(guarded.actor.loop, NULL));
        AWAIT(&guarded.actor, 2 * i + 2);
    }
    end(system, &guarded.actor);
}

static void
pause_at_take(void *context, const lbx_metric_event *event)
{
    struct actor *actor = context;

    if (event->metric == LBX_METRIC_DEQUEUED && actor->count == 1)
        CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
}

/* A pause that comes between taking and handling: the message is kept, and is
 * the first when the loop goes on. */
ACTOR_TEST("V-31", message_taken_while_pausing_waits_and_is_first)
{
    lbx_metrics_sink sink = {pause_at_take, actor};

    CHECK_OK(lbx_mailbox_set_metrics_sink(
        lbx_producer_mailbox(lbx_vela_loop_producer(actor->loop)), &sink));
    for (int i = 0; i < 4; i++)
        actor_send(actor, i);
    actor_start(actor);
    run(system);
    CHECK_STATE(PAUSED, actor);
    CHECK_INT(1, actor->count);
    CHECK_INT(3, actor_stats(actor).waiting);
    CHECK_OK(lbx_vela_loop_process_next(actor->loop, NULL));
    CHECK_INT(1, actor->got[1]);
    CHECK_OK(lbx_vela_loop_resume(actor->loop, NULL));
    run(system);
    CHECK_INT(4, actor->count);
    CHECK_INT(3, actor->got[3]);
}

TEST_CITING("V-33", metrics)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(0);
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;

    actor.options.clock = &clock;
    actor_create(&actor, system);
    actor_send(&actor, 1);
    actor_send(&actor, BAD);
    actor_send(&actor, 2);
    actor_start(&actor);
    run(system);
    stats = actor_stats(&actor);
    CHECK_INT(2, stats.processed);
    CHECK_INT(1, stats.errors);
    CHECK_INT(1, stats.cycles);
    CHECK_INT(0, stats.average_ns); // no time has passed
    CHECK_STR("running", stats.state_name);
    CHECK_OK(lbx_vela_loop_pause(actor.loop, NULL));
    CHECK_STR("paused", actor_stats(&actor).state_name);
    end(system, &actor);
}

struct timed {
    struct actor actor;
    struct test_clock time;
};

/* Each message says how many milliseconds it takes. */
static lbx_status
take_time(lbx_vela_loop *loop, void *context, void *message)
{
    struct timed *timed = context;

    (void)loop;
    test_clock_advance(&timed->time, number_of(message) * LBX_MS);
    return number_of(message) == 50 ? LBX_REFUSED : LBX_OK;
}

TEST_CITING("V-32 V-33", average_time_counts_failures_too)
{
    struct timed timed = {.actor.options = LBX_VELA_LOOP_OPTIONS_INIT,
                          .time = TEST_CLOCK_INIT};
    lbx_clock clock = test_clock_interface(&timed.time);
    lbx_system *system = vela_system(0);

    timed.actor.options.receive = take_time;
    timed.actor.options.clock = &clock;
    actor_create(&timed.actor, system);
    actor_send(&timed.actor, 10);
    actor_send(&timed.actor, 50);
    actor_send(&timed.actor, 30);
    actor_start(&timed.actor);
    run(system);
    CHECK_INT(90 * LBX_MS, actor_stats(&timed.actor).total_ns);
    CHECK_INT(30 * LBX_MS, actor_stats(&timed.actor).average_ns);
    end(system, &timed.actor);
}

/* ---- More than one ---- */

TEST_CITING("V-09 V-31", bounded_mailbox_of_five_with_ten_sends)
{
    lbx_mailbox_options box = lbx_vela_mailbox_options();
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(2);

    box.capacity_messages = 5;
    actor.options.mailbox = LBX_KIND_BOUNDED;
    actor.options.mailbox_options = &box;
    actor_create(&actor, system);
    for (int i = 0; i < 10; i++)
        CHECK_STATUS(i < 5 ? LBX_OK : LBX_FULL,
                     lbx_vela_loop_send(actor.loop, message_of(i)));
    actor_start(&actor);
    AWAIT(&actor, 5);
    actor_stop(&actor);
    CHECK_INT(5, actor_stats(&actor).processed);
    end(system, &actor);
}

TEST_CITING("V-20", five_actors_with_ten_messages_each)
{
    enum {
        ACTORS = 5
    };
    static struct actor actors[ACTORS];
    lbx_system *system = vela_system(2);

    for (int i = 0; i < ACTORS; i++) {
        actor_create(&actors[i], system);
        actor_start(&actors[i]);
    }
    for (int message = 0; message < 10; message++) {
        for (int i = 0; i < ACTORS; i++)
            actor_send(&actors[i], i * 10 + message);
    }
    for (int i = 0; i < ACTORS; i++) {
        AWAIT(&actors[i], 10);
        for (int message = 0; message < 10; message++)
            CHECK_INT(i * 10 + message, actors[i].got[message]);
        lbx_vela_loop_destroy(actors[i].loop);
    }
    lbx_system_destroy(system);
}

static void
send_twenty(unsigned index, void *context)
{
    for (int i = 0; i < 20; i++)
        actor_send(context, (intptr_t)index * 100 + i);
}

THREADS_TEST("V-01 V-21", five_threads_with_twenty_messages_each, 2)
{
    actor_start(actor);
    threads_run(5, send_twenty, actor);
    AWAIT(actor, 100);
    CHECK_INT(100, actor->count);
}

THREADS_TEST("V-36", high_throughput, 2)
{
    actor_start(actor);
    for (int i = 0; i < 1000; i++)
        actor_send(actor, i);
    AWAIT(actor, 1000);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(i, actor->got[i]);
}
