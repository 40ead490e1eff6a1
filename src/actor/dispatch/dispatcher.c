/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatchers: creating and ending them, and scheduling on them (DISP-1 to
 * DISP-6 in dispatcher.h).
 *
 * Threads: any may schedule. The lock guards the shared queue and the list of
 * sleepers; threads are started and joined without it.
 */
#include "actor/dispatch/worker.h"

#include "base/alloc.h"
#include "base/threads.h"
#include <string.h>

LBX__LOCAL(lbx__worker *, lbx__worker_self);

/* Adds behind all others. Under the lock. */
static void
dispatcher_append(lbx__dispatcher *dispatcher, lbx__runnable *runnable)
{
    runnable->next = NULL;
    if (dispatcher->last)
        dispatcher->last->next = runnable;
    else
        dispatcher->first = runnable;
    dispatcher->last = runnable;
    // seq_cst: DISP-2, before `sleepers` is read.
    (void)lbx__add(&dispatcher->queued, 1, seq_cst);
}

void
lbx__dispatcher_give(lbx__dispatcher *dispatcher, lbx__runnable *runnable)
{
    lbx__worker *called;

    if (dispatcher->replay) {
        lbx__replay_add(dispatcher->replay, runnable);
        return;
    }
    lbx__lock_take(&dispatcher->lock);
    dispatcher_append(dispatcher, runnable);
    called = lbx__sleepers_claim(dispatcher);
    lbx__lock_give(&dispatcher->lock);
    // DISP-6: the dispatcher may be gone, the sleeper is not.
    if (called)
        lbx__sleepers_wake(called);
}

lbx__runnable *
lbx__dispatcher_take(lbx__dispatcher *dispatcher)
{
    lbx__runnable *runnable;

    if (dispatcher->replay)
        return lbx__replay_take(dispatcher->replay);
    // seq_cst: DISP-2.
    if (lbx__load(&dispatcher->queued, seq_cst) == 0)
        return NULL;
    lbx__lock_take(&dispatcher->lock);
    runnable = dispatcher->first;
    if (runnable) {
        dispatcher->first = runnable->next;
        if (!dispatcher->first)
            dispatcher->last = NULL;
        // Relaxed: under the lock; a count that is too high costs one check.
        (void)lbx__sub(&dispatcher->queued, 1, relaxed);
    }
    lbx__lock_give(&dispatcher->lock);
    return runnable;
}

void
lbx__dispatcher_schedule(lbx__dispatcher *dispatcher, lbx__runnable *runnable)
{
    lbx__worker *mine = lbx__local(lbx__worker_self);
    lbx__runnable *displaced;

    if (!mine || mine->dispatcher != dispatcher) {
        lbx__dispatcher_give(dispatcher, runnable);
        return;
    }
    displaced = dispatcher->has_slots
                    ? lbx__run_slot_swap(&mine->slot, runnable)
                    : runnable;
    lbx__keep_order(); // first the slot, then `watching`
    if (displaced)
        lbx__worker_enqueue(mine, displaced);
    // Relaxed: a watcher that stops passes a barrier and checks (DISP-5).
    else if (lbx__load(&dispatcher->watching, relaxed) == 0)
        lbx__sleepers_want_watcher(dispatcher);
}

void
lbx__dispatcher_requeue(lbx__dispatcher *dispatcher, lbx__runnable *runnable,
                        bool flooded)
{
    lbx__worker *mine = lbx__local(lbx__worker_self);

    if (mine && mine->dispatcher == dispatcher && !flooded)
        lbx__worker_enqueue(mine, runnable);
    else
        lbx__dispatcher_give(dispatcher, runnable);
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

static bool
dispatcher_start_threads(lbx__dispatcher *dispatcher)
{
    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        lbx__worker *mine = &dispatcher->workers[i];

        mine->dispatcher = dispatcher;
        mine->index = i;
    }
    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        lbx__worker *mine = &dispatcher->workers[i];

        if (!lbx__threads_start(&mine->thread, lbx__worker_main, mine))
            return false;
        dispatcher->started++;
    }
    return true;
}

static size_t
dispatcher_workers_size(const lbx__dispatcher *dispatcher)
{
    return dispatcher->options.threads * sizeof(lbx__worker);
}

lbx_status
lbx__dispatcher_create(const lbx__dispatcher_setup *setup,
                       const lbx__dispatcher_options *options,
                       lbx__dispatcher **ret)
{
    const lbx_allocator *allocator = setup->allocator;
    lbx__dispatcher *dispatcher =
        lbx__alloc(allocator, sizeof(*dispatcher), alignof(lbx__dispatcher));

    if (!dispatcher)
        return LBX_NO_MEMORY;
    memset(dispatcher, 0, sizeof(*dispatcher));
    dispatcher->run = setup->run;
    dispatcher->allocator = allocator;
    dispatcher->options = *options;
    dispatcher->messages = options->throughput;
    dispatcher->replay = setup->replay;
    dispatcher->has_slots = options->threads == 1 || lbx__run_slot_works();
    if (options->threads > 0) {
        dispatcher->workers =
            lbx__alloc(allocator, dispatcher_workers_size(dispatcher),
                       alignof(lbx__worker));
        if (!dispatcher->workers)
            goto fail;
        memset(dispatcher->workers, 0, dispatcher_workers_size(dispatcher));
        if (!dispatcher_start_threads(dispatcher))
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
        lbx__sleepers_wake_one(dispatcher);
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
                  dispatcher_workers_size(dispatcher));
    lbx__free(dispatcher->allocator, dispatcher, sizeof(*dispatcher));
}

uint64_t
lbx__dispatcher_run(lbx__dispatcher *dispatcher, uint64_t max_runs)
{
    uint64_t runs = 0;
    lbx__runnable *runnable;

    while (runs < max_runs && (runnable = lbx__dispatcher_take(dispatcher))) {
        lbx__dispatcher *its = lbx__peek(&runnable->dispatcher);

        if (its->replay)
            its->options.throughput =
                lbx__replay_messages(its->replay, its->messages);
        lbx__worker_count(&its->runs, 1);
        lbx__worker_count(&its->handled, its->run(runnable));
        runs++;
    }
    return runs;
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
        .runs = lbx__load(&dispatcher->runs, relaxed),
        .handled = lbx__load(&dispatcher->handled, relaxed),
        .queued = lbx__load(&dispatcher->queued, relaxed),
    };

    for (uint32_t i = 0; i < dispatcher->options.threads; i++) {
        sum.runs += lbx__load(&dispatcher->workers[i].runs, relaxed);
        sum.handled += lbx__load(&dispatcher->workers[i].handled, relaxed);
        sum.steals += lbx__load(&dispatcher->workers[i].steals, relaxed);
        sum.parks += lbx__load(&dispatcher->workers[i].parks, relaxed);
        sum.queued += lbx__run_queue_count(&dispatcher->workers[i].queue);
    }
    return sum;
}
