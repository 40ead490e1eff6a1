/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatchers. D1 to D4 are in dispatcher.h. */
#include "actor/dispatcher.h"

#include "actor/runq.h"
#include "actor/runslot.h"
#include "actor/system.h"
#include "actor/turn.h"
#include "base/alloc.h"
#include "base/park.h"
#include <pthread.h>
#include <string.h>

enum {
    SLOT_TURNS = 32,
    FAIR_TURNS = 61,
    SPINS = LBX__SPINS(200),
    WATCH_NS = 10000000, /* between two looks at the others */
    LOOKS = 3 + LBX__SPINS(97),
};

typedef struct worker {
    lbx__runq queue;
    alignas(2 * LBX__LINE) lbx__dispatcher *dispatcher;
    lbx__runslot slot;
    uint32_t slot_turns;
    uint64_t seen; /* the watcher's: `turns` when it looked last */
    uint32_t turn;
    uint32_t index;
    bool searching;
    pthread_t thread;
    _Atomic(uint64_t) turns; // numbers for people, written by the worker
    _Atomic(uint64_t) handled;
    _Atomic(uint64_t) steals;
    _Atomic(uint64_t) parks;

    /* Asleep: under the dispatcher's lock, except the word. */
    _Atomic(uint32_t) parked; /* 1: sleep on; 0: woken */
    bool is_asleep;
    struct worker *next_asleep;
} worker;

struct lbx__dispatcher {
    lbx_system *system;
    const lbx_allocator *allocator;
    lbx__dispatcher_options options;
    lbx__replay *replay; /* the system's, where a seed decides; or NULL */
    worker *workers;
    uint32_t started;
    bool has_slots;
    _Atomic(uint32_t) stopping;

    alignas(2 * LBX__LINE) _Atomic(uint32_t) sleepers;
    _Atomic(uint32_t) searching;
    _Atomic(uint32_t) watching;

    alignas(2 * LBX__LINE) lbx__lock lock;
    _Atomic(uint64_t) queued; /* written under the lock */
    lbx__cell *first;
    lbx__cell *last;
    worker *asleep;

    /* Without threads: written by whoever runs it. */
    int64_t messages; /* of a turn, as given; a seed chooses up to that many */
    _Atomic(uint64_t) turns;
    _Atomic(uint64_t) handled;
};

/* The worker that this thread is; NULL for other threads. */
static LBX__LOCAL(worker *, self);

/* Relaxed: a number for people that one thread writes. */
static void
count(_Atomic(uint64_t) *number, uint64_t more)
{
    lbx__store(number, lbx__load(number, relaxed) + more, relaxed);
}

static void
queue_append(lbx__dispatcher *dispatcher, lbx__cell *cell)
{
    if (dispatcher->replay) {
        lbx__replay_add(dispatcher->replay, cell);
        return;
    }
    cell->next = NULL;
    lbx__lock_take(&dispatcher->lock);
    if (dispatcher->last)
        dispatcher->last->next = cell;
    else
        dispatcher->first = cell;
    dispatcher->last = cell;
    // seq_cst: D2, before the look at `sleepers`.
    (void)lbx__add(&dispatcher->queued, 1, seq_cst);
    lbx__lock_give(&dispatcher->lock);
}

static lbx__cell *
queue_take(lbx__dispatcher *dispatcher)
{
    lbx__cell *cell;

    if (dispatcher->replay)
        return lbx__replay_take(dispatcher->replay);
    // seq_cst: D2.
    if (lbx__load(&dispatcher->queued, seq_cst) == 0)
        return NULL;
    lbx__lock_take(&dispatcher->lock);
    cell = dispatcher->first;
    if (cell) {
        dispatcher->first = cell->next;
        if (!dispatcher->first)
            dispatcher->last = NULL;
        // Relaxed: counted down under the lock; too much is only a look.
        (void)lbx__sub(&dispatcher->queued, 1, relaxed);
    }
    lbx__lock_give(&dispatcher->lock);
    return cell;
}

