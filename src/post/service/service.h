/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service: a store over a storage. It runs the rules, keeps waiting
 * receives, and does what becomes due.
 *
 * The storage decides which thread runs the rules (ADR 13.4):
 *
 *   the caller's        under the store's lock. The service thread is started
 *                       with the first receive that waits, and sleeps until
 *                       something is due.
 *   the service thread  which opens the storage and is the only one to use it.
 *                       It runs all queued calls as one batch, flushes once,
 *                       and finishes them.
 *
 * Both run the same batch (batch.c), with the lock held or released while the
 * rules run.
 *
 * With the clock of a test (`manual_clock`) nothing happens by itself: what is
 * due is done by the next call, and by `tick` before it returns.
 */
#ifndef LBX_POST_SERVICE_SERVICE_H
#define LBX_POST_SERVICE_SERVICE_H

#include "post/rules/storage.h"
#include <letterbox/store_driver.h>

typedef struct lbx__service_options {
    const lbx_allocator *allocator;

    /* Opens the storage, in the thread that will use it; the service closes
     * it. */
    lbx_status (*open)(void *context, lbx__storage **ret);
    void *context;

    /* Both or neither. For a close() by the service thread, which returns
     * before the service is closed: `closing` is called inside close(), and
     * `closed` with its result, unless that is NULL, when everything is
     * released. */
    void *(*closing)(lbx_store *store);
    void (*closed)(void *closing);

    bool one_thread;
    bool manual_clock;

    /* How often waiting receives are tried again for letters of other
     * processes, in case one was killed before it could notify us; 0: there are
     * none. */
    int64_t poll_ns;
} lbx__service_options;

/* OK; NO_MEMORY, also when no thread could be started; and the statuses of
 * opening the storage and the rules. The options are not needed afterwards. */
lbx_status lbx__service_open(const lbx__service_options *options,
                             lbx_store **ret);

/* The storage, for tests and for stores that know more about theirs. */
lbx__storage *lbx__service_storage(lbx_store *store);

#endif
