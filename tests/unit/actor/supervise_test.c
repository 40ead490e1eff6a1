/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision: what becomes of a child that failed, and of the message
 * (ACTOR-5).
 */
#include "actor/family.h"

// ---- Each directive ----

FAMILY_TEST("ACTOR-5", resume_goes_on_with_the_next_message,
            LBX_DIRECTIVE_RESUME)
{
    family_begin(family);
    lbx_tell(family->a.self, letter(1));
    lbx_tell(family->a.self, letter(FAILS));
    lbx_tell(family->a.self, letter(2));
    CHECK_DIARY(&family->world, "a:1 a:1000 a:2");
    CHECK_INT(1, atomic_load(&family->a.starts)); // its state stays
    CHECK_INT(3, atomic_load(&family->world.ended));
    CHECK_INT(0, atomic_load(&family->world.dead_count));
    CHECK_INT(1, world_stats(&family->world).failures);
}

FAMILY_TEST("ACTOR-5", restart_keeps_the_mailbox, LBX_DIRECTIVE_RESTART)
{
    family_begin(family);
    lbx_tell(family->a.self, letter(1));
    lbx_tell(family->a.self, letter(FAILS));
    lbx_tell(family->a.self, letter(2));
    lbx_tell(family->b.self, letter(3));
    CHECK_DIARY(&family->world, "a:1 a:1000 b:3 a- a+ a:2");
    CHECK(lbx_ref_is_alive(family->a.self)); // the same life
    CHECK_INT(4, atomic_load(&family->world.ended));
    CHECK_INT(0, atomic_load(&family->world.dead_count));
}

FAMILY_TEST("", restart_is_what_happens_without_a_strategy,
            LBX_DIRECTIVE_RESTART)
{
    family_begin(family);
    lbx_tell(family->p.self, letter(FAILS)); // "/user" supervises p
    CHECK_DIARY(&family->world, "p:1000 b- a- p- p+ a+ b+");
}

FAMILY_TEST("ACTOR-5", stop_ends_the_child_and_its_mail_is_dead,
            LBX_DIRECTIVE_STOP)
{
    family_begin_failing(family);
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1000 a-");
    CHECK(!lbx_ref_is_alive(family->a.self));
    CHECK_INT(2, atomic_load(&family->world.ended));
    lbx_tell(family->b.self, letter(2));
    CHECK_DIARY(&family->world, "b:2");
}

FAMILY_TEST("ACTOR-5", dead_letters_get_the_failed_message,
            LBX_DIRECTIVE_DEAD_LETTER)
{
    family_begin(family);
    lbx_tell(family->a.self, letter(FAILS + 7));
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1007 a:1");
    CHECK_INT(1, atomic_load(&family->world.dead_count));
    world_check_dead(&family->world, 0, FAILS + 7, LBX_LOSS_FAILED);
    CHECK(lbx_ref_equal(family->a.self, family->world.dead[0].recipient));
    CHECK_INT(2, atomic_load(&family->world.ended)); // once each
    CHECK_INT(1, atomic_load(&family->a.starts));
}

// ---- Escalation ----

FAMILY_TEST("", escalate_fails_the_parent, LBX_DIRECTIVE_ESCALATE)
{
    family_begin_failing(family);
    lbx_tell(family->p.self, letter(5));
    // "/user" restarts p, which has fresh children then.
    CHECK_DIARY(&family->world, "a:1000 b- a- p- p+ p:5 a+ b+");
}

ACTOR_TEST("", escalate_goes_to_the_top)
{
    struct part parts[3];

    for (int i = 0; i < 3; i++) {
        static const char *const names[3] = {"g", "p", "c"};

        part_init(&parts[i], world, names[i]);
        parts[i].strategy.directive = LBX_DIRECTIVE_ESCALATE;
        if (i > 0)
            parts[i - 1].children[0] = &parts[i];
    }
    part_spawn(&parts[0]);
    CHECK_DIARY(world, "g+ p+ c+");
    lbx_tell(parts[2].self, letter(FAILS));
    CHECK_DIARY(world, "c:1000 c- p- g- g+ p+ c+");
    CHECK_INT(3, world_stats(world).failures);
    world_end(world); // the actors use what lies on this stack
}

// Resuming a parent that had escalated resumes the child that failed.
LINE_TEST("", escalated_failure_that_is_resumed_resumes_the_child)
{
    line->g.strategy.directive = LBX_DIRECTIVE_RESUME;
    line->p.strategy.directive = LBX_DIRECTIVE_ESCALATE;
    line_begin(line);
    lbx_tell(line->c.self, letter(FAILS));
    lbx_tell(line->c.self, letter(1));
    lbx_tell(line->p.self, letter(2));
    CHECK_DIARY(&line->world, "c:1000 p:2 c:1");
}

