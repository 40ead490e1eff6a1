/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals: a wake-up that is remembered once.
 *
 * notify() wakes the waiter that has waited longest. Without a waiter, one
 * permit is kept for the next wait; further notifies add nothing to it.
 *
 * Threads    any.
 */
#ifndef LETTERBOX_MAILBOX_SIGNAL_H
#define LETTERBOX_MAILBOX_SIGNAL_H

#include <letterbox/base.h>
#include <letterbox/operation.h>

LBX_BEGIN

typedef struct lbx_signal lbx_signal;

/*
 * lbx_signal_create() makes a signal without a permit.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  one reference is the caller's: lbx_signal_unref().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_signal_create(
    const lbx_allocator *allocator, const lbx_clock *clock, lbx_signal **ret);

/*
 * lbx_signal_notify() wakes one waiter or leaves one permit. NULL is ignored.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_signal_notify(lbx_signal *signal);

/*
 * lbx_signal_wait_init() starts an operation that is done after a notify, or
 * at once with the permit. A wait that is cancelled after it was notified
 * passes the notification on.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the operation keeps the signal alive.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_signal_wait_init(lbx_operation *operation,
                                                     lbx_signal *signal,
                                                     int64_t deadline_ns);

/*
 * lbx_signal_wait_until() is the same, parking this thread.
 *
 * Returns    LBX_OK; LBX_TIMEOUT; LBX_INVALID.
 * Threads    any.
 * Blocks     until notified or `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_signal_wait_until(lbx_signal *signal,
                                                      int64_t deadline_ns);

/*
 * lbx_signal_ref() makes one more handle and returns it. NULL gives NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_signal *lbx_signal_ref(lbx_signal *signal);

/*
 * lbx_signal_unref() releases a handle; the last one frees it. Takes NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_signal_unref(lbx_signal *signal);

LBX_END

#endif
