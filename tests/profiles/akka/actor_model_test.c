/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ActorModelSpec: what every dispatcher must do, in threads.
 */
#include "stage.h"

#include <pthread.h>
#include <signal.h>

#include "support/threads.h"

enum {
    COUNT = 1,
    WAIT,      /* at the gate */
    FAIL_NOW,  /* the handler fails */
    INTERRUPT, /* a signal comes while it works */
};

static struct {
    struct stage stage;
    lbx_ref self;
    atomic_int inside; /* handlers of one actor, at this moment */
    atomic_uint handled;
    atomic_bool waits;
    atomic_bool open;
    atomic_uint started;
    atomic_uint stopped;
    atomic_uint signals;
    pthread_t thread; /* that ran the actor last */
} model;

static lbx_status
model_start(lbx_context *context, void *state, void *argument)
{
    (void)context;
    (void)state;
    (void)argument;
    atomic_fetch_add(&model.started, 1);
    return LBX_OK;
}

static void
model_stop(lbx_context *context, void *state)
{
    (void)context;
    (void)state;
    atomic_fetch_add(&model.stopped, 1);
}

/* Threads of the library block signals; a handler may let one through. */
static void
interrupt_oneself(void)
{
    sigset_t signals;

    CHECK_INT(0, sigemptyset(&signals));
    CHECK_INT(0, sigaddset(&signals, SIGUSR1));
    CHECK_INT(0, pthread_sigmask(SIG_UNBLOCK, &signals, NULL));
    CHECK_INT(0, pthread_kill(pthread_self(), SIGUSR1));
}

static lbx_status
model_receive(lbx_context *context, void *state, void *message)
{
    lbx_status status = LBX_OK;

    (void)context;
    (void)state;
    CHECK_INT(0, atomic_fetch_add(&model.inside, 1));
    model.thread = pthread_self();
    if ((intptr_t)message == WAIT) {
        atomic_store(&model.waits, true);
        EVENTUALLY(atomic_load(&model.open));
    }
    if ((intptr_t)message == INTERRUPT)
        interrupt_oneself();
    if ((intptr_t)message == FAIL_NOW)
        status = LBX_REFUSED;
    CHECK_INT(1, atomic_fetch_sub(&model.inside, 1));
    atomic_fetch_add(&model.handled, 1);
    return status;
}

static const lbx_behaviour model_behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "model",
    .start = model_start,
    .receive = model_receive,
    .stop = model_stop,
};

static void
model_begin(void)
{
    lbx_props props;

    stage_prepare(&model.stage, NULL);
    model.stage.options.threads = 4;
    stage_open(&model.stage);
    props = stage_props(&model.stage, ANY);
    props.behaviour = &model_behaviour;
    CHECK_OK(
        lbx_system_spawn(model.stage.system, &props, "model", &model.self));
}

static uint64_t
living(void)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    CHECK_OK(lbx_system_stats_read(model.stage.system, &stats));
    return stats.actors;
}

// "process messages one at a time".
TEST_CITING("ActorModelSpec 1 ACTOR-1", one_message_is_handled_at_a_time)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    model_begin();
    stage_tell(model.self, WAIT);
    EVENTUALLY(atomic_load(&model.waits));
    stage_tell(model.self, COUNT); // the handler would see the other inside
    CHECK_OK(lbx_ref_stats_read(model.self, &stats));
    CHECK_INT(1, stats.depth);
    CHECK_INT(0, atomic_load(&model.handled));
    atomic_store(&model.open, true);
    EVENTUALLY(atomic_load(&model.handled) == 2);
    stage_end(&model.stage);
}

static void
count_twenty(unsigned index, void *context)
{
    (void)index;
    (void)context;
    for (int i = 0; i < 20; i++)
        stage_tell(model.self, COUNT);
}

// "handle queueing from multiple threads".
TEST_CITING("ActorModelSpec 2", ten_threads_send_twenty_each)
{
    model_begin();
    threads_run(10, count_twenty, NULL);
    EVENTUALLY(atomic_load(&model.handled) == 200);
    stage_end(&model.stage);
    CHECK_INT(200, atomic_load(&model.handled));
    CHECK_INT(0, model.stage.dead);
}

// "not process messages for a suspended actor".
TEST_CITING("ActorModelSpec 3 R-16",
            suspended_actor_processes_nothing_until_resumed)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;
    lbx_ref other;

    model_begin();
    other = stage_spawn(&model.stage, ANY, "other");
    CHECK_OK(lbx_ref_suspend(model.self));
    for (int i = 0; i < 10; i++)
        stage_tell(model.self, COUNT);
    // Others go on meanwhile; what the suspended one has to say is nothing.
    stage_tell(other, 1);
    lbx_ref_stop(other);
    CHECK_OK(lbx_ref_ended_until(model.stage.system, other, LBX_FOREVER));
    CHECK_INT(0, atomic_load(&model.handled));
    CHECK_OK(lbx_ref_stats_read(model.self, &stats));
    CHECK_INT(10, stats.depth);
    CHECK_OK(lbx_ref_resume(model.self));
    EVENTUALLY(atomic_load(&model.handled) == 10);
    stage_end(&model.stage);
}

