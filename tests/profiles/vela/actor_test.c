/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela: TestActorIntegration of test_mailbox.py (4), and the actors of
 * test_message_loop.py: the adapter (3), ActorWithLoop (5), the counter (6).
 */
#include "profiles/vela/actor.h"
#include <letterbox/compat/vela.h>

#include <stdio.h>
#include <string.h>

/* ---- An actor with a mailbox that is not run ---- */

ACTOR_TEST("V-19 V-20", actor_sends_to_unbounded)
{
    CHECK_OK(lbx_vela_loop_send(actor->loop, message_of(1)));
    CHECK_OK(lbx_vela_loop_send(actor->loop, message_of(2)));
    CHECK_INT(2, actor_stats(actor).waiting);
}

TEST_CITING("V-09 V-19", actor_with_bounded_mailbox_of_two_refuses_the_third)
{
    lbx_mailbox_options box = lbx_vela_mailbox_options();
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(0);

    box.capacity_messages = 2;
    actor.options.mailbox = LBX_KIND_BOUNDED;
    actor.options.mailbox_options = &box;
    actor_create(&actor, system);
    CHECK_OK(lbx_vela_loop_send(actor.loop, message_of(1)));
    CHECK_OK(lbx_vela_loop_send(actor.loop, message_of(2)));
    CHECK_STATUS(LBX_FULL, lbx_vela_loop_send(actor.loop, message_of(3)));
    CHECK_INT(2, actor_stats(&actor).waiting);
    end(system, &actor);
}

ACTOR_TEST("V-19", process_next_handles_one_message)
{
    actor_send(actor, 7);
    CHECK_OK(lbx_vela_loop_process_next(actor->loop, NULL));
    CHECK_INT(1, actor->count);
    CHECK_INT(7, actor->got[0]);
    CHECK_INT(0, actor_stats(actor).waiting);
    CHECK_INT(1, actor_stats(actor).processed);
    CHECK_INT(0, actor_stats(actor).cycles);
}

ACTOR_TEST("V-19", process_next_on_empty_mailbox_handles_none)
{
    CHECK_STATUS(LBX_EMPTY, lbx_vela_loop_process_next(actor->loop, NULL));
    CHECK_INT(0, actor->count);
    CHECK_STATE(IDLE, actor);
}

/* Theirs takes a None for an empty mailbox and loses it. */
ACTOR_TEST("V-19 V-22 R-11", process_next_handles_a_null_message)
{
    actor_send(actor, 0);
    CHECK_OK(lbx_vela_loop_process_next(actor->loop, NULL));
    CHECK_INT(1, actor->count);
    CHECK_STATUS(LBX_EMPTY, lbx_vela_loop_process_next(actor->loop, NULL));
}

ACTOR_TEST("V-19 V-32", process_next_handles_errors_as_the_loop_does)
{
    actor_send(actor, BAD);
    CHECK_OK(lbx_vela_loop_process_next(actor->loop, NULL));
    CHECK_INT(1, actor->bad);
    CHECK_STATUS(LBX_REFUSED, actor->error);
    CHECK_INT(1, actor_stats(actor).errors);
    CHECK_INT(0, actor_stats(actor).processed);
}

/* The state in which a message is stepped through by hand. */
ACTOR_TEST("V-19", process_next_serves_paused_and_stopped_loops)
{
    actor_start(actor);
    CHECK_REFUSED("running: it takes its messages itself",
                  lbx_vela_loop_process_next(actor->loop, &fault));
    CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
    actor_send(actor, 1);
    actor_send(actor, 2);
    run(system);
    CHECK_OK(lbx_vela_loop_process_next(actor->loop, NULL));
    CHECK_INT(1, actor->count);
    actor_stop(actor);
    CHECK_OK(lbx_vela_loop_process_next(actor->loop, NULL));
    CHECK_INT(2, actor->count);
}

struct page {
    char text[64];
};

static void
print_on_page(void *context, const char *text, const void *message)
{
    struct page *page = context;
    size_t used = strlen(page->text);

    (void)snprintf(page->text + used, sizeof(page->text) - used, "%s%s\n", text,
                   (const char *)message);
}

