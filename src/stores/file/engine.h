/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LMDB under the file store: an environment, a table each, one transaction.
 *
 * K2  Nothing is ever written unsynced: every commit that changed something has
 *     flushed its pages before the meta page that names them, and that too.
 * K3  Beyond the last page in use there are 8 MiB of allocated room, or as many
 *     free pages inside (of a small map a sixteenth, if that is enough to copy
 *     every page of every tree three times), room for the rows of a letter that is leased for each that
 *     has never been, and room for what the open transaction may take; otherwise
 *     what makes the store grow is refused. What shrinks it, or moves letters
 *     on, spends that room: to delete takes pages too, and pages that are freed
 *     can be used again two commits later, or when no reader sees them any more.
 *     It is refused only when LMDB would fail.
 *
 * What the open transaction takes is estimated from above: its rows may each
 * have copied a path of pages, but not more pages than the trees have. A value
 * that does not fit a page takes pages in a row (a run), so that free pages
 * elsewhere are no help.
 *
 * Threads    the one that opened it.
 */
#ifndef LBX_STORES_FILE_ENGINE_H
#define LBX_STORES_FILE_ENGINE_H

#include "post/rules/storage.h"
#include "stores/file/io.h"

#include <lmdb.h>

/* What the storage knows of itself: one row of a table that rules do not see. */
typedef struct lbx__own {
    uint8_t uid[16];
    uint64_t generation;    /* of the journal */
    bool has_journal;       /* it has been made */
    uint64_t journal_bytes; /* so large it is, unless idle; 0: not known */
    bool idle;              /* no record of this generation was ever written */
    lbx_durability level;   /* of who owns the journal, unless idle */
    uint32_t era;           /* grows when answered changes may have been lost */
    uint8_t boot[16];       /* the boot that the offset is for */
    int64_t offset_ns;      /* store time - time since boot */
    int64_t time_ns;        /* store time, when this was written, */
    int64_t wall_ns;        /* and wall time */
} lbx__own;

enum {
    LBX__LENGTH_MOST = 1024 /* pages in a row that are told apart */
};

/* What rows take beside the pages that they copy. */
typedef struct lbx__want {
    uint64_t pages;     /* in all */
    uint64_t singles;   /* of them, taken one by one */
    uint64_t runs;      /* values that take several pages in a row, */
    uint64_t run;       /* how many the largest takes, */
    uint64_t run_least; /* and the smallest; 0: there is none */
} lbx__want;

typedef struct lbx__engine {
    const lbx__io *io;
    const lbx_allocator *allocator;
    MDB_env *env;
    MDB_txn *txn;
    int fd; /* data.mdb, for its size */
    MDB_dbi tables[LBX__TABLES];
    MDB_dbi own;
    MDB_cursor *cursors[LBX__TABLES]; /* of the transaction; made when used */

    uint64_t page_bytes;
    uint64_t map_pages;
    uint64_t used_pages;      /* at the last commit */
    uint64_t allocated_bytes; /* of the file */
    bool disk_full;           /* it could not be made larger */
    bool tight;               /* room is scarce: commit soon */
    uint64_t rows;            /* written by the transaction */
    bool removed;             /* some were taken out by it */
    uint64_t outside;         /* pages of large values when it began, */
    uint64_t tree_most;       /* and of trees, at the most since then */
    lbx__want reserved;       /* for rows of the transaction, */
    lbx__want group;          /* of the group, */
    lbx__want usual;          /* of groups before */

    /* Pages inside that can be used again; counted when it is tight. */
    bool free_counted;
    uint64_t free_pages;   /* by the open transaction */
    uint64_t free_records; /* of LMDB's list of them; so many were looked at */
    uint64_t free_looked;  /* for pages in a row: */
    uint64_t free_eaten;   /* but for those taken one by one, so many; */
    uint64_t free_places;  /* where they begin, */
    uint32_t free_lengths[LBX__LENGTH_MOST]; /* how often so many, */
    uint64_t free_long; /* how often more, and of how many pages */
    uint64_t free_long_pages;
    uint64_t freed_pages;  /* by later ones, */
    bool has_reader;       /* once those have ended that read now */
    uint64_t empty_commit; /* the last that only made pages usable */
} lbx__engine;

/* Opens data.mdb and lock.mdb in a folder. `map_bytes` is for a new one. */
lbx_status lbx__engine_open(lbx__engine *engine, const lbx__io *io, int folder,
                            uint64_t map_bytes);

/* Drops a transaction. Takes a zeroed one. */
void lbx__engine_close(lbx__engine *engine);

/* Makes the tables of a new store, in the open transaction. */
lbx_status lbx__engine_create(lbx__engine *engine);

/* Which table has this name in LMDB: one of lbx__table, LBX__TABLES for the
 * storage's own, -1. */
int lbx__engine_table(lbx__bytes name);

/* Opens the tables, and forgets readers that were killed. NOT_FOUND: a new store;
 * CORRUPT: some are missing. */
lbx_status lbx__engine_tables(lbx__engine *engine);

/* Begins a transaction, when there is none; waits for other processes'. */
lbx_status lbx__engine_begin(lbx__engine *engine);

/* Ends it, durably (K2), and tells its number; after a failure nothing of it is
 * there, unless the failure was the last flush. */
lbx_status lbx__engine_commit(lbx__engine *engine, uint64_t *ret_last);

/* Drops it. */
void lbx__engine_abort(lbx__engine *engine);

/* The number of the last commit. */
uint64_t lbx__engine_last(const lbx__engine *engine);

/* Inside a transaction; the entries of storage.h. put and remove answer an error
 * of LMDB's. */
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

/* K3: OK; NO_SPACE. */
lbx_status lbx__engine_reserve(lbx__engine *engine, const lbx__row_size *sizes,
                               size_t count, lbx__growth growth);

/* A group begins, in the open transaction. */
void lbx__engine_start_group(lbx__engine *engine);

/* Whether a group like those before might be refused now, and not if the
 * transaction were committed and another begun. */
bool lbx__engine_wants_commit(lbx__engine *engine);

/* The storage's own row: in the transaction, or in a short one of its own.
 * NOT_FOUND; CORRUPT; NEWER. */
lbx_status lbx__own_read(lbx__engine *engine, lbx__own *ret);
lbx_status lbx__own_write(lbx__engine *engine, const lbx__own *own);

/* Its value, from wherever: OK; CORRUPT; NEWER. */
lbx_status lbx__own_unpack(lbx__bytes value, lbx__own *ret);

#endif
