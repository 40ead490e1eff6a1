/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actors under test: a system without threads of its own, whose cells are run
 * by the scenario's threads, with the ledger kept. A message is handled by the
 * actor it was meant for or is a dead letter, once (ACTOR-3, ACTOR-8).
 */
#ifndef LBX_EXPLORER_STAGE_H
#define LBX_EXPLORER_STAGE_H

#include "explorer/scenarios/ledger.h"

#include <letterbox/letterbox.h>

struct player {
    lbx_ref ref;
    /* What else it does with a message. */
    void (*plays)(lbx_context *context);
    /* Set while it runs: ACTOR-1. */
    bool busy;
    unsigned handled;
    unsigned notices;
    uint64_t last[8]; /* by sender: the last message */
    _Atomic(uint32_t) visits;
};

extern lbx_system *stage;

/* Makes the system; in setup(). */
void stage_create(void);
void stage_create_with_threads(int64_t threads);
void stage_create_with_clock(const lbx_clock *clock);
void stage_create_with_settings(const lbx_settings *settings);

/* A player's life; in a thread too. */
lbx_props stage_props(struct player *player);
void stage_spawn(struct player *player);
void stage_spawn_boxed(struct player *player,
                       const lbx_mailbox_options *options);

/* Tells a new message; or makes one that is told by other means. */
void stage_tell(const struct player *player);
void *stage_message(const struct player *player);

/* Runs cells until there are none. */
void stage_run(void);

/* In finish(): runs what is left, checks the ledger, ends the system. */
void stage_finish(void);

#endif
