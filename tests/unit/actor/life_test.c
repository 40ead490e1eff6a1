/* SPDX-License-Identifier: Apache-2.0 */
/* Birth and death: spawning, names, families, stopping, terminating. */
#include <string.h>

#include "actor/fixture.h"

// ---- Birth ----

ACTOR_TEST("A-01 A-18 R-40 ACTOR-4", spawning_gives_a_working_ref_at_once)
{
    part_spawn(a);
    CHECK(lbx_ref_is_alive(a->self));
    CHECK_INT(0, atomic_load(&a->starts)); // later, on its dispatcher
    for (int i = 1; i <= 6; i++)
        lbx_tell(a->self, letter(i));
    CHECK_DIARY(world, "a+ a:1 a:2 a:3 a:4 a:5 a:6");
    world_end(world);
    CHECK_INT(1, atomic_load(&a->stops));
}

static lbx_status
hold(lbx_context *context, struct part *part)
{
    return do_block(context, part, part->context);
}

// The same with threads, and with `start` still running.
ACTOR_TEST_THREADS("A-18 R-40 ACTOR-4", messages_wait_for_a_slow_start, 2)
{
    struct gate gate = {false, false};

    a->start = hold;
    a->context = &gate;
    part_spawn(a);
    EVENTUALLY(atomic_load(&gate.reached));
    for (int i = 1; i <= 6; i++)
        lbx_tell(a->self, letter(i));
    atomic_store(&gate.is_open, true);
    CHECK_DIARY(world, "a+ a:1 a:2 a:3 a:4 a:5 a:6");
    world_end(world); // the actors use what lies on this stack
}

struct births {
    struct world *world;
    _Atomic long received;
};

// An actor that wants 1, 2, 3, 4.
struct counting {
    struct births *births;
    int last;
};

static lbx_status
begin_counting(lbx_context *context, void *state, void *argument)
{
    struct counting *counting = state;

    (void)context;
    counting->births = argument;
    return LBX_OK;
}

static lbx_status
count_next(lbx_context *context, void *state, void *message)
{
    struct counting *counting = state;

    (void)context;
    CHECK_INT(++counting->last, number_of(message));
    atomic_fetch_add(&counting->births->received, 1);
    return LBX_OK;
}

static const lbx_behaviour counter = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "counter",
    .state_bytes = sizeof(struct counting),
    .start = begin_counting,
    .receive = count_next,
};

static void
spawn_and_tell(unsigned index, void *context)
{
    struct births *births = context;

    (void)index;
    for (long i = 0; i < test_rounds(4000, 100000); i++) {
        lbx_ref ref = behaviour_spawn(births->world, &counter, births);

        for (int j = 1; j <= 4; j++)
            lbx_tell(ref, letter(j));
        lbx_tell(ref, lbx_poison_pill());
    }
}

TEST_CITING("A-18 ACTOR-4", nothing_told_after_spawn_is_lost)
{
    struct world world;
    struct births births = {.world = &world};

    world_begin_threads(&world, 2);
    threads_run(3, spawn_and_tell, &births);
    EVENTUALLY(world_stats(&world).actors == 0);
    CHECK_INT(12 * test_rounds(4000, 100000), atomic_load(&births.received));
    CHECK_INT(0, atomic_load(&world.dead_count));
    world_end(&world);
    CHECK_INT(12 * test_rounds(4000, 100000), atomic_load(&world.ended));
}

/* The status of spawning a child of "/user" with these props. */
static lbx_status
try_props(struct world *world, const lbx_props *props, const char *name)
{
    lbx_ref ref = {77};
    lbx_status status = lbx_system_spawn(world->system, props, name, &ref);

    CHECK((status == LBX_OK) == (ref.word != 77));
    return status;
}

