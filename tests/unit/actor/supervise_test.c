/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Supervision: what becomes of a child that failed, and of the message (A5).
 *
 * A family here is "p" with the children "a" and "b".
 */
#include <string.h>

#include "actor/fixture.h"

struct family {
    struct world world;
    struct part p;
    struct part a;
    struct part b;
};

static void
family_init(struct family *family, lbx_directive directive)
{
    world_begin(&family->world);
    part_init(&family->p, &family->world, "p");
    part_init(&family->a, &family->world, "a");
    part_init(&family->b, &family->world, "b");
    family->p.children[0] = &family->a;
    family->p.children[1] = &family->b;
    family->p.strategy.directive = directive;
}

static void
family_begin(struct family *family)
{
    part_spawn(&family->p);
    CHECK_DIARY(&family->world, "p+ a+ b+");
}

static void
family_end(struct family *family)
{
    world_end(&family->world);
}

// ---- Each directive ----

TEST_CITING("A5", resume_goes_on_with_the_next_message)
{
    struct family family;

    family_init(&family, LBX_RESUME);
    family_begin(&family);
    lbx_tell(family.a.self, letter(1));
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(2));
    CHECK_DIARY(&family.world, "a:1 a:1000 a:2");
    CHECK_INT(1, atomic_load(&family.a.starts)); // its state stays
    CHECK_INT(3, atomic_load(&family.world.ended));
    CHECK_INT(0, atomic_load(&family.world.dead_count));
    CHECK_INT(1, world_stats(&family.world).failures);
    family_end(&family);
}

TEST_CITING("A5", restart_keeps_the_mailbox)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family_begin(&family);
    lbx_tell(family.a.self, letter(1));
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(2));
    lbx_tell(family.b.self, letter(3));
    CHECK_DIARY(&family.world, "a:1 a:1000 b:3 a- a+ a:2");
    CHECK(lbx_ref_is_alive(family.a.self)); // the same life
    CHECK_INT(4, atomic_load(&family.world.ended));
    CHECK_INT(0, atomic_load(&family.world.dead_count));
    family_end(&family);
}

TEST(restart_is_what_happens_without_a_strategy)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family_begin(&family);
    lbx_tell(family.p.self, letter(FAILS)); // "/user" supervises p
    CHECK_DIARY(&family.world, "p:1000 b- a- p- p+ a+ b+");
    family_end(&family);
}

TEST_CITING("A5", stop_ends_the_child_and_its_mail_is_dead)
{
    struct family family;

    family_init(&family, LBX_STOP);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1000 a-");
    CHECK(!lbx_ref_is_alive(family.a.self));
    CHECK_INT(2, atomic_load(&family.world.ended));
    lbx_tell(family.b.self, letter(2));
    CHECK_DIARY(&family.world, "b:2");
    family_end(&family);
}

TEST_CITING("A5", dead_letters_get_the_failed_message)
{
    struct family family;

    family_init(&family, LBX_SEND_TO_DEAD_LETTERS);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS + 7));
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1007 a:1");
    CHECK_INT(1, atomic_load(&family.world.dead_count));
    world_check_dead(&family.world, 0, FAILS + 7, LBX_LOST_FAILED);
    CHECK(lbx_ref_equal(family.a.self, family.world.dead[0].recipient));
    CHECK_INT(2, atomic_load(&family.world.ended)); // once each
    CHECK_INT(1, atomic_load(&family.a.starts));
    family_end(&family);
}

static lbx_status
fail_twice(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    return number_of(message) >= FAILS && atomic_load(&part->received) <= 2
               ? LBX_REFUSED
               : LBX_OK;
}

TEST_CITING("A5", retry_waits_and_handles_the_message_again)
{
    struct family family;

    family_init(&family, LBX_RETRY);
    family.p.strategy.retry_ns = 100;
    family.a.receive = fail_twice;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1000");
    lbx_tell(family.a.self, letter(2));
    world_advance(&family.world, 99);
    CHECK_DIARY(&family.world, "");
    world_advance(&family.world, 1);
    CHECK_DIARY(&family.world, "a:1000");
    world_advance(&family.world, 100);
    CHECK_DIARY(&family.world, "a:1000 a:1 a:2"); // before all others
    CHECK_INT(3, atomic_load(&family.world.ended));
    CHECK_INT(0, atomic_load(&family.world.dead_count));
    CHECK_INT(1, atomic_load(&family.a.starts));
    family_end(&family);
}

