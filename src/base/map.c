/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table; HMAP-1 and HMAP-2 are in map.h. */
#include "base/map.h"

#include "base/alloc.h"
#include <assert.h>

enum {
    FIRST_CAPACITY = 8
};

static size_t
map_mask(const lbx__map *map)
{
    return map->capacity - 1;
}

void
lbx__map_fini(lbx__map *map, const lbx_allocator *allocator)
{
    lbx__free(allocator, map->slots, map->capacity * sizeof(map->slots[0]));
    *map = (lbx__map){.slots = NULL};
}

bool
lbx__map_reserve(lbx__map *map, const lbx_allocator *allocator)
{
    lbx__map larger = {
        .capacity = map->capacity ? 2 * map->capacity : FIRST_CAPACITY,
    };

    if ((map->count + 1) * 4 <= map->capacity * 3) // HMAP-2
        return true;
    larger.slots =
        lbx__zalloc(allocator, larger.capacity * sizeof(larger.slots[0]));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].item)
            lbx__map_add(&larger, map->slots[i].hash, map->slots[i].item);
    lbx__map_fini(map, allocator);
    *map = larger;
    return true;
}

void
lbx__map_add(lbx__map *map, uint64_t hash, void *item)
{
    size_t at = (size_t)hash & map_mask(map);

    assert(item && (map->count + 1) * 4 <= map->capacity * 3); // HMAP-2
    while (map->slots[at].item)
        at = (at + 1) & map_mask(map);
    map->slots[at] = (lbx__map_slot){hash, item};
    map->count++;
}

/* The slot of the item with this key; NULL when there is none. */
static lbx__map_slot *
map_slot_of(const lbx__map *map, uint64_t hash, lbx__map_equal *equal,
            const void *key)
{
    if (map->count == 0)
        return NULL;
    for (size_t at = (size_t)hash & map_mask(map); map->slots[at].item;
         at = (at + 1) & map_mask(map)) {
        lbx__map_slot *slot = &map->slots[at];

        if (slot->hash == hash &&
            (equal ? equal(slot->item, key) : slot->item == key))
            return slot;
    }
    return NULL;
}

void *
lbx__map_find(const lbx__map *map, uint64_t hash, lbx__map_equal *equal,
              const void *key)
{
    const lbx__map_slot *slot = map_slot_of(map, hash, equal, key);

    return slot ? slot->item : NULL;
}

void *
lbx__map_remove(lbx__map *map, uint64_t hash, lbx__map_equal *equal,
                const void *key)
{
    const lbx__map_slot *slot = map_slot_of(map, hash, equal, key);
    size_t empty, at;
    void *item;

    if (!slot)
        return NULL;
    item = slot->item;
    empty = (size_t)(slot - map->slots);
    // Items behind the gap move into it unless their home is behind it too
    // (HMAP-1).
    for (at = (empty + 1) & map_mask(map); map->slots[at].item;
         at = (at + 1) & map_mask(map)) {
        const size_t home = (size_t)map->slots[at].hash & map_mask(map);

        if (((at - home) & map_mask(map)) < ((at - empty) & map_mask(map)))
            continue;
        map->slots[empty] = map->slots[at];
        empty = at;
    }
    map->slots[empty] = (lbx__map_slot){0, NULL};
    map->count--;
    return item;
}

void *
lbx__map_next(const lbx__map *map, size_t *position)
{
    while (*position < map->capacity) {
        void *item = map->slots[(*position)++].item;

        if (item)
            return item;
    }
    return NULL;
}

/* Multiplies, and folds the high bits into the low ones that are used first. */
static uint64_t
map_mix(uint64_t word)
{
    word *= UINT64_C(0x9e3779b97f4a7c15);
    return word ^ word >> 32;
}

uint64_t
lbx__map_hash_word(uint64_t word)
{
    return map_mix(word);
}

/* FNV-1a. */
uint64_t
lbx__map_hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(14695981039346656037) ^ seed;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return map_mix(hash);
}

bool
lbx__map_valid(const lbx__map *map)
{
    size_t count = 0;

    if ((map->capacity & (map->capacity - 1)) != 0 && map->capacity != 0)
        return false;
    if (map->count * 4 > map->capacity * 3)
        return false;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->slots[i].item)
            continue;
        count++;
        for (size_t at = (size_t)map->slots[i].hash & map_mask(map); at != i;
             at = (at + 1) & map_mask(map))
            if (!map->slots[at].item)
                return false;
    }
    return count == map->count;
}
