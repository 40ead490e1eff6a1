/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of an lbx_operation, and the list of planned wake-ups.
 *
 * An operation belongs to its owner, the thread that polls it. What it waits on
 * (the subject: a mailbox, a postbox, an ask) guards the waiting half with its
 * own lock. Each kind of operation keeps its arguments in `data` and lays that
 * out itself (LBX__OP_DATA()); this file knows no kind.
 *
 * OPER-1  `status` is written by the owner only; once it is not LBX_PENDING it
 *         stays what it is.
 * OPER-2  `link`, `state` and `waker` belong to the subject's lock while the
 *         operation is QUEUED. The thread that dequeues it sets `state` and,
 *         under the same lock, adds its wake-up to a wakes list: from then on,
 *         until `calling` is NOT_CALLING again, `link` and `waker` belong to
 *         that list.
 * OPER-3  Before the owner finishes, re-queues or destroys an operation, it
 *         settles it: a wake-up that is planned and has not begun is withdrawn;
 *         one that runs in another thread is awaited; one that runs in this
 *         thread is a caller of ours, and its list is told that the operation
 *         is gone. A thread waits for no other callback than the operation's
 *         own.
 * OPER-4  A callback runs with no lock held, at most once per LBX_PENDING.
 */
#ifndef LBX_BASE_OP_H
#define LBX_BASE_OP_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/lock.h"
#include <letterbox/operation.h>

typedef struct lbx__op lbx__op;

/* What a kind of operation does. The owner calls these, without locks. */
typedef struct lbx__op_ops {
    /* Tries to finish; LBX_PENDING means registered with `waker`. */
    lbx_status (*poll)(lbx__op *op, const lbx_waker *waker);

    /* Leaves the queue. Returns the final status: `why`, or what had already
     * happened. */
    lbx_status (*leave)(lbx__op *op, lbx_status why);

    /* Releases what the operation keeps alive. */
    void (*release)(lbx__op *op);

    /* The operation may be started again with the same arguments. */
    bool again;
} lbx__op_ops;

typedef enum lbx__op_state {
    LBX__IDLE = 0, /* on no queue */
    LBX__QUEUED,
    LBX__GRANTED, /* dequeued, with `granted` as the result */
} lbx__op_state;

/* How far a wake-up has come. */
typedef enum lbx__calling {
    LBX__NOT_CALLING = 0,
    LBX__PLANNED,
    LBX__WITHDRAWN, /* the owner is removing it from the list */
    LBX__CALLING,
    LBX__AWAITED, /* calling, and the owner sleeps until it returns */
} lbx__calling;

typedef struct lbx__wakes lbx__wakes;

enum {
    LBX__OP_DATA_WORDS = 24
};

struct __attribute__((may_alias)) lbx__op {
    const lbx__op_ops *ops; /* NULL: zeroed, or after fini */
    const lbx_clock *clock;
    int64_t deadline_ns;
    lbx_status status;
    lbx_status granted;
    void *subject;
    int64_t poll_by_ns; /* the deadline; of a select, also its children's */

    /* The waiter: see OPER-2. */
    lbx__link link;
    lbx__op_state state;
    bool registered;           /* the owner's: it was queued since init */
    _Atomic(uint32_t) calling; /* lbx__calling */
    uintptr_t caller;
    lbx__wakes *wakes;
    lbx_waker waker;

    /* What the kind of operation needs; see LBX__OP_DATA(). */
    uint64_t data[LBX__OP_DATA_WORDS];
};

/* Spare words of the public struct, for later versions of the library. */
_Static_assert(sizeof(lbx__op) + 8 * sizeof(uint64_t) <= sizeof(lbx_operation),
               "an lbx_operation has fewer than eight spare words");

/* Declares how a kind of operation lays out its data, and the accessor
 * `accessor`(op). `type` must be a struct with the attribute may_alias. */
#define LBX__OP_DATA(type, accessor)                                           \
    _Static_assert(sizeof(type) <= LBX__OP_DATA_WORDS * sizeof(uint64_t),      \
                   "the data of an operation does not fit");                   \
    static inline __typeof__(type) *accessor(lbx__op *op)                      \
    {                                                                          \
        return (__typeof__(type) *)(void *)op->data;                           \
    }                                                                          \
    _Static_assert(1, "")

static inline lbx__op *
lbx__op_of(lbx_operation *operation)
{
    return (lbx__op *)(void *)operation;
}

/* Starts an operation: LBX_PENDING, IDLE, its data zeroed. A negative deadline
 * is LBX_FOREVER. */
void lbx__op_init(lbx__op *op, const lbx__op_ops *ops, void *subject,
                  const lbx_clock *clock, int64_t deadline_ns);
void lbx__op_set_deadline(lbx__op *op, int64_t deadline_ns);

/* Reports whether the time to poll has come. */
bool lbx__op_late(const lbx__op *op);

/* Sets the waker; NULL: none. Under the subject's lock. */
void lbx__op_set_waker(lbx__op *op, const lbx_waker *waker);

/* Queues the operation before a link of the subject's queue, under the
 * subject's lock. */
void lbx__op_queue(lbx__op *op, lbx__link *before, const lbx_waker *waker);

/* OPER-3: afterwards no callback of this operation runs or will run. */
void lbx__op_settle(lbx__op *op);

/* Wake-ups to be made once the lock is released. The list is on the stack of
 * the waking thread, which stays until it is empty; owners that withdraw take
 * the list's own lock. */
struct lbx__wakes {
    lbx__lock lock;
    lbx__link ops;
    lbx__op *running;
};

void lbx__wakes_init(lbx__wakes *wakes);

/* Dequeues an operation with `granted` as the result and plans its wake-up.
 * Under the subject's lock. */
void lbx__wakes_grant(lbx__wakes *wakes, lbx__op *op, lbx_status granted);

/* Calls the wakers. Without locks. */
void lbx__wakes_run(lbx__wakes *wakes);

/* Polls until the operation is final, parking this thread in between. */
lbx_status lbx__op_wait(lbx__op *op);

#endif
