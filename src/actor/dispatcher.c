/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatchers: making them, and giving them cells. */
#include "actor/worker.h"

#include "actor/turn.h"
#include "base/alloc.h"
#include <string.h>

LBX__LOCAL(lbx__worker *, lbx__self);

/* Behind all others. Under the lock. */
static void
append(lbx__dispatcher *dispatcher, lbx__cell *cell)
{
    cell->next = NULL;
    if (dispatcher->last)
        dispatcher->last->next = cell;
    else
        dispatcher->first = cell;
    dispatcher->last = cell;
    // seq_cst: D2, before the look at `sleepers`.
    (void)lbx__add(&dispatcher->queued, 1, seq_cst);
}

void
lbx__dispatcher_give(lbx__dispatcher *dispatcher, lbx__cell *cell)
{
    lbx__worker *called;

    if (dispatcher->replay) {
        lbx__replay_add(dispatcher->replay, cell);
        return;
    }
    lbx__lock_take(&dispatcher->lock);
    append(dispatcher, cell);
    called = lbx__dispatcher_call(dispatcher);
    lbx__lock_give(&dispatcher->lock);
    // D6: the dispatcher may be gone, but not who was called.
    if (called)
        lbx__worker_wake(called);
}

lbx__cell *
lbx__dispatcher_take(lbx__dispatcher *dispatcher)
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

void
lbx__dispatcher_schedule(lbx__dispatcher *dispatcher, lbx__cell *cell)
{
    lbx__worker *mine = lbx__local(lbx__self);
    lbx__cell *displaced;

    if (!mine || mine->dispatcher != dispatcher) {
        lbx__dispatcher_give(dispatcher, cell);
        return;
    }
    displaced =
        dispatcher->has_slots ? lbx__runslot_swap(&mine->slot, cell) : cell;
    lbx__keep_order(); // the slot first, and then the look at who watches
    if (displaced)
        lbx__worker_enqueue(mine, displaced);
    // Relaxed: a watcher that gives up passes a barrier and looks (D5).
    else if (lbx__load(&dispatcher->watching, relaxed) == 0)
        lbx__dispatcher_want_watcher(dispatcher);
}

void
lbx__dispatcher_requeue(lbx__dispatcher *dispatcher, lbx__cell *cell,
                        bool flooded)
{
    lbx__worker *mine = lbx__local(lbx__self);

    if (mine && mine->dispatcher == dispatcher && !flooded)
        lbx__worker_enqueue(mine, cell);
    else
        lbx__dispatcher_give(dispatcher, cell);
}

static bool
start_threads(lbx__dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        lbx__worker *mine = &dispatcher->workers[i];

        mine->dispatcher = dispatcher;
        mine->index = i;
    }
    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        lbx__worker *mine = &dispatcher->workers[i];

        if (pthread_create(&mine->thread, NULL, lbx__worker_main, mine) != 0)
            return false;
        dispatcher->started++;
    }
    return true;
}

static size_t
workers_size(const lbx__dispatcher *dispatcher)
{
    return dispatcher->options.threads * sizeof(lbx__worker);
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
        dispatcher->workers = lbx__alloc(allocator, workers_size(dispatcher),
                                         alignof(lbx__worker));
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
        lbx__dispatcher_wake_one(dispatcher);
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

    while (turns < most && (cell = lbx__dispatcher_take(dispatcher))) {
        lbx__dispatcher *its = lbx__peek(&cell->dispatcher); // with a seed, any

        if (its->replay)
            its->options.throughput =
                lbx__replay_messages(its->replay, its->messages);
        lbx__count(&its->turns, 1);
        lbx__count(&its->handled, lbx__turn_run(cell));
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
