/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open stores of this process, by URL.
 *
 * F2  One store per place and process. A place is listed from before its store is
 *     opened until after it is closed; who asks for one that is being opened or
 *     closed waits for the end of that.
 */
#ifndef LBX_POST_STORES_H
#define LBX_POST_STORES_H

#include "post/scheme.h"
#include "post/store.h"

/* The store of a place: the one that is open already, if it suits the options,
 * or a new one. options->fault is never NULL. */
lbx_status lbx__stores_open(const lbx__scheme *scheme, const char *name,
                            const lbx_store_options *options, lbx_store **ret);

/* Which life of the process this is; another in a child after
 * fork(). */
uint32_t lbx__stores_life(void);

/* Gives a use up. True when it was the last: then the caller closes
 * the store, and says so with lbx__stores_closed(). */
bool lbx__stores_drop(lbx_store *store);
void lbx__stores_closed(void *closed);

/* For a `close` that returns before all is closed: this thread says so too, when
 * it has come to its end. Answers what to say it of; NULL is nothing. */
void *lbx__stores_keep(lbx_store *store);

#endif