// ---- While it fails ----

FAMILY_TEST("", failed_actor_handles_nothing_until_decided,
            LBX_DIRECTIVE_RESUME)
{
    family_begin_failing(family);
    CHECK_INT(1, world_run_most(&family->world, 1));
    lbx_tell(family->a.self, letter(1));
    CHECK_INT(1, atomic_load(&family->a.received));
    CHECK_DIARY(&family->world, "a:1000 a:1");
}

FAMILY_TEST("ACTOR-6", failed_actor_can_be_stopped, LBX_DIRECTIVE_RESUME)
{
    family_begin_failing(family);
    CHECK_INT(1, world_run_most(&family->world, 1));
    lbx_ref_stop(family->a.self);
    CHECK_DIARY(&family->world, "a:1000 a-");
    CHECK_INT(1, atomic_load(&family->world.ended));
}

static lbx_status
stop_and_fail(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    (void)argument;
    lbx_context_stop(context);
    return LBX_REFUSED;
}

FAMILY_TEST("", stopping_wins_over_failing, LBX_DIRECTIVE_RESTART)
{
    family_begin(family);
    bid(&family->a, stop_and_fail, NULL);
    CHECK_DIARY(&family->world, "a-");
    CHECK_INT(1, atomic_load(&family->world.ended));
}

static lbx_directive
decide_aloud(lbx_context *context, struct part *part,
             lbx_child_failure *failure)
{
    (void)context;
    (void)failure;
    world_write(part->world, "%s decides", part->name);
    return LBX_DIRECTIVE_RESTART;
}

/* A decision would be for whichever actor has its cell then. */
FAMILY_TEST("ACTOR-8", nothing_is_decided_about_a_child_that_has_ended,
            LBX_DIRECTIVE_RESTART)
{
    family->p.decide = decide_aloud;
    family_begin(family);
    bid(&family->a, stop_and_fail, NULL);
    CHECK_DIARY(&family->world, "a-");
    lbx_tell(family->b.self, letter(FAILS));
    CHECK_DIARY(&family->world, "b:1000 p decides b- b+");
}

static lbx_status
take_and_fail(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    (void)lbx_context_take(context);
    (void)message;
    return LBX_REFUSED;
}

FAMILY_TEST("", taken_message_stays_the_handlers_when_it_fails,
            LBX_DIRECTIVE_DEAD_LETTER)
{
    family->a.receive = take_and_fail;
    family_begin(family);
    lbx_tell(family->a.self, letter(1));
    (void)world_run(&family->world);
    CHECK_INT(0, atomic_load(&family->world.ended));
    CHECK_INT(0, atomic_load(&family->world.dead_count));
}

// ---- Vela's handle_error ----

static lbx_status
mend_small(lbx_context *context, struct part *part, lbx_status status,
           void *message)
{
    (void)context;
    world_write(part->world, "%s~%d", part->name, number_of(message));
    CHECK_STATUS(LBX_REFUSED, status);
    return number_of(message) < FAILS + 10 ? LBX_OK : status;
}

FAMILY_TEST("V-21 V-32", handle_error_may_settle_the_matter,
            LBX_DIRECTIVE_RESTART)
{
    family->a.mend = mend_small;
    family_begin_failing(family);
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1000 a~1000 a:1");
    CHECK_INT(2, atomic_load(&family->world.ended));
    CHECK_INT(1, world_stats(&family->world).failures); // it is counted
    lbx_tell(family->a.self, letter(FAILS + 10));
    CHECK_DIARY(&family->world, "a:1010 a~1010 a- a+");
    CHECK_INT(3, atomic_load(&family->world.ended));
}

// The message loop of Vela: good, bad, good -> two handled, one error, alive.
FAMILY_TEST("V-32 V-33", loop_goes_on_after_an_error, LBX_DIRECTIVE_RESUME)
{
    family->a.mend = mend_small;
    family_begin(family);
    lbx_tell(family->a.self, letter(1));
    lbx_tell(family->a.self, letter(FAILS));
    lbx_tell(family->a.self, letter(2));
    CHECK_DIARY(&family->world, "a:1 a:1000 a~1000 a:2");
    CHECK_INT(3, world_stats(&family->world).handled);
    CHECK_INT(1, world_stats(&family->world).failures);
}
