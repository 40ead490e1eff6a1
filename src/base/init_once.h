/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisation that is done once, by the first thread that needs it, while
 * the others wait.
 *
 * Unlike a lock it may be held for long, across callbacks and the start of
 * threads. When it fails, the next thread tries again. What was made may also
 * be undone, so that it is made again: lbx__init_once_end() with false.
 *
 * Threads: any.
 */
#ifndef LBX_BASE_INIT_ONCE_H
#define LBX_BASE_INIT_ONCE_H

#include "base/atomic.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct lbx__init_once {
    /* 0: to do; 1: under way; 2: done; 3: under way, with sleeping waiters */
    _Atomic(uint32_t) state;
} lbx__init_once;

/* Returns true when the caller must do it, and call lbx__init_once_end(); false
 * when it is done. */
bool lbx__init_once_begin(lbx__init_once *once);
void lbx__init_once_end(lbx__init_once *once, bool done);

bool lbx__init_once_is_done(lbx__init_once *once);

#endif
