/* SPDX-License-Identifier: Apache-2.0 */
/* How workers fall asleep, watch and are woken: D2, D5, D6. */
#include "actor/dispatch/worker.h"

enum {
    WATCH_NS = 10000000, /* between two looks at the others */
    LOOKS = 3 + LBX__SPINS(97),
};

/* Takes one off the list of sleepers; the watcher last (D5). Under the lock. */
static lbx__worker *
take_sleeper(lbx__dispatcher *dispatcher)
{
    lbx__worker **link = &dispatcher->asleep;
    lbx__worker *sleeper;

    // Relaxed: it is set under the lock, and cleared when nobody is stuck.
    if (*link && (*link)->next_asleep && lbx__load(&(*link)->watches, relaxed))
        link = &(*link)->next_asleep;
    sleeper = *link;
    if (!sleeper)
        return NULL;
    *link = sleeper->next_asleep;
    sleeper->is_asleep = false;
    (void)lbx__sub(&dispatcher->sleepers, 1, seq_cst);
    (void)lbx__add(&dispatcher->searching, 1, seq_cst);
    sleeper->searching = true;
    return sleeper;
}

void
lbx__sleepers_wake(lbx__worker *called)
{
    // Release: it sees `searching`. It waits for this, and may be gone then.
    lbx__store(&called->parked, 0u, release);
    lbx__futex_wake(&called->parked, 1);
}

void
lbx__sleepers_wake_one(lbx__dispatcher *dispatcher)
{
    lbx__worker *sleeper;

    lbx__lock_take(&dispatcher->lock);
    sleeper = take_sleeper(dispatcher);
    lbx__lock_give(&dispatcher->lock);
    if (sleeper)
        lbx__sleepers_wake(sleeper);
}

/* D2: some sleep, and nobody searches. */
static bool
is_one_wanted(lbx__dispatcher *dispatcher)
{
    return lbx__load(&dispatcher->sleepers, seq_cst) > 0 &&
           lbx__load(&dispatcher->searching, seq_cst) == 0;
}

lbx__worker *
lbx__sleepers_claim(lbx__dispatcher *dispatcher)
{
    return is_one_wanted(dispatcher) ? take_sleeper(dispatcher) : NULL;
}

void
lbx__sleepers_notify(lbx__dispatcher *dispatcher)
{
    if (is_one_wanted(dispatcher))
        lbx__sleepers_wake_one(dispatcher);
}

void
lbx__sleepers_want_watcher(lbx__dispatcher *dispatcher)
{
    // A read-modify-write on both sides (see end_search()): ours comes before
    // that of the last who searches, who then sees the slot; or after it, and
    // we see 0.
    if (lbx__load(&dispatcher->sleepers, seq_cst) > 0 &&
        lbx__add(&dispatcher->searching, 0, seq_cst) == 0)
        lbx__sleepers_wake_one(dispatcher);
}

bool
lbx__dispatcher_has_work(lbx__dispatcher *dispatcher)
{
    if (lbx__load(&dispatcher->queued, seq_cst) > 0)
        return true;
    for (uint32_t i = 0; i < dispatcher->options.threads; i++)
        if (!lbx__run_queue_is_empty(&dispatcher->workers[i].queue))
            return true;
    return false;
}

/* Takes oneself off the list of sleepers; false when a waker was faster. */
static bool
unlist(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    bool listed;

    lbx__lock_take(&dispatcher->lock);
    listed = mine->is_asleep;
    if (listed) {
        lbx__worker **link = &dispatcher->asleep;

        while (*link != mine)
            link = &(*link)->next_asleep;
        *link = mine->next_asleep;
        mine->is_asleep = false;
        (void)lbx__sub(&dispatcher->sleepers, 1, seq_cst);
    }
    lbx__lock_give(&dispatcher->lock);
    return listed;
}

/* Everybody sleeps, the caller too. */
static bool
all_sleep(lbx__dispatcher *dispatcher)
{
    return lbx__load(&dispatcher->sleepers, seq_cst) ==
           dispatcher->options.threads;
}

/* D5: becomes the watcher, if one is wanted. */
static bool
begin_watch(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    uint32_t nobody = 0;

    if (!dispatcher->has_slots || all_sleep(dispatcher) ||
        !lbx__cas(&dispatcher->watching, &nobody, 1u, seq_cst))
        return false;
    // Relaxed: see take_sleeper().
    lbx__store(&mine->watches, 1u, relaxed);
    return true;
}

