/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ActorWithStashSpec and ActorWithBoundedStashSpec.
 */
#include "stage.h"

#include <string.h>

enum {
    HELLO = 1,
    WORLD,
    OPEN,
    WRITE,
    CLOSE,
    FAIL,
};

static struct stage stage;

static lbx_ref
begin(const lbx_behaviour *behaviour, const char *settings, struct wish wish)
{
    lbx_props props;
    lbx_ref ref;

    stage_begin(&stage, settings);
    props = stage_props(&stage, wish);
    props.behaviour = behaviour;
    CHECK_OK(lbx_system_spawn(stage.system, &props, "stasher", &ref));
    return ref;
}

static void
note(int number)
{
    stage.received[stage.received_count++] = number;
}

static lbx_status
greet(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    note((int)(intptr_t)message);
    return LBX_OK;
}

static lbx_status
wait_for_world(lbx_context *context, void *state, void *message)
{
    (void)state;
    if ((intptr_t)message == HELLO)
        return lbx_context_stash(context);
    lbx_context_unstash_all(context);
    return lbx_context_become(context, greet);
}

// "stash messages".
TEST_CITING("Stash 1", stashed_greeting_waits_for_the_world)
{
    static const lbx_behaviour behaviour = {sizeof(lbx_behaviour), "greeter",
                                            .receive = wait_for_world};
    lbx_ref ref = begin(&behaviour, NULL, ANY);

    stage_tell(ref, HELLO);
    stage_run(&stage);
    CHECK_INT(0, stage.received_count);
    stage_tell(ref, WORLD);
    CHECK_RECEIVED(&stage, HELLO);
    stage_end(&stage);
}

static lbx_status
while_open(lbx_context *context, void *state, void *message)
{
    (void)state;
    switch ((intptr_t)message) {
    case WRITE:
        note(WRITE);
        return LBX_OK;
    case CLOSE:
        note(CLOSE);
        lbx_context_unstash_all(context);
        lbx_context_unbecome(context);
        return LBX_OK;
    default:
        return lbx_context_stash(context);
    }
}

static lbx_status
while_closed(lbx_context *context, void *state, void *message)
{
    (void)state;
    if ((intptr_t)message != OPEN)
        return lbx_context_stash(context);
    note(OPEN);
    lbx_context_unstash_all(context);
    return lbx_context_become(context, while_open);
}

// "support protocols": whatever comes too early waits until it fits.
TEST_CITING("Stash 2", stash_supports_protocols)
{
    static const lbx_behaviour behaviour = {sizeof(lbx_behaviour), "protocol",
                                            .receive = while_closed};
    static const int script[] = {OPEN,  WRITE, OPEN,  CLOSE,
                                 WRITE, OPEN,  CLOSE, CLOSE};
    lbx_ref ref = begin(&behaviour, NULL, ANY);

    for (size_t i = 0; i < sizeof(script) / sizeof(script[0]); i++)
        stage_tell(ref, script[i]);
    CHECK_RECEIVED(&stage, OPEN, WRITE, CLOSE, OPEN, WRITE, CLOSE, OPEN, CLOSE);
    stage_end(&stage);
    CHECK_INT(0, stage.dead);
}

static lbx_status
stash_twice(lbx_context *context, void *state, void *message)
{
    (void)state;
    (void)message;
    CHECK_OK(lbx_context_stash(context));
    return lbx_context_stash(context);
}

// "throw an IllegalStateException if the same messages is stashed twice": the
// handler fails, and the message is stashed once.
TEST_CITING("Stash 3", stashing_the_same_message_twice_is_an_error)
{
    static const lbx_behaviour behaviour = {sizeof(lbx_behaviour), "twice",
                                            .receive = stash_twice};
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;
    lbx_ref ref = begin(&behaviour, NULL, ANY);

    stage_tell(ref, HELLO);
    // Each restart brings it back, until there have been ten.
    stage_run(&stage);
    CHECK_OK(lbx_system_stats_read(stage.system, &stats));
    CHECK_INT(11, stats.failures);
    CHECK(!lbx_ref_is_alive(ref));
    CHECK_INT(1, stage.dead);
    stage_end(&stage);
}

static lbx_status
crash_once(lbx_context *context, void *state, void *message)
{
    static bool crashed;

    (void)state;
    if ((intptr_t)message == FAIL) {
        crashed = true;
        return LBX_REFUSED;
    }
    if (!crashed)
        return lbx_context_stash(context);
    note((int)(intptr_t)message);
    return LBX_OK;
}

