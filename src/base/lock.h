/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of one word: spins a little, then parks.
 *
 * States: 0 free, 1 held, 2 held and a thread may sleep. Not recursive, not
 * fair; held for a handful of instructions, never across a callback.
 */
#ifndef LBX_BASE_LOCK_H
#define LBX_BASE_LOCK_H

#include "base/atomic.h"
#include <stdint.h>

typedef struct lbx__lock {
    _Atomic(uint32_t) word;
} lbx__lock;

void lbx__lock_wait(lbx__lock *lock);
void lbx__lock_wake(lbx__lock *lock);

static inline void
lbx__lock_take(lbx__lock *lock)
{
    uint32_t seen = 0;

    // Acquire: what the last holder wrote is visible. Pairs with the release
    // in lbx__lock_give().
    if (!lbx__cas(&lock->word, &seen, 1u, acquire))
        lbx__lock_wait(lock);
}

static inline void
lbx__lock_give(lbx__lock *lock)
{
    // Release: the next holder sees what this thread wrote.
    if (lbx__exchange(&lock->word, 0u, release) == 2)
        lbx__lock_wake(lock);
}

#endif
