/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of data.mdb, walked over its damage.
 *
 * A walk gives every row of every page that makes sense, and tells of each page
 * that does not with the keys that it should have had; then it goes on behind it.
 *
 * P1  Nothing is followed that is not of the kind its level must be, and no more
 *     pages than there are, so that a walk comes to its end whatever is in the
 *     file.
 * P2  A page that was met twice, or that no row of which lies where its parent
 *     says, is damage, and its rows are not given.
 *
 * Rows come as they stand in their page: a key that was damaged may be out of
 * order. Their sums tell, which are the rows' own affair.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_TREE_H
#define LBX_STORES_FILE_TREE_H

#include "stores/file/pages.h"

/* A page that cannot be read, and the keys that are lost with it: from `first`
 * on, before `end`. A size of 0 is no limit. */
typedef struct lbx__bad_page {
    uint64_t number;
    lbx__bytes first, end;
} lbx__bad_page;

/* What has been seen of a file: one bit each for a page. */
typedef struct lbx__page_set {
    uint8_t *bits;
    uint64_t count;
} lbx__page_set;

bool lbx__page_set_init(lbx__page_set *set, uint64_t count);
void lbx__page_set_fini(lbx__page_set *set);
bool lbx__page_set_has(const lbx__page_set *set, uint64_t page);
/* False when it was there. */
bool lbx__page_set_add(lbx__page_set *set, uint64_t page);

/* Where one is in a tree. */
typedef struct lbx__path {
    struct {
        uint64_t page; /* that is in `bytes`; 0: none */
        size_t at, count;
        uint8_t *bytes;
    } levels[LBX__TREE_DEEPEST];
    uint8_t *value; /* a far one */
    size_t value_room;
} lbx__path;

typedef struct lbx__tree {
    const lbx__pages *pages;
    lbx__root root;
    lbx__root counted;  /* by the walk: all but depth and page */
    bool by_number;     /* keys are numbers of the machine's: the free tree */
    lbx__page_set *met; /* of all trees; NULL: not asked */
    void (*bad)(void *context, const lbx__bad_page *page);
    void *context;

    lbx__path walk, find;
    size_t level;     /* of the walk */
    uint64_t entered; /* pages, by this walk */
    bool ended;
} lbx__tree;

typedef struct lbx__tree_row {
    lbx__bytes key, value;
    bool is_table;
    bool is_lost;    /* its value is in a page that cannot be read */
    uint64_t page;   /* that it is in, without a far value's */
    uint64_t offset; /* of the value in the file */
} lbx__tree_row;

/* `met`, `bad` and `context` may be set after this, before the first row. */
void lbx__tree_init(lbx__tree *tree, const lbx__pages *pages,
                    const lbx__root *root);
void lbx__tree_fini(lbx__tree *tree);

/* The next row, at first the first: OK; NOT_FOUND: that was all; NO_MEMORY.
 * Pointers are good until the next call. */
lbx_status lbx__tree_next(lbx__tree *tree, lbx__tree_row *ret);

/* Begins the walk again; what it met is not asked any more. */
void lbx__tree_again(lbx__tree *tree);

/* The value of a key: OK; NOT_FOUND; CORRUPT: where it would be is damaged;
 * NO_MEMORY. Does not disturb a walk. */
lbx_status lbx__tree_get(lbx__tree *tree, lbx__bytes key, lbx__bytes *ret);

/* Whether the walk, which is over, has met as many as the root says. */
bool lbx__tree_is_whole(const lbx__tree *tree);

/* The order of keys. */
int lbx__bytes_compare(lbx__bytes a, lbx__bytes b);

#endif
