/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room on the disk and in the map for what is to come (K3).
 *
 * As long as the file can be made larger, there is nothing to think about. When
 * it cannot, the pages are counted that the open transaction may take: those
 * beyond the last in use, and those inside that were freed before the commit it
 * stands on and that no reader can see.
 */
#include "stores/file/room.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
    HEADROOM_BYTES = 8 << 20,
    HEADROOM_PART = 16,    /* of a small map */
    SLACK_BYTES = 1 << 20, /* asked for beyond what is needed, to ask less */
    USUAL_BYTES = 4 << 20, /* that a group is thought to want, at the least; */
    USUAL_PART = 16,       /* of the map at most this part */
    LEASE_BYTES = 256,     /* rows of a letter that is leased */
    PATH_PAGES = 4,        /* that a row may copy */
    RUNS_SPARE = 2,        /* with use there are fewer pages in a row */
    ROWS_SOME = 16,        /* worth a commit, when it may help */
    ROWS_LARGE = 64,       /* a transaction that may be in the way itself */
    RECORDS_READ = 60      /* by LMDB, for each page of a run */
};

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Pages of large values, as the transaction shows them. */
static uint64_t
count_outside(const lbx__engine *engine)
{
    MDB_stat stat;

    return engine->txn && mdb_stat(engine->txn, engine->tables[LBX__BODIES],
                                   &stat) == 0
               ? stat.ms_overflow_pages
               : 0;
}

/* Pages of all trees, without the values outside of them. */
static uint64_t
count_tree(const lbx__engine *engine)
{
    uint64_t pages = 0;
    MDB_stat stat;

    for (int i = 0; i <= LBX__TABLES; i++) {
        const MDB_dbi table = i < LBX__TABLES ? engine->tables[i] : engine->own;

        if (mdb_stat(engine->txn, table, &stat) == 0)
            pages += stat.ms_branch_pages + stat.ms_leaf_pages + 1;
    }
    return pages;
}

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
    engine->removed = false;
    engine->outside = count_outside(engine);
    engine->tree_most = engine->txn ? count_tree(engine) : 0;
    engine->reserved = (lbx__want){0};
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
count_leases(const lbx__engine *engine)
{
    MDB_stat bodies, states;

    if (mdb_stat(engine->txn, engine->tables[LBX__BODIES], &bodies) != 0 ||
        mdb_stat(engine->txn, engine->tables[LBX__STATES], &states) != 0 ||
        bodies.ms_entries < states.ms_entries)
        return 0;
    return (bodies.ms_entries - states.ms_entries) * LEASE_BYTES /
           engine->page_bytes;
}

static lbx__want
sum(lbx__want a, lbx__want b)
{
    lbx__want both = {.pages = a.pages + b.pages,
                      .singles = a.singles + b.singles,
                      .runs = a.runs + b.runs,
                      .run = a.run > b.run ? a.run : b.run,
                      .run_least = a.run_least};

    if (b.runs > 0 && (a.runs == 0 || b.run_least < a.run_least))
        both.run_least = b.run_least;
    return both;
}

static lbx__want
singles_of(uint64_t pages)
{
    return (lbx__want){.pages = pages, .singles = pages};
}

static lbx__want
run_of(uint64_t pages)
{
    return (lbx__want){
        .pages = pages, .runs = 1, .run = pages, .run_least = pages};
}

static lbx__want
want_of(const lbx__engine *engine, const lbx__row_size *sizes, size_t count)
{
    const uint64_t page = engine->page_bytes;
    lbx__want want = {0};
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
        want = sum(want, pages > 1 ? run_of(pages) : singles_of(1));
    }
    // Pages are left half empty when they are split.
    return sum(want, singles_of(2 * bytes / page + 1));
}

/* Makes the file so large, if there is room on the disk. */
static bool
allocate(lbx__engine *engine, uint64_t pages)
{
    uint64_t bytes = pages * engine->page_bytes;
    const uint64_t most = engine->map_pages * engine->page_bytes;
    int result;

    if (bytes <= engine->allocated_bytes)
        return true;
    bytes = bytes + SLACK_BYTES < most ? bytes + SLACK_BYTES : most;
    result = engine->io->fallocate(engine->io, engine->fd, bytes);
    // A file system that cannot set room aside must be trusted to have it.
    engine->disk_full = result < 0 && result != -EOPNOTSUPP;
    if (!engine->disk_full)
        engine->allocated_bytes = bytes;
    return !engine->disk_full;
}

/* Whether the runs can be had among `tail` pages at the end and those that are
 * free; `singles` pages are taken one by one. */
static bool
has_runs(const lbx__engine *engine, lbx__want want, uint64_t tail,
         uint64_t singles)
{
    const uint64_t places =
        engine->free_places < want.runs ? engine->free_places : want.runs;
    const uint64_t broken = singles / want.run + 1 + places;
    uint64_t inside = lbx__census_runs(engine, want.run);

    inside = inside > broken ? inside - broken : 0;
    if (singles > engine->free_pages)
        tail -= singles - engine->free_pages; // the caller has compared
    return want.runs <= inside + tail / want.run;
}

/* Pages beyond the last in use that are there. */
static uint64_t
count_tail(const lbx__engine *engine)
{
    uint64_t most = engine->allocated_bytes / engine->page_bytes;

    most = most < engine->map_pages ? most : engine->map_pages;
    return most > engine->used_pages ? most - engine->used_pages : 0;
}

