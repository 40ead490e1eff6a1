/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage in memory: one index for each table.
 *
 * Nothing survives the process, so that a ticket is durable when it is given: it
 * has reached what this storage promises. Rows are allocated by reserve and wait
 * in a list until a put asks for one of their size; commit frees the rest.
 *
 * M1  After reserve has answered OK, each row it was asked for is in the list or
 *     has been put.
 * M2  A row is in the list or in one index.
 * M3  now() never goes back, whatever the clock does.
 * M4  Of the large blocks that were freed the last one is kept, up to SPARE_MOST:
 *     allocators give such blocks back to the system, which clears every page of
 *     the next.
 */
#include "stores/memory/memory.h"

#include "base/alloc.h"
#include "codec/random.h"
#include "stores/memory/index.h"

#include <string.h>

enum {
    SPARE_LEAST = 64 * 1024,
    SPARE_MOST = 4 * 1024 * 1024
};

struct memory {
    lbx__storage base; /* first */
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    int64_t now_ns;
    uint64_t ticket;
    lbx__row *reserved; /* linked by next[0] */
    lbx__row *spare;    /* M4 */
    lbx__index tables[LBX__TABLES];
};

static struct memory *
memory_of(lbx__storage *storage)
{
    return (struct memory *)storage;
}

static lbx_status
begin(lbx__storage *storage)
{
    (void)storage;
    return LBX_OK;
}

static lbx_status
get(lbx__storage *storage, lbx__table table, lbx__bytes key,
    lbx__bytes *ret_value)
{
    const lbx__row *row =
        lbx__index_find(&memory_of(storage)->tables[table], key);

    if (!row)
        return LBX_NOT_FOUND;
    *ret_value = lbx__row_value(row);
    return LBX_OK;
}

static lbx_status
seek(lbx__storage *storage, lbx__table table, lbx__bytes key,
     lbx__bytes *ret_key, lbx__bytes *ret_value)
{
    const lbx__row *row =
        lbx__index_seek(&memory_of(storage)->tables[table], key);

    if (!row)
        return LBX_NOT_FOUND;
    *ret_key = lbx__row_key(row);
    *ret_value = lbx__row_value(row);
    return LBX_OK;
}

static lbx__row *
make_row(struct memory *memory, size_t key_size, size_t value_size)
{
    lbx__row *spare = memory->spare;

    if (spare && value_size >= SPARE_LEAST / 2 &&
        lbx__row_remake(&memory->tables[0], spare, key_size, value_size)) {
        memory->spare = NULL;
        return spare;
    }
    return lbx__row_create(&memory->tables[0], key_size, value_size);
}

static void
drop_row(struct memory *memory, lbx__row *row)
{
    if (row && lbx__row_bytes(row) >= SPARE_LEAST &&
        lbx__row_bytes(row) <= SPARE_MOST) {
        lbx__row *last = memory->spare;

        memory->spare = row;
        row = last;
    }
    lbx__row_destroy(&memory->tables[0], row);
}

/* Frees what was reserved since `end`, which is in the list, or NULL. */
static void
give_back(struct memory *memory, const lbx__row *end)
{
    while (memory->reserved != end) {
        lbx__row *row = memory->reserved;

        memory->reserved = row->next[0];
        drop_row(memory, row);
    }
}

static lbx_status
reserve(lbx__storage *storage, const lbx__row_size *sizes, size_t count,
        lbx__growth growth)
{
    struct memory *memory = memory_of(storage);
    const lbx__row *before = memory->reserved;

    (void)growth;
    for (size_t i = 0; i < count; i++) {
        lbx__row *row = make_row(memory, sizes[i].key, sizes[i].value);

        if (!row) {
            give_back(memory, before);
            return LBX_NO_MEMORY;
        }
        row->next[0] = memory->reserved;
        memory->reserved = row;
    }
    return LBX_OK;
}

/* A reserved row of exactly these sizes: a larger one is somebody else's (M1). */
static lbx__row *
take_reserved(struct memory *memory, size_t key_size, size_t value_size)
{
    lbx__row **at = &memory->reserved;

    while (*at &&
           !((*at)->key_size == key_size && (*at)->value_room == value_size))
        at = &(*at)->next[0];
    if (*at) {
        lbx__row *row = *at;

        *at = row->next[0];
        return row;
    }
    return NULL;
}

static void
put(lbx__storage *storage, lbx__table table, lbx__bytes key,
    const lbx__bytes *parts, size_t count)
{
    struct memory *memory = memory_of(storage);
    lbx__index *index = &memory->tables[table];
    lbx__spot spot;
    lbx__row *row;
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    if (lbx__index_locate(index, key, &spot)) {
        if (lbx__row_fits(spot.at, key.size, size)) {
            lbx__row_write(spot.at, parts, count);
            return;
        }
        drop_row(memory, lbx__index_remove_at(index, &spot));
        (void)lbx__index_locate(index, key, &spot);
    }
    row = take_reserved(memory, key.size, size);
    assert(row); // G6
    if (!row)
        return;
    lbx__row_write(row, parts, count);
    lbx__index_insert_at(index, row, key, &spot);
}

static void
remove_row(lbx__storage *storage, lbx__table table, lbx__bytes key)
{
    struct memory *memory = memory_of(storage);

    drop_row(memory, lbx__index_remove(&memory->tables[table], key));
}

static uint64_t
commit(lbx__storage *storage)
{
    struct memory *memory = memory_of(storage);

    give_back(memory, NULL);
    return ++memory->ticket;
}

static lbx_status
flush(lbx__storage *storage, uint64_t ticket)
{
    assert(ticket <= memory_of(storage)->ticket);
    (void)storage;
    (void)ticket;
    return LBX_OK;
}

static lbx_status
sync_all(lbx__storage *storage)
{
    (void)storage;
    return LBX_UNSUPPORTED;
}

static int64_t
now(lbx__storage *storage)
{
    struct memory *memory = memory_of(storage);
    const int64_t clock_ns = lbx_clock_now(memory->clock);

    if (clock_ns > memory->now_ns)
        memory->now_ns = clock_ns; // M3
    return memory->now_ns;
}

static lbx_durability
durability(lbx__storage *storage)
{
    (void)storage;
    return LBX_SURVIVES_NOTHING;
}

static void
close_memory(lbx__storage *storage)
{
    struct memory *memory = memory_of(storage);

    give_back(memory, NULL);
    lbx__row_destroy(&memory->tables[0], memory->spare);
    for (int i = 0; i < LBX__TABLES; i++)
        lbx__index_fini(&memory->tables[i]);
    lbx__free(memory->allocator, memory, sizeof(*memory));
}

static const lbx__storage_ops memory_ops = {
    .scheme = "memory",
    .one_thread = false,
    .is_private = true,
    .begin = begin,
    .get = get,
    .seek = seek,
    .reserve = reserve,
    .put = put,
    .remove = remove_row,
    .commit = commit,
    .flush = flush,
    .sync = sync_all,
    .now = now,
    .durability = durability,
    .close = close_memory,
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
