/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela's loop beyond test_message_loop.py: stopping and starting again, the end
 * of its system, the end of its messages, lack of memory, many threads at once.
 */
#include "profiles/vela/actor.h"

#include "support/torture.h"
#include <letterbox/compat/vela.h>
#include <limits.h>
#include <string.h>

/* ---- Stopping and starting again ---- */

THREADS_TEST("V-28", stopped_loop_can_be_started_again, 2)
{
    for (int i = 1; i <= 20; i++) {
        actor_start(actor);
        actor_send(actor, i);
        AWAIT(actor, i);
        actor_stop(actor);
        CHECK_STATE(STOPPED, actor);
    }
    CHECK_INT(20, actor->count);
}

THREADS_TEST("V-28", paused_loop_can_be_stopped, 2)
{
    actor_start(actor);
    CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
    actor_send(actor, 1);
    actor_stop(actor);
    CHECK_STATE(STOPPED, actor);
    CHECK_INT(0, actor->count);
    actor_start(actor);
    AWAIT(actor, 1);
}

ACTOR_TEST("V-28", what_is_sent_to_a_stopped_loop_waits_for_the_next_start)
{
    actor_start(actor);
    actor_stop(actor);
    actor_send(actor, 1);
    run(system);
    CHECK_INT(0, actor->count);
    CHECK_INT(1, actor_stats(actor).waiting);
    actor_start(actor);
    run(system);
    CHECK_INT(1, actor->count);
}

/* Where a handler waits until the test lets it go on. */
struct slow {
    struct actor actor;
    lbx_signal *entered;
    lbx_signal *leave;
};

static lbx_status
wait_for_test(struct actor *actor, intptr_t number)
{
    struct slow *slow = (struct slow *)actor;

    if (number != 1)
        return LBX_OK;
    lbx_signal_notify(slow->entered);
    return lbx_signal_wait_until(slow->leave, LBX_FOREVER);
}

static void
slow_create(struct slow *slow, lbx_system *system)
{
    slow->actor.also = wait_for_test;
    CHECK_OK(lbx_signal_create(NULL, NULL, &slow->entered));
    CHECK_OK(lbx_signal_create(NULL, NULL, &slow->leave));
    actor_create(&slow->actor, system);
}

static void
slow_end(struct slow *slow, lbx_system *system)
{
    end(system, &slow->actor);
    lbx_signal_unref(slow->entered);
    lbx_signal_unref(slow->leave);
}

/* A test with such an actor in a system with one thread. */
#define SLOW_TEST(behaviours, name)                                            \
    static void name##_with(struct slow *slow);                                \
    TEST_CITING(behaviours, name)                                              \
    {                                                                          \
        struct slow slow = {0};                                                \
        lbx_system *system = vela_system(1);                                   \
                                                                               \
        slow_create(&slow, system);                                            \
        name##_with(&slow);                                                    \
        slow_end(&slow, system);                                               \
    }                                                                          \
    static void name##_with(struct slow *slow)

/* Theirs says "stopped" when the time is up, whether it is or not. */
SLOW_TEST("V-30", stop_tells_when_the_deadline_was_too_early)
{
    actor_start(&slow->actor);
    actor_send(&slow->actor, 1);
    actor_send(&slow->actor, 2);
    CHECK_OK(lbx_signal_wait_until(slow->entered, LBX_FOREVER));
    CHECK_STATUS(LBX_TIMEOUT, lbx_vela_loop_stop(slow->actor.loop, 0, NULL));
    CHECK_STATE(STOPPING, &slow->actor);
    CHECK_REFUSED("still stopping: stop waits for it",
                  lbx_vela_loop_start(slow->actor.loop, &fault));
    CHECK_REFUSED("not running", lbx_vela_loop_pause(slow->actor.loop, &fault));
    lbx_signal_notify(slow->leave);
    EVENTUALLY(lbx_vela_loop_state_of(slow->actor.loop) ==
               LBX_VELA_LOOP_STOPPED);
    CHECK_INT(1, slow->actor.count); // the other one waits
    CHECK_INT(1, actor_stats(&slow->actor).waiting);
}

