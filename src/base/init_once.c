/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initialisation that is done once: one word that is a futex.
 *
 * A thread that finds it under way sets the word to 3 before it sleeps, so that
 * the end costs a system call only when there are waiters.
 */
#include "base/init_once.h"

#include "base/park.h"

bool
lbx__init_once_is_done(lbx__init_once *once)
{
    // Acquire: pairs with the release in lbx__init_once_end(), and shows what
    // was made.
    return lbx__load(&once->state, acquire) == 2;
}

bool
lbx__init_once_begin(lbx__init_once *once)
{
    while (!lbx__init_once_is_done(once)) {
        uint32_t seen = 0;

        // Acquire: what a failed try has undone.
        if (lbx__cas(&once->state, &seen, 1u, acquire))
            return true;
        // Relaxed: it only records that a thread sleeps.
        if (seen == 3 ||
            (seen == 1 && lbx__cas(&once->state, &seen, 3u, relaxed)))
            lbx__futex_wait(&once->state, 3, -1);
    }
    return false;
}

void
lbx__init_once_end(lbx__init_once *once, bool done)
{
    // Release: what was made, or undone.
    if (lbx__exchange(&once->state, done ? 2u : 0u, release) == 3)
        lbx__futex_wake(&once->state, INT32_MAX);
}
