/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells: their owner, their end, and their next life (CELL-1 to CELL-5).
 *
 * The threads send, stop and run cells. Whatever is left when they have ended
 * is run in finish(): a message whose cell no worker would run is missing then.
 */
#include "explorer/scenarios/players.h"
#include "explorer/scenarios/scenarios.h"

/* ---- Setups ---- */

static void
setup(void)
{
    players_reset();
    stage_create();
    stage_spawn(&first);
    stage_run();
}

// It has a message already, so that there is a run to end.
STEP(setup_at_work, setup(), stage_tell(&first))

// It has had more than a mailbox, and goes the long way from then on.
static void
become_special(lbx_context *context)
{
    EXPECT_OK(lbx_context_set_receive_timeout(context, -1));
}

static void
setup_special(void)
{
    setup();
    first.plays = become_special;
    stage_tell(&first);
    stage_run();
}

STEP(setup_stopped, setup(), lbx_ref_stop(first.ref))

// It ends by itself, and will be stopped as well.
STEP(setup_poisoned, setup(), lbx_tell(first.ref, lbx_poison_pill()))

static void
watch_first(lbx_context *context)
{
    EXPECT_OK(lbx_context_watch(context, first.ref));
}

// The second is about to watch the first, which is about to end.
static void
setup_watch(void)
{
    setup();
    second.plays = watch_first;
    stage_spawn(&second);
    stage_run();
    stage_tell(&second);
    lbx_ref_stop(first.ref);
}

/* ---- Threads ---- */

STEP(tell_2, stage_tell(&first), stage_tell(&first))

static void
stop_and_tell(void)
{
    stage_tell(&first); // so that nodes are at hand for the next
    lbx_ref_stop(first.ref);
    stage_tell(&first);
}

// The cell of the first, if it is free by then, is the second's.
static void
work_and_spawn(void)
{
    stage_run();
    stage_spawn(&second);
    stage_tell(&second);
    stage_run();
}

/* ---- Ends ---- */

// What came after the stop, from the same thread, was not handled.
STEP(finish_in_order, stage_finish(), EXPECT(first.last[2] < 2))

static void
finish_ended(void)
{
    stage_run();
    EXPECT(!lbx_ref_is_alive(first.ref));
    stage_finish();
}

static void
finish_reused(void)
{
    stage_run();
    EXPECT(!lbx_ref_is_alive(first.ref));
    EXPECT(lbx_ref_is_alive(second.ref));
    EXPECT(second.handled == 1);
    stage_finish();
}

static void
finish_watch(void)
{
    stage_run();
    EXPECT(second.notices == 1); // ACTOR-7
    stage_finish();
}

const struct scenario cells_scenarios[] = {
    SCENARIO("cells/two-senders", setup_at_work, finish_handled,
             THREADS(tell, tell, stage_run), BOUND(2, 0)),
    TWIN("cells/given-up-without-a-look", "release-does-not-look",
         "a worker that releases a cell does not look for work then (CELL-2)",
         BOUND(1, 2)),
    TWIN("cells/looked-at-before-it-is-given-up", "release-looks-first",
         "a worker that releases a cell looks for work first (CELL-2)",
         BOUND(1, 2)),
    SCENARIO("cells/two-messages", setup, finish_handled,
             THREADS(tell_2, stage_run)),
    TWIN("cells/a-sender-does-not-wake", "senders-do-not-wake",
         "a sender does not look whether the cell is owned (CELL-2)"),
    SCENARIO("cells/two-workers", setup_at_work, finish_handled,
             THREADS(tell, stage_run, stage_run), BOUND(2, 3)),
    TWIN("cells/two-owners", "wake-takes-what-is-taken",
         "a sender puts a cell on the queue that is there already (CELL-1)",
         BOUND(1, 2)),
    SCENARIO("cells/end", setup, finish_ended, THREADS(tell, stop, stage_run)),
    TWIN("cells/end-without-a-burial", "ended-cells-bury-nothing",
         "what comes for an ended cell stays there (CELL-3)", BOUND(1, 2)),
    SCENARIO("cells/stopped-and-told", setup, finish_in_order,
             THREADS(stop_and_tell, stage_run)),
    TWIN("cells/stopped-and-told-without-a-look",
         "the-system-is-heard-too-early",
         "a message overtakes the stop that came before it"),
    SCENARIO("cells/stopped-and-told-the-long-way", setup_special,
             finish_in_order, THREADS(stop_and_tell, stage_run)),
    TWIN("cells/stopped-and-told-the-long-way-without-a-look",
         "the-system-is-heard-too-early",
         "a message overtakes the stop that came before it"),
    SCENARIO("cells/reused", setup_stopped, finish_reused,
             THREADS(tell, work_and_spawn)),
    TWIN("cells/reused-and-no-look-at-the-ref", "any-life-will-do",
         "a message for the last life is handled by this one (ACTOR-8)"),
    SCENARIO("cells/reused-with-its-old-generation", setup_poisoned,
             finish_reused, THREADS(tell, work_and_spawn),
             PLANTED("end-keeps-the-generation",
                     "the generation is not raised at the end (CELL-3)")),
    SCENARIO(
        "cells/reused-while-it-is-owned", setup_stopped, finish_reused,
        THREADS(tell, work_and_spawn, stage_run),
        PLANTED(
            "free-cells-have-no-owner",
            "a cell from the free list is taken without `scheduled` (CELL-4)"),
        BOUND(1, 2)),
    ALSO("cells/reused-with-two-workers", BOUND(1, 3)),
    SCENARIO("cells/stopped-late", setup_poisoned, finish_reused,
             THREADS(stop, work_and_spawn)),
    TWIN("cells/stopped-late-in-any-life", "stop-is-for-any-life",
         "a stop is for any life (ACTOR-8)"),
    SCENARIO("cells/watched", setup_watch, finish_watch,
             THREADS(stage_run, stage_run), BOUND(2, 3)),
    TWIN("cells/watched-too-late", "late-watches-are-dropped",
         "a watch that comes after the end is not answered (ACTOR-7)",
         BOUND(1, 3)),
    {0},
};
