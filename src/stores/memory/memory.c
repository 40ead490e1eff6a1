/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage in memory: one index for each table.
 *
 * Nothing survives the process, so a batch is durable when it is committed: it
 * has reached what this storage promises. Rows are allocated by reserve and
 * wait in a list until a put asks for one of their size; commit frees the rest.
 *
 * MEM-1  After reserve has returned LBX_OK, each of its rows is in the list or
 *        was put.
 * MEM-2  A row is in the list or in one index.
 * MEM-3  memory_now() never goes back, whatever the clock does.
 * MEM-4  Of the large blocks that were freed the last one is kept, up to
 *        SPARE_MAX: allocators return such blocks to the system, which clears
 *        every page of the next.
 *
 * Threads    one at a time; the service above has the lock.
 */
#include "stores/memory/memory.h"

#include "base/alloc.h"
#include "codec/random.h"
#include "stores/memory/index.h"

#include <string.h>

enum {
    SPARE_MIN = 64 * 1024,
    SPARE_MAX = 4 * 1024 * 1024
};

struct memory {
    lbx__storage base; /* first */
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    int64_t now_ns;
    uint64_t ticket;
    lbx__index_row *reserved; /* linked by next[0] */
    lbx__index_row *spare;    /* MEM-4 */
    lbx__index tables[LBX__TABLES];
};

static struct memory *
memory_of(lbx__storage *storage)
{
    return (struct memory *)storage;
}

static lbx_status
memory_begin(lbx__storage *storage)
{
    (void)storage;
    return LBX_OK;
}

static lbx_status
memory_get(lbx__storage *storage, lbx__table table, lbx__bytes key,
           lbx__bytes *ret_value)
{
    const lbx__index_row *row =
        lbx__index_find(&memory_of(storage)->tables[table], key);

    if (!row)
        return LBX_NOT_FOUND;
    *ret_value = lbx__index_row_value(row);
    return LBX_OK;
}

static lbx_status
memory_seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
            lbx__bytes *ret_key, lbx__bytes *ret_value)
{
    const lbx__index_row *row =
        lbx__index_seek(&memory_of(storage)->tables[table], key);

    if (!row)
        return LBX_NOT_FOUND;
    *ret_key = lbx__index_row_key(row);
    *ret_value = lbx__index_row_value(row);
    return LBX_OK;
}

static lbx__index_row *
memory_make_row(struct memory *memory, size_t key_size, size_t value_size)
{
    lbx__index_row *spare = memory->spare;

    if (spare && value_size >= SPARE_MIN / 2 &&
        lbx__index_row_remake(&memory->tables[0], spare, key_size,
                              value_size)) {
        memory->spare = NULL;
        return spare;
    }
    return lbx__index_row_create(&memory->tables[0], key_size, value_size);
}

static void
memory_drop_row(struct memory *memory, lbx__index_row *row)
{
    if (row && lbx__index_row_bytes(row) >= SPARE_MIN &&
        lbx__index_row_bytes(row) <= SPARE_MAX) {
        lbx__index_row *last = memory->spare;

        memory->spare = row;
        row = last;
    }
    lbx__index_row_destroy(&memory->tables[0], row);
}

/* Frees what was reserved since `end`, which is in the list, or NULL. */
static void
memory_release(struct memory *memory, const lbx__index_row *end)
{
    while (memory->reserved != end) {
        lbx__index_row *row = memory->reserved;

        memory->reserved = row->next[0];
        memory_drop_row(memory, row);
    }
}

static lbx_status
memory_reserve(lbx__storage *storage, const lbx__row_size *sizes, size_t count,
               lbx__growth growth)
{
    struct memory *memory = memory_of(storage);
    const lbx__index_row *before = memory->reserved;

    (void)growth;
    for (size_t i = 0; i < count; i++) {
        lbx__index_row *row =
            memory_make_row(memory, sizes[i].key, sizes[i].value);

        if (!row) {
            memory_release(memory, before);
            return LBX_NO_MEMORY;
        }
        row->next[0] = memory->reserved;
        memory->reserved = row;
    }
    return LBX_OK;
}

/* A reserved row of exactly these sizes: a larger one belongs to another put
 * (MEM-1). */
static lbx__index_row *
memory_take_reserved(struct memory *memory, size_t key_size, size_t value_size)
{
    lbx__index_row **at = &memory->reserved;

    while (*at &&
           !((*at)->key_size == key_size && (*at)->value_max == value_size))
        at = &(*at)->next[0];
    if (*at) {
        lbx__index_row *row = *at;

        *at = row->next[0];
        return row;
    }
    return NULL;
}

