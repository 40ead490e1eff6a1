/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An audit of the rows of all boxes, by scanning them: what heads say must be
 * what is there (BOXREC-1), and each letter must have the rows of its state,
 * and no others (LETREC-1, GROUP-4, FAIR-1 to FAIR-3).
 */
#include "rules_subject.h"

#include "post/rules/internal.h"

#include <stdio.h>
#include <string.h>

struct scan {
    uint64_t letters, leased, delayed, bytes, sum;
    uint64_t stored, waits, ready, lines, tenant_letters, tenant_leased;
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
    if (lbx__letter_record_has_tenant(box, letter)) {
        scan->tenant_letters++;
        scan->tenant_leased += state->kind == LBX__IS_LEASED;
        scan->lines += state->kind == LBX__IS_READY;
        if (!state->stored)
            return LBX_CORRUPT;
    } else
        scan->lines += letter->body.gid != 0;
    if (state->stored) {
        const lbx__key due =
            lbx__key_3(box->row_id, (uint64_t)state->due, state->ticket);
        const bool is_ready = state->kind == LBX__IS_READY;
        const bool plain = !box->facts->options.fifo && letter->body.gid == 0;
        lbx__bytes value;

        scan->stored++;
        scan->sum += lbx__row_hash(LBX__STATES, &key, state->sum);
        scan->waits += !is_ready;
        scan->ready += is_ready && plain;
        if ((!is_ready || plain) &&
            (lbx__row_get(rules->storage, is_ready ? LBX__READY : LBX__WAITS,
                          &due, &value) != LBX_OK ||
             lbx__get_le64(value.data) != letter->sequence))
            return LBX_CORRUPT;
    } else if (!box->facts->options.fifo &&
               (letter->sequence < box->fresh ||
                (box->stated != 0 && letter->sequence >= box->stated)))
        return LBX_CORRUPT;
    return LBX_OK;
}

/* FAIR-1, FAIR-3. */
static const char *
audit_tenants(lbx__storage *storage, const lbx__box_record *box,
              const struct scan *scan)
{
    uint64_t letters = 0, leased = 0, queued = 0, tenants = 0;
    lbx__key from = lbx__key_2(box->row_id, 0);
    lbx__bytes at, value;

    while (lbx__row_seek(storage, LBX__GIDS, &from, 8, &at, &value) == LBX_OK) {
        const uint64_t gid = lbx__key_number(at, 1);
        const lbx__key line = lbx__key_3(box->row_id, gid, 0);
        lbx__tenant tenant;

        if (lbx__fair_decode(gid, value, &tenant) != LBX_OK)
            return "a tenant does not check";
        tenants++;
        queued += tenant.queued.ticket != 0;
        queued += lbx__fair_noise_end(&tenant).ticket != 0;
        letters += tenant.letters;
        leased += tenant.leased;
        if ((tenant.queued.ticket != 0) !=
            (lbx__row_seek(storage, LBX__LINES, &line, 16, &at, &value) ==
             LBX_OK))
            return "a tenant is not queued as it should be";
        from = lbx__key_2(box->row_id, gid + 1);
    }
    if (tenants != box->tenants ||
        tenants != count_rows(storage, LBX__GROUPS, box->row_id) ||
        queued != count_rows(storage, LBX__GROUP_DUE, box->row_id))
        return "tenants have not the rows they should";
    return letters == scan->tenant_letters && leased == scan->tenant_leased
               ? NULL
               : "tenants do not count their letters";
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
    if (!box->facts->options.fifo)
        return audit_tenants(storage, box, &scan);
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
