/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers: of an actor and its mailbox, of dispatchers, and in the tree. */
#include <letterbox/actor/selection.h>
#include <letterbox/compat/akka.h>
#include <stdio.h>
#include <string.h>

#include "actor/fixture.h"

static lbx_actor_stats
stats_of(lbx_ref ref)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    CHECK_OK(lbx_ref_stats_read(ref, &stats));
    return stats;
}

static void
tell_two_after(struct world *world, lbx_ref ref, int64_t first_ns,
               int64_t second_ns)
{
    lbx_tell(ref, letter(1));
    test_clock_advance(&world->time, first_ns);
    (void)world_run(world);
    lbx_tell(ref, letter(2));
    test_clock_advance(&world->time, second_ns);
    (void)world_run(world);
}

ACTOR_TEST("", time_in_a_mailbox_is_known_with_timestamps)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    options.timestamps = true;
    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    tell_two_after(world, a->self, 100, 300);
    stats = stats_of(a->self);
    CHECK_INT(2, stats.timed_messages);
    CHECK_INT(400, stats.waited_total_ns);
    CHECK_INT(300, stats.max_waited_ns);
    CHECK_STR(LBX_KIND_BOUNDED, stats.mailbox);
    CHECK_INT(2, stats.handled);
    lbx_tell(a->self, letter(3));
    CHECK_INT(1, stats_of(a->self).depth);
    CHECK_INT(2, stats_of(a->self).timed_messages); // it waits still
}

ACTOR_TEST("", time_in_a_mailbox_is_not_known_without_timestamps)
{
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;

    part_spawn_boxed(a, LBX_KIND_UNBOUNDED_PRIORITY, NULL);
    part_spawn(b);
    tell_two_after(world, a->self, 100, 300);
    tell_two_after(world, b->self, 100, 300);
    stats = stats_of(a->self);
    CHECK_INT(0, stats.timed_messages);
    CHECK_STR(LBX_KIND_UNBOUNDED_PRIORITY, stats.mailbox);
    stats = stats_of(b->self);
    CHECK_INT(0, stats.timed_messages);
    CHECK_INT(0, stats.max_waited_ns);
    CHECK_PTR(NULL, stats.mailbox); // in the cell
}

/* A world on these settings. */
static lbx_settings *
begin_on(struct world *world, const char *text)
{
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;
    lbx_settings_source source = {
        .text = text, .length_bytes = strlen(text), .origin = "my.conf"};
    lbx_system_options system = world_options(world);
    lbx_settings *settings;

    CHECK_OK(lbx_settings_load(&source, 1, &options, &settings));
    system.settings = settings;
    world_begin_with(world, &system);
    return settings;
}

// One line of the settings has all actors measured, those of the usual mailbox
// too.
TEST(settings_can_ask_for_timestamps)
{
    struct world world;
    struct part a;
    lbx_settings *settings = begin_on(
        &world, "letterbox.actor.default-mailbox.mailbox-timestamps = on");

    part_init(&a, &world, "a");
    part_spawn(&a);
    tell_two_after(&world, a.self, 7, 5);
    CHECK_INT(2, stats_of(a.self).timed_messages);
    CHECK_INT(12, stats_of(a.self).waited_total_ns);
    CHECK_STR(LBX_KIND_UNBOUNDED, stats_of(a.self).mailbox);
    world_end(&world);
    lbx_settings_unref(settings);
}

struct line {
    const char *beginning;
    char text[400];
};

static void
keep_line(void *context, const char *text)
{
    struct line *line = context;

    if (strncmp(text, line->beginning, strlen(line->beginning)) == 0)
        snprintf(line->text, sizeof(line->text), "%s", text);
}

static void
check_line(struct world *world, const char *beginning, const char *expected)
{
    struct line line = {.beginning = beginning};

    CHECK_OK(lbx_system_print(world->system, keep_line, &line));
    CHECK_STR(expected, line.text);
}

ACTOR_TEST("", tree_shows_the_numbers_of_each_actor)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    options.timestamps = true;
    part_spawn(a);
    part_spawn_boxed(b, LBX_KIND_BOUNDED, &options);
    tell_two_after(world, b->self, 2000, 4000);
    lbx_tell(a->self, letter(FAILS));
    (void)world_run(world);
    for (int i = 0; i < 3; i++)
        lbx_tell(a->self, letter(1));
    check_line(world, "/user/a ",
               "/user/a (player) handled 1, failed 1, waiting 3, in the cell");
    check_line(world, "/user/b ",
               "/user/b (player) handled 2, failed 0, waiting 0, bounded, "
               "waited 3 us, at most 4 us");
}

