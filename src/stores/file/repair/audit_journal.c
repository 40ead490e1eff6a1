/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal, read over a view.
 *
 * The store header names the records that count (JRNL-3). When it is lost, a
 * salvage uses the records of boxes: each batch writes those of its boxes, and
 * their change number only grows. A journal whose records are not ahead of
 * those in data.mdb has been checkpointed.
 *
 * Threads    one at a time.
 */
#include "stores/file/repair/audit.h"

#include "post/rules/box_record.h"
#include "stores/file/journal.h"

struct journal_audit {
    lbx__view *view;
    lbx__audit_log *log;
    bool older; /* a head was not ahead */
    bool heads; /* there were some */
};

/* An end of 0: there is none. */
static void
audit_report_journal(lbx__audit_log *log, uint64_t from, uint64_t end)
{
    const lbx_file_store_damage part = {
        .what = end > 0 ? "journal" : LBX__NO_JOURNAL,
        .offset_bytes = from,
        .damaged_bytes = end > from ? end - from : 0,
    };

    log->report.damaged++;
    lbx__audit_report_damage(log, &part);
}

static void
audit_note_bad(void *context, uint64_t from, uint64_t end)
{
    const struct journal_audit *audit = context;

    audit_report_journal(audit->log, from, end);
}

static void
audit_compare_records(struct journal_audit *audit, lbx__bytes key,
                      const lbx__bytes *value)
{
    lbx__box_record new, old;
    lbx__bytes content;
    lbx__mdb_tree *tree = &audit->view->tables.trees[LBX__BOX_RECORDS];

    if (!value ||
        lbx__row_check(LBX__BOX_RECORDS, key, *value, &content) != LBX_OK ||
        lbx__box_record_decode(content, &new) != LBX_OK)
        return;
    audit->heads = true;
    if (audit->view->tables.has[LBX__BOX_RECORDS] &&
        lbx__mdb_tree_get(tree, key, &content) == LBX_OK &&
        lbx__row_check(LBX__BOX_RECORDS, key, content, &content) == LBX_OK &&
        lbx__box_record_decode(content, &old) == LBX_OK &&
        old.change >= new.change)
        audit->older = true;
}

static lbx_status
audit_take_row(void *context, lbx__table table, lbx__bytes key,
               const lbx__bytes *value)
{
    struct journal_audit *audit = context;

    if (table == LBX__BOX_RECORDS)
        audit_compare_records(audit, key, value);
    return lbx__overlay_add(&audit->view->overlay, table, key, value);
}

static lbx_status
audit_read_strictly(const lbx__journal *journal, struct journal_audit *audit,
                    const lbx__membership_state *peek)
{
    const uint64_t generation = audit->view->tables.header.generation;
    lbx__audit_log *log = audit->log;
    lbx__journal_end_state state;
    lbx_status status;

    if (lbx__journal_read_generation(journal) > generation) {
        const lbx_file_store_damage part = {.what = "meta page"};

        lbx__audit_report_damage(log, &part); // data.mdb shows an older state
        return LBX_CORRUPT;
    }
    status =
        lbx__journal_read(journal, generation, audit_take_row, audit, &state);
    // In the same boot what was handed to the system is in the file.
    if (status == LBX_OK && peek->generation == generation &&
        state.records < peek->last_record) {
        state.bad_upto = state.end + state.torn_bytes;
        status = LBX_CORRUPT;
    }
    if (status == LBX_CORRUPT)
        audit_report_journal(log, state.end, state.bad_upto);
    log->report.journal_records = state.records;
    log->report.torn_bytes = status == LBX_OK ? state.torn_bytes : 0;
    return status;
}

/* Whether the journal has records that count, and of which generation. */
static bool
audit_find_generation(const lbx__journal *journal, const lbx__view *view,
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
audit_read_leniently(const lbx__journal *journal, struct journal_audit *audit,
                     const lbx__membership_state *peek)
{
    lbx__audit_log *log = audit->log;
    lbx__journal_end_state state;
    uint64_t generation;
    lbx_status status;

    if (!audit_find_generation(journal, audit->view, &generation))
        return LBX_OK;
    status = lbx__journal_read_damaged(journal, generation, audit_take_row,
                                       audit_note_bad, audit, &state);
    if (status == LBX_OK && audit->view->tables.header_status != LBX_OK &&
        (audit->older || !audit->heads)) {
        lbx__overlay_clear(&audit->view->overlay);
        state.records = 0;
    }
    log->report.journal_records = state.records;
    log->report.torn_bytes = state.torn_bytes;
    // As above: what was reported as OK is damaged, not torn.
    if (status == LBX_OK && peek->generation == generation &&
        state.number < peek->last_record) {
        audit_report_journal(log, state.end, state.end + state.torn_bytes);
        log->report.torn_bytes = 0;
    }
    return status;
}

/* The uid that the journal must have: OK; NOT_FOUND: there need be none;
 * CORRUPT. */
static lbx_status
audit_find_uid(const lbx__view *view, bool lenient, uint8_t uid[16])
{
    if (view->tables.header_status == LBX_OK) {
        memcpy(uid, view->tables.header.uid, 16);
        return view->tables.header.has_journal ? LBX_OK : LBX_NOT_FOUND;
    }
    // The walk over the tables reports that the header is lost.
    return lenient ? lbx__journal_uid(view->tables.io, view->tables.folder, uid)
                   : LBX_NOT_FOUND;
}

lbx_status
lbx__audit_journal(lbx__view *view, const lbx__membership_state *peek,
                   bool lenient, lbx__audit_log *log)
{
    struct journal_audit audit = {.view = view, .log = log};
    uint8_t uid[16];
    lbx__journal journal;
    uint64_t front = LBX__JOURNAL_FRONT;
    lbx_status status = audit_find_uid(view, lenient, uid);

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
        audit_report_journal(log, 0, front);
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
        audit_report_journal(log, journal.bytes,
                             view->tables.header.journal_bytes);
    if (lenient)
        status = audit_read_leniently(&journal, &audit, peek);
    else if (!view->tables.header.idle)
        status = audit_read_strictly(&journal, &audit, peek);
    lbx__journal_close(&journal);
    return status;
}
