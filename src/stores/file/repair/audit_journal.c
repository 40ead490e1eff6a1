/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal over a view.
 *
 * Which records count is what the storage's own row says (JRNL-3). When that row is
 * lost, a salvage asks the heads: each group writes the heads of its boxes, and a
 * head's change number only grows. Records whose heads are not ahead of those in
 * data.mdb have been checkpointed.
 */
#include "stores/file/repair/audit.h"

#include "post/rules/internal.h"
#include "stores/file/journal.h"

struct reading {
    lbx__view *view;
    lbx__audit_log *log;
    bool older; /* a head was not ahead */
    bool heads; /* there were some */
};

/* An end of 0: there is none. */
static void
tell_journal(lbx__audit_log *log, uint64_t from, uint64_t end)
{
    const lbx_damage part = {
        .what = end > 0 ? "journal" : LBX__NO_JOURNAL,
        .offset_bytes = from,
        .size_bytes = end > from ? end - from : 0,
    };

    log->report.damaged++;
    lbx__audit_report_damage(log, &part);
}

static void
tell_bad(void *context, uint64_t from, uint64_t end)
{
    const struct reading *reading = context;

    tell_journal(reading->log, from, end);
}

static void
compare_heads(struct reading *reading, lbx__bytes key, const lbx__bytes *value)
{
    lbx__box_record new, old;
    lbx__bytes content;
    lbx__mdb_tree *tree = &reading->view->tables.trees[LBX__BOX_RECORDS];

    if (!value ||
        lbx__row_check(LBX__BOX_RECORDS, key, *value, &content) != LBX_OK ||
        lbx__box_record_decode(content, &new) != LBX_OK)
        return;
    reading->heads = true;
    if (reading->view->tables.has[LBX__BOX_RECORDS] &&
        lbx__mdb_tree_get(tree, key, &content) == LBX_OK &&
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
              const lbx__membership_state *peek)
{
    const uint64_t generation = reading->view->tables.header.generation;
    lbx__audit_log *log = reading->log;
    lbx__journal_end_state state;
    lbx_status status;

    if (lbx__journal_read_generation(journal) > generation) {
        const lbx_damage part = {.what = "meta page"};

        lbx__audit_report_damage(log, &part); // data.mdb shows an older state
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
        tell_journal(log, state.end, state.bad_upto);
    log->report.journal_records = state.records;
    log->report.torn_bytes = status == LBX_OK ? state.torn_bytes : 0;
    return status;
}

/* Whether the journal has records that count, and of which generation. */
static bool
find_generation(const lbx__journal *journal, const lbx__view *view,
                uint64_t *ret)
{
    const uint64_t first = lbx__journal_read_generation(journal);
    const bool known = view->tables.header_status == LBX_OK;

    *ret = view->tables.header.generation;
    if (known && first <= *ret)
        return !view->tables.header.idle;
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
    status = lbx__journal_read_damaged(journal, generation, take_row, tell_bad,
                                       reading, &state);
    if (status == LBX_OK && reading->view->tables.header_status != LBX_OK &&
        (reading->older || !reading->heads)) {
        lbx__overlay_clear(&reading->view->overlay);
        state.records = 0;
    }
    reading->log->report.journal_records = state.records;
    reading->log->report.torn_bytes = state.torn_bytes;
    return status;
}

/* Whose journal it must be: OK; NOT_FOUND: there need be none; CORRUPT. */
static lbx_status
find_uid(const lbx__view *view, bool lenient, uint8_t uid[16])
{
    if (view->tables.header_status == LBX_OK) {
        memcpy(uid, view->tables.header.uid, 16);
        return view->tables.header.has_journal ? LBX_OK : LBX_NOT_FOUND;
    }
    // Who reads the tables tells that the row is lost.
    return lenient ? lbx__journal_uid(view->tables.io, view->tables.folder, uid)
                   : LBX_NOT_FOUND;
}

lbx_status
lbx__audit_journal(lbx__view *view, const lbx__membership_state *peek,
                   bool lenient, lbx__audit_log *log)
{
    struct reading reading = {.view = view, .log = log};
    uint8_t uid[16];
    lbx__journal journal;
    uint64_t front = LBX__JOURNAL_FRONT;
    lbx_status status = find_uid(view, lenient, uid);

    if (status == LBX_NOT_FOUND)
        return LBX_OK;
    if (status == LBX_OK) {
        status = lbx__journal_open(&journal, view->tables.io,
                                   view->tables.folder, uid, NULL);
        if (status == LBX_NOT_FOUND) {
            status = LBX_CORRUPT;
            front = 0;
        }
    }
    if (status == LBX_CORRUPT) {
        tell_journal(log, 0, front);
        if (!lenient)
            return status;
        status = lbx__journal_open_damaged(&journal, view->tables.io,
                                           view->tables.folder, uid, NULL);
        if (status == LBX_NOT_FOUND)
            return LBX_OK;
    }
    if (status != LBX_OK)
        return status;
    if (view->tables.header_status == LBX_OK && !view->tables.header.idle &&
        journal.bytes < view->tables.header.journal_bytes)
        tell_journal(log, journal.bytes, view->tables.header.journal_bytes);
    if (lenient)
        status = read_leniently(&journal, &reading);
    else if (!view->tables.header.idle)
        status = read_strictly(&journal, &reading, peek);
    lbx__journal_close(&journal);
    return status;
}
