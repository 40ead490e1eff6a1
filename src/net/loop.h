/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event loop: libuv in a thread of its own, and tasks that other threads
 * give it.
 *
 * LOOP-1  A task that was posted runs once, in the loop's thread, in the order
 *         of the posts of one thread; also those that are posted while the loop
 *         is being stopped.
 * LOOP-2  Posting never waits and never allocates: the task is the caller's
 *         memory, and is the loop's until it runs.
 * LOOP-3  Everything else of net and http belongs to the thread of its loop.
 * LOOP-4  A task that was deferred runs in the same round of the loop: before
 *         the loop waits, and before a handle that is closed later in the round
 *         is reported as closed. So a task may be a member of what a stream's
 *         `closed` frees.
 */
#ifndef LBX_NET_LOOP_H
#define LBX_NET_LOOP_H

#include <letterbox/base.h>
#include <uv.h>

typedef struct lbx__loop lbx__loop;

/* Something to be done in the loop's thread. A member of what it is about. */
typedef struct lbx__task {
    void (*run)(struct lbx__task *task);
    struct lbx__task *next;
} lbx__task;

/* A moment in the loop's thread; zeroed before its first use. */
typedef struct lbx__timer {
    uv_timer_t uv;
    void (*fire)(struct lbx__timer *timer);
} lbx__timer;

/* Starts a loop in a new thread. */
lbx_status lbx__loop_create(const lbx_allocator *allocator, const char *name,
                            lbx__loop **ret, lbx_fault *fault);

/* Ends when nothing is open on the loop any more, and frees it. Its owner has
 * closed listeners, streams and timers before, by a task, and other threads
 * post nothing any more. Not from its own thread. */
void lbx__loop_destroy(lbx__loop *loop);

/* Any thread. */
void lbx__loop_post(lbx__loop *loop, lbx__task *task);
bool lbx__loop_is_this_thread(const lbx__loop *loop);

/* The loop's thread: runs the task at the end of this round (LOOP-4). It is not
 * posted or deferred already. */
void lbx__loop_defer(lbx__loop *loop, lbx__task *task);

/* The loop's thread: memory that whoever reads a descriptor may use until the
 * next read. */
char *lbx__loop_scratch(lbx__loop *loop, size_t *ret_size);

/* The loop's thread. */
uv_loop_t *lbx__loop_uv(lbx__loop *loop);
int64_t lbx__loop_now_ns(const lbx__loop *loop); /* as of this round */

/* The loop's thread. `fire` runs once after `delay_ns`, unless it is stopped or
 * started again. `close` frees nothing: `closed` is called when the memory may
 * be reused, and may be NULL. */
void lbx__timer_init(lbx__timer *timer, lbx__loop *loop);
void lbx__timer_start(lbx__timer *timer, int64_t delay_ns,
                      void (*fire)(lbx__timer *timer));
void lbx__timer_stop(lbx__timer *timer);
void lbx__timer_close(lbx__timer *timer, void (*closed)(lbx__timer *timer));

#endif
