/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a draft to a parcel.
 *
 * A parcel points into its draft, except for a body that was encoded and a
 * duplicate id that was computed from the body: these belong to the packed
 * draft.
 *
 * DRAFT-1  A parcel that was packed needs no check by the store: its body is
 *          encoded, its texts and sizes are within the limits of the box, its
 *          delay is a number, and in a fifo box it has a group and a duplicate
 *          id.
 */
#ifndef LBX_POST_DRAFT_H
#define LBX_POST_DRAFT_H

#include "base/buffer.h"
#include <letterbox/store_driver.h>

/* No letter is larger, whatever the limits of its box. */
#define LBX__DRAFT_MAX_BYTES ((int64_t)64 << 20)

typedef struct lbx__draft_packed {
    lbx_parcel parcel;
    lbx_buffer body;
    char deduplication_id[65]; /* SHA-256 of the body, in hexadecimal */
} lbx__draft_packed;

/* OK; INVALID; TOO_LARGE; ENCODING; NO_MEMORY. Must be finished whatever the
 * result. */
lbx_status lbx__draft_pack(lbx__draft_packed *packed, const lbx_draft *given,
                           const lbx_box_options *rules,
                           const lbx_allocator *allocator);
void lbx__draft_packed_fini(lbx__draft_packed *packed);

/* OK when a user's draft has a valid size; INVALID, with a fault. */
lbx_status lbx__draft_check(const lbx_draft *draft, lbx_fault *fault);

/* A user's draft as this library's: the same, or `own`; NULL, with a fault,
 * when its size is invalid. */
const lbx_draft *lbx__draft_view(const lbx_draft *draft, lbx_draft *own,
                                 lbx_fault *fault);

/* Writes into `fault`, which may be NULL, why a draft was INVALID or TOO_LARGE
 * for a box; returns the status. For another status it does nothing. */
lbx_status lbx__draft_explain(const lbx_draft *given,
                              const lbx_box_options *rules, lbx_status status,
                              lbx_fault *fault);

#endif
