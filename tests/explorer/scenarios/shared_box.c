/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors that share a mailbox on a balancing dispatcher: one that ends, the
 * last that ends, and one that comes then (SHARE-1 to SHARE-3).
 */
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/stage.h"

#include "actor/core/system.h"
#include "explorer.h"

#include <string.h>

/* What was handled is counted by member: a message for one of the stage's
 * players must reach that one, a message for a member any of them. */
static unsigned handled[2];
static lbx_ref members[2];
static lbx_settings *settings;

static lbx_status
start(lbx_context *context, void *state, void *argument)
{
    (void)context;
    *(unsigned **)state = argument;
    return LBX_OK;
}

static lbx_status
receive(lbx_context *context, void *state, void *message)
{
    (void)context;
    (**(unsigned **)state)++;
    ledger_received((uint64_t)(uintptr_t)message);
    return LBX_OK;
}

static const lbx_behaviour behaviour = {
    .size_bytes = sizeof(lbx_behaviour),
    .name = "member",
    .state_bytes = sizeof(unsigned *),
    .start = start,
    .receive = receive,
};

static void
spawn(int number)
{
    lbx_props props = LBX_PROPS_INIT;

    props.behaviour = &behaviour;
    props.argument = &handled[number];
    EXPECT_OK(lbx_system_spawn(stage, &props, NULL, &members[number]));
}

static void
tell_to(int number)
{
    uint64_t message = ledger_message();

    ledger_sent(message);
    lbx_tell(members[number], (void *)(uintptr_t)message);
}

/* ---- Setups ---- */

static void
setup_one(void)
{
    lbx_settings_options options = LBX_SETTINGS_OPTIONS_INIT;

    memset(handled, 0, sizeof(handled));
    memset(members, 0, sizeof(members));
    options.allocator = &explorer_memory;
    EXPECT_OK(lbx_settings_load_text("letterbox.actor.default-dispatcher.type "
                                     "= BalancingDispatcher",
                                     &options, &settings));
    stage_create_with_settings(settings);
    lbx_settings_unref(settings); // the system has it
    spawn(0);
    stage_run();
}

static void
setup_two(void)
{
    setup_one();
    spawn(1);
    stage_run();
}

// The first is suspended.
static void
setup_suspended(void)
{
    setup_two();
    EXPECT_OK(lbx_ref_suspend(members[0]));
    stage_run();
}

// The last one ends while another comes.
STEP(setup_stopped, setup_one(), lbx_ref_stop(members[0]))

/* ---- Threads ---- */

STEP(tell_first, tell_to(0))
STEP(stop_first, lbx_ref_stop(members[0]))
STEP(come, spawn(1), tell_to(1))

/* ---- Ends ---- */

// A member is there all the time: nothing is lost.
static void
finish_handled(void)
{
    stage_run();
    EXPECT(handled[0] + handled[1] == ledger_sent_total());
    stage_finish();
}

const struct scenario shared_box_scenarios[] = {
    SCENARIO("shared-box/told-and-stopped", setup_two, stage_finish,
             THREADS(tell_first, stop_first, stage_run), BOUND(2, 3)),
    SCENARIO("shared-box/works-for-the-suspended", setup_suspended,
             finish_handled, THREADS(tell_first, stage_run), BOUND(2, 3)),
    TWIN("shared-box/wakes-one-of-it", "one-member-is-woken",
         "a sender wakes one, which may be suspended (SHARE-2)", BOUND(2, 2)),
    SCENARIO("shared-box/comes-as-the-last-one-goes", setup_stopped,
             finish_handled, THREADS(come, stage_run), BOUND(2, 3)),
    TWIN("shared-box/comes-to-a-closed-mailbox", "left-mailboxes-are-kept",
         "the mailbox that the last member closed is kept (SHARE-3)",
         BOUND(2, 2)),
    {0},
};
