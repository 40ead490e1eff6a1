/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of an lbx_operation, and the list of wake-ups.
 *
 * An operation is owned by whoever polls it; what it waits on (the subject)
 * guards the waiter half with its own lock.
 *
 * O1  `status` is written by the owner only, and once it is not PENDING it
 *     stays.
 * O2  `link`, `state` and `waker` belong to the subject's lock while the
 *     operation is QUEUED. Whoever takes it off the queue sets `state` and,
 *     under the same lock, plans its wake-up in a wakes list: from then on and
 *     until `calling` is NOT_CALLING again, the operation's link and waker
 *     belong to that list.
 * O3  Before the owner finishes, re-queues or ends an operation, it settles it:
 *     a wake-up that is planned and has not begun is withdrawn, one that runs
 *     in another thread is awaited, one that runs in this thread is the caller
 *     and is told that the operation is gone (F5, F6). Nobody ever waits for a
 *     callback other than the operation's own.
 * O4  A callback runs with no lock held, at most once per PENDING.
 */
#ifndef LBX_BASE_OP_H
#define LBX_BASE_OP_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/lock.h"
#include <letterbox/mailbox/messages.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/operation.h>

typedef struct lbx__op lbx__op;

/* What an operation can do. All are called by the owner, without locks. */
typedef struct lbx__op_ops {
    /* Tries to finish; PENDING means registered with `waker`. */
    lbx_status (*poll)(lbx__op *op, const lbx_waker *waker);

    /* Leaves the queue. Answers the final status: `why`, or what had already
     * happened. */
    lbx_status (*leave)(lbx__op *op, lbx_status why);

    /* Lets go of what the operation keeps alive. */
    void (*release)(lbx__op *op);

    /* May be started again with the same arguments. */
    bool again;
} lbx__op_ops;

typedef enum lbx__op_state {
    LBX__IDLE = 0, /* not on a queue */
    LBX__QUEUED,
    LBX__GRANTED, /* taken off the queue; `granted` says with what */
} lbx__op_state;

/* What a wake-up is doing. */
typedef enum lbx__calling {
    LBX__NOT_CALLING = 0,
    LBX__PLANNED,
    LBX__WITHDRAWN, /* the owner is taking it off the list */
    LBX__CALLING,
    LBX__AWAITED, /* calling, and the owner sleeps */
} lbx__calling;

typedef struct lbx__wakes lbx__wakes;

struct __attribute__((may_alias)) lbx__op {
    const lbx__op_ops *ops; /* NULL: zeroed, or ended */
    const lbx_clock *clock;
    int64_t deadline_ns;
    lbx_status status;
    lbx_status granted;
    void *subject;
    int64_t
        look_ns; /* when to poll at the latest: the deadline, or a child's */

    /* The waiter: see O2. */
    lbx__link link;
    lbx__op_state state;
    bool registered; /* the owner's: it has been on the queue since init */
    _Atomic(uint32_t) calling; /* lbx__calling */
    uintptr_t caller;
    lbx__wakes *wakes;
    lbx_waker waker;

    /* What each kind of operation needs. */
    union {
        struct {
            lbx_envelope envelope;
            lbx_send_result *result;
            void *const *messages; /* batch: the rest */
            size_t count;
            size_t *sent;
            int64_t policy_deadline_ns;
            lbx_send_result made;
            void *lane;
            bool prepared; /* the envelope has its priority */
        } send;
        struct {
            void **message;
            lbx_envelope *envelope;
            void **messages;
            size_t most;
            size_t *count;
            uint64_t ticket; /* its place among the waiting; 0: none yet */
        } receive;
        struct {
            uint64_t mark[3]; /* by lane: what was accepted before */
            uint64_t look[3]; /* by lane: how many taken before a look pays */
            bool stop;
        } flush;
        struct {
            lbx_envelope question;
            lbx_envelope *answer;
            uint64_t to;
            void *ask;    /* from the first poll on */
            bool told;    /* the question is no longer ours */
            bool quiet;   /* there is none: the end is what is waited for */
            bool handled; /* waits until the message was handled */
        } ask;
        struct {
            lbx_operation *const *children;
            size_t count;
            size_t first;
            size_t *index;
            _Atomic(uint32_t) calls; /* what to do when a child calls */
        } select;
        uint64_t called[22]; /* a call of a store: post/call.h */
    } u;
};

_Static_assert(sizeof(lbx__op) <= sizeof(lbx_operation),
               "an operation must fit its public room");

static inline lbx__op *
lbx__op_of(lbx_operation *operation)
{
    return (lbx__op *)(void *)operation;
}

/* Starts an operation: PENDING, idle. */
void lbx__op_init(lbx__op *op, const lbx__op_ops *ops, void *subject,
                  const lbx_clock *clock, int64_t deadline_ns);

/* Tells whether it is time to look: the deadline has passed. */
bool lbx__op_late(const lbx__op *op);

/* Whom to wake; NULL is nobody. Under the subject's lock. */
void lbx__op_set_waker(lbx__op *op, const lbx_waker *waker);

/* Puts the operation on a queue, under the subject's lock. */
void lbx__op_queue(lbx__op *op, lbx__link *before, const lbx_waker *waker);

/* O3: afterwards no callback of this operation runs or will run. */
void lbx__op_settle(lbx__op *op);

/* Wake-ups to be made once the lock is released. Lives on the stack of the
 * waking thread, which stays until the list is empty; owners who withdraw take
 * the list's own lock. */
struct lbx__wakes {
    lbx__lock lock;
    lbx__link ops;
    lbx__op *running;
};

void lbx__wakes_init(lbx__wakes *wakes);

/* Takes a queued operation off its queue with `granted` as the answer, and
 * plans its wake-up. Under the subject's lock. */
void lbx__wakes_grant(lbx__wakes *wakes, lbx__op *op, lbx_status granted);

/* Calls the wakers. Without locks. */
void lbx__wakes_run(lbx__wakes *wakes);

/* Polls to the end, parking this thread. */
lbx_status lbx__op_wait(lbx__op *op);

#endif
