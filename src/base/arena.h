/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that is taken in pieces and freed as a whole, with a
 * maximum.
 */
#ifndef LBX_BASE_ARENA_H
#define LBX_BASE_ARENA_H

#include "base/atomic.h"
#include <letterbox/base.h>

struct lbx__arena_block;

typedef struct lbx__arena {
    const lbx_allocator *allocator;
    struct lbx__arena_block *blocks; /* newest first */
    char *next;                      /* free bytes of the newest */
    size_t left_bytes;
    size_t taken_bytes; /* from the allocator */
    size_t max_bytes;
    bool full;                     /* max_bytes was reached */
    _Atomic(uint64_t) *held_bytes; /* of several arenas; NULL: not counted */
} lbx__arena;

void lbx__arena_init(lbx__arena *arena, const lbx_allocator *allocator,
                     size_t max_bytes);

/* Adds what it takes from the allocator to `held_bytes`, until it is freed;
 * before the first object. */
void lbx__arena_count(lbx__arena *arena, _Atomic(uint64_t) *held_bytes);

/* Frees all blocks. */
void lbx__arena_fini(lbx__arena *arena);

/* Zeroed memory for any C object; NULL when the allocator has none, or when
 * max_bytes is reached: then arena->full is set. */
void *lbx__arena_take(lbx__arena *arena, size_t size_bytes);

/* A copy of `length_bytes` of text, followed by a NUL. */
char *lbx__arena_copy(lbx__arena *arena, const char *text, size_t length_bytes);

#endif
