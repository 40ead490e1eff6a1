/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of workers that are killed, and the score at the end. In the
 * parent; what it starts has no checks. */
#ifndef LBX_TEST_CRASH_PROCESSES_H
#define LBX_TEST_CRASH_PROCESSES_H

#include "workers.h"

#include <sys/types.h>

enum {
    PROCESS_PATIENCE_MS = 120000 /* then a process hangs */
};

/* "file:" and a new folder of the test's. */
const char *processes_url(void);

/* Four senders and four receivers, with the seed of rounds_seed(); wide. */
struct workers processes_workers(struct ledger *ledger, const char *url,
                                 const lbx_store_options *options);

/* Starts a process that does this; one that fails tells the ledger. */
pid_t processes_start(const struct workers *workers,
                      lbx_status (*work)(const struct workers *workers));

/* Waits for its end, which must come; what waitpid() says of it. */
int processes_await(pid_t child);

/* Kills it, and checks that it had not ended by itself. */
void processes_kill(const struct workers *workers, pid_t child);

/* A process that drains the store. */
void processes_drain(const struct workers *workers);

/* The wall clock, as the function of a lbx_clock. */
int64_t processes_wall_ns(void *context);

/* How long opening took, for this part of all opens. */
double processes_open_ms(struct ledger *ledger, double part);

/* The figure: "WHAT: N kills, M acknowledged operations, lost=0 ..." */
void score_report(const char *what, long kills, const struct score *score);

/* The same for what `wide` adds. */
void processes_report_calls(const char *what, struct ledger *ledger);

/* Adds what is wrong in `more`. */
void score_add(struct score *score, const struct score *more);

/* Checks that nothing is wrong; and that something was done, too. */
void score_check_faultless(const struct score *score);
void score_check(const struct score *score);

#endif
