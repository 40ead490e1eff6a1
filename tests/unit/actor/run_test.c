/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: how many messages one handles, and what is looked at between two of
 * them. The cases of the peers for schedulers, deadlines, throughput and
 * suspension.
 */
#include <string.h>

#include <letterbox/mailbox.h>

#include "actor/fixture.h"

enum {
    LETTERS = 7,
    KINDS = 2, // the inbox, and a mailbox of its own
};

static void
spawn_with_letters(struct part *part, int kind)
{
    part_spawn_boxed(part, kind == 0 ? NULL : LBX_KIND_UNBOUNDED_DEQUE, NULL);
    for (int i = 1; i <= LETTERS; i++)
        lbx_tell(part->self, letter(i));
}

/* What the diary says without another run. */
static void
check_so_far(struct world *world, const char *expected)
{
    CHECK_STR(expected, world->diary);
    world->diary[0] = 0;
}

/* A test of both kinds. */
#define KINDS_TEST(behaviour, name)                                            \
    static void name##_kind(struct world *world, struct part *a, int kind);    \
    ACTOR_TEST(behaviour, name##_in_the_inbox)                                 \
    {                                                                          \
        name##_kind(world, a, 0);                                              \
    }                                                                          \
    ACTOR_TEST(behaviour, name##_in_a_mailbox)                                 \
    {                                                                          \
        name##_kind(world, a, 1);                                              \
    }                                                                          \
    static void name##_kind(struct world *world, struct part *a, int kind)

// ---- Suspension ----

/* Letter 2 suspends its actor, letter 4 suspends and resumes it. */
static lbx_status
suspend_oneself(lbx_context *context, struct part *part, void *message)
{
    const int number = number_of(message);

    (void)context;
    world_write(part->world, "%s:%d", part->name, number);
    if (number == 2 || number == 4)
        CHECK_OK(lbx_ref_suspend(part->self));
    if (number == 4)
        CHECK_OK(lbx_ref_resume(part->self));
    return LBX_OK;
}

KINDS_TEST("A-22 5.3 R-16", suspension_in_a_run_holds_the_next_message)
{
    a->receive = suspend_oneself;
    spawn_with_letters(a, kind);
    CHECK_DIARY(world, "a+ a:1 a:2");
    CHECK_OK(lbx_ref_resume(a->self));
    CHECK_INT(1, world_run_most(world, 1));
    // Suspended and resumed between two messages is not suspended.
    CHECK_DIARY(world, "a:3 a:4 a:5 a:6 a:7");
}

KINDS_TEST("A-22 5.3", stop_in_a_run_comes_before_the_next_message)
{
    a->receive = suspend_oneself;
    spawn_with_letters(a, kind);
    CHECK_DIARY(world, "a+ a:1 a:2");
    lbx_ref_stop(a->self); // closed beats suspended
    CHECK_OK(lbx_ref_resume(a->self));
    CHECK_DIARY(world, "a-");
    CHECK_INT(LETTERS - 2, atomic_load(&world->dead_count));
}

ACTOR_TEST("5.3 R-16", suspended_actor_accepts_and_leaves_others_alone)
{
    part_spawn(a);
    part_spawn(b);
    CHECK_DIARY(world, "a+ b+");
    CHECK_OK(lbx_ref_suspend(a->self));
    for (int i = 1; i <= 3; i++) {
        lbx_tell(a->self, letter(i));
        lbx_tell(b->self, letter(i));
    }
    CHECK_DIARY(world, "b:1 b:2 b:3");
    bid(b, do_watch, a); // system messages are handled meanwhile
    CHECK_OK(lbx_ref_resume(a->self));
    lbx_tell(a->self, lbx_poison_pill());
    CHECK_DIARY(world, "a:1 a:2 a:3 a- b!");
}

// ---- Throughput ----

/* Brings two system messages beside each letter. */
static lbx_status
note_with_system(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    CHECK_OK(lbx_ref_resume(part->self));
    CHECK_OK(lbx_ref_resume(part->self));
    return LBX_OK;
}

KINDS_TEST("A-22 5.3", throughput_counts_messages_of_users_only)
{
    a->receive = note_with_system;
    spawn_with_letters(a, kind);
    for (int i = 0; i < 10; i++)
        CHECK_OK(lbx_ref_resume(a->self));
    CHECK_INT(1, world_run_most(world, 1));
    check_so_far(world, "a+ a:1 a:2 a:3 a:4 a:5");
    CHECK_DIARY(world, "a:6 a:7");
}

// ---- Deadlines ----

/* Takes four milliseconds. */
static lbx_status
take_time(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    test_clock_advance(&part->world->time, 4 * LBX_MS);
    return LBX_OK;
}

/* One actor on a default dispatcher with this throughput and deadline. */
struct hurried {
    struct cast cast;
    lbx_settings *settings;
};

static void
hurried_begin(struct hurried *hurried, const char *text, int kind)
{
    lbx_settings_source source = {
        .text = text, .length_bytes = strlen(text), .origin = "test"};
    lbx_settings_options reading = LBX_SETTINGS_OPTIONS_INIT;
    lbx_system_options options;

    CHECK_OK(lbx_settings_load(&source, 1, &reading, &hurried->settings));
    options = world_options(&hurried->cast.world);
    options.settings = hurried->settings;
    cast_begin_with(&hurried->cast, &options);
    hurried->cast.a.receive = take_time;
    spawn_with_letters(&hurried->cast.a, kind);
}

static void
hurried_end(struct hurried *hurried)
{
    world_end(&hurried->cast.world);
    lbx_settings_unref(hurried->settings);
}

#define DISPATCHER(throughput, deadline)                                       \
    "letterbox.actor.default-dispatcher {\n"                                   \
    "throughput = " throughput "\nthroughput-deadline-time = " deadline "\n}"

TEST_CITING("A-12 A-22 5.3", deadline_ends_a_run)
{
    static const struct {
        const char *settings;
        const char *first; // run
        const char *second;
    } rows[] = {
        // Before the throughput, and anew in each run.
        {DISPATCHER("100", "10ms"), "a+ a:1 a:2 a:3", "a:4 a:5 a:6"},
        {DISPATCHER("100", "12ms"), "a+ a:1 a:2 a:3", "a:4 a:5 a:6"},
        {DISPATCHER("100", "1ns"), "a+ a:1", "a:2"},
        // None, and one far away: the throughput counts.
        {DISPATCHER("5", "0ms"), "a+ a:1 a:2 a:3 a:4 a:5", "a:6 a:7"},
        {DISPATCHER("5", "1h"), "a+ a:1 a:2 a:3 a:4 a:5", "a:6 a:7"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int kind = 0; kind < KINDS; kind++) {
            struct hurried hurried;

            hurried_begin(&hurried, rows[i].settings, kind);
            CHECK_INT(1, world_run_most(&hurried.cast.world, 1));
            check_so_far(&hurried.cast.world, rows[i].first);
            CHECK_INT(1, world_run_most(&hurried.cast.world, 1));
            check_so_far(&hurried.cast.world, rows[i].second);
            hurried_end(&hurried);
        }
}

// ---- Floods ----

static lbx_status
flood_part(lbx_context *context, struct part *part, void *message)
{
    const struct part *to = part->context;

    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    for (int i = 0; i < 600; i++)
        lbx_tell(to->self, letter(0));
    return LBX_OK;
}

/* With more messages of its own it would be the next again, on its thread. */
ACTOR_TEST_THREADS("ACTOR-10", actor_that_floods_goes_behind_all_others, 1)
{
    struct gate gate = {.is_open = false};

    b->receive = flood_part;
    b->context = c;
    c->silent = true;
    part_spawn(a);
    CHECK_DIARY(world, "a+");
    part_spawn(b);
    CHECK_DIARY(world, "b+");
    part_spawn(c);
    part_spawn(d);
    CHECK_DIARY(world, "d+");
    EVENTUALLY(atomic_load(&c->starts) == 1);
    bid(a, do_block, &gate);
    EVENTUALLY(atomic_load(&gate.reached));
    lbx_tell(b->self, letter(1)); // all wait for the one thread, in this order
    lbx_tell(b->self, letter(2));
    lbx_tell(d->self, letter(1));
    atomic_store(&gate.is_open, true);
    CHECK_DIARY(world, "b:1 d:1 b:2");
    world_end(world); // the gate lies on this stack
}

// ---- Scheduling ----

/* Letter 1 makes work while its actor runs. */
static lbx_status
tell_oneself_once(lbx_context *context, struct part *part, void *message)
{
    world_write(part->world, "%s:%d", part->name, number_of(message));
    if (number_of(message) == 1)
        lbx_tell(lbx_context_self(context), letter(9));
    return LBX_OK;
}

ACTOR_TEST_WITH("ACTOR-9 A-21 5.3", actor_is_scheduled_once_until_it_is_idle,
                options.throughput = 2)
{
    a->receive = tell_oneself_once;
    part_spawn(a);
    CHECK_INT(1, world_run(world)); // registered: it starts
    CHECK_INT(0, world_run(world));
    for (int i = 2; i <= 3; i++)
        lbx_tell(a->self, letter(i));
    CHECK_OK(lbx_ref_resume(a->self));
    CHECK_INT(1, world_run(world)); // for all three
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(4));
    CHECK_INT(2, world_run(world)); // what came during its run: once more
    CHECK_INT(0, world_run(world));
    CHECK_DIARY(world, "a+ a:2 a:3 a:1 a:4 a:9");
    lbx_ref_stop(a->self);
    CHECK_INT(2, world_run(world)); // its end, and its parent's release
    CHECK_INT(0, world_run(world)); // deregistered
    CHECK_DIARY(world, "a-");
}
