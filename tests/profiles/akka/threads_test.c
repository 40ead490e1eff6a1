/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of dispatchers: one for each actor on a pinned
 * one; those that have no actors end after the dispatcher's shutdown-timeout.
 */
#include "stage.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/threads.h"

static const char conf[] =
    "pinned { type = PinnedDispatcher, shutdown-timeout = 0s }\n"
    "lingers { type = akka.dispatch.PinnedDispatcherConfigurator\n"
    "  shutdown-timeout = 1h }\n"
    "pool { executor = thread-pool-executor, shutdown-timeout = 0s\n"
    "  thread-pool-executor.fixed-pool-size = 2 }\n";

enum {
    MOST = 8
};

static pthread_key_t key; // its destructor tells that a thread has ended
static _Atomic int ended;
static _Thread_local int mark;

static struct {
    _Atomic int handled;
    pthread_t thread;
    int marked; // by whom, before
} seen[MOST];

static bool shared; // numbers are used by several at a time

static void
thread_ends(void *value)
{
    (void)value;
    ended++;
}

static lbx_status
look(lbx_context *context, void *state, void *message)
{
    intptr_t number = (intptr_t)message;

    (void)context;
    (void)state;
    CHECK(pthread_setspecific(key, &key) == 0);
    if (shared) {
        seen[number].handled++;
        return LBX_OK;
    }
    seen[number].thread = pthread_self();
    seen[number].marked = mark;
    mark = (int)number;
    seen[number].handled++;
    return LBX_OK;
}

static const lbx_behaviour looking = {sizeof(lbx_behaviour), "looking",
                                      .receive = look};

static void
begin(struct stage *stage)
{
    CHECK(pthread_key_create(&key, thread_ends) == 0);
    stage_prepare(stage, conf);
    stage->options.threads = 1;
    stage_open(stage);
}

static lbx_ref
put(struct stage *stage, const char *dispatcher, intptr_t number)
{
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref ref;

    props.behaviour = &looking;
    props.dispatcher = dispatcher;
    CHECK_OK(lbx_system_spawn(stage->system, &props, NULL, &ref));
    lbx_tell(ref, (void *)number);
    EVENTUALLY(seen[number].handled == 1);
    return ref;
}

static void
end(lbx_ref ref)
{
    lbx_ref_stop(ref);
    EVENTUALLY(!lbx_ref_is_alive(ref));
}

static uint64_t
dead_letters(const struct stage *stage)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    CHECK_OK(lbx_system_stats_read(stage->system, &stats));
    return stats.dead_letters;
}

STAGE_TEST("", each_pinned_actor_has_a_thread)
{
    begin(stage);
    (void)put(stage, "pinned", 1);
    (void)put(stage, "pinned", 2);
    (void)put(stage, NULL, 3);
    CHECK(!pthread_equal(seen[1].thread, seen[2].thread));
    CHECK(!pthread_equal(seen[1].thread, seen[3].thread));
    CHECK(!pthread_equal(seen[2].thread, seen[3].thread));
}

// A held-up pinned actor holds up no other of its dispatcher's.
static _Atomic bool open;

static lbx_status
hold(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    EVENTUALLY(open);
    return LBX_OK;
}

STAGE_TEST("", pinned_actors_do_not_wait_for_each_other)
{
    static const lbx_behaviour holding = {sizeof(lbx_behaviour), "holding",
                                          .receive = hold};
    lbx_props props = LBX_PROPS_INIT;
    lbx_ref held;

    begin(stage);
    props.behaviour = &holding;
    props.dispatcher = "pinned";
    CHECK_OK(lbx_system_spawn(stage->system, &props, NULL, &held));
    stage_tell(held, 1);
    (void)put(stage, "pinned", 1);
    open = true;
}

TEST(thread_of_a_pinned_actor_ends_with_it)
{
    struct stage stage;
    lbx_ref ref;

    begin(&stage);
    ref = put(&stage, "pinned", 1);
    (void)put(&stage, "pinned", 2);
    end(ref);
    EVENTUALLY(ended == 1);
    // What comes for the dead is buried by others.
    stage_tell(ref, 1);
    EVENTUALLY(dead_letters(&stage) == 1);
    (void)put(&stage, "pinned", 3);
    CHECK_INT(1, ended);
    stage_end(&stage);
    CHECK_INT(3, ended);
}

