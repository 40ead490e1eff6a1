/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered table with an open hash index over it.
 *
 * I1  The index, where there is one, has every entry, and at most half of it
 *     is in use: a search always comes to a free origin.
 */
#include "settings/key_table.h"

#include <assert.h>
#include <string.h>

enum {
    SMALL = 8, // up to here a scan is as quick as the index
    FIRST = 4
};

/* FNV-1a, folded so that the low bits know all of it. */
static uint64_t
hash_of(const char *key)
{
    uint64_t hash = 14695981039346656037U;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 1099511628211U;
    return hash ^ (hash >> 32);
}

/* The origin in the index where the key is, or could be put. */
static uint32_t *
place_of(const lbx__key_table *table, const char *key, uint64_t hash)
{
    const uint32_t mask = table->index_size - 1;
    uint32_t at = (uint32_t)hash & mask;

    while (table->index[at] != 0) { // I1
        const lbx__key_entry *entry = &table->entries[table->index[at] - 1];

        if (entry->hash == hash && strcmp(entry->key, key) == 0)
            break;
        at = (at + 1) & mask;
    }
    return &table->index[at];
}

static lbx__key_entry *
find(const lbx__key_table *table, const char *key, uint64_t hash)
{
    if (table->index) {
        const uint32_t number = *place_of(table, key, hash);

        return number ? &table->entries[number - 1] : NULL;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        lbx__key_entry *entry = &table->entries[i];

        if (entry->hash == hash && strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

void *
lbx__key_table_get(const lbx__key_table *table, const char *key)
{
    const lbx__key_entry *entry = find(table, key, hash_of(key));

    return entry ? entry->value : NULL;
}

/* Twice the room, and an index for it once it is no longer small. */
static bool
grow(lbx__key_table *table, lbx__arena *arena)
{
    const uint32_t capacity = table->capacity ? 2 * table->capacity : FIRST;
    lbx__key_entry *entries;

    if (capacity > UINT32_MAX / 4) // I1 needs twice as many places
        return false;
    entries = lbx__arena_take(arena, capacity * sizeof(*entries));
    if (!entries)
        return false;
    if (table->entries)
        memcpy(entries, table->entries, table->count * sizeof(*entries));
    if (capacity > SMALL) {
        uint32_t *index =
            lbx__arena_take(arena, (size_t)2 * capacity * sizeof(*index));

        if (!index)
            return false;
        table->index = index;
        table->index_size = 2 * capacity;
        table->entries = entries;
        for (uint32_t i = 0; i < table->count; i++)
            *place_of(table, entries[i].key, entries[i].hash) = i + 1;
    }
    table->entries = entries;
    table->capacity = capacity;
    return true;
}

lbx__key_entry *
lbx__key_table_put(lbx__key_table *table, lbx__arena *arena, const char *key)
{
    const uint64_t hash = hash_of(key);
    lbx__key_entry *entry = find(table, key, hash);

    if (entry)
        return entry;
    if (table->count == table->capacity && !grow(table, arena))
        return NULL;
    assert(table->entries);
    if (table->index)
        *place_of(table, key, hash) = table->count + 1;
    entry = &table->entries[table->count++];
    *entry = (lbx__key_entry){key, hash, NULL};
    assert(!table->index || table->count <= table->index_size / 2); // I1
    return entry;
}