static void
stop_it(unsigned index, void *context)
{
    struct slow *slow = context;
    lbx_status status;

    if (index == 0) {
        lbx_signal_notify(slow->leave);
        return;
    }
    status = lbx_vela_loop_stop(slow->actor.loop, LBX_FOREVER, NULL);
    CHECK(status == LBX_OK || status == LBX_INVALID);
    CHECK_STATE(STOPPED, &slow->actor);
}

/* Each of several who wait is told; those who come too late, that it is not
 * running. */
SLOW_TEST("V-28 V-30", one_stop_serves_all_who_wait)
{
    actor_start(&slow->actor);
    actor_send(&slow->actor, 1);
    CHECK_OK(lbx_signal_wait_until(slow->entered, LBX_FOREVER));
    CHECK_STATUS(LBX_TIMEOUT, lbx_vela_loop_stop(slow->actor.loop, 0, NULL));
    threads_run(5, stop_it, slow);
}

static lbx_status
stop_oneself(struct actor *actor, intptr_t number)
{
    if (number == 2)
        CHECK_STATUS(LBX_PENDING,
                     lbx_vela_loop_stop(actor->loop, LBX_FOREVER, NULL));
    return LBX_OK;
}

ACTOR_TEST_WITH("V-28 V-30", handler_can_stop_its_own_loop, 2,
                .also = stop_oneself)
{
    for (int i = 1; i <= 3; i++)
        actor_send(actor, i);
    actor_start(actor);
    EVENTUALLY(lbx_vela_loop_state_of(actor->loop) == LBX_VELA_LOOP_STOPPED);
    CHECK_INT(2, actor->count);
    CHECK_INT(1, actor_stats(actor).waiting);
}

static lbx_status
resume_and_send(struct actor *actor, intptr_t number)
{
    if (number != 1)
        return LBX_OK;
    CHECK_OK(lbx_vela_loop_resume(actor->loop, NULL));
    actor_send(actor, 2);
    return LBX_OK;
}

/* The pump finds the loop in other hands, and is called again by them. */
ACTOR_TEST_WITH("V-19 V-21", resume_during_process_next_loses_nothing, 0,
                .also = resume_and_send)
{
    actor_start(actor);
    CHECK_OK(lbx_vela_loop_pause(actor->loop, NULL));
    actor_send(actor, 1);
    CHECK_OK(lbx_vela_loop_process_next(actor->loop, NULL));
    run(system);
    CHECK_INT(2, actor->count);
}

static void
step(void *context)
{
    struct slow *slow = context;

    CHECK_OK(lbx_vela_loop_process_next(slow->actor.loop, NULL));
}

/* While one thread handles a message, no other does. */
SLOW_TEST("V-21", process_next_excludes_the_pump_and_others)
{
    struct thread stepper;

    actor_send(&slow->actor, 1);
    actor_send(&slow->actor, 2);
    thread_start(&stepper, step, slow);
    CHECK_OK(lbx_signal_wait_until(slow->entered, LBX_FOREVER));
    CHECK_STATUS(LBX_BUSY, lbx_vela_loop_process_next(slow->actor.loop, NULL));
    actor_start(&slow->actor);
    CHECK_STATUS(LBX_BUSY,
                 lbx_vela_loop_deliver(slow->actor.loop, message_of(3), NULL));
    CHECK_STATUS(LBX_TIMEOUT, lbx_vela_loop_stop(slow->actor.loop, 0, NULL));
    lbx_signal_notify(slow->leave);
    thread_join(&stepper);
    EVENTUALLY(lbx_vela_loop_state_of(slow->actor.loop) ==
               LBX_VELA_LOOP_STOPPED);
    CHECK_INT(1, slow->actor.count);
}

/* ---- A system that ends before its loops ---- */

static void
count_stop(lbx_vela_loop *loop, void *context)
{
    ((struct actor *)context)->hook_count++;
    if (lbx_vela_loop_state_of(loop) == LBX_VELA_LOOP_STOPPING)
        CHECK_STATUS(LBX_PENDING, lbx_vela_loop_stop(loop, LBX_FOREVER, NULL));
}

