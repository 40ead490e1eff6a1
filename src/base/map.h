/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table of pointers.
 *
 * The table keeps items and their hashes; what an item's key is and when two
 * keys are equal is the owner's business: it gives the hash and a comparison.
 * Open addressing with linear probing, at most three quarters full. Removing
 * moves later items back, so there are no tombstones and a table that shrinks
 * stays quick. Memory is needed for growing only: after lbx__map_reserve() an
 * add cannot fail.
 *
 * HMAP-1  an item lies at its home slot, hash & (capacity - 1), or behind it
 *         with no empty slot in between.
 * HMAP-2  capacity is 0 or a power of two, and at least a quarter of it is
 *         empty: a search comes to an empty slot.
 *
 * Threads    one at a time: the owner's lock.
 */
#ifndef LBX_BASE_MAP_H
#define LBX_BASE_MAP_H

#include <letterbox/base.h>

typedef struct lbx__map_slot {
    uint64_t hash;
    void *item; /* NULL: empty */
} lbx__map_slot;

typedef struct lbx__map {
    lbx__map_slot *slots;
    size_t capacity;
    size_t count;
} lbx__map;

/* Reports whether `item` has the key. NULL in its place: the key is the item's
 * address. */
typedef bool lbx__map_equal(const void *item, const void *key);

/* Frees the slots; the items are their owners'. Takes a zeroed map. */
void lbx__map_fini(lbx__map *map, const lbx_allocator *allocator);

/* Makes sure that the next add has memory; false: there is none. */
bool lbx__map_reserve(lbx__map *map, const lbx_allocator *allocator);

/* Adds an item, not NULL, whose key is not inside. A slot was reserved. */
void lbx__map_add(lbx__map *map, uint64_t hash, void *item);

/* The item with this key; NULL when there is none. */
void *lbx__map_find(const lbx__map *map, uint64_t hash, lbx__map_equal *equal,
                    const void *key);

/* Removes the item with this key and returns it; NULL when there is none. */
void *lbx__map_remove(lbx__map *map, uint64_t hash, lbx__map_equal *equal,
                      const void *key);

/* The items one after the other, in no order: start with *position == 0; NULL
 * at the end. The map must not change in between. */
void *lbx__map_next(const lbx__map *map, size_t *position);

/* Hashes for keys that no stranger chooses. */
uint64_t lbx__map_hash_word(uint64_t word);
uint64_t lbx__map_hash_bytes(uint64_t seed, const void *bytes, size_t size);

/* HMAP-1 and HMAP-2, for tests and debug builds. */
bool lbx__map_valid(const lbx__map *map);

#endif
