/* SPDX-License-Identifier: Apache-2.0 */
/* Room on the disk for what is to come (K3). */
#include "stores/file/room.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEADROOM_BYTES = 8 << 20,
    SLACK_BYTES = 1 << 20, /* asked for beyond what is needed, to ask less */
    PATH_PAGES = 4         /* that a row may copy */
};

void
lbx__room_look(lbx__engine *engine)
{
    MDB_envinfo info;
    MDB_stat stat;
    struct stat found;

    if (mdb_env_info(engine->env, &info) != 0 ||
        mdb_env_stat(engine->env, &stat) != 0)
        return; // only bad arguments
    engine->page_bytes = stat.ms_psize;
    engine->map_pages = info.me_mapsize / stat.ms_psize;
    engine->used_pages = info.me_last_pgno + 1;
    engine->rows = 0;
    engine->reserved = 0;
    engine->tight = false;
    engine->free_counted = false;
    // Other processes make it larger, never smaller.
    if (engine->allocated_bytes < engine->used_pages * engine->page_bytes &&
        fstat(engine->fd, &found) == 0)
        engine->allocated_bytes = (uint64_t)found.st_size;
}

/* Pages inside the file that the open transaction may take: those that were
 * freed before the commit it stands on. */
static uint64_t
count_free(lbx__engine *engine)
{
    const uint64_t last = lbx__engine_last(engine);
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;
    uint64_t pages = 0;

    if (mdb_txn_begin(engine->env, NULL, MDB_RDONLY, &txn) != 0)
        return 0;
    if (mdb_cursor_open(txn, 0, &cursor) == 0) {
        while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
            size_t freed_by, count;

            if (key.mv_size != sizeof(freed_by) ||
                value.mv_size < sizeof(count))
                break;
            memcpy(&freed_by, key.mv_data, sizeof(freed_by));
            memcpy(&count, value.mv_data, sizeof(count));
            if (freed_by >= last)
                break;
            pages += count;
        }
        mdb_cursor_close(cursor);
    }
    mdb_txn_abort(txn);
    return pages;
}

/* Pages that a transaction may still take: free ones inside, and those beyond
 * the last that is in use. */
static uint64_t
count_left(lbx__engine *engine)
{
    const uint64_t allocated = engine->allocated_bytes / engine->page_bytes;
    const uint64_t most =
        allocated < engine->map_pages ? allocated : engine->map_pages;

    if (!engine->free_counted)
        engine->free_pages = count_free(engine);
    engine->free_counted = true;
    return engine->free_pages +
           (most > engine->used_pages ? most - engine->used_pages : 0);
}

/* Makes the file so large, if there is room on the disk and in the map. */
static bool
allocate(lbx__engine *engine, uint64_t pages)
{
    const uint64_t bytes = pages * engine->page_bytes;
    int result;

    if (bytes <= engine->allocated_bytes)
        return true;
    if (pages > engine->map_pages)
        return false;
    result = engine->io->fallocate(engine->io, engine->fd, bytes + SLACK_BYTES);
    // A file system that cannot set room aside must be trusted to have it.
    if (result == -EOPNOTSUPP)
        return true;
    if (result < 0)
        return false;
    engine->allocated_bytes = bytes + SLACK_BYTES;
    return true;
}

lbx_status
lbx__engine_reserve(lbx__engine *engine, const lbx__row_size *sizes,
                    size_t count, lbx__growth growth)
{
    const uint64_t page = engine->page_bytes;
    uint64_t bytes = 0, pages, copied, taken;

    for (size_t i = 0; i < count; i++)
        bytes += sizes[i].key + (uint64_t)sizes[i].value + 64;
    // Pages are left half empty when they are split.
    pages = engine->reserved + 2 * bytes / page + 1;
    copied = (engine->rows + count) * PATH_PAGES;
    if (copied > engine->used_pages)
        copied = engine->used_pages;
    taken = pages + copied + HEADROOM_BYTES / page;
    if (!allocate(engine, engine->used_pages + taken)) {
        engine->tight = true;
        if (growth == LBX__GROWS && count_left(engine) < taken)
            return LBX_NO_SPACE;
    }
    engine->reserved = pages;
    return LBX_OK;
}
