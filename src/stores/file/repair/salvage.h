/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a salvage share; salvage.c has its invariants. */
#ifndef LBX_STORES_FILE_REPAIR_SALVAGE_H
#define LBX_STORES_FILE_REPAIR_SALVAGE_H

#include "base/array.h"
#include "post/rules/box_row.h"
#include "post/rules/internal.h"
#include "stores/file/repair/audit.h"

/* A box that is saved. */
typedef struct lbx__salvage_box {
    uint64_t box, uid; /* in the damaged store; a uid of 0 is not known */
    uint64_t next;     /* of its head; 0: not known */
    bool is_gone;      /* purged or deleted */
    lbx_box made;      /* in the new one; 0: not yet */
    bool fifo;
} lbx__salvage_box;

/* A letter: its row id and sequence. */
typedef struct lbx__salvage_position {
    uint64_t box, sequence;
} lbx__salvage_position;

typedef struct lbx__salvage {
    lbx__view view;
    lbx__audit_log *log;
    lbx__storage *storage; /* the new one */
    lbx__rules *rules;

    lbx__array(lbx__salvage_box) boxes;        /* sorted by `box` */
    lbx__array(lbx__salvage_position) letters; /* sorted */
    lbx__attributes attributes;
    lbx_buffer encoded;
} lbx__salvage;

/* Adds the rows of pages that no tree leads to and that are not free: the
 * branch above them is lost. OK; NO_MEMORY. */
lbx_status lbx__salvage_orphans(lbx__view *view);

/* Finds the boxes and letters that are saved: OK; NO_MEMORY. */
lbx_status lbx__salvage_find(lbx__salvage *salvage);

/* The box of a row id; NULL. */
lbx__salvage_box *lbx__salvage_find_box(const lbx__salvage *salvage,
                                        uint64_t box);

/* Makes all boxes and letters in the new store. OK; any failure of that one. */
lbx_status lbx__salvage_rows(lbx__salvage *salvage);

#endif