// An actor that has ended is shown until its parent has let it go.
ACTOR_TEST("", tree_shows_who_has_ended)
{
    part_spawn(a);
    (void)world_run(world);
    lbx_ref_stop(a->self);
    CHECK_INT(1, world_run_most(world, 1)); // a's turn, not "/user"'s
    check_line(world, "/user/a ", "/user/a (player) ended");
    (void)world_run(world);
    check_line(world, "/user/a ", "");
}

/* ---- Dispatchers ---- */

struct seen {
    lbx_dispatcher_stats stats[8];
    unsigned count;
};

static void
see(void *context, const lbx_dispatcher_stats *stats)
{
    struct seen *seen = context;

    CHECK(seen->count < 8);
    seen->stats[seen->count++] = *stats;
}

static lbx_dispatcher_stats
dispatcher_named(struct world *world, const char *name)
{
    static const lbx_dispatcher_stats none;
    struct seen seen = {.count = 0};

    CHECK_OK(lbx_system_each_dispatcher(world->system, see, &seen));
    for (unsigned i = 0; i < seen.count; i++)
        if (strcmp(seen.stats[i].name, name) == 0)
            return seen.stats[i];
    return none;
}

#define DEFAULT "letterbox.actor.default-dispatcher"

TEST(each_dispatcher_has_its_own_numbers)
{
    struct world world;
    struct part a;
    struct part b;
    lbx_props props;
    lbx_dispatcher_stats stats;
    lbx_settings *settings =
        begin_on(&world, "d { throughput = 1 }, unused { throughput = 2 }");

    part_init(&a, &world, "a");
    part_init(&b, &world, "b");
    part_spawn(&a);
    props = part_props(&b);
    props.dispatcher = "d";
    CHECK_OK(lbx_system_spawn(world.system, &props, "b", &b.self));
    (void)world_run(&world);
    for (int i = 0; i < 4; i++)
        lbx_tell(b.self, letter(1));
    lbx_tell(a.self, letter(1));
    CHECK_INT(1, dispatcher_named(&world, "d").queued); // b, with four
    CHECK_INT(1, dispatcher_named(&world, DEFAULT).queued);
    (void)world_run(&world);
    stats = dispatcher_named(&world, "d");
    CHECK_INT(4, stats.handled);
    CHECK_INT(1 + 4, stats.runs); // it started in the first
    CHECK_INT(0, stats.queued);
    CHECK_INT(0, stats.threads);
    stats = dispatcher_named(&world, DEFAULT);
    CHECK_INT(1, stats.handled);
    CHECK_PTR(NULL, dispatcher_named(&world, "unused").name);
    CHECK_INT(5, world_stats(&world).handled); // the sum
    CHECK_STATUS(LBX_INVALID, lbx_system_each_dispatcher(NULL, see, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_each_dispatcher(world.system, NULL, NULL));
    world_end(&world);
    lbx_settings_unref(settings);
}

// Two actors keep both threads busy; the others wait for one.
TEST(actors_without_a_thread_are_counted)
{
    struct part parts[6];
    struct gate gates[2] = {{false, false}, {false, false}};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    LOCAL_WORLD(world);

    world_begin_threads(&world, 2);
    for (int i = 0; i < 6; i++) {
        part_init(&parts[i], &world, names[i]);
        parts[i].silent = true;
        part_spawn(&parts[i]);
        EVENTUALLY(atomic_load(&parts[i].starts) == 1);
    }
    for (int i = 0; i < 2; i++) {
        bid(&parts[i], do_block, &gates[i]);
        EVENTUALLY(atomic_load(&gates[i].reached));
    }
    EVENTUALLY(dispatcher_named(&world, DEFAULT).queued == 0);
    for (int i = 2; i < 6; i++)
        lbx_tell(parts[i].self, letter(1));
    CHECK_INT(4, dispatcher_named(&world, DEFAULT).queued);
    CHECK_INT(2, dispatcher_named(&world, DEFAULT).threads);
    for (int i = 0; i < 2; i++)
        atomic_store(&gates[i].is_open, true);
    for (int i = 2; i < 6; i++)
        EVENTUALLY(atomic_load(&parts[i].received) == 1);
    EVENTUALLY(dispatcher_named(&world, DEFAULT).queued == 0);
}
