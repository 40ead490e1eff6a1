/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the service; see service.h.
 *
 * E1  A call is ended once, after the ticket of its group is durable.
 * E2  Under the lock no code of a user's runs but an allocator: no waker, no
 *     `each`, no lbx_call_finish().
 * E3  A receive that waits is of one box uid. Its wait ends by its operation's
 *     deadline, which cancels the call: there is no timer for it.
 * E4  Before the service sleeps, every box that has a waiting receive and a due
 *     letter has been served, in the order the receives came; and it sleeps no
 *     longer than until the next is due.
 * E5  Rules and storage are used by one thread at a time: who has the lock, or,
 *     with one_thread, that one.
 * E6  Nobody waits for a call's end under a lock, and who gives up a call that is
 *     done but not told tells it itself: a waker that cancels an operation whose
 *     end the same thread was to tell next does not wait for itself.
 *
 * One lock; nothing else is taken under it but what allocators take. `text` is
 * for receipts as text, and stands alone.
 */
#ifndef LBX_POST_MACHINE_H
#define LBX_POST_MACHINE_H

#include "base/lock.h"
#include "codec/mac.h"
#include "post/rules/rules.h"
#include "post/service/service.h"
#include "post/service/waiters.h"

#include <pthread.h>

enum {
    LBX__BATCH_CALLS_MAX = 512, /* calls before a flush */
    LBX__WORK_BUDGET = 64,      /* rows of background work beside a group */
};

typedef struct lbx__service {
    lbx_store base; /* first */
    lbx_store_ops ops;
    lbx__service_options options;
    lbx__storage *storage;
    lbx__rules *rules;
    _Atomic(uint32_t) durability;

    lbx__lock text;
    lbx__mac *mac;

    lbx__lock lock;
    lbx__calls asked; /* one_thread: the next group */
    lbx__calls done;  /* one_thread: to be told */
    lbx__waiters waiters;
    int64_t work_ns; /* when background work is due */

    /* The thread. */
    pthread_t thread;
    _Atomic(uintptr_t) self; /* 0: none */
    bool has_thread;
    bool stopping;
    bool orphan;   /* closed by its own thread, which frees it */
    void *closing; /* what options.closing() returned */
    bool asleep;
    bool look;              /* another process has changed something */
    int64_t alarm_ns;       /* asleep: until when */
    _Atomic(uint32_t) bell; /* how often we have called it */
    uint32_t heard;         /* how often others have, by the storage's bell */
    _Atomic(uint32_t) asks; /* calls that were asked, ever; wraps */
    uint32_t taken;         /* of these, those in a group up to the last */
    uint32_t group;         /* how many that had */
    uint32_t awaited;       /* how many the next one may have */
    uint32_t idle;          /* how often in a row it stayed awake in vain */

    /* one_thread: ticks. */
    uint32_t ticks;
    _Atomic(uint32_t) ticks_done;

    /* one_thread: opening. */
    _Atomic(uint32_t) opened;
    lbx_status open_status;
} lbx__service;

static inline lbx__service *
lbx__service_of(lbx_store *store)
{
    return (lbx__service *)store;
}

/* Around everything that uses rules or storage: with one_thread the lock is not
 * held meanwhile (E5). */
static inline void
lbx__service_let_go(lbx__service *service)
{
    if (service->options.one_thread)
        lbx__lock_give(&service->lock);
}

static inline void
lbx__service_take_back(lbx__service *service)
{
    if (service->options.one_thread)
        lbx__lock_take(&service->lock);
}

static inline int64_t
lbx__service_now(lbx__service *service)
{
    int64_t now_ns;

    lbx__service_let_go(service);
    now_ns = lbx__storage_now(service->storage);
    lbx__service_take_back(service);
    return now_ns;
}

/* ---- verbs.c: one call ---- */

/* Runs a verb that never waits: its status. */
lbx_status lbx__dispatch_run(lbx__service *service, lbx_call *call);

/* The sink's side of lbx_call_deliver(). The context is the call. */
lbx_status lbx__dispatch_deliver(void *context, const lbx_delivery *delivery);

/* A failure of the whole: before anything was done; and when what was done may
 * or may not last. Answers the call's status. */
lbx_status lbx__dispatch_fail(const lbx_call *call, lbx_status status);
lbx_status lbx__dispatch_doubt(const lbx_call *call, lbx_status status);

/* Answers of verbs that call back are kept on pages until the lock is free.
 * Makes one for a call that needs one; false: no memory. */
bool lbx__page_begin(lbx__service *service, lbx_call *call);

/* Calls back with what is on the call's page, without the lock. True: there is
 * more, and the call should be run again. */
bool lbx__page_tell(lbx_call *call, lbx_status status);

/* Frees the page, if there is one. */
void lbx__page_end(lbx_call *call);

/* The list that a call which is done is in; set, and got. */
void lbx__call_set_list(lbx_call *call, lbx__calls *list);
lbx__calls *lbx__call_list(const lbx_call *call);

/* ---- service_turn.c: a group ---- */

/* Takes up to LBX__BATCH_CALLS_MAX of the calls that were asked: from here on they
 * cannot be given up any more, but to wait no longer. Under the lock. */
lbx__calls lbx__batch_collect(lbx__service *service);

/* Runs a group, which it empties, serves who waits, and does some background
 * work; calls that are over go to `done`. The lock is held before and after. */
void lbx__batch_run(lbx__service *service, lbx__calls *group, lbx__calls *done);

/* When the next turn is due. Under the lock. */
int64_t lbx__batch_due(const lbx__service *service);

/* ---- service.c ---- */

extern const lbx_store_ops lbx__service_ops; /* without a scheme */

/* Ends calls that are done. The lock is held before and after. */
void lbx__service_tell(lbx__service *service, lbx__calls *done);

/* ---- service_open.c ---- */

/* Opens storage and rules, and closes them: in the thread that uses them. */
lbx_status lbx__service_begin(lbx__service *service);
void lbx__service_end(lbx__service *service);

/* Frees everything but the thread. */
void lbx__service_free(lbx__service *service);

/* ---- hand.c: the thread ---- */

/* Starts the thread, unless it runs. Under the lock. */
bool lbx__thread_start(lbx__service *service);

/* Wakes it when it sleeps for longer than it may. Under the lock. */
void lbx__thread_notify(lbx__service *service);

/* Ends it, without the lock. False: it is the caller, and frees the service when
 * it has come to its end. */
bool lbx__thread_stop(lbx__service *service);

/* Tells whether this thread is it. */
bool lbx__thread_is_current(const lbx__service *service);

#endif