/* The library never prints: the caller gives the buffer. */
TEST_CITING("V-19", default_receive_prints_what_was_received)
{
    static char task_1[] = "Task 1", task_2[] = "Task 2";
    struct page page = {""};
    lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
    lbx_system *system = vela_system(0);
    lbx_vela_loop *loop;

    options.print = print_on_page;
    options.context = &page;
    CHECK_OK(lbx_vela_loop_create(system, &options, &loop));
    CHECK_OK(lbx_vela_loop_send(loop, task_1));
    CHECK_OK(lbx_vela_loop_send(loop, task_2));
    CHECK_OK(lbx_vela_loop_process_next(loop, NULL));
    CHECK_OK(lbx_vela_loop_process_next(loop, NULL));
    CHECK_STR("Received: Task 1\nReceived: Task 2\n", page.text);
    lbx_vela_loop_destroy(loop);
    lbx_system_destroy(system);
}

/* Without paper there is still an actor, which counts. */
TEST_CITING("V-19", default_receive_without_print_processes)
{
    lbx_system *system = vela_system(0);
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;
    lbx_vela_loop *loop;

    CHECK_OK(lbx_vela_loop_create(system, NULL, &loop));
    CHECK_OK(lbx_vela_loop_send(loop, NULL));
    CHECK_OK(lbx_vela_loop_process_next(loop, NULL));
    CHECK_OK(lbx_vela_loop_stats_read(loop, &stats));
    CHECK_INT(1, stats.processed);
    lbx_vela_loop_destroy(loop);
    lbx_system_destroy(system);
}

static bool
by_number(const void *message, void *context, int32_t *ret)
{
    (void)context;
    *ret = (int32_t)number_of(message);
    return true;
}

/* Any kind will do; the actor's user does not see which. */
TEST_CITING("V-14 V-20", actor_with_priority_mailbox_gets_the_urgent_first)
{
    lbx_mailbox_options box = lbx_vela_mailbox_options();
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(0);

    box.priority = by_number;
    actor.options.mailbox = LBX_KIND_UNBOUNDED_PRIORITY;
    actor.options.mailbox_options = &box;
    actor_create(&actor, system);
    actor_send(&actor, 15);
    actor_send(&actor, 0);
    actor_send(&actor, 5);
    actor_start(&actor);
    run(system);
    CHECK_INT(3, actor.count);
    CHECK_INT(0, actor.got[0]);
    CHECK_INT(5, actor.got[1]);
    CHECK_INT(15, actor.got[2]);
    end(system, &actor);
}

TEST_CITING("V-18", actor_with_an_unknown_kind_is_refused)
{
    lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
    lbx_system *system = vela_system(0);
    lbx_fault fault = {LBX_OK, ""};
    lbx_vela_loop *loop = NULL;

    options.mailbox = "carrier-pigeon";
    options.fault = &fault;
    CHECK_STATUS(LBX_NOT_FOUND, lbx_vela_loop_create(system, &options, &loop));
    CHECK_PTR(NULL, loop);
    CHECK(strstr(fault.text, "carrier-pigeon") != NULL);
    lbx_system_destroy(system);
}

/* ---- The adapter ---- */

ACTOR_TEST("V-34", adapter_delegates_to_the_actor)
{
    actor_start(actor);
    CHECK_OK(lbx_vela_loop_deliver(actor->loop, message_of(5), NULL));
    CHECK_INT(1, actor->count);
    CHECK_INT(5, actor->got[0]);
    CHECK_INT(1, actor_stats(actor).processed);
}

ACTOR_TEST("V-34", adapter_counts_the_error_and_raises_it_again)
{
    lbx_fault fault = {LBX_OK, ""};

    actor_start(actor);
    CHECK_STATUS(LBX_REFUSED,
                 lbx_vela_loop_deliver(actor->loop, message_of(BAD), &fault));
    CHECK_STATUS(LBX_OK, fault.status); // it was delivered
    CHECK_INT(1, actor_stats(actor).errors);
    CHECK_INT(0, actor_stats(actor).processed);
    CHECK_INT(0, actor->bad); // the caller's to handle
    CHECK_STATE(RUNNING, actor);
}

