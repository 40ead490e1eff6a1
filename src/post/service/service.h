/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service: a store over a storage. It runs the rules, keeps the receives that
 * wait, and does what becomes due.
 *
 * Who runs the rules (ADR 13.4) is the storage's choice:
 *
 *   by the caller    its thread, under the store's lock. A thread of the service's
 *                    own, started with the first receive that waits, sleeps until
 *                    something is due.
 *   by one thread    which opens the storage, and alone uses it. It runs all
 *                    calls that are there as one group, flushes once, ends them.
 *
 * Both are the same turn (service_turn.c), with the lock held or let go while the rules
 * run.
 *
 * With a clock of a test's (`manual_clock`) nothing happens by itself: what is due is
 * done by the next call, and by `tick` before it returns.
 */
#ifndef LBX_POST_SERVICE_H
#define LBX_POST_SERVICE_H

#include "post/rules/storage.h"
#include <letterbox/store_driver.h>

typedef struct lbx__service_options {
    const lbx_allocator *allocator;

    /* Opens the storage, in the thread that will use it; the service closes
     * it. */
    lbx_status (*open)(void *context, lbx__storage **ret);
    void *context;

    /* Both or neither. For a close() by the service's own thread, which returns
     * before the service is closed: `closing` is called inside close(), and
     * `closed` with its result, unless that is NULL, when all is released. */
    void *(*closing)(lbx_store *store);
    void (*closed)(void *closing);

    bool one_thread;
    bool manual_clock;

    /* How often to look for letters of other processes while somebody waits,
     * should one have been killed before it rang our bell; 0: there are none. */
    int64_t poll_ns;
} lbx__service_options;

/* OK; NO_MEMORY, also for want of a thread; and what opening the storage and the
 * rules answers. The options are not needed afterwards. */
lbx_status lbx__service_open(const lbx__service_options *options,
                             lbx_store **ret);

/* The storage, for tests and for stores that know more of theirs. */
lbx__storage *lbx__service_storage(lbx_store *store);

#endif
