/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells: who owns them, their end, and their next life (CELL-1 to CELL-5).
 *
 * The threads send, stop and run cells. Whatever is left when they have ended
 * is run in finish(): a message whose cell nobody would run is missing then.
 */
#include "explorer/scenarios/scenarios.h"
#include "explorer/scenarios/stage.h"

#include <string.h>

static struct player first;
static struct player second;

/* ---- Setups ---- */

static void
setup(void)
{
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    stage_create();
    stage_spawn(&first);
    stage_run();
}

// It has a message already, so that there is a turn to give up.
static void
setup_at_work(void)
{
    setup();
    stage_tell(&first);
}

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

static void
setup_stopped(void)
{
    setup();
    lbx_ref_stop(first.ref);
}

// It ends by itself, and will be stopped as well.
static void
setup_poisoned(void)
{
    setup();
    lbx_tell(first.ref, lbx_poison_pill());
}

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

static void
tell(void)
{
    stage_tell(&first);
}

static void
tell_2(void)
{
    stage_tell(&first);
    stage_tell(&first);
}

static void
stop(void)
{
    lbx_ref_stop(first.ref);
}

static void
stop_and_tell(void)
{
    stage_tell(&first); // so that nodes are at hand for the next
    lbx_ref_stop(first.ref);
    stage_tell(&first);
}

static void
work(void)
{
    stage_run();
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

static void
finish_handled(void)
{
    unsigned sent = ledger_sent_total();

    stage_finish();
    EXPECT(first.handled == sent);
}

// What came after the stop, from the same thread, was not handled.
static void
finish_in_order(void)
{
    stage_finish();
    EXPECT(first.last[2] < 2);
}

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
    {
        .name = "cells/two-senders",
        .setup = setup_at_work,
        .thread = {tell, tell, work},
        .finish = finish_handled,
        .bound = 2,
        .full_bound = 0,
    },
    {
        .name = "cells/two-messages",
        .setup = setup,
        .thread = {tell_2, work},
        .finish = finish_handled,
    },
    {
        .name = "cells/given-up-without-a-look",
        .bug = "who gives a cell up does not look for work then (CELL-2)",
        .mutant = "release-does-not-look",
        .setup = setup_at_work,
        .thread = {tell, tell, work},
        .finish = finish_handled,
        .bound = 1,
        .full_bound = 2,
    },
    {
        .name = "cells/looked-at-before-it-is-given-up",
        .bug = "who gives a cell up looks for work first (CELL-2)",
        .mutant = "release-looks-first",
        .setup = setup_at_work,
        .thread = {tell, tell, work},
        .finish = finish_handled,
        .bound = 1,
        .full_bound = 2,
    },
    {
        .name = "cells/a-sender-does-not-wake",
        .bug = "who adds work does not look whether somebody has the cell "
               "(CELL-2)",
        .mutant = "senders-do-not-wake",
        .setup = setup,
        .thread = {tell_2, work},
        .finish = finish_handled,
    },
    {
        .name = "cells/two-workers",
        .setup = setup_at_work,
        .thread = {tell, work, work},
        .finish = finish_handled,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "cells/two-owners",
        .bug =
            "a sender puts a cell on the queue that is there already (CELL-1)",
        .mutant = "wake-takes-what-is-taken",
        .setup = setup_at_work,
        .thread = {tell, work, work},
        .finish = finish_handled,
        .bound = 1,
        .full_bound = 2,
    },
    {
        .name = "cells/end",
        .setup = setup,
        .thread = {tell, stop, work},
        .finish = finish_ended,
    },
    {
        .name = "cells/end-without-a-burial",
        .bug = "what comes for an ended cell stays there (CELL-3)",
        .mutant = "ended-cells-bury-nothing",
        .setup = setup,
        .thread = {tell, stop, work},
        .finish = finish_ended,
        .bound = 1,
        .full_bound = 2,
    },
    {
        .name = "cells/stopped-and-told",
        .setup = setup,
        .thread = {stop_and_tell, work},
        .finish = finish_in_order,
    },
    {
        .name = "cells/stopped-and-told-the-long-way",
        .setup = setup_special,
        .thread = {stop_and_tell, work},
        .finish = finish_in_order,
    },
    {
        .name = "cells/stopped-and-told-without-a-look",
        .bug = "a message overtakes the stop that came before it",
        .mutant = "the-system-is-heard-too-early",
        .setup = setup,
        .thread = {stop_and_tell, work},
        .finish = finish_in_order,
    },
    {
        .name = "cells/stopped-and-told-the-long-way-without-a-look",
        .bug = "a message overtakes the stop that came before it",
        .mutant = "the-system-is-heard-too-early",
        .setup = setup_special,
        .thread = {stop_and_tell, work},
        .finish = finish_in_order,
    },
    {
        .name = "cells/reused",
        .setup = setup_stopped,
        .thread = {tell, work_and_spawn},
        .finish = finish_reused,
    },
    {
        .name = "cells/reused-and-no-look-at-the-ref",
        .bug = "a message for the last life is handled by this one (ACTOR-8)",
        .mutant = "any-life-will-do",
        .setup = setup_stopped,
        .thread = {tell, work_and_spawn},
        .finish = finish_reused,
    },
    {
        .name = "cells/reused-with-its-old-generation",
        .bug = "the generation is not raised at the end (CELL-3)",
        .mutant = "end-keeps-the-generation",
        .setup = setup_poisoned,
        .thread = {tell, work_and_spawn},
        .finish = finish_reused,
    },
    {
        .name = "cells/reused-while-somebody-owns-it",
        .bug =
            "a cell from the free list is taken without `scheduled` (CELL-4)",
        .mutant = "free-cells-are-nobodys",
        .setup = setup_stopped,
        .thread = {tell, work_and_spawn, work},
        .finish = finish_reused,
        .bound = 1,
        .full_bound = 2,
    },
    {
        .name = "cells/reused-with-two-workers",
        .setup = setup_stopped,
        .thread = {tell, work_and_spawn, work},
        .finish = finish_reused,
        .bound = 1,
        .full_bound = 3,
    },
    {
        .name = "cells/stopped-late",
        .setup = setup_poisoned,
        .thread = {stop, work_and_spawn},
        .finish = finish_reused,
    },
    {
        .name = "cells/stopped-late-whoever-it-is",
        .bug = "a stop is for any life (ACTOR-8)",
        .mutant = "stop-is-for-any-life",
        .setup = setup_poisoned,
        .thread = {stop, work_and_spawn},
        .finish = finish_reused,
    },
    {
        .name = "cells/watched",
        .setup = setup_watch,
        .thread = {work, work},
        .finish = finish_watch,
        .bound = 2,
        .full_bound = 3,
    },
    {
        .name = "cells/watched-too-late",
        .bug = "a watch that comes after the end is not answered (ACTOR-7)",
        .mutant = "late-watches-are-dropped",
        .setup = setup_watch,
        .thread = {work, work},
        .finish = finish_watch,
        .bound = 1,
        .full_bound = 3,
    },
    {0},
};
