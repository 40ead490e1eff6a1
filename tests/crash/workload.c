/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include "codec/endian.h"
#include "codec/hash64.h"
#include "stores/file/rounds.h"
#include "stores/memory/memory.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEYS = 40,
    VALUE_MOST = 6000
};

static void
put(lbx__storage *storage, lbx__table table, lbx__bytes key, lbx__bytes value)
{
    const lbx__row_size size = {(uint32_t)key.size, (uint32_t)value.size};

    if (lbx__storage_reserve(storage, &size, 1, LBX__GROWS) != LBX_OK)
        abort(); // also in children, where checks do not work
    lbx__storage_put(storage, table, key, &value, 1);
}

unsigned
workload_group(lbx__storage *storage, uint64_t number)
{
    static const lbx__table tables[] = {LBX__BODIES, LBX__BOX_RECORDS,
                                        LBX__READY};
    uint64_t state = number * 0x9e3779b97f4a7c15U;
    const unsigned rows = 1 + (unsigned)rounds_draw(&state, 5);
    uint8_t count[8], key[16], value[VALUE_MOST];

    for (unsigned i = 0; i < rows; i++) {
        const lbx__table table = tables[rounds_draw(&state, 3)];
        const lbx__bytes name = {key, sizeof(key)};
        const uint64_t kind = rounds_draw(&state, 16);
        size_t size = kind == 0 ? rounds_draw(&state, VALUE_MOST)
                                : rounds_draw(&state, 300);

        memset(key, 0, sizeof(key));
        lbx__put_be64(key + 8, rounds_draw(&state, KEYS));
        if (kind > 11) {
            lbx__storage_remove(storage, table, name);
            continue;
        }
        memset(value, (int)(number & 255), size);
        put(storage, table, name, (lbx__bytes){value, size});
    }
    lbx__put_be64(count, number);
    put(storage, LBX__META, (lbx__bytes){"count", 5},
        (lbx__bytes){count, sizeof(count)});
    return rows + 1;
}

uint64_t
workload_last(lbx__storage *storage)
{
    lbx__bytes value;

    if (lbx__storage_get(storage, LBX__META, (lbx__bytes){"count", 5},
                         &value) != LBX_OK ||
        value.size != 8)
        return 0;
    return lbx__get_be64(value.data);
}

uint64_t
workload_sum(lbx__storage *storage)
{
    uint64_t sum = 0;

    for (int table = 0; table < LBX__TABLES; table++) {
        uint8_t from[LBX__ROW_KEY_MAX + 1];
        lbx__bytes at = {from, 0}, key, value;

        while (lbx__storage_seek(storage, (lbx__table)table, at, &key,
                                 &value) == LBX_OK) {
            sum = lbx__hash64(sum + (uint64_t)table, key.data, key.size);
            sum = lbx__hash64(sum, value.data, value.size);
            memcpy(from, key.data, key.size);
            from[key.size] = 0;
            at.size = key.size + 1;
        }
    }
    return sum;
}

uint64_t *
workload_sums(uint64_t most)
{
    uint64_t *sums = calloc(most + 1, sizeof(*sums));
    lbx__storage *storage;

    CHECK(sums);
    CHECK_OK(lbx__memory_open(NULL, NULL, &storage));
    for (uint64_t i = 0; i <= most; i++) {
        CHECK_OK(lbx__storage_begin(storage));
        if (i > 0)
            (void)workload_group(storage, i);
        sums[i] = workload_sum(storage);
        lbx__storage_commit(storage);
    }
    lbx__storage_close(storage);
    return sums;
}
