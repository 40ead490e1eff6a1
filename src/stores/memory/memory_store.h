/* SPDX-License-Identifier: Apache-2.0 */
/* The store in memory: the service over storage in memory. */
#ifndef LBX_STORES_MEMORY_MEMORY_STORE_H
#define LBX_STORES_MEMORY_MEMORY_STORE_H

#include "post/scheme.h"
#include <letterbox/store.h>

/* A new store, empty. Of the options: allocator, and clock, with which nothing
 * happens by itself (post/service/service.h); NULL: defaults. Both must outlive
 * the store, which is the caller's. OK; NO_MEMORY. */
lbx_status lbx__memory_store_open(const lbx_store_options *options,
                                  lbx_store **ret);

/* "memory:" and "memory:name". */
extern const lbx__scheme lbx__memory_scheme;

#endif