/* Wakes a worker, which then searches (D3). */
static void
wake_one(lbx__dispatcher *dispatcher)
{
    worker *sleeper;

    lbx__lock_take(&dispatcher->lock);
    sleeper = dispatcher->asleep;
    if (sleeper) {
        dispatcher->asleep = sleeper->next_asleep;
        sleeper->is_asleep = false;
        (void)lbx__sub(&dispatcher->sleepers, 1, seq_cst);
        (void)lbx__add(&dispatcher->searching, 1, seq_cst);
        sleeper->searching = true;
    }
    lbx__lock_give(&dispatcher->lock);
    if (!sleeper)
        return;
    // Release: it sees `searching`.
    lbx__store(&sleeper->parked, 0u, release);
    lbx__futex_wake(&sleeper->parked, 1);
}

/* D2: after a cell was added. */
static void
notify(lbx__dispatcher *dispatcher)
{
    if (lbx__load(&dispatcher->sleepers, seq_cst) > 0 &&
        lbx__load(&dispatcher->searching, seq_cst) == 0)
        wake_one(dispatcher);
}

/* To the worker's own queue; to everybody's when it is full. */
static void
enqueue(worker *mine, lbx__cell *cell)
{
    if (!lbx__runq_push(&mine->queue, cell))
        queue_append(mine->dispatcher, cell);
    notify(mine->dispatcher);
}

void
lbx__dispatcher_schedule(lbx__dispatcher *dispatcher, lbx__cell *cell)
{
    worker *mine = lbx__local(self);
    lbx__cell *displaced;

    if (!mine || mine->dispatcher != dispatcher) {
        queue_append(dispatcher, cell);
        notify(dispatcher);
        return;
    }
    displaced =
        dispatcher->has_slots ? lbx__runslot_swap(&mine->slot, cell) : cell;
    if (displaced)
        enqueue(mine, displaced);
    // Relaxed: who was woken while the watcher gave up sees that (D5).
    else if (lbx__load(&dispatcher->watching, relaxed) == 0)
        notify(dispatcher); // D5
}

void
lbx__dispatcher_requeue(lbx__dispatcher *dispatcher, lbx__cell *cell)
{
    worker *mine = lbx__local(self);

    if (mine && mine->dispatcher == dispatcher) {
        enqueue(mine, cell);
        return;
    }
    queue_append(dispatcher, cell);
    notify(dispatcher);
}

static lbx__cell *
steal(worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    for (uint32_t i = 1; i < dispatcher->options.threads; i++) {
        worker *other =
            &dispatcher
                 ->workers[(mine->index + i) % dispatcher->options.threads];
        uint64_t stolen = 0;
        lbx__cell *cell = lbx__runq_steal(&other->queue, &mine->queue, &stolen);

        if (!cell)
            continue;
        count(&mine->steals, stolen);
        if (stolen > 1)
            notify(dispatcher); // while they were moved, nobody saw them (D2)
        return cell;
    }
    return NULL;
}

static lbx__cell *
take_slot(worker *mine)
{
    lbx__cell *cell = NULL;

    // Relaxed: only we put something there.
    if (lbx__load(&mine->slot.cell, relaxed))
        cell = lbx__runslot_swap(&mine->slot, NULL);
    if (!cell || mine->slot_turns++ < SLOT_TURNS)
        return cell;
    mine->slot_turns = 0;
    enqueue(mine, cell); // D4
    return NULL;
}

/* The next cell to run, or NULL. */
static lbx__cell *
next_cell(worker *mine)
{
    lbx__cell *cell = NULL;

    if (++mine->turn % FAIR_TURNS == 0) // D4
        cell = queue_take(mine->dispatcher);
    if (!cell)
        cell = take_slot(mine);
    if (cell)
        return cell;
    mine->slot_turns = 0;
    cell = lbx__runq_take(&mine->queue);
    if (!cell)
        cell = queue_take(mine->dispatcher);
    if (!cell)
        cell = steal(mine);
    return cell;
}

static bool
has_cells(lbx__dispatcher *dispatcher)
{
    if (lbx__load(&dispatcher->queued, seq_cst) > 0)
        return true;
    for (uint32_t i = 0; i < dispatcher->options.threads; i++)
        if (!lbx__runq_empty(&dispatcher->workers[i].queue))
            return true;
    return false;
}

/* D3: something was found. */
static void
end_search(worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    mine->searching = false;
    if (lbx__sub(&dispatcher->searching, 1, seq_cst) == 1 &&
        has_cells(dispatcher))
        notify(dispatcher);
}

