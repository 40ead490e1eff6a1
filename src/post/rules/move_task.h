/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task that moves letters, as a row {from, number} of its table.
 *
 * Threads    one at a time, as the storage.
 */
#ifndef LBX_POST_RULES_MOVE_TASK_H
#define LBX_POST_RULES_MOVE_TASK_H

#include "post/rules/internal.h"

enum {
    LBX__MOVE_TASK_BYTES = 64,
    LBX__MOVE_TASKS_MAX = 10
};

typedef struct lbx__move_task {
    uint64_t from, number;
    uint64_t to; /* 0: where each came from */
    int64_t rate;
    int64_t started_ns, started_ms;
    uint64_t moved;
    lbx_move_phase phase;
    lbx_status reason;
} lbx__move_task;

/* Writes a task; its row exists or is reserved. */
void lbx__move_task_write(lbx__rules *rules, const lbx__move_task *task);

/* The first task at `from` or after it; of one box if `prefix` is 8. OK;
 * NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__move_task_seek(lbx__rules *rules, const lbx__key *from,
                               size_t prefix, lbx__move_task *ret);

/* The tasks of a box, the oldest first. OK; CORRUPT; IO. */
lbx_status lbx__move_task_read_all(lbx__rules *rules, uint64_t from,
                                   lbx__move_task ret[LBX__MOVE_TASKS_MAX],
                                   size_t *ret_count);

#endif
