/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's blocks, and how large each is.
 *
 * A block is as large as all blocks before it, within bounds: a tree of ten
 * keys takes one small block, a large tree few large ones. An object that is
 * larger than half a block gets a block of its own behind the newest, so that
 * the free bytes of the newest block are not lost.
 *
 * ARENA-1  taken_bytes is the sum of the blocks' sizes, and at most max_bytes.
 *          It is counted in *held_bytes.
 */
#include "base/arena.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

struct lbx__arena_block {
    struct lbx__arena_block *older;
    size_t size_bytes; /* with this header */
    max_align_t bytes[];
};

enum {
    MIN_BLOCK_BYTES = 2 << 10,
    MAX_BLOCK_BYTES = 64 << 10,
    ALIGN = _Alignof(max_align_t)
};

void
lbx__arena_init(lbx__arena *arena, const lbx_allocator *allocator,
                size_t max_bytes)
{
    *arena = (lbx__arena){.allocator = allocator, .max_bytes = max_bytes};
}

void
lbx__arena_count(lbx__arena *arena, _Atomic(uint64_t) *held_bytes)
{
    assert(!arena->blocks);
    arena->held_bytes = held_bytes;
}

void
lbx__arena_fini(lbx__arena *arena)
{
    struct lbx__arena_block *block = arena->blocks;

    while (block) {
        struct lbx__arena_block *older = block->older;

        lbx__free(arena->allocator, block, block->size_bytes);
        block = older;
    }
    // Relaxed, here and where it grows: the sum is exact, and orders nothing.
    if (arena->held_bytes)
        (void)lbx__sub(arena->held_bytes, arena->taken_bytes, relaxed);
    arena->blocks = NULL;
    arena->left_bytes = 0;
    arena->taken_bytes = 0;
}

/* A block of `bytes` and its header; NULL as lbx__arena_take(). */
static struct lbx__arena_block *
arena_new_block(lbx__arena *arena, size_t bytes)
{
    const size_t allowed = arena->max_bytes - arena->taken_bytes; // ARENA-1
    struct lbx__arena_block *block;
    size_t size_bytes;

    if (bytes > SIZE_MAX / 2 || sizeof(*block) + bytes > allowed) {
        arena->full = true;
        return NULL;
    }
    size_bytes = sizeof(*block) + bytes;
    block = lbx__zalloc(arena->allocator, size_bytes);
    if (!block)
        return NULL;
    block->size_bytes = size_bytes;
    arena->taken_bytes += size_bytes;
    if (arena->held_bytes)
        (void)lbx__add(arena->held_bytes, size_bytes, relaxed);
    return block;
}

/* The size of the next block: that of all blocks so far, within bounds. */
static size_t
arena_next_block_bytes(const lbx__arena *arena)
{
    size_t bytes = arena->taken_bytes;

    if (bytes < MIN_BLOCK_BYTES)
        bytes = MIN_BLOCK_BYTES;
    return bytes < MAX_BLOCK_BYTES ? bytes : MAX_BLOCK_BYTES;
}

/* Memory in a block of its own, linked behind the newest. */
static void *
arena_take_block(lbx__arena *arena, size_t size_bytes)
{
    struct lbx__arena_block *block = arena_new_block(arena, size_bytes);

    if (!block)
        return NULL;
    if (arena->blocks) {
        block->older = arena->blocks->older;
        arena->blocks->older = block;
    } else {
        arena->blocks = block;
    }
    return block->bytes;
}

void *
lbx__arena_take(lbx__arena *arena, size_t size_bytes)
{
    const size_t size = (size_bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct lbx__arena_block *block;
    void *memory;

    assert(size_bytes > 0);
    if (size_bytes > SIZE_MAX / 2) {
        arena->full = true;
        return NULL;
    }
    if (size > arena->left_bytes) {
        const size_t block_bytes = arena_next_block_bytes(arena);

        if (size > block_bytes / 2)
            return arena_take_block(arena, size);
        block = arena_new_block(arena, block_bytes);
        if (!block)
            return NULL;
        block->older = arena->blocks;
        arena->blocks = block;
        arena->next = (char *)block->bytes;
        arena->left_bytes = block_bytes;
    }
    memory = arena->next;
    arena->next += size;
    arena->left_bytes -= size;
    return memory;
}

char *
lbx__arena_copy(lbx__arena *arena, const char *text, size_t length_bytes)
{
    char *copy = lbx__arena_take(arena, length_bytes + 1);

    if (copy && length_bytes > 0)
        memcpy(copy, text, length_bytes);
    return copy;
}
