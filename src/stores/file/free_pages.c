/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free pages: counted in LMDB's list of them, with how many lie in a row.
 *
 * Runs. LMDB takes single pages from the lowest end of what it has read of the
 * list, and reads on, oldest record first, only when that has no run or no
 * page. So the single pages of a transaction use up records, each from its
 * lowest page on: those are left out when runs are counted. Each record that is
 * read for a run and brings lower pages lets singles break one more run:
 * `free_breaks` counts those, and the caller subtracts them. LMDB stops after a
 * number of records for each page of the run it needs: a run behind them is not
 * counted.
 *
 * Threads    the engine's.
 */
#include "stores/file/free_pages.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct free_pages_scan {
    lbx__engine *engine;
    uint8_t *map; /* a bit for each page; NULL: no memory for it */
    size_t map_bytes;
    uint64_t oldest; /* readers may see what this commit or a later one freed */
    uint64_t singles; /* pages that are still to be left out */
    uint64_t lowest;  /* page so far */
};

/* A line of mdb_reader_list(): process, thread, and the commit that it
 * reads. */
static int
free_pages_note_reader(const char *line, void *context)
{
    struct free_pages_scan *scan = context;
    char *end;
    uint64_t commit;

    (void)strtoull(line, &end, 10);
    (void)strtoull(end, &end, 16);
    commit = strtoull(end, NULL, 10);
    scan->engine->has_reader |= commit > 0;
    if (commit > 0 && commit < scan->oldest)
        scan->oldest = commit;
    return 0;
}

/* A record of the free list: how many pages, then their numbers, falling. */
static void
free_pages_add_record(struct free_pages_scan *scan, const MDB_val *key,
                      const MDB_val *value)
{
    lbx__engine *engine = scan->engine;
    const uint8_t *numbers = value->mv_data;
    size_t freed_by, count, singles;

    memcpy(&freed_by, key->mv_data, sizeof(freed_by));
    memcpy(&count, numbers, sizeof(count));
    if (count > value->mv_size / sizeof(size_t) - 1)
        return;
    if (freed_by >= scan->oldest) {
        engine->freed_pages += count;
        return;
    }
    engine->free_pages += count;
    if (engine->free_records++ >= engine->free_searched || !scan->map)
        return;
    // The lowest are at the end.
    singles = scan->singles < count ? scan->singles : count;
    scan->singles -= singles;
    count -= singles;
    for (size_t i = 1; i <= count; i++) {
        size_t page;

        memcpy(&page, numbers + i * sizeof(page), sizeof(page));
        if (page / 8 < scan->map_bytes)
            scan->map[page / 8] |= (uint8_t)(1U << page % 8);
        if (i == count && page < scan->lowest) {
            scan->lowest = page;
            engine->free_breaks++;
        }
    }
}

static void
free_pages_add_run(lbx__engine *engine, uint64_t length)
{
    if (length < LBX__RUN_LENGTH_MAX) {
        engine->free_lengths[length]++;
    } else {
        engine->free_long++;
        engine->free_long_pages += length;
    }
}

static void
free_pages_measure(const struct free_pages_scan *scan)
{
    uint64_t length = 0;

    for (size_t i = 0; i < scan->map_bytes; i++) {
        const uint8_t byte = scan->map[i];

        if (byte == 0 && length == 0)
            continue;
        for (int bit = 0; bit < 8; bit++) {
            if (byte >> bit & 1) {
                length++;
            } else if (length > 0) {
                free_pages_add_run(scan->engine, length);
                length = 0;
            }
        }
    }
    if (length > 0)
        free_pages_add_run(scan->engine, length);
}

static void
free_pages_scan_list(lbx__engine *engine, uint64_t records, uint64_t singles)
{
    struct free_pages_scan scan = {.engine = engine,
                                   .map_bytes = engine->used_pages / 8 + 1,
                                   .oldest = lbx__engine_last(engine),
                                   .singles = singles,
                                   .lowest = UINT64_MAX};
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;

    engine->free_counted = true;
    engine->free_searched = records;
    engine->free_singles = singles;
    engine->free_pages = engine->freed_pages = engine->free_records = 0;
    engine->free_breaks = engine->free_long = engine->free_long_pages = 0;
    memset(engine->free_lengths, 0, sizeof(engine->free_lengths));
    engine->has_reader = false;
    // A reader that was killed would hold the pages that it read for ever.
    (void)mdb_reader_check(engine->env, NULL);
    (void)mdb_reader_list(engine->env, free_pages_note_reader, &scan);
    if (records > 0)
        scan.map = lbx__zalloc(engine->allocator, scan.map_bytes);
    if (mdb_txn_begin(engine->env, NULL, MDB_RDONLY, &txn) == 0) {
        if (mdb_cursor_open(txn, 0, &cursor) == 0) {
            while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 &&
                   key.mv_size == sizeof(size_t) &&
                   value.mv_size >= sizeof(size_t))
                free_pages_add_record(&scan, &key, &value);
            mdb_cursor_close(cursor);
        }
        mdb_txn_abort(txn);
    }
    if (scan.map)
        free_pages_measure(&scan);
    lbx__free(engine->allocator, scan.map, scan.map_bytes);
}

void
lbx__free_pages_count(lbx__engine *engine, uint64_t records, uint64_t singles)
{
    if (engine->free_counted &&
        (records == 0 || engine->free_singles >= singles) &&
        (engine->free_searched == records ||
         (engine->free_records <= records &&
          engine->free_records <= engine->free_searched)))
        return;
    free_pages_scan_list(engine, records,
                         singles + singles / 2); // not again for each row
}

uint64_t
lbx__free_pages_runs(const lbx__engine *engine, uint64_t run)
{
    uint64_t runs = 0;

    for (uint64_t i = run; i < LBX__RUN_LENGTH_MAX; i++)
        runs += engine->free_lengths[i] * (i / run);
    if (engine->free_long_pages > engine->free_long * (run - 1))
        runs += (engine->free_long_pages - engine->free_long * (run - 1)) / run;
    return runs;
}
