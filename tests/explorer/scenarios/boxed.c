/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors whose messages lie in a mailbox: its end and its next owner (X1, X2),
 * one that several share, and messages that wait for room (W1, W2).
 */
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/stage.h"

#include "actor/system.h"

#include <string.h>

static struct player first;
static struct player second;

/* ---- Setups ---- */

static void
reset(void)
{
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    stage_create();
}

static void
setup(void)
{
    reset();
    stage_spawn_boxed(&first, NULL);
    stage_run();
}

static void
setup_at_work(void)
{
    setup();
    stage_tell(&first);
}

static void
setup_stopped(void)
{
    setup();
    lbx_stop(first.ref);
}

// A pool of one, about to look into its empty mailbox. Who tells the first tells
// the pool.
static void
setup_balancer(void)
{
    lbx_pool pool = LBX_POOL_INIT;

    reset();
    pool.routing = LBX_BALANCING;
    pool.props = stage_props(&first);
    EXPECT_OK(lbx_system_spawn_pool(stage, &pool, NULL, &first.ref));
    stage_run();
    lbx__cell_wake_always(lbx__cell_of(first.ref.word));
}

static void
tell_second(lbx_context *context)
{
    (void)context;
    stage_tell(&second);
}

// The second's mailbox is full, and a message of the first waits for room.
static void
setup_waiting(void)
{
    lbx_mailbox_options options = lbx_mailbox_options_profile(LBX_PROFILE_AKKA);

    reset();
    options.capacity_messages = 1;
    options.overflow = LBX_BLOCK;
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

static void
setup_waiting_and_stopped(void)
{
    setup_waiting();
    lbx_stop(first.ref);
}

/* ---- Threads ---- */

static void
tell(void)
{
    stage_tell(&first);
}

static void
stop(void)
{
    lbx_stop(first.ref);
}

static void
stop_second(void)
{
    lbx_stop(second.ref);
}

static void
work(void)
{
    stage_run();
}

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

static void
finish_handled(void)
{
    unsigned sent = ledger_sent_total();

    stage_finish();
    EXPECT(first.handled == sent);
}

static void
finish(void)
{
    stage_finish();
}

static void
finish_reused(void)
{
    stage_run();
    EXPECT(second.handled == 1);
    stage_finish();
}

const struct scenario boxed_scenarios[] = {
    {
        .name = "boxed/two-senders",
        .setup = setup_at_work,
        .thread = {tell, tell, work},
        .finish = finish_handled,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "boxed/given-up-without-a-look",
        .bug = "who gives a cell up does not look into its mailbox (K2)",
        .mutant = "release-forgets-the-box",
        .setup = setup_at_work,
        .thread = {tell, tell, work},
        .finish = finish_handled,
        .bound = 2,
        .full_bound = 2,
    },
    {
        .name = "boxed/end",
        .setup = setup,
        .thread = {tell, stop, work},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "boxed/end-under-a-sender's-hands",
        .bug = "a sender does not hold the box (X1)",
        .mutant = "senders-do-not-hold",
        .setup = setup,
        .thread = {tell, stop, work},
        .finish = finish,
        .bound = 2,
        .full_bound = 2,
    },
    {
        .name = "boxed/reused",
        .setup = setup_stopped,
        .thread = {tell, work_and_spawn},
        .finish = finish_reused,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "boxed/reused-and-not-looked-at-again",
        .bug = "a sender does not look whose box it holds (X2)",
        .mutant = "any-box-will-do",
        .setup = setup_stopped,
        .thread = {tell, work_and_spawn},
        .finish = finish_reused,
        .bound = 2,
        .full_bound = 2,
    },
    {
        .name = "boxed/reused-while-it-is-free",
        .bug = "a sender raises the count of a free box (X1)",
        .mutant = "free-boxes-are-held",
        .setup = setup_stopped,
        .thread = {tell, work_and_spawn},
        .finish = finish_reused,
        .bound = 2,
        .full_bound = 2,
    },
    {
        .name = "boxed/balancer",
        .setup = setup_balancer,
        .thread = {tell, work},
        .finish = finish_handled,
        .bound = 3,
        .full_bound = 0,
    },
    {
        .name = "boxed/balancer-does-not-hear",
        .bug = "what is sent during a balancer's turn wakes nobody",
        .mutant = "balancer-does-not-hear",
        .setup = setup_balancer,
        .thread = {tell, work},
        .finish = finish_handled,
        .bound = 3,
        .full_bound = 3,
    },
    {
        .name = "boxed/waits-for-room",
        .setup = setup_waiting,
        .thread = {work, work, stop},
        .finish = finish,
        .bound = 1,
        .full_bound = 3,
    },
    {
        .name = "boxed/waits-for-room-and-ends",
        .setup = setup_waiting_and_stopped,
        .thread = {work, work},
        .finish = finish,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "boxed/waits-for-one-that-ends",
        .setup = setup_waiting,
        .thread = {stop, stop_second, work},
        .finish = finish,
        .bound = 2,
        .full_bound = 2,
    },
    {
        .name = "boxed/waits-and-is-freed-under-way",
        .bug = "an ended sender frees what a waker is about to push (W2)",
        .mutant = "outbox-frees-what-is-under-way",
        .setup = setup_waiting_and_stopped,
        .thread = {work, work},
        .finish = finish,
        .bound = 2,
        .full_bound = 2,
    },
    {
        .name = "boxed/waits-and-is-never-freed",
        .bug = "what a waker pushed after the end is left (W2)",
        .mutant = "outbox-buries-nothing",
        .setup = setup_waiting_and_stopped,
        .thread = {work, work},
        .finish = finish,
        .bound = 2,
        .full_bound = 2,
    },
    {0},
};