ACTOR_TEST("V-34", adapter_requires_a_running_actor)
{
    CHECK_REFUSED("not running",
                  lbx_vela_loop_deliver(actor->loop, message_of(1), &fault));
    actor_start(actor);
    CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
    CHECK_REFUSED("not running",
                  lbx_vela_loop_deliver(actor->loop, message_of(1), &fault));
    actor_stop(actor);
    CHECK_REFUSED("not running",
                  lbx_vela_loop_deliver(actor->loop, message_of(1), &fault));
    CHECK_INT(0, actor->count);
    CHECK_INT(0, actor_stats(actor).errors);
}

/* What was sent before is handled when the delivery is over. */
static lbx_status
let_the_loop_look(struct actor *actor, intptr_t number)
{
    lbx_fault fault = {LBX_OK, ""};

    if (number != 1)
        return LBX_OK;
    CHECK_STATUS(LBX_BUSY,
                 lbx_vela_loop_deliver(actor->loop, message_of(9), &fault));
    CHECK_STATUS(LBX_BUSY, fault.status);
    CHECK_STR("a message is being handled", fault.text);
    actor_send(actor, 2);
    return LBX_OK;
}

ACTOR_TEST_WITH("V-21 V-34", messages_sent_during_a_delivery_come_after_it, 0,
                .also = let_the_loop_look)
{
    actor_start(actor);
    run(system);
    CHECK_OK(lbx_vela_loop_deliver(actor->loop, message_of(1), NULL));
    CHECK_INT(1, actor->count);
    run(system);
    CHECK_INT(2, actor->count);
    CHECK_INT(2, actor->got[1]);
}

/* ---- An actor with a loop ---- */

static void
note(struct actor *actor, char hook)
{
    CHECK(actor->hook_count + 1 < sizeof(actor->hooks));
    actor->hooks[actor->hook_count++] = hook;
}

/* The letter says which hook; the next, the state it saw. */
static lbx_status
note_pre_start(lbx_vela_loop *loop, void *context)
{
    note(context, 'a');
    note(context, *lbx_vela_loop_state_name(lbx_vela_loop_state_of(loop)));
    return ((struct actor *)context)->error_answer;
}

static lbx_status
note_receive(struct actor *actor, intptr_t number)
{
    (void)number;
    note(actor, 'r');
    note(actor, *lbx_vela_loop_state_name(lbx_vela_loop_state_of(actor->loop)));
    return LBX_OK;
}

static void
note_post_stop(lbx_vela_loop *loop, void *context)
{
    note(context, 'z');
    note(context,
         lbx_vela_loop_state_of(loop) == LBX_VELA_LOOP_STOPPING ? '-' : '?');
}

static struct actor
hooked(void)
{
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT,
                          .also = note_receive};

    actor.options.pre_start = note_pre_start;
    actor.options.post_stop = note_post_stop;
    return actor;
}

TEST_CITING("V-35", actor_initialization)
{
    struct actor actor = hooked();
    lbx_system *system = vela_system(0);

    actor_create(&actor, system);
    CHECK_STATE(IDLE, &actor);
    CHECK_INT(0, actor_stats(&actor).processed);
    CHECK_INT(0, actor_stats(&actor).errors);
    CHECK_STR("", actor.hooks);
    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(lbx_producer_mailbox(
                                 lbx_vela_loop_producer(actor.loop))));
    end(system, &actor);
}

TEST_CITING("V-35", actor_start_calls_pre_start_before_it_is_running)
{
    struct actor actor = hooked();
    lbx_system *system = vela_system(0);

    actor_create(&actor, system);
    actor_send(&actor, 1);
    actor_start(&actor);
    CHECK_STATE(RUNNING, &actor);
    CHECK_STR("ai", actor.hooks);
    run(system);
    CHECK_STR("airr", actor.hooks);
    end(system, &actor);
}

TEST_CITING("V-35", actor_stop_calls_post_stop_before_it_is_stopped)
{
    struct actor actor = hooked();
    lbx_system *system = vela_system(2);

    actor_create(&actor, system);
    actor_start(&actor);
    actor_stop(&actor);
    CHECK_STATE(STOPPED, &actor);
    CHECK_STR("aiz-", actor.hooks);
    end(system, &actor);
}

