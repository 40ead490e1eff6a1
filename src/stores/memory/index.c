/* SPDX-License-Identifier: Apache-2.0 */
/* The skip list; its invariants are in index.h. */
#include "stores/memory/index.h"

#include "base/alloc.h"
#include "codec/endian.h"

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

size_t
lbx__index_row_bytes(const lbx__index_row *row)
{
    return sizeof(*row) + row->levels * sizeof(row->next[0]) + row->key_size +
           row->value_max + row->slack;
}

void
lbx__index_fini(lbx__index *index)
{
    lbx__index_row *row = index->first[0];

    while (row) {
        lbx__index_row *next = row->next[0];

        lbx__index_row_destroy(index, row);
        row = next;
    }
    lbx__index_init(index, index->allocator, index->random);
}

/* One, and with a chance of a quarter one more, and so on. */
static uint16_t
index_draw_levels(lbx__index *index)
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

static lbx__index_row
index_row_shape(lbx__index *index, size_t key_size, size_t value_size)
{
    assert(key_size <= LBX__ROW_KEY_MAX && value_size <= LBX__ROW_VALUE_MAX);
    return (lbx__index_row){
        .value_max = (uint32_t)value_size,
        .key_size = (uint16_t)key_size,
        .levels = index_draw_levels(index),
    };
}

lbx__index_row *
lbx__index_row_create(lbx__index *index, size_t key_size, size_t value_size)
{
    const lbx__index_row shape = index_row_shape(index, key_size, value_size);
    lbx__index_row *row;

    row = lbx__alloc(index->allocator, lbx__index_row_bytes(&shape),
                     _Alignof(lbx__index_row));
    if (row)
        *row = shape;
    return row;
}

bool
lbx__index_row_remake(lbx__index *index, lbx__index_row *row, size_t key_size,
                      size_t value_size)
{
    lbx__index_row shape = index_row_shape(index, key_size, value_size);
    const size_t has = lbx__index_row_bytes(row),
                 needs = lbx__index_row_bytes(&shape);

    if (has < needs || has / 2 > needs)
        return false;
    shape.slack = (uint32_t)(has - needs);
    *row = shape;
    return true;
}

void
lbx__index_row_destroy(lbx__index *index, lbx__index_row *row)
{
    if (row)
        lbx__free(index->allocator, row, lbx__index_row_bytes(row));
}

bool
lbx__index_row_fits(const lbx__index_row *row, size_t key_size,
                    size_t value_size)
{
    // The value begins behind the key: a longer one would not leave it there.
    return row->key_size == key_size && row->value_max >= value_size;
}

static char *
index_key(const lbx__index_row *row)
{
    return (char *)(uintptr_t)&row->next[row->levels];
}

lbx__bytes
lbx__index_row_key(const lbx__index_row *row)
{
    return (lbx__bytes){index_key(row), row->key_size};
}

lbx__bytes
lbx__index_row_value(const lbx__index_row *row)
{
    return (lbx__bytes){index_key(row) + row->key_size, row->value_size};
}

void
lbx__index_row_write(lbx__index_row *row, const lbx__bytes *parts, size_t count)
{
    char *to = index_key(row) + row->key_size;
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].size == 0)
            continue;
        assert(parts[i].size <= row->value_max - size);
        memcpy(to + size, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    row->value_size = (uint32_t)size;
}

/* < 0 when the row is before the key. Keys are numbers, most of them: they are
 * compared as such, eight bytes at a time. */
static inline int
index_compare(const lbx__index_row *row, lbx__bytes key)
{
    const char *mine = index_key(row), *other = key.data;
    size_t common = row->key_size < key.size ? row->key_size : key.size;
    int order;

    for (; common >= 8; common -= 8, mine += 8, other += 8) {
        const uint64_t a = lbx__get_be64(mine), b = lbx__get_be64(other);

        if (a != b)
            return a < b ? -1 : 1;
    }
    order = common ? memcmp(mine, other, common) : 0;
    if (order != 0)
        return order;
    return (row->key_size > key.size) - (row->key_size < key.size);
}

/* What a row points to on a level; the head when it is NULL. */
static lbx__index_row *
index_after(const lbx__index *index, const lbx__index_row *row, uint32_t level)
{
    return row ? row->next[level] : index->first[level];
}

/* From the top down; a row that is not before the key is not asked again on the
 * levels below. */
static void
index_descend(const lbx__index *index, lbx__bytes key, lbx__index_spot *ret)
{
    lbx__index_row *row = NULL, *next;
    int order = 1; // of ret->at

    ret->at = NULL;
    for (uint32_t level = index->levels; level-- > 0;) {
        while ((next = index_after(index, row, level)) != ret->at) {
            const int each = index_compare(next, key);

            if (each >= 0) {
                ret->at = next;
                order = each;
                break;
            }
            row = next;
        }
        ret->before[level] = row;
    }
    ret->found = order == 0;
}

/* Letters come at the end and leave at the front: these are looked at first. */
bool
lbx__index_locate(const lbx__index *index, lbx__bytes key, lbx__index_spot *ret)
{
    const size_t used = index->levels * sizeof(ret->before[0]);
    const int order =
        index->first[0] ? index_compare(index->first[0], key) : -1;

    if (order >= 0) {
        memset(ret->before, 0, used);
        ret->at = index->first[0];
        ret->found = order == 0;
    } else if (!index->last[0] || index_compare(index->last[0], key) < 0) {
        memcpy(ret->before, index->last, used);
        ret->at = NULL;
        ret->found = false;
    } else {
        index_descend(index, key, ret);
    }
    return ret->found;
}

