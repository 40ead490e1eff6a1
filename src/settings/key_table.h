/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of keys that keeps the order in which they were added.
 *
 * It lives in an arena and only grows, which base/map.h cannot: its slots would
 * be lost in the arena at each growth, and it has no order. Up to a handful of
 * keys it is searched from front to back; beyond that it has a hash index.
 */
#ifndef LBX_SETTINGS_KEY_TABLE_H
#define LBX_SETTINGS_KEY_TABLE_H

#include "base/arena.h"

typedef struct lbx__key_entry {
    const char *key;
    uint64_t hash;
    void *value;
} lbx__key_entry;

typedef struct lbx__key_table {
    lbx__key_entry *entries; /* in order of appearance */
    uint32_t count;
    uint32_t capacity;
    uint32_t *index; /* entry number + 1, 0 for free; NULL while small */
    uint32_t index_size;
} lbx__key_table;

/* The value of `key`; NULL when there is none. */
void *lbx__key_table_get(const lbx__key_table *table, const char *key);

/* The entry of `key`, added with a NULL value if there was none; NULL when the
 * arena has no memory. `key` must live as long as the table. The entry may move
 * at the next put. */
lbx__key_entry *lbx__key_table_put(lbx__key_table *table, lbx__arena *arena,
                                   const char *key);

#endif
