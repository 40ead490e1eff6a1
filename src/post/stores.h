/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open stores of this process, by scheme and address.
 *
 * STORES-1  A process has one store per address. An address is listed from
 *           before its store is opened until after it is closed; an open that
 *           finds one being opened or closed waits until that has ended.
 * STORES-2  A child after fork() uses no entry of its parent: entries carry the
 *           life of the process they were made in.
 *
 * Threads: any. One lock, held for a search; stores are opened and closed
 * without it.
 */
#ifndef LBX_POST_STORES_H
#define LBX_POST_STORES_H

#include "post/scheme.h"
#include "post/store.h"

/* A reference to the store at an address: the open one, if it suits the
 * options, or a new one. options->fault is never NULL. BUSY: this thread is
 * closing it. */
lbx_status lbx__stores_open(const lbx__scheme *scheme, const char *address,
                            const lbx_store_options *options, lbx_store **ret);

/* Releases a reference to a listed store. True when it was the last: the caller
 * closes the store and then calls lbx__stores_closed(). */
bool lbx__stores_unref(lbx_store *store);
void lbx__stores_closed(void *closed);

/* For a `close` that returns before the store is closed: this thread calls
 * lbx__stores_closed() too, at its end. Returns the argument for that; may be
 * NULL. */
void *lbx__stores_close_later(lbx_store *store);

#endif
