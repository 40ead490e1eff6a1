/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two values of a letter: its body, which is written once, and its state,
 * which exists from the first lease or delay on.
 *
 *   body   id 16  sent_ns 8  sent_ms 8  gid 8  counted 4  body 4  attributes 4
 *          sizes of seven texts, with their NUL, 4 each; 0: none
 *          the texts; the attributes; the body
 *
 *   attribute   kind 1  zeros 3  name, label, value sizes 4 each
 *               name NUL  label NUL (if it has one)  value
 *
 * Texts are stored with their NULs, so that a delivery can point into the row.
 *
 * BODY-1  Decoding returns OK only when every size lies inside the value.
 *
 * Threads    one at a time, as the storage.
 */
#ifndef LBX_POST_RULES_BODY_H
#define LBX_POST_RULES_BODY_H

#include "base/buffer.h"
#include "post/rules/storage.h"

#include <letterbox/store_driver.h>

enum {
    LBX__BODY_FIXED = 80
};

/* A letter as its row has it. Pointers point into the row. */
typedef struct lbx__body {
    uint8_t id[16];
    int64_t sent_ns;        /* store time, for retention */
    int64_t sent_ms;        /* wall time */
    uint64_t gid;           /* of its group, or tenant (fair.c); 0: none */
    uint32_t counted_bytes; /* body and attributes */
    const char *source;     /* dead letters: the name of the box they left */
    bool aged; /* it has a source: in a plain box, it is older than its sequence
                  says; set by decoding only */
    lbx_parcel parcel; /* without token and delay */
} lbx__body;

/* Appends texts and attributes as the row has them. A row is the fixed part,
 * these, and the body. */
void lbx__body_encode(const lbx_parcel *parcel, const char *source,
                      lbx_buffer *out);
void lbx__body_fixed(const lbx__body *body, uint8_t fixed[LBX__BODY_FIXED]);

/* An array for the decoded attributes of one letter, used again and again. */
typedef struct lbx__attributes {
    const lbx_allocator *allocator;
    lbx_attribute *array;
    size_t capacity;
} lbx__attributes;

/* Decodes the fixed part; then the rest; or both: OK; CORRUPT; NO_MEMORY. */
lbx_status lbx__body_decode_fixed(lbx__bytes value, lbx__body *ret);
lbx_status lbx__body_decode_rest(lbx__bytes value, lbx__attributes *attributes,
                                 lbx__body *ret);
lbx_status lbx__body_decode(lbx__bytes value, lbx__attributes *attributes,
                            lbx__body *ret);
void lbx__body_attributes_fini(lbx__attributes *attributes);

/* What counts against the limits of a box: the body, and the names, types and
 * values of the attributes. */
int64_t lbx__body_parcel_bytes(const lbx_parcel *parcel);

/* The row of a parcel that is no more than LBX__ROW_VALUE_MAX by that count,
 * without its checksum. */
size_t lbx__body_row_bytes(const lbx_parcel *parcel);

/* ---- The state of a letter: a row from its first lease or delay on ---- */

typedef enum lbx__letter_kind {
    LBX__IS_READY = 0,
    LBX__IS_LEASED,
    LBX__IS_DELAYED,
} lbx__letter_kind;

enum {
    LBX__STATE_BYTES = 64
};

typedef struct lbx__state {
    lbx__letter_kind kind;
    bool stored;         /* there is a row */
    bool damaged;        /* its sum is wrong: nothing else is known */
    uint32_t epoch;      /* of the latest delivery; never decreases */
    uint32_t deliveries; /* all */
    uint32_t carried;    /* of them, those in the box it came from as a dead
                            letter */
    int64_t due;         /* due and ticket: its key in waits or ready */
    uint64_t ticket;
    int64_t claimed_due; /* the key it was claimed from */
    uint64_t claimed_ticket;
    int64_t first_ms;    /* wall time of the first delivery; 0: none */
    int64_t received_ns; /* store time of the latest delivery */
    uint32_t sum;
} lbx__state;

void lbx__body_encode_state(const lbx__state *state,
                            uint8_t bytes[LBX__STATE_BYTES]);
lbx_status lbx__body_decode_state(lbx__bytes value, lbx__state *ret);

#endif
