/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LMDB under the file store: an environment, a table each, one transaction.
 *
 * ENG-1  Nothing is ever written unsynced: every commit that changed something
 *        has flushed its pages before the meta page that names them, and then
 *        that page.
 * ENG-2  What makes the store grow is refused unless there are, beyond the last
 *        page in use or free inside: 8 MiB of headroom (of a small map a
 *        sixteenth, if that is enough to copy every page of every tree three
 *        times; with few contents, four times their pages), the rows of a lease
 *        for each letter that was never leased, and what the open transaction
 *        may take. What shrinks the store, or moves letters on, may spend the
 *        headroom: a deletion takes pages too, and pages that are freed can be
 *        used two commits later, or when no reader sees them any more. It is
 *        refused only when LMDB would fail.
 *
 * What the open transaction takes is estimated from above: each of its rows may
 * have copied a path of pages, but not more pages than the trees have. A value
 * that does not fit a page takes pages in a row (a run); free pages elsewhere
 * do not help it. free_space.c and free_pages.c do the counting.
 *
 * Threads    the one that opened it.
 */
#ifndef LBX_STORES_FILE_ENGINE_H
#define LBX_STORES_FILE_ENGINE_H

#include "post/rules/storage.h"
#include "stores/file/io.h"

#include <lmdb.h>

#define LBX__MAP_MIN (UINT64_C(16) << 20) /* map_bytes */

enum {
    LBX__RUN_LENGTH_MAX = 1024 /* runs up to here are counted by length */
};

/* The pages that rows take beside those that they copy. */
typedef struct lbx__page_demand {
    uint64_t pages;   /* in all */
    uint64_t singles; /* of them, taken one by one */
    uint64_t runs;    /* values that take several pages in a row, */
    uint64_t run;     /* how many the largest takes, */
    uint64_t run_min; /* and the smallest; 0: there is none */
} lbx__page_demand;

typedef struct lbx__engine {
    const lbx__io *io;
    const lbx_allocator *allocator;
    MDB_env *env;
    MDB_txn *txn;
    int fd; /* data.mdb, for its size */
    MDB_dbi tables[LBX__TABLES];
    MDB_dbi header;
    MDB_cursor *cursors[LBX__TABLES]; /* of the transaction; made when used */

    uint64_t page_bytes;
    uint64_t map_pages;
    uint64_t used_pages;       /* at the last commit */
    uint64_t allocated_bytes;  /* of the file */
    bool disk_full;            /* the file could not be made larger */
    bool tight;                /* free space is scarce: commit soon */
    uint64_t rows;             /* written by the transaction */
    bool removed;              /* it has removed some */
    uint64_t outside;          /* pages of large values when it began, */
    uint64_t tree_max;         /* and the most pages of trees since then */
    lbx__page_demand reserved; /* by the transaction, */
    lbx__page_demand batch;    /* by the batch, */
    lbx__page_demand usual;    /* by batches before it */

    /* Free pages inside the file; counted when it is tight. */
    bool free_counted;
    uint64_t free_pages;    /* that the open transaction may use */
    uint64_t free_records;  /* of LMDB's list; */
    uint64_t free_searched; /* so many were searched for runs, */
    uint64_t free_singles;  /* without so many pages taken one by one; */
    uint64_t free_breaks;   /* so many runs may be broken by singles */
    uint32_t free_lengths[LBX__RUN_LENGTH_MAX]; /* runs of each length, */
    uint64_t free_long; /* longer runs, and their pages */
    uint64_t free_long_pages;
    uint64_t freed_pages;  /* that a later transaction may use, */
    bool has_reader;       /* when the present readers have ended */
    uint64_t empty_commit; /* the last that only made pages usable */
} lbx__engine;

/* Opens data.mdb and lock.mdb in a folder. `map_bytes` is for a new one. */
lbx_status lbx__engine_open(lbx__engine *engine, const lbx__io *io, int folder,
                            uint64_t map_bytes);

/* Closes it, aborting the transaction; accepts a zeroed one. */
void lbx__engine_close(lbx__engine *engine);

/* Makes the tables of a new store, in the open transaction. */
lbx_status lbx__engine_create(lbx__engine *engine);

/* The table of a name in LMDB: one of lbx__table, LBX__TABLES for the store
 * header's, -1. */
int lbx__engine_table(lbx__bytes name);

/* Opens the tables, and removes readers that were killed. NOT_FOUND: a new
 * store; CORRUPT: some are missing. */
lbx_status lbx__engine_tables(lbx__engine *engine);

/* Begins a transaction, when there is none; waits for those of other
 * processes. */
lbx_status lbx__engine_begin(lbx__engine *engine);

/* Commits it, durably (ENG-1), and returns its number; after a failure nothing
 * of it is there, unless the failure was the last flush. */
lbx_status lbx__engine_commit(lbx__engine *engine, uint64_t *ret_last);

/* Aborts it. */
void lbx__engine_abort(lbx__engine *engine);

/* The number of the last commit. */
uint64_t lbx__engine_last(const lbx__engine *engine);

/* Inside a transaction; the entries of storage.h. put and remove return an
 * error of LMDB's. */
lbx_status lbx__engine_get(lbx__engine *engine, lbx__table table,
                           lbx__bytes key, lbx__bytes *ret);
lbx_status lbx__engine_seek(lbx__engine *engine, lbx__table table,
                            lbx__bytes key, lbx__bytes *ret_key,
                            lbx__bytes *ret_value);
lbx_status lbx__engine_put(lbx__engine *engine, lbx__table table,
                           lbx__bytes key, const lbx__bytes *parts,
                           size_t count);
lbx_status lbx__engine_remove(lbx__engine *engine, lbx__table table,
                              lbx__bytes key);

/* The order of keys: bytes, and of two of which one begins with the other the
 * shorter first. */
int lbx__engine_compare(lbx__bytes a, lbx__bytes b);

/* The status that stands for a result of LMDB's. */
lbx_status lbx__engine_status(int result);

#endif
