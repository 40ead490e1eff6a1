/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: messages for later, once or again and again. */
#include <stdio.h>
#include <stdlib.h>

#include "actor/fixture.h"
#include "support/signals.h"

static lbx_timer
timer_start(struct part *part, int number, int64_t delay_ns, int64_t period_ns)
{
    lbx_envelope envelope = lbx_envelope_of(letter(number), 10);
    lbx_timer timer;

    CHECK_OK(lbx_timer_start(part->world->system, part->self, &envelope,
                             delay_ns, period_ns, &timer));
    CHECK(timer.id != 0);
    return timer;
}

// A test whose untyped messages need no ending, for periodic ones, with an "a".
#define TIMER_TEST(name)                                                       \
    static void name##_here(struct world *world, struct part *a);              \
    ACTOR_TEST_WITH("", name, options.destroy = NULL)                          \
    {                                                                          \
        part_spawn(a);                                                         \
        CHECK_DIARY(world, "a+");                                              \
        name##_here(world, a);                                                 \
    }                                                                          \
    static void name##_here(struct world *world, struct part *a)

ACTOR_TEST("", timer_fires_once_when_due)
{
    part_spawn(a);
    timer_start(a, 1, 100, 0);
    CHECK_DIARY(world, "a+");
    CHECK_DIARY_AFTER(world, 99, "");
    CHECK_DIARY_AFTER(world, 1, "a:1");
    CHECK_DIARY_AFTER(world, 1000, "");
    CHECK_INT(1, atomic_load(&world->ended));
}

TIMER_TEST(timers_fire_in_the_order_they_are_due)
{
    for (int i = 1; i <= 40; i++) // more than there was room for at first
        timer_start(a, i, 1 + (i * 17) % 41, 0);
    for (int i = 1; i <= 40; i++) {
        int number = 1;
        char expected[16];

        while (1 + (number * 17) % 41 != i + 1)
            number++;
        snprintf(expected, sizeof(expected), "a:%d", number);
        world_advance(world, i == 1 ? 2 : 1);
        CHECK_DIARY(world, expected);
    }
}

TIMER_TEST(timer_without_delay_is_due_at_once)
{
    timer_start(a, 1, 0, 0);
    CHECK_DIARY(world, "a:1");
}

TIMER_TEST(periodic_timer_fires_again_and_again)
{
    lbx_timer timer;

    timer = timer_start(a, 1, 50, 100);
    CHECK_DIARY_AFTER(world, 50, "a:1");
    CHECK_DIARY_AFTER(world, 99, "");
    CHECK_DIARY_AFTER(world, 1, "a:1");
    world_advance(world, 1000); // what was missed is not made up for
    CHECK_DIARY(world, "a:1");
    CHECK_DIARY_AFTER(world, 100, "a:1");
    CHECK(lbx_timer_cancel(world->system, timer));
    CHECK_DIARY_AFTER(world, 1000, "");
}

/* It would be due at once, and not be missed: the period after it counts. */
TIMER_TEST(periodic_timer_skips_a_period_that_ends_now)
{
    timer_start(a, 1, 50, 100);
    CHECK_DIARY_AFTER(world, 150, "a:1");
    CHECK_DIARY_AFTER(world, 99, "");
    CHECK_DIARY_AFTER(world, 1, "a:1");
}

ACTOR_TEST("", cancelled_timer_never_fires)
{
    lbx_timer timer;

    part_spawn(a);
    timer = timer_start(a, 1, 100, 0);
    CHECK(lbx_timer_cancel(world->system, timer));
    CHECK_INT(1, atomic_load(&world->ended)); // its message is ended at once
    CHECK(!lbx_timer_cancel(world->system, timer));
    CHECK_DIARY_AFTER(world, 1000, "a+");
    CHECK_INT(0, atomic_load(&world->dead_count));
    CHECK_INT(1, world_end_count(world));
}

