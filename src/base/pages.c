/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages: blocks of memory aligned to their own size.
 *
 * With the default allocator they are mapped and unmapped one by one, so that
 * what a burst took goes back to the system when the burst is over; malloc
 * keeps freed blocks of this alignment. The kernel places new mappings next to
 * the last one, so that a block is usually aligned as it comes. Sanitizers
 * search for pointers in malloc's memory only; with them malloc is used.
 */
#include "base/alloc.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define MAP_PAGES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MAP_PAGES 0
#endif
#endif
#ifndef MAP_PAGES
#define MAP_PAGES 1
#endif

static void *
pages_map(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* Maps twice as much and unmaps what lies outside the aligned block. */
static void *
pages_map_aligned(size_t size_bytes)
{
    char *memory = pages_map(2 * size_bytes);
    size_t head;

    if (!memory)
        return NULL;
    head = (size_t)(-(uintptr_t)memory & (size_bytes - 1));
    if (head > 0)
        (void)munmap(memory, head);
    (void)munmap(memory + head + size_bytes, size_bytes - head);
    return memory + head;
}

void *
lbx__pages_alloc(const lbx_allocator *allocator, size_t size_bytes)
{
    char *memory;

    assert((size_bytes & (size_bytes - 1)) == 0);
    if (allocator || !MAP_PAGES) {
        memory = lbx__alloc(allocator, size_bytes, size_bytes);
        if (memory)
            memset(memory, 0, size_bytes);
        return memory;
    }
    memory = pages_map(size_bytes);
    if (!memory || ((uintptr_t)memory & (size_bytes - 1)) == 0)
        return memory;
    (void)munmap(memory, size_bytes);
    return pages_map_aligned(size_bytes);
}

void
lbx__pages_free(const lbx_allocator *allocator, void *memory, size_t size_bytes)
{
    if (allocator || !MAP_PAGES)
        lbx__free(allocator, memory, size_bytes);
    else if (memory)
        (void)munmap(memory, size_bytes);
}