TEST(retry_without_delay_is_at_once)
{
    struct family family;

    family_init(&family, LBX_RETRY);
    family.p.strategy.retry_ns = 0;
    family.a.receive = fail_twice;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1000 a:1000 a:1000 a:1");
    family_end(&family);
}

TEST(stop_while_waiting_for_a_retry_makes_a_dead_letter)
{
    struct family family;

    family_init(&family, LBX_RETRY);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000");
    lbx_stop(family.a.self);
    CHECK_DIARY(&family.world, "a-");
    CHECK_INT(1, atomic_load(&family.world.dead_count));
    CHECK_INT(1, atomic_load(&family.world.ended));
    world_advance(&family.world, LBX_SECOND); // the retry finds nobody
    CHECK_DIARY(&family.world, "");
    family_end(&family);
    CHECK_INT(1, atomic_load(&family.world.ended));
}

// Nothing but the failed message is there to be ended.
TEST(system_ends_while_a_retry_is_due_later)
{
    struct family family;

    family_init(&family, LBX_RETRY);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000");
    family_end(&family);
    CHECK_INT(1, atomic_load(&family.world.ended));
}

// ---- Escalation ----

TEST(escalate_fails_the_parent)
{
    struct family family;

    family_init(&family, LBX_ESCALATE);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.p.self, letter(5));
    // "/user" restarts p, which has fresh children then.
    CHECK_DIARY(&family.world, "a:1000 b- a- p- p+ p:5 a+ b+");
    family_end(&family);
}

TEST(escalate_goes_to_the_top)
{
    struct world world;
    struct part parts[3];

    world_begin(&world);
    for (int i = 0; i < 3; i++) {
        static const char *const names[3] = {"g", "p", "c"};

        part_init(&parts[i], &world, names[i]);
        parts[i].strategy.directive = LBX_ESCALATE;
        if (i > 0)
            parts[i - 1].children[0] = &parts[i];
    }
    part_spawn(&parts[0]);
    CHECK_DIARY(&world, "g+ p+ c+");
    lbx_tell(parts[2].self, letter(FAILS));
    CHECK_DIARY(&world, "c:1000 c- p- g- g+ p+ c+");
    CHECK_INT(3, world_stats(&world).failures);
    world_end(&world);
}

// Resuming a parent that had escalated resumes the child that failed.
TEST(escalated_failure_that_is_resumed_resumes_the_child)
{
    struct world world;
    struct part g;
    struct part p;
    struct part c;

    world_begin(&world);
    part_init(&g, &world, "g");
    part_init(&p, &world, "p");
    part_init(&c, &world, "c");
    g.strategy.directive = LBX_RESUME;
    p.strategy.directive = LBX_ESCALATE;
    g.children[0] = &p;
    p.children[0] = &c;
    part_spawn(&g);
    CHECK_DIARY(&world, "g+ p+ c+");
    lbx_tell(c.self, letter(FAILS));
    lbx_tell(c.self, letter(1));
    lbx_tell(p.self, letter(2));
    CHECK_DIARY(&world, "c:1000 p:2 c:1");
    world_end(&world);
}

// ---- Limits ----

TEST(child_that_restarts_too_often_is_stopped)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family.p.strategy.max_restarts = 2;
    family.p.strategy.within_ns = 1000;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 a- a+ a:1000 a- a+");
    world_advance(&family.world, 1001);
    lbx_tell(family.a.self, letter(FAILS)); // another window
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 a- a+ a:1000 a- a+");
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 a-");
    CHECK(!lbx_ref_is_alive(family.a.self));
    family_end(&family);
}

TEST(negative_limits_are_none)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family.p.strategy.max_restarts = -1;
    family.a.silent = true;
    part_spawn(&family.p);
    (void)world_run(&family.world);
    for (int i = 0; i < 100; i++)
        lbx_tell(family.a.self, letter(FAILS));
    (void)world_run(&family.world);
    CHECK_INT(101, atomic_load(&family.a.starts));
    family_end(&family);
}

