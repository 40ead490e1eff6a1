/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An audit: what is wrong with the rows and the journal of a store, reported as
 * it is found, and counted.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_REPAIR_AUDIT_H
#define LBX_STORES_FILE_REPAIR_AUDIT_H

#include "base/array.h"
#include "post/rules/box_row.h"
#include "post/rules/letter_record.h"
#include "stores/file/membership.h"
#include "stores/file/repair/view.h"

#include <letterbox/post/file_store.h>

/* How far some work is. */
typedef struct lbx__audit_progress {
    bool (*tell)(void *context, uint64_t done, uint64_t total); /* or NULL */
    void *context;
    uint64_t done, total; /* rows */
} lbx__audit_progress;

/* Where damage is reported and counted. */
typedef struct lbx__audit_log {
    void (*damage)(void *context,
                   const lbx_file_store_damage *part); /* may be NULL */
    void *context;
    lbx__audit_progress progress;
    uint64_t reported;
    lbx_file_store_report report;
} lbx__audit_log;

typedef struct lbx__audit_counts {
    uint64_t letters, leased, delayed, bytes, sum;
} lbx__audit_counts;

/* The tenants of a plain box (FAIR-1): how many, and their letters. */
typedef struct lbx__audit_tenants {
    uint64_t tenants, letters, leased;
} lbx__audit_tenants;

/* A box, by its row id. */
typedef struct lbx__audit_box {
    uint64_t box, uid;
    uint64_t next, fresh, stated;
    int64_t oldest;
    bool is_old;
    bool has_facts;
    bool fifo;
    lbx__audit_counts said, found; /* by its record, and by the walk */
    uint64_t rows[LBX__TABLES];    /* that there are, */
    uint64_t want[LBX__TABLES];    /* and that its letters have */
    lbx__audit_tenants tenants_said, tenants_found; /* by rows of tenants */
} lbx__audit_box;

typedef struct lbx__audit {
    lbx__view *view;
    lbx__audit_log *log;
    lbx__array(lbx__audit_box) boxes; /* sorted by row id */
    uint64_t highest;                 /* number that was ever drawn */
    lbx__attributes attributes;
    char name[LBX_BOX_NAME_BYTES];
} lbx__audit;

typedef lbx_status lbx__audit_each(lbx__audit *audit, const lbx__view_row *row);

/*
 * Reads every row of a view and compares each with the others: sums of values;
 * counts and sums of boxes; the rows of a letter with its state and its group;
 * names and boxes; pages that are used twice. OK, whatever was reported;
 * NEWER: a box of a newer version; NO_MEMORY; CANCELLED.
 */
lbx_status lbx__audit_rows(lbx__view *view, lbx__audit_log *log);

/* ---- audit_progress.c ---- */

/* Adds the rows of all tables to what is to be done. */
void lbx__audit_progress_expect(lbx__audit_progress *progress,
                                const lbx__view *view);

/* One more is done: OK; CANCELLED. */
lbx_status lbx__audit_progress_step(lbx__audit_progress *progress);

/* All is done: as lbx__audit_progress_step(). */
lbx_status lbx__audit_progress_end(lbx__audit_progress *progress);

/* Reads a user's struct into `ret`: OK; INVALID, with a fault. */
lbx_status lbx__audit_progress_read(lbx_file_store_work *ret,
                                    const lbx_file_store_work *work,
                                    lbx_fault *fault);

/* ---- audit_journal.c ---- */

/*
 * Puts the journal over a view (JRNL-3), and reports what is wrong with it,
 * also when it ends before the last record that `peek` knows of. `lenient`:
 * continues behind records that do not check, and takes those that do;
 * otherwise CORRUPT ends it, as it ends a recovery. OK; CORRUPT, reported;
 * NEWER; NO_MEMORY; any I/O failure.
 */
lbx_status lbx__audit_journal(lbx__view *view,
                              const lbx__membership_state *peek, bool lenient,
                              lbx__audit_log *log);

/* ---- audit_letters.c ---- */

/* A row of LBX__BODIES: OK; NO_MEMORY. */
lbx_status lbx__audit_letters_row(lbx__audit *audit, const lbx__view_row *row);

/* A row of LBX__GIDS: OK. */
lbx_status lbx__audit_letters_group(lbx__audit *audit,
                                    const lbx__view_row *row);

/* After all walks: whether a box has what its record says. */
void lbx__audit_letters_counts(lbx__audit *audit, const lbx__audit_box *box);

/* ---- audit_report.c ---- */

/* In an lbx_file_store_damage: there is no journal. */
#define LBX__NO_JOURNAL "missing journal"

/* What a row of a table is called in an lbx_file_store_damage. */
const char *lbx__audit_report_word(lbx__table table);

void lbx__audit_report_damage(lbx__audit_log *log,
                              const lbx_file_store_damage *part);

/* Damage of a box, of letters `first` to `last`; 0: not of letters. */
void lbx__audit_report_box(lbx__audit *audit, uint64_t uid, const char *what,
                           uint64_t first, uint64_t last);

/* A lost part of a table: from one key on, before another; a lost page. */
void lbx__audit_report_range(lbx__audit *audit, lbx__table table,
                             lbx__bytes first, lbx__bytes end);
void lbx__audit_report_page(void *context, lbx__table table,
                            const lbx__mdb_bad_page *page);

/* The box of a row id; NULL. Their order, for qsort(). */
lbx__audit_box *lbx__audit_report_find(const lbx__audit *audit, uint64_t box);
int lbx__audit_report_compare(const void *a, const void *b);

/* Ends a check or a salvage: writes `report`, unless it is NULL, into the
 * caller's, and the fault, with a sentence about `dir` if it has none. Returns
 * `status`. */
lbx_status lbx__audit_report_end(lbx_file_store_report *ret,
                                 const lbx_file_store_report *report,
                                 lbx_status status, const lbx_fault *fault,
                                 const char *dir);

#endif
