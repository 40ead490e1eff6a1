/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: the threads of a dispatcher, and what they share. Private to
 * dispatcher.c, worker.c and sleepers.c. DISP-1 to DISP-6 are in dispatcher.h.
 *
 * Fields are grouped by the thread that writes them: the worker, any waker
 * under the lock of the dispatcher, the threads that schedule.
 */
#ifndef LBX_ACTOR_DISPATCH_WORKER_H
#define LBX_ACTOR_DISPATCH_WORKER_H

#include "actor/dispatch/dispatcher.h"
#include "actor/dispatch/run_queue.h"
#include "actor/dispatch/run_slot.h"
#include "base/park.h"
#include <pthread.h>

typedef struct lbx__worker lbx__worker;

struct lbx__worker {
    lbx__run_queue queue;
    alignas(2 * LBX__LINE) lbx__dispatcher *dispatcher;
    lbx__run_slot slot;
    uint32_t slot_runs;
    uint64_t seen;  /* the watcher's: `runs` at the last interval */
    uint32_t ticks; /* for DISP-4 */
    uint32_t index;
    bool searching;
    pthread_t thread;
    _Atomic(uint64_t) runs; /* statistics, written by the worker */
    _Atomic(uint64_t) handled;
    _Atomic(uint64_t) steals;
    _Atomic(uint64_t) parks;

    /* Asleep: under the dispatcher's lock, except the word. */
    _Atomic(uint32_t) parked; /* 1: sleep on; 0: woken */
    bool is_asleep;
    _Atomic(uint32_t) watches; /* DISP-5; a hint */
    struct lbx__worker *next_asleep;
};

struct lbx__dispatcher {
    lbx__runnable_run *run;
    const lbx_allocator *allocator;
    lbx__dispatcher_options options;
    lbx__replay *replay; /* NULL: no seed decides the order */
    lbx__worker *workers;
    uint32_t started;
    bool has_slots;
    _Atomic(uint32_t) stopping;

    alignas(2 * LBX__LINE) _Atomic(uint32_t) sleepers;
    _Atomic(uint32_t) searching;
    _Atomic(uint32_t) watching;

    alignas(2 * LBX__LINE) lbx__lock lock;
    _Atomic(uint64_t) queued; /* written under the lock */
    lbx__runnable *first;
    lbx__runnable *last;
    lbx__worker *asleep;

    /* Without threads: written by the thread that runs it. */
    int64_t messages; /* of a run, as given; a seed chooses up to that many */
    _Atomic(uint64_t) runs;
    _Atomic(uint64_t) handled;
};

/* The worker that this thread is; NULL for other threads. */
extern LBX__LOCAL(lbx__worker *, lbx__worker_self);

/* Relaxed: a statistic that one thread writes. */
static inline void
lbx__worker_count(_Atomic(uint64_t) *number, uint64_t more)
{
    lbx__store(number, lbx__load(number, relaxed) + more, relaxed);
}

/* dispatcher.c: the queue that all workers share. */
/* Adds a runnable and wakes a worker for it; any thread (DISP-6). */
void lbx__dispatcher_give(lbx__dispatcher *dispatcher, lbx__runnable *runnable);
lbx__runnable *lbx__dispatcher_take(lbx__dispatcher *dispatcher);
/* Returns whether a queue has a runnable. */
bool lbx__dispatcher_has_work(lbx__dispatcher *dispatcher);

/* worker.c */
void *lbx__worker_main(void *argument);
/* To the worker's own queue; to the dispatcher's when that is full. */
void lbx__worker_enqueue(lbx__worker *mine, lbx__runnable *runnable);

/* sleepers.c */
/* DISP-2: wakes a sleeper if need be, after a runnable was added. By a
 * worker. */
void lbx__sleepers_notify(lbx__dispatcher *dispatcher);
/* The same in two steps: the sleeper to wake, or NULL, under the lock; and
 * waking it without (DISP-6). */
lbx__worker *lbx__sleepers_claim(lbx__dispatcher *dispatcher);
void lbx__sleepers_wake(lbx__worker *called);
/* DISP-5: wakes a future watcher, because a slot is used and none watches; and,
 * for a worker that ends its search, whether that is so. */
void lbx__sleepers_want_watcher(lbx__dispatcher *dispatcher);
bool lbx__sleepers_lack_watcher(lbx__dispatcher *dispatcher);
/* Wakes a worker, which then searches (DISP-3). */
void lbx__sleepers_wake_one(lbx__dispatcher *dispatcher);
/* Sleeps until there may be something to run, or the dispatcher stops. */
void lbx__sleepers_add(lbx__worker *mine);

#endif