TEST(negative_window_is_for_ever)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family.p.strategy.max_restarts = 1;
    family.p.strategy.within_ns = -1;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 a- a+");
    world_advance(&family.world, 1000000 * LBX_SECOND);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 a-");
    family_end(&family);
}

TEST(no_restarts_allowed_is_stop)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family.p.strategy.max_restarts = 0;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 a-");
    family_end(&family);
}

// ---- All for one ----

TEST(all_for_one_restarts_every_child)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family.p.strategy.all_for_one = true;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 b- b+ a- a+");
    lbx_tell(family.b.self, letter(1));
    CHECK_DIARY(&family.world, "b:1");
    family_end(&family);
}

TEST(all_for_one_stops_every_child)
{
    struct family family;

    family_init(&family, LBX_STOP);
    family.p.strategy.all_for_one = true;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 b- a-");
    lbx_tell(family.p.self, letter(1));
    CHECK_DIARY(&family.world, "p:1");
    family_end(&family);
}

// Both children fail before the parent has decided about the first. Each has a
// child of its own, which must have ended before it starts again.
TEST(two_failures_at_once_still_wait_for_grandchildren)
{
    struct family family;
    struct part c;

    family_init(&family, LBX_RESTART);
    part_init(&c, &family.world, "c");
    family.p.strategy.all_for_one = true;
    family.a.children[0] = &c;
    part_spawn(&family.p);
    CHECK_DIARY(&family.world, "p+ a+ b+ c+");
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.b.self, letter(FAILS));
    (void)world_run(&family.world); // a's start spawns c: its name must be free
    CHECK(lbx_ref_is_alive(c.self));
    CHECK(atomic_load(&family.a.starts) >= 2);
    CHECK_INT(atomic_load(&c.starts), atomic_load(&c.stops) + 1);
    family_end(&family);
}

// ---- The supervisor's own function ----

static lbx_directive
decide_by_status(lbx_context *context, struct part *part, lbx_failure *failure)
{
    world_write(part->world, "%s(%s %s %u)", part->name, failure->name,
                lbx_status_name(failure->status), failure->failures);
    CHECK(lbx_ref_equal(part->children[0]->self, failure->child));
    CHECK(lbx_ref_equal(part->self, lbx_context_self(context)));
    CHECK(lbx_ref_equal(lbx_nobody(), lbx_context_sender(context)));
    failure->retry_ns = 50;
    switch (failure->status) {
    case LBX_EMPTY:
        return LBX_RESUME;
    case LBX_FULL:
        return LBX_STOP;
    case LBX_BUSY:
        return LBX_RETRY;
    default:
        return LBX_RESTART;
    }
}

TEST(supervise_sees_the_failure_and_decides)
{
    static lbx_status empty = LBX_EMPTY;
    static lbx_status full = LBX_FULL;
    struct family family;

    family_init(&family, LBX_STOP); // the function comes before the strategy
    family.p.decide = decide_by_status;
    family_begin(&family);
    bid(&family.a, do_fail, &empty);
    CHECK_DIARY(&family.world, "p(player LBX_EMPTY 1)");
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_DIARY(&family.world, "a:1000 p(player LBX_REFUSED 2) a- a+");
    bid(&family.a, do_fail, &full);
    CHECK_DIARY(&family.world, "p(player LBX_FULL 3) a-");
    family_end(&family);
}

static lbx_status
busy_once(lbx_context *context, struct part *part, void *message)
{
    (void)context;
    world_write(part->world, "%s:%d", part->name, number_of(message));
    return atomic_load(&part->received) == 1 ? LBX_BUSY : LBX_OK;
}

TEST(supervise_may_change_the_retry_delay)
{
    struct family family;

    family_init(&family, LBX_STOP);
    family.p.decide = decide_by_status;
    family.a.receive = busy_once;
    family_begin(&family);
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1 p(player LBX_BUSY 1)");
    world_advance(&family.world, 49);
    CHECK_DIARY(&family.world, "");
    world_advance(&family.world, 1);
    CHECK_DIARY(&family.world, "a:1");
    family_end(&family);
}

