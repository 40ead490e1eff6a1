/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries in order, with a hash index over them.
 *
 * KEYTAB-1  The index, if there is one, has every entry, and at most half of
 *           its slots are used: a search always reaches a free slot.
 */
#include "settings/key_table.h"

#include <assert.h>
#include <string.h>

enum {
    SMALL = 8, // up to here a scan is as fast as the index
    FIRST = 4
};

/* FNV-1a, folded so that the low bits depend on all of it. */
static uint64_t
key_table_hash(const char *key)
{
    uint64_t hash = 14695981039346656037U;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 1099511628211U;
    return hash ^ (hash >> 32);
}

/* The slot of the index that has the key, or the free one for it. */
static uint32_t *
key_table_slot(const lbx__key_table *table, const char *key, uint64_t hash)
{
    const uint32_t mask = table->index_size - 1;
    uint32_t at = (uint32_t)hash & mask;

    while (table->index[at] != 0) { // KEYTAB-1
        const lbx__key_entry *entry = &table->entries[table->index[at] - 1];

        if (entry->hash == hash && strcmp(entry->key, key) == 0)
            break;
        at = (at + 1) & mask;
    }
    return &table->index[at];
}

static lbx__key_entry *
key_table_find(const lbx__key_table *table, const char *key, uint64_t hash)
{
    if (table->index) {
        const uint32_t number = *key_table_slot(table, key, hash);

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
    const lbx__key_entry *entry =
        key_table_find(table, key, key_table_hash(key));

    return entry ? entry->value : NULL;
}

/* Doubles the capacity, and makes an index when it is no longer small. */
static bool
key_table_grow(lbx__key_table *table, lbx__arena *arena)
{
    const uint32_t capacity = table->capacity ? 2 * table->capacity : FIRST;
    lbx__key_entry *entries;

    if (capacity > UINT32_MAX / 4) // KEYTAB-1 needs twice as many slots
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
            *key_table_slot(table, entries[i].key, entries[i].hash) = i + 1;
    }
    table->entries = entries;
    table->capacity = capacity;
    return true;
}

lbx__key_entry *
lbx__key_table_put(lbx__key_table *table, lbx__arena *arena, const char *key)
{
    const uint64_t hash = key_table_hash(key);
    lbx__key_entry *entry = key_table_find(table, key, hash);

    if (entry)
        return entry;
    if (table->count == table->capacity && !key_table_grow(table, arena))
        return NULL;
    assert(table->entries);
    if (table->index)
        *key_table_slot(table, key, hash) = table->count + 1;
    entry = &table->entries[table->count++];
    *entry = (lbx__key_entry){key, hash, NULL};
    assert(!table->index || table->count <= table->index_size / 2); // KEYTAB-1
    return entry;
}
