/* SPDX-License-Identifier: Apache-2.0 */
/* Bars: see progress.h. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
    BAR_WIDTH = 40
};

#define FIRST_NS (300 * LBX_MS)
#define DRAW_NS  (100 * LBX_MS)

void
cli_progress_open(struct cli_progress *progress)
{
    *progress = (struct cli_progress){
        .shown = isatty(STDERR_FILENO) == 1,
        .next_ns = lbx_deadline_after(NULL, FIRST_NS), // most are done by then
    };
}

void
cli_progress_draw(struct cli_progress *progress, uint64_t done, uint64_t total)
{
    const int64_t now = lbx_clock_now(NULL);
    char bar[BAR_WIDTH + 1];
    int full;

    if (!progress->shown || now < progress->next_ns)
        return;
    progress->next_ns = now + DRAW_NS;
    progress->drawn = true;
    total = total < done ? done : total;
    full = total > 0 ? (int)((double)done / (double)total * BAR_WIDTH) : 0;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < full ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3d%%  %" PRIu64 " of %" PRIu64 "\033[K", bar,
            total > 0 ? (int)((double)done / (double)total * 100) : 0, done,
            total);
    fflush(stderr);
}

void
cli_progress_clear(struct cli_progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