/* What is set aside (K3). */
static uint64_t
count_headroom(const lbx__engine *engine, uint64_t tree)
{
    const uint64_t most = HEADROOM_BYTES / engine->page_bytes;
    uint64_t pages = engine->map_pages / HEADROOM_PART;

    // The list of free pages is a tree too.
    tree = 3 * tree + engine->used_pages / 128 + 16;
    pages = pages > tree ? pages : tree;
    return pages < most ? pages : most;
}

/* How the transaction can take this, with `rows` more. */
typedef enum verdict {
    FITS,
    FITS_HEADROOM, /* spending what was set aside */
    FITS_NOWHERE,
} verdict;

static verdict
try_fit(lbx__engine *engine, lbx__want want, uint64_t rows)
{
    const uint64_t tree = larger(count_tree(engine), engine->tree_most);
    const uint64_t tail = count_tail(engine);
    uint64_t copied = (engine->rows + rows) * PATH_PAGES;
    uint64_t need, left;

    engine->tree_most = tree; // pages that were copied may be free again
    want = sum(want, engine->reserved);
    copied = copied < tree ? copied : tree;
    lbx__census(engine, want.run_least * RECORDS_READ, copied + want.singles);
    left = engine->free_pages + tail;
    if (left < want.pages + copied)
        return FITS_NOWHERE;
    need = want.pages + copied + count_headroom(engine, tree) +
           count_leases(engine) + RUNS_SPARE * want.run;
    // Commits take pages too, which a reader would keep from coming back.
    engine->tight |= left < 2 * need && !engine->has_reader;
    if (left < need ||
        (want.runs > 0 && !has_runs(engine, want, tail, copied + want.singles)))
        return FITS_HEADROOM;
    return FITS;
}

/* How many pages the file would have at the most. */
static uint64_t
reach(const lbx__engine *engine, lbx__want want, uint64_t rows)
{
    uint64_t copied = (engine->rows + rows) * PATH_PAGES;
    uint64_t reaches;

    copied = copied < engine->used_pages ? copied : engine->used_pages;
    reaches = engine->used_pages + want.pages + engine->reserved.pages +
              copied + HEADROOM_BYTES / engine->page_bytes;
    if (reaches > engine->map_pages / 2)
        reaches += count_leases(engine);
    return reaches;
}

/* When there is plenty, nothing is counted. */
static bool
is_plenty(lbx__engine *engine, lbx__want want, uint64_t rows)
{
    const uint64_t reaches = reach(engine, want, rows);

    return allocate(engine, reaches < engine->map_pages ? reaches
                                                        : engine->map_pages) &&
           reaches <= engine->map_pages;
}

lbx_status
lbx__engine_reserve(lbx__engine *engine, const lbx__row_size *sizes,
                    size_t count, lbx__growth growth)
{
    const lbx__want want = want_of(engine, sizes, count);

    if (growth == LBX__GROWS)
        engine->group = sum(engine->group, want);
    if (!is_plenty(engine, want, count) &&
        try_fit(engine, want, count) >
            (growth == LBX__GROWS ? FITS : FITS_HEADROOM))
        return LBX_NO_SPACE;
    engine->reserved = sum(engine->reserved, want);
    return LBX_OK;
}

void
lbx__engine_start_group(lbx__engine *engine)
{
    lbx__want *usual = &engine->usual;

    // What was wanted at most is forgotten slowly, by groups that want some.
    if (engine->group.pages > 0) {
        usual->pages -= usual->pages / 8;
        usual->singles -= usual->singles / 8;
        usual->runs -= usual->runs / 8;
        usual->run -= usual->run / 8;
    }
    usual->pages = larger(engine->group.pages, usual->pages);
    usual->singles = larger(engine->group.singles, usual->singles);
    usual->runs = larger(engine->group.runs, usual->runs);
    usual->run = larger(engine->group.run, usual->run);
    usual->run_least = usual->run;
    engine->group = (lbx__want){0};
}

/* Pages of large values that the open transaction has freed, about. */
static uint64_t
count_freed(const lbx__engine *engine)
{
    const uint64_t before =
        engine->outside + engine->reserved.pages - engine->reserved.singles;
    const uint64_t now = count_outside(engine);

    return before > now ? before - now : 0;
}

bool
lbx__engine_wants_commit(lbx__engine *engine)
{
    const uint64_t page = engine->page_bytes;
    uint64_t least = engine->map_pages / USUAL_PART + 1, freed, reaches;
    lbx__want any;

    least = least < USUAL_BYTES / page ? least : USUAL_BYTES / page;
    any = run_of(least);
    if (engine->has_reader)
        engine->free_counted = false; // it may have ended
    // So that the transaction is committed before it is in the way.
    if (engine->rows > 0)
        (void)is_plenty(engine, engine->usual, ROWS_LARGE);
    reaches = reach(engine, sum(engine->usual, any), ROWS_LARGE);
    if (reaches <= engine->map_pages &&
        (!engine->disk_full || reaches * page <= engine->allocated_bytes))
        return false;
    if (try_fit(engine, engine->usual, ROWS_LARGE) != FITS) {
        freed = engine->removed || engine->reserved.runs > 0;
        least = 1;
    } else if (try_fit(engine, any, ROWS_LARGE) != FITS) {
        freed = count_freed(engine);
    } else {
        return false;
    }
    if (engine->has_reader)
        return false; // it would keep what is freed
    if (lbx__engine_last(engine) != engine->empty_commit)
        freed += engine->freed_pages;
    return freed >= least || engine->rows >= ROWS_SOME;
}
