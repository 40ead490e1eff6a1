/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations: waiting that can be polled, cancelled, and put on any event loop.
 *
 * Everything in Letterbox that may wait is an operation underneath: a send to a
 * full mailbox, a receive from an empty one, a signal, a flush. An operation is
 * a struct in *your* memory. You start it with the init function of what you
 * want (lbx_producer_send_init(), lbx_consumer_receive_init(), ...), and poll
 * it until it returns something other than LBX_PENDING. Nothing is allocated,
 * and no thread is blocked.
 *
 *     lbx_operation receive;
 *     void *message;
 *
 *     lbx_consumer_receive_init(&receive, consumer, &message, LBX_FOREVER);
 *     status = lbx_operation_poll(&receive, &waker);
 *     if (status == LBX_PENDING)
 *         return;          // waker is called when it is worth polling again
 *     handle(status, message);
 *     lbx_operation_fini(&receive);
 *
 * To simply wait in this thread, use the blocking fronts (lbx_consumer_
 * receive_until() and the like) or lbx_operation_wait().
 *
 * A waker is called at most once for each poll that returned LBX_PENDING, from
 * the thread that made the difference, with no lock held. It may call anything,
 * the operation itself included. It should be quick: set a flag, write an
 * eventfd, push on a run queue.
 *
 * Deadlines need no timer thread: an operation that is past its deadline
 * returns LBX_TIMEOUT when polled, and lbx_operation_deadline() returns until
 * when your loop may sleep.
 *
 * Cancel safety. A cancelled receive takes nothing: the message stays in the
 * mailbox, or goes to the next waiting receiver. A cancelled send is wholly out
 * (LBX_CANCELLED: the message is yours again) or wholly in (LBX_OK), never
 * between. Ending an operation with lbx_operation_fini() cancels it.
 *
 * Threads    one operation is polled, cancelled and finished (fini) by one
 *            thread at a time. Wakers come from any thread.
 *
 * Caveats
 * - Do not copy, move or free an operation between init and fini.
 * - An operation keeps what it waits on alive; fini every one you init.
 * - Two wakers in two threads that cancel each other's operation wait for each
 *   other forever.
 * - When a waker polls its own operation, a cancel in another thread no longer
 *   waits for that waker.
 */
#ifndef LETTERBOX_OPERATION_H
#define LETTERBOX_OPERATION_H

#include <letterbox/base.h>

LBX_BEGIN

/* What to call when a poll is worth repeating. Copied by each poll. */
typedef struct lbx_waker {
    void (*wake)(void *context);
    void *context;
} lbx_waker;

/* A piece of waiting. The content is the library's. */
typedef struct lbx_operation {
    uint64_t reserved[48];
} lbx_operation;

/*
 * lbx_operation_poll() moves the operation on as far as it can go now.
 *
 * `waker` may be NULL: then nothing is called, and the caller must poll again
 * by itself. A poll with a new waker replaces the one before. Polling a
 * finished operation gives its final status again.
 *
 * Returns    LBX_PENDING; or the final status: LBX_OK, LBX_TIMEOUT, LBX_CLOSED,
 *            LBX_CANCELLED, and what the started call lists.
 * Threads    one at a time.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_operation_poll(lbx_operation *operation,
                                                   const lbx_waker *waker);

/*
 * lbx_operation_wait() polls until the operation is finished, parking this
 * thread on a futex in between. It returns at the operation's own deadline at
 * the latest.
 *
 * Returns    the final status, never LBX_PENDING.
 * Threads    one at a time.
 * Blocks     until finished.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_operation_wait(lbx_operation *operation);

/*
 * lbx_operation_cancel() cancels the operation. Afterwards no callback of this
 * operation runs or is running; one that runs in another thread is waited for;
 * one that called this function is not.
 *
 * Returns    the final status: LBX_CANCELLED, or what had happened before.
 *            LBX_OK from a send means it was sent after all.
 * Threads    one at a time; also from inside the operation's own waker.
 * Since      0.1
 */
LBX_API lbx_status lbx_operation_cancel(lbx_operation *operation);

/*
 * lbx_operation_fini() cancels the operation if it is pending and releases
 * everything. Takes NULL and operations that were zeroed or already finished.
 *
 * Threads    one at a time; also from inside the operation's own waker.
 * Since      0.1
 */
LBX_API void lbx_operation_fini(lbx_operation *operation);

/*
 * lbx_operation_restart() starts a finished operation again with the same
 * arguments, except that `deadline_ns` replaces the deadline, or the wait, that
 * it was started with: for loops that receive. A deadline is a moment, so that
 * a loop computes it anew each time (lbx_deadline_after()); LBX_FOREVER or a
 * negative one: none.
 *
 * Returns    LBX_OK; LBX_BUSY while it is pending; LBX_UNSUPPORTED for sends,
 *            whose message has been used, and for selects; LBX_INVALID.
 * Threads    one at a time.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_operation_restart(lbx_operation *operation,
                                                      int64_t deadline_ns);

/*
 * lbx_operation_status() is the status so far, without moving anything.
 *
 * Returns    LBX_PENDING or the final status.
 * Threads    one at a time.
 * Since      0.1
 */
LBX_API lbx_status lbx_operation_status(const lbx_operation *operation);

/*
 * lbx_operation_deadline() is when a pending operation must be polled at the
 * latest; LBX_FOREVER when there is no deadline.
 *
 * Threads    one at a time.
 * Since      0.1
 */
LBX_API int64_t lbx_operation_deadline(const lbx_operation *operation);

/*
 * lbx_select_init() starts an operation that finishes when the first of
 * `count` started operations does, however it ends; its index goes to
 * *ret_index. An operation is started by its init, polled or not. Leave a
 * closed mailbox out of the next select: it would win every time.
 *
 * The others are cancelled in the same step, so that of several receives
 * exactly one takes a message. Ask lbx_operation_status() of a loser if it was
 * a send: one that a receiver had already completed has LBX_OK. The search
 * starts at index `first` and wraps around: 0 gives the first operation
 * precedence, the last winner plus one is round-robin. The select's status is
 * the winner's, or LBX_TIMEOUT for its own deadline; the children then stay
 * pending and can be selected over again.
 *
 * Returns    LBX_OK; LBX_INVALID for no operations, a NULL among them, `first`
 *            not below `count`, or mailboxes with different clocks.
 * Ownership  `operations` and what they point to must outlive the select; each
 *            child is still yours to finish.
 * Threads    one at a time, children included.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_select_init(
    lbx_operation *operation, lbx_operation *const *operations, size_t count,
    size_t first, int64_t deadline_ns, size_t *ret_index);

/*
 * An eventfd as a waker, for epoll, poll, libuv, libev and io_uring loops:
 * watch `fd` for reading, poll operations with `waker`, and when it becomes
 * readable call lbx_event_clear() and poll the operations again.
 */
typedef struct lbx_event {
    int fd;
    lbx_waker waker;
} lbx_event;

/*
 * lbx_event_open() makes the eventfd, non-blocking and close-on-exec.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY when there are no descriptors left;
 *            LBX_UNSUPPORTED where there is no eventfd.
 * Ownership  close it with lbx_event_close(), when every operation that was
 *            polled with its waker is final or finished. The struct must not
 *            move in between.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_event_open(lbx_event *ret);

/*
 * lbx_event_clear() makes the descriptor unreadable until the next wake-up.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_event_clear(lbx_event *event);

/*
 * lbx_event_close() closes the descriptor. Takes NULL and closed events.
 *
 * Since      0.1
 */
LBX_API void lbx_event_close(lbx_event *event);

LBX_END

#endif
