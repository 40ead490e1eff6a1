/* SPDX-License-Identifier: Apache-2.0 */
/* What can be seen of an actor from outside: metrics, pressure, crowds. */
#include <stdio.h>
#include <string.h>

#include <letterbox/mailbox.h>

#include "actor/fixture.h"

struct warnings {
    int count;
    char last[600];
};

static void
keep_warning(void *context, const char *line)
{
    struct warnings *warnings = context;

    warnings->count++;
    (void)snprintf(warnings->last, sizeof(warnings->last), "%s", line);
}

static struct warnings warnings; // one test, one process

static void
warn_here(lbx_system_options *options)
{
    options->warn = keep_warning;
    options->warn_context = &warnings;
}

// The default mailbox has no limit, and says so before memory does.
ACTOR_TEST_WITH("R-28", crowd_before_an_actor_is_warned_of_once,
                warn_here(&options))
{
    a->silent = b->silent = true;
    part_spawn(a);
    part_spawn(b);
    for (int i = 0; i < 20000; i++) { // b keeps up
        lbx_tell(b->self, letter(1));
        if (i % 5000 == 0)
            (void)world_run(world);
    }
    (void)world_run(world);
    CHECK_INT(0, warnings.count);
    for (int i = 0; i < 40000; i++) // a does not get to run
        lbx_tell(a->self, letter(1));
    CHECK_INT(1, warnings.count);
    CHECK(strstr(warnings.last, "/user/a: "));
    lbx_ref_stop(a->self);
    (void)world_run(world);
    part_spawn(a); // another life, perhaps in the same cell
    for (int i = 0; i < 20000; i++)
        lbx_tell(a->self, letter(1));
    CHECK_INT(2, warnings.count);
}

struct events {
    int of[LBX_METRIC_DEREGISTERED + 1];
};

static void
count_event(void *context, const lbx_metric_event *event)
{
    struct events *events = context;

    events->of[event->metric]++;
}

ACTOR_TEST("C-39", actor_has_a_metrics_sink)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_actor_stats stats = LBX_ACTOR_STATS_INIT;
    struct events events = {{0}};

    options.capacity_messages = 4;
    options.overflow = LBX_OVERFLOW_DROP_NEWEST;
    options.pressure_messages = 3;
    options.metrics.event = count_event;
    options.metrics.context = &events;
    a->silent = true;
    part_spawn_boxed(a, LBX_KIND_BOUNDED, &options);
    CHECK_INT(1, events.of[LBX_METRIC_REGISTERED]);
    for (int i = 1; i <= 5; i++)
        lbx_tell(a->self, letter(i));
    CHECK_INT(4, events.of[LBX_METRIC_ENQUEUED]);
    CHECK_INT(1, events.of[LBX_METRIC_PRESSURE]);
    CHECK_INT(1, events.of[LBX_METRIC_DROPPED_NEWEST]);
    (void)world_run(world);
    CHECK_INT(4, events.of[LBX_METRIC_DEQUEUED]);
    CHECK_OK(lbx_ref_stats_read(a->self, &stats));
    CHECK_INT(4, stats.max_depth);
    lbx_ref_stop(a->self);
    (void)world_run(world);
    CHECK_INT(1, events.of[LBX_METRIC_DEREGISTERED]);
}

// As many as the settings say, each time that they become so many.
TEST(settings_say_which_pressure_is_warned_of)
{
    static const char text[] =
        "letterbox.actor.default-mailbox.mailbox-pressure = 3";
    lbx_settings_options loading = LBX_SETTINGS_OPTIONS_INIT;
    lbx_settings_source source = {
        .text = text, .length_bytes = strlen(text), .origin = "my.conf"};
    struct cast cast;
    lbx_system_options options = world_options(&cast.world);
    lbx_settings *settings;

    CHECK_OK(lbx_settings_load(&source, 1, &loading, &settings));
    options.settings = settings;
    warn_here(&options);
    cast_begin_with(&cast, &options);
    cast.a.silent = true;
    part_spawn(&cast.a);
    for (int round = 1; round <= 2; round++) {
        lbx_tell(cast.a.self, letter(1));
        lbx_tell(cast.a.self, letter(2));
        CHECK_INT(round - 1, warnings.count);
        lbx_tell(cast.a.self, letter(3));
        lbx_tell(cast.a.self, letter(4));
        CHECK_INT(round, warnings.count);
        CHECK(strstr(warnings.last, "/user/a: 3 messages wait"));
        (void)world_run(&cast.world);
    }
    world_end(&cast.world);
    lbx_settings_unref(settings);
}
