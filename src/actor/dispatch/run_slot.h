/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's slot: the runnable it runs next.
 *
 * It is what the worker's own actor has just spoken to, so that it is warm, and
 * it costs no read-modify-write. Other workers leave it alone, until the worker
 * has been in one turn for long; then one of them raids it.
 *
 * U1  The worker says that it is `touching` the slot, and looks whether it is
 *     `raided` then; a raider says so first, makes every thread pass a barrier,
 *     and looks then. So one of them sees the other: the raider goes away, the
 *     worker takes the lock.
 * U2  A raider holds the lock from before it says so until it has taken the
 *     runnable or gone away.
 *
 * Where there is no such barrier, nobody raids: see lbx__run_slot_works().
 */
#ifndef LBX_ACTOR_RUNSLOT_H
#define LBX_ACTOR_RUNSLOT_H

#include "actor/dispatch/runnable.h"
#include "base/park.h"

typedef struct lbx__run_slot {
    _Atomic(lbx__runnable *) runnable;
    _Atomic(uint32_t) touching;
    _Atomic(uint32_t) raided;
    lbx__lock lock;
} lbx__run_slot;

/* Tells whether slots may be used here. */
static inline bool
lbx__run_slot_works(void)
{
    return lbx__barrier_ready();
}

static inline lbx__runnable *
lbx__run_slot_exchange(lbx__run_slot *slot, lbx__runnable *runnable)
{
    // Relaxed: whoever else takes it is kept away by U1. Release: a raider
    // sees the runnable as we do.
    lbx__runnable *before = lbx__load(&slot->runnable, relaxed);

    lbx__store(&slot->runnable, runnable, release);
    return before;
}

/* Puts a runnable there, or NULL, and returns what was there. By the worker. */
static inline lbx__runnable *
lbx__run_slot_swap(lbx__run_slot *slot, lbx__runnable *runnable)
{
    lbx__runnable *before;

    // Relaxed: ordered by the raider's barrier (U1).
    lbx__store(&slot->touching, 1u, relaxed);
    lbx__keep_order();
    // Acquire: what a raider did before it said that it was done.
    if (lbx__load(&slot->raided, acquire) == 0) {
        before = lbx__run_slot_exchange(slot, runnable);
        // Release: a raider that sees it sees the slot.
        lbx__store(&slot->touching, 0u, release);
        return before;
    }
    lbx__store(&slot->touching, 0u, release);
    lbx__lock_take(&slot->lock); // U2
    before = lbx__run_slot_exchange(slot, runnable);
    lbx__lock_give(&slot->lock);
    return before;
}

/* Takes the runnable out of another worker's slot; NULL when there is none, or the
 * worker is there itself. */
static inline lbx__runnable *
lbx__run_slot_raid(lbx__run_slot *slot)
{
    lbx__runnable *runnable = NULL;

    // Relaxed: a look that saves the rest.
    if (!lbx__load(&slot->runnable, relaxed))
        return NULL;
    lbx__lock_take(&slot->lock);
    lbx__store(&slot->raided, 1u, seq_cst);
    // Acquire: pairs with the release of `touching`.
    if (!lbx__barrier_all() || lbx__load(&slot->touching, acquire) != 0) {
        lbx__pause(); // the worker needs a moment; the next raid may do
    } else {
        // Acquire: the runnable as its worker left it.
        runnable = lbx__load(&slot->runnable, acquire);
        lbx__store(&slot->runnable, NULL, relaxed); // published with `raided`
    }
    lbx__store(&slot->raided, 0u, release);
    lbx__lock_give(&slot->lock);
    return runnable;
}

#endif
