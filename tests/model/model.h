/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reference model of boxes: what every store must answer, written to be read.
 *
 * One array of all letters there ever were and one of all that was remembered,
 * searched from end to end; nothing is swept, indexed or cached. The model does
 * not make up ids, sequences and receipts: it is told those of the store that
 * it walks with, and holds it to what must be true of them.
 *
 * A walk (walk.h) does random things to a store and to the model, on a clock of
 * its own, and stops at the first difference. To walk a store of yours, see
 * docs/writing-a-store.md.
 */
#ifndef LBX_TEST_MODEL_H
#define LBX_TEST_MODEL_H

#include <letterbox/store_driver.h>

enum {
    MODEL_BOXES = 6,
    MODEL_GROUPS = 3,
    MODEL_MOST = 1 << 15 /* letters and things remembered, in all of a walk */
};

/* A place among those that are served: by when they are due, and among equals
 * by the turns they drew. */
typedef struct model_place {
    int64_t due;
    uint64_t turn;
} model_place;

typedef struct model_letter {
    unsigned life;   /* of the box it is in; 0: gone */
    unsigned number; /* its body says so */
    lbx_id id;
    uint64_t sequence; /* 0: the store will say */
    uint64_t arrival;  /* the turn it drew when it came */
    int64_t sent;
    size_t bytes;
    unsigned group;  /* of a plain box: each is a group of its own, */
    unsigned tenant; /* and this is the group it was sent with; MODEL_GROUPS:
                        none */
    int death;       /* the box it died in; -1: none */

    bool leased, delayed; /* until place.due; ready otherwise */
    model_place place;    /* of the first of a group: where that stands */
    model_place claimed;  /* from where it was leased last */
    uint32_t epoch;
    uint32_t deliveries;
    uint32_t carried; /* of them, in other boxes */
    int64_t received;
} model_letter;

/* A token, the id of a duplicate, or an attempt that is remembered. */
typedef enum model_kind {
    MODEL_TOKEN,
    MODEL_ID,
    MODEL_ATTEMPT
} model_kind;

typedef struct model_seen {
    unsigned life;
    model_kind kind;
    unsigned group; /* MODEL_GROUPS: whatever the group */
    char text[24];
    int64_t until;
    lbx_sent_letter sent;
    uint32_t count; /* attempts: of the letters they got, */
    model_letter *letters[LBX_MAX_BATCH];
    uint64_t turns[LBX_MAX_BATCH]; /* with these turns */
} model_seen;

/* One delivery of a letter. */
typedef struct model_receipt {
    unsigned life;
    uint64_t sequence;
    uint32_t epoch;
} model_receipt;

/* A group in a plain box that has letters. */
typedef struct model_tenant {
    uint64_t born; /* the turn of its first letter; 0: it has none */
    bool noisy;
    int64_t until; /* noisy: at most, if it sends nothing */
} model_tenant;

typedef struct model_box {
    bool there;
    unsigned life; /* another one after it was deleted or purged */
    lbx_box_options options;
    int dead; /* index of the box for dead letters; -1: none */
    uint64_t last_sequence;
    model_tenant tenants[MODEL_GROUPS];
} model_box;

struct model {
    int64_t now;
    uint64_t turns;
    unsigned lives, letter_count, seen_count;
    model_box boxes[MODEL_BOXES];
    model_letter letters[MODEL_MOST]; /* in the order they came, to any box */
    model_seen seen[MODEL_MOST];
};

/* Boxes. */
void model_create(struct model *model, int box, const lbx_box_options *options,
                  int dead);                    /* and configure */
void model_empty(struct model *model, int box); /* purge; also before delete */
lbx_box_counts model_counts(struct model *model, int box);

/* The letters of a box in the order they came: the first behind `after`, which
 * may be NULL. */
model_letter *model_next(struct model *model, int box, model_letter *after);

/* What a send would answer, where `more` others are sent before it. OK: not yet
 * there, model_add() it; `*ret_seen` is what it repeats, if it was seen. */
lbx_status model_may_send(struct model *model, int box,
                          const lbx_parcel *parcel, unsigned group,
                          unsigned more, const model_seen **ret_seen);
void model_add(struct model *model, int box, const lbx_parcel *parcel,
               unsigned group, unsigned number, const lbx_sent_letter *sent);

/* OK: the letters that a receive must get, leased; EMPTY; FULL. */
lbx_status model_receive(struct model *model, int box,
                         const lbx_receive_request *request,
                         model_letter *ret[LBX_MAX_BATCH], uint32_t *ret_count);

/* What a settle must answer, and on OK the letter of the receipt. */
lbx_status model_judge(struct model *model, int box,
                       const model_receipt *receipt, lbx_settle_action what,
                       int64_t time_ns, model_letter **ret);
void model_settle(struct model *model, int box, model_letter *letter,
                  lbx_settle_action what, int64_t time_ns);
void model_undo(model_letter *letter);

/* Moves the next letter, to where it died when `to` is negative: OK; EMPTY:
 * none is ready; or why not. */
lbx_status model_move(struct model *model, int from, int to);

/* Whether a move back can begin: OK; NOT_FOUND; INVALID. */
lbx_status model_start_move(struct model *model, int from);

/* What time does to the letters of a box; every other function but
 * model_next() has done so. */
void model_expire(struct model *model, int box);

#endif
