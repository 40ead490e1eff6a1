/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of a box: its name, its options, and texts that programs attach.
 *
 *   configured 4  sizes of space, name, options, texts 4 each
 *   space NUL  name NUL  options  texts
 *
 * Options: format 4, count 4, numbers 8 each, texts. A count of 0 stands for
 * the 18 numbers of the first version. A new option is added to
 * box_row_encode_numbers() and box_row_decode_numbers(), as a flag or as a
 * number at the end.
 *
 * BOXROW-1  Equal options are equal bytes: a second create is compared with the
 *           first by memcmp().
 * BOXROW-2  A number that a row does not have is the one of
 *           LBX_BOX_OPTIONS_INIT; one that was added later is written only if
 *           it, or one after it, is another. So rows of older versions are
 *           read, and older versions read what does not need the newer one;
 *           else they return NEWER.
 *
 * Threads    any: values only.
 */
#ifndef LBX_POST_RULES_BOX_ROW_H
#define LBX_POST_RULES_BOX_ROW_H

#include "base/buffer.h"
#include "post/rules/box_record.h"

/* A decoded row; its pointers point into the value. */
typedef struct lbx__box_row {
    uint32_t configured;
    const char *space, *name;
    lbx__bytes options;
    lbx__bytes texts;
} lbx__box_row;

lbx_status lbx__box_row_decode(lbx__bytes value, lbx__box_row *ret);
void lbx__box_row_encode(const lbx__box_row *row, lbx_buffer *out);

void lbx__box_row_encode_options(const lbx_box_options *options,
                                 lbx_buffer *out);

/* Texts are copied to `buffer`, of LBX_BOX_OPTIONS_BUFFER_BYTES; NULL: without
 * the list of boxes. OK; NEWER; CORRUPT. */
lbx_status lbx__box_row_decode_options(lbx__bytes bytes, char *buffer,
                                       lbx_box_options *ret);

/* Fills in everything except `uid`. */
lbx_status lbx__box_row_decode_facts(lbx__bytes value, lbx__facts *ret);

/* Takes the next text of a row; false at the end, or when the rest is
 * damaged. */
bool lbx__box_row_next_text(lbx__bytes *left, lbx_box_text *ret);
void lbx__box_row_add_text(lbx_buffer *out, const lbx_box_text *text);

#endif