static bool
slots_are_empty(lbx__dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < dispatcher->options.threads; i++)
        // Relaxed: after a barrier, or a search (D5).
        if (lbx__load(&dispatcher->workers[i].slot.runnable, relaxed))
            return false;
    return true;
}

bool
lbx__sleepers_lack_watcher(lbx__dispatcher *dispatcher)
{
    // Relaxed: who used a slot before we ended our search has seen no other.
    return lbx__load(&dispatcher->watching, relaxed) == 0 &&
           !slots_are_empty(dispatcher);
}

/* D5: no longer watches, unless a slot is in use, whose worker may have seen a
 * watcher. */
static bool
end_watch(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__store(&dispatcher->watching, 0u, seq_cst);
    (void)lbx__barrier_all(); // who uses a slot does not: runslot.h
    if (!slots_are_empty(dispatcher) && begin_watch(mine))
        return false;
    lbx__store(&mine->watches, 0u, relaxed);
    return true;
}

/* A runnable that has waited in a slot since the last look, or NULL. */
static lbx__runnable *
look_around(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    lbx__runnable *runnable = NULL;

    for (uint32_t i = 1; i < dispatcher->options.threads && !runnable; i++) {
        lbx__worker *other =
            &dispatcher
                 ->workers[(mine->index + i) % dispatcher->options.threads];
        // Relaxed: a number, whose changing is enough.
        uint64_t turns = lbx__load(&other->turns, relaxed);

        if (turns == other->seen)
            runnable = lbx__run_slot_raid(&other->slot);
        other->seen = turns;
    }
    return runnable;
}

/* Sleeps until somebody calls. */
static void
await_call(lbx__worker *mine)
{
    // Acquire: pairs with the release in lbx__sleepers_wake_one().
    while (lbx__load(&mine->parked, acquire) != 0)
        lbx__futex_wait(&mine->parked, 1, -1);
}

/* D5: is awake; if others sleep, one of them watches. */
static void
hand_on_watch(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__store(&mine->watches, 0u, relaxed);
    lbx__store(&dispatcher->watching, 0u, seq_cst);
    if (lbx__load(&dispatcher->sleepers, seq_cst) > 0 && lbx__barrier_all() &&
        !slots_are_empty(dispatcher))
        lbx__sleepers_wake_one(dispatcher);
}

/* The same, with an eye on the others: D5. */
static void
await_call_watching(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    lbx__runnable *runnable = NULL;

    for (int looks = 1; !runnable; looks++) {
        lbx__futex_wait(&mine->parked, 1, WATCH_NS);
        if (lbx__load(&mine->parked, acquire) == 0) // as above
            break;
        if ((looks % LOOKS == 0 || all_sleep(dispatcher)) && end_watch(mine)) {
            await_call(mine);
            return;
        }
        runnable = look_around(mine);
    }
    hand_on_watch(mine);
    if (!runnable || !unlist(mine))
        await_call(mine);
    if (runnable)
        lbx__worker_enqueue(mine, runnable);
}

/* Puts oneself on the list of sleepers, as the watcher if there is none. */
static bool
list(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    bool watches;

    lbx__lock_take(&dispatcher->lock);
    mine->next_asleep = dispatcher->asleep;
    dispatcher->asleep = mine;
    mine->is_asleep = true;
    (void)lbx__add(&dispatcher->sleepers, 1, seq_cst);
    watches = begin_watch(mine);
    lbx__lock_give(&dispatcher->lock);
    return watches;
}

void
lbx__sleepers_add(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    bool watches;

    if (mine->searching) {
        mine->searching = false;
        (void)lbx__sub(&dispatcher->searching, 1, seq_cst);
    }
    // Relaxed: a waker writes it only after we are on the list.
    lbx__store(&mine->parked, 1u, relaxed);
    watches = list(mine);
    if ((lbx__dispatcher_has_work(dispatcher) ||
         lbx__load(&dispatcher->stopping, seq_cst) != 0) &&
        unlist(mine)) {
        if (watches)
            hand_on_watch(mine);
        return;
    }
    lbx__worker_count(&mine->parks, 1);
    if (watches)
        await_call_watching(mine);
    else
        await_call(mine);
}
