/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change locks: one change of a queue at a time.
 *
 * A change is made to what was just read (change.h): between the read and the
 * call that writes, no other request of this process may change the same queue.
 * A request that has to wait does not hold up its loop: it is continued by a
 * task when it has the lock. A request has one lock at most, and gives it back
 * when it is answered. A thread that is no loop's, of a reload, waits itself.
 *
 * CHLOCK-1  A lock is held by one change. Those that wait get it in the order
 *           in which they came.
 *
 * Queues share locks by the hash of their names. Other processes with the same
 * store are not held up: of two changes of options at the same moment, the
 * later one counts.
 */
#ifndef LBX_SERVER_SQS_CHANGE_LOCK_H
#define LBX_SERVER_SQS_CHANGE_LOCK_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/lock.h"
#include <letterbox/base.h>

enum {
    LBX__CHANGE_LOCKS = 64
};

struct lbx__request;

/* A change that holds a lock, or waits for one. */
typedef struct lbx__change_ticket {
    lbx__link link;
    uint32_t slot;
    /* It has the lock now; in the thread of the change before it. */
    void (*taken)(struct lbx__change_ticket *ticket);
} lbx__change_ticket;

/* One of a thread that waits. */
typedef struct lbx__change_wait {
    lbx__change_ticket ticket; /* first */
    _Atomic(uint32_t) is_taken;
} lbx__change_wait;

typedef struct lbx__change_locks {
    lbx__lock lock; /* of all below */
    struct {
        lbx__link waiting; /* lbx__change_ticket.link */
        bool is_held;
    } slots[LBX__CHANGE_LOCKS];
} lbx__change_locks;

void lbx__change_locks_init(lbx__change_locks *locks);

/* Takes the lock of the request's queue and continues with `step` and OK. */
void lbx__change_lock_take(struct lbx__request *request,
                           void (*step)(struct lbx__request *request,
                                        lbx_status status));

/* Gives it back, if the request has one. */
void lbx__change_lock_give(struct lbx__request *request);

/* The same for the calling thread, and a queue by its name; `space` NULL: that
 * of programs. Not in a loop's thread. */
void lbx__change_lock_wait(lbx__change_locks *locks, lbx__change_wait *wait,
                           const char *space, const char *name);
void lbx__change_lock_end(lbx__change_locks *locks, lbx__change_wait *wait);

#endif
