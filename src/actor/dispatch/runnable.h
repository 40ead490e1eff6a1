/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runnables: what a dispatcher runs.
 *
 * A dispatcher knows nothing of actors. It passes runnables from the thread
 * that schedules them to one of its workers, which calls the function that was
 * given when the dispatcher was created. The room above embeds a runnable
 * in its own struct.
 *
 * RUNNABLE-1  A runnable is scheduled at most once at a time: the caller of
 *             lbx__dispatcher_schedule() passes the right to run it on, and the
 *             function that runs it has that right until it returns, or until
 *             it schedules the runnable again.
 */
#ifndef LBX_ACTOR_DISPATCH_RUNNABLE_H
#define LBX_ACTOR_DISPATCH_RUNNABLE_H

#include "base/atomic.h"
#include "base/lock.h"
#include <letterbox/base.h>
#include <stdalign.h>

typedef struct lbx__dispatcher lbx__dispatcher;

typedef struct lbx__runnable {
    struct lbx__runnable *next; /* on a dispatcher's queue; its holder's */
    _Atomic(lbx__dispatcher *) dispatcher; /* its holder's; any thread reads */
} lbx__runnable;

/* Runs it; how many messages it handled. */
typedef uint64_t lbx__runnable_run(lbx__runnable *runnable);

#endif
