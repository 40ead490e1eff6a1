/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view: all rows of a store as they were at one moment, without LMDB's help.
 *
 * It is data.mdb by its trees (mdb_tables.h), and over them the rows that the
 * journal has of this generation: what a recovery would produce. Each row comes
 * with whether its sum is right; pages that cannot be read are reported to the
 * callback of lbx__mdb_tables_listen().
 *
 * Order. A walk returns the rows of a table in no particular order: first those
 * of the tree that the overlay does not replace, then those of the overlay.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_REPAIR_VIEW_H
#define LBX_STORES_FILE_REPAIR_VIEW_H

#include "post/rules/row.h"
#include "stores/file/mdb_tables.h"
#include "stores/file/repair/overlay.h"

typedef struct lbx__view {
    lbx__mdb_tables tables;
    lbx__mdb_page_set doubtful; /* pages with rows whose sum is wrong */
    lbx__overlay overlay;
    size_t over_at[LBX__MDB_TABLES]; /* of the walks; 0: still in the tree */
    struct {
        uint8_t *bytes;
        size_t size;
    } far[LBX__MDB_TABLES];         /* values of the overlay's, from the file */
    bool is_whole[LBX__MDB_TABLES]; /* the first walk met all pages and rows */
} lbx__view;

typedef struct lbx__view_row {
    lbx__bytes key;
    lbx__bytes value; /* without its sum */
    uint32_t sum;
    bool is_good; /* the sum is right, and the key fits the table */
} lbx__view_row;

/* Opens data.mdb in a folder and reads its meta pages; returns what
 * lbx__mdb_pages_open() does. Needs a close whatever it returns. */
lbx_status lbx__view_open(lbx__view *view, const lbx__io *io, int folder,
                          const char **ret_why);

/* Finds the tables; which are missing is in tables.has. OK; NO_MEMORY. */
lbx_status lbx__view_find_tables(lbx__view *view);

/* Closes it; accepts a zeroed one. */
void lbx__view_close(lbx__view *view);

/* The next row of a table; after NOT_FOUND the next walk begins. OK; NOT_FOUND;
 * NO_MEMORY. */
lbx_status lbx__view_next(lbx__view *view, lbx__table table,
                          lbx__view_row *ret);

/* The value of a key, without its sum: OK; NOT_FOUND; CORRUPT; NO_MEMORY. Valid
 * until the next call for the same table. */
lbx_status lbx__view_get(lbx__view *view, lbx__table table, const lbx__key *key,
                         lbx__bytes *ret);

#endif
