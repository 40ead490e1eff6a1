/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: the threads of a dispatcher, and what they share. D1 to D6 are in
 * dispatcher.h. Nobody but dispatcher.c, worker.c and sleep.c looks in here.
 */
#ifndef LBX_ACTOR_WORKER_H
#define LBX_ACTOR_WORKER_H

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
    _Atomic(uint32_t) watches; /* D5; a hint */
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

    /* Without threads: written by whoever runs it. */
    int64_t messages; /* of a turn, as given; a seed chooses up to that many */
    _Atomic(uint64_t) turns;
    _Atomic(uint64_t) handled;
};

/* The worker that this thread is; NULL for other threads. */
extern LBX__LOCAL(lbx__worker *, lbx__worker_self);

/* Relaxed: a number for people that one thread writes. */
static inline void
lbx__worker_count(_Atomic(uint64_t) *number, uint64_t more)
{
    lbx__store(number, lbx__load(number, relaxed) + more, relaxed);
}

/* dispatcher.c: the queue that all share, and who is told of it. */
/* Adds a runnable and wakes a worker for it; any thread (D6). */
void lbx__dispatcher_give(lbx__dispatcher *dispatcher, lbx__runnable *runnable);
lbx__runnable *lbx__dispatcher_take(lbx__dispatcher *dispatcher);

/* worker.c */
void *lbx__worker_main(void *argument);
/* To the worker's own queue; to everybody's when it is full. */
void lbx__worker_enqueue(lbx__worker *mine, lbx__runnable *runnable);

/* sleep.c */
/* D2: after a runnable was added. By a worker. */
void lbx__sleepers_notify(lbx__dispatcher *dispatcher);
/* The same in two steps: whom to wake, or NULL, under the lock; and waking it
 * without (D6). */
lbx__worker *lbx__sleepers_claim(lbx__dispatcher *dispatcher);
void lbx__sleepers_wake(lbx__worker *called);
/* D5: a slot is used and nobody watches; and, for who ends its search, whether
 * that is so. */
void lbx__sleepers_want_watcher(lbx__dispatcher *dispatcher);
bool lbx__sleepers_lack_watcher(lbx__dispatcher *dispatcher);
/* Wakes a worker, which then searches (D3). */
void lbx__sleepers_wake_one(lbx__dispatcher *dispatcher);
/* Is there something in a queue? */
bool lbx__dispatcher_has_work(lbx__dispatcher *dispatcher);
/* Sleeps until there is something to do, or to end. */
void lbx__sleepers_add(lbx__worker *mine);

#endif