// p is resumed while its child waits to try again: that is not the child's
// affair.
TEST_CITING("A5", parents_resume_does_not_cut_a_childs_retry_short)
{
    struct world world;
    struct part g;
    struct part p;
    struct part c;

    world_begin(&world);
    part_init(&g, &world, "g");
    part_init(&p, &world, "p");
    part_init(&c, &world, "c");
    g.strategy.directive = LBX_RESUME;
    p.strategy.directive = LBX_RETRY;
    p.strategy.retry_ns = 100;
    c.receive = busy_once;
    g.children[0] = &p;
    p.children[0] = &c;
    part_spawn(&g);
    CHECK_DIARY(&world, "g+ p+ c+");
    lbx_tell(c.self, letter(1));
    CHECK_DIARY(&world, "c:1");
    lbx_tell(p.self, letter(FAILS));
    CHECK_DIARY(&world, "p:1000");
    world_advance(&world, 100);
    CHECK_DIARY(&world, "c:1");
    world_end(&world);
}

static lbx_directive
retry_busy(lbx_context *context, struct part *part, lbx_failure *failure)
{
    (void)context;
    (void)part;
    failure->retry_ns = 100;
    return failure->status == LBX_BUSY ? LBX_RETRY : LBX_RESTART;
}

// p has failed itself, and its own supervisor has not decided yet, when its
// child fails: the function decides about that all the same.
TEST_CITING("A5", failed_parent_still_decides_by_its_own_function)
{
    struct world world;
    struct part g;
    struct part p;
    struct part c;

    world_begin(&world);
    part_init(&g, &world, "g");
    part_init(&p, &world, "p");
    part_init(&c, &world, "c");
    g.strategy.directive = LBX_RESUME;
    p.decide = retry_busy; // the strategy beside it says: restart
    c.receive = busy_once;
    g.children[0] = &p;
    p.children[0] = &c;
    part_spawn(&g);
    CHECK_DIARY(&world, "g+ p+ c+");
    lbx_tell(p.self, letter(FAILS));
    lbx_tell(c.self, letter(1));
    CHECK_DIARY(&world, "p:1000 c:1");
    world_advance(&world, 100);
    CHECK_DIARY(&world, "c:1");
    world_end(&world);
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
TEST(retry_does_not_interrupt_a_restart)
{
    struct family family;
    struct part c;

    family_init(&family, LBX_RESTART);
    part_init(&c, &family.world, "c");
    family.p.strategy.all_for_one = true;
    family.p.decide = retry_busy;
    family.a.receive = stay_busy;
    family.a.children[0] = &c;
    part_spawn(&family.p);
    CHECK_DIARY(&family.world, "p+ a+ b+ c+");
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1"); // waits
    lbx_tell(family.b.self, letter(FAILS));
    CHECK_INT(3, world_run_most(&family.world, 3)); // b, p, and b or a
    // Until a has told c to stop, and c has not yet.
    while (atomic_load(&family.b.starts) < 2)
        CHECK_INT(1, world_run_most(&family.world, 1));
    test_clock_advance(&family.world.time, 100);
    (void)world_run(&family.world);
    CHECK_INT(2, atomic_load(&family.a.starts));
    CHECK_INT(2, atomic_load(&c.starts));
    CHECK(lbx_ref_is_alive(c.self));
    family_end(&family);
}

// ---- start ----

static lbx_status
fail_first_starts(lbx_context *context, struct part *part)
{
    (void)context;
    return atomic_load(&part->starts) <= 3 ? LBX_BUSY : LBX_OK;
}

TEST(start_that_fails_is_a_failure)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family.a.start = fail_first_starts;
    part_spawn(&family.p);
    CHECK_DIARY(&family.world, "p+ a+ b+ a- a+ a- a+ a- a+");
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1");
    CHECK_INT(3, world_stats(&family.world).failures);
    family_end(&family);
}

TEST(messages_wait_until_start_succeeds)
{
    struct world world;
    struct part a;

    world_begin(&world);
    part_init(&a, &world, "a");
    a.start = fail_first_starts;
    part_spawn(&a);
    lbx_tell(a.self, letter(1));
    CHECK_DIARY(&world, "a+ a- a+ a- a+ a- a+ a:1");
    world_end(&world);
}

