/* SPDX-License-Identifier: Apache-2.0 */
/* `start` that fails: it is tried again, and nothing goes on without it. */
#include "actor/family.h"

static lbx_status
fail_first_starts(lbx_context *context, struct part *part)
{
    (void)context;
    return atomic_load(&part->starts) <= 3 ? LBX_BUSY : LBX_OK;
}

FAMILY_TEST("", start_that_fails_is_a_failure, LBX_DIRECTIVE_RESTART)
{
    family->a.start = fail_first_starts;
    part_spawn(&family->p);
    CHECK_DIARY(&family->world, "p+ a+ b+ a- a+ a- a+ a- a+");
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1");
    CHECK_INT(3, world_stats(&family->world).failures);
}

// There is nothing to go on with: to resume it is to start it again.
static void
resume_after_a_failed_start(lbx_directive directive)
{
    struct family family;

    family_init(&family, directive);
    family.a.start = fail_first_starts;
    part_spawn(&family.p);
    CHECK_DIARY(&family.world, "p+ a+ b+ a- a+ a- a+ a- a+");
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1");
    family_end(&family);
}

TEST_CITING("ACTOR-5", actor_that_could_not_start_is_not_resumed_but_restarted)
{
    resume_after_a_failed_start(LBX_DIRECTIVE_RESUME);
    resume_after_a_failed_start(LBX_DIRECTIVE_DEAD_LETTER);
}

FAMILY_TEST("ACTOR-5", retry_of_a_start_waits, LBX_DIRECTIVE_RETRY)
{
    family->p.strategy.retry_ns = 100;
    family->a.start = fail_first_starts;
    family_begin(family);
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY_AFTER(&family->world, 99, "");
    CHECK_DIARY_AFTER(&family->world, 1, "a- a+");
    CHECK_DIARY_AFTER(&family->world, 100, "a- a+");
    CHECK_DIARY_AFTER(&family->world, 100, "a- a+ a:1");
}

ACTOR_TEST("", messages_wait_until_start_succeeds)
{
    a->start = fail_first_starts;
    lbx_tell(part_spawn(a), letter(1));
    CHECK_DIARY(world, "a+ a- a+ a- a+ a- a+ a:1");
}

static lbx_status
fail_to_start(lbx_context *context, struct part *part)
{
    (void)context;
    (void)part;
    return LBX_NO_MEMORY;
}

ACTOR_TEST("", start_that_never_succeeds_ends_the_child)
{
    a->silent = true;
    a->start = fail_to_start;
    lbx_tell(part_spawn(a), letter(1));
    (void)world_run(world);
    CHECK(!lbx_ref_is_alive(a->self));
    CHECK_INT(11, atomic_load(&a->starts)); // ten restarts in a minute
    CHECK_INT(11, atomic_load(&a->stops));
    CHECK_INT(1, atomic_load(&world->dead_count));
}

static void
never_starts(lbx_directive directive)
{
    struct family family;

    family_init(&family, directive);
    family.a.silent = true;
    family.a.start = fail_to_start;
    part_spawn(&family.p);
    (void)world_run(&family.world);
    CHECK(!lbx_ref_is_alive(family.a.self));
    CHECK_INT(11, atomic_load(&family.a.starts));
    CHECK_INT(11, atomic_load(&family.a.stops));
    family_end(&family);
}

TEST(start_that_never_succeeds_is_not_resumed_for_ever)
{
    never_starts(LBX_DIRECTIVE_RESUME);
    never_starts(LBX_DIRECTIVE_DEAD_LETTER);
}

static void
spawn_in_stop(lbx_context *context, struct part *part)
{
    CHECK_STATUS(LBX_CLOSED, part_spawn_in(context, part->context));
}

// Its children have ended before: there will be no more.
FAMILY_TEST("", stop_before_a_restart_spawns_nobody, LBX_DIRECTIVE_RESTART)
{
    struct part c;

    part_init(&c, &family->world, "c");
    family->a.stop = spawn_in_stop;
    family->a.context = &c;
    family_begin_failing(family);
    CHECK_DIARY(&family->world, "a:1000 a- a+");
    bid(&family->a, do_spawn, &c);
    CHECK_DIARY(&family->world, "c+");
    world_end(&family->world); // the actors use what lies on this stack
}
