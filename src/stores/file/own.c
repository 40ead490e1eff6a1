/* SPDX-License-Identifier: Apache-2.0 */
/* The storage's own row: packed, little-endian, with a sum of its own. */
#include "codec/crc32c.h"
#include "codec/endian.h"
#include "stores/file/room.h"

#include <string.h>

enum {
    FORMAT = 1,
    OWN_BYTES = 96
};

static char own_key[] = "store";

static void
pack(const lbx__own *own, uint8_t bytes[OWN_BYTES])
{
    uint8_t *to = bytes + 4;

    to = lbx__put_le32(to, FORMAT);
    memcpy(to, own->uid, 16);
    to = lbx__put_le64(to + 16, own->generation);
    *to++ = own->has_journal;
    *to++ = own->idle;
    *to++ = (uint8_t)own->level;
    *to++ = 0;
    to = lbx__put_le32(to, own->era);
    memcpy(to, own->boot, 16);
    to = lbx__put_le64(to + 16, (uint64_t)own->offset_ns);
    to = lbx__put_le64(to, (uint64_t)own->time_ns);
    to = lbx__put_le64(to, (uint64_t)own->wall_ns);
    to = lbx__put_le64(to, own->journal_bytes);
    memset(to, 0, (size_t)(bytes + OWN_BYTES - to));
    lbx__put_le32(bytes, lbx__crc32c(0, bytes + 4, OWN_BYTES - 4));
}

lbx_status
lbx__own_unpack(lbx__bytes value, lbx__own *ret)
{
    const uint8_t *bytes = value.data, *from = bytes + 8;

    if (value.size < 8 ||
        lbx__get_le32(bytes) != lbx__crc32c(0, bytes + 4, value.size - 4))
        return LBX_CORRUPT;
    if (lbx__get_le32(bytes + 4) > FORMAT)
        return LBX_NEWER;
    if (value.size != OWN_BYTES)
        return LBX_CORRUPT;
    memcpy(ret->uid, from, 16);
    ret->generation = lbx__get_le64(from + 16);
    ret->has_journal = from[24];
    ret->idle = from[25];
    ret->level = (lbx_durability)from[26];
    ret->era = lbx__get_le32(from + 28);
    memcpy(ret->boot, from + 32, 16);
    ret->offset_ns = (int64_t)lbx__get_le64(from + 48);
    ret->time_ns = (int64_t)lbx__get_le64(from + 56);
    ret->wall_ns = (int64_t)lbx__get_le64(from + 64);
    ret->journal_bytes = lbx__get_le64(from + 72);
    return LBX_OK;
}

lbx_status
lbx__own_read(lbx__engine *engine, lbx__own *ret)
{
    MDB_val key = {sizeof(own_key), own_key}, value;
    MDB_txn *txn = engine->txn;
    lbx_status status;
    int result = 0;

    if (!txn)
        result = mdb_txn_begin(engine->env, NULL, MDB_RDONLY, &txn);
    if (result != 0)
        return lbx__lmdb_status(result);
    result = mdb_get(txn, engine->own, &key, &value);
    status =
        result == 0
            ? lbx__own_unpack((lbx__bytes){value.mv_data, value.mv_size}, ret)
            : lbx__lmdb_status(result);
    if (txn != engine->txn)
        mdb_txn_abort(txn);
    return status;
}

lbx_status
lbx__own_write(lbx__engine *engine, const lbx__own *own)
{
    uint8_t bytes[OWN_BYTES];
    MDB_val key = {sizeof(own_key), own_key}, value = {OWN_BYTES, bytes};

    pack(own, bytes);
    engine->rows++;
    return lbx__lmdb_status(mdb_put(engine->txn, engine->own, &key, &value, 0));
}
