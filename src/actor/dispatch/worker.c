/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: what a thread of a dispatcher does while there is something to run
 * (DISP-3, DISP-4 in dispatcher.h).
 *
 * Threads: each function runs in the thread of the worker that it is given.
 */
#include "actor/dispatch/worker.h"

enum {
    SLOT_RUNS = 32,
    FAIR_RUNS = 61,
    SPINS = LBX__SPINS(200),
};

void
lbx__worker_enqueue(lbx__worker *mine, lbx__runnable *runnable)
{
    if (lbx__run_queue_push(&mine->queue, runnable))
        lbx__sleepers_notify(mine->dispatcher);
    else
        lbx__dispatcher_give(mine->dispatcher, runnable);
}

static lbx__runnable *
worker_steal(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    for (uint32_t i = 1; i < dispatcher->options.threads; i++) {
        lbx__worker *other =
            &dispatcher
                 ->workers[(mine->index + i) % dispatcher->options.threads];
        uint64_t stolen = 0;
        lbx__runnable *runnable =
            lbx__run_queue_steal(&other->queue, &mine->queue, &stolen);

        if (!runnable)
            continue;
        lbx__worker_count(&mine->steals, stolen);
        if (stolen > 1) // no worker saw them while they moved (DISP-2)
            lbx__sleepers_notify(dispatcher);
        return runnable;
    }
    return NULL;
}

static lbx__runnable *
worker_take_slot(lbx__worker *mine)
{
    lbx__runnable *runnable = NULL;

    // Relaxed: only this worker puts something there.
    if (lbx__load(&mine->slot.runnable, relaxed))
        runnable = lbx__run_slot_swap(&mine->slot, NULL);
    if (!runnable || mine->slot_runs++ < SLOT_RUNS)
        return runnable;
    mine->slot_runs = 0;
    lbx__worker_enqueue(mine, runnable); // DISP-4
    return NULL;
}

/* The next runnable to run, or NULL. */
static lbx__runnable *
worker_next(lbx__worker *mine)
{
    lbx__runnable *runnable = NULL;

    if (++mine->ticks % FAIR_RUNS == 0) // DISP-4
        runnable = lbx__dispatcher_take(mine->dispatcher);
    if (!runnable)
        runnable = worker_take_slot(mine);
    if (runnable)
        return runnable;
    mine->slot_runs = 0;
    runnable = lbx__run_queue_take(&mine->queue);
    if (!runnable)
        runnable = lbx__dispatcher_take(mine->dispatcher);
    if (!runnable)
        runnable = worker_steal(mine);
    return runnable;
}

/* DISP-3: a runnable was found. DISP-5: slots that were used meanwhile. */
static void
worker_end_search(lbx__worker *mine)
{
    lbx__dispatcher *dispatcher = mine->dispatcher;

    mine->searching = false;
    if (lbx__sub(&dispatcher->searching, 1, seq_cst) == 1 &&
        (lbx__dispatcher_has_work(dispatcher) ||
         lbx__sleepers_lack_watcher(dispatcher)))
        lbx__sleepers_notify(dispatcher);
}

/* Spins before sleeping: a reply is often on its way. */
static lbx__runnable *
worker_search(lbx__worker *mine)
{
    for (int i = 0; i < SPINS; i++) {
        lbx__runnable *runnable = NULL;

        if (lbx__dispatcher_has_work(mine->dispatcher))
            runnable = worker_next(mine);
        if (runnable)
            return runnable;
        lbx__pause();
    }
    return NULL;
}

void *
lbx__worker_main(void *argument)
{
    lbx__worker *mine = argument;
    lbx__dispatcher *dispatcher = mine->dispatcher;

    lbx__local(lbx__worker_self) = mine;
    for (;;) {
        lbx__runnable *runnable = worker_next(mine);

        if (!runnable)
            runnable = worker_search(mine);
        if (runnable) {
            if (mine->searching)
                worker_end_search(mine);
            lbx__worker_count(&mine->runs, 1);
            lbx__worker_count(&mine->handled, dispatcher->run(runnable));
            continue;
        }
        if (lbx__load(&dispatcher->stopping, seq_cst) != 0)
            return NULL;
        lbx__sleepers_add(mine);
    }
}
