/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatchers: threads that run runnables.
 *
 * A worker takes the next runnable from its own slot, its own run queue, the
 * queue of the dispatcher, or the run queue of another worker. A runnable that
 * a worker schedules while it runs another goes into the worker's slot: it
 * shares data with the one that runs, which is still in the cache. What was in
 * the slot moves to the run queue, where other workers can steal it. The slot
 * itself is taken from a worker only when its current run lasts long
 * (run_slot.h, DISP-5).
 *
 * A dispatcher without threads has only its queue, and lbx__dispatcher_run()
 * runs it; with a seed the circle of replay.h replaces that queue.
 *
 * DISP-1  A scheduled runnable is in exactly one slot or queue, or is running
 *         (RUNNABLE-1).
 * DISP-2  A worker that goes to sleep raises `sleepers` first and checks every
 *         queue then. A thread that adds a runnable publishes it first, and
 *         reads `sleepers` then; it wakes one, unless one is `searching`. All
 *         four are seq_cst: no runnable is left while all workers sleep.
 * DISP-3  A worker that was woken searches. If it finds a runnable it wakes the
 *         next worker when there is more; if not, it stops searching before it
 *         checks the queues once more (DISP-2).
 * DISP-4  The slot is used at most SLOT_RUNS times in a row, and the queue of
 *         the dispatcher is checked every FAIR_RUNS runs: every runnable runs
 *         within a bounded number of runs.
 * DISP-5  While some workers sleep and some do not, one of the sleepers is
 *         `watching`: at intervals it raids the slot of each worker that has
 *         been in the same run since the last interval. A worker that uses a
 *         slot while no sleeper watches wakes one, which becomes the watcher
 *         when it falls asleep again; while a worker searches, the last one
 *         that searches does so instead. The watcher stops when all others
 *         sleep, or after WATCHES intervals when no slot is in use: it clears
 *         `watching` first and checks the slots then.
 * DISP-6  A runnable may run as soon as it is added, and its run may end the
 *         dispatcher (thread_pool.h). So a thread that is no worker of it takes
 *         the sleeper to wake under the lock under which it adds the runnable,
 *         and touches only that sleeper afterwards, which waits for it.
 */
#ifndef LBX_ACTOR_DISPATCH_DISPATCHER_H
#define LBX_ACTOR_DISPATCH_DISPATCHER_H

#include "actor/dispatch/replay.h"

typedef struct lbx__dispatcher_options {
    const char *name;
    uint32_t threads;
    int64_t throughput;  /* messages in a run; at least 1 */
    int64_t deadline_ns; /* how long a run may take; 0: no limit */
} lbx__dispatcher_options;

/* What all dispatchers of a system have in common. */
typedef struct lbx__dispatcher_setup {
    const lbx_allocator *allocator;
    lbx__runnable_run *run;
    lbx__replay *replay; /* NULL: no seed decides the order */
} lbx__dispatcher_setup;

typedef struct lbx__dispatcher_stats {
    uint64_t threads;
    uint64_t runs;
    uint64_t handled;
    uint64_t steals;
    uint64_t parks;
    uint64_t queued;
} lbx__dispatcher_stats;

lbx_status lbx__dispatcher_create(const lbx__dispatcher_setup *setup,
                                  const lbx__dispatcher_options *options,
                                  lbx__dispatcher **ret);

/* Ends the threads as soon as they have nothing to run. */
void lbx__dispatcher_stop(lbx__dispatcher *dispatcher);
void lbx__dispatcher_destroy(lbx__dispatcher *dispatcher);

/* Takes over a runnable from its holder (RUNNABLE-1). */
void lbx__dispatcher_schedule(lbx__dispatcher *dispatcher,
                              lbx__runnable *runnable);

/* Takes it over from a run that has more to do: behind all others. One that has
 * flooded others waits until its worker has nothing else to do (DISP-4). */
void lbx__dispatcher_requeue(lbx__dispatcher *dispatcher,
                             lbx__runnable *runnable, bool flooded);

/* Runs up to `max_runs` runnables in the calling thread; returns how many. */
uint64_t lbx__dispatcher_run(lbx__dispatcher *dispatcher, uint64_t max_runs);

const lbx__dispatcher_options *
lbx__dispatcher_options_of(const lbx__dispatcher *dispatcher);
lbx__dispatcher_stats lbx__dispatcher_stats_of(lbx__dispatcher *dispatcher);

#endif
