/* SPDX-License-Identifier: Apache-2.0 */
/* What scenarios with two actors, `first` and `second`, have in common. */
#ifndef LBX_EXPLORER_PLAYERS_H
#define LBX_EXPLORER_PLAYERS_H

#include "explorer.h"
#include "explorer/scenarios/stage.h"

#include <string.h>

static struct player first;
static struct player second;

static inline void
players_reset(void)
{
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
}

/* ---- Threads ---- */

static inline void
tell(void)
{
    stage_tell(&first);
}

static inline void
stop(void)
{
    lbx_ref_stop(first.ref);
}

/* ---- Ends ---- */

/* The first has handled everything. */
static inline void
finish_handled(void)
{
    unsigned sent = ledger_sent_total();

    stage_finish();
    EXPECT(first.handled == sent);
}

#endif