static void
check_terminated(int64_t threads, bool run_first)
{
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(threads);

    actor.options.post_stop = count_stop;
    actor_create(&actor, system);
    actor_start(&actor);
    if (run_first)
        run(system);
    actor_send(&actor, 1);
    CHECK_OK(lbx_system_terminate(system, LBX_FOREVER));
    CHECK_STATE(STOPPED, &actor);
    CHECK_INT(1, actor.hook_count);
    CHECK_INT(1, actor_stats(&actor).waiting + actor_stats(&actor).processed);
    actor_send(&actor, 2);
    CHECK_REFUSED("not running", lbx_vela_loop_stop(actor.loop, 0, &fault));
    CHECK_STATUS(LBX_CLOSED, lbx_vela_loop_start(actor.loop, NULL));
    lbx_vela_loop_destroy(actor.loop);
    lbx_system_destroy(system);
}

TEST_CITING("V-28", system_that_ends_stops_a_fresh_loop)
{
    check_terminated(0, false);
}

TEST_CITING("V-28", system_that_ends_stops_a_loop_at_work)
{
    check_terminated(0, true);
}

TEST_CITING("V-28", system_that_ends_stops_loops_at_any_moment)
{
    long rounds = test_rounds(200, 5000);

    for (long i = 0; i < rounds; i++)
        check_terminated(2, false);
}

/* The loop's actor, which people find by its path. */
static void
find_loop(void *context, const char *line)
{
    char *path = context;
    size_t length = strcspn(line, " ");

    if (strstr(line, " (loop)") && length < 64) {
        memcpy(path, line, length);
        path[length] = 0;
    }
}

/* Somebody stops that actor, with a ring in its mailbox: a stop comes before
 * messages, so that this one is never heard. */
static void
check_taken_away(bool run_first)
{
    struct actor actor = {.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(0);
    char path[64] = "";
    lbx_ref pump;

    actor.options.post_stop = count_stop;
    actor_create(&actor, system);
    actor_start(&actor);
    if (run_first)
        run(system);
    CHECK_OK(lbx_system_print(system, find_loop, path));
    CHECK_OK(lbx_system_find(system, path, &pump));
    actor_send(&actor, 1);
    lbx_ref_stop(pump);
    run(system);
    CHECK_STATE(STOPPED, &actor);
    CHECK_INT(1, actor.hook_count);
    CHECK_INT(0, actor.count);
    actor_start(&actor);
    run(system);
    CHECK_INT(1, actor.count);
    lbx_vela_loop_destroy(actor.loop);
    CHECK_INT(2, actor.hook_count);
    lbx_system_destroy(system);
}

TEST_CITING("V-28", loop_whose_actor_is_stopped_before_it_ran_is_stopped)
{
    check_taken_away(false);
}

TEST_CITING("V-28", loop_whose_actor_is_stopped_with_work_to_do_is_stopped)
{
    check_taken_away(true);
}

static void
deliver(void *context)
{
    struct slow *slow = context;

    CHECK_OK(lbx_vela_loop_deliver(slow->actor.loop, message_of(1), NULL));
}

/* A message that another thread is handling is the last, and then only is
 * post_stop called. */
TEST_CITING("V-34 V-35",
            system_that_ends_waits_for_no_delivery_but_the_loop_does)
{
    struct slow slow = {.actor.options = LBX_VELA_LOOP_OPTIONS_INIT};
    lbx_system *system = vela_system(0);
    struct thread deliverer;

    slow.actor.options.post_stop = count_stop;
    slow_create(&slow, system);
    actor_start(&slow.actor);
    run(system);
    thread_start(&deliverer, deliver, &slow);
    CHECK_OK(lbx_signal_wait_until(slow.entered, LBX_FOREVER));
    CHECK_OK(lbx_system_terminate(system, LBX_FOREVER));
    CHECK_STATE(STOPPING, &slow.actor);
    CHECK_INT(0, slow.actor.hook_count);
    lbx_signal_notify(slow.leave);
    thread_join(&deliverer);
    CHECK_STATE(STOPPED, &slow.actor);
    CHECK_INT(1, slow.actor.hook_count);
    slow_end(&slow, system);
}

/* ---- The end of messages ---- */

struct ends {
    struct actor actor;
    atomic_int ended;
    void *kept;
};

static void
count_end(void *message, void *context)
{
    struct ends *ends = context;

    (void)message;
    atomic_fetch_add(&ends->ended, 1);
}

static lbx_status
keep_five(struct actor *actor, intptr_t number)
{
    if (number == 5)
        ((struct ends *)actor)->kept = lbx_vela_loop_take(actor->loop);
    return LBX_OK;
}

TEST_CITING("V-32", every_message_is_ended_once_unless_it_is_taken)
{
    lbx_mailbox_options box = lbx_vela_mailbox_options();
    struct ends ends = {.actor.options = LBX_VELA_LOOP_OPTIONS_INIT,
                        .actor.also = keep_five};
    lbx_system *system = vela_system(0);

    box.destroy = count_end;
    box.destroy_context = &ends;
    ends.actor.options.mailbox_options = &box;
    actor_create(&ends.actor, system);
    CHECK_PTR(NULL, lbx_vela_loop_take(ends.actor.loop));
    actor_start(&ends.actor);
    actor_send(&ends.actor, 1);
    actor_send(&ends.actor, BAD);
    actor_send(&ends.actor, 5);
    run(system);
    CHECK_INT(2, atomic_load(&ends.ended));
    CHECK_INT(5, number_of(ends.kept));
    CHECK_STATUS(LBX_REFUSED,
                 lbx_vela_loop_deliver(ends.actor.loop, message_of(BAD), NULL));
    CHECK_INT(2, atomic_load(&ends.ended)); // still ours
    CHECK_OK(lbx_vela_loop_deliver(ends.actor.loop, message_of(1), NULL));
    CHECK_INT(3, atomic_load(&ends.ended));
    CHECK_OK(lbx_vela_loop_pause(ends.actor.loop, NULL));
    actor_send(&ends.actor, 7);
    end(system, &ends.actor); // with one that was not received
    CHECK_INT(4, atomic_load(&ends.ended));
}

static void
create_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
    lbx_vela_loop *loop = NULL;
    lbx_status status;

    options.allocator = &allocator;
    status = lbx_vela_loop_create(context, &options, &loop);
    CHECK_STATUS(memory->failures > 0 ? LBX_NO_MEMORY : LBX_OK, status);
    lbx_vela_loop_destroy(loop);
}

