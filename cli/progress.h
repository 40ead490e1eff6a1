/* SPDX-License-Identifier: Apache-2.0 */
/* A bar on standard error, if that is a terminal, for what takes long. */
#ifndef LBX_CLI_PROGRESS_H
#define LBX_CLI_PROGRESS_H

#include "cli.h"

struct cli_progress {
    bool shown;      /* standard error is a terminal */
    bool drawn;      /* there is a bar to remove */
    int64_t next_ns; /* not drawn before */
};

void cli_progress_open(struct cli_progress *progress);
void cli_progress_draw(struct cli_progress *progress, uint64_t done,
                       uint64_t total);

/* Removes the bar, so that a line can be printed. */
void cli_progress_clear(struct cli_progress *progress);

#endif