// "process stashed messages after restart".
TEST_CITING("Stash 4", stashed_messages_are_handled_after_a_restart)
{
    static const lbx_behaviour behaviour = {sizeof(lbx_behaviour), "slave",
                                            .receive = crash_once};
    lbx_ref ref = begin(&behaviour, NULL, ANY);

    stage_tell(ref, HELLO);
    stage_tell(ref, WORLD);
    stage_tell(ref, FAIL);
    CHECK_RECEIVED(&stage, HELLO, WORLD);
    stage_end(&stage);
    CHECK_INT(0, stage.dead);
}

static lbx_ref watched;

static lbx_status
hear_twice(lbx_context *context, void *state, void *message)
{
    static bool stashed;

    (void)state;
    if (lbx_context_type(context) == lbx_terminated_type()) {
        CHECK(lbx_ref_equal(watched, lbx_terminated_ref(message)));
        if (!stashed) {
            stashed = true;
            return lbx_context_stash(context);
        }
        note(HELLO);
        return LBX_OK;
    }
    if ((intptr_t)message == WORLD)
        lbx_context_unstash_all(context);
    else
        CHECK_OK(lbx_context_watch(context, watched));
    return LBX_OK;
}

// "re-receive unstashed Terminated messages".
TEST_CITING("Stash 5", unstashed_notice_of_an_end_is_heard_again)
{
    static const lbx_behaviour behaviour = {sizeof(lbx_behaviour), "watcher",
                                            .receive = hear_twice};
    lbx_ref ref = begin(&behaviour, NULL, ANY);

    watched = stage_spawn(&stage, ANY, "watched");
    stage_tell(ref, HELLO);
    stage_run(&stage);
    lbx_ref_stop(watched);
    stage_run(&stage);
    CHECK_INT(0, stage.received_count);
    stage_tell(ref, WORLD);
    CHECK_RECEIVED(&stage, HELLO);
    stage_end(&stage);
}

/* ---- Bounded ---- */

#define BOUNDED                                                                \
    "my-dispatcher {\n"                                                        \
    "  mailbox-type = \"akka.dispatch.BoundedDequeBasedMailbox\"\n"            \
    "  mailbox-capacity = 10, mailbox-push-timeout-time = 500ms\n"             \
    "  stash-capacity = 20\n"                                                  \
    "}\n"                                                                      \
    "my-aliased-dispatcher-1 = my-dispatcher\n"                                \
    "my-aliased-dispatcher-2 = my-aliased-dispatcher-1\n"

static lbx_status
stash_hello(lbx_context *context, void *state, void *message)
{
    (void)state;
    if ((intptr_t)message != HELLO)
        lbx_context_unstash_all(context);
    else if (lbx_context_stash(context) == LBX_FULL)
        note((int)lbx_context_stashed(context));
    return LBX_OK;
}

static const lbx_behaviour stashing = {sizeof(lbx_behaviour), "stashing",
                                       .receive = stash_hello};

static void
tell_hello(lbx_ref ref, int times)
{
    for (int i = 0; i < times; i++) {
        stage_tell(ref, HELLO);
        stage_run(&stage); // the mailbox has room for ten
    }
}

// "end up in DeadLetters in case of a capacity violation": in Akka unstashing
// eleven into a mailbox of ten loses the first at once and ten at the end. Here
// the way back needs no room: none is lost before the end.
TEST_CITING("Stash 6 R-36", unstashing_more_than_the_mailbox_holds)
{
    lbx_ref ref = begin(&stashing, BOUNDED, DISPATCHER("my-dispatcher"));

    tell_hello(ref, 11);
    stage_tell(ref, WORLD);
    stage_run(&stage);
    CHECK_INT(0, stage.dead);
    lbx_tell(ref, lbx_poison_pill());
    stage_run(&stage);
    CHECK_INT(11, stage.dead);
    CHECK(lbx_ref_equal(ref, stage.dead_recipient));
    stage_end(&stage);
}

static void
overflows_at_21(const char *dispatcher)
{
    lbx_ref ref =
        begin(&stashing, BOUNDED, (struct wish){.dispatcher = dispatcher});

    tell_hello(ref, 20);
    CHECK_INT(0, stage.received_count);
    tell_hello(ref, 1);
    CHECK_RECEIVED(&stage, 20); // it was full
    CHECK_INT(0, stage.dead);
    lbx_tell(ref, lbx_poison_pill());
    stage_run(&stage);
    CHECK_INT(20, stage.dead);
    stage_end(&stage);
}

// "throw a StashOverflowException in case of a stash capacity violation".
TEST_CITING("Stash 7", stash_of_twenty_overflows_at_the_next)
{
    overflows_at_21("my-dispatcher");
}

// "get stash capacity from aliased dispatchers".
TEST_CITING("Stash 8", stash_capacity_is_found_through_aliases)
{
    overflows_at_21("my-aliased-dispatcher-1");
    overflows_at_21("my-aliased-dispatcher-2");
}