ACTOR_TEST("", spawn_refuses_nonsense)
{
    static const lbx_behaviour nothing = {
        .size_bytes = sizeof(lbx_behaviour),
        .name = "nothing",
    };
    static const lbx_behaviour old = {.size_bytes = 8, .name = "old"};
    char long_name[256] = "";
    const char *const names[] = {"", "a/b", "$1", long_name};
    const lbx_behaviour *const behaviours[] = {NULL, &nothing, &old};
    lbx_props props = part_props(a);
    lbx_ref ref = {77};

    memset(long_name, 'x', sizeof(long_name) - 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        CHECK_STATUS(LBX_INVALID, try_props(world, &props, names[i]));
    CHECK_STATUS(LBX_INVALID, try_props(world, NULL, "a"));
    CHECK_STATUS(LBX_INVALID, lbx_system_spawn(NULL, &props, "a", &ref));
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_spawn(world->system, &props, "a", NULL));
    CHECK_STATUS(LBX_INVALID, lbx_context_spawn(NULL, &props, "a", &ref));
    for (size_t i = 0; i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
        props.behaviour = behaviours[i];
        CHECK_STATUS(LBX_INVALID, try_props(world, &props, "a"));
    }
    props = part_props(a);
    props.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID, try_props(world, &props, "a"));
    CHECK_INT(77, ref.word);
    CHECK_INT(0, world_stats(world).actors);
}

ACTOR_TEST("A-30", unknown_mailbox_or_dispatcher_is_not_found)
{
    lbx_props props;

    props = part_props(a);
    props.mailbox = "no such mailbox";
    CHECK_STATUS(LBX_NOT_FOUND, try_props(world, &props, "a"));
    props = part_props(a);
    props.dispatcher = "no such dispatcher";
    CHECK_STATUS(LBX_NOT_FOUND, try_props(world, &props, "a"));
}

// ---- Names ----

ACTOR_TEST("", name_is_taken_until_its_actor_has_ended)
{
    lbx_props props;
    lbx_ref ref = {77};

    props = part_props(a);
    part_spawn(a);
    CHECK_STATUS(LBX_EXISTS, try_props(world, &props, "a"));
    CHECK_INT(77, ref.word);
    part_spawn(b); // a failed spawn does no harm
    (void)world_run(world);
    CHECK_STATUS(LBX_EXISTS, try_props(world, &props, "a"));
    lbx_ref_stop(a->self);
    CHECK_STATUS(LBX_EXISTS, try_props(world, &props, "a"));
    (void)world_run(world);
    CHECK_OK(lbx_system_spawn(world->system, &props, "a", &ref));
    CHECK_DIARY(world, "a+ b+ a- a+");
    CHECK_INT(2, world_stats(world).actors);
}

ACTOR_TEST("", same_name_below_another_parent_is_another_actor)
{
    struct part parents[2];
    struct part children[2];

    for (int i = 0; i < 2; i++) {
        part_init(&parents[i], world, i ? "q" : "p");
        part_init(&children[i], world, "c");
        parents[i].children[0] = &children[i];
        part_spawn(&parents[i]);
    }
    CHECK_DIARY(world, "p+ q+ c+ c+");
    CHECK(!lbx_ref_equal(children[0].self, children[1].self));
    world_end(world); // the actors use what lies on this stack
}

ACTOR_TEST("", many_names_come_and_go)
{
    enum {
        NAMES = 300,
    };
    lbx_props props;
    lbx_ref refs[NAMES];

    a->silent = true;
    props = part_props(a);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < NAMES; i++) {
            char name[8] = {'n', (char)('a' + i / 26), (char)('a' + i % 26)};

            CHECK_OK(lbx_system_spawn(world->system, &props, name, &refs[i]));
        }
        for (int i = 0; i < NAMES; i++) {
            char path[16] = {'/',
                             'u',
                             's',
                             'e',
                             'r',
                             '/',
                             'n',
                             (char)('a' + i / 26),
                             (char)('a' + i % 26)};
            lbx_ref found;

            CHECK_OK(lbx_system_find(world->system, path, &found));
            CHECK(lbx_ref_equal(refs[i], found));
            lbx_ref_stop(refs[i]);
        }
        (void)world_run(world);
        CHECK_INT(0, world_stats(world).actors);
    }
}