/* Takes oneself off the list of sleepers; false when a waker was faster. */
static bool
unlist(worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    bool listed;

    lbx__lock_take(&dispatcher->lock);
    listed = mine->is_asleep;
    if (listed) {
        worker **link = &dispatcher->asleep;

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
begin_watch(lbx__dispatcher *dispatcher)
{
    uint32_t nobody = 0;

    return dispatcher->has_slots && !all_sleep(dispatcher) &&
           lbx__cas(&dispatcher->watching, &nobody, 1u, seq_cst);
}

static bool
slots_are_empty(lbx__dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < dispatcher->options.threads; i++)
        // Relaxed: after a barrier (D5).
        if (lbx__load(&dispatcher->workers[i].slot.cell, relaxed))
            return false;
    return true;
}

/* D5: no longer watches, unless a slot is in use, whose worker may have seen a
 * watcher. */
static bool
end_watch(lbx__dispatcher *dispatcher)
{
    lbx__store(&dispatcher->watching, 0u, seq_cst);
    (void)lbx__barrier_all(); // who uses a slot does not: runslot.h
    return slots_are_empty(dispatcher) || !begin_watch(dispatcher);
}

/* A cell that has waited in a slot since the last look, or NULL. */
static lbx__cell *
look_around(worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    lbx__cell *cell = NULL;

    for (uint32_t i = 1; i < dispatcher->options.threads && !cell; i++) {
        worker *other =
            &dispatcher
                 ->workers[(mine->index + i) % dispatcher->options.threads];
        // Relaxed: a number, whose changing is enough.
        uint64_t turns = lbx__load(&other->turns, relaxed);

        if (turns == other->seen)
            cell = lbx__runslot_raid(&other->slot);
        other->seen = turns;
    }
    return cell;
}

/* Sleeps until somebody calls. */
static void
await_call(worker *mine)
{
    // Acquire: pairs with the release in wake_one().
    while (lbx__load(&mine->parked, acquire) != 0)
        lbx__futex_wait(&mine->parked, 1, -1);
}

/* The same, with an eye on the others: D5. */
static void
await_call_watching(worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;
    lbx__cell *cell = NULL;
    bool awake = false;

    for (int looks = 1; !cell && !awake; looks++) {
        lbx__futex_wait(&mine->parked, 1, WATCH_NS);
        awake = lbx__load(&mine->parked, acquire) == 0; // as above
        if (awake)
            break;
        if ((looks % LOOKS == 0 || all_sleep(dispatcher)) &&
            end_watch(dispatcher)) {
            await_call(mine);
            return;
        }
        cell = look_around(mine);
    }
    lbx__store(&dispatcher->watching, 0u, seq_cst);
    if (!cell || !unlist(mine))
        await_call(mine);
    if (cell)
        enqueue(mine, cell);
}

/* Sleeps until there is something to do, or to end: D2. */
static void
fall_asleep(worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    if (mine->searching) {
        mine->searching = false;
        (void)lbx__sub(&dispatcher->searching, 1, seq_cst);
    }
    // Relaxed: a waker writes it only after we are on the list.
    lbx__store(&mine->parked, 1u, relaxed);
    lbx__lock_take(&dispatcher->lock);
    mine->next_asleep = dispatcher->asleep;
    dispatcher->asleep = mine;
    mine->is_asleep = true;
    (void)lbx__add(&dispatcher->sleepers, 1, seq_cst);
    lbx__lock_give(&dispatcher->lock);
    if ((has_cells(dispatcher) ||
         lbx__load(&dispatcher->stopping, seq_cst) != 0) &&
        unlist(mine))
        return;
    count(&mine->parks, 1);
    if (begin_watch(dispatcher))
        await_call_watching(mine);
    else
        await_call(mine);
}

/* A little patience before sleeping: an answer is often on its way. */
static lbx__cell *
search(worker *mine)
{
    for (int i = 0; i < SPINS; i++) {
        lbx__cell *cell = NULL;

        if (has_cells(mine->dispatcher))
            cell = next_cell(mine);
        if (cell)
            return cell;
        lbx__pause();
    }
    return NULL;
}

static void *
work(void *argument)
{
    worker *mine = argument;
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__local(self) = mine;
    for (;;) {
        lbx__cell *cell = next_cell(mine);

        if (!cell)
            cell = search(mine);
        if (cell) {
            if (mine->searching)
                end_search(mine);
            count(&mine->turns, 1);
            count(&mine->handled, lbx__turn_run(cell));
            continue;
        }
        if (lbx__load(&dispatcher->stopping, seq_cst) != 0)
            return NULL;
        fall_asleep(mine);
    }
}

static bool
start_threads(lbx__dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        worker *mine = &dispatcher->workers[i];

        mine->dispatcher = dispatcher;
        mine->index = i;
    }
    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        worker *mine = &dispatcher->workers[i];

        if (pthread_create(&mine->thread, NULL, work, mine) != 0)
            return false;
        dispatcher->started++;
    }
    return true;
}

