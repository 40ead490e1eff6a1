/* SPDX-License-Identifier: Apache-2.0 */
/* A turn: what a worker does with a cell that it was given. */
#ifndef LBX_ACTOR_TURN_H
#define LBX_ACTOR_TURN_H

#include "actor/core/cell.h"

/* Runs a cell and gives it up, or puts it back on a queue; how many messages it
 * handled. */
uint64_t lbx__run_cell(lbx__runnable *runnable);

#endif