/* As with any failure, everything is as before. */
TEST_CITING("V-35", actor_whose_pre_start_fails_does_not_start)
{
    struct actor actor = hooked();
    lbx_system *system = vela_system(0);

    actor.error_answer = LBX_NOT_FOUND;
    actor_create(&actor, system);
    CHECK_STATUS(LBX_NOT_FOUND, lbx_vela_loop_start(actor.loop, NULL));
    CHECK_STATE(IDLE, &actor);
    CHECK_STR("ai", actor.hooks);
    actor.error_answer = LBX_OK;
    actor_start(&actor);
    actor_stop(&actor);
    CHECK_STR("aiaiz-", actor.hooks);
    end(system, &actor);
}

TEST_CITING("V-35", actor_of_an_ended_system_does_not_start)
{
    struct actor actor = hooked();
    lbx_system *system = vela_system(0);

    actor_create(&actor, system);
    CHECK_OK(lbx_system_terminate(system, LBX_FOREVER));
    CHECK_STATUS(LBX_CLOSED, lbx_vela_loop_start(actor.loop, NULL));
    CHECK_STATE(IDLE, &actor);
    CHECK_STR("aiz?", actor.hooks); // one for each pre_start
    end(system, &actor);
}

THREADS_TEST("V-19 V-35", actor_sends_and_receives, 2)
{
    actor_start(actor);
    actor_send(actor, 1);
    actor_send(actor, 2);
    AWAIT(actor, 2);
    CHECK_INT(1, actor->got[0]);
    CHECK_INT(2, actor->got[1]);
}

THREADS_TEST("V-33 V-35", actor_get_metrics, 2)
{
    lbx_vela_loop_stats stats = LBX_VELA_LOOP_STATS_INIT;

    actor_start(actor);
    actor_send(actor, 1);
    actor_send(actor, BAD);
    actor_send(actor, 2);
    AWAIT(actor, 2);
    stats = actor_stats(actor);
    CHECK_INT(2, stats.processed);
    CHECK_INT(1, stats.errors);
    CHECK(stats.cycles >= 1);
    CHECK(stats.average_ns >= 0 && stats.total_ns >= stats.average_ns);
    CHECK_STR("running", stats.state_name);
}

/* ---- The counter ---- */

enum {
    INCREMENT = 1000,
    DECREMENT,
    RESET, /* what is smaller is added */
};

struct counter {
    struct actor actor;
    intptr_t count;
};

static lbx_status
count_message(struct actor *actor, intptr_t number)
{
    struct counter *counter = (struct counter *)actor;

    switch (number) {
    case INCREMENT:
        counter->count++;
        return LBX_OK;
    case DECREMENT:
        counter->count--;
        return LBX_OK;
    case RESET:
        counter->count = 0;
        return LBX_OK;
    default:
        counter->count += number;
        return LBX_OK;
    }
}

/* Sends these to a counter that is running and checks what it comes to. */
static void
check_count(intptr_t expected, const int *messages, size_t count)
{
    struct counter counter = {.actor.also = count_message};
    lbx_system *system = vela_system(2);

    actor_create(&counter.actor, system);
    CHECK_INT(0, counter.count);
    actor_start(&counter.actor);
    for (size_t i = 0; i < count; i++)
        actor_send(&counter.actor, messages[i]);
    AWAIT(&counter.actor, count);
    CHECK_INT(expected, counter.count);
    end(system, &counter.actor);
}

#define CHECK_COUNT(expected, ...)                                             \
    check_count(expected, (const int[]){__VA_ARGS__},                          \
                sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

TEST_CITING("V-35", counter_begins_with_zero)
{
    check_count(0, NULL, 0);
}

TEST_CITING("V-35", counter_increments)
{
    CHECK_COUNT(3, INCREMENT, INCREMENT, INCREMENT);
}

TEST_CITING("V-35", counter_decrements)
{
    CHECK_COUNT(1, INCREMENT, INCREMENT, DECREMENT);
}

TEST_CITING("V-35", counter_resets)
{
    CHECK_COUNT(0, INCREMENT, INCREMENT, RESET);
}

TEST_CITING("V-35", counter_adds)
{
    CHECK_COUNT(9, 5, 3, 1);
}

TEST_CITING("V-35", counter_does_all_of_it)
{
    CHECK_COUNT(16, 100, RESET, INCREMENT, 10, INCREMENT, 5, DECREMENT);
}