TIMER_TEST(cancel_from_the_middle_keeps_the_others_in_order)
{
    lbx_timer timers[30];

    for (int i = 0; i < 30; i++)
        timers[i] = timer_start(a, i, 10 + (i * 7) % 29, 0);
    for (int i = 0; i < 30; i++)
        if (i % 5 != 0)
            CHECK(lbx_timer_cancel(world->system, timers[i]));
    CHECK_DIARY_AFTER(world, 100, "a:0 a:25 a:5 a:10 a:15 a:20");
}

TIMER_TEST(stale_name_finds_nothing)
{
    lbx_timer old;
    lbx_timer fresh;

    old = timer_start(a, 1, 100, 0);
    CHECK_DIARY_AFTER(world, 100, "a:1");
    fresh = timer_start(a, 2, 100, 0); // in the place of the first
    CHECK(old.id != fresh.id);
    CHECK(!lbx_timer_cancel(world->system, old));
    CHECK(!lbx_timer_cancel(world->system, (lbx_timer){0}));
    CHECK(!lbx_timer_cancel(world->system, (lbx_timer){UINT64_MAX}));
    CHECK(!lbx_timer_cancel(NULL, fresh));
    CHECK_DIARY_AFTER(world, 100, "a:2");
}

ACTOR_TEST("", timer_for_an_ended_actor_makes_one_dead_letter)
{
    part_spawn(a);
    timer_start(a, 1, 100, 0);
    lbx_ref_stop(a->self);
    (void)world_run(world);
    world_advance(world, 100);
    CHECK_INT(1, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 1, LBX_LOSS_NO_ACTOR);
    CHECK_INT(1, atomic_load(&world->ended));
}

ACTOR_TEST("", pending_timers_end_their_messages_with_the_system)
{
    part_spawn(a);
    for (int i = 0; i < 20; i++)
        timer_start(a, i, 100 + i, 0);
    CHECK_INT(20, world_end_count(world));
}

ACTOR_TEST("", timer_start_refuses_nonsense)
{
    lbx_envelope envelope = lbx_envelope_of(letter(1), 10);
    lbx_envelope system_envelope = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_USER), NULL);
    lbx_timer timer = {7};

    part_spawn(a);
    CHECK_STATUS(LBX_INVALID,
                 lbx_timer_start(NULL, a->self, &envelope, 1, 0, &timer));
    CHECK_STATUS(LBX_INVALID, lbx_timer_start(world->system, lbx_ref_nobody(),
                                              &envelope, 1, 0, &timer));
    CHECK_STATUS(LBX_INVALID,
                 lbx_timer_start(world->system, a->self, NULL, 1, 0, &timer));
    CHECK_STATUS(LBX_INVALID, lbx_timer_start(world->system, a->self, &envelope,
                                              1, 0, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_timer_start(world->system, a->self, &envelope,
                                              -1, 0, &timer));
    CHECK_STATUS(LBX_INVALID, lbx_timer_start(world->system, a->self, &envelope,
                                              1, -1, &timer));
    CHECK_STATUS(LBX_INVALID, lbx_timer_start(world->system, a->self,
                                              &system_envelope, 1, 0, &timer));
    // The system ends untyped messages here, and cannot copy them.
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_timer_start(world->system, a->self,
                                                  &envelope, 1, 1, &timer));
    CHECK_INT(7, timer.id);
    CHECK_INT(0, world_end_count(world)); // it is still ours
}

// A period so long that it never comes again.
TIMER_TEST(longest_delay_and_period_do_no_harm)
{
    timer_start(a, 1, INT64_MAX, 0);
    timer_start(a, 2, 1, INT64_MAX);
    CHECK_DIARY_AFTER(world, 1, "a:2");
    CHECK_DIARY_AFTER(world, 1000 * LBX_SECOND, "");
}

// ---- Copies ----

static _Atomic long copies;
static _Atomic long ends;
static _Atomic bool refuses;

