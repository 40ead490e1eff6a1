/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free space in the map and on the disk for what is to be written (ENG-2).
 *
 * As long as the file can be made larger, nothing is counted. When it
 * cannot, the pages that the open transaction may take are counted: those
 * beyond the last in use, and those inside that were freed before the commit
 * that it stands on and that no reader can see (free_pages.c).
 *
 * Threads    the engine's.
 */
#include "stores/file/free_space.h"

#include "stores/file/free_pages.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEADROOM_BYTES = 8 << 20,
    HEADROOM_PART = 16,    /* of a small map */
    HEADROOM_COPIES = 4,   /* of a small file; see space_limit_headroom() */
    SLACK_BYTES = 1 << 20, /* allocated beyond what is needed, to call less */
    SLACK_PART = 4,        /* often; of a small file a part of it */
    USUAL_BYTES = 4 << 20, /* a batch is expected to need, at least; */
    USUAL_PART = 16,       /* of the map at most this part */
    LEASE_BYTES = 256,     /* rows of a letter that is leased */
    PATH_PAGES = 4,        /* that a row may copy */
    RUNS_SPARE = 2,        /* with use there are fewer pages in a row */
    ROWS_SOME = 16,        /* worth a commit, when it may help */
    ROWS_LARGE = 64,       /* of a transaction that may need pages itself */
    RECORDS_READ = 60      /* by LMDB, for each page of a run */
};

static uint64_t
space_larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
space_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Pages of large values, as the transaction shows them. */
static uint64_t
space_count_outside(const lbx__engine *engine)
{
    MDB_stat stat;

    return engine->txn && mdb_stat(engine->txn, engine->tables[LBX__BODIES],
                                   &stat) == 0
               ? stat.ms_overflow_pages
               : 0;
}

/* Pages of all trees, without the values outside of them. */
static uint64_t
space_count_tree(const lbx__engine *engine)
{
    uint64_t pages = 0;
    MDB_stat stat;

    for (int i = 0; i <= LBX__TABLES; i++) {
        const MDB_dbi table =
            i < LBX__TABLES ? engine->tables[i] : engine->header;

        if (mdb_stat(engine->txn, table, &stat) == 0)
            pages += stat.ms_branch_pages + stat.ms_leaf_pages + 1;
    }
    return pages;
}

void
lbx__free_space_refresh(lbx__engine *engine)
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
    engine->removed = false;
    engine->outside = space_count_outside(engine);
    engine->tree_max = engine->txn ? space_count_tree(engine) : 0;
    engine->reserved = (lbx__page_demand){0};
    engine->tight = false;
    engine->free_counted = false;
    // Other processes make it larger, never smaller.
    if (engine->allocated_bytes < engine->used_pages * engine->page_bytes &&
        fstat(engine->fd, &found) == 0)
        engine->allocated_bytes = (uint64_t)found.st_size;
}

/* ---- What is needed ---- */

/* For the letters that have never been leased, when they are. */
static uint64_t
space_count_leases(const lbx__engine *engine)
{
    MDB_stat bodies, states;

    if (mdb_stat(engine->txn, engine->tables[LBX__BODIES], &bodies) != 0 ||
        mdb_stat(engine->txn, engine->tables[LBX__STATES], &states) != 0 ||
        bodies.ms_entries < states.ms_entries)
        return 0;
    return (bodies.ms_entries - states.ms_entries) * LEASE_BYTES /
           engine->page_bytes;
}

static lbx__page_demand
demand_sum(lbx__page_demand a, lbx__page_demand b)
{
    lbx__page_demand both = {.pages = a.pages + b.pages,
                             .singles = a.singles + b.singles,
                             .runs = a.runs + b.runs,
                             .run = a.run > b.run ? a.run : b.run,
                             .run_min = a.run_min};

    if (b.runs > 0 && (a.runs == 0 || b.run_min < a.run_min))
        both.run_min = b.run_min;
    return both;
}

static lbx__page_demand
demand_of_singles(uint64_t pages)
{
    return (lbx__page_demand){.pages = pages, .singles = pages};
}

static lbx__page_demand
demand_of_run(uint64_t pages)
{
    return (lbx__page_demand){
        .pages = pages, .runs = 1, .run = pages, .run_min = pages};
}

