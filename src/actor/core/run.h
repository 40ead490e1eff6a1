/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: one scheduled execution of a cell.
 *
 * Threads: the one that owns the cell (CELL-1).
 */
#ifndef LBX_ACTOR_CORE_RUN_H
#define LBX_ACTOR_CORE_RUN_H

#include "actor/core/cell.h"

/* Runs the cell of a runnable, and releases it or schedules it again; returns
 * how many messages it handled. */
uint64_t lbx__run_cell(lbx__runnable *runnable);

#endif
