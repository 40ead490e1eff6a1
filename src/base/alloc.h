/* SPDX-License-Identifier: Apache-2.0 */
/* Memory through an lbx_allocator; NULL is the C library's. */
#ifndef LBX_BASE_ALLOC_H
#define LBX_BASE_ALLOC_H

#include <letterbox/base.h>

/* NULL, or with both its functions. */
bool lbx__allocator_usable(const lbx_allocator *allocator);

/* Uninitialised memory, aligned to a power of two; NULL when there is none. */
void *lbx__alloc(const lbx_allocator *allocator, size_t size_bytes,
                 size_t align_bytes);

/* Zeroed memory for any C object. */
void *lbx__zalloc(const lbx_allocator *allocator, size_t size_bytes);

/* Gives memory back. Takes NULL. */
void lbx__free(const lbx_allocator *allocator, void *memory, size_t size_bytes);

/* The same for memory that was not used: it is not touched either. */
void lbx__alloc_undo(const lbx_allocator *allocator, void *memory,
                     size_t size_bytes);

/* Zeroed memory of a power of two in size and aligned to it; for blocks that
 * should go back to the system when they are freed. */
void *lbx__pages_alloc(const lbx_allocator *allocator, size_t size_bytes);
void lbx__pages_free(const lbx_allocator *allocator, void *memory,
                     size_t size_bytes);

#endif
