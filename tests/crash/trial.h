/* SPDX-License-Identifier: Apache-2.0 */
/* A trial: crews in processes of their own that are killed, and what is said of
 * them at the end. In the parent; what it starts has no checks. */
#ifndef LBX_TEST_CRASH_TRIAL_H
#define LBX_TEST_CRASH_TRIAL_H

#include "crew.h"

#include <sys/types.h>

enum {
    TRIAL_PATIENCE_MS = 30000 /* after that somebody is stuck */
};

/* "file:" and a new folder of the test's. */
const char *trial_url(void);

/* A crew of four senders and four receivers; its seed is LBX_SEED, if that is
 * set, and is printed. */
struct crew trial_crew(struct ledger *ledger, const char *url,
                       const lbx_store_options *options);

/* Starts a process that does this; one that fails tells the ledger. */
pid_t trial_start(const struct crew *crew,
                  lbx_status (*work)(const struct crew *crew));

/* Waits for its end, which must come; what waitpid() says of it. */
int trial_await(pid_t child);

/* Kills it, and checks that it had not ended by itself. */
void trial_kill(const struct crew *crew, pid_t child);

/* A process that drains the store. */
void trial_drain(const struct crew *crew);

void trial_sleep_ms(uint64_t ms);
uint64_t trial_draw(uint64_t *state, uint64_t below);

/* How long opening took, for this part of all opens. */
double trial_open_ms(struct ledger *ledger, double part);

/* The figure: "WHAT: N kills, M acknowledged operations, lost=0 ..." */
void trial_report(const char *what, long kills, const struct score *score);

/* That nothing is wrong, and something was done. */
void trial_check(const struct score *score);

#endif