static lbx_status
fail_to_start(lbx_context *context, struct part *part)
{
    (void)context;
    (void)part;
    return LBX_NO_MEMORY;
}

TEST(start_that_never_succeeds_ends_the_child)
{
    struct world world;
    struct part a;

    world_begin(&world);
    part_init(&a, &world, "a");
    a.silent = true;
    a.start = fail_to_start;
    part_spawn(&a);
    lbx_tell(a.self, letter(1));
    (void)world_run(&world);
    CHECK(!lbx_ref_is_alive(a.self));
    CHECK_INT(11, atomic_load(&a.starts)); // ten restarts in a minute
    CHECK_INT(11, atomic_load(&a.stops));
    CHECK_INT(1, atomic_load(&world.dead_count));
    world_end(&world);
}

// ---- While it fails ----

TEST(failed_actor_handles_nothing_until_decided)
{
    struct family family;

    family_init(&family, LBX_RESUME);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_INT(1, world_run_most(&family.world, 1));
    lbx_tell(family.a.self, letter(1));
    CHECK_INT(1, atomic_load(&family.a.received));
    CHECK_DIARY(&family.world, "a:1000 a:1");
    family_end(&family);
}

TEST_CITING("A6", failed_actor_can_be_stopped)
{
    struct family family;

    family_init(&family, LBX_RESUME);
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    CHECK_INT(1, world_run_most(&family.world, 1));
    lbx_stop(family.a.self);
    CHECK_DIARY(&family.world, "a:1000 a-");
    CHECK_INT(1, atomic_load(&family.world.ended));
    family_end(&family);
}

static lbx_status
stop_and_fail(lbx_context *context, struct part *part, void *argument)
{
    (void)part;
    (void)argument;
    lbx_context_stop(context);
    return LBX_REFUSED;
}

TEST(stopping_wins_over_failing)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family_begin(&family);
    bid(&family.a, stop_and_fail, NULL);
    CHECK_DIARY(&family.world, "a-");
    CHECK_INT(1, atomic_load(&family.world.ended));
    family_end(&family);
}

static lbx_status
take_and_fail(lbx_context *context, struct part *part, void *message)
{
    (void)part;
    (void)lbx_context_take(context);
    (void)message;
    return LBX_REFUSED;
}

TEST(taken_message_stays_the_handlers_when_it_fails)
{
    struct family family;

    family_init(&family, LBX_SEND_TO_DEAD_LETTERS);
    family.a.receive = take_and_fail;
    family_begin(&family);
    lbx_tell(family.a.self, letter(1));
    (void)world_run(&family.world);
    CHECK_INT(0, atomic_load(&family.world.ended));
    CHECK_INT(0, atomic_load(&family.world.dead_count));
    family_end(&family);
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

TEST_CITING("V-21 V-32", handle_error_may_settle_the_matter)
{
    struct family family;

    family_init(&family, LBX_RESTART);
    family.a.mend = mend_small;
    family_begin(&family);
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(1));
    CHECK_DIARY(&family.world, "a:1000 a~1000 a:1");
    CHECK_INT(2, atomic_load(&family.world.ended));
    CHECK_INT(1, world_stats(&family.world).failures); // it is counted
    lbx_tell(family.a.self, letter(FAILS + 10));
    CHECK_DIARY(&family.world, "a:1010 a~1010 a- a+");
    CHECK_INT(3, atomic_load(&family.world.ended));
    family_end(&family);
}

// The message loop of Vela: good, bad, good -> two handled, one error, alive.
TEST_CITING("V-32 V-33", loop_goes_on_after_an_error)
{
    struct family family;

    family_init(&family, LBX_RESUME);
    family.a.mend = mend_small;
    family_begin(&family);
    lbx_tell(family.a.self, letter(1));
    lbx_tell(family.a.self, letter(FAILS));
    lbx_tell(family.a.self, letter(2));
    CHECK_DIARY(&family.world, "a:1 a:1000 a~1000 a:2");
    CHECK_INT(3, world_stats(&family.world).handled);
    CHECK_INT(1, world_stats(&family.world).failures);
    family_end(&family);
}
