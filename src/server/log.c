/* SPDX-License-Identifier: Apache-2.0 */
#include "server/log.h"

#include <inttypes.h>
#include <letterbox/base.h>
#include <stdio.h>

static void
log_tell_dropped(lbx__log *log, uint64_t dropped)
{
    char text[96];

    if (dropped == 0)
        return;
    (void)snprintf(text, sizeof(text),
                   "%" PRIu64 " lines were dropped: more than %" PRIu32
                   " in a second",
                   dropped, log->max_lines);
    log->write(log->context, text);
}

void
lbx__log_write(lbx__log *log, int64_t now_ns, const char *line)
{
    const int64_t second = now_ns / LBX_SECOND;
    uint64_t dropped = 0;
    bool passes;

    if (!log->write)
        return;
    lbx__lock_take(&log->lock);
    if (second != log->second) {
        log->second = second;
        log->lines = 0;
    }
    passes = log->max_lines == 0 || log->lines < log->max_lines;
    if (passes) {
        log->lines++;
        dropped = log->dropped;
        log->dropped = 0;
    } else
        log->dropped++;
    lbx__lock_give(&log->lock);
    if (!passes)
        return;
    // Not under the lock: a function of the user's.
    log_tell_dropped(log, dropped);
    log->write(log->context, line);
}

void
lbx__log_flush(lbx__log *log)
{
    uint64_t dropped;

    if (!log->write)
        return;
    lbx__lock_take(&log->lock);
    dropped = log->dropped;
    log->dropped = 0;
    lbx__lock_give(&log->lock);
    log_tell_dropped(log, dropped);
}
