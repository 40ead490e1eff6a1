/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of stores inside operations.
 *
 * An operation on a postbox makes one call of its store, or a few, one after
 * the other: the reply, then the acknowledgement. A step function describes it:
 * the function is given the result of the last call and either prepares the
 * next call or returns the result of the operation.
 *
 * A call that the store completes at once takes no lock. A pending call is
 * finished by any thread, under the lock of the operation's call queue; then
 * the operation's waker is called, without the lock (base/op.h, OPER-2 to
 * OPER-4).
 *
 * CALL-1  An operation that was started returns what really happened. On a
 *         deadline, a cancel or a close, the store is asked to finish the call,
 *         and the operation waits for its result. CANCELLED from the store
 *         means that nothing happened; it becomes TIMEOUT, CANCELLED or CLOSED.
 * CALL-2  A call is started only when none is running, and the operation is not
 *         released while one is.
 * CALL-3  A cancelled receive takes no letters: those that were delivered are
 *         put back (letter_undo.c). A receive whose wait has ended returns
 *         them.
 * CALL-4  Of the threads that wait for a store, one at a time spins, for at
 *         most CALL_SPIN_NS, as long as calls finish within that time. Only
 *         speed depends on it.
 */
#ifndef LBX_POST_CALL_H
#define LBX_POST_CALL_H

#include "base/op.h"
#include "post/store.h"

/* What an operation does; op->ops points to the first member. */
typedef struct lbx__call_steps {
    lbx__op_ops op;

    /* `last` is PENDING at first, then the result of each call. Returns PENDING
     * after lbx__call_op_next(); or the final status. After a deadline, a
     * cancel or a close no more calls are made: `last` is the reason. */
    lbx_status (*step)(lbx__op *op, lbx_status last);

    /* Frees the memory of the operation; no call is running. */
    void (*drop)(lbx__op *op);

    lbx_status late;    /* the result when the deadline has passed */
    bool ends_by_close; /* closing the postbox cancels it */
} lbx__call_steps;

#define LBX__CALL_STEPS(step_, drop_, late_, ends_, again_)                    \
    {                                                                          \
        .op = {.poll = lbx__call_op_poll,                                      \
               .leave = lbx__call_op_leave,                                    \
               .release = lbx__call_op_release,                                \
               .again = (again_)},                                             \
        .step = (step_), .drop = (drop_), .late = (late_),                     \
        .ends_by_close = (ends_)                                               \
    }

/* What the operation keeps in lbx__op.data. */
typedef struct __attribute__((may_alias)) lbx__call_op {
    lbx_call call;
    lbx_store *store;   /* of the call */
    lbx_postbox *keeps; /* a hold; NULL: the caller has one */
    bool running;
    bool begun;           /* a step was made */
    lbx_status cancelled; /* the reason; PENDING: none */
    lbx_letter *first;    /* delivered */
    lbx_letter *last;
    union {
        struct {
            lbx_receive_request request;
            lbx_letter **ret;
            size_t *ret_count;
        } receive;
        struct {
            const void *what; /* drafts, settles, or a letter */
            size_t count;
            union {
                const lbx_draft *reply;          /* of lbx_letter_reply() */
                const lbx_draft *const *replies; /* of a settle; may be NULL,
                                                    as each of them */
            };
            lbx_sent_letter *ret;
            lbx_fault *fault;
            void *job;  /* NULL: allocated by the first step */
            bool given; /* the caller owns the job */
        } batch;
        struct {
            void *job;
            void *ret;
            bool given;
        } box;
    } u;
} lbx__call_op;

LBX__OP_DATA(lbx__call_op, lbx__call_op_of);

/* Initialises an operation whose calls are finished under the lock of
 * `queue`. */
void lbx__call_op_init(lbx__op *op, const lbx__call_steps *steps,
                       lbx__call_queue *queue, const lbx_clock *clock,
                       int64_t deadline_ns);

/* Sets the next call; the step returns PENDING after it. */
void lbx__call_op_next(lbx__op *op, lbx_store *store, lbx_call_kind verb,
                       void *request);

/* Runs an operation in this thread until it has ended, and releases it. */
lbx_status lbx__call_op_run(lbx__op *op);

lbx_status lbx__call_op_poll(lbx__op *op, const lbx_waker *waker);
lbx_status lbx__call_op_leave(lbx__op *op, lbx_status why);
void lbx__call_op_release(lbx__op *op);

/* Makes a single call of a store, in this thread. */
lbx_status lbx__call_run(lbx_store *store, lbx_call_kind verb, void *request);

void lbx__call_queue_init(lbx__call_queue *queue);

/* Closes a queue: its pending operations are woken, and end with CLOSED. */
void lbx__call_queue_close(lbx__call_queue *queue);

#endif
