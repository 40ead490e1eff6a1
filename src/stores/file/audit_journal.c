/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal over a view.
 *
 * Which records count is what the storage's own row says (J3). When that row is
 * lost, a salvage asks the heads: each group writes the heads of its boxes, and a
 * head's change number only grows. Records whose heads are not ahead of those in
 * data.mdb have been checkpointed.
 */
#include "stores/file/audit.h"

#include "post/rules/internal.h"
#include "stores/file/journal.h"

struct reading {
    lbx__view *view;
    lbx__teller *teller;
    bool older; /* a head was not ahead */
    bool heads; /* there were some */
};

/* An end of 0: there is none. */
static void
tell_journal(lbx__teller *teller, uint64_t from, uint64_t end)
{
    const lbx_damage part = {
        .what = end > 0 ? "journal" : LBX__NO_JOURNAL,
        .offset_bytes = from,
        .size_bytes = end > from ? end - from : 0,
    };

    teller->report.damaged++;
    lbx__tell(teller, &part);
}

static void
tell_bad(void *context, uint64_t from, uint64_t end)
{
    const struct reading *reading = context;

    tell_journal(reading->teller, from, end);
}

static void
compare_heads(struct reading *reading, lbx__bytes key, const lbx__bytes *value)
{
    lbx__box_record new, old;
    lbx__bytes content;
    lbx__tree *tree = &reading->view->tables[LBX__BOX_RECORDS];

    if (!value ||
        lbx__row_check(LBX__BOX_RECORDS, key, *value, &content) != LBX_OK ||
        lbx__box_record_decode(content, &new) != LBX_OK)
        return;
    reading->heads = true;
    if (reading->view->has_table[LBX__BOX_RECORDS] &&
        lbx__tree_get(tree, key, &content) == LBX_OK &&
        lbx__row_check(LBX__BOX_RECORDS, key, content, &content) == LBX_OK &&
        lbx__box_record_decode(content, &old) == LBX_OK &&
        old.change >= new.change)
        reading->older = true;
}

static lbx_status
take_row(void *context, lbx__table table, lbx__bytes key,
         const lbx__bytes *value)
{
    struct reading *reading = context;

    if (table == LBX__BOX_RECORDS)
        compare_heads(reading, key, value);
    return lbx__overlay_add(&reading->view->overlay, table, key, value);
}

static lbx_status
read_strictly(const lbx__journal *journal, struct reading *reading,
              const lbx__presence_peek *peek)
{
    const uint64_t generation = reading->view->own.generation;
    lbx__teller *teller = reading->teller;
    lbx__journal_end_state state;
    lbx_status status;

    if (lbx__journal_first_generation(journal) > generation) {
        const lbx_damage part = {.what = "meta page"};

        lbx__tell(teller, &part); // data.mdb shows an older state
        return LBX_CORRUPT;
    }
    status = lbx__journal_read(journal, generation, take_row, reading, &state);
    // Killed, not cut off from power: what was handed over is there.
    if (status == LBX_OK && peek->generation == generation &&
        state.records < peek->last_record) {
        state.bad_upto = state.end + state.torn_bytes;
        status = LBX_CORRUPT;
    }
    if (status == LBX_CORRUPT)
        tell_journal(teller, state.end, state.bad_upto);
    teller->report.journal_records = state.records;
    teller->report.torn_bytes = status == LBX_OK ? state.torn_bytes : 0;
    return status;
}

/* Whether the journal has records that count, and of which generation. */
static bool
find_generation(const lbx__journal *journal, const lbx__view *view,
                uint64_t *ret)
{
    const uint64_t first = lbx__journal_first_generation(journal);
    const bool known = view->own_status == LBX_OK;

    *ret = view->own.generation;
    if (known && first <= *ret)
        return !view->own.idle;
    // The row is lost, or of an earlier time: a meta page went back.
    *ret = first;
    return first > 0;
}

static lbx_status
read_leniently(const lbx__journal *journal, struct reading *reading)
{
    lbx__journal_end_state state;
    uint64_t generation;
    lbx_status status;

    if (!find_generation(journal, reading->view, &generation))
        return LBX_OK;
    status = lbx__journal_salvage(journal, generation, take_row, tell_bad,
                                  reading, &state);
    if (status == LBX_OK && reading->view->own_status != LBX_OK &&
        (reading->older || !reading->heads)) {
        lbx__overlay_clear(&reading->view->overlay);
        state.records = 0;
    }
    reading->teller->report.journal_records = state.records;
    reading->teller->report.torn_bytes = state.torn_bytes;
    return status;
}

/* Whose journal it must be: OK; NOT_FOUND: there need be none; CORRUPT. */
static lbx_status
find_uid(const lbx__view *view, bool lenient, uint8_t uid[16])
{
    if (view->own_status == LBX_OK) {
        memcpy(uid, view->own.uid, 16);
        return view->own.has_journal ? LBX_OK : LBX_NOT_FOUND;
    }
    // Who reads the tables tells that the row is lost.
    return lenient ? lbx__journal_uid(view->io, view->folder, uid)
                   : LBX_NOT_FOUND;
}

lbx_status
lbx__audit_journal(lbx__view *view, const lbx__presence_peek *peek,
                   bool lenient, lbx__teller *teller)
{
    struct reading reading = {.view = view, .teller = teller};
    uint8_t uid[16];
    lbx__journal journal;
    uint64_t front = LBX__JOURNAL_FRONT;
    lbx_status status = find_uid(view, lenient, uid);

    if (status == LBX_NOT_FOUND)
        return LBX_OK;
    if (status == LBX_OK) {
        status = lbx__journal_open(&journal, view->io, view->folder, uid, NULL);
        if (status == LBX_NOT_FOUND) {
            status = LBX_CORRUPT;
            front = 0;
        }
    }
    if (status == LBX_CORRUPT) {
        tell_journal(teller, 0, front);
        if (!lenient)
            return status;
        status = lbx__journal_open_damaged(&journal, view->io, view->folder,
                                           uid, NULL);
        if (status == LBX_NOT_FOUND)
            return LBX_OK;
    }
    if (status != LBX_OK)
        return status;
    if (view->own_status == LBX_OK && !view->own.idle &&
        journal.bytes < view->own.journal_bytes)
        tell_journal(teller, journal.bytes, view->own.journal_bytes);
    if (lenient)
        status = read_leniently(&journal, &reading);
    else if (!view->own.idle)
        status = read_strictly(&journal, &reading, peek);
    lbx__journal_close(&journal);
    return status;
}