TEST_CITING("V-20", create_survives_every_failing_allocation)
{
    lbx_system *system = vela_system(0);

    CHECK(torture_every_allocation(create_once, system) > 0);
    lbx_system_destroy(system);
}

/* Memory that the system lacks: a ring that cannot be sent is made up for by
 * the next, and stopping needs none. */
static void
live_once(struct torture *memory, void *context)
{
    lbx_allocator allocator = torture_allocator(memory);
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    struct actor actor = {0};
    lbx_system *system;

    (void)context;
    options.allocator = &allocator;
    options.threads = 0;
    if (lbx_system_create(&options, &system) != LBX_OK)
        return;
    actor_create(&actor, system);
    while (lbx_vela_loop_start(actor.loop, NULL) != LBX_OK) {
        CHECK(memory->failures > 0);
        CHECK_STATE(IDLE, &actor);
        memory->allowed = LONG_MAX;
    }
    actor_send(&actor, 1);
    run(system);
    if (memory->once && memory->failures > 0 && actor.count == 0) {
        actor_send(&actor, 2);
        run(system);
        CHECK_INT(2, actor.count);
    }
    actor_stop(&actor);
    lbx_vela_loop_destroy(actor.loop);
    lbx_system_destroy(system);
}

TEST_CITING("V-28 V-31", loop_survives_a_system_without_memory)
{
    CHECK(torture_every_allocation(live_once, NULL) > 0);
}

static lbx_status
ignore(lbx_context *context, void *state, void *message)
{
    (void)context;
    (void)state;
    (void)message;
    return LBX_OK;
}

static const lbx_behaviour hoarder = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "hoarder",
    .receive = ignore,
};

/* Another actor has all the memory that there is for messages. */
static void
use_up(struct torture *memory, lbx_ref hoard)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(NULL);
    lbx_status status;

    memory->allowed = memory->allocations;
    do
        status = lbx_try_tell(hoard, &envelope);
    while (status == LBX_OK);
    CHECK_STATUS(LBX_NO_MEMORY, status);
}

