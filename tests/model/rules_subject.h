/* SPDX-License-Identifier: Apache-2.0 */
/* The rules over storage in memory, as the subject of a walk. */
#ifndef LBX_TEST_MODEL_RULES_SUBJECT_H
#define LBX_TEST_MODEL_RULES_SUBJECT_H

#include "post/rules/rules.h"
#include "walk.h"

/* A storage that does one thing wrong, so that the walk can be seen to find
 * it. */
typedef enum rules_fault {
    NO_FAULT,
    CLOCK_FAST,    /* letters come too early */
    FORGETS_SEEN,  /* duplicates are letters */
    KEEPS_LINES,   /* groups hold letters that are gone */
    LOSES_READY,   /* what came back is not found */
    KEEPS_WAITS,   /* what was settled comes back */
    FORGETS_PLACE, /* groups do not give way to each other */
    FAULTS,

    /* No fault, but as hard as LMDB: what get and seek have shown is gone with
     * the next write to its table (STORAGE-5). */
    SCRIBBLES
} rules_fault;

typedef struct rules_subject {
    model_subject base;
    lbx__storage *storage;
    lbx__storage *memory;
    lbx__rules *rules;
    lbx_clock clock;
    int64_t now;
    uint32_t budget;
    char wrong[120];
} rules_subject;

/* Private: as storage in memory is; otherwise as storage in files. Only the
 * latter can have a fault. */
void rules_subject_init(rules_subject *subject, rules_fault fault,
                        bool is_private);
void rules_subject_fini(rules_subject *subject);

/* BOXREC-1 and LETREC-1 of every box: counts, sums, and rows that belong
 * together. NULL, or what is wrong. */
const char *rules_audit(lbx__storage *storage, char *buffer, size_t bytes);

#endif