static size_t
index_bucket(lbx__bytes key)
{
    // What keys begin with is the box.
    return key.size < 8 ? 0 : lbx__get_be64(key.data) % LBX__INDEX_FINGERS;
}

static lbx__index_row **
index_finger(lbx__index *index, lbx__bytes key)
{
    return &index->fingers[index_bucket(key)];
}

/* A reader goes on where it was, or one further; NULL: somewhere else. */
static lbx__index_row *
index_step(lbx__index *index, lbx__bytes key)
{
    lbx__index_row *row = *index_finger(index, key);
    int order = row ? index_compare(row, key) : 1;

    if (order == 0)
        return row;
    if (order > 0 || !row->next[0] || index_compare(row->next[0], key) < 0)
        return NULL;
    return row->next[0];
}

lbx__index_row *
lbx__index_seek(lbx__index *index, lbx__bytes key)
{
    lbx__index_row *row = index_step(index, key);
    lbx__index_spot spot;

    if (!row) {
        (void)lbx__index_locate(index, key, &spot);
        row = spot.at;
    }
    if (row)
        *index_finger(index, lbx__index_row_key(row)) = row; // INDEX-4
    return row;
}

lbx__index_row *
lbx__index_find(lbx__index *index, lbx__bytes key)
{
    lbx__index_row *row = *index_finger(index, key);
    lbx__index_spot spot;

    if (row && index_compare(row, key) == 0)
        return row;
    return lbx__index_locate(index, key, &spot) ? spot.at : NULL;
}

void
lbx__index_insert_at(lbx__index *index, lbx__index_row *row, lbx__bytes key,
                     lbx__index_spot *spot)
{
    assert(row->key_size == key.size && !spot->found);
    memcpy(index_key(row), key.data, key.size);
    while (index->levels < row->levels)
        spot->before[index->levels++] = NULL; // new levels are empty
    assert(!spot->at || index_compare(spot->at, key) > 0); // INDEX-1

    for (uint32_t level = 0; level < row->levels; level++) {
        lbx__index_row *before = spot->before[level];

        row->next[level] = index_after(index, before, level);
        if (before)
            before->next[level] = row;
        else
            index->first[level] = row;
        if (!row->next[level])
            index->last[level] = row; // INDEX-2
    }
    index->count++;
    index->bytes += lbx__index_row_bytes(row);
}

lbx__index_row *
lbx__index_remove_at(lbx__index *index, const lbx__index_spot *spot)
{
    lbx__index_row *row = spot->at;
    lbx__index_row **finger = index_finger(index, lbx__index_row_key(row));

    assert(spot->found);
    if (*finger == row)
        *finger = NULL; // INDEX-4
    for (uint32_t level = 0; level < row->levels; level++) {
        lbx__index_row *before = spot->before[level];

        if (before)
            before->next[level] = row->next[level];
        else
            index->first[level] = row->next[level];
        if (!row->next[level])
            index->last[level] = before; // INDEX-2
    }
    while (index->levels > 1 && !index->first[index->levels - 1])
        index->levels--;
    index->count--;
    index->bytes -= lbx__index_row_bytes(row);
    return row;
}

void
lbx__index_insert(lbx__index *index, lbx__index_row *row, lbx__bytes key)
{
    lbx__index_spot spot;

    (void)lbx__index_locate(index, key, &spot);
    lbx__index_insert_at(index, row, key, &spot);
}

lbx__index_row *
lbx__index_remove(lbx__index *index, lbx__bytes key)
{
    lbx__index_spot spot;

    return lbx__index_locate(index, key, &spot)
               ? lbx__index_remove_at(index, &spot)
               : NULL;
}

/* One level of INDEX-1 and INDEX-2: in order, and each row on the level
 * below. */
static bool
index_level_valid(const lbx__index *index, uint32_t level)
{
    const lbx__index_row *below = level > 0 ? index->first[level - 1] : NULL;
    const lbx__index_row *row, *before = NULL;

    for (row = index->first[level]; row; row = row->next[level]) {
        if (row->levels <= level ||
            (before && index_compare(before, lbx__index_row_key(row)) >= 0))
            return false;
        while (level > 0 && below && below != row)
            below = below->next[level - 1];
        if (level > 0 && !below)
            return false;
        before = row;
    }
    return before == index->last[level];
}

/* INDEX-4. */
static bool
index_fingers_valid(const lbx__index *index)
{
    for (size_t i = 0; i < LBX__INDEX_FINGERS; i++) {
        const lbx__index_row *row = index->fingers[i];
        const lbx__index_row *each = index->first[0];

        while (row && each && each != row)
            each = each->next[0];
        if (row && (!each || index_bucket(lbx__index_row_key(row)) != i))
            return false;
    }
    return true;
}

bool
lbx__index_valid(const lbx__index *index)
{
    uint64_t count = 0, bytes = 0;

    for (uint32_t level = 0; level < LBX__INDEX_LEVELS; level++) {
        if (!index_level_valid(index, level) ||
            (level >= index->levels && index->first[level]))
            return false;
    }
    for (const lbx__index_row *row = index->first[0]; row; row = row->next[0]) {
        count++;
        bytes += lbx__index_row_bytes(row);
    }
    return count == index->count && bytes == index->bytes && // INDEX-3
           index_fingers_valid(index);
}
