/* SPDX-License-Identifier: Apache-2.0 */
/* Exploring one scenario: the loop around the machine, and its report. */
#ifndef LBX_EXPLORER_EXPLORE_H
#define LBX_EXPLORER_EXPLORE_H

#include "explorer.h"
#include "search.h"

struct exploration {
    uint64_t interleavings; /* executions that ran to their end */
    uint64_t cut;           /* executions that turned out to be repetitions */
    uint64_t states;
    unsigned deepest;
    double seconds;
    bool failed;
    char failure[512];
    char schedule[2048]; /* of the failure, for --replay */
};

/* Runs `scenario` through the search's executions, at most `most` (0: all),
 * or up to the first failure. */
void explore(const struct scenario *scenario, enum search_mode mode,
             unsigned bound, uint64_t seed, uint64_t most,
             struct exploration *ret);

/* Runs one execution by its schedule and prints each step. */
void explore_replay(const struct scenario *scenario, const char *schedule);

#endif
