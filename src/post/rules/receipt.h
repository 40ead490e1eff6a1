/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receipts: the fencing token of one delivery.
 *
 * Inside the process a receipt is four numbers, packed. As text it is base64 of
 * a version, the numbers, and a MAC with the store's own key. So a text from
 * outside was made by this store for this delivery, or is refused before any
 * row is read. The numbers are not secret; they must only be impossible to
 * forge.
 *
 * `box` is the row id of the box: a purge draws a new one, so that earlier
 * receipts match no box. `epoch` counts the deliveries of a letter and never
 * decreases, unlike the delivery count, which an undo decreases. `era` changes
 * when a store may have lost its latest deliveries: after a restore, a salvage,
 * or a crash at a level below `sync`.
 *
 * RCPT-1  A text that parses was made by lbx__receipt_text() with this key, and
 *         there is no other text for the same receipt.
 *
 * Threads    any, with a MAC of one's own.
 */
#ifndef LBX_POST_RULES_RECEIPT_H
#define LBX_POST_RULES_RECEIPT_H

#include "codec/endian.h"
#include "codec/mac.h"

typedef struct lbx__receipt {
    uint64_t box;
    uint64_t sequence;
    uint32_t epoch;
    uint32_t era;
} lbx__receipt;

enum {
    LBX__RECEIPT_PACKED = 24,
    LBX__RECEIPT_MAC = 16, /* of 32: 128 bits */
    LBX__RECEIPT_TEXT = 56 /* with the NUL */
};

static inline void
lbx__receipt_pack(const lbx__receipt *receipt,
                  uint8_t bytes[LBX__RECEIPT_PACKED])
{
    bytes = lbx__put_be64(bytes, receipt->box);
    bytes = lbx__put_be64(bytes, receipt->sequence);
    bytes = lbx__put_be32(bytes, receipt->epoch);
    lbx__put_be32(bytes, receipt->era);
}

static inline lbx__receipt
lbx__receipt_unpack(const uint8_t bytes[LBX__RECEIPT_PACKED])
{
    return (lbx__receipt){
        .box = lbx__get_be64(bytes),
        .sequence = lbx__get_be64(bytes + 8),
        .epoch = lbx__get_be32(bytes + 16),
        .era = lbx__get_be32(bytes + 20),
    };
}

/* OK; NO_MEMORY. */
lbx_status lbx__receipt_text(lbx__mac *mac, const lbx__receipt *receipt,
                             char text[LBX__RECEIPT_TEXT]);

/* OK; INVALID; NO_MEMORY. */
lbx_status lbx__receipt_parse(lbx__mac *mac, const char *text,
                              lbx__receipt *ret);

#endif