static lbx_status
stop_self(lbx_context *context, void *state, void *message)
{
    (void)state;
    (void)message;
    lbx_context_stop(context);
    return LBX_OK;
}

// "handle waves of actors": 10,000, each told something and ended, three times.
TEST_CITING("ActorModelSpec 4", waves_of_ten_thousand_actors)
{
    static const lbx_behaviour behaviour = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "wave",
        .start = model_start,
        .receive = stop_self,
        .stop = model_stop,
    };
    unsigned actors = test_is_sanitized() ? 1000 : 10000;
    lbx_props props;

    model_begin();
    props = stage_props(&model.stage, ANY);
    props.behaviour = &behaviour;
    for (unsigned wave = 1; wave <= 3; wave++) {
        for (unsigned i = 0; i < actors; i++) {
            lbx_ref ref;

            CHECK_OK(lbx_system_spawn(model.stage.system, &props, NULL, &ref));
            stage_tell(ref, COUNT);
        }
        EVENTUALLY(atomic_load(&model.stopped) == wave * actors);
        EVENTUALLY(living() == 1);
    }
    CHECK_INT(0, model.stage.dead);
    stage_end(&model.stage);
    CHECK_INT(3 * actors + 1, atomic_load(&model.started));
    CHECK_INT(3 * actors + 1, atomic_load(&model.stopped));
}

static void
hear_signal(int number)
{
    (void)number;
    atomic_fetch_add(&model.signals, 1);
}

static void
listen_for_signals(void)
{
    // No SA_RESTART: whatever waits is interrupted.
    struct sigaction action = {.sa_handler = hear_signal};

    CHECK_INT(0, sigaction(SIGUSR1, &action, NULL));
}

// "continue to process messages when a thread gets interrupted": while it
// handles one, and while it sleeps.
TEST_CITING("ActorModelSpec 5", interrupted_threads_go_on)
{
    listen_for_signals();
    model_begin();
    for (unsigned i = 1; i <= 50; i++) {
        stage_tell(model.self, INTERRUPT);
        stage_tell(model.self, COUNT);
        EVENTUALLY(atomic_load(&model.handled) == 2 * i);
        CHECK_INT(0, pthread_kill(model.thread, SIGUSR1));
    }
    EVENTUALLY(atomic_load(&model.signals) >= 51);
    stage_tell(model.self, COUNT);
    EVENTUALLY(atomic_load(&model.handled) == 101);
    stage_end(&model.stage);
    CHECK_INT(0, model.stage.dead);
}

// "continue to process messages when exception is thrown".
TEST_CITING("ActorModelSpec 6 ACTOR-5", failures_do_not_stop_the_others)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    model_begin();
    for (int i = 0; i < 8; i++) {
        stage_tell(model.self, COUNT);
        stage_tell(model.self, FAIL_NOW);
    }
    stage_tell(model.self, COUNT);
    EVENTUALLY(atomic_load(&model.handled) == 17);
    EVENTUALLY(atomic_load(&model.started) == 9); // and eight restarts
    CHECK_OK(lbx_system_stats_read(model.stage.system, &stats));
    CHECK_INT(8, stats.failures);
    stage_end(&model.stage);
    CHECK_INT(9, atomic_load(&model.stopped));
    CHECK_INT(0, model.stage.dead);
}

static void
stop_it(unsigned index, void *context)
{
    lbx_ref ref = *(lbx_ref *)context;

    if (index % 2 == 0)
        lbx_ref_stop(ref);
    else
        lbx_tell(ref, lbx_poison_pill());
}

// "not double-deregister": however often it is stopped, it ends once.
TEST_CITING("ActorModelSpec 7 ACTOR-11", actor_is_deregistered_once)
{
    long rounds = test_rounds(200, 2000);
    lbx_props props;

    model_begin();
    props = stage_props(&model.stage, ANY);
    props.behaviour = &model_behaviour;
    for (long i = 0; i < rounds; i++) {
        lbx_ref ref;

        // Its name is free when its parent has let it go.
        EVENTUALLY(lbx_system_spawn(model.stage.system, &props, "one", &ref) ==
                   LBX_OK);
        stage_tell(ref, FAIL_NOW); // one more way to end
        threads_run(4, stop_it, &ref);
        CHECK_OK(lbx_ref_ended_until(model.stage.system, ref, LBX_FOREVER));
        EVENTUALLY(living() == 1);
        CHECK_STATUS(LBX_NOT_FOUND,
                     lbx_system_find(model.stage.system, "/user/one", &ref));
    }
    stage_end(&model.stage);
    CHECK_INT(atomic_load(&model.started), atomic_load(&model.stopped));
}
