/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow half of the lock.
 *
 * LOCK-1  A thread sleeps only on word == 2, and sets 2 itself before it
 *         sleeps: the thread that frees the lock then sees 2 and wakes one.
 * LOCK-2  A thread that has slept takes the lock with 2, since it cannot know
 *         whether others still sleep: at worst one wake-up too many.
 */
#include "base/lock.h"

#include "base/park.h"

enum {
    SPINS = 64
};

void
lbx__lock_wait(lbx__lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t seen = 0;

        // Relaxed load first: a failing compare-and-swap would pull the line
        // away from the holder. Acquire as in lbx__lock_take().
        if (lbx__load(&lock->word, relaxed) == 0 &&
            lbx__cas(&lock->word, &seen, 1u, acquire))
            return;
        lbx__pause();
    }
    // Acquire as in lbx__lock_take(); LOCK-2.
    while (lbx__exchange(&lock->word, 2u, acquire) != 0)
        lbx__futex_wait(&lock->word, 2, -1);
}

void
lbx__lock_wake(lbx__lock *lock)
{
    lbx__futex_wake(&lock->word, 1);
}
