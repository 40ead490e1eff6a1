/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a letter: a delivery, copied into one block of memory.
 *
 * F5  `finalized` is set by an LBX_OK of the store only.
 * L1  The message is decoded at most once; what that came to is kept.
 */
#ifndef LBX_POST_LETTER_H
#define LBX_POST_LETTER_H

#include "post/call.h"

struct lbx_letter {
    lbx_postbox *postbox; /* counted */
    lbx_letter *next;     /* of the same receive */
    size_t block_size;
    lbx_delivery delivery; /* what it points to is behind */
    lbx_routes *routes;    /* NULL: none, or no JSON of routes */
    const lbx_type *type;
    int64_t lease_ns;
    bool finalized;
    bool peeked; /* has no receipt */

    /* L1. */
    bool decoded;
    lbx_status decoding;
    void *message;
};

/* A letter of a delivery: NO_MEMORY, INVALID. */
lbx_status lbx__letter_create(lbx_postbox *postbox, const lbx__called *called,
                              const lbx_delivery *delivery, lbx_letter **ret);

/* Ends a list of letters. */
void lbx__letter_destroy_all(lbx_letter *first);

/* Whether it may be settled or replied to: OK; FINALIZED. */
lbx_status lbx__letter_unsettled(const lbx_letter *letter);

/* What settling came to, as this postbox words it (W-35); sets `finalized`. */
lbx_status lbx__letter_settled(lbx_letter *letter, lbx_settlement what,
                               lbx_status status);

/* LBX_OK when a time fits the settlement and the box. */
lbx_status lbx__settle_time_check(const lbx_postbox *postbox,
                                  lbx_settlement what, int64_t time_ns);

#endif
