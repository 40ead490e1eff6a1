/* SPDX-License-Identifier: Apache-2.0 */
/* The system: its options, its numbers, its tree; and what it refuses. */
#include <string.h>

#include "actor/fixture.h"
#include "support/torture.h"

static void
check_refused(lbx_system_options options, const char *word)
{
    lbx_fault fault = {LBX_OK, ""};
    lbx_system *system = NULL;

    options.fault = &fault;
    CHECK_STATUS(LBX_INVALID, lbx_system_create(&options, &system));
    CHECK_PTR(NULL, system);
    CHECK_STATUS(LBX_INVALID, fault.status);
    if (!strstr(fault.text, word))
        FAIL("\"%s\" does not say \"%s\"", fault.text, word);
    options.fault = NULL;
    CHECK_STATUS(LBX_INVALID, lbx_system_create(&options, &system));
}

TEST(bad_options_are_refused_with_a_sentence)
{
    lbx_system_options good = LBX_SYSTEM_OPTIONS_INIT;
    lbx_system_options options = good;
    lbx_allocator lame = {NULL, NULL, NULL};

    CHECK_STATUS(LBX_INVALID, lbx_system_create(&good, NULL));
    options.size_bytes = 0;
    check_refused(options, "LBX_SYSTEM_OPTIONS_INIT");
    options = good;
    options.threads = -1;
    check_refused(options, "threads");
    options.threads = 1025;
    check_refused(options, "threads");
    options = good;
    options.throughput = 0;
    check_refused(options, "throughput");
    options.throughput = -5;
    check_refused(options, "throughput");
    options = good;
    options.allocator = &lame;
    check_refused(options, "allocator");
}

TEST(clock_without_a_function_is_refused)
{
    lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
    lbx_clock lame = {NULL, NULL};

    options.threads = 0;
    options.clock = &lame;
    check_refused(options, "clock");
}

TEST(null_options_are_the_usual_ones)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;
    LOCAL_SYSTEM(system);

    CHECK_OK(lbx_system_create(NULL, &system));
    CHECK_OK(lbx_system_stats_read(system, &stats));
    CHECK_INT(0, stats.actors);
    CHECK_INT(0, stats.spawned);
    CHECK_INT(0, stats.handled);
    CHECK(stats.cell_bytes > 0);
    CHECK_STATUS(LBX_INVALID, lbx_system_run(system, 1, NULL)); // has threads
    CHECK_OK(lbx_system_terminate(system, LBX_FOREVER));
}

TEST(system_that_did_nothing_can_be_destroyed)
{
    lbx_system *system;

    for (int i = 0; i < 20; i++) {
        lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;

        options.threads = i % 4;
        CHECK_OK(lbx_system_create(&options, &system));
        lbx_system_destroy(system);
    }
}

/* Every default is read once in a process, and into memory of its own: what a
 * system takes from its allocator does not depend on who came before it. */
TEST(first_system_of_a_process_takes_what_the_second_takes)
{
    struct torture memory[2] = {TORTURE_INIT, TORTURE_INIT};

    for (int i = 0; i < 2; i++) {
        lbx_allocator allocator = torture_allocator(&memory[i]);
        lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
        lbx_system *system;

        options.threads = 0;
        options.allocator = &allocator;
        CHECK_OK(lbx_system_create(&options, &system));
        lbx_system_destroy(system);
        CHECK_INT(0, memory[i].live_blocks);
    }
    CHECK_INT(memory[0].allocations, memory[1].allocations);
    CHECK_INT(memory[0].total_bytes, memory[1].total_bytes);
}

static void
make_systems(unsigned index, void *context)
{
    (void)context;
    for (int i = 0; i < 20; i++) {
        lbx_system_options options = LBX_SYSTEM_OPTIONS_INIT;
        lbx_system *system;

        options.threads = index % 2;
        CHECK_OK(lbx_system_create(&options, &system));
        lbx_system_destroy(system);
    }
}

/* Nobody has read the defaults yet, and all want them at the same moment. */
TEST(first_systems_of_a_process_can_be_made_by_several_threads)
{
    threads_run(4, make_systems, NULL);
}

ACTOR_TEST("", nulls_are_refused)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    CHECK_STATUS(LBX_INVALID, lbx_system_stats_read(NULL, &stats));
    CHECK_STATUS(LBX_INVALID, lbx_system_stats_read(world->system, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_system_run(NULL, 1, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_system_terminate(NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_system_print(NULL, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_system_print(world->system, NULL, NULL));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_context_self(NULL)));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_context_parent(NULL)));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_context_sender(NULL)));
    CHECK_PTR(NULL, lbx_context_system(NULL));
    CHECK_PTR(NULL, lbx_context_type(NULL));
    CHECK_PTR(NULL, lbx_context_take(NULL));
    lbx_context_reply(NULL, letter(1));
    lbx_context_forward(NULL, lbx_ref_nobody());
    lbx_context_stop(NULL);
}

