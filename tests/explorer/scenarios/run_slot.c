/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's slot: its worker swaps, others raid (RSLOT-1, RSLOT-2). A cell is
 * only a number here, and is taken once.
 */
#include "explorer/points.h"

#include "actor/dispatch/run_slot.h"
#include "explorer/scenarios/ledger.h"
#include "explorer/scenarios/scenarios.h"

#include <string.h>

static lbx__run_slot slot;

static void
note(const lbx__runnable *runnable)
{
    if (runnable)
        ledger_received((uint64_t)(uintptr_t)runnable);
}

// RSLOT-1 left out on the worker's side, or the lock.
static lbx__runnable *
swap_blindly(lbx__runnable *runnable)
{
    lbx__runnable *before;

    lbx__store(&slot.touching, 1u, relaxed);
    if (lbx__load(&slot.raided, acquire) != 0 &&
        explorer_mutant("worker-takes-no-lock"))
        lbx__store(&slot.touching, 0u, release);
    before = lbx__run_slot_exchange(&slot, runnable);
    lbx__store(&slot.touching, 0u, release);
    return before;
}

static lbx__runnable *
swap(lbx__runnable *runnable)
{
    if (explorer_mutant("worker-does-not-look") ||
        explorer_mutant("worker-takes-no-lock"))
        return swap_blindly(runnable);
    return lbx__run_slot_swap(&slot, runnable);
}

// RSLOT-1 left out on the raider's side.
static lbx__runnable *
raid_blindly(void)
{
    lbx__runnable *runnable;

    lbx__lock_take(&slot.lock);
    lbx__store(&slot.raided, 1u, seq_cst);
    runnable = lbx__load(&slot.runnable, acquire);
    lbx__store(&slot.runnable, NULL, relaxed);
    lbx__store(&slot.raided, 0u, release);
    lbx__lock_give(&slot.lock);
    return runnable;
}

static void
put(void)
{
    uint64_t message = ledger_message();

    ledger_sent(message);
    note(swap((lbx__runnable *)(uintptr_t)message));
}

static void
setup(void)
{
    ledger_reset();
    memset(&slot, 0, sizeof(slot));
    put();
}

static void
work(void)
{
    put();
    note(swap(NULL));
    put();
}

static void
raid(void)
{
    note(explorer_mutant("raider-does-not-look") ? raid_blindly()
                                                 : lbx__run_slot_raid(&slot));
}

STEP(finish, note(swap(NULL)), ledger_check(false))

const struct scenario run_slot_scenarios[] = {
    SCENARIO("run-slot/one-raider", setup, finish, THREADS(work, raid)),
    TWIN("run-slot/the-worker-does-not-look", "worker-does-not-look",
         "the worker does not look whether its slot is raided (RSLOT-1)"),
    TWIN("run-slot/the-worker-takes-no-lock", "worker-takes-no-lock",
         "the worker goes on although its slot is raided (RSLOT-2)"),
    TWIN("run-slot/the-raider-does-not-look", "raider-does-not-look",
         "a raider does not look whether the worker is there (RSLOT-1)"),
    SCENARIO("run-slot/two-raiders", setup, finish, THREADS(work, raid, raid),
             BOUND(4, 0)),
    {0},
};