static void *
copy_number(const void *message, void *context)
{
    int *copy;

    (void)context;
    if (atomic_load(&refuses))
        return NULL;
    copy = malloc(sizeof(*copy));
    CHECK(copy);
    *copy = *(const int *)message;
    atomic_fetch_add(&copies, 1);
    return copy;
}

static void
end_number(void *message, void *context)
{
    (void)context;
    atomic_fetch_add(&ends, 1);
    free(message);
}

static lbx_status
read_number(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, *(int *)message);
    return LBX_OK;
}

static lbx_type *
number_type(bool clones)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_type *type;

    options.name = "test.Number";
    options.destroy = end_number;
    options.clone = clones ? copy_number : NULL;
    CHECK_OK(lbx_type_create(&options, &type));
    return type;
}

static lbx_envelope
number_envelope(const lbx_type *type, int value)
{
    return lbx_envelope_of_type(copy_number(&value, NULL), type);
}

ACTOR_TEST("", periodic_timer_tells_copies)
{
    LOCAL_TYPE(type) = number_type(true);
    lbx_envelope envelope = number_envelope(type, 5);
    lbx_timer timer;

    a->receive = read_number;
    part_spawn(a);
    CHECK_OK(
        lbx_timer_start(world->system, a->self, &envelope, 10, 10, &timer));
    for (int i = 0; i < 3; i++)
        world_advance(world, 10);
    CHECK_DIARY(world, "a+ a:5 a:5 a:5");
    atomic_store(&refuses, true); // no memory for a copy: that one is left out
    CHECK_DIARY_AFTER(world, 10, "");
    atomic_store(&refuses, false);
    CHECK_DIARY_AFTER(world, 10, "a:5");
    CHECK(lbx_timer_cancel(world->system, timer));
    CHECK_INT(5, atomic_load(&copies)); // the original and four
    CHECK_INT(5, atomic_load(&ends));
    world_end(world);
}

ACTOR_TEST("", periodic_timer_of_an_ended_actor_is_over)
{
    LOCAL_TYPE(type) = number_type(true);
    lbx_envelope envelope = number_envelope(type, 5);
    lbx_timer timer;

    a->receive = read_number;
    part_spawn(a);
    CHECK_OK(
        lbx_timer_start(world->system, a->self, &envelope, 10, 10, &timer));
    world_advance(world, 10);
    lbx_ref_stop(a->self);
    (void)world_run(world);
    for (int i = 0; i < 3; i++)
        world_advance(world, 10);
    CHECK(!lbx_timer_cancel(world->system, timer));
    CHECK_INT(2, atomic_load(&ends));
    world_end(world);
    CHECK_INT(2, atomic_load(&ends));
}

ACTOR_TEST("", message_that_cannot_be_copied_is_no_periodic_one)
{
    LOCAL_TYPE(type) = number_type(false);
    lbx_envelope envelope = number_envelope(type, 5);
    lbx_timer timer;

    a->receive = read_number;
    part_spawn(a);
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_timer_start(world->system, a->self,
                                                  &envelope, 10, 10, &timer));
    CHECK_OK(lbx_timer_start(world->system, a->self, &envelope, 10, 0, &timer));
    CHECK_DIARY_AFTER(world, 10, "a+ a:5");
    world_end(world);
    CHECK_INT(1, atomic_load(&ends));
}

static lbx_status
start_timer(lbx_context *context, struct part *part, void *argument)
{
    lbx_envelope envelope = lbx_envelope_of(letter(7), 10);
    lbx_timer timer;

    (void)argument;
    CHECK_OK(lbx_timer_start(lbx_context_system(context),
                             lbx_context_self(context), &envelope, 10, 0,
                             &timer));
    world_write(part->world, "started");
    return LBX_OK;
}

ACTOR_TEST("", handler_may_start_a_timer)
{
    part_spawn(a);
    bid(a, start_timer, NULL);
    CHECK_DIARY(world, "a+ started");
    CHECK_DIARY_AFTER(world, 10, "a:7");
}

