/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena of blocks that grow as it does: a tree of ten keys takes one small
 * block, a big one few large ones. What is larger than a block gets its own,
 * behind the newest, so that the room left there is not lost.
 *
 * I1  taken_bytes is the sum of the blocks' sizes and at most max_bytes.
 */
#include "settings/arena.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

struct lbx__arena_block {
    struct lbx__arena_block *older;
    size_t size_bytes; /* with this header */
    max_align_t room[];
};

enum {
    BLOCK_LEAST = 2 << 10,
    BLOCK_MOST = 64 << 10,
    ALIGN = _Alignof(max_align_t)
};

void
lbx__arena_init(lbx__arena *arena, const lbx_allocator *allocator,
                size_t max_bytes)
{
    *arena = (lbx__arena){.allocator = allocator, .max_bytes = max_bytes};
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
    arena->blocks = NULL;
    arena->left_bytes = 0;
}

/* A block with room for `room_bytes`; NULL as lbx__arena_take(). */
static struct lbx__arena_block *
new_block(lbx__arena *arena, size_t room_bytes)
{
    const size_t allowed = arena->max_bytes - arena->taken_bytes; // I1
    struct lbx__arena_block *block;
    size_t size_bytes;

    if (room_bytes > SIZE_MAX / 2 || sizeof(*block) + room_bytes > allowed) {
        arena->full = true;
        return NULL;
    }
    size_bytes = sizeof(*block) + room_bytes;
    block = lbx__zalloc(arena->allocator, size_bytes);
    if (!block)
        return NULL;
    block->size_bytes = size_bytes;
    arena->taken_bytes += size_bytes;
    return block;
}

/* The size of the next block: as much as there is already, within bounds. */
static size_t
next_room(const lbx__arena *arena)
{
    size_t room = arena->taken_bytes;

    if (room < BLOCK_LEAST)
        room = BLOCK_LEAST;
    return room < BLOCK_MOST ? room : BLOCK_MOST;
}

/* Memory in a block of its own, put behind the newest. */
static void *
take_alone(lbx__arena *arena, size_t size_bytes)
{
    struct lbx__arena_block *block = new_block(arena, size_bytes);

    if (!block)
        return NULL;
    if (arena->blocks) {
        block->older = arena->blocks->older;
        arena->blocks->older = block;
    } else {
        arena->blocks = block;
    }
    return block->room;
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
        const size_t room = next_room(arena);

        if (size > room / 2)
            return take_alone(arena, size);
        block = new_block(arena, room);
        if (!block)
            return NULL;
        block->older = arena->blocks;
        arena->blocks = block;
        arena->next = (char *)block->room;
        arena->left_bytes = room;
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
