/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that is taken in pieces and given back as a whole, with a
 * maximum.
 */
#ifndef LBX_SETTINGS_ARENA_H
#define LBX_SETTINGS_ARENA_H

#include <letterbox/base.h>

struct lbx__arena_block;

typedef struct lbx__arena {
    const lbx_allocator *allocator;
    struct lbx__arena_block *blocks; /* newest first */
    char *next;                      /* free room in the newest */
    size_t left_bytes;
    size_t taken_bytes; /* from the allocator */
    size_t max_bytes;
    bool full; /* something was refused because of max_bytes */
} lbx__arena;

void lbx__arena_init(lbx__arena *arena, const lbx_allocator *allocator,
                     size_t max_bytes);

/* Gives everything back. */
void lbx__arena_fini(lbx__arena *arena);

/* Zeroed memory for any C object; NULL when there is none, or no more is
 * allowed: arena->full tells which. */
void *lbx__arena_take(lbx__arena *arena, size_t size_bytes);

/* A copy of `length_bytes` of text, with a NUL behind it. */
char *lbx__arena_copy(lbx__arena *arena, const char *text, size_t length_bytes);

#endif
