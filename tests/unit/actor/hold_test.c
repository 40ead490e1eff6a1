/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While an actor has failed, no actor below it handles messages, until its
 * supervisor has decided (SUPER-1 in supervision.c).
 */
#include "actor/family.h"

/* p is to try again 100 ns after it fails, which it does once. */
static void
line_init_patient(struct line *line)
{
    line_init(line);
    line->g.strategy.directive = LBX_DIRECTIVE_RETRY;
    line->g.strategy.retry_ns = 100;
    line->p.receive = busy_once;
}

#define PATIENT_TEST(behaviour, name)                                          \
    FIXTURE_TEST(line, behaviour, name, line_init_patient(line), line_end(line))

PATIENT_TEST("ACTOR-5", those_below_a_failed_actor_handle_nothing)
{
    struct part d;

    part_init(&d, &line->world, "d");
    line->c.children[0] = &d;
    part_spawn(&line->g);
    CHECK_DIARY(&line->world, "g+ p+ c+ d+");
    lbx_tell(line->p.self, letter(1));
    CHECK_DIARY(&line->world, "p:1");
    lbx_tell(d.self, letter(2));
    lbx_tell(line->c.self, letter(3));
    lbx_tell(line->g.self, letter(4)); // it is above
    CHECK_DIARY(&line->world, "g:4");
    CHECK_DIARY_AFTER(&line->world, 100, "p:1 c:3 d:2");
    world_end(&line->world); // the actors use what lies on this stack
}

LINE_TEST("ACTOR-5 A-24", those_who_are_to_be_stopped_handle_nothing_more)
{
    line_begin(line);
    lbx_tell(line->p.self, letter(FAILS));
    lbx_tell(line->c.self, letter(1));
    CHECK_DIARY(&line->world, "p:1000 c- p- p+ c+");
    CHECK_INT(1, atomic_load(&line->world.dead_count));
    world_check_dead(&line->world, 0, 1, LBX_LOSS_CLOSED);
    lbx_tell(line->c.self, letter(2)); // the new one is free
    CHECK_DIARY(&line->world, "c:2");
}

static lbx_status
spawn_and_fail(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    CHECK_OK(part_spawn_in(context, argument));
    return LBX_BUSY;
}

// Also those whom it spawned just before, and those whom they spawn.
PATIENT_TEST("", those_born_below_a_failed_actor_start_and_wait)
{
    struct part d;
    struct part e;

    part_init(&d, &line->world, "d");
    part_init(&e, &line->world, "e");
    d.children[0] = &e;
    line_begin(line);
    bid(&line->p, spawn_and_fail, &d);
    CHECK_DIARY(&line->world, "d+ e+");
    lbx_tell(d.self, letter(1));
    lbx_tell(e.self, letter(2));
    CHECK_DIARY(&line->world, "");
    lbx_ref_stop(line->p.self); // the order would spawn d again
    CHECK_DIARY(&line->world, "c- e- d- p-");
    CHECK_INT(2 + 1, atomic_load(&line->world.dead_count));
    world_end(&line->world); // the actors use what lies on this stack
}

static lbx_directive
spawn_and_retry(lbx_context *context, struct part *part,
                lbx_child_failure *failure)
{
    CHECK_OK(part_spawn_in(context, part->context));
    return retry_busy(context, part, failure);
}

// p fails by escalation after it has spawned d in its supervise; d is released
// with the others.
PATIENT_TEST("", child_that_a_failed_actor_spawns_is_released_with_the_others)
{
    struct part d;

    part_init(&d, &line->world, "d");
    line->p.receive = NULL;
    line->p.decide = spawn_and_retry;
    line->p.context = &d;
    line->c.receive = busy_once;
    line_begin(line);
    lbx_tell(line->c.self, letter(1));
    lbx_tell(line->p.self, letter(FAILS));
    // c fails, p fails before it has heard of it, and decides all the same.
    CHECK_DIARY(&line->world, "c:1 p:1000 d+");
    lbx_tell(d.self, letter(2));
    CHECK_DIARY(&line->world, "");
    CHECK_OK(lbx_ref_suspend(line->p.self)); // it would fail again
    CHECK_DIARY_AFTER(&line->world, 100, "c:1 d:2");
    world_end(&line->world); // the actors use what lies on this stack
}

static lbx_status
fail_to_start(lbx_context *context, struct part *part)
{
    (void)context;
    (void)part;
    return LBX_REFUSED;
}

static lbx_directive
spawn_and_stop(lbx_context *context, struct part *part,
               lbx_child_failure *failure)
{
    (void)failure;
    CHECK_OK(part_spawn_in(context, part->context));
    return LBX_DIRECTIVE_STOP;
}

