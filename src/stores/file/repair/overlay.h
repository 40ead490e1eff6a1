/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that lie over the trees of data.mdb: those of the journal, and those of
 * pages that no tree leads to.
 *
 * OVER-1  Of a key that was added more than once, the latest counts; a row that
 *         was added by the offset of its value in data.mdb is earlier than all
 *         others.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_REPAIR_OVERLAY_H
#define LBX_STORES_FILE_REPAIR_OVERLAY_H

#include "base/array.h"
#include "post/rules/storage.h"

typedef struct lbx__overlay_row {
    uint64_t order; /* later ones win */
    uint8_t table;
    bool deleted;
    bool is_far; /* the value is in data.mdb, at `offset` */
    uint64_t offset;
    uint32_t key_size;
    uint32_t value_size;
    uint8_t bytes[]; /* key, value */
} lbx__overlay_row;

typedef struct lbx__overlay {
    lbx__array(lbx__overlay_row *) rows; /* sorted by table and key on use */
    uint64_t order;
    bool sorted;
} lbx__overlay;

static inline lbx__bytes
lbx__overlay_row_key(const lbx__overlay_row *over)
{
    return (lbx__bytes){over->bytes, over->key_size};
}

/* A row; a NULL value is a deletion. OK; NO_MEMORY. */
lbx_status lbx__overlay_add(lbx__overlay *overlay, lbx__table table,
                            lbx__bytes key, const lbx__bytes *value);

/* One whose value is in data.mdb. The same. */
lbx_status lbx__overlay_add_far(lbx__overlay *overlay, lbx__table table,
                                lbx__bytes key, uint64_t offset, size_t size);

/* The index of the first row at a key, or behind it. */
size_t lbx__overlay_find(lbx__overlay *overlay, lbx__table table,
                         lbx__bytes key);

/* The row of a key; NULL. */
const lbx__overlay_row *lbx__overlay_get(lbx__overlay *overlay,
                                         lbx__table table, lbx__bytes key);

/* Removes all rows; and frees it. */
void lbx__overlay_clear(lbx__overlay *overlay);
void lbx__overlay_fini(lbx__overlay *overlay);

#endif