// With a shutdown-timeout the thread waits for another actor.
TEST(thread_of_a_pinned_actor_lingers_for_the_next)
{
    struct stage stage;

    begin(&stage);
    end(put(&stage, "lingers", 1));
    end(put(&stage, "lingers", 2));
    CHECK_INT(1, seen[2].marked);
    (void)put(&stage, "lingers", 3);
    CHECK_INT(2, seen[3].marked);
    (void)put(&stage, "lingers", 4); // that thread has an actor
    CHECK_INT(0, seen[4].marked);
    CHECK_INT(0, ended);
    stage_end(&stage);
    CHECK_INT(2, ended);
}

// Threads of any dispatcher but the default end when it has no actors, and new
// ones come for the next; numbers are kept.
STAGE_TEST("", dispatchers_without_actors_end_their_threads)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    begin(stage);
    end(put(stage, "pool", 1));
    EVENTUALLY(ended == 1);
    (void)put(stage, "pool", 2);
    CHECK_INT(0, seen[2].marked);
    EVENTUALLY(lbx_system_stats_read(stage->system, &stats) == LBX_OK &&
               stats.handled == 2); // counted when the turn is over
    end(put(stage, NULL, 3));
    CHECK_INT(1, ended); // the default's stay
}

// An actor that could not be made gives its thread back.
TEST(failed_spawn_leaves_its_thread_to_the_next)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    struct stage stage;
    lbx_ref ref;

    begin(&stage);
    end(put(&stage, "lingers", 1));
    options.capacity_messages = -7; // found out when the mailbox is made
    props.behaviour = &looking;
    props.dispatcher = "lingers";
    props.mailbox = "bounded";
    props.mailbox_options = &options;
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_spawn(stage.system, &props, NULL, &ref));
    (void)put(&stage, "lingers", 2);
    CHECK_INT(1, seen[2].marked);
    stage_end(&stage);
    CHECK_INT(1, ended);
}

static void
come_and_go(unsigned index, void *context)
{
    static const char *const dispatchers[] = {"pinned", "pool", "lingers"};
    lbx_props props = LBX_PROPS_INIT;
    struct stage *stage = context;

    props.behaviour = &looking;
    for (unsigned i = 0; i < 60; i++) {
        lbx_ref ref;

        props.dispatcher = dispatchers[(index + i) % 3];
        CHECK_OK(lbx_system_spawn(stage->system, &props, NULL, &ref));
        if (i % 2)
            lbx_ref_stop(ref);
        lbx_tell(ref, (void *)(intptr_t)index);
        lbx_ref_stop(ref);
    }
}

// Threads come and go while others want them.
STAGE_TEST("A-24", threads_come_and_go_and_nothing_is_lost)
{
    int handled = 0;

    begin(stage);
    shared = true;
    threads_run(4, come_and_go, stage);
    CHECK_OK(lbx_system_terminate(stage->system, LBX_FOREVER));
    for (int i = 0; i < 4; i++)
        handled += seen[i].handled;
    // What came for an actor that had stopped may become a dead letter after
    // the system has terminated.
    EVENTUALLY(handled + (int)dead_letters(stage) >= 4 * 60);
    CHECK_INT(4 * 60, handled + (int)dead_letters(stage));
}

// In a system without threads they have none either, and share.
STAGE_TEST("", pinned_actors_of_a_system_without_threads_have_none)
{
    lbx_ref refs[2];

    stage_begin(stage, conf);
    for (int i = 0; i < 2; i++) {
        refs[i] = stage_spawn(stage, DISPATCHER("pinned"), NULL);
        stage_tell(refs[i], i);
    }
    CHECK_RECEIVED(stage, 0, 1);
    lbx_ref_stop(refs[0]);
    stage_run(stage);
    stage_tell(refs[1], 2);
    CHECK_RECEIVED(stage, 2);
}
