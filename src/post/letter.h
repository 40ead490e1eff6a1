/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a letter: a delivery, copied into one block of memory.
 *
 * LETTER-1  `finalized` is set only after the store has returned LBX_OK.
 * LETTER-2  The message is decoded at most once; the result is kept.
 *
 * Threads: one at a time; the postbox it refers to is any thread's.
 */
#ifndef LBX_POST_LETTER_H
#define LBX_POST_LETTER_H

#include "post/call.h"

struct lbx_letter {
    lbx_postbox *postbox; /* held */
    lbx_letter *next;     /* of the same receive */
    size_t block_size;
    lbx_delivery delivery; /* points into the same block */
    lbx_routes *routes;    /* NULL: none, or their JSON is invalid */
    const lbx_type *type;
    int64_t lease_ns;
    bool finalized;
    bool peeked; /* has no receipt */

    /* LETTER-2. */
    bool decoded;
    lbx_status decoding;
    void *message;
};

/* How much memory a copy of a parcel takes, with all it points to; and the
 * copy, into memory of that size that is aligned as an lbx_attribute. Returns
 * its end. `ret` may be `from`. */
size_t lbx__letter_parcel_bytes(const lbx_parcel *parcel);
char *lbx__letter_copy_parcel(void *memory, const lbx_parcel *from,
                              lbx_parcel *ret);

/* A letter of a delivery: NO_MEMORY, INVALID. */
lbx_status lbx__letter_create(lbx_postbox *postbox, const lbx__call_op *call_op,
                              const lbx_delivery *delivery, lbx_letter **ret);

/* Destroys a list of letters. */
void lbx__letter_destroy_all(lbx_letter *first);

/* OK when the letter may be settled or replied to; FINALIZED. */
lbx_status lbx__letter_unsettled(const lbx_letter *letter);

/* The result of settling, by the options of the postbox; sets `finalized`. */
lbx_status lbx__letter_settled(lbx_letter *letter, lbx_settle_action what,
                               lbx_status status);

/* OK when `time_ns` is valid for the settlement and the box. */
lbx_status lbx__letter_check_time(const lbx_postbox *postbox,
                                  lbx_settle_action what, int64_t time_ns);

/* letter_undo.c: puts letters back that the consumer has not seen, and destroys
 * them, without waiting for either. Without memory for the call they come back
 * when their leases run out. */
void lbx__letter_undo(lbx_letter *first);

#endif
