/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a draft to a parcel.
 *
 * DRAFT-1  A draft that passed is a parcel the store need not check: its body is
 *     encoded, its texts and sizes are inside the box's limits, its delay is a
 *     number, and in a fifo box its group and the id of its duplicates are there.
 *
 * A parcel points into its draft, but for a body that was encoded and an id that
 * was made of the body: these are the packing's.
 */
#ifndef LBX_POST_DRAFT_H
#define LBX_POST_DRAFT_H

#include "base/buffer.h"
#include <letterbox/store.h>

/* No letter is larger, whatever the limits of its box. */
#define LBX__DRAFT_MAX_BYTES ((int64_t)64 << 20)

typedef struct lbx__draft_packed {
    lbx_parcel parcel;
    lbx_buffer body;
    char duplicate_id[65]; /* SHA-256 of the body, in hexadecimal */
} lbx__draft_packed;

/* OK; INVALID; TOO_LARGE; ENCODING; NO_MEMORY. The packing is to be ended
 * whatever the answer. */
lbx_status lbx__draft_pack(lbx__draft_packed *packing, const lbx_draft *draft,
                           const lbx_box_options *rules,
                           const lbx_allocator *allocator);
void lbx__draft_packed_fini(lbx__draft_packed *packing);

/* Says in a fault, which may be NULL, why a draft was INVALID or TOO_LARGE for a
 * box; answers the status. For others it leaves the fault alone. */
lbx_status lbx__draft_explain(const lbx_draft *draft,
                              const lbx_box_options *rules, lbx_status status,
                              lbx_fault *fault);

#endif
