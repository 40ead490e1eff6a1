/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: lines for people, not more in a second than they could read or a
 * disk should keep.
 *
 * LOG-1  At most `max_lines` lines of a second are passed on. How many were not
 *        is a line itself, before the next one that is, or at the end.
 *
 * Threads    any.
 */
#ifndef LBX_SERVER_LOG_H
#define LBX_SERVER_LOG_H

#include "base/lock.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct lbx__log {
    void (*write)(void *context, const char *line); /* NULL: no log */
    void *context;
    uint32_t max_lines; /* in a second; 0: no limit */
    lbx__lock lock;
    int64_t second;   /* under the lock, as the others */
    uint32_t lines;   /* in that second */
    uint64_t dropped; /* since the last that was passed on */
} lbx__log;

/* At `now_ns`. */
void lbx__log_write(lbx__log *log, int64_t now_ns, const char *line);

/* Says how many were dropped, if any. */
void lbx__log_flush(lbx__log *log);

#endif
