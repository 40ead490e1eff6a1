/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered index of rows in memory: a skip list.
 *
 * A row is one block: its key, its value, and its links, of which each row has
 * one and every fourth one more. It is made before it is put in (row_create),
 * so that putting in cannot fail. Putting a row behind the last one, and taking
 * out the first, cost the same whatever the size; anything else O(log n), by a
 * generator whose seed is not known outside.
 *
 * Considered: a tree of pages, which misses the cache less when rows in the
 * middle of millions are looked for, but must allocate while it splits. Letters
 * are nearly always found at one of the two ends.
 *
 * INDEX-1  On each level rows are linked in the order of their keys, each key
 *          once; a row on a level is on all levels below.
 * INDEX-2  last[l] is the last row on level l, or NULL: the head.
 * INDEX-3  count is the number of rows, bytes the sum of their blocks.
 * INDEX-4  fingers[b] is NULL or a row of the index whose key is of bucket b.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_MEMORY_INDEX_H
#define LBX_STORES_MEMORY_INDEX_H

#include "post/rules/storage.h"

enum {
    LBX__INDEX_LEVELS = 16, /* 4^16 rows */
    LBX__INDEX_FINGERS = 16
};

typedef struct lbx__index_row {
    uint32_t value_size;
    uint32_t value_max; /* a value that shrinks leaves some */
    uint16_t key_size;
    uint16_t levels;
    uint32_t slack; /* unused bytes at its end */
    struct lbx__index_row
        *next[]; /* `levels` of them; then the key, then the value */
} lbx__index_row;

typedef struct lbx__index {
    const lbx_allocator *allocator;
    uint64_t random;
    uint64_t count;
    uint64_t bytes;
    uint32_t levels; /* in use */
    lbx__index_row *first[LBX__INDEX_LEVELS];
    lbx__index_row *last[LBX__INDEX_LEVELS]; /* NULL: the head */
    lbx__index_row
        *fingers[LBX__INDEX_FINGERS]; /* where it was read last, by box */
} lbx__index;

/* Where a key is, or would be: what comes before it on the levels in use, and
 * the first row that does not. Good until the index changes. */
typedef struct lbx__index_spot {
    lbx__index_row *before[LBX__INDEX_LEVELS];
    lbx__index_row *at;
    bool found; /* `at` has the key */
} lbx__index_spot;

void lbx__index_init(lbx__index *index, const lbx_allocator *allocator,
                     uint64_t seed);

/* Frees all rows. */
void lbx__index_fini(lbx__index *index);

/* A row that is in no index, for a key and value of these sizes; NULL when
 * there is no memory. Its bytes are written by lbx__index_insert(). */
lbx__index_row *lbx__index_row_create(lbx__index *index, size_t key_size,
                                      size_t value_size);
void lbx__index_row_destroy(lbx__index *index, lbx__index_row *row);

/* Its block. */
size_t lbx__index_row_bytes(const lbx__index_row *row);

/* Makes a row that is in no index one for another key and value, as if created;
 * false, and unchanged, when its block is too small, or over twice as large. */
bool lbx__index_row_remake(lbx__index *index, lbx__index_row *row,
                           size_t key_size, size_t value_size);

/* How many bytes a key and value find in it. */
bool lbx__index_row_fits(const lbx__index_row *row, size_t key_size,
                         size_t value_size);

lbx__bytes lbx__index_row_key(const lbx__index_row *row);
lbx__bytes lbx__index_row_value(const lbx__index_row *row);

/* Writes a value of at most value_max bytes, in parts. */
void lbx__index_row_write(lbx__index_row *row, const lbx__bytes *parts,
                          size_t count);

/* The first row whose key is not before `key`; NULL when there is none. The
 * next one is next[0]. */
lbx__index_row *lbx__index_seek(lbx__index *index, lbx__bytes key);

/* The row of this key; NULL. */
lbx__index_row *lbx__index_find(lbx__index *index, lbx__bytes key);

/* Puts a row in, with this key, which the index does not have. */
void lbx__index_insert(lbx__index *index, lbx__index_row *row, lbx__bytes key);

/* Takes the row of this key out: the caller's; NULL when there is none. */
lbx__index_row *lbx__index_remove(lbx__index *index, lbx__bytes key);

/* The same where the key has been located: true when it is there. */
bool lbx__index_locate(const lbx__index *index, lbx__bytes key,
                       lbx__index_spot *ret);
void lbx__index_insert_at(lbx__index *index, lbx__index_row *row,
                          lbx__bytes key, lbx__index_spot *spot);
lbx__index_row *lbx__index_remove_at(lbx__index *index,
                                     const lbx__index_spot *spot);

/* INDEX-1 to INDEX-3, for tests. */
bool lbx__index_valid(const lbx__index *index);

#endif