// ---- Stopping ----

ACTOR_TEST("ACTOR-6", stop_comes_before_what_is_in_the_mailbox)
{
    part_spawn(a);
    CHECK_DIARY(world, "a+");
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(2));
    lbx_ref_stop(a->self);
    lbx_ref_stop(a->self); // again does nothing
    CHECK(lbx_ref_is_alive(a->self));
    CHECK_DIARY(world, "a-");
    CHECK_INT(2, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 1, LBX_LOSS_CLOSED);
    world_check_dead(world, 1, 2, LBX_LOSS_CLOSED);
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "");
    CHECK_INT(2, world_end_count(world));
}

ACTOR_TEST("", stop_from_a_handler_comes_after_the_current_message)
{
    lbx_tell(part_spawn(a), letter(1));
    bid(a, do_stop, NULL);
    lbx_tell(a->self, letter(2));
    CHECK_DIARY(world, "a+ a:1 a-");
    CHECK_INT(1, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 2, LBX_LOSS_CLOSED);
}

ACTOR_TEST("", one_that_never_started_needs_no_stop_hook)
{
    lbx_tell(part_spawn(a), letter(1));
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "");
    CHECK_INT(1, atomic_load(&world->dead_count));
}

ACTOR_TEST("A-13", poison_pill_stops_in_its_turn)
{
    lbx_tell(part_spawn(a), letter(1));
    lbx_tell(a->self, letter(2));
    lbx_tell(a->self, lbx_poison_pill());
    lbx_tell(a->self, letter(3));
    lbx_tell(a->self, lbx_poison_pill());
    CHECK_DIARY(world, "a+ a:1 a:2 a-");
    CHECK_INT(1, atomic_load(&world->dead_count));
    world_check_dead(world, 0, 3, LBX_LOSS_CLOSED);
    CHECK_INT(1, atomic_load(&world->suppressed_count)); // the second pill
    CHECK_INT(3, world_end_count(world)); // pills are not destroyed
}

// ---- Families ----

ACTOR_TEST("ACTOR-11", children_end_before_their_parents)
{
    a->children[0] = b;
    b->children[0] = c;
    a->children[1] = d;
    part_spawn(a);
    CHECK_DIARY(world, "a+ b+ d+ c+");
    lbx_ref_stop(a->self);
    lbx_tell(a->self, letter(1));
    CHECK_DIARY(world, "d- c- b- a-");
    CHECK_INT(1, atomic_load(&world->dead_count));
    CHECK_INT(0, world_stats(world).actors);
}

ACTOR_TEST("", child_may_end_alone)
{
    a->children[0] = b;
    part_spawn(a);
    (void)world_run(world);
    lbx_ref_stop(b->self);
    (void)world_run(world);
    bid(a, do_spawn, b); // its name is free
    lbx_tell(a->self, letter(1));
    CHECK_DIARY(world, "a+ b+ b- a:1 b+");
}

static void
try_spawn(lbx_context *context, struct part *part)
{
    CHECK_STATUS(LBX_CLOSED, part_spawn_in(context, part->context));
}

ACTOR_TEST("", spawning_while_ending_is_closed)
{
    a->stop = try_spawn;
    a->context = b;
    part_spawn(a);
    (void)world_run(world);
    lbx_ref_stop(a->self);
    CHECK_DIARY(world, "a+ a-");
}

ACTOR_TEST("", failed_spawns_are_not_counted_as_spawned)
{
    lbx_props props;

    part_spawn(a);
    props = part_props(a);
    CHECK_STATUS(LBX_EXISTS, try_props(world, &props, "a"));
    CHECK_INT(1, world_stats(world).spawned);
}

// ---- Terminating ----

