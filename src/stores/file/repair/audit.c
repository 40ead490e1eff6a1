/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a store, compared with each other.
 *
 * Each table is walked once, in whatever order: boxes here, letters in
 * audit_letters.c; what is wrong goes to audit_report.c.
 *
 * Rows under a row id that was purged or deleted, and is not reclaimed yet,
 * belong to no box: their sums are checked, and nothing else.
 *
 * Threads    one at a time.
 */
#include "stores/file/repair/audit.h"

#include <stdlib.h>

/* ---- Walking ---- */

/* All rows of a table; `each` gets those whose sum is right. */
static lbx_status
audit_walk(lbx__audit *audit, lbx__table table, lbx__audit_each *each)
{
    const uint64_t reported = audit->log->reported;
    lbx__view_row row;
    lbx_status status;

    while ((status = lbx__view_next(audit->view, table, &row)) == LBX_OK) {
        if (row.is_good) {
            status = each(audit, &row);
        } else {
            audit->log->report.damaged++;
            lbx__audit_report_range(audit, table, row.key, row.key);
        }
        if (status == LBX_OK)
            status = lbx__audit_progress_step(&audit->log->progress);
        if (status != LBX_OK)
            return status;
    }
    if (status != LBX_NOT_FOUND)
        return status;
    if (!audit->view->tables.has[table] ||
        (!audit->view->is_whole[table] && reported == audit->log->reported)) {
        const lbx_file_store_damage part = {.what =
                                                lbx__audit_report_word(table)};

        lbx__audit_report_damage(audit->log, &part);
    }
    return LBX_OK;
}

static lbx_status
audit_add_box(lbx__audit *audit, const lbx__audit_box *box)
{
    lbx__audit_box *added = lbx__array_add(&audit->boxes, NULL);

    if (!added)
        return LBX_NO_MEMORY;
    *added = *box;
    return LBX_OK;
}

static void
audit_note_number(lbx__audit *audit, uint64_t number)
{
    if (number > audit->highest)
        audit->highest = number;
}

/* ---- Boxes ---- */

static lbx_status
audit_old(lbx__audit *audit, const lbx__view_row *row)
{
    const lbx__audit_box box = {
        .box = lbx__key_number(row->key, 0),
        .is_old = true,
    };

    audit_note_number(audit, box.box);
    return audit_add_box(audit, &box);
}

static lbx_status
audit_head(lbx__audit *audit, const lbx__view_row *row)
{
    const uint64_t uid = lbx__key_number(row->key, 0);
    const lbx__key key = lbx__key_1(uid);
    lbx__audit_box box = {.uid = uid};
    lbx__box_record head;
    lbx__facts facts;
    lbx__bytes value;
    lbx_status status;

    audit->log->report.boxes++;
    if (lbx__box_record_decode(row->value, &head) != LBX_OK) {
        lbx__audit_report_box(audit, uid, "head", 0, 0);
        return LBX_OK;
    }
    box.box = head.row_id;
    box.next = head.next;
    box.fresh = head.fresh;
    box.stated = head.stated;
    box.tenants_found.tenants = head.tenants;
    box.oldest = head.oldest;
    box.said = (lbx__audit_counts){head.letters, head.leased, head.delayed,
                                   head.bytes, head.sum};
    audit_note_number(audit, uid);
    audit_note_number(audit, box.box);
    status = lbx__view_get(audit->view, LBX__BOXES, &key, &value);
    if (status == LBX_OK)
        status = lbx__box_row_decode_facts(value, &facts);
    if (status == LBX_NO_MEMORY || status == LBX_NEWER)
        return status;
    box.has_facts = status == LBX_OK;
    box.fifo = box.has_facts && facts.options.fifo;
    if (!box.has_facts || facts.configured != head.configured)
        lbx__audit_report_box(audit, uid, "box", 0, 0);
    return audit_add_box(audit, &box);
}

/* A box has a head, and its name leads to it. */
static lbx_status
audit_box(lbx__audit *audit, const lbx__view_row *row)
{
    const uint64_t uid = lbx__key_number(row->key, 0);
    const lbx__key key = lbx__key_1(uid);
    lbx__box_row box;
    lbx__bytes value;
    lbx__key name;

    audit_note_number(audit, uid);
    if (lbx__view_get(audit->view, LBX__BOX_RECORDS, &key, &value) != LBX_OK)
        lbx__audit_report_box(audit, uid, "head", 0, 0);
    if (lbx__box_row_decode(row->value, &box) != LBX_OK)
        return LBX_OK; // its head has reported
    name = lbx__key_name(box.space, box.name);
    if (lbx__view_get(audit->view, LBX__NAMES, &name, &value) != LBX_OK ||
        value.size != 8 || lbx__get_le64(value.data) != uid)
        lbx__audit_report_box(audit, uid, "name", 0, 0);
    return LBX_OK;
}

static lbx_status
audit_box_name(lbx__audit *audit, const lbx__view_row *row)
{
    const uint64_t uid =
        row->value.size == 8 ? lbx__get_le64(row->value.data) : 0;
    const lbx__key key = lbx__key_1(uid);
    lbx__bytes value;

    if (lbx__view_get(audit->view, LBX__BOXES, &key, &value) != LBX_OK)
        lbx__audit_report_box(audit, uid, "box", 0, 0);
    return LBX_OK;
}

