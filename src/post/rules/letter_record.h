/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one letter: body, state, and the index rows that belong to its
 * state; private to the rules.
 *
 * LETREC-1  A letter has one row in waits when it is leased or delayed; one in
 *           ready when it is ready, has a state, and its box is plain; else
 *           none. state.due and state.ticket are the key of that row. A letter
 *           of a tenant has a row in lines instead of ready (FAIR-2).
 * LETREC-2  A letter whose own rows are damaged is skipped by every search and
 *           never changed. The record of its box still counts it, and `fresh`
 *           does not pass it. So a search that finds no other letter knows that
 *           there is one, and returns CORRUPT (RULES-6). Damage below the rows
 *           cannot be skipped.
 *
 * Threads    one at a time, as the storage.
 */
#ifndef LBX_POST_RULES_LETTER_RECORD_H
#define LBX_POST_RULES_LETTER_RECORD_H

#include "post/rules/body.h"
#include "post/rules/box_record.h"
#include "post/rules/row.h"

enum {
    LBX__SKIPS_MAX = 64 /* damaged letters that one search skips */
};

typedef struct lbx__letter_record {
    uint64_t sequence;
    lbx__body body; /* the fixed part, until lbx__letter_record_decode() */
    uint32_t body_sum;
    lbx__bytes value; /* of its body's row: until the next write of one */
    lbx__state state;
    bool damaged; /* with CORRUPT: its own rows are damaged; only the sequence
                     is known and, unless state.damaged, the state */
} lbx__letter_record;

/* A state as others see it: what is due is ready. */
static inline lbx_letter_state
lbx__letter_record_shown(const lbx__state *state, int64_t now_ns)
{
    if (state->kind == LBX__IS_READY || state->due <= now_ns)
        return LBX_LETTER_STATE_READY;
    return state->kind == LBX__IS_LEASED ? LBX_LETTER_STATE_LEASED
                                         : LBX_LETTER_STATE_DELAYED;
}

/* True when a damaged letter may be skipped; counts it in `*skips`. */
static inline bool
lbx__letter_record_skip(lbx_status status, const lbx__letter_record *letter,
                        uint32_t *skips)
{
    return status == LBX_CORRUPT && letter->damaged &&
           (*skips)++ < LBX__SKIPS_MAX;
}

/* A letter by its sequence: OK; NOT_FOUND; CORRUPT, see `damaged`; IO;
 * NO_MEMORY. */
lbx_status lbx__letter_record_get(lbx__rules *rules, const lbx__box_record *box,
                                  uint64_t sequence, lbx__letter_record *ret);

/* The first letter at `from` or after it; the same statuses. */
lbx_status lbx__letter_record_seek(lbx__rules *rules,
                                   const lbx__box_record *box, uint64_t from,
                                   lbx__letter_record *ret);

/* The state alone; without a row, that of a fresh letter, with due and ticket
 * 0. OK; CORRUPT; IO. */
lbx_status lbx__letter_record_state(lbx__rules *rules,
                                    const lbx__box_record *box,
                                    uint64_t sequence, lbx__state *ret);

/* Decodes the whole body: OK; CORRUPT; NO_MEMORY. */
lbx_status lbx__letter_record_decode(lbx__rules *rules,
                                     lbx__letter_record *letter);

/* The same, from a copy of the row, which writes leave alone (STORAGE-5). */
lbx_status lbx__letter_record_copy(lbx__rules *rules,
                                   lbx__letter_record *letter);

/* True when a letter is one of a tenant (fair.c). Its body has been read. */
static inline bool
lbx__letter_record_has_tenant(const lbx__box_record *box,
                              const lbx__letter_record *letter)
{
    return letter->body.gid != 0 && !box->facts->options.fifo;
}

/* What lbx__letter_record_change() needs, and lbx__letter_record_remove(). */
void lbx__letter_record_need_change(lbx__need *need, const lbx__box_record *box,
                                    const lbx__letter_record *letter);
void lbx__letter_record_need_remove(lbx__need *need, const lbx__box_record *box,
                                    const lbx__letter_record *letter);

/* Gives a letter another state: rows in states, ready and waits, those of its
 * tenant, and counts (LETREC-1). body.gid must be known. */
void lbx__letter_record_change(lbx__rules *rules, lbx__box_record *box,
                               lbx__letter_record *letter,
                               const lbx__state *to);

/* Removes a letter, with all its rows except those of its group in a fifo
 * box. */
void lbx__letter_record_remove(lbx__rules *rules, lbx__box_record *box,
                               lbx__letter_record *letter);

/* What lbx__letter_record_insert() needs. */
void lbx__letter_record_need_insert(lbx__need *need, const lbx__body *body,
                                    size_t encoded, bool state);

/* Inserts a letter. `encoded` is from lbx__body_encode(); `state` is NULL for a
 * fresh letter. In a plain box, a source makes a letter that is older than its
 * sequence says: it gets a row in age. */
void lbx__letter_record_insert(lbx__rules *rules, lbx__box_record *box,
                               uint64_t sequence, const lbx__body *body,
                               lbx__bytes encoded, const lbx__state *state);

#endif