static lbx__page_demand
demand_of_rows(const lbx__engine *engine, const lbx__row_size *sizes,
               size_t count)
{
    const uint64_t page = engine->page_bytes;
    lbx__page_demand demand = {0};
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t row = sizes[i].key + (uint64_t)sizes[i].value + 64;
        const uint64_t pages = (sizes[i].value + 16 + page - 1) / page;

        // Half a page is the most that LMDB has inside a tree.
        if (row <= page / 2) {
            bytes += row;
            continue;
        }
        bytes += sizes[i].key + 64;
        demand = demand_sum(demand, pages > 1 ? demand_of_run(pages)
                                              : demand_of_singles(1));
    }
    // Pages are left half empty when they are split.
    return demand_sum(demand, demand_of_singles(2 * bytes / page + 1));
}

/* Makes the file so large, if the disk has free space. */
static bool
space_allocate(lbx__engine *engine, uint64_t pages)
{
    uint64_t bytes = pages * engine->page_bytes;
    const uint64_t limit = engine->map_pages * engine->page_bytes;
    int result;

    if (bytes <= engine->allocated_bytes)
        return true;
    bytes += space_smaller(bytes / SLACK_PART, SLACK_BYTES);
    bytes = space_smaller(bytes, limit);
    result = engine->io->fallocate(engine->io, engine->fd, bytes);
    // A file system that cannot allocate in advance is trusted to have it.
    engine->disk_full = result < 0 && result != -EOPNOTSUPP;
    if (!engine->disk_full)
        engine->allocated_bytes = bytes;
    return !engine->disk_full;
}

/* Whether the runs can be had among `tail` pages at the end and those that are
 * free; `singles` pages are taken one by one. */
static bool
space_has_runs(const lbx__engine *engine, lbx__page_demand demand,
               uint64_t tail, uint64_t singles)
{
    const uint64_t breaks =
        engine->free_breaks < demand.runs ? engine->free_breaks : demand.runs;
    const uint64_t broken = singles / demand.run + 1 + breaks;
    uint64_t inside = lbx__free_pages_runs(engine, demand.run);

    inside = inside > broken ? inside - broken : 0;
    if (singles > engine->free_pages)
        tail -= singles - engine->free_pages; // the caller has compared
    return demand.runs <= inside + tail / demand.run;
}

/* Pages beyond the last in use that are there. */
static uint64_t
space_count_tail(const lbx__engine *engine)
{
    uint64_t limit = engine->allocated_bytes / engine->page_bytes;

    limit = limit < engine->map_pages ? limit : engine->map_pages;
    return limit > engine->used_pages ? limit - engine->used_pages : 0;
}

/* The most headroom, for so many pages with contents: enough to copy each three
 * times, and to lease the letters; but not more than 8 MiB. So a store with few
 * letters is a small file. */
static uint64_t
space_limit_headroom(const lbx__engine *engine, uint64_t pages)
{
    return space_smaller(HEADROOM_COPIES * pages + 16,
                         HEADROOM_BYTES / engine->page_bytes);
}

/* The headroom of ENG-2. Pages that are free do not count: otherwise a small
 * file whose letters are gone would set aside more than it has. */
static uint64_t
space_count_headroom(const lbx__engine *engine, uint64_t tree)
{
    const uint64_t contents = tree + space_count_outside(engine);
    // The list of free pages is a tree too.
    const uint64_t copies = 3 * tree + engine->used_pages / 128 + 16;

    return space_larger(
        space_smaller(copies, HEADROOM_BYTES / engine->page_bytes),
        space_smaller(engine->map_pages / HEADROOM_PART,
                      space_limit_headroom(engine, contents)));
}

/* How the transaction can take this, with `rows` more. */
typedef enum space_verdict {
    SPACE_FITS,
    SPACE_FITS_HEADROOM, /* spending what was set aside */
    SPACE_FITS_NOWHERE,
} space_verdict;

static space_verdict
space_try(lbx__engine *engine, lbx__page_demand demand, uint64_t rows)
{
    const uint64_t tree =
        space_larger(space_count_tree(engine), engine->tree_max);
    const uint64_t tail = space_count_tail(engine);
    uint64_t copied = (engine->rows + rows) * PATH_PAGES;
    uint64_t need, left;

    engine->tree_max = tree; // pages that were copied may be free again
    demand = demand_sum(demand, engine->reserved);
    copied = copied < tree ? copied : tree;
    lbx__free_pages_count(engine, demand.run_min * RECORDS_READ,
                          copied + demand.singles);
    left = engine->free_pages + tail;
    if (left < demand.pages + copied)
        return SPACE_FITS_NOWHERE;
    need = demand.pages + copied + space_count_headroom(engine, tree) +
           space_count_leases(engine) + RUNS_SPARE * demand.run;
    // Commits take pages too, which a reader would keep from coming back.
    engine->tight |= left < 2 * need && !engine->has_reader;
    if (left < need ||
        (demand.runs > 0 &&
         !space_has_runs(engine, demand, tail, copied + demand.singles)))
        return SPACE_FITS_HEADROOM;
    return SPACE_FITS;
}