// p has failed already when it decides about e, and spawns d.
PATIENT_TEST("", child_of_a_parent_that_waits_for_a_decision_waits_too)
{
    struct part d;
    struct part e;

    part_init(&d, &line->world, "d");
    part_init(&e, &line->world, "e");
    e.start = fail_to_start;
    line->p.decide = spawn_and_stop;
    line->p.context = &d;
    line_begin(line);
    bid(&line->p, spawn_and_fail, &e);
    CHECK_DIARY(&line->world, "e+ d+ e-");
    lbx_tell(d.self, letter(2));
    CHECK_DIARY(&line->world, "");
    world_end(&line->world); // the actors use what lies on this stack
    CHECK_INT(0, atomic_load(&d.received));
}

// To be suspended by a caller is another matter.
PATIENT_TEST("R-16", held_actor_is_not_resumed_by_others)
{
    line_begin(line);
    lbx_tell(line->p.self, letter(1));
    lbx_tell(line->c.self, letter(2));
    CHECK_DIARY(&line->world, "p:1");
    CHECK_OK(lbx_ref_resume(line->c.self)); // one too many
    CHECK_DIARY(&line->world, "");
    CHECK_OK(lbx_ref_suspend(line->c.self));
    CHECK_DIARY_AFTER(&line->world, 100, "p:1");
    CHECK_OK(lbx_ref_resume(line->c.self));
    CHECK_DIARY(&line->world, "c:2");
}

PATIENT_TEST("ACTOR-6", held_actor_can_be_stopped)
{
    line_begin(line);
    lbx_tell(line->p.self, letter(1));
    CHECK_DIARY(&line->world, "p:1");
    lbx_ref_stop(line->c.self);
    CHECK_DIARY(&line->world, "c-");
    CHECK_DIARY_AFTER(&line->world, 100, "p:1");
}

// c has failed when p fails, and may go on before p does: it waits, and d below
// it too.
PATIENT_TEST("ACTOR-5", child_that_may_go_on_waits_for_its_failed_parent)
{
    struct part d;

    line->g.strategy.retry_ns = 300;
    line->p.strategy.directive = LBX_DIRECTIVE_RETRY;
    line->p.strategy.retry_ns = 100;
    line->c.receive = busy_once;
    part_init(&d, &line->world, "d");
    line->c.children[0] = &d;
    part_spawn(&line->g);
    CHECK_DIARY(&line->world, "g+ p+ c+ d+");
    lbx_tell(line->c.self, letter(1));
    CHECK_DIARY(&line->world, "c:1");
    lbx_tell(d.self, letter(2));
    lbx_tell(line->p.self, letter(3));
    CHECK_DIARY(&line->world, "p:3");
    CHECK_DIARY_AFTER(&line->world, 100, "");
    CHECK_DIARY_AFTER(&line->world, 200, "p:3 c:1 d:2");
    world_end(&line->world); // the actors use what lies on this stack
}

/* ---- In threads ---- */

enum {
    ROUNDS = 2000
};

static lbx_status
spawn_or_fail(lbx_context *context, struct part *part, void *message)
{
    lbx_props props = part_props(part->context);
    lbx_ref child;

    CHECK_OK(lbx_context_spawn(context, &props, NULL, &child));
    lbx_tell(child, letter(1));
    return number_of(message) % 3 == 0 ? LBX_REFUSED : LBX_OK;
}

static lbx_status
stop_at_once(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    (void)message;
    lbx_context_stop(context);
    return LBX_OK;
}

// p fails again and again while its children come, work and go: none of them is
// forgotten.
TEST(children_come_and_go_while_their_parent_fails)
{
    struct line line;
    struct part brief;
    unsigned rounds = (unsigned)test_rounds(ROUNDS, 10L * ROUNDS);

    line_init(&line);
    world_end(&line.world);
    world_begin_threads(&line.world, 3);
    line.g.strategy.directive = LBX_DIRECTIVE_RESUME;
    line.p.receive = spawn_or_fail;
    line.p.silent = true;
    line.c.silent = true;
    part_init(&brief, &line.world, "brief");
    brief.silent = true;
    brief.receive = stop_at_once;
    line.p.context = &brief;
    part_spawn(&line.g);
    EVENTUALLY(atomic_load(&line.c.starts) == 1);
    for (unsigned i = 0; i < rounds; i++) {
        lbx_tell(line.p.self, letter((int)i + 1));
        lbx_tell(line.c.self, letter(1));
    }
    EVENTUALLY(atomic_load(&line.p.received) == rounds);
    EVENTUALLY(atomic_load(&line.c.received) == rounds);
    EVENTUALLY(atomic_load(&brief.stops) == rounds);
    CHECK_INT(rounds, atomic_load(&brief.starts));
    CHECK_INT(rounds / 3, world_stats(&line.world).failures);
    line_end(&line);
    CHECK_INT(0, atomic_load(&line.world.dead_count));
}