ACTOR_TEST("ACTOR-11", terminating_ends_everybody)
{
    lbx_props props;

    a->children[0] = b;
    part_spawn(a);
    (void)world_run(world);
    CHECK_OK(lbx_system_terminate(world->system, LBX_FOREVER));
    CHECK_DIARY(world, "a+ b+ b- a-");
    CHECK(!lbx_ref_is_alive(a->self));
    props = part_props(a);
    CHECK_STATUS(LBX_CLOSED, try_props(world, &props, "a"));
    CHECK_STATUS(LBX_CLOSED, try_props(world, &props, NULL));
    CHECK_OK(lbx_system_terminate(world->system, 0)); // again does nothing
    lbx_tell(a->self, letter(1));
    CHECK_INT(1, atomic_load(&world->dead_count));
}

ACTOR_TEST("", no_actors_are_left_after_terminating)
{
    part_spawn(a);
    CHECK_OK(lbx_system_terminate(world->system, LBX_FOREVER));
    CHECK_INT(0, world_stats(world).actors);
}

static void
note_line(void *context, const char *line)
{
    if (strstr(line, "slow"))
        ++*(int *)context;
}

ACTOR_TEST_THREADS("ACTOR-11", terminating_gives_up_at_its_deadline, 1)
{
    struct gate gate = {false, false};
    int lines = 0;

    part_init(a, world, "slow");
    part_spawn(a);
    bid(a, do_block, &gate);
    EVENTUALLY(atomic_load(&gate.reached));
    CHECK_STATUS(LBX_TIMEOUT, lbx_system_terminate(world->system, 0));
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_system_terminate(world->system,
                                      lbx_deadline_after(NULL, 5 * LBX_MS)));
    CHECK_OK(lbx_system_print(world->system, note_line, &lines));
    CHECK_INT(1, lines); // who it is
    atomic_store(&gate.is_open, true);
    CHECK_OK(lbx_system_terminate(world->system, LBX_FOREVER));
    world_end(world); // the actors use what lies on this stack
}

// Also when "/user" has had no time to hear of it.
ACTOR_TEST_THREADS("", spawning_after_terminate_is_closed_at_once, 1)
{
    struct gate gate = {false, false};
    lbx_props props;
    lbx_status status;
    lbx_ref ref;

    props = part_props(b);
    part_spawn(a);
    bid(a, do_block, &gate);
    EVENTUALLY(atomic_load(&gate.reached)); // the only thread is busy
    CHECK_STATUS(LBX_TIMEOUT, lbx_system_terminate(world->system, 0));
    status = lbx_system_spawn(world->system, &props, "b", &ref);
    atomic_store(&gate.is_open, true);
    world_end(world);
    CHECK_STATUS(LBX_CLOSED, status);
}

static void
terminate(unsigned index, void *context)
{
    struct world *world = context;

    (void)index;
    CHECK_OK(lbx_system_terminate(world->system, LBX_FOREVER));
}

ACTOR_TEST_THREADS("", several_threads_may_terminate, 2)
{
    struct part parts[2];

    for (int i = 0; i < 2; i++) {
        part_init(&parts[i], world, i ? "b" : "a");
        parts[i].silent = true;
        part_spawn(&parts[i]);
    }
    threads_run(4, terminate, world);
    world_end(world); // the actors use what lies on this stack
}

