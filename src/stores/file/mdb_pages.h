/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.mdb without LMDB: its pages, read and checked one by one.
 *
 * LMDB trusts its file. A page that is damaged can make it read outside its map
 * or stop the process, and a bit in a page's head can hide rows without an
 * error. So code that must find out whether a file is sound reads it here: with
 * pread(), into memory of its own, and every number is checked against its
 * limits before it is used.
 *
 * The layout is that of LMDB 0.9 (data version 1) on 64 bits, in the order of
 * the machine's bytes:
 *
 *   page    number 8  pad 2  flags 2  lower 2  upper 2  offsets of nodes 2 each
 *           an overflow page has its count of pages, 4, instead of the last two
 *   node    low 2  high 2  flags 2  key bytes 2  key  data
 *           leaf: low and high are the data's bytes; branch: with the flags,
 *           the child's number; flag 1: the data are the number of an overflow
 *           page
 *   tree    pad 4  flags 2  depth 2  branch, leaf, overflow pages, rows, root 8
 *   meta    page head  magic 4  version 4  address 8  map bytes 8  free tree
 *           main tree  last page 8  transaction 8
 *
 * A table is a row of the main tree; the free tree lists pages that may be used
 * again. The meta page of transaction n is page n % 2, so that the other one is
 * of n - 1: a number that is not so has been damaged, and what LMDB would show
 * is an older state, or nothing.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_MDB_PAGES_H
#define LBX_STORES_FILE_MDB_PAGES_H

#include "post/rules/storage.h"
#include "stores/file/io.h"

enum {
    LBX__MDB_PAGE_HEAD = 16,
    LBX__MDB_PAGE_MAX = 65536,
    LBX__MDB_TREE_MAX_DEPTH = 16
};

/* A tree, as its row or the meta page has it. */
typedef struct lbx__mdb_root {
    uint16_t depth;
    uint64_t branches, leaves, overflows; /* pages */
    uint64_t rows;
    uint64_t page; /* UINT64_MAX: it is empty */
} lbx__mdb_root;

typedef struct lbx__mdb_pages {
    const lbx__io *io;
    int fd;
    uint64_t file_bytes;
    uint64_t map_bytes; /* that the file may have */
    size_t page_bytes;
    uint64_t count; /* pages in use, the two meta pages included */
    uint64_t there; /* of them, that the file is long enough for */
    uint64_t transaction;
    lbx__mdb_root unused; /* pages: may be used again */
    lbx__mdb_root main;
} lbx__mdb_pages;

/* Reads the meta pages. OK; NOT_FOUND: there is nothing in it; NEWER; CORRUPT,
 * and `ret_why` names it; any I/O failure. After CORRUPT `count` is 0 unless
 * one of the two can be used. */
lbx_status lbx__mdb_pages_open(lbx__mdb_pages *pages, const lbx__io *io, int fd,
                               const char **ret_why);

typedef enum lbx__mdb_page_kind {
    LBX__MDB_BRANCH = 1,
    LBX__MDB_LEAF = 2,
    LBX__MDB_OVERFLOW = 4,
} lbx__mdb_page_kind;

/* Reads a page, and checks that it is of that kind and that all its nodes lie
 * inside: OK; CORRUPT, also when it cannot be read. */
lbx_status lbx__mdb_pages_read(const lbx__mdb_pages *pages, uint64_t number,
                               lbx__mdb_page_kind kind, uint8_t *to);

/* A node of a page that was read. */
typedef struct lbx__mdb_node {
    lbx__bytes key;
    uint64_t child; /* branch */
    bool is_table;  /* leaf: the data are those of a tree */
    bool is_far;    /* leaf: the data are in an overflow page, `child` */
    size_t size;    /* leaf: of the data */
    const uint8_t *data;
} lbx__mdb_node;

size_t lbx__mdb_pages_nodes(const uint8_t *page);
lbx__mdb_node lbx__mdb_pages_node(const uint8_t *page, lbx__mdb_page_kind kind,
                                  size_t i);

/* How many pages a far value takes. */
uint64_t lbx__mdb_pages_span(const lbx__mdb_pages *pages, size_t size);

/* Reads a far value: OK; CORRUPT. */
lbx_status lbx__mdb_pages_read_far(const lbx__mdb_pages *pages, uint64_t number,
                                   void *to, size_t size);

/* A tree's row: false when it makes no sense. */
bool lbx__mdb_pages_unpack_root(const lbx__mdb_pages *pages,
                                const uint8_t *from, lbx__mdb_root *ret);

enum {
    LBX__MDB_ROOT_BYTES = 48
};

/* A set of pages of a file: one bit for each page. */
typedef struct lbx__mdb_page_set {
    uint8_t *bits;
    uint64_t count;
} lbx__mdb_page_set;

bool lbx__mdb_pages_set_init(lbx__mdb_page_set *set, uint64_t count);
void lbx__mdb_pages_set_fini(lbx__mdb_page_set *set);
bool lbx__mdb_pages_set_has(const lbx__mdb_page_set *set, uint64_t page);
/* False when it was there. */
bool lbx__mdb_pages_set_add(lbx__mdb_page_set *set, uint64_t page);

#endif
