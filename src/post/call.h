/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An lbx_call inside an lbx_operation.
 *
 * An operation on a postbox is one call of its store, or a few, one after the
 * other: the reply, then the acknowledgement. What it does is a step function,
 * which is told what the last call came to and either prepares the next one or
 * answers how it all ended.
 *
 * A call that the store answers at once costs no lock. One that is pending is
 * finished by any thread, under the lock of the operation's desk, and then
 * the operation's waker is called, without it (base/op.h, OPER-2 to OPER-4).
 *
 * F4  An operation that has been picked up ends with what really happened. Giving
 *     up asks the store to finish and waits for its answer; CANCELLED from the
 *     store means that nothing happened, and becomes the reason for giving up.
 * F6  A call is started only when none is running, and the operation is not
 *     given back while one is.
 * F7  Letters of a receive that was cancelled are put back (undo): a cancelled
 *     receive takes nothing. Those of one whose wait was over are handed over.
 * F8  Of the threads that wait for a store, one at a time does so without sleeping,
 *     for AWAKE_NS, as long as stores answer within it. Nothing depends on that
 *     but speed.
 */
#ifndef LBX_POST_CALL_H
#define LBX_POST_CALL_H

#include "base/op.h"
#include "post/store.h"

/* What an operation does; op->ops points to the first member. */
typedef struct lbx__steps {
    lbx__op_ops op;

    /* Told PENDING at first, then what each call came to. Answers PENDING when it
     * has set the next call's store, verb and request; or the final status. After
     * giving up no more calls are made: it is told the reason instead. */
    lbx_status (*step)(lbx__op *op, lbx_status last);

    /* Frees what the operation has; the call is over. */
    void (*drop)(lbx__op *op);

    lbx_status late;    /* what a passed deadline is called */
    bool ends_by_close; /* closing the postbox ends it */
} lbx__steps;

#define LBX__STEPS(step_, drop_, late_, ends_, again_)                         \
    {                                                                          \
        .op = {.poll = lbx__called_poll,                                       \
               .leave = lbx__called_leave,                                     \
               .release = lbx__called_release,                                 \
               .again = (again_)},                                             \
        .step = (step_), .drop = (drop_), .late = (late_),                     \
        .ends_by_close = (ends_)                                               \
    }

/* What the operation keeps in lbx__op.data. */
typedef struct __attribute__((may_alias)) lbx__called {
    lbx_call call;
    lbx_store *store;   /* of the call */
    lbx_postbox *keeps; /* NULL: the caller does */
    bool running;
    bool begun;         /* a step was made */
    lbx_status gave_up; /* PENDING: not */
    lbx_letter *first;  /* delivered */
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
            const lbx_draft *replies;
            lbx_sent *ret;
            lbx_fault *fault;
            void *job;  /* NULL: made by the first step, freed at the end */
            bool given; /* it is the caller's */
        } batch;
        struct {
            void *job;
            void *ret;
            bool given;
        } box;
    } u;
} lbx__called;

LBX__OP_DATA(lbx__called, lbx__called_of);

/* Starts an operation whose calls end under the lock of `desk`. */
void lbx__called_init(lbx__op *op, const lbx__steps *steps, lbx__desk *desk,
                      const lbx_clock *clock, int64_t deadline_ns);

/* What a step does before it answers PENDING. */
void lbx__called_next(lbx__op *op, lbx_store *store, lbx_verb verb,
                      void *request);

/* In this thread, to the end; lets go of everything. */
lbx_status lbx__called_run(lbx__op *op);

lbx_status lbx__called_poll(lbx__op *op, const lbx_waker *waker);
lbx_status lbx__called_leave(lbx__op *op, lbx_status why);
void lbx__called_release(lbx__op *op);

/* A single call of a store, in this thread. */
lbx_status lbx__call_now(lbx_store *store, lbx_verb verb, void *request);

/* Takes deliveries back that nobody has seen, and ends the letters, without
 * waiting for either. Without memory for that they come back when their leases
 * run out. */
void lbx__letter_undo(lbx_letter *first);

/* Closes a desk: those that wait are woken, and end. */
void lbx__desk_close(lbx__desk *desk);

#endif
