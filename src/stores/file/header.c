/* SPDX-License-Identifier: Apache-2.0 */
/* The store header, packed and unpacked; its layout is in header.h. */
#include "stores/file/header.h"

#include "codec/crc32c.h"
#include "codec/endian.h"

#include <string.h>

enum {
    HEADER_FORMAT = 1,
    HEADER_BYTES = 96
};

static char header_key[] = "store";

static void
header_pack(const lbx__header *header, uint8_t bytes[HEADER_BYTES])
{
    uint8_t *to = bytes + 4;

    to = lbx__put_le32(to, HEADER_FORMAT);
    memcpy(to, header->uid, 16);
    to = lbx__put_le64(to + 16, header->generation);
    *to++ = header->has_journal;
    *to++ = header->idle;
    *to++ = (uint8_t)header->level;
    *to++ = 0;
    to = lbx__put_le32(to, header->era);
    memcpy(to, header->boot, 16);
    to = lbx__put_le64(to + 16, (uint64_t)header->offset_ns);
    to = lbx__put_le64(to, (uint64_t)header->time_ns);
    to = lbx__put_le64(to, (uint64_t)header->wall_ns);
    to = lbx__put_le64(to, header->journal_bytes);
    memset(to, 0, (size_t)(bytes + HEADER_BYTES - to));
    lbx__put_le32(bytes, lbx__crc32c(0, bytes + 4, HEADER_BYTES - 4));
}

lbx_status
lbx__header_unpack(lbx__bytes value, lbx__header *ret)
{
    const uint8_t *bytes = value.data, *from = bytes + 8;

    if (value.size < 8 ||
        lbx__get_le32(bytes) != lbx__crc32c(0, bytes + 4, value.size - 4))
        return LBX_CORRUPT;
    if (lbx__get_le32(bytes + 4) > HEADER_FORMAT)
        return LBX_NEWER;
    if (value.size != HEADER_BYTES)
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
lbx__header_read(lbx__engine *engine, lbx__header *ret)
{
    MDB_val key = {sizeof(header_key), header_key}, value;
    MDB_txn *txn = engine->txn;
    lbx_status status;
    int result = 0;

    if (!txn)
        result = mdb_txn_begin(engine->env, NULL, MDB_RDONLY, &txn);
    if (result != 0)
        return lbx__engine_status(result);
    result = mdb_get(txn, engine->header, &key, &value);
    status = result == 0 ? lbx__header_unpack(
                               (lbx__bytes){value.mv_data, value.mv_size}, ret)
                         : lbx__engine_status(result);
    if (txn != engine->txn)
        mdb_txn_abort(txn);
    return status;
}

lbx_status
lbx__header_write(lbx__engine *engine, const lbx__header *header)
{
    uint8_t bytes[HEADER_BYTES];
    MDB_val key = {sizeof(header_key), header_key},
            value = {HEADER_BYTES, bytes};

    header_pack(header, bytes);
    engine->rows++;
    return lbx__engine_status(
        mdb_put(engine->txn, engine->header, &key, &value, 0));
}
