/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleepers: how workers fall asleep, watch the others and are woken (DISP-2,
 * DISP-5, DISP-6 in dispatcher.h).
 *
 * A sleeping worker is on the list of its dispatcher, under that lock, and
 * waits on its own word `parked`. A waker takes it off the list, which makes it
 * a searching worker, and clears the word after that.
 */
#include "actor/dispatch/worker.h"

enum {
    WATCH_NS = 10000000, /* the interval of a watcher */
    WATCHES = 3 + LBX__SPINS(97),
};

/* Takes one off the list; the watcher last (DISP-5). Under the lock. */
static lbx__worker *
sleepers_take(lbx__dispatcher *dispatcher)
{
    lbx__worker **link = &dispatcher->asleep;
    lbx__worker *sleeper;

    // Relaxed: set under the lock; a stale value only changes the choice.
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
    // Release: it sees `searching`. It waits for this store, and may be gone
    // after it.
    lbx__store(&called->parked, 0u, release);
    lbx__futex_wake(&called->parked, 1);
}

void
lbx__sleepers_wake_one(lbx__dispatcher *dispatcher)
{
    lbx__worker *sleeper;

    lbx__lock_take(&dispatcher->lock);
    sleeper = sleepers_take(dispatcher);
    lbx__lock_give(&dispatcher->lock);
    if (sleeper)
        lbx__sleepers_wake(sleeper);
}

/* DISP-2: some workers sleep, and none searches. */
static bool
sleepers_one_is_wanted(lbx__dispatcher *dispatcher)
{
    return lbx__load(&dispatcher->sleepers, seq_cst) > 0 &&
           lbx__load(&dispatcher->searching, seq_cst) == 0;
}

lbx__worker *
lbx__sleepers_claim(lbx__dispatcher *dispatcher)
{
    return sleepers_one_is_wanted(dispatcher) ? sleepers_take(dispatcher)
                                              : NULL;
}

void
lbx__sleepers_notify(lbx__dispatcher *dispatcher)
{
    if (sleepers_one_is_wanted(dispatcher))
        lbx__sleepers_wake_one(dispatcher);
}

void
lbx__sleepers_want_watcher(lbx__dispatcher *dispatcher)
{
    // A read-modify-write on both sides (see worker_end_search()): ours comes
    // before that of the last searching worker, which then sees the slot; or
    // after it, and we see 0.
    if (lbx__load(&dispatcher->sleepers, seq_cst) > 0 &&
        lbx__add(&dispatcher->searching, 0, seq_cst) == 0)
        lbx__sleepers_wake_one(dispatcher);
}

/* Takes the calling worker off the list; false when a waker was faster. */
static bool
sleepers_unlist(lbx__worker *mine)
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

/* All workers sleep, the caller included. */
static bool
sleepers_all_sleep(lbx__dispatcher *dispatcher)
{
    return lbx__load(&dispatcher->sleepers, seq_cst) ==
           dispatcher->options.threads;
}

/* DISP-5: the caller becomes the watcher, if one is wanted. */
static bool
sleepers_begin_watch(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    uint32_t none = 0;

    if (!dispatcher->has_slots || sleepers_all_sleep(dispatcher) ||
        !lbx__cas(&dispatcher->watching, &none, 1u, seq_cst))
        return false;
    // Relaxed: see sleepers_take().
    lbx__store(&mine->watches, 1u, relaxed);
    return true;
}

static bool
sleepers_slots_are_empty(lbx__dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < dispatcher->options.threads; i++)
        // Relaxed: after a barrier, or a search (DISP-5).
        if (lbx__load(&dispatcher->workers[i].slot.runnable, relaxed))
            return false;
    return true;
}

bool
lbx__sleepers_lack_watcher(lbx__dispatcher *dispatcher)
{
    // Relaxed: a worker that used a slot before our search ended has left
    // this to us.
    return lbx__load(&dispatcher->watching, relaxed) == 0 &&
           !sleepers_slots_are_empty(dispatcher);
}

/* DISP-5: the caller stops watching, unless a slot is in use, whose worker may
 * have seen a watcher. */
static bool
sleepers_end_watch(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__store(&dispatcher->watching, 0u, seq_cst);
    (void)lbx__barrier_all(); // for workers that use a slot: run_slot.h
    if (!sleepers_slots_are_empty(dispatcher) && sleepers_begin_watch(mine))
        return false;
    lbx__store(&mine->watches, 0u, relaxed);
    return true;
}

/* A runnable that has waited in a slot since the last interval, or NULL. */
static lbx__runnable *
sleepers_raid_slots(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    lbx__runnable *runnable = NULL;

    for (uint32_t i = 1; i < dispatcher->options.threads && !runnable; i++) {
        lbx__worker *other =
            &dispatcher
                 ->workers[(mine->index + i) % dispatcher->options.threads];
        // Relaxed: only whether it has changed matters.
        uint64_t runs = lbx__load(&other->runs, relaxed);

        if (runs == other->seen)
            runnable = lbx__run_slot_raid(&other->slot);
        other->seen = runs;
    }
    return runnable;
}

/* Sleeps until a waker clears `parked`. */
static void
sleepers_wait(lbx__worker *mine)
{
    // Acquire: pairs with the release in lbx__sleepers_wake().
    while (lbx__load(&mine->parked, acquire) != 0)
        lbx__futex_wait(&mine->parked, 1, -1);
}

/* DISP-5: the watcher is awake; if others sleep, one of them watches. */
static void
sleepers_pass_watch_on(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__store(&mine->watches, 0u, relaxed);
    lbx__store(&dispatcher->watching, 0u, seq_cst);
    if (lbx__load(&dispatcher->sleepers, seq_cst) > 0 && lbx__barrier_all() &&
        !sleepers_slots_are_empty(dispatcher))
        lbx__sleepers_wake_one(dispatcher);
}

/* The same for the watcher (DISP-5). */
static void
sleepers_wait_watching(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    lbx__runnable *runnable = NULL;

    for (int watches = 1; !runnable; watches++) {
        lbx__futex_wait(&mine->parked, 1, WATCH_NS);
        if (lbx__load(&mine->parked, acquire) == 0) // as above
            break;
        if ((watches % WATCHES == 0 || sleepers_all_sleep(dispatcher)) &&
            sleepers_end_watch(mine)) {
            sleepers_wait(mine);
            return;
        }
        runnable = sleepers_raid_slots(mine);
    }
    sleepers_pass_watch_on(mine);
    if (!runnable || !sleepers_unlist(mine))
        sleepers_wait(mine);
    if (runnable)
        lbx__worker_enqueue(mine, runnable);
}

/* Puts the calling worker on the list, as the watcher if there is none. */
static bool
sleepers_list(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    bool watches;

    lbx__lock_take(&dispatcher->lock);
    mine->next_asleep = dispatcher->asleep;
    dispatcher->asleep = mine;
    mine->is_asleep = true;
    (void)lbx__add(&dispatcher->sleepers, 1, seq_cst);
    watches = sleepers_begin_watch(mine);
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
    // Relaxed: a waker writes it only when this worker is on the list.
    lbx__store(&mine->parked, 1u, relaxed);
    watches = sleepers_list(mine);
    if ((lbx__dispatcher_has_work(dispatcher) ||
         lbx__load(&dispatcher->stopping, seq_cst) != 0) &&
        sleepers_unlist(mine)) {
        if (watches)
            sleepers_pass_watch_on(mine);
        return;
    }
    lbx__worker_count(&mine->parks, 1);
    if (watches)
        sleepers_wait_watching(mine);
    else
        sleepers_wait(mine);
}
