/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background work: removes the rows of purged and deleted boxes, and advances
 * moves.
 *
 * A row id that a purge or a delete has abandoned has a row in garbage. All
 * rows under it are removed, some at a time; then that row.
 *
 * BGWORK-1  No rule can reach the rows that are removed here: the record that
 *           had their row id is gone or has another, and row ids are not used
 *           again.
 *
 * Threads    one at a time, as the storage.
 */
#include "post/rules/internal.h"

#include <string.h>

/* The tables whose keys begin with a row id. */
static const lbx__table row_id_tables[] = {
    LBX__BODIES, LBX__STATES,    LBX__READY,  LBX__WAITS,
    LBX__LINES,  LBX__GROUP_DUE, LBX__GROUPS, LBX__GIDS,
    LBX__SEEN,   LBX__SEEN_DUE,  LBX__AGE,
};

/* Removes rows of one table under a row id, without checking their sums;
 * `*ret_done` when none is left. */
static lbx_status
background_clear(lbx__rules *rules, lbx__table table, uint64_t row_id,
                 uint32_t *budget, bool *ret_done)
{
    const lbx__key from = lbx__key_1(row_id);
    lbx__bytes at, value;
    lbx_status status;

    *ret_done = false;
    while (*budget > 0) {
        lbx__key key;

        status = lbx__storage_seek(rules->storage, table, lbx__key_bytes(&from),
                                   &at, &value);
        if (status == LBX_NOT_FOUND ||
            (status == LBX_OK &&
             (at.size < 8 || memcmp(at.data, from.bytes, 8) != 0))) {
            *ret_done = true;
            return LBX_OK;
        }
        if (status != LBX_OK)
            return status;
        memcpy(key.bytes, at.data, at.size);
        key.size = (uint32_t)at.size;
        lbx__row_drop(rules->storage, table, &key);
        (*budget)--;
    }
    return LBX_OK;
}

static lbx_status
background_reclaim(lbx__rules *rules, uint32_t *budget)
{
    const lbx__key from = lbx__key_1(0);
    lbx__bytes at, value;
    lbx_status status = LBX_OK;

    while (*budget > 0) {
        bool done = true;
        lbx__key key;

        status =
            lbx__row_seek(rules->storage, LBX__GARBAGE, &from, 0, &at, &value);
        if (status != LBX_OK)
            break;
        key = lbx__key_1(lbx__key_number(at, 0));
        for (size_t i = 0;
             i < sizeof(row_id_tables) / sizeof(row_id_tables[0]) && done; i++)
            status = background_clear(rules, row_id_tables[i],
                                      lbx__get_be64(key.bytes), budget, &done);
        if (status != LBX_OK)
            return status;
        if (done) {
            lbx__row_drop(rules->storage, LBX__GARBAGE, &key);
            (*budget)--; // the loop ends although the row may be damaged
        }
    }
    return status == LBX_NOT_FOUND ? LBX_OK : status;
}

lbx_status
lbx__background_work(lbx__rules *rules, uint32_t budget, int64_t *ret_due_ns)
{
    int64_t due = LBX_FOREVER;
    lbx_status status;

    lbx__rules_start(rules);
    status = background_reclaim(rules, &budget);
    if (status == LBX_OK)
        status = lbx__move_step(rules, &budget, &due);
    if (status == LBX_OK)
        *ret_due_ns = budget == 0 ? rules->now : due;
    return lbx__box_record_close_all(rules, status);
}
