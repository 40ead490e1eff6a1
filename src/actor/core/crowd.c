/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crowds: a warning about an actor that does not keep up.
 *
 * The default mailbox has no limit. A sender whose message has a round number
 * looks how many wait, and the first that finds a crowd says so, once in the
 * life of the actor. The other messages cost one comparison.
 *
 * Threads: any; without a lock.
 */
#include "actor/core/system.h"

#include <stdio.h>

enum {
    CROWD_PATH_BYTES = 300,
    CROWD_LINE_BYTES = 500,
};

void
lbx__crowd_check(lbx__cell *cell)
{
    const lbx_system_options *options = &cell->system->options;
    // Relaxed: the path below is read for a life that has not ended only.
    const lbx_ref ref = {
        lbx__ref_of(cell, lbx__load(&cell->generation, relaxed))};
    char path[CROWD_PATH_BYTES] = "an actor";
    char line[CROWD_LINE_BYTES];
    uint64_t depth;

    if (!options->warn)
        return;
    depth = lbx__stats_inbox_depth(cell);
    // Relaxed: any thread may be the first.
    if (depth < LBX__CROWD ||
        (lbx__or(&cell->family, LBX__FAMILY_CROWDED, relaxed) &
         LBX__FAMILY_CROWDED))
        return;
    if (lbx_ref_path(ref, path, sizeof(path)) == LBX_NOT_FOUND)
        return;
    (void)snprintf(line, sizeof(line),
                   "%s: %llu messages wait, and its mailbox has no limit; a "
                   "bounded one (docs/actors.md) would slow down its senders "
                   "or refuse (said once of each actor)",
                   path, (unsigned long long)depth);
    options->warn(options->warn_context, line);
}
