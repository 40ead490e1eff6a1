/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies: how often, for whom, and the supervisor's own function. */
#include <string.h>

#include "actor/family.h"

// ---- Limits ----

FAMILY_TEST("", child_that_restarts_too_often_is_stopped, LBX_DIRECTIVE_RESTART)
{
    family->p.strategy.max_restarts = 2;
    family->p.strategy.within_ns = 1000;
    family_begin_failing(family);
    lbx_tell(family->a.self, letter(FAILS));
    CHECK_DIARY(&family->world, "a:1000 a- a+ a:1000 a- a+");
    world_advance(&family->world, 1001);
    lbx_tell(family->a.self, letter(FAILS)); // another window
    lbx_tell(family->a.self, letter(FAILS));
    CHECK_DIARY(&family->world, "a:1000 a- a+ a:1000 a- a+");
    lbx_tell(family->a.self, letter(FAILS));
    CHECK_DIARY(&family->world, "a:1000 a-");
    CHECK(!lbx_ref_is_alive(family->a.self));
}

FAMILY_TEST("ACTOR-3", message_that_reaches_the_restart_limit_is_a_dead_letter,
            LBX_DIRECTIVE_RESTART)
{
    family->p.strategy.max_restarts = 1;
    family_begin_failing(family);
    lbx_tell(family->a.self, letter(FAILS + 1));
    CHECK_DIARY(&family->world, "a:1000 a- a+ a:1001 a-");
    CHECK_INT(1, atomic_load(&family->world.dead_count));
    world_check_dead(&family->world, 0, FAILS + 1, LBX_LOSS_FAILED);
    CHECK(lbx_ref_equal(family->world.dead[0].recipient, family->a.self));
    CHECK_INT(2, atomic_load(&family->world.ended));
}

/* The window is `within_ns` long, and its end belongs to it. */
FAMILY_TEST("", restart_window_ends_after_its_last_moment,
            LBX_DIRECTIVE_RESTART)
{
    family->p.strategy.max_restarts = 1;
    family->p.strategy.within_ns = 1000;
    family_begin_failing(family);
    lbx_tell(family->b.self, letter(FAILS));
    CHECK_DIARY(&family->world, "a:1000 b:1000 a- a+ b- b+");
    world_advance(&family->world, 1000);
    lbx_tell(family->a.self, letter(FAILS));
    CHECK_DIARY(&family->world, "a:1000 a-");
    world_advance(&family->world, 1);
    lbx_tell(family->b.self, letter(FAILS));
    CHECK_DIARY(&family->world, "b:1000 b- b+");
}

FAMILY_TEST("", negative_limits_are_none, LBX_DIRECTIVE_RESTART)
{
    family->p.strategy.max_restarts = -1;
    family->a.silent = true;
    part_spawn(&family->p);
    (void)world_run(&family->world);
    for (int i = 0; i < 100; i++)
        lbx_tell(family->a.self, letter(FAILS));
    (void)world_run(&family->world);
    CHECK_INT(101, atomic_load(&family->a.starts));
}

FAMILY_TEST("", negative_window_is_for_ever, LBX_DIRECTIVE_RESTART)
{
    family->p.strategy.max_restarts = 1;
    family->p.strategy.within_ns = -1;
    family_begin_failing(family);
    CHECK_DIARY(&family->world, "a:1000 a- a+");
    world_advance(&family->world, 1000000 * LBX_SECOND);
    lbx_tell(family->a.self, letter(FAILS));
    CHECK_DIARY(&family->world, "a:1000 a-");
}

FAMILY_TEST("", no_restarts_allowed_is_stop, LBX_DIRECTIVE_RESTART)
{
    family->p.strategy.max_restarts = 0;
    family_begin_failing(family);
    CHECK_DIARY(&family->world, "a:1000 a-");
}

// ---- All for one ----

FAMILY_TEST("", all_for_one_restarts_every_child, LBX_DIRECTIVE_RESTART)
{
    family->p.strategy.all_for_one = true;
    family_begin_failing(family);
    CHECK_DIARY(&family->world, "a:1000 b- b+ a- a+");
    lbx_tell(family->b.self, letter(1));
    CHECK_DIARY(&family->world, "b:1");
}

FAMILY_TEST("", all_for_one_stops_every_child, LBX_DIRECTIVE_STOP)
{
    family->p.strategy.all_for_one = true;
    family_begin_failing(family);
    CHECK_DIARY(&family->world, "a:1000 b- a-");
    lbx_tell(family->p.self, letter(1));
    CHECK_DIARY(&family->world, "p:1");
}

// Both children fail before the parent has decided about the first. Each has a
// child of its own, which must have ended before it starts again.
FAMILY_TEST("", two_failures_at_once_still_wait_for_grandchildren,
            LBX_DIRECTIVE_RESTART)
{
    struct part c;

    part_init(&c, &family->world, "c");
    family->p.strategy.all_for_one = true;
    family->a.children[0] = &c;
    part_spawn(&family->p);
    CHECK_DIARY(&family->world, "p+ a+ b+ c+");
    lbx_tell(family->a.self, letter(FAILS));
    lbx_tell(family->b.self, letter(FAILS));
    (void)world_run(
        &family->world); // a's start spawns c: its name must be free
    CHECK(lbx_ref_is_alive(c.self));
    CHECK(atomic_load(&family->a.starts) >= 2);
    CHECK_INT(atomic_load(&c.starts), atomic_load(&c.stops) + 1);
    world_end(&family->world); // the actors use what lies on this stack
}

