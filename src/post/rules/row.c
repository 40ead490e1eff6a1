/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, sums and values of rows; see rows.h. */
#include "post/rules/row.h"

#include "codec/crc32c.h"
#include "codec/hash64.h"

lbx__key
lbx__key_1(uint64_t a)
{
    lbx__key key;

    lbx__put_be64(key.bytes, a);
    key.size = 8;
    return key;
}

lbx__key
lbx__key_2(uint64_t a, uint64_t b)
{
    lbx__key key;

    lbx__put_be64(lbx__put_be64(key.bytes, a), b);
    key.size = 16;
    return key;
}

lbx__key
lbx__key_3(uint64_t a, uint64_t b, uint64_t c)
{
    lbx__key key;

    lbx__put_be64(lbx__put_be64(lbx__put_be64(key.bytes, a), b), c);
    key.size = 24;
    return key;
}

lbx__key
lbx__key_hash(uint64_t box, const uint8_t hash[LBX__HASH_BYTES])
{
    lbx__key key;

    memcpy(lbx__put_be64(key.bytes, box), hash, LBX__HASH_BYTES);
    key.size = 8 + LBX__HASH_BYTES;
    return key;
}

lbx__key
lbx__key_due_hash(uint64_t box, int64_t due,
                  const uint8_t hash[LBX__HASH_BYTES])
{
    lbx__key key;
    uint8_t *at = lbx__put_be64(key.bytes, box);

    memcpy(lbx__put_be64(at, (uint64_t)due), hash, LBX__HASH_BYTES);
    key.size = 16 + LBX__HASH_BYTES;
    return key;
}

lbx__key
lbx__key_text(const char *text)
{
    lbx__key key;

    key.size = (uint32_t)strlen(text);
    assert(key.size <= LBX__ROW_KEY_MAX);
    memcpy(key.bytes, text, key.size);
    return key;
}

lbx__key
lbx__key_name(const char *space, const char *name)
{
    const size_t space_size = space ? strlen(space) : 0;
    const size_t name_size = strlen(name);
    lbx__key key;

    assert(space_size + 1 + name_size <= LBX__ROW_KEY_MAX);
    if (space_size > 0)
        memcpy(key.bytes, space, space_size);
    key.bytes[space_size] = 0;
    memcpy(key.bytes + space_size + 1, name, name_size);
    key.size = (uint32_t)(space_size + 1 + name_size);
    return key;
}

bool
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

/* ---- Sums ---- */

static uint32_t
sum_start(lbx__table table, lbx__bytes key)
{
    return lbx__crc32c(lbx__crc32c_byte((uint8_t)table), key.data, key.size);
}

lbx_status
lbx__row_check(lbx__table table, lbx__bytes key, lbx__bytes value,
               lbx__bytes *ret)
{
    const uint8_t *bytes = value.data;
    uint32_t sum;

    if (value.size < LBX__SUM_BYTES)
        return LBX_CORRUPT;
    sum = lbx__get_le32(bytes);
    ret->data = bytes + LBX__SUM_BYTES;
    ret->size = value.size - LBX__SUM_BYTES;
    if (sum != lbx__crc32c(sum_start(table, key), ret->data, ret->size))
        return LBX_CORRUPT;
    return LBX_OK;
}

/* W1. A row that does not check leaves something that is not NULL in `ret`. */
static lbx_status
check(const lbx__storage *storage, lbx__table table, lbx__bytes key,
      lbx__bytes value, lbx__bytes *ret)
{
    ret->data = "";
    if (!storage->ops->is_private)
        return lbx__row_check(table, key, value, ret);
    if (value.size < LBX__SUM_BYTES)
        return LBX_CORRUPT;
    ret->data = (const uint8_t *)value.data + LBX__SUM_BYTES;
    ret->size = value.size - LBX__SUM_BYTES;
    return LBX_OK;
}

lbx_status
lbx__row_get(lbx__storage *storage, lbx__table table, const lbx__key *key,
             lbx__bytes *ret)
{
    lbx__bytes value;
    lbx_status status =
        lbx__storage_get(storage, table, lbx__key_bytes(key), &value);

    *ret = (lbx__bytes){NULL, 0};
    if (status != LBX_OK)
        return status;
    return check(storage, table, lbx__key_bytes(key), value, ret);
}

lbx_status
lbx__row_seek(lbx__storage *storage, lbx__table table, const lbx__key *from,
              size_t prefix, lbx__bytes *ret_key, lbx__bytes *ret)
{
    lbx__bytes value;
    lbx_status status = lbx__storage_seek(storage, table, lbx__key_bytes(from),
                                          ret_key, &value);

    *ret = (lbx__bytes){NULL, 0};
    if (status != LBX_OK)
        return status;
    if (ret_key->size < prefix ||
        memcmp(ret_key->data, from->bytes, prefix) != 0)
        return LBX_NOT_FOUND;
    // Keys of one table have one size, but for names.
    if (table != LBX__NAMES && ret_key->size != from->size)
        return LBX_CORRUPT;
    return check(storage, table, *ret_key, value, ret);
}

uint32_t
lbx__row_put(lbx__storage *storage, lbx__table table, const lbx__key *key,
             const lbx__bytes *parts, size_t count)
{
    lbx__bytes all[1 + LBX__ROW_PARTS];
    uint8_t bytes[LBX__SUM_BYTES];
    const bool sums = !storage->ops->is_private; // W1
    uint32_t sum = sums ? sum_start(table, lbx__key_bytes(key)) : 0;
    size_t used = 1;

    assert(count <= LBX__ROW_PARTS);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size == 0)
            continue;
        if (sums)
            sum = lbx__crc32c(sum, parts[i].data, parts[i].size);
        all[used++] = parts[i];
    }
    lbx__put_le32(bytes, sum);
    all[0] = (lbx__bytes){bytes, sizeof(bytes)};
    lbx__storage_put(storage, table, lbx__key_bytes(key), all, used);
    return sum;
}

void
lbx__row_put_empty(lbx__storage *storage, lbx__table table, const lbx__key *key)
{
    lbx__row_put(storage, table, key, NULL, 0);
}

void
lbx__row_put_number(lbx__storage *storage, lbx__table table,
                    const lbx__key *key, uint64_t number)
{
    uint8_t bytes[8];

    lbx__put_le64(bytes, number);
    lbx__row_put(storage, table, key, &(lbx__bytes){bytes, sizeof(bytes)}, 1);
}

uint64_t
lbx__row_hash(lbx__table table, const lbx__key *key, uint32_t sum)
{
    return lbx__hash64((uint64_t)sum << 8 | (uint64_t)table, key->bytes,
                       key->size);
}