// ---- Cancelled by the copy of its own message ----

struct cancelling {
    lbx_system *system;
    lbx_timer timer;
    int copies;
    int ends;
};

static void *
cancel_and_copy(const void *message, void *context)
{
    struct cancelling *cancelling = context;

    cancelling->copies++;
    CHECK(lbx_timer_cancel(cancelling->system, cancelling->timer));
    CHECK(!lbx_timer_cancel(cancelling->system, cancelling->timer));
    return (void *)(uintptr_t)message;
}

static void
count_ends(void *message, void *context)
{
    (void)message;
    ((struct cancelling *)context)->ends++;
}

/* TIMER-2: the timer is in use until it has fired, and then another's. */
ACTOR_TEST("", periodic_timer_may_be_cancelled_while_it_fires)
{
    struct cancelling cancelling = {.system = world->system};
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    lbx_envelope envelope;
    LOCAL_TYPE(type);

    options.name = "test.Last";
    options.clone = cancel_and_copy;
    options.destroy = count_ends;
    options.context = &cancelling;
    CHECK_OK(lbx_type_create(&options, &type));
    part_spawn(a);
    envelope = lbx_envelope_of_type(letter(7), type);
    CHECK_OK(lbx_timer_start(world->system, a->self, &envelope, 10, 10,
                             &cancelling.timer));
    CHECK_DIARY_AFTER(world, 10, "a+ a:7");
    CHECK_INT(2, cancelling.ends); // the message, and its one copy
    timer_start(a, 1, 10, 0);
    timer_start(a, 2, 10, 0);
    CHECK_DIARY_AFTER(world, 100, "a:1 a:2");
    CHECK_INT(1, cancelling.copies);
    world_end(world);
    CHECK_INT(2, cancelling.ends);
}

// ---- Timers of an actor's own ----

static lbx_status
tick_for_oneself(lbx_context *context, struct part *part)
{
    (void)part;
    for (int number = 7; number <= 8; number++) {
        lbx_envelope tick = lbx_envelope_of(letter(number), 10);
        lbx_timer timer;

        CHECK_OK(lbx_timer_start(lbx_context_system(context),
                                 lbx_context_self(context), &tick, number + 3,
                                 0, &timer));
    }
    return LBX_OK;
}

/* Else each restart would add a timer to those of the starts before it. */
ACTOR_TEST("", restart_cancels_the_timers_of_an_actors_own)
{
    a->start = tick_for_oneself;
    part_spawn(a);
    timer_start(a, 5, 9, 0); // from outside: not the actor's own
    for (int i = 0; i < 3; i++)
        lbx_tell(a->self, letter(FAILS));
    CHECK_DIARY(world, "a+ a:1000 a- a+ a:1000 a- a+ a:1000 a- a+");
    CHECK_INT(9, atomic_load(&world->ended)); // with six cancelled ticks
    world_advance(world, 10);
    CHECK_DIARY_AFTER(world, 1, "a:5 a:7 a:8");
}

ACTOR_TEST("", end_cancels_the_timers_of_an_actors_own)
{
    a->start = tick_for_oneself;
    part_spawn(a);
    timer_start(a, 5, 10, 0);
    bid(a, do_stop, NULL);
    CHECK_DIARY(world, "a+ a-");
    world_advance(world, 11);
    CHECK_INT(1, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 5, LBX_LOSS_NO_ACTOR);
}

static lbx_status
watch_silence(lbx_context *context, struct part *part)
{
    if (atomic_load(&part->starts) > 1)
        return LBX_OK;
    return lbx_context_set_receive_timeout(context, 10);
}

ACTOR_TEST("", receive_timeout_survives_a_restart)
{
    a->start = watch_silence;
    lbx_tell(part_spawn(a), letter(FAILS));
    CHECK_DIARY(world, "a+ a:1000 a- a+");
    CHECK_DIARY_AFTER(world, 10, "a?");
}

