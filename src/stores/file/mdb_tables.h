/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of data.mdb, read without LMDB, at one transaction.
 *
 * LMDB trusts its file, so that opening a store looks at what everything else
 * hangs on before LMDB does: the meta pages, the list of tables, their roots
 * and the list of free pages (lbx__mdb_tables_skim()). A check, a salvage and a
 * copy read all rows from here (repair/view.h).
 *
 * MTAB-1  Nothing is written and no lock is held. The caller makes sure that
 *         the pages of the transaction are not reused meanwhile.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_MDB_TABLES_H
#define LBX_STORES_FILE_MDB_TABLES_H

#include "stores/file/header.h"
#include "stores/file/mdb_tree.h"

enum {
    LBX__HEADER_TABLE = LBX__TABLES, /* the store header's, after the rules' */
    LBX__MDB_TABLES
};

/* Called for each page that cannot be read, with the table that it belongs to;
 * those of the list of tables are of LBX__HEADER_TABLE. */
typedef void lbx__mdb_tables_bad(void *context, lbx__table table,
                                 const lbx__mdb_bad_page *page);

typedef struct lbx__mdb_tables {
    const lbx__io *io;
    int folder;
    int fd; /* data.mdb */
    lbx__mdb_pages pages;
    lbx__mdb_tree trees[LBX__MDB_TABLES];
    bool has[LBX__MDB_TABLES];
    lbx__mdb_page_set met;    /* pages that a walk has met */
    lbx__mdb_page_set unused; /* pages that the list of free pages has */
    bool knows_unused;        /* that list is sound */

    lbx__header header;
    lbx_status header_status; /* OK; NOT_FOUND; CORRUPT; NEWER */

    lbx__mdb_tables_bad *bad;
    void *context;
    struct lbx__mdb_tables_slot {
        struct lbx__mdb_tables *tables;
        lbx__table table;
    } slots[LBX__MDB_TABLES];
} lbx__mdb_tables;

/* Opens data.mdb in a folder and reads its meta pages; returns what
 * lbx__mdb_pages_open() does. Needs a close whatever it returns. */
lbx_status lbx__mdb_tables_open(lbx__mdb_tables *tables, const lbx__io *io,
                                int folder, const char **ret_why);

/* Closes it; accepts a zeroed one. */
void lbx__mdb_tables_close(lbx__mdb_tables *tables);

/* Sets what is called for pages that cannot be read; NULL: nothing. */
void lbx__mdb_tables_listen(lbx__mdb_tables *tables, lbx__mdb_tables_bad *bad,
                            void *context);

/* Finds the free pages, the tables (`has`) and the header. OK; NO_MEMORY. */
lbx_status lbx__mdb_tables_find(lbx__mdb_tables *tables);

/* Finds them, and checks the root page of each and that no page in use is
 * listed as free. OK; CORRUPT, and why; NO_MEMORY. */
lbx_status lbx__mdb_tables_skim(lbx__mdb_tables *tables, const char **ret_why);

/* Whether a page that a walk has met is listed as free; after all walks. */
bool lbx__mdb_tables_overlap(const lbx__mdb_tables *tables);

#endif
