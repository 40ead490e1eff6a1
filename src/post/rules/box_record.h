/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a box: its counters, in one row under its uid, and its options,
 * decoded; private to the rules.
 *
 * A rule opens the records it needs, changes rows and records together, and
 * closes all records at its end:
 *
 *     status = lbx__box_record_open(rules, id, &box);
 *     ...
 *     return lbx__box_record_close_all(rules, status);
 *
 * Opening a box twice in one rule returns the same record, so that a letter can
 * be settled and its reply sent in the same box. A closed record is kept for
 * the rules that follow, and its row is written once per batch, before the
 * commit; in a private storage (storage.h) only when the rules are closed.
 *
 * BOXREC-1  Between rules, the counts of a record are what a scan of the rows
 *           would count, and its sum is that of the hashes of bodies and
 *           states.
 * BOXREC-2  `next` only grows, also over purge and restart: a sequence, a
 *           ticket or the number of a group is given once in the life of a box.
 * BOXREC-3  In a plain box, every letter that has no state has a sequence of at
 *           least `fresh` and, unless that is 0, less than `stated`. No letter
 *           was sent before `oldest`.
 *
 * Threads    one at a time, as the storage.
 */
#ifndef LBX_POST_RULES_BOX_RECORD_H
#define LBX_POST_RULES_BOX_RECORD_H

#include "post/rules/rules.h"

enum {
    LBX__BOX_RECORD_BYTES = 96
};

/* The options of a box that rules need, without their lists. */
typedef struct lbx__facts {
    uint64_t uid;        /* 0: an empty slot */
    uint32_t configured; /* which options: as in the record */
    bool dead;           /* it has a dead-letter box, named below */
    lbx_box_options options;
    char space[LBX_BOX_SPACE_BYTES];
    char name[LBX_BOX_NAME_BYTES];
    char dead_letters[LBX_BOX_NAME_BYTES];
} lbx__facts;

typedef struct lbx__box_record {
    uint64_t uid;
    uint64_t row_id; /* of its letters; a purge draws a new one */
    uint64_t next;
    uint64_t fresh;
    uint64_t letters; /* all of them, */
    uint64_t leased;  /* and of these */
    uint64_t delayed;
    uint64_t bytes;
    uint64_t sum;
    uint64_t change; /* grows with each write of the record */
    int64_t oldest;
    uint32_t configured; /* grows with each change of the options */
    uint64_t stated;     /* plain: 0, or from here on each letter has a state */
    uint32_t tenants;    /* plain: groups that have letters (fair.c) */
    bool dirty;
    const lbx__facts *facts;
} lbx__box_record;

/* OK; CLOSED when the box was deleted; CORRUPT; IO. */
lbx_status lbx__box_record_open(lbx__rules *rules, lbx_box id,
                                lbx__box_record **ret);

/* By name: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__box_record_find(lbx__rules *rules, const char *space,
                                const char *name, lbx__box_record **ret);

/* Decodes the row of a record, without its uid and its facts: OK; CORRUPT. */
lbx_status lbx__box_record_decode(lbx__bytes value, lbx__box_record *box);

/* Closes all open records and notes which have changed; returns `status`. */
lbx_status lbx__box_record_close_all(lbx__rules *rules, lbx_status status);

/* Writes a record; its row exists or is reserved. */
void lbx__box_record_write(lbx__rules *rules, lbx__box_record *box);

/* Drops the only open record, whose row was removed. */
void lbx__box_record_forget(lbx__rules *rules, const lbx__box_record *box);

/* Notes that a receive of this box may succeed from `due` on (RULES-3). */
void lbx__box_record_note_change(lbx__rules *rules, uint64_t uid, int64_t due);

/* Writes all kept records that have changed. */
void lbx__box_record_write_all(lbx__rules *rules);

#endif
