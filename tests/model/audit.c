/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An audit of the rows of all boxes, by scanning them: what heads say must be
 * what is there (BOXREC-1), and each letter must have the rows of its state,
 * and no others (LETREC-1, GROUP-4).
 */
#include "rules_subject.h"

#include "post/rules/internal.h"

#include <stdio.h>
#include <string.h>

struct scan {
    uint64_t letters, leased, delayed, bytes, sum;
    uint64_t stored, waits, ready, lines;
};

/* Counts the rows of a table under a row id. */
static uint64_t
count_rows(lbx__storage *storage, lbx__table table, uint64_t box)
{
    lbx__key from = lbx__key_1(box);
    lbx__bytes at, value;
    uint64_t count = 0;

    while (lbx__storage_seek(storage, table, lbx__key_bytes(&from), &at,
                             &value) == LBX_OK &&
           lbx__key_number(at, 0) == box) {
        count++;
        memcpy(from.bytes, at.data, at.size);
        from.size = (uint32_t)at.size;
        from.bytes[from.size++] = 0;
    }
    return count;
}

static lbx_status
scan_letter(lbx__rules *rules, const lbx__box_record *box,
            lbx__letter_record *letter, struct scan *scan)
{
    const lbx__key key = lbx__key_2(box->row_id, letter->sequence);
    const lbx__state *state = &letter->state;

    scan->letters++;
    scan->bytes += letter->body.counted_bytes;
    scan->leased += state->kind == LBX__IS_LEASED;
    scan->delayed += state->kind == LBX__IS_DELAYED;
    scan->sum += lbx__row_hash(LBX__BODIES, &key, letter->body_sum);
    scan->lines += letter->body.gid != 0;
    if (state->stored) {
        const lbx__key due =
            lbx__key_3(box->row_id, (uint64_t)state->due, state->ticket);
        const bool is_ready = state->kind == LBX__IS_READY;
        lbx__bytes value;

        scan->stored++;
        scan->sum += lbx__row_hash(LBX__STATES, &key, state->sum);
        scan->waits += !is_ready;
        scan->ready += is_ready && !box->facts->options.fifo;
        if ((!is_ready || !box->facts->options.fifo) &&
            (lbx__row_get(rules->storage, is_ready ? LBX__READY : LBX__WAITS,
                          &due, &value) != LBX_OK ||
             lbx__get_le64(value.data) != letter->sequence))
            return LBX_CORRUPT;
    } else if (!box->facts->options.fifo && letter->sequence < box->fresh)
        return LBX_CORRUPT;
    return LBX_OK;
}

static const char *
audit_box(lbx__rules *rules, const lbx__box_record *box, char *buffer,
          size_t bytes)
{
    lbx__storage *storage = rules->storage;
    struct scan scan = {0};
    lbx__letter_record letter;
    uint64_t from = 0;
    lbx_status status;

    while ((status = lbx__letter_record_seek(rules, box, from, &letter)) ==
           LBX_OK) {
        from = letter.sequence + 1;
        if (scan_letter(rules, box, &letter, &scan) != LBX_OK) {
            snprintf(buffer, bytes, "letter %d has not the rows it should",
                     (int)letter.sequence);
            return buffer;
        }
    }
    if (status != LBX_NOT_FOUND)
        return "a row does not check";
    if (scan.letters != box->letters || scan.leased != box->leased ||
        scan.delayed != box->delayed || scan.bytes != box->bytes)
        return "counts are not what a scan counts";
    if (scan.sum != box->sum)
        return "the sum of row hashes is another";
    if (scan.stored != count_rows(storage, LBX__STATES, box->row_id) ||
        scan.waits != count_rows(storage, LBX__WAITS, box->row_id) ||
        scan.ready != count_rows(storage, LBX__READY, box->row_id) ||
        scan.lines != count_rows(storage, LBX__LINES, box->row_id))
        return "there are rows of letters that are gone";
    if (count_rows(storage, LBX__GROUPS, box->row_id) !=
            count_rows(storage, LBX__GIDS, box->row_id) ||
        count_rows(storage, LBX__GROUPS, box->row_id) !=
            count_rows(storage, LBX__GROUP_DUE, box->row_id) ||
        (scan.lines == 0 && count_rows(storage, LBX__GIDS, box->row_id) > 0))
        return "groups have not one row in each table";
    return NULL;
}

const char *
rules_audit(lbx__storage *storage, char *buffer, size_t bytes)
{
    static lbx__rules rules; // for its caches and scratch alone
    lbx__key from = lbx__key_1(0);
    lbx__bytes at, value;
    const char *wrong = NULL;

    rules.storage = storage;
    memset(rules.facts, 0, sizeof(rules.facts));
    rules.kept_any = 0;
    while (!wrong && lbx__row_seek(storage, LBX__BOX_RECORDS, &from, 0, &at,
                                   &value) == LBX_OK) {
        const uint64_t uid = lbx__key_number(at, 0);
        lbx__box_record *box;

        rules.open_count = 0;
        if (lbx__box_record_open(&rules, (lbx_box){uid}, &box) != LBX_OK)
            return "a box does not check";
        wrong = audit_box(&rules, box, buffer, bytes);
        from = lbx__key_1(uid + 1);
    }
    return wrong;
}
