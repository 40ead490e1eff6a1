/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damage, as it is reported: which box, which part, which letters.
 *
 * The name of a box is looked up in the view by its uid, and left out when its
 * row is lost. A range of keys becomes a range of sequences where the table has
 * them.
 *
 * Threads    one at a time.
 */
#include "stores/file/repair/audit.h"

#include "base/fault.h"
#include "base/sized.h"

#include <stdlib.h>

void
lbx__audit_report_damage(lbx__audit_log *log, const lbx_file_store_damage *part)
{
    log->reported++;
    if (log->damage)
        log->damage(log->context, part);
}

lbx_status
lbx__audit_report_end(lbx_file_store_report *ret,
                      const lbx_file_store_report *report, lbx_status status,
                      const lbx_fault *fault, const char *dir)
{
    lbx_fault said = *fault;

    if (report)
        (void)LBX__SIZED_WRITE(ret, report, lbx_file_store_report, fault);
    if (status == LBX_OK)
        said = (lbx_fault){LBX_OK, ""};
    else if (!said.text[0])
        (void)lbx__fault_set(&said, status, "%s%s%s", dir, *dir ? ": " : "",
                             lbx_status_text(status));
    said.status = status;
    ret->fault = said;
    return status;
}

const char *
lbx__audit_report_word(lbx__table table)
{
    static const char *const words[LBX__TABLES] = {
        "store", "name", "box",  "head", "body",  "state",
        "ready", "wait", "line", "turn", "group", "group",
        "seen",  "seen", "age",  "task", "old",
    };

    return (int)table < LBX__TABLES ? words[table] : "table";
}

/* The name of a box; NULL when it is lost. */
static const char *
audit_name(lbx__audit *audit, uint64_t uid)
{
    const lbx__key key = lbx__key_1(uid);
    lbx__box_row row;
    lbx__bytes value;

    if (lbx__view_get(audit->view, LBX__BOXES, &key, &value) != LBX_OK ||
        lbx__box_row_decode(value, &row) != LBX_OK)
        return NULL;
    memcpy(audit->name, row.name, strlen(row.name) + 1);
    return audit->name;
}

void
lbx__audit_report_box(lbx__audit *audit, uint64_t uid, const char *what,
                      uint64_t first, uint64_t last)
{
    const lbx_file_store_damage part = {
        .box = audit_name(audit, uid),
        .what = what,
        .first_sequence = first,
        .last_sequence = last,
    };

    lbx__audit_report_damage(audit->log, &part);
}

int
lbx__audit_report_compare(const void *a, const void *b)
{
    const lbx__audit_box *one = a, *other = b;

    return (one->box > other->box) - (one->box < other->box);
}

lbx__audit_box *
lbx__audit_report_find(const lbx__audit *audit, uint64_t box)
{
    const lbx__audit_box wanted = {.box = box};

    return audit->boxes.count > 0
               ? bsearch(&wanted, audit->boxes.items, audit->boxes.count,
                         sizeof(wanted), lbx__audit_report_compare)
               : NULL;
}

static bool
audit_is_by_uid(lbx__table table)
{
    return table == LBX__BOXES || table == LBX__BOX_RECORDS ||
           table == LBX__TASKS;
}

/* A part of a table that is lost: from one key on, before another. */
void
lbx__audit_report_range(lbx__audit *audit, lbx__table table, lbx__bytes first,
                        lbx__bytes end)
{
    const bool has_sequence = table == LBX__BODIES || table == LBX__STATES;
    const uint64_t number = table < LBX__TABLES && first.size >= 8 &&
                                    table != LBX__NAMES && table != LBX__META
                                ? lbx__key_number(first, 0)
                                : 0;
    const lbx__audit_box *box = lbx__audit_report_find(audit, number);
    uint64_t from = 0, last = 0;

    if (has_sequence && first.size == 16) {
        from = lbx__key_number(first, 1);
        last = box ? box->next - 1 : 0;
        if (end.size == 16 && lbx__key_number(end, 0) == number)
            last = lbx__key_number(end, 1) - 1;
        if (last < from)
            last = from;
    }
    lbx__audit_report_box(audit,
                          audit_is_by_uid(table) ? number
                          : box                  ? box->uid
                                                 : 0,
                          lbx__audit_report_word(table), from, last);
}

void
lbx__audit_report_page(void *context, lbx__table table,
                       const lbx__mdb_bad_page *page)
{
    lbx__audit *audit = context;
    lbx__bytes first = page->first;

    // The first page of a tree has no key to begin with: its first box does.
    if (first.size == 0 && audit->boxes.count > 0 &&
        (table == LBX__BODIES || table == LBX__STATES)) {
        const lbx__key key = lbx__key_2(audit->boxes.items[0].box, 1);

        lbx__audit_report_range(audit, table, lbx__key_bytes(&key), page->end);
        return;
    }
    lbx__audit_report_range(audit, table, first, page->end);
}
