/* SPDX-License-Identifier: Apache-2.0 */
/* The receive timeout: a message when nothing else has come for a while. */
#include "actor/fixture.h"

static lbx_status
set_timeout(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    CHECK_OK(
        lbx_context_set_receive_timeout(context, *(const int64_t *)argument));
    return LBX_OK;
}

static int64_t hundred = 100;
static int64_t none = -1;

ACTOR_TEST("", silence_brings_a_timeout_again_and_again)
{
    part_spawn(a);
    bid(a, set_timeout, &hundred);
    CHECK_DIARY(world, "a+");
    CHECK_DIARY_AFTER(world, 99, "");
    CHECK_DIARY_AFTER(world, 1, "a?");
    CHECK_DIARY_AFTER(world, 100, "a?");
    CHECK_INT(1, world_end_count(world)); // timeouts are not destroyed
    CHECK_INT(0, atomic_load(&world->dead_count));
}

ACTOR_TEST("", message_puts_the_timeout_off)
{
    part_spawn(a);
    bid(a, set_timeout, &hundred);
    CHECK_DIARY(world, "a+");
    for (int i = 0; i < 5; i++) {
        test_clock_advance(&world->time, 60);
        lbx_tell(a->self, letter(i));
        (void)world_run(world);
    }
    CHECK_DIARY(world, "a:0 a:1 a:2 a:3 a:4");
    CHECK_DIARY_AFTER(world, 99, "");
    CHECK_DIARY_AFTER(world, 1, "a?");
}

ACTOR_TEST("", negative_timeout_is_no_longer)
{
    part_spawn(a);
    bid(a, set_timeout, &hundred);
    bid(a, set_timeout, &none);
    CHECK_DIARY_AFTER(world, 1000, "a+");
    lbx_tell(a->self, letter(1));
    CHECK_DIARY_AFTER(world, 1000, "a:1");
}

ACTOR_TEST("", new_timeout_replaces_the_old_one)
{
    static int64_t ten = 10;

    part_spawn(a);
    bid(a, set_timeout, &hundred);
    (void)world_run(world);
    bid(a, set_timeout, &ten);
    (void)world_run(world);
    CHECK_DIARY_AFTER(world, 10, "a+ a?");
}

static lbx_status
set_in_start(lbx_context *context, struct part *part)
{
    return set_timeout(context, part, &hundred);
}

ACTOR_TEST("", timeout_may_be_set_in_start)
{
    a->start = set_in_start;
    lbx_tell(part_spawn(a), letter(1));
    CHECK_DIARY(world, "a+ a:1");
    CHECK_DIARY_AFTER(world, 100, "a?");
}

ACTOR_TEST("", timeout_of_an_ended_actor_is_over)
{
    a->start = set_in_start;
    part_spawn(a);
    (void)world_run(world);
    lbx_ref_stop(a->self);
    (void)world_run(world);
    CHECK_DIARY_AFTER(world, 1000, "a+ a-");
    CHECK_INT(0, world_stats(world).dead_letters);
}

ACTOR_TEST("", busy_actor_with_many_messages_gets_one_timeout_afterwards)
{
    a->start = set_in_start;
    a->silent = true;
    part_spawn(a);
    for (int i = 0; i < 500; i++) // many turns
        lbx_tell(a->self, letter(1));
    CHECK_DIARY_AFTER(world, 200, "");
    CHECK_DIARY_AFTER(world, 100, "a?");
    CHECK_STATUS(LBX_INVALID, lbx_context_set_receive_timeout(NULL, 1));
}

static lbx_status
count_down(lbx_context *context, void *state, void *message)
{
    _Atomic int *left = *(_Atomic int **)state;

    (void)message;
    CHECK_PTR(lbx_receive_timeout_type(), lbx_context_type(context));
    if (atomic_fetch_sub(left, 1) == 1)
        CHECK_OK(lbx_context_set_receive_timeout(context, -1));
    return LBX_OK;
}

static lbx_status
begin_countdown(lbx_context *context, void *state, void *argument)
{
    *(void **)state = argument;
    return lbx_context_set_receive_timeout(context, LBX_MS);
}

ACTOR_TEST_THREADS("", timeout_comes_with_threads_too, 1)
{
    static const lbx_behaviour countdown = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "countdown",
        .state_bytes = sizeof(void *),
        .start = begin_countdown,
        .receive = count_down,
    };
    _Atomic int left = 3;

    (void)behaviour_spawn(world, &countdown, &left);
    EVENTUALLY(atomic_load(&left) == 0);
    world_end(world);
    CHECK_INT(0, atomic_load(&left)); // none after it was taken back
}

/* The first message sets the timeout and waits until it has fired: it is then
 * handled in the run that has set it. */
static lbx_status
count_down_late(lbx_context *context, void *state, void *message)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    if (lbx_context_type(context))
        return count_down(context, state, message);
    CHECK_OK(lbx_context_set_receive_timeout(context, LBX_MS));
    while (stats.depth == 0) {
        CHECK_OK(lbx_ref_stats_read(lbx_context_self(context), &stats));
        test_pause(1);
    }
    return LBX_OK;
}

static lbx_status
keep_argument(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(void **)state = argument;
    return LBX_OK;
}

/* IDLE-1. On a slow machine a timeout may pass before the end of the run that
 * has set it. It was then the last one. */
ACTOR_TEST_THREADS("", timeout_that_fires_in_its_run_comes_again, 1)
{
    static const lbx_behaviour countdown = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "countdown",
        .state_bytes = sizeof(void *),
        .start = keep_argument,
        .receive = count_down_late,
    };
    _Atomic int left = 3;

    lbx_tell(behaviour_spawn(world, &countdown, &left), letter(1));
    EVENTUALLY(atomic_load(&left) == 0);
}

static lbx_status
set_no_time(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    (void)argument;
    CHECK_STATUS(LBX_INVALID, lbx_context_set_receive_timeout(context, 0));
    return LBX_OK;
}

/* It would be due again after each timeout, and the actor never idle. */
ACTOR_TEST("", timeout_of_no_time_is_refused)
{
    part_spawn(a);
    bid(a, set_timeout, &hundred);
    bid(a, set_no_time, NULL);
    CHECK_DIARY(world, "a+");
    world_advance(world, 100); // the earlier one stays
    CHECK_DIARY(world, "a?");
}
