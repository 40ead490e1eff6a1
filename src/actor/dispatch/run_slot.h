/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's slot: the runnable that it runs next.
 *
 * The slot costs its worker no read-modify-write. Other workers do not take
 * from it until the worker has been in one run for long; then the watcher raids
 * it (DISP-5).
 *
 * RSLOT-1  The worker sets `touching` first and reads `raided` then; a raider
 *          sets `raided` first, makes every thread pass a barrier, and reads
 *          `touching` then. So at least one sees the other: the raider leaves,
 *          the worker takes the lock.
 * RSLOT-2  A raider holds the lock from before it sets `raided` until it has
 *          taken the runnable or left.
 *
 * Where there is no such barrier, slots are not used with several workers:
 * lbx__run_slot_works().
 */
#ifndef LBX_ACTOR_DISPATCH_RUN_SLOT_H
#define LBX_ACTOR_DISPATCH_RUN_SLOT_H

#include "actor/dispatch/runnable.h"
#include "base/park.h"

typedef struct lbx__run_slot {
    _Atomic(lbx__runnable *) runnable;
    _Atomic(uint32_t) touching;
    _Atomic(uint32_t) raided;
    lbx__lock lock;
} lbx__run_slot;

/* Returns whether slots may be raided on this machine. */
static inline bool
lbx__run_slot_works(void)
{
    return lbx__barrier_ready();
}

static inline lbx__runnable *
lbx__run_slot_exchange(lbx__run_slot *slot, lbx__runnable *runnable)
{
    // Relaxed: RSLOT-1 keeps others away. Release: a raider sees the runnable
    // as we do.
    lbx__runnable *before = lbx__load(&slot->runnable, relaxed);

    lbx__store(&slot->runnable, runnable, release);
    return before;
}

/* Puts a runnable there, or NULL, and returns what was there. By the worker. */
static inline lbx__runnable *
lbx__run_slot_swap(lbx__run_slot *slot, lbx__runnable *runnable)
{
    lbx__runnable *before;

    // Relaxed: ordered by the raider's barrier (RSLOT-1).
    lbx__store(&slot->touching, 1u, relaxed);
    lbx__keep_order();
    // Acquire: what a raider did before it cleared `raided`.
    if (lbx__load(&slot->raided, acquire) == 0) {
        before = lbx__run_slot_exchange(slot, runnable);
        // Release: a raider that sees it sees the slot.
        lbx__store(&slot->touching, 0u, release);
        return before;
    }
    lbx__store(&slot->touching, 0u, release);
    lbx__lock_take(&slot->lock); // RSLOT-2
    before = lbx__run_slot_exchange(slot, runnable);
    lbx__lock_give(&slot->lock);
    return before;
}

/* Takes the runnable out of another worker's slot; NULL when there is none, or
 * when the worker is touching the slot. */
static inline lbx__runnable *
lbx__run_slot_raid(lbx__run_slot *slot)
{
    lbx__runnable *runnable = NULL;

    // Relaxed: a hint that saves the rest.
    if (!lbx__load(&slot->runnable, relaxed))
        return NULL;
    lbx__lock_take(&slot->lock);
    lbx__store(&slot->raided, 1u, seq_cst);
    // Acquire: pairs with the release of `touching`.
    if (!lbx__barrier_all() || lbx__load(&slot->touching, acquire) != 0) {
        lbx__pause(); // the worker is inside; the next raid tries again
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
