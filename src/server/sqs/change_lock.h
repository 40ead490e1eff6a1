/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change locks: one change of a queue at a time.
 *
 * A change is made to what was just read (change.h): between the read and the
 * call that writes, no other request of this process may change the same queue.
 * A request that has to wait does not hold up its loop: it is continued by a
 * task when it has the lock. A request has one lock at most, and gives it back
 * when it is answered.
 *
 * CHLOCK-1  A lock is held by one request. Those that wait get it in the order
 *           in which they came.
 *
 * Queues share locks by the hash of their names. Other processes with the same
 * store are not held up: of two changes of options at the same moment, the
 * later one counts.
 */
#ifndef LBX_SERVER_SQS_CHANGE_LOCK_H
#define LBX_SERVER_SQS_CHANGE_LOCK_H

#include "base/list.h"
#include "base/lock.h"
#include <letterbox/base.h>

enum {
    LBX__CHANGE_LOCKS = 64
};

struct lbx__request;

typedef struct lbx__change_locks {
    lbx__lock lock; /* of all below */
    struct {
        lbx__link waiting; /* of lbx__request.change */
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

#endif