// ---- The supervisor's own function ----

static lbx_directive
decide_by_status(lbx_context *context, struct part *part,
                 lbx_child_failure *failure)
{
    world_write(part->world, "%s(%s %s %u)", part->name, failure->name,
                lbx_status_name(failure->status), failure->failures);
    CHECK(lbx_ref_equal(part->children[0]->self, failure->child));
    CHECK(lbx_ref_equal(part->self, lbx_context_self(context)));
    CHECK(lbx_ref_equal(lbx_ref_nobody(), lbx_context_sender(context)));
    failure->retry_ns = 50;
    switch (failure->status) {
    case LBX_EMPTY:
        return LBX_DIRECTIVE_RESUME;
    case LBX_FULL:
        return LBX_DIRECTIVE_STOP;
    case LBX_BUSY:
        return LBX_DIRECTIVE_RETRY;
    default:
        return LBX_DIRECTIVE_RESTART;
    }
}

FAMILY_TEST("", supervise_sees_the_failure_and_decides, LBX_DIRECTIVE_STOP)
{
    static lbx_status empty = LBX_EMPTY;
    static lbx_status full = LBX_FULL;

    family->p.decide = decide_by_status;
    family_begin(family);
    bid(&family->a, do_fail, &empty);
    CHECK_DIARY(&family->world, "p(player LBX_EMPTY 1)");
    lbx_tell(family->a.self, letter(FAILS));
    CHECK_DIARY(&family->world, "a:1000 p(player LBX_REFUSED 2) a- a+");
    bid(&family->a, do_fail, &full);
    CHECK_DIARY(&family->world, "p(player LBX_FULL 3) a-");
}

FAMILY_TEST("", supervise_may_change_the_retry_delay, LBX_DIRECTIVE_STOP)
{
    family->p.decide = decide_by_status;
    family->a.receive = busy_once;
    family_begin(family);
    lbx_tell(family->a.self, letter(1));
    CHECK_DIARY(&family->world, "a:1 p(player LBX_BUSY 1)");
    CHECK_DIARY_AFTER(&family->world, 49, "");
    CHECK_DIARY_AFTER(&family->world, 1, "a:1");
}

static lbx_status
spawn_and_fail(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    CHECK_OK(part_spawn_in(context, argument));
    return LBX_REFUSED;
}

static lbx_status
fail_first_start(lbx_context *context, struct part *part)
{
    (void)context;
    return atomic_load(&part->starts) == 1 ? LBX_BUSY : LBX_OK;
}

// p has failed itself, and its own supervisor has not decided yet, when its
// child fails to start: the function decides about that all the same.
LINE_TEST("ACTOR-5", failed_parent_still_decides_by_its_own_function)
{
    struct part d;

    part_init(&d, &line->world, "d");
    line->g.strategy.directive = LBX_DIRECTIVE_RESUME;
    line->p.decide = retry_busy; // the strategy beside it says: restart
    d.start = fail_first_start;
    line_begin(line);
    bid(&line->p, spawn_and_fail, &d);
    CHECK_DIARY(&line->world, "d+");
    CHECK_DIARY_AFTER(&line->world, 99, "");
    CHECK_DIARY_AFTER(&line->world, 1, "d- d+");
    world_end(&line->world); // the actors use what lies on this stack
}

// ---- Numbers that are no directives ----

static lbx_directive
decide_nonsense(lbx_context *context, struct part *part,
                lbx_child_failure *failure)
{
    (void)context;
    (void)part;
    (void)failure;
    return (lbx_directive)77;
}

FAMILY_TEST("", decision_that_is_no_directive_stops_the_child,
            LBX_DIRECTIVE_RESUME)
{
    family->p.decide = decide_nonsense;
    family_begin_failing(family);
    CHECK_DIARY(&family->world, "a:1000 a-");
    CHECK(!lbx_ref_is_alive(family->a.self));
}

ACTOR_TEST("", strategy_without_a_directive_is_refused)
{
    static const int numbers[] = {77, -1};

    for (size_t i = 0; i < 2; i++) {
        lbx_props props = part_props(a);
        lbx_pool pool = LBX_POOL_INIT;
        lbx_fault fault = {.status = LBX_OK};
        lbx_ref ref;

        props.fault = &fault;
        pool.props = &props;
        pool.strategy.directive = (lbx_directive)numbers[i];
        CHECK_STATUS(LBX_INVALID,
                     lbx_system_spawn_pool(world->system, &pool, NULL, &ref));
        CHECK(strstr(fault.text, "directive"));
        fault.text[0] = 0;
        props.strategy.directive = (lbx_directive)numbers[i];
        CHECK_STATUS(LBX_INVALID,
                     lbx_system_spawn(world->system, &props, NULL, &ref));
        CHECK(strstr(fault.text, "directive"));
    }
}
