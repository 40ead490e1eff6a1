/* SPDX-License-Identifier: Apache-2.0 */
/* Storage in the memory of the process; see post/rules/storage.h. */
#ifndef LBX_STORES_MEMORY_MEMORY_H
#define LBX_STORES_MEMORY_MEMORY_H

#include "post/rules/storage.h"

/* An empty storage. `clock` is its time; NULL is the system's monotonic clock.
 * Both must outlive it. OK; NO_MEMORY. */
lbx_status lbx__memory_open(const lbx_allocator *allocator,
                            const lbx_clock *clock, lbx__storage **ret);

/* How many rows there are in a table, and the bytes of all tables. */
uint64_t lbx__memory_rows(const lbx__storage *storage, lbx__table table);
uint64_t lbx__memory_bytes(const lbx__storage *storage);

#endif
