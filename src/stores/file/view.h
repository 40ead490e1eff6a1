/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: all rows of a store as they were at one moment, without LMDB's help.
 *
 * It is data.mdb by its trees (tree.h), and over it the rows that the journal has
 * of this generation: what a recovery would make. Rows are given with the answer
 * to whether their sum is right; pages that cannot be read are told to `bad`.
 *
 * Order. A walk gives the rows of a table in no order one may rely on: those of
 * the tree, without what the journal has changed, then the journal's.
 *
 * I1  A view writes nothing, and holds no lock. Who makes one sees to it that the
 *     pages of its transaction stay: check.c, salvage.c.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_VIEW_H
#define LBX_STORES_FILE_VIEW_H

#include "post/rules/row.h"
#include "stores/file/engine.h"
#include "stores/file/overlay.h"
#include "stores/file/tree.h"

typedef void lbx__view_bad(void *context, lbx__table table,
                           const lbx__bad_page *page);

enum {
    LBX__OWN = LBX__TABLES /* the storage's own table, behind the rules' */
};

typedef struct lbx__view {
    const lbx__io *io;
    int folder;
    int fd; /* data.mdb */
    lbx__pages pages;
    lbx__tree tables[LBX__TABLES + 1];
    bool has_table[LBX__TABLES + 1];
    lbx__page_set met;      /* pages, by walks */
    lbx__page_set doubtful; /* pages that have rows whose sum is wrong */
    lbx__page_set unused;   /* pages, by the free tree */
    bool knows_unused;      /* the free tree is sound */
    lbx__overlay overlay;
    size_t over_at[LBX__TABLES + 1]; /* of the walks */
    struct {
        uint8_t *bytes;
        size_t room;
    } far[LBX__TABLES + 1];         /* values of the overlay's, from the file */
    bool is_whole[LBX__TABLES + 1]; /* the first walk met all its pages, rows */

    lbx__own own;
    lbx_status own_status; /* OK; NOT_FOUND; CORRUPT; NEWER */

    lbx__view_bad *bad;
    void *context;
    struct lbx__view_table {
        struct lbx__view *view;
        lbx__table table;
    } contexts[LBX__TABLES + 1];
} lbx__view;

typedef struct lbx__view_row {
    lbx__bytes key;
    lbx__bytes value; /* without its sum */
    uint32_t sum;
    bool is_good; /* the sum is right, and the key of this table's size */
} lbx__view_row;

/* Opens data.mdb in a folder and reads the meta pages; answers as
 * lbx__pages_open(), and goes as far as that. */
lbx_status lbx__view_open(lbx__view *view, const lbx__io *io, int folder,
                          const char **ret_why);

/* Who is told of pages that cannot be read: NULL, nobody. */
void lbx__view_listen(lbx__view *view, lbx__view_bad *bad, void *context);

/* Finds the pages that may be used again, and the tables. `bad` is told of pages of the main tree with LBX__OWN; who
 * wants to know which tables are missing looks at has_table. OK; NO_MEMORY. */
lbx_status lbx__view_find_tables(lbx__view *view);

/* Reads what everything else hangs on: the tables' list, their first pages, and
 * the pages that may be used again. OK; CORRUPT, and why; NO_MEMORY. */
lbx_status lbx__view_skim(lbx__view *view, const char **ret_why);

/* Takes a zeroed one, too. */
void lbx__view_close(lbx__view *view);

/* The next row of a table; after NOT_FOUND the next walk begins. OK; NOT_FOUND;
 * NO_MEMORY. */
lbx_status lbx__view_next(lbx__view *view, lbx__table table,
                          lbx__view_row *ret);

/* The value of a key, without its sum: OK; NOT_FOUND; CORRUPT; NO_MEMORY. Good
 * until the next of the same table. */
lbx_status lbx__view_get(lbx__view *view, lbx__table table, const lbx__key *key,
                         lbx__bytes *ret);

/* Whether pages that may be used again are in use, after all walks. */
bool lbx__view_overlaps(const lbx__view *view);

#endif
