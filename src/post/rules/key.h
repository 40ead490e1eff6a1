/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of rows: up to three numbers, a number and a hash, or a text.
 *
 * Numbers are written big-endian, so that memcmp() orders keys as their numbers
 * are ordered. docs/design/post.md lists the key of each table.
 *
 * Threads    any: a key is a value.
 */
#ifndef LBX_POST_RULES_KEY_H
#define LBX_POST_RULES_KEY_H

#include "codec/endian.h"
#include "post/rules/storage.h"

#include <string.h>

enum {
    LBX__HASH_BYTES = 16
};

typedef struct lbx__key {
    uint8_t bytes[LBX__ROW_KEY_MAX];
    uint32_t size;
} lbx__key;

static inline lbx__bytes
lbx__key_bytes(const lbx__key *key)
{
    return (lbx__bytes){key->bytes, key->size};
}

/* The nth number of a key. Times are numbers that are not negative. */
static inline uint64_t
lbx__key_number(lbx__bytes key, size_t n)
{
    return lbx__get_be64((const uint8_t *)key.data + 8 * n);
}

static inline lbx__key
lbx__key_1(uint64_t a)
{
    lbx__key key;

    lbx__put_be64(key.bytes, a);
    key.size = 8;
    return key;
}

static inline lbx__key
lbx__key_2(uint64_t a, uint64_t b)
{
    lbx__key key;

    lbx__put_be64(lbx__put_be64(key.bytes, a), b);
    key.size = 16;
    return key;
}

static inline lbx__key
lbx__key_3(uint64_t a, uint64_t b, uint64_t c)
{
    lbx__key key;

    lbx__put_be64(lbx__put_be64(lbx__put_be64(key.bytes, a), b), c);
    key.size = 24;
    return key;
}

static inline lbx__key
lbx__key_hash(uint64_t box, const uint8_t hash[LBX__HASH_BYTES])
{
    lbx__key key;

    memcpy(lbx__put_be64(key.bytes, box), hash, LBX__HASH_BYTES);
    key.size = 8 + LBX__HASH_BYTES;
    return key;
}

static inline lbx__key
lbx__key_due_hash(uint64_t box, int64_t due,
                  const uint8_t hash[LBX__HASH_BYTES])
{
    lbx__key key;
    uint8_t *at = lbx__put_be64(key.bytes, box);

    memcpy(lbx__put_be64(at, (uint64_t)due), hash, LBX__HASH_BYTES);
    key.size = 16 + LBX__HASH_BYTES;
    return key;
}

static inline lbx__key
lbx__key_text(const char *text)
{
    lbx__key key;

    key.size = (uint32_t)strlen(text);
    assert(key.size <= LBX__ROW_KEY_MAX);
    memcpy(key.bytes, text, key.size);
    return key;
}

/* The name may be only the beginning of one. */
static inline lbx__key
lbx__key_name(const char *space, const char *name)
{
    const size_t space_size = space ? strlen(space) : 0;
    size_t name_size;
    lbx__key key;

    assert(name); // the callers have checked
    name_size = strlen(name);
    assert(space_size + 1 + name_size <= LBX__ROW_KEY_MAX);
    if (space_size > 0)
        memcpy(key.bytes, space, space_size);
    key.bytes[space_size] = 0;
    memcpy(key.bytes + space_size + 1, name, name_size);
    key.size = (uint32_t)(space_size + 1 + name_size);
    return key;
}

/* True when a key has the size of the keys of its table. */
static inline bool
lbx__key_is_of(lbx__table table, lbx__bytes key)
{
    static const uint8_t sizes[LBX__TABLES] = {
        [LBX__BOXES] = 8,   [LBX__BOX_RECORDS] = 8, [LBX__BODIES] = 16,
        [LBX__STATES] = 16, [LBX__READY] = 24,      [LBX__WAITS] = 24,
        [LBX__LINES] = 24,  [LBX__GROUP_DUE] = 24,  [LBX__GROUPS] = 24,
        [LBX__GIDS] = 16,   [LBX__SEEN] = 24,       [LBX__SEEN_DUE] = 32,
        [LBX__AGE] = 24,    [LBX__TASKS] = 16,      [LBX__GARBAGE] = 8,
    };

    if (sizes[table] == 0) // texts
        return key.size > 0 && key.size <= LBX__ROW_KEY_MAX;
    return key.size == sizes[table];
}

#endif
