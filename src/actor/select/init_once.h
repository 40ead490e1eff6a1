/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Something that is done once, by whoever comes first; the others wait. Unlike
 * a lock it may be held for long, across callbacks and the start of threads.
 * When it failed, the next one tries again.
 */
#ifndef LBX_ACTOR_SELECT_INIT_ONCE_H
#define LBX_ACTOR_SELECT_INIT_ONCE_H

#include "base/atomic.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct lbx__init_once {
    _Atomic(uint32_t) state; /* 0: to do; 1: under way; 2: done; 3: under
                                 way, and somebody sleeps */
} lbx__init_once;

/* True: the caller does it, and calls lbx__init_once_end(). False: it is done. */
bool lbx__init_once_begin(lbx__init_once *once);
void lbx__init_once_end(lbx__init_once *once, bool done);

bool lbx__init_once_is_done(lbx__init_once *once);

#endif
