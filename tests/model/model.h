/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reference model of boxes: what every store must answer, written to be read.
 *
 * Plain lists, searched from end to end; nothing is swept, indexed or cached. It
 * does not make up ids, sequences and receipts: it is told those of the store
 * that it walks with, and holds it to what must be true of them.
 *
 * A walk (walk.c) does random things to a store and to the model, on a clock of
 * its own, and stops at the first difference. To run it on a store of yours, fill
 * in a model_subject: only <letterbox/store.h> is needed.
 */
#ifndef LBX_TEST_MODEL_H
#define LBX_TEST_MODEL_H

#include <letterbox/store.h>

enum {
    MODEL_BOXES = 6,
    MODEL_GROUPS = 3
};

typedef struct model_letter {
    struct model_letter *next; /* in the order they came into the box */
    unsigned number;           /* its body says so */
    lbx_id id;
    uint64_t sequence;
    uint64_t arrival; /* the turn it drew when it came */
    int64_t sent;
    size_t bytes;
    int group;      /* fifo; else -1 */
    unsigned death; /* the box it died in, from 1; 0: none */

    bool leased, delayed; /* until `due`; ready otherwise */
    int64_t due;          /* with turn: its place among those that are ready */
    uint64_t turn;
    int64_t place_due; /* the same when it was claimed */
    uint64_t place_turn;
    uint32_t epoch;
    uint32_t deliveries;
    uint32_t carried; /* of them, in other boxes */
    int64_t received;
} model_letter;

/* A token, the id of a duplicate, or an attempt that is remembered. */
typedef struct model_seen {
    struct model_seen *next;
    char text[40];
    int64_t until;
    lbx_id id;
    uint64_t sequence;
    unsigned count; /* attempts: */
    unsigned numbers[LBX_BATCH_MOST];
    uint64_t turns[LBX_BATCH_MOST];
    uint32_t epochs[LBX_BATCH_MOST];
} model_seen;

typedef struct model_box {
    bool there;
    unsigned life; /* changes with create and purge */
    lbx_box_options options;
    int dead; /* index of the box for dead letters; -1: none */
    model_letter *letters;
    model_seen *seen;
    uint64_t last_sequence;
    int64_t group_due[MODEL_GROUPS];
    uint64_t group_turn[MODEL_GROUPS];
} model_box;

struct model {
    int64_t now;
    uint64_t turns;
    model_box boxes[MODEL_BOXES];
};

void model_fini(struct model *model);

/* Boxes. */
void model_create(struct model *model, int box, const lbx_box_options *options,
                  int dead);
void model_empty(struct model *model, int box); /* purge; also before delete */
void model_counts(struct model *model, int box, lbx_box_counts *ret);

/* What a send would answer. OK: not yet there, model_add() it; `*ret_seen` is
 * what it repeats, if it was seen. */
lbx_status model_may_send(struct model *model, int box,
                          const lbx_parcel *parcel, int group,
                          const model_seen **ret_seen);
model_letter *model_add(struct model *model, int box, const lbx_parcel *parcel,
                        int group, unsigned number, const lbx_sent *sent);

/* The letters that a receive must get, leased: their number; -1: FULL. */
int model_receive(struct model *model, int box,
                  const lbx_receive_request *request,
                  model_letter *ret[LBX_BATCH_MOST]);

/* The letter of a receipt, and OK; or what a settle must answer. */
lbx_status model_judge(struct model *model, int box, unsigned life,
                       uint64_t sequence, uint32_t epoch, model_letter **ret);
lbx_status model_settle(struct model *model, int box, model_letter *letter,
                        lbx_settlement what, int64_t time_ns, bool dry);
void model_undo(struct model *model, int box, model_letter *letter);

/* Moves the next letter, to where it died when `to` is negative: OK; EMPTY: none
 * is ready; or why not. */
lbx_status model_move(struct model *model, int from, int to);

/* Takes out what is too old; every other function has done so. */
void model_expire(struct model *model, int box);

/* ---- The walk ---- */

typedef struct model_subject {
    const char *name;

    /* Runs a verb of the contract to its end, without waiting: a receive that
     * finds nothing is LBX_EMPTY. */
    lbx_status (*call)(void *context, lbx_verb verb, void *request,
                       void (*deliver)(void *context,
                                       const lbx_delivery *delivery),
                       void *deliver_context);

    /* Its clock, which begins anywhere, goes on. */
    void (*advance)(void *context, int64_t ns);

    /* Looks inside for what should be true; NULL: not looked at. Answers what is
     * wrong, or NULL. */
    const char *(*audit)(void *context);

    bool undoes; /* has undo, peek, purge, move: the optional verbs */
    void *context;
} model_subject;

/* Walks; answers true when there was no difference. What differs first is
 * written to `ret`: the seed, the step, and what was expected. */
bool model_walk(const model_subject *subject, uint64_t seed, unsigned steps,
                char *ret, size_t ret_bytes);

#endif
