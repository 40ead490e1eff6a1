/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the service share; private to this room. service.h is for
 * stores.
 *
 *   service.c     the table of a store: calls in, cancel, ticks, calls out
 *   batch.c       one batch of calls, from begin to flush: which rule runs a
 *                 call, and waiting receives
 *   waiters.c     waiting receives, by box and due time
 *   page.c        results that are passed to functions of the caller
 *   thread.c      the service thread
 *   lifecycle.c   opening and closing
 *
 * SVC-1  A call is finished once, after its batch is durable.
 * SVC-2  Under the lock, no code of a user runs except an allocator: no waker,
 *        no `each`, no lbx_call_finish().
 * SVC-3  A waiting receive belongs to one box uid. Its wait ends by the
 *        deadline of its operation, which cancels the call: the service has no
 *        timer for it.
 * SVC-4  Before the service thread sleeps, every box with a waiting receive and
 *        a due letter has been served, in the order of the receives; and it
 *        sleeps no longer than until the next letter is due.
 * SVC-5  One thread at a time uses rules and storage: the one that holds the
 *        lock, or, with one_thread, the service thread.
 * SVC-6  No thread waits for the end of a call under a lock. A thread that
 *        cancels a call that is done but not finished finishes it itself: so a
 *        waker may cancel an operation that the same thread would finish next.
 *
 * Locks    `lock`, under which only allocators take others. `text_lock` is for
 *          receipts as text, and is never held together with it.
 */
#ifndef LBX_POST_SERVICE_INTERNAL_H
#define LBX_POST_SERVICE_INTERNAL_H

#include "base/lock.h"
#include "codec/mac.h"
#include "post/rules/rules.h"
#include "post/service/service.h"
#include "post/service/waiters.h"

#include <pthread.h>

enum {
    LBX__BATCH_CALLS_MAX = 512, /* calls before a flush */
    LBX__WORK_BUDGET = 64,      /* rows of background work in a batch */
};

typedef struct lbx__service {
    lbx_store base; /* first */
    lbx_store_ops ops;
    lbx__service_options options;
    lbx__storage *storage;
    lbx__rules *rules;
    _Atomic(uint32_t) durability;

    lbx__lock text_lock;
    lbx__mac *mac;

    lbx__lock lock;
    lbx__calls queued; /* one_thread: for the next batch */
    lbx__calls done;   /* one_thread: to be finished */
    lbx__waiters waiters;
    int64_t work_ns; /* when background work is due */

    /* The service thread. */
    pthread_t thread;
    _Atomic(uintptr_t) thread_id; /* 0: none */
    bool has_thread;
    bool stopping;
    bool self_closed; /* it has closed the service, and frees it */
    void *closing;    /* what options.closing() returned */
    bool asleep;
    bool recheck;                    /* another process has changed something */
    int64_t wake_ns;                 /* asleep: until when */
    _Atomic(uint32_t) notifications; /* from our own threads */
    uint32_t foreign_notifications;  /* from other processes, those seen */
    _Atomic(uint32_t) calls_queued;  /* calls ever queued; wraps */
    uint32_t calls_collected;        /* of these, those in a batch */
    uint32_t batch_calls;            /* in the last batch */
    uint32_t expected_calls;         /* in the next, if all come back */
    uint32_t idle_rounds;            /* times in a row it lingered in vain */

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
 * held meanwhile (SVC-5). */
static inline void
lbx__service_enter_rules(lbx__service *service)
{
    if (service->options.one_thread)
        lbx__lock_give(&service->lock);
}

static inline void
lbx__service_leave_rules(lbx__service *service)
{
    if (service->options.one_thread)
        lbx__lock_take(&service->lock);
}

static inline int64_t
lbx__service_now(lbx__service *service)
{
    int64_t now_ns;

    lbx__service_enter_rules(service);
    now_ns = lbx__storage_now(service->storage);
    lbx__service_leave_rules(service);
    return now_ns;
}

/* ---- service.c ---- */

extern const lbx_store_ops lbx__service_ops; /* without a scheme */

/* Finishes calls that are done. The lock is held before and after. */
void lbx__service_finish_calls(lbx__service *service, lbx__calls *done);

/* A failure of the whole call: before it had any effect; and when its effects
 * may or may not be durable. Return the status of the call. */
lbx_status lbx__service_fail_call(const lbx_call *call, lbx_status status);
lbx_status lbx__service_doubt_call(const lbx_call *call, lbx_status status);

/* ---- batch.c ---- */

/* Takes up to LBX__BATCH_CALLS_MAX queued calls: from now on a cancel can only
 * shorten their wait. Under the lock. */
lbx__calls lbx__batch_collect(lbx__service *service);

/* Runs a batch of `calls`, which it empties, serves waiting receives, and does
 * some background work; calls that have ended go to `done`. The lock is held
 * before and after. */
void lbx__batch_run(lbx__service *service, lbx__calls *calls, lbx__calls *done);

/* When the next batch is due. Under the lock. */
int64_t lbx__batch_due(const lbx__service *service);

/* ---- page.c ---- */

/* Whether a call has results that are passed to functions of the caller: only
 * such a call has a page. */
static inline bool
lbx__page_is_needed(const lbx_call *call)
{
    const lbx_box_request *request = call->request;

    if (call->kind == LBX_CALL_CREATE || call->kind == LBX_CALL_DESCRIBE)
        return request->each_text != NULL;
    return call->kind == LBX_CALL_LIST;
}

/* Creates the page of a call; false: no memory. */
bool lbx__page_create(lbx__service *service, lbx_call *call);

/* Runs a rule whose results go to the page, if the call has one. */
lbx_status lbx__page_run_list(lbx__service *service, lbx_call *call);
lbx_status lbx__page_run_box(lbx__service *service, lbx_call *call,
                             lbx_status (*rule)(lbx__rules *rules,
                                                lbx_box_request *request));

/* Calls the caller's functions with what is on the page, without the lock.
 * True: there is more, and the call should run again. */
bool lbx__page_flush(lbx_call *call, lbx_status status);

/* Destroys the page. */
void lbx__page_destroy(lbx_call *call);

/* Where a call that has a page keeps the list that it is in when it is done. */
lbx__calls **lbx__page_list(const lbx_call *call);

/* The list that a done call is in; set, and read. */
static inline void
lbx__service_set_list(lbx_call *call, lbx__calls *list)
{
    if (lbx__page_is_needed(call))
        *lbx__page_list(call) = list;
    else
        call->words[LBX__CALL_OWNER] = list;
}

static inline lbx__calls *
lbx__service_list(const lbx_call *call)
{
    return lbx__page_is_needed(call) ? *lbx__page_list(call)
                                     : call->words[LBX__CALL_OWNER];
}

/* ---- thread.c ---- */

/* Starts the service thread, unless it runs. Under the lock. */
bool lbx__thread_start(lbx__service *service);

/* Wakes it if it sleeps and something is to do before it would wake up. Under
 * the lock. */
void lbx__thread_notify(lbx__service *service);

/* Stops it, without the lock. False: the caller is that thread, which frees the
 * service at its end. */
bool lbx__thread_stop(lbx__service *service);

/* True in the service thread. */
bool lbx__thread_is_current(const lbx__service *service);

/* ---- lifecycle.c ---- */

/* Opens storage and rules, and closes them: in the thread that uses them. */
lbx_status lbx__lifecycle_open(lbx__service *service);
void lbx__lifecycle_close(lbx__service *service);

/* Frees everything except the thread. */
void lbx__lifecycle_free(lbx__service *service);

#endif
