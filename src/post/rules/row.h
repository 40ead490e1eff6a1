/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the rules: a value, and the sum that it carries.
 *
 * A value is little-endian and begins with a CRC-32C of its table, its key and
 * the rest of it. Keys and values are the file format; docs/design/post.md
 * lists them all.
 *
 * ROW-1  A value that get or seek returns has been checked: its sum is right.
 *        In a private storage (storage.h), whose rows never leave this process,
 *        sums are 0 and are not checked.
 * ROW-2  A row of fixed size keeps that size, so that writing it again needs no
 *        reservation (STORAGE-6).
 *
 * Threads    one at a time, as the storage.
 */
#ifndef LBX_POST_RULES_ROW_H
#define LBX_POST_RULES_ROW_H

#include "post/rules/key.h"

enum {
    LBX__SUM_BYTES = 4,
    LBX__ROW_PARTS = 4 /* at most, of a value that is put */
};

/* ---- Values ---- */

/* ROW-1: checks a value and returns it without its sum: OK; CORRUPT. */
lbx_status lbx__row_check(lbx__table table, lbx__bytes key, lbx__bytes value,
                          lbx__bytes *ret);

/* The value of a key, without its sum: OK; NOT_FOUND; CORRUPT; IO.
 * lbx__row_damaged() tells whether CORRUPT means this row or the storage. */
lbx_status lbx__row_get(lbx__storage *storage, lbx__table table,
                        const lbx__key *key, lbx__bytes *ret);

/* The first row at `from` or after it whose key begins with the first `prefix`
 * bytes of `from`. Statuses as above; `*ret_key` is also valid for a damaged
 * row. */
lbx_status lbx__row_seek(lbx__storage *storage, lbx__table table,
                         const lbx__key *from, size_t prefix,
                         lbx__bytes *ret_key, lbx__bytes *ret);

/* True when a get or seek has found a row whose sum is wrong. Rows after it can
 * still be read. */
static inline bool
lbx__row_damaged(lbx_status status, lbx__bytes value)
{
    return status == LBX_CORRUPT && value.data;
}

/* The sum of a value from get or seek: it lies before the value. */
static inline uint32_t
lbx__row_sum(lbx__bytes value)
{
    return lbx__get_le32((const uint8_t *)value.data - LBX__SUM_BYTES);
}

/* Writes a value of at most LBX__ROW_PARTS parts; returns its sum. */
uint32_t lbx__row_put(lbx__storage *storage, lbx__table table,
                      const lbx__key *key, const lbx__bytes *parts,
                      size_t count);

/* A row whose key is all there is. */
void lbx__row_put_empty(lbx__storage *storage, lbx__table table,
                        const lbx__key *key);

/* A row whose value is a number. */
void lbx__row_put_number(lbx__storage *storage, lbx__table table,
                         const lbx__key *key, uint64_t number);

static inline void
lbx__row_drop(lbx__storage *storage, lbx__table table, const lbx__key *key)
{
    lbx__storage_remove(storage, table, lbx__key_bytes(key));
}

/* What a row contributes to the sum of row hashes in its box's record. */
uint64_t lbx__row_hash(lbx__table table, const lbx__key *key, uint32_t sum);

/* ---- What a write needs to reserve ---- */

typedef struct lbx__need {
    lbx__row_size sizes[48];
    size_t count;
} lbx__need;

/* Adds a row; `value` is the size of its value without the sum. */
static inline void
lbx__need_row(lbx__need *need, size_t key, size_t value)
{
    assert(need->count < sizeof(need->sizes) / sizeof(need->sizes[0]));
    need->sizes[need->count++] =
        (lbx__row_size){(uint32_t)key, (uint32_t)(value + LBX__SUM_BYTES)};
}

#endif
