/* SPDX-License-Identifier: Apache-2.0 */
/* Rows: reading with a check of the sum, writing with a new one; see row.h. */
#include "post/rules/row.h"

#include "codec/crc32c.h"
#include "codec/hash64.h"

/* ---- Sums ---- */

static uint32_t
row_sum_start(lbx__table table, lbx__bytes key)
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
    if (sum != lbx__crc32c(row_sum_start(table, key), ret->data, ret->size))
        return LBX_CORRUPT;
    return LBX_OK;
}

/* ROW-1. For a damaged row `ret->data` is not NULL: see lbx__row_damaged(). */
static lbx_status
row_check_of(const lbx__storage *storage, lbx__table table, lbx__bytes key,
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
    return row_check_of(storage, table, lbx__key_bytes(key), value, ret);
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
    // All keys of a table have the same size, except names.
    if (table != LBX__NAMES && ret_key->size != from->size)
        return LBX_CORRUPT;
    return row_check_of(storage, table, *ret_key, value, ret);
}

uint32_t
lbx__row_put(lbx__storage *storage, lbx__table table, const lbx__key *key,
             const lbx__bytes *parts, size_t count)
{
    lbx__bytes all[1 + LBX__ROW_PARTS];
    uint8_t bytes[LBX__SUM_BYTES];
    const bool sums = !storage->ops->is_private; // ROW-1
    uint32_t sum = sums ? row_sum_start(table, lbx__key_bytes(key)) : 0;
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