ACTOR_TEST("", run_takes_at_most_so_many_turns)
{
    struct part parts[3];

    CHECK_INT(0, world_run(world));
    for (int i = 0; i < 3; i++) {
        static const char *const names[3] = {"a", "b", "c"};

        part_init(&parts[i], world, names[i]);
        part_spawn(&parts[i]);
    }
    CHECK_INT(0, world_run_most(world, 0));
    CHECK_INT(2, world_run_most(world, 2));
    CHECK_STR("a+ b+", world->diary);
    CHECK_OK(lbx_system_run(world->system, UINT64_MAX, NULL));
    CHECK_STR("a+ b+ c+", world->diary);
    CHECK_INT(3, world_stats(world).runs);
    world_end(world); // the actors use what lies on this stack
}

ACTOR_TEST("V-33", numbers_are_kept)
{
    lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

    part_spawn(a);
    part_spawn(b);
    lbx_tell(a->self, letter(1));
    lbx_tell(a->self, letter(FAILS));
    lbx_tell(b->self, letter(2));
    (void)world_run(world);
    lbx_ref_stop(b->self);
    (void)world_run(world);
    lbx_tell(b->self, letter(3));
    stats = world_stats(world);
    CHECK_INT(1, stats.actors);
    CHECK_INT(2, stats.spawned);
    CHECK_INT(3, stats.handled);
    CHECK_INT(1, stats.failures);
    CHECK_INT(1, stats.dead_letters);
    CHECK_INT(0, stats.suppressed);
    CHECK_INT(0, stats.steals);
    CHECK_INT(0, stats.parks);
    CHECK(stats.runs >= 3);
}

ACTOR_TEST("V-36", actor_costs_less_than_a_kilobyte)
{
    CHECK(world_stats(world).cell_bytes < 1024);
    test_note("cell_bytes=%zu", world_stats(world).cell_bytes);
}

static void
write_line(void *context, const char *line)
{
    world_write(context, "[%s]", line);
}

#define IDLE " handled 0, failed 0, waiting 0, in the cell] "

ACTOR_TEST("", print_shows_the_tree)
{
    a->children[0] = b;
    b->children[0] = c;
    part_spawn(a);
    CHECK_DIARY(world, "a+ b+ c+");
    CHECK_OK(lbx_system_print(world->system, write_line, world));
    CHECK_DIARY(world, "[/user (guardian)" IDLE "[/user/a (player)" IDLE
                       "[/user/a/b (player)" IDLE
                       "[/user/a/b/c (player) handled 0, failed 0, "
                       "waiting 0, in the cell]");
}

static void
print_often(void *context)
{
    struct world *world = context;

    for (int i = 0; i < 200; i++) {
        lbx_system_stats stats = LBX_SYSTEM_STATS_INIT;

        CHECK_OK(lbx_system_print(world->system, write_line, world));
        pthread_mutex_lock(&world->lock);
        world->diary[0] = 0;
        pthread_mutex_unlock(&world->lock);
        CHECK_OK(lbx_system_stats_read(world->system, &stats));
    }
}

// Many actors play this part at once: the refs are not kept.
static lbx_status
spawn_child(lbx_context *context, struct part *part)
{
    lbx_props props = part_props(part->context);
    lbx_ref ref;

    CHECK_OK(lbx_context_spawn(context, &props, "b", &ref));
    return LBX_OK;
}

ACTOR_TEST_THREADS("", print_may_run_while_actors_come_and_go, 2)
{
    struct thread thread;
    lbx_props props;

    a->silent = true;
    b->silent = true;
    a->start = spawn_child;
    a->context = b;
    props = part_props(a);
    thread_start(&thread, print_often, world);
    for (int i = 0; i < 2000; i++) {
        lbx_ref ref;
        lbx_status status =
            lbx_system_spawn(world->system, &props, i % 2 ? "x" : NULL, &ref);

        CHECK(status == LBX_OK || status == LBX_EXISTS);
        if (status == LBX_OK)
            lbx_tell(ref, lbx_poison_pill());
    }
    thread_join(&thread);
    world_end(world); // the actors use what lies on this stack
}

// Two systems share nothing but the program.
TEST(systems_may_talk_to_each_other)
{
    struct part a;
    struct part b;
    lbx_envelope envelope = lbx_envelope_of(letter(1), 10);
    LOCAL_WORLD(two);
    LOCAL_WORLD(one);

    world_begin(&one);
    world_begin(&two);
    part_init(&a, &one, "a");
    part_init(&b, &two, "b");
    part_spawn(&a);
    part_spawn(&b);
    envelope.sender = lbx_ref_as_sender(b.self);
    lbx_tell_envelope(a.self, &envelope);
    CHECK_DIARY(&two, "b+");
    CHECK_DIARY(&one, "a+ a:1");
    CHECK_INT(1, atomic_load(&one.ended)); // who got it, ends it
    CHECK_INT(0, atomic_load(&two.ended));
}
