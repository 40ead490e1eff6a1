/* SPDX-License-Identifier: Apache-2.0 */
/* Retrying: the failed message again, later. */
#include "actor/family.h"

static lbx_status
fail_twice(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    return number_of(message) >= FAILS && atomic_load(&part->received) <= 2
               ? LBX_REFUSED
               : LBX_OK;
}

FAMILY_TEST("ACTOR-5", retry_waits_and_handles_the_message_again,
            LBX_DIRECTIVE_RETRY)
{
    family->p.strategy.retry_ns = 100;
    family->a.receive = fail_twice;
    family_begin_failing(family);
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1000");
    lbx_tell(family->a.self, letter(2));
    CHECK_DIARY_AFTER(&family->world, 99, "");
    CHECK_DIARY_AFTER(&family->world, 1, "a:1000");
    CHECK_DIARY_AFTER(&family->world, 100,
                      "a:1000 a:1 a:2"); // before all others
    CHECK_INT(3, atomic_load(&family->world.ended));
    CHECK_INT(0, atomic_load(&family->world.dead_count));
    CHECK_INT(1, atomic_load(&family->a.starts));
}

FAMILY_TEST("", retry_without_delay_is_at_once, LBX_DIRECTIVE_RETRY)
{
    family->p.strategy.retry_ns = 0;
    family->a.receive = fail_twice;
    family_begin_failing(family);
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1000 a:1000 a:1000 a:1");
}

TEST(stop_while_waiting_for_a_retry_makes_a_dead_letter)
{
    struct family family;

    family_init(&family, LBX_DIRECTIVE_RETRY);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000");
    lbx_ref_stop(family.a.self);
    CHECK_DIARY(&family.world, "a-");
    CHECK_INT(1, atomic_load(&family.world.dead_count));
    CHECK_INT(1, atomic_load(&family.world.ended));
    world_advance(&family.world, LBX_SECOND); // the retry finds no child
    CHECK_DIARY(&family.world, "");
    family_end(&family);
    CHECK_INT(1, atomic_load(&family.world.ended));
}

// Nothing but the failed message is there to be ended.
TEST(system_ends_while_a_retry_is_due_later)
{
    struct family family;

    family_init(&family, LBX_DIRECTIVE_RETRY);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000");
    family_end(&family);
    CHECK_INT(1, atomic_load(&family.world.ended));
}

// p is resumed while its child waits to try again: that is not the child's
// affair.
LINE_TEST("ACTOR-5", parents_resume_does_not_cut_a_childs_retry_short)
{
    line->g.strategy.directive = LBX_DIRECTIVE_RESUME;
    line->p.strategy.directive = LBX_DIRECTIVE_RETRY;
    line->p.strategy.retry_ns = 100;
    line->c.receive = busy_once;
    line_begin(line);
    lbx_tell(line->c.self, letter(1));
    CHECK_DIARY(&line->world, "c:1");
    lbx_tell(line->p.self, letter(FAILS));
    CHECK_DIARY(&line->world, "p:1000");
    CHECK_DIARY_AFTER(&line->world, 100, "c:1");
}

static lbx_status
stay_busy(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    return LBX_BUSY;
}

// a waits to try again when all are restarted; its own child is slow to end,
// and the time for the retry comes meanwhile.
FAMILY_TEST("", retry_does_not_interrupt_a_restart, LBX_DIRECTIVE_RESTART)
{
    struct part c;

    part_init(&c, &family->world, "c");
    family->p.strategy.all_for_one = true;
    family->p.decide = retry_busy;
    family->a.receive = stay_busy;
    family->a.children[0] = &c;
    part_spawn(&family->p);
    CHECK_DIARY(&family->world, "p+ a+ b+ c+");
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1"); // waits
    lbx_tell(family->b.self, letter(FAILS));
    CHECK_INT(3, world_run_most(&family->world, 3)); // b, p, and b or a
    // Until a has told c to stop, and c has not yet.
    while (atomic_load(&family->b.starts) < 2)
        CHECK_INT(1, world_run_most(&family->world, 1));
    test_clock_advance(&family->world.time, 100);
    (void)world_run(&family->world);
    CHECK_INT(2, atomic_load(&family->a.starts));
    CHECK_INT(2, atomic_load(&c.starts));
    CHECK(lbx_ref_is_alive(c.self));
    world_end(&family->world); // the actors use what lies on this stack
}
