/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatchers: threads that run runnables.
 *
 * A worker takes the next runnable from its own slot, its own run queue, the
 * dispatcher's queue, or another worker's run queue. What a worker schedules
 * while it runs goes into its slot: it is what its own actor has just spoken
 * to, and it is warm. What was in it moves to the run queue, where others find
 * it; the slot itself they leave alone for a while (runslot.h, D5).
 *
 * D1  A runnable is in at most one of those places, and its `scheduled` is 1 (A9).
 * D2  A worker goes to sleep so: raise `sleepers`, look into every queue once
 *     more, sleep. Who adds a runnable so: publish it, look at `sleepers`, wake one
 *     unless one is `searching`. All seq_cst: no runnable is left while everybody
 *     sleeps.
 * D3  A worker that was woken searches. When it finds something it wakes the
 *     next, if there is more; when it finds nothing it stops searching before
 *     it looks once more (D2).
 * D4  The slot is used at most SLOT_TURNS times in a row, the dispatcher's queue
 *     is looked at every FAIR_TURNS turns: every runnable runs within a bounded
 *     number of turns (A10).
 * D5  While some workers sleep and some do not, one of the sleepers is
 *     `watching`: now and then it looks at the others, and raids the slot of one
 *     that has been in the same turn all the time. Who uses a slot and sees
 *     nobody watching wakes a sleeper, which becomes the watcher when it falls
 *     asleep again; while somebody searches it leaves that to the last who does.
 *     The watcher gives up when all others sleep, or after LOOKS looks when no
 *     slot is in use; it says so first, and looks then.
 * D6  A runnable that is given may be run at once, and with its actor's end the
 *     dispatcher may rest (pool.h). So who is no worker of it decides whom to
 *     wake under the lock under which it adds the runnable, and touches nothing but
 *     that sleeper afterwards, who waits for that.
 *
 * A dispatcher without threads has only its queue, and is run by
 * lbx_system_run(); with a seed the system's circle stands in its place
 * (replay.h).
 */
#ifndef LBX_ACTOR_DISPATCHER_H
#define LBX_ACTOR_DISPATCHER_H

#include "actor/dispatch/replay.h"

typedef struct lbx__dispatcher_options {
    const char *name;
    uint32_t threads;
    int64_t throughput;  /* messages in a turn; at least 1 */
    int64_t deadline_ns; /* how long a turn may take; 0: no limit */
} lbx__dispatcher_options;

/* What all dispatchers of a system have in common. */
typedef struct lbx__dispatcher_setup {
    const lbx_allocator *allocator;
    lbx__runnable_run *run;
    lbx__replay *replay; /* NULL: no seed decides the order */
} lbx__dispatcher_setup;

typedef struct lbx__dispatcher_stats {
    uint64_t threads;
    uint64_t turns;
    uint64_t handled;
    uint64_t steals;
    uint64_t parks;
    uint64_t queued;
} lbx__dispatcher_stats;

lbx_status lbx__dispatcher_create(const lbx__dispatcher_setup *setup,
                                  const lbx__dispatcher_options *options,
                                  lbx__dispatcher **ret);

/* Ends the threads when they have nothing to run. */
void lbx__dispatcher_stop(lbx__dispatcher *dispatcher);
void lbx__dispatcher_destroy(lbx__dispatcher *dispatcher);

/* Takes over a runnable from its owner. */
void lbx__dispatcher_schedule(lbx__dispatcher *dispatcher,
                              lbx__runnable *runnable);

/* Takes it over from a turn that has more to do: behind all others. One that
 * has flooded others waits until its worker has nothing else to do (D4). */
void lbx__dispatcher_requeue(lbx__dispatcher *dispatcher,
                             lbx__runnable *runnable, bool flooded);

/* Runs runnables in the calling thread; how many. */
uint64_t lbx__dispatcher_run(lbx__dispatcher *dispatcher, uint64_t most);

const lbx__dispatcher_options *
lbx__dispatcher_options_of(const lbx__dispatcher *dispatcher);
lbx__dispatcher_stats lbx__dispatcher_stats_of(lbx__dispatcher *dispatcher);

#endif