static lbx_status
audit_task(lbx__audit *audit, const lbx__view_row *row)
{
    const lbx__key key = lbx__key_1(lbx__key_number(row->key, 0));
    lbx__bytes value;

    audit_note_number(audit, lbx__key_number(row->key, 1));
    if (lbx__view_get(audit->view, LBX__BOX_RECORDS, &key, &value) != LBX_OK)
        lbx__audit_report_box(audit, lbx__key_number(row->key, 0), "task", 0,
                              0);
    return LBX_OK;
}

static lbx_status
audit_meta(lbx__audit *audit, const lbx__view_row *row)
{
    (void)audit;
    (void)row;
    return LBX_OK;
}

/* The store's identity, and that its next number was never drawn before. */
static void
audit_check_meta(lbx__audit *audit)
{
    const lbx__key store = lbx__key_text("store");
    const lbx__key numbers = lbx__key_text("numbers");
    const lbx_file_store_damage part = {.what =
                                            lbx__audit_report_word(LBX__META)};
    lbx__bytes value;
    const lbx_status status =
        lbx__view_get(audit->view, LBX__META, &store, &value);

    if (status == LBX_NOT_FOUND && audit->highest == 0)
        return; // made, and never used
    if (status != LBX_OK ||
        lbx__view_get(audit->view, LBX__META, &numbers, &value) != LBX_OK ||
        value.size != 8 || lbx__get_le64(value.data) <= audit->highest)
        lbx__audit_report_damage(audit->log, &part);
}

/* ---- Rows that are counted ---- */

/* Rows of all other tables under a row id: how many there are. */
#define AUDIT_COUNT_ROWS(name, table)                                          \
    static lbx_status audit_##name(lbx__audit *audit,                          \
                                   const lbx__view_row *row)                   \
    {                                                                          \
        lbx__audit_box *box =                                                  \
            lbx__audit_report_find(audit, lbx__key_number(row->key, 0));       \
                                                                               \
        if (box)                                                               \
            box->rows[table]++;                                                \
        else                                                                   \
            lbx__audit_report_range(audit, table, row->key, row->key);         \
        return LBX_OK;                                                         \
    }

AUDIT_COUNT_ROWS(state, LBX__STATES)
AUDIT_COUNT_ROWS(ready, LBX__READY)
AUDIT_COUNT_ROWS(wait, LBX__WAITS)
AUDIT_COUNT_ROWS(line, LBX__LINES)
AUDIT_COUNT_ROWS(turn, LBX__GROUP_DUE)
AUDIT_COUNT_ROWS(group, LBX__GROUPS)
AUDIT_COUNT_ROWS(seen, LBX__SEEN)
AUDIT_COUNT_ROWS(seen_due, LBX__SEEN_DUE)
AUDIT_COUNT_ROWS(age, LBX__AGE)

/* A page in use that is listed as free would be lost at its next use. */
static void
audit_check_unused(lbx__audit *audit)
{
    const lbx_file_store_damage part = {.what = "free pages"};

    if (!audit->view->tables.knows_unused ||
        lbx__mdb_tables_overlap(&audit->view->tables))
        lbx__audit_report_damage(audit->log, &part);
}

static lbx_status
audit_check_all(lbx__audit *audit)
{
    static const struct {
        lbx__table table;
        lbx__audit_each *each;
    } walks[] = {
        {LBX__BOXES, audit_box},
        {LBX__NAMES, audit_box_name},
        {LBX__TASKS, audit_task},
        {LBX__META, audit_meta},
        {LBX__BODIES, lbx__audit_letters_row},
        {LBX__STATES, audit_state},
        {LBX__READY, audit_ready},
        {LBX__WAITS, audit_wait},
        {LBX__LINES, audit_line},
        {LBX__GROUP_DUE, audit_turn},
        {LBX__GROUPS, audit_group},
        {LBX__GIDS, lbx__audit_letters_group},
        {LBX__SEEN, audit_seen},
        {LBX__SEEN_DUE, audit_seen_due},
        {LBX__AGE, audit_age},
    };
    lbx_status status = audit_walk(audit, LBX__BOX_RECORDS, audit_head);

    if (status == LBX_OK)
        status = audit_walk(audit, LBX__GARBAGE, audit_old);
    if (audit->boxes.count > 0)
        qsort(audit->boxes.items, audit->boxes.count,
              sizeof(audit->boxes.items[0]), lbx__audit_report_compare);
    for (size_t i = 0; status == LBX_OK && i < sizeof(walks) / sizeof(walks[0]);
         i++)
        status = audit_walk(audit, walks[i].table, walks[i].each);
    if (status != LBX_OK)
        return status;
    audit_check_meta(audit);
    for (size_t i = 0; i < audit->boxes.count; i++) {
        if (!audit->boxes.items[i].is_old)
            lbx__audit_letters_counts(audit, &audit->boxes.items[i]);
    }
    audit_check_unused(audit);
    return LBX_OK;
}

lbx_status
lbx__audit_rows(lbx__view *view, lbx__audit_log *log)
{
    lbx__audit audit = {.view = view, .log = log};
    lbx__mdb_tree_row row;
    lbx_status status;

    lbx__audit_progress_expect(&log->progress, view);
    lbx__mdb_tables_listen(&view->tables, lbx__audit_report_page, &audit);
    // The storage's own table is walked too, for its pages.
    while (view->tables.has[LBX__HEADER_TABLE] &&
           lbx__mdb_tree_next(&view->tables.trees[LBX__HEADER_TABLE], &row) ==
               LBX_OK)
        ;
    status = audit_check_all(&audit);
    lbx__mdb_tables_listen(&view->tables, NULL, NULL);
    lbx__body_attributes_fini(&audit.attributes);
    lbx__array_fini(&audit.boxes, NULL);
    return status;
}
