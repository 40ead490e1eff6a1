/* SPDX-License-Identifier: Apache-2.0 */
/* What a letter carries beside its body, so that another letter can carry
 * it. */
#ifndef LBX_COURIER_DEAD_LETTER_H
#define LBX_COURIER_DEAD_LETTER_H

#include "codec/record.h"
#include <letterbox/courier.h>

enum {
    LBX__DEAD_LETTER_TOKEN_BYTES = 64 /* a prefix, an id and the NUL */
};

/* The members of a record, for decoding with an allocator. */
extern const lbx_record lbx__dead_letter_table;

typedef struct lbx__dead_letter_cover {
    const lbx_allocator *allocator;
    lbx_attribute *attributes;
    size_t count;
} lbx__dead_letter_cover;

/* Makes a draft carry what a letter does: routes, attributes, trace, group and
 * `in_reply_to`. All of it is borrowed from the letter. OK; NO_MEMORY. */
lbx_status lbx__dead_letter_cover_init(lbx__dead_letter_cover *cover,
                                       const lbx_letter *letter,
                                       const lbx_allocator *allocator,
                                       lbx_draft *draft);

/* The draft must not be used afterwards. */
void lbx__dead_letter_cover_fini(lbx__dead_letter_cover *cover);

/* Whether the letter has the type of a dead-letter record. */
bool lbx__dead_letter_is_record(const lbx_letter *letter);

#endif