static size_t
workers_size(const lbx__dispatcher *dispatcher)
{
    return dispatcher->options.threads * sizeof(worker);
}

lbx_status
lbx__dispatcher_create(lbx_system *system,
                       const lbx__dispatcher_options *options,
                       lbx__dispatcher **ret)
{
    const lbx_allocator *allocator = system->options.allocator;
    lbx__dispatcher *dispatcher =
        lbx__alloc(allocator, sizeof(*dispatcher), alignof(lbx__dispatcher));

    if (!dispatcher)
        return LBX_NO_MEMORY;
    memset(dispatcher, 0, sizeof(*dispatcher));
    dispatcher->system = system;
    dispatcher->allocator = allocator;
    dispatcher->options = *options;
    dispatcher->messages = options->throughput;
    dispatcher->replay = system->options.seed != 0 ? &system->replay : NULL;
    dispatcher->has_slots = options->threads == 1 || lbx__runslot_works();
    if (options->threads > 0) {
        dispatcher->workers =
            lbx__alloc(allocator, workers_size(dispatcher), alignof(worker));
        if (!dispatcher->workers)
            goto fail;
        memset(dispatcher->workers, 0, workers_size(dispatcher));
        if (!start_threads(dispatcher))
            goto fail;
    }
    *ret = dispatcher;
    return LBX_OK;

fail:
    lbx__dispatcher_stop(dispatcher);
    lbx__dispatcher_destroy(dispatcher);
    return LBX_NO_MEMORY;
}

void
lbx__dispatcher_stop(lbx__dispatcher *dispatcher)
{
    if (!dispatcher)
        return;
    lbx__store(&dispatcher->stopping, 1u, seq_cst);
    while (lbx__load(&dispatcher->sleepers, seq_cst) > 0)
        wake_one(dispatcher);
    for (uint32_t i = 0; i < dispatcher->started; i++)
        (void)pthread_join(dispatcher->workers[i].thread, NULL);
    dispatcher->started = 0;
}

void
lbx__dispatcher_destroy(lbx__dispatcher *dispatcher)
{
    if (!dispatcher)
        return;
    if (dispatcher->workers)
        lbx__free(dispatcher->allocator, dispatcher->workers,
                  workers_size(dispatcher));
    lbx__free(dispatcher->allocator, dispatcher, sizeof(*dispatcher));
}

uint64_t
lbx__dispatcher_run(lbx__dispatcher *dispatcher, uint64_t most)
{
    uint64_t turns = 0;
    lbx__cell *cell;

    while (turns < most && (cell = queue_take(dispatcher))) {
        lbx__dispatcher *its = cell->dispatcher; // with a seed, any

        if (its->replay)
            its->options.throughput =
                lbx__replay_messages(its->replay, its->messages);
        count(&its->turns, 1);
        count(&its->handled, lbx__turn_run(cell));
        turns++;
    }
    return turns;
}

const lbx__dispatcher_options *
lbx__dispatcher_options_of(const lbx__dispatcher *dispatcher)
{
    return &dispatcher->options;
}

lbx__dispatcher_stats
lbx__dispatcher_stats_of(lbx__dispatcher *dispatcher)
{
    lbx__dispatcher_stats sum = {
        .threads = dispatcher->options.threads,
        .turns = lbx__load(&dispatcher->turns, relaxed),
        .handled = lbx__load(&dispatcher->handled, relaxed),
        .queued = lbx__load(&dispatcher->queued, relaxed),
    };

    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        sum.turns += lbx__load(&dispatcher->workers[i].turns, relaxed);
        sum.handled += lbx__load(&dispatcher->workers[i].handled, relaxed);
        sum.steals += lbx__load(&dispatcher->workers[i].steals, relaxed);
        sum.parks += lbx__load(&dispatcher->workers[i].parks, relaxed);
        sum.queued += lbx__runq_count(&dispatcher->workers[i].queue);
    }
    return sum;
}