TEST_CITING("V-28 V-31", loop_without_memory_for_a_ring_goes_on_and_stops)
{
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_props props = LBX_PROPS_INIT;
    struct actor actor = {0};
    lbx_system *system;
    lbx_ref hoard;

    options.allocator = &allocator;
    options.threads = 0;
    props.behaviour = &hoarder;
    CHECK_OK(lbx_system_create(&options, &system));
    CHECK_OK(lbx_system_spawn(system, &props, NULL, &hoard));
    actor_create(&actor, system);
    actor_start(&actor);
    run(system);
    use_up(&memory, hoard);
    actor_send(&actor, 1); // its ring is lost
    run(system);
    CHECK_INT(0, actor.count);
    actor_send(&actor, 2);
    run(system);
    CHECK_INT(2, actor.count);
    use_up(&memory, hoard);
    actor_stop(&actor);
    CHECK_STATE(STOPPED, &actor);
    end(system, &actor);
    CHECK_INT(0, memory.live_bytes);
}

/* ---- No wake-up is lost ---- */

/* One message at a time, each into a loop that is just falling asleep. */
THREADS_TEST("V-31 R-18", no_single_message_is_left_lying, 2)
{
    long rounds = test_rounds(20000, 500000);

    actor_start(actor);
    for (long i = 1; i <= rounds; i++) {
        actor_send(actor, i);
        AWAIT(actor, i);
    }
}

/* What the movers and senders of the next tests share. */
struct crowd {
    struct actor actor;
    atomic_long sending; /* senders that are not done */
    long each;
    intptr_t next[2]; /* the handler's: what each sender must be at */
};

static lbx_status
check_order(struct actor *actor, intptr_t number)
{
    struct crowd *crowd = (struct crowd *)actor;
    intptr_t sender = number / 1000000;

    CHECK_INT(crowd->next[sender]++, number % 1000000);
    return LBX_OK;
}

/* Refused is fine: another was faster. */
static void
move(lbx_vela_loop *loop, unsigned which)
{
    lbx_status status = LBX_OK;

    switch (which % 5) {
    case 0:
    case 1:
        status = lbx_vela_loop_start(loop, NULL);
        break;
    case 2:
        status = lbx_vela_loop_pause(loop, NULL);
        break;
    case 3:
        status = lbx_vela_loop_resume(loop, NULL);
        break;
    default:
        status = lbx_vela_loop_stop(loop, LBX_FOREVER, NULL);
        break;
    }
    CHECK(status == LBX_OK || status == LBX_INVALID);
}

static void
move_or_send(unsigned index, void *context)
{
    struct crowd *crowd = context;
    unsigned random = index * 7919 + 1;

    if (index < 2) {
        for (long i = 0; i < crowd->each; i++)
            actor_send(&crowd->actor, (intptr_t)index * 1000000 + i);
        atomic_fetch_sub(&crowd->sending, 1);
        return;
    }
    while (atomic_load(&crowd->sending) > 0) {
        random = random * 1103515245 + 12345;
        move(crowd->actor.loop, random >> 16);
        if (index == 4)
            (void)!lbx_vela_loop_process_next(crowd->actor.loop, NULL);
    }
}

/* Everybody moves the loop at once; all is handled, once and in order. */
TEST_CITING("V-21 V-28 V-36", moves_from_many_threads_lose_nothing)
{
    struct crowd crowd = {.actor.options = LBX_VELA_LOOP_OPTIONS_INIT,
                          .actor.also = check_order,
                          .sending = 2,
                          .each = test_rounds(20000, 900000)};
    lbx_system *system = vela_system(2);

    crowd.actor.options.max_throughput = 7;
    actor_create(&crowd.actor, system);
    threads_run(5, move_or_send, &crowd);
    (void)!lbx_vela_loop_start(crowd.actor.loop, NULL);
    (void)!lbx_vela_loop_resume(crowd.actor.loop, NULL);
    CHECK_STATE(RUNNING, &crowd.actor);
    AWAIT(&crowd.actor, 2 * crowd.each);
    CHECK_INT(crowd.each, crowd.next[0]);
    CHECK_INT(crowd.each, crowd.next[1]);
    CHECK_INT(0, actor_stats(&crowd.actor).errors);
    end(system, &crowd.actor);
}
