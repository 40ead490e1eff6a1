/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on a letter beside its body, for another letter to carry. */
#ifndef LBX_COURIER_DEAD_H
#define LBX_COURIER_DEAD_H

#include <letterbox/courier.h>

typedef struct lbx__dead_letter_cover {
    const lbx_allocator *allocator;
    lbx_attribute *attributes;
    size_t count;
} lbx__dead_letter_cover;

/* Has a draft carry what a letter does: routes, attributes, trace, group and what
 * it answers. All of it is the letter's. OK; NO_MEMORY. */
lbx_status lbx__dead_letter_cover_init(lbx__dead_letter_cover *cover,
                                       const lbx_letter *letter,
                                       const lbx_allocator *allocator,
                                       lbx_draft *draft);

/* The draft must not be used any more. */
void lbx__dead_letter_cover_fini(lbx__dead_letter_cover *cover);

/* Whether a letter says that it is a dead-letter record. */
bool lbx__dead_letter_is_record(const lbx_letter *letter);

#endif
