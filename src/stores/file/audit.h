/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a store: said as it is found, and counted.
 *
 * Threads    one at a time.
 */
#ifndef LBX_STORES_FILE_AUDIT_H
#define LBX_STORES_FILE_AUDIT_H

#include "stores/file/presence.h"
#include "stores/file/view.h"

#include <letterbox/post/file.h>

/* Who is told. */
typedef struct lbx__teller {
    void (*damage)(void *context, const lbx_damage *part); /* NULL: nobody */
    void *context;
    uint64_t told;
    lbx_file_report report;
} lbx__teller;

void lbx__tell(lbx__teller *teller, const lbx_damage *part);

/* The last word of a check or a salvage: what it answered, with a sentence about
 * `dir` if nobody has said one. */
lbx_status lbx__report_end(lbx_file_report *ret, lbx_status status,
                           const lbx_fault *fault, const char *dir);

/* In an lbx_damage: there is no journal. */
#define LBX__NO_JOURNAL "missing journal"

/* What a row of a table is called in an lbx_damage. */
const char *lbx__table_word(lbx__table table);

/*
 * Puts the journal over a view (J3), and tells what is wrong with it. `lenient`:
 * goes on behind records that do not check, and takes those that do; otherwise
 * CORRUPT is the end of it, as it is to a recovery. OK; CORRUPT, told; NEWER;
 * NO_MEMORY; any I/O failure.
 */
lbx_status lbx__audit_journal(lbx__view *view, const lbx__presence_peek *peek,
                              bool lenient, lbx__teller *teller);

/*
 * Reads every row of a view and compares what one says of the other: sums of
 * values; counts and sums of heads (H1, H2, H3); a letter's rows with its state
 * (H4, Q5); names, boxes and heads; pages that are used twice. OK, whatever was
 * told; NO_MEMORY.
 */
lbx_status lbx__audit_rows(lbx__view *view, lbx__teller *teller);

#endif
