/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's slot: the cell it runs next.
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
 *     cell or gone away.
 *
 * Where there is no such barrier, nobody raids: see lbx__runslot_works().
 */
#ifndef LBX_ACTOR_RUNSLOT_H
#define LBX_ACTOR_RUNSLOT_H

#include "actor/cell.h"
#include "base/park.h"

typedef struct lbx__runslot {
    _Atomic(lbx__cell *) cell;
    _Atomic(uint32_t) touching;
    _Atomic(uint32_t) raided;
    lbx__lock lock;
} lbx__runslot;

/* Tells whether slots may be used here. */
static inline bool
lbx__runslot_works(void)
{
    return lbx__barrier_ready();
}

static inline lbx__cell *
lbx__runslot_exchange(lbx__runslot *slot, lbx__cell *cell)
{
    // Relaxed: whoever else takes it is kept away by U1. Release: a raider
    // sees the cell as we do.
    lbx__cell *before = lbx__load(&slot->cell, relaxed);

    lbx__store(&slot->cell, cell, release);
    return before;
}

/* Puts a cell there, or NULL, and returns what was there. By the worker. */
static inline lbx__cell *
lbx__runslot_swap(lbx__runslot *slot, lbx__cell *cell)
{
    lbx__cell *before;

    // Relaxed: ordered by the raider's barrier (U1).
    lbx__store(&slot->touching, 1u, relaxed);
    lbx__keep_order();
    // Acquire: what a raider did before it said that it was done.
    if (lbx__load(&slot->raided, acquire) == 0) {
        before = lbx__runslot_exchange(slot, cell);
        // Release: a raider that sees it sees the slot.
        lbx__store(&slot->touching, 0u, release);
        return before;
    }
    lbx__store(&slot->touching, 0u, release);
    lbx__lock_take(&slot->lock); // U2
    before = lbx__runslot_exchange(slot, cell);
    lbx__lock_give(&slot->lock);
    return before;
}

/* Takes the cell out of another worker's slot; NULL when there is none, or the
 * worker is there itself. */
static inline lbx__cell *
lbx__runslot_raid(lbx__runslot *slot)
{
    lbx__cell *cell = NULL;

    // Relaxed: a look that saves the rest.
    if (!lbx__load(&slot->cell, relaxed))
        return NULL;
    lbx__lock_take(&slot->lock);
    lbx__store(&slot->raided, 1u, seq_cst);
    // Acquire: pairs with the release of `touching`.
    if (!lbx__barrier_all() || lbx__load(&slot->touching, acquire) != 0) {
        lbx__pause(); // the worker needs a moment; the next raid may do
    } else {
        // Acquire: the cell as its worker left it.
        cell = lbx__load(&slot->cell, acquire);
        lbx__store(&slot->cell, NULL, relaxed); // published with `raided`
    }
    lbx__store(&slot->raided, 0u, release);
    lbx__lock_give(&slot->lock);
    return cell;
}

#endif
