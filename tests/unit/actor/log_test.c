/* SPDX-License-Identifier: Apache-2.0 */
/* Listening to dead letters, and a log that does not flood. */
#include <stdio.h>
#include <string.h>

#include "actor/fixture.h"

struct lines {
    int count;
    char last[512];
};

static void
keep(void *context, const char *line)
{
    struct lines *lines = context;

    lines->count++;
    (void)snprintf(lines->last, sizeof(lines->last), "%s", line);
}

static void
lose(struct world *world, int count)
{
    lbx_envelope envelope = lbx_envelope_of(letter(1), 10);
    struct part a;
    static int names;
    char name[16];

    // A dead actor's ref is all that is needed.
    (void)snprintf(name, sizeof(name), "dead%d", names++);
    part_init(&a, world, name);
    a.silent = true;
    part_spawn(&a);
    lbx_ref_stop(a.self);
    (void)world_run(world);
    for (int i = 0; i < count; i++)
        lbx_tell_envelope(a.self, &envelope);
}

ACTOR_TEST("2.4.6 5.4", the_log_pauses_and_says_how_many_it_left_out)
{
    struct lines lines = {.count = 0};
    lbx_dead_letter_log log = LBX_DEAD_LETTER_LOG_INIT;

    log.print = keep;
    log.context = &lines;
    log.clock = &world->clock;
    log.max_lines = 4;
    log.pause_ns = 2 * LBX_SECOND;
    CHECK_OK(lbx_system_add_dead_letter_listener(
        world->system, lbx_dead_letter_log_as_listener(&log)));
    lose(world, 6);
    CHECK_INT(4, lines.count);
    CHECK(strstr(lines.last, "no more will be logged"));
    world_advance(world, 2 * LBX_SECOND);
    lose(world, 1);
    CHECK_INT(6, lines.count); // one line says that 2 were left out
    lose(world, 3);
    CHECK_INT(9, lines.count); // the count has begun anew
    lose(world, 1);
    CHECK_INT(9, lines.count);
    world_end(world); // the actors use what lies on this stack
}

ACTOR_TEST("2.4.6", the_log_leaves_out_what_is_suppressed_and_the_shutdown)
{
    struct lines lines = {.count = 0};
    lbx_dead_letter_log log = LBX_DEAD_LETTER_LOG_INIT;
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;
    const lbx_type *bases[] = {lbx_dead_letter_suppressed_type()};
    LOCAL_TYPE(type);

    options.name = "test.Gossip";
    options.bases = bases;
    options.base_count = 1;
    CHECK_OK(lbx_type_create(&options, &type));
    log.print = keep;
    log.context = &lines;
    CHECK_OK(lbx_system_add_dead_letter_listener(
        world->system, lbx_dead_letter_log_as_listener(&log)));
    part_spawn(a);
    lbx_tell_typed(a->self, type, letter(1)); // handled
    CHECK_DIARY(world, "a+ a:1");
    lbx_ref_stop(a->self);
    lbx_tell_typed(a->self, type, letter(1));
    (void)world_run(world);
    lbx_tell(a->self, lbx_poison_pill());
    CHECK_INT(0, lines.count);
    CHECK_INT(2, atomic_load(&world->suppressed_count));
    part_init(a, world, "b");
    part_spawn(a);
    bid(a, do_stop, NULL);
    lbx_tell(a->self, letter(2)); // left over when the system ends
    world_end(world);
    CHECK_INT(0, lines.count);
}

ACTOR_TEST("", listeners_come_and_go)
{
    struct lines lines = {.count = 0};
    lbx_dead_letter_log log = LBX_DEAD_LETTER_LOG_INIT;
    lbx_dead_letter_listener listener = lbx_dead_letter_log_as_listener(&log);

    log.print = keep;
    log.context = &lines;
    for (int i = 0; i < LBX_MAX_DEAD_LETTER_LISTENERS; i++)
        CHECK_OK(lbx_system_add_dead_letter_listener(world->system, listener));
    CHECK_STATUS(LBX_FULL,
                 lbx_system_add_dead_letter_listener(world->system, listener));
    for (int i = 1; i < LBX_MAX_DEAD_LETTER_LISTENERS; i++)
        CHECK(lbx_system_remove_dead_letter_listener(world->system, listener));
    lose(world, 1);
    CHECK_INT(1, lines.count);
    CHECK(lbx_system_remove_dead_letter_listener(world->system, listener));
    CHECK(!lbx_system_remove_dead_letter_listener(world->system, listener));
    lose(world, 1);
    CHECK_INT(1, lines.count);
    listener.on_dead_letter = NULL;
    CHECK_STATUS(LBX_INVALID,
                 lbx_system_add_dead_letter_listener(world->system, listener));
    world_end(world); // the actors use what lies on this stack
}

TEST(every_reason_has_words)
{
    for (int i = 0; i <= (int)LBX_LOSS_REFUSED; i++)
        CHECK(strlen(lbx_loss_reason_text((lbx_loss_reason)i)) > 5);
    CHECK(strcmp("?", lbx_loss_reason_text((lbx_loss_reason)99)) == 0);
}

/* The recipient has a name as long as the system remembers it, also when other
 * actors have its cell. */
ACTOR_TEST("2.4.6", the_log_names_a_recipient_that_has_ended)
{
    struct lines lines = {.count = 0};
    lbx_dead_letter_log log = LBX_DEAD_LETTER_LOG_INIT;

    log.print = keep;
    log.context = &lines;
    CHECK_OK(lbx_system_add_dead_letter_listener(
        world->system, lbx_dead_letter_log_as_listener(&log)));
    a->children[0] = b;
    a->receive = NULL;
    part_spawn(a);
    (void)world_run(world);
    bid(a, do_stop, NULL); // and b with it
    (void)world_run(world);
    part_spawn(c);
    (void)world_run(world);
    lbx_tell(b->self, letter(1));
    CHECK(strstr(lines.last, " to /user/a/b (ended): "));
    for (int i = 0; i < 100; i++) { // more than are remembered
        part_spawn(d);
        lbx_ref_stop(d->self);
        (void)world_run(world);
    }
    lbx_tell(b->self, letter(1));
    CHECK(strstr(lines.last, " to an actor that has ended: "));
    world_end(world);
}
