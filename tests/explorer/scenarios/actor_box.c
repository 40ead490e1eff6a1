/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors whose messages lie in a mailbox: its end and its next owner (ABOX-1,
 * ABOX-2), one that several share, some of them suspended, and messages that
 * wait for capacity (OUTBOX-1, OUTBOX-2) as long as their time lasts.
 */
#include "explorer/scenarios/players.h"
#include "explorer/scenarios/scenarios.h"

#include "actor/core/system.h"
#include <letterbox/compat/akka.h>

/* Time that a thread of the scenario moves: at any moment, between any two
 * looks at it. */
static _Atomic(int64_t) time_ns;

static int64_t
read_time(void *context)
{
    (void)context;
    return lbx__load(&time_ns, seq_cst);
}

static const lbx_clock moving_clock = {.now_ns = read_time};

STEP(pass_time, (void)lbx__add(&time_ns, 2 * LBX_MS, seq_cst))

/* ---- Setups ---- */

STEP(reset, players_reset(), stage_create())

static void
setup(void)
{
    reset();
    stage_spawn_boxed(&first, NULL);
    stage_run();
}

STEP(setup_at_work, setup(), stage_tell(&first))
STEP(setup_stopped, setup(), lbx_ref_stop(first.ref))

// A pool of one, about to look into its empty mailbox. A message for the first
// is one for the pool.
static void
setup_pool(uint32_t routees)
{
    const lbx_props props = stage_props(&first);
    lbx_pool pool = LBX_POOL_INIT;

    reset();
    pool.routing = LBX_POOL_ROUTING_BALANCING;
    pool.routees = routees;
    pool.props = &props;
    EXPECT_OK(lbx_system_spawn_pool(stage, &pool, NULL, &first.ref));
    stage_run();
}

static void
setup_balancer(void)
{
    setup_pool(1);
    lbx__cell_wake_always(lbx__cell_of(first.ref.word));
}

// A pool of two, of which one is idle and will soon be suspended.
static void
setup_half_suspended(void)
{
    setup_pool(2);
    second.ref.word = lbx__cell_ref(lbx__cell_of(first.ref.word)->children);
}

static void
tell_second(lbx_context *context)
{
    (void)context;
    stage_tell(&second);
}

// The second's mailbox is full, and a message of the first waits for capacity.
static void
setup_waiting(void)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    reset();
    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.wait_ns = LBX_FOREVER;
    first.plays = tell_second;
    stage_spawn(&first);
    stage_spawn_boxed(&second, &options);
    stage_run();
    stage_tell(&first);
    stage_tell(&second);
    EXPECT(lbx__dispatcher_run(stage->dispatcher, 1) == 1);
    EXPECT(first.handled == 1 && second.handled == 0);
}

// The second's mailbox is full, and stays so; the first is about to tell it
// something, and will wait a moment.
static void
setup_in_time(void)
{
    lbx_mailbox_options options = lbx_akka_mailbox_options();

    players_reset();
    lbx__init(&time_ns, LBX_SECOND);
    stage_create_with_clock(&moving_clock);
    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.wait_ns = LBX_MS;
    first.plays = tell_second;
    stage_spawn(&first);
    stage_spawn_boxed(&second, &options);
    EXPECT_OK(lbx_ref_suspend(second.ref));
    stage_run();
    stage_tell(&second);
    stage_run();
    EXPECT(second.handled == 0);
    stage_tell(&first);
}

STEP(setup_waiting_and_stopped, setup_waiting(), lbx_ref_stop(first.ref))

/* ---- Threads ---- */

STEP(stop_second, lbx_ref_stop(second.ref))
STEP(suspend_second, EXPECT_OK(lbx_ref_suspend(second.ref)))

// The first's cell and its box are the second's, if they are free by then.
static void
work_and_spawn(void)
{
    stage_run();
    stage_spawn_boxed(&second, NULL);
    stage_tell(&second);
    stage_run();
}

/* ---- Ends ---- */

// When its time is over the message is a dead letter, and its sender runs
// again.
static void
finish_in_time(void)
{
    pass_time();
    (void)lbx__timers_fire(stage->timers);
    stage_run();
    EXPECT(ledger_lost_total() == 1);
    first.plays = NULL;
    stage_tell(&first);
    stage_run();
    EXPECT(first.handled == 2);
    EXPECT_OK(lbx_ref_resume(second.ref));
    stage_finish();
}

static void
finish_reused(void)
{
    stage_run();
    EXPECT(second.handled == 1);
    stage_finish();
}

const struct scenario actor_box_scenarios[] = {
    SCENARIO("actor-box/two-senders", setup_at_work, finish_handled,
             THREADS(tell, tell, stage_run), BOUND(1, 3)),
    TWIN("actor-box/given-up-without-a-look", "release-forgets-the-box",
         "a worker that releases a cell does not look into its box (CELL-2)",
         BOUND(1, 2)),
    SCENARIO("actor-box/end", setup, stage_finish,
             THREADS(tell, stop, stage_run), BOUND(2, 3)),
    TWIN("actor-box/end-under-a-sender's-hands", "senders-do-not-hold",
         "a sender does not hold the box (ABOX-1)", BOUND(1, 2)),
    SCENARIO("actor-box/reused", setup_stopped, finish_reused,
             THREADS(tell, work_and_spawn), BOUND(2, 3)),
    TWIN("actor-box/reused-and-not-looked-at-again", "any-box-will-do",
         "a sender does not look which actor's box it holds (ABOX-2)",
         BOUND(1, 2)),
    TWIN("actor-box/reused-while-it-is-free", "free-boxes-are-held",
         "a sender raises the count of a free box (ABOX-1)", BOUND(2, 2)),
    SCENARIO("actor-box/balancer", setup_balancer, finish_handled,
             THREADS(tell, stage_run), BOUND(2, 0)),
    TWIN("actor-box/balancer-is-not-woken", "balancer-is-not-woken",
         "what is sent during a balancer's run wakes no child", BOUND(2, 3)),
    SCENARIO("actor-box/balancer-and-a-suspended-one", setup_half_suspended,
             finish_handled, THREADS(tell, suspend_second, stage_run),
             BOUND(1, 2)),
    TWIN("actor-box/balancer-wakes-the-suspended-one", "balancer-wakes-one",
         "a balancer wakes one of its children, which may be suspended",
         BOUND(1, 2)),
    SCENARIO("actor-box/waits-in-time", setup_in_time, finish_in_time,
             THREADS(stage_run, pass_time), BOUND(2, 0)),
    TWIN("actor-box/waits-for-ever", "late-is-never",
         "a wait whose time is over before its timer starts has no end",
         BOUND(2, 2)),
    SCENARIO("actor-box/waits-for-capacity", setup_waiting, stage_finish,
             THREADS(stage_run, stage_run, stop), BOUND(1, 3)),
    SCENARIO("actor-box/waits-for-capacity-and-ends", setup_waiting_and_stopped,
             stage_finish, THREADS(stage_run, stage_run), BOUND(2, 3)),
    TWIN("actor-box/waits-and-is-freed-under-way",
         "outbox-frees-what-is-under-way",
         "an ended sender frees what a waker is about to push (OUTBOX-2)",
         BOUND(1, 2)),
    TWIN("actor-box/waits-and-is-never-freed", "outbox-buries-nothing",
         "what a waker pushed after the end is left (OUTBOX-2)", BOUND(1, 2)),
    SCENARIO("actor-box/waits-for-one-that-ends", setup_waiting, stage_finish,
             THREADS(stop, stop_second, stage_run), BOUND(1, 2)),
    {0},
};
