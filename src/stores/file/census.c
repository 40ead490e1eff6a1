/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages inside of data.mdb that can be used again: how many, and how many in a row.
 *
 * Runs. LMDB takes single pages from the lowest end of what it has read of the
 * list of free pages, and reads on, oldest first, only when that has no run or no
 * page. So the single pages of a transaction use up records, each from its lowest
 * page on: these are left out when runs are counted. And they break one run more
 * when records that were read for a run have brought lower pages: so many runs are
 * not counted on. It gives up after so many records for each page of the run that
 * is wanted; no run is counted on that would be found behind them.
 */
#include "stores/file/room.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct census {
    lbx__engine *engine;
    uint8_t *map; /* a bit for each page; NULL: no memory for it */
    size_t map_bytes;
    uint64_t oldest; /* what this commit freed, or a later one, may be seen */
    uint64_t eaten;  /* pages that are still to be left out */
    uint64_t lowest; /* page so far */
};

/* A line of mdb_reader_list(): process, thread, and the commit it stands on. */
static int
note_reader(const char *line, void *context)
{
    struct census *census = context;
    char *end;
    uint64_t commit;

    (void)strtoull(line, &end, 10);
    (void)strtoull(end, &end, 16);
    commit = strtoull(end, NULL, 10);
    census->engine->has_reader |= commit > 0;
    if (commit > 0 && commit < census->oldest)
        census->oldest = commit;
    return 0;
}

/* A record of the free list: how many pages, then their numbers, falling. */
static void
count_record(struct census *census, const MDB_val *key, const MDB_val *value)
{
    lbx__engine *engine = census->engine;
    const uint8_t *numbers = value->mv_data;
    size_t freed_by, count, eaten;

    memcpy(&freed_by, key->mv_data, sizeof(freed_by));
    memcpy(&count, numbers, sizeof(count));
    if (count > value->mv_size / sizeof(size_t) - 1)
        return;
    if (freed_by >= census->oldest) {
        engine->freed_pages += count;
        return;
    }
    engine->free_pages += count;
    if (engine->free_records++ >= engine->free_looked || !census->map)
        return;
    // The lowest are at the end.
    eaten = census->eaten < count ? census->eaten : count;
    census->eaten -= eaten;
    count -= eaten;
    for (size_t i = 1; i <= count; i++) {
        size_t page;

        memcpy(&page, numbers + i * sizeof(page), sizeof(page));
        if (page / 8 < census->map_bytes)
            census->map[page / 8] |= (uint8_t)(1U << page % 8);
        if (i == count && page < census->lowest) {
            census->lowest = page;
            engine->free_places++;
        }
    }
}

static void
note_length(lbx__engine *engine, uint64_t length)
{
    if (length < LBX__LENGTH_MOST) {
        engine->free_lengths[length]++;
    } else {
        engine->free_long++;
        engine->free_long_pages += length;
    }
}

static void
measure(const struct census *census)
{
    uint64_t length = 0;

    for (size_t i = 0; i < census->map_bytes; i++) {
        const uint8_t byte = census->map[i];

        if (byte == 0 && length == 0)
            continue;
        for (int bit = 0; bit < 8; bit++) {
            if (byte >> bit & 1) {
                length++;
            } else if (length > 0) {
                note_length(census->engine, length);
                length = 0;
            }
        }
    }
    if (length > 0)
        note_length(census->engine, length);
}

/* `look`: at how many records for pages in a row; `eaten`: how many pages are
 * taken one by one. */
static void
count_free(lbx__engine *engine, uint64_t look, uint64_t eaten)
{
    struct census census = {.engine = engine,
                            .map_bytes = engine->used_pages / 8 + 1,
                            .oldest = lbx__engine_last(engine),
                            .eaten = eaten,
                            .lowest = UINT64_MAX};
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;

    engine->free_counted = true;
    engine->free_looked = look;
    engine->free_eaten = eaten;
    engine->free_pages = engine->freed_pages = engine->free_records = 0;
    engine->free_places = engine->free_long = engine->free_long_pages = 0;
    memset(engine->free_lengths, 0, sizeof(engine->free_lengths));
    engine->has_reader = false;
    // Who was killed reading would hold the pages it read for ever.
    (void)mdb_reader_check(engine->env, NULL);
    (void)mdb_reader_list(engine->env, note_reader, &census);
    if (look > 0)
        census.map = lbx__zalloc(engine->allocator, census.map_bytes);
    if (mdb_txn_begin(engine->env, NULL, MDB_RDONLY, &txn) == 0) {
        if (mdb_cursor_open(txn, 0, &cursor) == 0) {
            while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 &&
                   key.mv_size == sizeof(size_t) &&
                   value.mv_size >= sizeof(size_t))
                count_record(&census, &key, &value);
            mdb_cursor_close(cursor);
        }
        mdb_txn_abort(txn);
    }
    if (census.map)
        measure(&census);
    lbx__free(engine->allocator, census.map, census.map_bytes);
}

void
lbx__census(lbx__engine *engine, uint64_t look, uint64_t eaten)
{
    if (engine->free_counted && (look == 0 || engine->free_eaten >= eaten) &&
        (engine->free_looked == look ||
         (engine->free_records <= look &&
          engine->free_records <= engine->free_looked)))
        return;
    count_free(engine, look, eaten + eaten / 2); // not again for each row
}

uint64_t
lbx__census_runs(const lbx__engine *engine, uint64_t run)
{
    uint64_t runs = 0;

    for (uint64_t i = run; i < LBX__LENGTH_MOST; i++)
        runs += engine->free_lengths[i] * (i / run);
    if (engine->free_long_pages > engine->free_long * (run - 1))
        runs += (engine->free_long_pages - engine->free_long * (run - 1)) / run;
    return runs;
}