static void
memory_put(lbx__storage *storage, lbx__table table, lbx__bytes key,
           const lbx__bytes *parts, size_t count)
{
    struct memory *memory = memory_of(storage);
    lbx__index *index = &memory->tables[table];
    lbx__index_spot spot;
    lbx__index_row *row;
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    if (lbx__index_locate(index, key, &spot)) {
        if (lbx__index_row_fits(spot.at, key.size, size)) {
            lbx__index_row_write(spot.at, parts, count);
            return;
        }
        memory_drop_row(memory, lbx__index_remove_at(index, &spot));
        (void)lbx__index_locate(index, key, &spot);
    }
    row = memory_take_reserved(memory, key.size, size);
    assert(row); // was reserved
    if (!row)
        return;
    lbx__index_row_write(row, parts, count);
    lbx__index_insert_at(index, row, key, &spot);
}

static void
memory_remove_row(lbx__storage *storage, lbx__table table, lbx__bytes key)
{
    struct memory *memory = memory_of(storage);

    memory_drop_row(memory, lbx__index_remove(&memory->tables[table], key));
}

static uint64_t
memory_commit(lbx__storage *storage)
{
    struct memory *memory = memory_of(storage);

    memory_release(memory, NULL);
    return ++memory->ticket;
}

static lbx_status
memory_flush(lbx__storage *storage, uint64_t ticket)
{
    assert(ticket <= memory_of(storage)->ticket);
    (void)storage;
    (void)ticket;
    return LBX_OK;
}

static lbx_status
memory_sync_all(lbx__storage *storage)
{
    (void)storage;
    return LBX_UNSUPPORTED;
}

static int64_t
memory_now(lbx__storage *storage)
{
    struct memory *memory = memory_of(storage);
    const int64_t clock_ns = lbx_clock_now(memory->clock);

    if (clock_ns > memory->now_ns)
        memory->now_ns = clock_ns; // MEM-3
    return memory->now_ns;
}

static lbx_durability
memory_durability(lbx__storage *storage)
{
    (void)storage;
    return LBX_DURABILITY_NONE;
}

static void
memory_close(lbx__storage *storage)
{
    struct memory *memory = memory_of(storage);

    memory_release(memory, NULL);
    lbx__index_row_destroy(&memory->tables[0], memory->spare);
    for (int i = 0; i < LBX__TABLES; i++)
        lbx__index_fini(&memory->tables[i]);
    lbx__free(memory->allocator, memory, sizeof(*memory));
}

static const lbx__storage_ops memory_ops = {
    .scheme = "memory",
    .one_thread = false,
    .is_private = true,
    .begin = memory_begin,
    .get = memory_get,
    .seek = memory_seek,
    .reserve = memory_reserve,
    .put = memory_put,
    .remove = memory_remove_row,
    .commit = memory_commit,
    .flush = memory_flush,
    .sync = memory_sync_all,
    .now = memory_now,
    .durability = memory_durability,
    .close = memory_close,
};

lbx_status
lbx__memory_open(const lbx_allocator *allocator, const lbx_clock *clock,
                 lbx__storage **ret)
{
    struct memory *memory = lbx__zalloc(allocator, sizeof(*memory));
    uint64_t seed = 0;

    if (!memory)
        return LBX_NO_MEMORY;
    memory->base.ops = &memory_ops;
    memory->allocator = allocator;
    memory->clock = clock;
    memory->now_ns = 1;
    // Without randomness the lists are as good, but can be foreseen.
    if (!lbx__random(&seed, sizeof(seed)))
        seed = 0x9e3779b97f4a7c15;
    for (int i = 0; i < LBX__TABLES; i++)
        lbx__index_init(&memory->tables[i], allocator, seed + (uint64_t)i * 2);
    *ret = &memory->base;
    return LBX_OK;
}

uint64_t
lbx__memory_rows(const lbx__storage *storage, lbx__table table)
{
    return ((const struct memory *)storage)->tables[table].count;
}

uint64_t
lbx__memory_bytes(const lbx__storage *storage)
{
    const struct memory *memory = (const struct memory *)storage;
    uint64_t bytes = 0;

    for (int i = 0; i < LBX__TABLES; i++)
        bytes += memory->tables[i].bytes;
    return bytes;
}