// ---- With threads ----

static lbx_status
read_silently(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    (void)part;
    CHECK_INT(5, *(int *)message);
    return LBX_OK;
}

ACTOR_TEST_THREADS("", timers_fire_by_themselves_with_threads, 1)
{
    lbx_timer far;

    part_spawn(a);
    far = timer_start(a, 9, 3600 * LBX_SECOND, 0);
    timer_start(a, 1, LBX_MS, 0); // sooner than the one that is waited for
    CHECK_DIARY(world, "a+ a:1");
    timer_start(a, 2, LBX_MS, 0);
    CHECK_DIARY(world, "a:2");
    CHECK(lbx_timer_cancel(world->system, far));
    CHECK_INT(3, world_end_count(world));
}

ACTOR_TEST_THREADS("", periodic_timer_runs_until_cancelled_with_threads, 1)
{
    LOCAL_TYPE(type) = number_type(true);
    lbx_envelope envelope = number_envelope(type, 5);
    lbx_timer timer;

    a->silent = true;
    a->receive = read_silently;
    part_spawn(a);
    CHECK_OK(
        lbx_timer_start(world->system, a->self, &envelope, 1, 1000, &timer));
    EVENTUALLY(atomic_load(&a->received) >= 20);
    CHECK(lbx_timer_cancel(world->system, timer));
    CHECK(!lbx_timer_cancel(world->system, timer));
    world_end(world);
    CHECK_INT(atomic_load(&copies), atomic_load(&ends));
}

struct cancels {
    struct world world;
    struct part a;
    _Atomic long cancelled;
};

static void
start_and_cancel(unsigned index, void *context)
{
    struct cancels *cancels = context;

    for (long i = 0; i < test_rounds(4000, 100000); i++) {
        lbx_timer timer =
            timer_start(&cancels->a, 1, (i * 7 + index) % 50 * LBX_US, 0);

        for (long spin = 0; spin < i % 64; spin++)
            sched_yield();
        if (lbx_timer_cancel(cancels->world.system, timer))
            atomic_fetch_add(&cancels->cancelled, 1);
    }
}

// Each timer fires or is cancelled: never both, never neither.
TEST(cancel_races_with_firing)
{
    static struct cancels cancels;
    long total = 2 * test_rounds(4000, 100000);

    world_begin_threads(&cancels.world, 1);
    part_init(&cancels.a, &cancels.world, "a");
    cancels.a.silent = true;
    part_spawn(&cancels.a);
    threads_run(2, start_and_cancel, &cancels);
    EVENTUALLY(atomic_load(&cancels.a.received) +
                   atomic_load(&cancels.cancelled) >=
               total);
    world_end(&cancels.world);
    CHECK_INT(total, atomic_load(&cancels.a.received) +
                         atomic_load(&cancels.cancelled));
    CHECK_INT(total, atomic_load(&cancels.world.ended));
}

/* The thread sleeps until the first timer is due, and must hear of one that is
 * due sooner. In some of the rounds it is asleep. */
ACTOR_TEST_THREADS("", sooner_timer_wakes_the_thread_of_the_timers, 1)
{
    a->silent = true;
    part_spawn(a);
    timer_start(a, 1, 3600 * LBX_SECOND, 0);
    for (unsigned i = 1; i <= 50; i++) {
        timer_start(a, 2, LBX_US, 0);
        EVENTUALLY(atomic_load(&a->received) == i);
    }
}

// SIGMASK-1: neither the dispatcher's threads nor that of the timers take a
// signal that the program waits for.
TEST(a_system_leaves_signals_to_the_program)
{
    struct part a;
    LOCAL_WORLD(world);

    world_begin_threads(&world, 2);
    part_init(&a, &world, "a");
    a.silent = true;
    part_spawn(&a);
    timer_start(&a, 1, LBX_MS, 0);
    EVENTUALLY(atomic_load(&a.received) == 1);
    test_await_own_signal();
}