static lbx_status
terminate_inside(lbx_context *context, struct part *part, void *argument)
{
    (void)argument;
    CHECK_STATUS(LBX_INVALID, lbx_system_terminate(lbx_context_system(context),
                                                   LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_run(lbx_context_system(context), 1, NULL));
    world_write(part->world, "no");
    return LBX_OK;
}

ACTOR_TEST("", handler_cannot_terminate_or_run_its_system)
{
    part_spawn(a);
    bid(a, terminate_inside, NULL);
    CHECK_DIARY(world, "a+ no");
}

ACTOR_TEST("", destroy_ends_what_is_still_there)
{
    part_spawn(a);
    (void)world_run(world);
    lbx_tell(a->self, letter(1));
    lbx_system_destroy(world->system);
    world->system = NULL;
    CHECK_INT(1, atomic_load(&a->stops));
    CHECK_INT(1, atomic_load(&world->ended));
    lbx_system_destroy(NULL);
}

// ---- Cells that are used again ----

enum {
    LIVES = 5000,
};

ACTOR_TEST("ACTOR-8", stale_stop_never_stops_the_next_life)
{
    lbx_props props;
    static lbx_ref old[LIVES];

    a->silent = true;
    props = part_props(a);
    for (int i = 0; i < LIVES; i++) {
        CHECK_OK(lbx_system_spawn(world->system, &props, "a", &old[i]));
        for (int j = i < 70 ? 0 : i - 70; j < i; j++) {
            CHECK(!lbx_ref_equal(old[i], old[j]));
            lbx_ref_stop(old[j]);
        }
        lbx_tell(old[i], letter(1));
        (void)world_run(world);
        CHECK(lbx_ref_is_alive(old[i]));
        lbx_ref_stop(old[i]);
        (void)world_run(world);
        CHECK(!lbx_ref_is_alive(old[i]));
    }
    CHECK_INT(LIVES, atomic_load(&a->received));
}

struct stale {
    _Atomic uint64_t last;
    _Atomic bool is_over;
    _Atomic long told;
};

static void
abuse_stale(void *context)
{
    struct stale *stale = context;

    while (!atomic_load(&stale->is_over)) {
        lbx_ref ref = {atomic_load(&stale->last)};

        lbx_ref_stop(ref);
        lbx_tell(ref, letter(9)); // a dead letter, or it raced with the end
        atomic_fetch_add(&stale->told, 1);
    }
}

static lbx_status
refuse_nine(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    (void)part;
    CHECK(number_of(message) != 9);
    return LBX_OK;
}

// One thread stops and tells refs that have just ended, while their cells are
// given to others, who must not notice.
ACTOR_TEST_THREADS("ACTOR-8", stale_refs_race_with_new_lives, 2)
{
    struct stale stale = {.last = 0};
    struct thread thread;
    lbx_props props;
    long rounds = test_rounds(20000, 1000000);

    a->silent = true;
    a->receive = refuse_nine;
    props = part_props(a);
    thread_start(&thread, abuse_stale, &stale);
    for (long i = 0; i < rounds; i++) {
        lbx_ref ref;

        CHECK_OK(lbx_system_spawn(world->system, &props, NULL, &ref));
        lbx_tell(ref, letter(1));
        EVENTUALLY(atomic_load(&a->received) == (unsigned)i + 1);
        CHECK(lbx_ref_is_alive(ref));
        lbx_ref_stop(ref);
        EVENTUALLY(!lbx_ref_is_alive(ref));
        atomic_store(&stale.last, ref.word);
    }
    atomic_store(&stale.is_over, true);
    thread_join(&thread);
    world_end(world);
    CHECK_INT(rounds, atomic_load(&a->received));
    CHECK_INT(rounds, atomic_load(&a->stops));
    // Telling lbx_ref_nobody() at the beginning ends nothing.
    CHECK(atomic_load(&world->ended) <= rounds + atomic_load(&stale.told));
    CHECK_INT(atomic_load(&world->ended) - rounds,
              atomic_load(&world->dead_count));
}

ACTOR_TEST("", fault_says_what_is_wrong_with_a_name)
{
    lbx_fault fault = {.status = LBX_OK};
    lbx_props props;
    lbx_ref ref;

    props = part_props(a);
    props.fault = &fault;
    CHECK_STATUS(LBX_INVALID, try_props(world, &props, "a/b"));
    CHECK(strstr(fault.text, "name 'a/b': a name has no '/'"));
    CHECK_OK(lbx_system_spawn(world->system, &props, "a", &ref));
    CHECK_STATUS(LBX_EXISTS, try_props(world, &props, "a"));
    CHECK(strstr(fault.text, "a living sibling has it"));
}
