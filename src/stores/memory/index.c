/* SPDX-License-Identifier: Apache-2.0 */
/* The skip list; its invariants are in index.h. */
#include "stores/memory/index.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

void
lbx__index_init(lbx__index *index, const lbx_allocator *allocator,
                uint64_t seed)
{
    *index = (lbx__index){
        .allocator = allocator,
        .random = seed | 1, // xorshift stays at 0 for ever
        .levels = 1,
    };
}

static size_t
block_size(const lbx__row *row)
{
    return sizeof(*row) + row->levels * sizeof(row->next[0]) + row->key_size +
           row->value_room;
}

void
lbx__index_fini(lbx__index *index)
{
    lbx__row *row = index->first[0];

    while (row) {
        lbx__row *next = row->next[0];

        lbx__row_destroy(index, row);
        row = next;
    }
    lbx__index_init(index, index->allocator, index->random);
}

/* One, and with a chance of a quarter one more, and so on. */
static uint16_t
draw_levels(lbx__index *index)
{
    uint64_t bits;
    uint16_t levels = 1;

    index->random ^= index->random << 13;
    index->random ^= index->random >> 7;
    index->random ^= index->random << 17;
    for (bits = index->random >> 16; (bits & 3) == 0; bits >>= 2) {
        if (levels == LBX__INDEX_LEVELS)
            break;
        levels++;
    }
    return levels;
}

lbx__row *
lbx__row_create(lbx__index *index, size_t key_size, size_t value_size)
{
    lbx__row shape = {
        .value_room = (uint32_t)value_size,
        .key_size = (uint16_t)key_size,
        .levels = draw_levels(index),
    };
    lbx__row *row;

    assert(key_size <= LBX__KEY_MOST && value_size <= LBX__VALUE_MOST);
    row = lbx__alloc(index->allocator, block_size(&shape), _Alignof(lbx__row));
    if (row)
        *row = shape;
    return row;
}

void
lbx__row_destroy(lbx__index *index, lbx__row *row)
{
    if (row)
        lbx__free(index->allocator, row, block_size(row));
}

bool
lbx__row_fits(const lbx__row *row, size_t key_size, size_t value_size)
{
    // The value begins behind the key: a longer one would not leave it there.
    return row->key_size == key_size && row->value_room >= value_size;
}

static char *
key_of(const lbx__row *row)
{
    return (char *)(uintptr_t)&row->next[row->levels];
}

lbx__bytes
lbx__row_key(const lbx__row *row)
{
    return (lbx__bytes){key_of(row), row->key_size};
}

lbx__bytes
lbx__row_value(const lbx__row *row)
{
    return (lbx__bytes){key_of(row) + row->key_size, row->value_size};
}

void
lbx__row_write(lbx__row *row, const lbx__bytes *parts, size_t count)
{
    char *to = key_of(row) + row->key_size;
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].size == 0)
            continue;
        assert(parts[i].size <= row->value_room - size);
        memcpy(to + size, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    row->value_size = (uint32_t)size;
}

/* < 0 when the row is before the key. */
static int
compare(const lbx__row *row, lbx__bytes key)
{
    const size_t common = row->key_size < key.size ? row->key_size : key.size;
    const int order = common ? memcmp(key_of(row), key.data, common) : 0;

    if (order != 0)
        return order;
    return (row->key_size > key.size) - (row->key_size < key.size);
}

/* What a row points to on a level; the head when it is NULL. */
static lbx__row *
after(const lbx__index *index, const lbx__row *row, uint32_t level)
{
    return row ? row->next[level] : index->first[level];
}

/* The last row that is before the key; and into before[l] that of each level. */
static lbx__row *
find_before(const lbx__index *index, lbx__bytes key,
            lbx__row *before[LBX__INDEX_LEVELS])
{
    lbx__row *row = NULL;

    for (uint32_t level = index->levels; level-- > 0;) {
        lbx__row *next;

        while ((next = after(index, row, level)) && compare(next, key) < 0)
            row = next;
        before[level] = row;
    }
    return row;
}

lbx__row *
lbx__index_seek(const lbx__index *index, lbx__bytes key)
{
    lbx__row *before[LBX__INDEX_LEVELS];

    return after(index, find_before(index, key, before), 0);
}

lbx__row *
lbx__index_find(const lbx__index *index, lbx__bytes key)
{
    lbx__row *row;

    // Who puts a letter at the end asks first whether it is there.
    if (!index->last[0] || compare(index->last[0], key) < 0)
        return NULL;
    row = lbx__index_seek(index, key);
    return row && compare(row, key) == 0 ? row : NULL;
}

void
lbx__index_insert(lbx__index *index, lbx__row *row, lbx__bytes key)
{
    lbx__row *before[LBX__INDEX_LEVELS];

    assert(row->key_size == key.size);
    memcpy(key_of(row), key.data, key.size);
    while (index->levels < row->levels)
        index->levels++; // new levels are empty: first and last are NULL
    // Letters come at the end.
    if (index->last[0] && compare(index->last[0], key) < 0)
        memcpy(before, index->last, sizeof(before));
    else
        (void)find_before(index, key, before);
    assert(!after(index, before[0], 0) ||
           compare(after(index, before[0], 0), key) > 0); // I1

    for (uint32_t level = 0; level < row->levels; level++) {
        row->next[level] = after(index, before[level], level);
        if (before[level])
            before[level]->next[level] = row;
        else
            index->first[level] = row;
        if (!row->next[level])
            index->last[level] = row; // I2
    }
    index->count++;
    index->bytes += block_size(row);
}

lbx__row *
lbx__index_remove(lbx__index *index, lbx__bytes key)
{
    lbx__row *before[LBX__INDEX_LEVELS] = {NULL}, *row;

    row = after(index, find_before(index, key, before), 0);
    if (!row || compare(row, key) != 0)
        return NULL;
    for (uint32_t level = 0; level < row->levels; level++) {
        if (before[level])
            before[level]->next[level] = row->next[level];
        else
            index->first[level] = row->next[level];
        if (!row->next[level])
            index->last[level] = before[level]; // I2
    }
    while (index->levels > 1 && !index->first[index->levels - 1])
        index->levels--;
    index->count--;
    index->bytes -= block_size(row);
    return row;
}

/* One level of I1 and I2: in order, and each row on the level below. */
static bool
level_valid(const lbx__index *index, uint32_t level)
{
    const lbx__row *below = level > 0 ? index->first[level - 1] : NULL;
    const lbx__row *row, *before = NULL;

    for (row = index->first[level]; row; row = row->next[level]) {
        if (row->levels <= level ||
            (before && compare(before, lbx__row_key(row)) >= 0))
            return false;
        while (level > 0 && below && below != row)
            below = below->next[level - 1];
        if (level > 0 && !below)
            return false;
        before = row;
    }
    return before == index->last[level];
}

bool
lbx__index_valid(const lbx__index *index)
{
    uint64_t count = 0, bytes = 0;

    for (uint32_t level = 0; level < LBX__INDEX_LEVELS; level++) {
        if (!level_valid(index, level) ||
            (level >= index->levels && index->first[level]))
            return false;
    }
    for (const lbx__row *row = index->first[0]; row; row = row->next[0]) {
        count++;
        bytes += block_size(row);
    }
    return count == index->count && bytes == index->bytes; // I3
}
