/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that calls the C library's allocator. */
#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FREED_BYTE = 0xdb, /* that freed memory is filled with, in debug builds, */
    FREED_MAX = 512    /* and how much of it */
};

bool
lbx__allocator_usable(const lbx_allocator *allocator)
{
    return !allocator || (allocator->allocate && allocator->release);
}

void *
lbx__alloc(const lbx_allocator *allocator, size_t size_bytes,
           size_t align_bytes)
{
    void *memory = NULL;

    assert((align_bytes & (align_bytes - 1)) == 0);
    if (allocator)
        return allocator->allocate(allocator->context, size_bytes, align_bytes);
    if (align_bytes <= _Alignof(max_align_t))
        return malloc(size_bytes);
    if (posix_memalign(&memory, align_bytes, size_bytes) != 0)
        return NULL;
    return memory;
}

void *
lbx__zalloc(const lbx_allocator *allocator, size_t size_bytes)
{
    void *memory;

    if (!allocator)
        return calloc(1, size_bytes);
    memory = lbx__alloc(allocator, size_bytes, _Alignof(max_align_t));
    if (memory)
        memset(memory, 0, size_bytes);
    return memory;
}

void
lbx__free(const lbx_allocator *allocator, void *memory, size_t size_bytes)
{
    if (!memory)
        return;
#ifndef NDEBUG
    // REFS-1: a handle that is used after its end is noticed.
    memset(memory, FREED_BYTE, size_bytes < FREED_MAX ? size_bytes : FREED_MAX);
#endif
    lbx__alloc_undo(allocator, memory, size_bytes);
}

void
lbx__alloc_undo(const lbx_allocator *allocator, void *memory, size_t size_bytes)
{
    if (allocator)
        allocator->release(allocator->context, memory, size_bytes);
    else
        free(memory);
}
