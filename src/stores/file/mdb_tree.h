/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of data.mdb, walked over its damage.
 *
 * A walk returns every row of every sane page, reports each page that is not,
 * with the keys that it should have had, and continues behind it.
 *
 * MTREE-1  Only pages of the kind that their level must have are followed, and
 *          no more pages than there are, so that a walk ends whatever the file
 *          has.
 * MTREE-2  A page that was met twice, or has no row inside the bounds of its
 *          parents, is damage, and its rows are not returned.
 *
 * Rows come in the order of their page: a damaged key may be out of order. Sums
 * are checked by the caller.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_MDB_TREE_H
#define LBX_STORES_FILE_MDB_TREE_H

#include "stores/file/mdb_pages.h"

/* A page that cannot be read, and the keys that are lost with it: from `first`
 * on, before `end`. A size of 0 is no limit. */
typedef struct lbx__mdb_bad_page {
    uint64_t number;
    lbx__bytes first, end;
} lbx__mdb_bad_page;

/* A position in a tree. */
typedef struct lbx__mdb_path {
    struct {
        uint64_t page; /* that is in `bytes`; 0: none */
        size_t at, count;
        uint8_t *bytes;
    } levels[LBX__MDB_TREE_MAX_DEPTH];
    uint8_t *value; /* a far one */
    size_t value_size;
} lbx__mdb_path;

typedef struct lbx__mdb_tree {
    const lbx__mdb_pages *pages;
    lbx__mdb_root root;
    lbx__mdb_root counted; /* by the walk: all but depth and page */
    bool by_number; /* keys are numbers of the machine's: the free tree */
    lbx__mdb_page_set *met; /* of all trees; NULL: not noted */
    void (*bad)(void *context, const lbx__mdb_bad_page *page);
    void *context;

    lbx__mdb_path walk, find;
    size_t level;     /* of the walk */
    uint64_t entered; /* pages, by this walk */
    bool ended;
} lbx__mdb_tree;

typedef struct lbx__mdb_tree_row {
    lbx__bytes key, value;
    bool is_table;
    bool is_lost;    /* its value is in a page that cannot be read */
    uint64_t page;   /* that it is in, without a far value's */
    uint64_t offset; /* of the value in the file */
} lbx__mdb_tree_row;

/* `met`, `bad` and `context` may be set after this, before the first row. */
void lbx__mdb_tree_init(lbx__mdb_tree *tree, const lbx__mdb_pages *pages,
                        const lbx__mdb_root *root);
void lbx__mdb_tree_fini(lbx__mdb_tree *tree);

/* The next row, at first the first: OK; NOT_FOUND: that was all; NO_MEMORY.
 * Pointers are good until the next call. */
lbx_status lbx__mdb_tree_next(lbx__mdb_tree *tree, lbx__mdb_tree_row *ret);

/* Begins the walk again; the pages that it meets are not noted any more. */
void lbx__mdb_tree_rewind(lbx__mdb_tree *tree);

/* The value of a key: OK; NOT_FOUND; CORRUPT: where it would be is damaged;
 * NO_MEMORY. Does not disturb a walk. */
lbx_status lbx__mdb_tree_get(lbx__mdb_tree *tree, lbx__bytes key,
                             lbx__bytes *ret);

/* Whether the walk, which is over, has met as many as the root has. */
bool lbx__mdb_tree_is_whole(const lbx__mdb_tree *tree);

#endif