/* How many pages the file would have at the most, with headroom. */
static uint64_t
space_reach(const lbx__engine *engine, lbx__page_demand demand, uint64_t rows)
{
    uint64_t copied = (engine->rows + rows) * PATH_PAGES;
    uint64_t reaches;

    copied = copied < engine->used_pages ? copied : engine->used_pages;
    reaches =
        engine->used_pages + demand.pages + engine->reserved.pages + copied;
    reaches += space_limit_headroom(engine, reaches);
    if (reaches > engine->map_pages / 2)
        reaches += space_count_leases(engine);
    return reaches;
}

/* When there is plenty, nothing is counted. */
static bool
space_is_plenty(lbx__engine *engine, lbx__page_demand demand, uint64_t rows)
{
    const uint64_t reaches = space_reach(engine, demand, rows);

    return space_allocate(engine, reaches < engine->map_pages
                                      ? reaches
                                      : engine->map_pages) &&
           reaches <= engine->map_pages;
}

lbx_status
lbx__free_space_reserve(lbx__engine *engine, const lbx__row_size *sizes,
                        size_t count, lbx__growth growth)
{
    const lbx__page_demand demand = demand_of_rows(engine, sizes, count);

    if (growth == LBX__GROWS)
        engine->batch = demand_sum(engine->batch, demand);
    if (!space_is_plenty(engine, demand, count) &&
        space_try(engine, demand, count) >
            (growth == LBX__GROWS ? SPACE_FITS : SPACE_FITS_HEADROOM))
        return LBX_NO_SPACE;
    engine->reserved = demand_sum(engine->reserved, demand);
    return LBX_OK;
}

void
lbx__free_space_start_batch(lbx__engine *engine)
{
    lbx__page_demand *usual = &engine->usual;

    // The largest demand decays slowly, by batches that have one.
    if (engine->batch.pages > 0) {
        usual->pages -= usual->pages / 8;
        usual->singles -= usual->singles / 8;
        usual->runs -= usual->runs / 8;
        usual->run -= usual->run / 8;
    }
    usual->pages = space_larger(engine->batch.pages, usual->pages);
    usual->singles = space_larger(engine->batch.singles, usual->singles);
    usual->runs = space_larger(engine->batch.runs, usual->runs);
    usual->run = space_larger(engine->batch.run, usual->run);
    usual->run_min = usual->run;
    engine->batch = (lbx__page_demand){0};
}

/* Pages of large values that the open transaction has freed, about. */
static uint64_t
space_count_freed(const lbx__engine *engine)
{
    const uint64_t before =
        engine->outside + engine->reserved.pages - engine->reserved.singles;
    const uint64_t now = space_count_outside(engine);

    return before > now ? before - now : 0;
}

bool
lbx__free_space_wants_commit(lbx__engine *engine)
{
    const uint64_t page = engine->page_bytes;
    uint64_t least = engine->map_pages / USUAL_PART + 1, freed, reaches;
    lbx__page_demand any;

    least = least < USUAL_BYTES / page ? least : USUAL_BYTES / page;
    any = demand_of_run(least);
    if (engine->has_reader)
        engine->free_counted = false; // it may have ended
    // While the file can still grow: a large transaction could not be committed
    // afterwards.
    if (engine->rows > 0)
        (void)space_is_plenty(engine, engine->usual, ROWS_LARGE);
    reaches = space_reach(engine, demand_sum(engine->usual, any), ROWS_LARGE);
    if (reaches <= engine->map_pages &&
        (!engine->disk_full || reaches * page <= engine->allocated_bytes))
        return false;
    if (space_try(engine, engine->usual, ROWS_LARGE) != SPACE_FITS) {
        freed = engine->removed || engine->reserved.runs > 0;
        least = 1;
    } else if (space_try(engine, any, ROWS_LARGE) != SPACE_FITS) {
        freed = space_count_freed(engine);
    } else {
        return false;
    }
    if (engine->has_reader)
        return false; // it would keep freed pages
    if (lbx__engine_last(engine) != engine->empty_commit)
        freed += engine->freed_pages;
    return freed >= least || engine->rows >= ROWS_SOME;
}
