/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crowds: a warning about an actor that does not keep up.
 *
 * The default mailbox has no limit. A sender whose message has a round number
 * looks how many wait, and the first that finds a crowd says so, once in the
 * life of the actor. The other messages cost one comparison. A mailbox of a
 * chosen kind warns by its own metrics, if the settings say from when on.
 *
 * Threads: any; without a lock.
 */
#include "actor/core/actor_mailbox.h"
#include "actor/core/system.h"

#include <stdio.h>

enum {
    CROWD_PATH_BYTES = 300,
    CROWD_LINE_BYTES = 500,
};

/* Says how many messages wait for an actor, if that lives. */
static void
crowd_warn(lbx_system *system, lbx_ref ref, uint64_t depth, const char *advice)
{
    char path[CROWD_PATH_BYTES];
    char line[CROWD_LINE_BYTES];

    if (lbx_ref_path(ref, path, sizeof(path)) == LBX_NOT_FOUND)
        return;
    (void)snprintf(line, sizeof(line), "%s: %llu messages wait%s", path,
                   (unsigned long long)depth, advice);
    system->options.warn(system->options.warn_context, line);
}

void
lbx__crowd_check(lbx__cell *cell)
{
    // Relaxed: the path is read for a life that has not ended only.
    const lbx_ref ref = {
        lbx__ref_of(cell, lbx__load(&cell->generation, relaxed))};
    uint64_t depth;

    if (!cell->system->options.warn)
        return;
    depth = lbx__stats_inbox_depth(cell);
    // Relaxed: any thread may be the first.
    if (depth < LBX__CROWD ||
        (lbx__or(&cell->family, LBX__FAMILY_CROWDED, relaxed) &
         LBX__FAMILY_CROWDED))
        return;
    crowd_warn(cell->system, ref, depth,
               ", and its mailbox has no limit; a bounded one (docs/actors.md) "
               "would slow down its senders or refuse (said once of each "
               "actor)");
}

void
lbx__crowd_note_pressure(void *context, const lbx_metric_event *event)
{
    lbx__actor_mailbox *box = context;
    const lbx_ref owner = {(uint64_t)(uintptr_t)box->options.owner};

    if (event->metric == LBX_METRIC_PRESSURE)
        crowd_warn(box->system, owner, event->count,
                   " (mailbox-pressure of its mailbox)");
}
