/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of a box: its name, its options, and what others say about it.
 *
 *   configured 4  space, name, options, texts sizes 4 each
 *   space NUL  name NUL  options  texts
 *
 * Options of equal content are equal bytes, which is how a second create is
 * compared with the first.
 */
#ifndef LBX_POST_BOX_ROW_H
#define LBX_POST_BOX_ROW_H

#include "post/rules/internal.h"

/* A decoded row: pointers into it. */
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

/* With the texts in `buffer`, of LBX_BOX_OPTIONS_BUFFER_BYTES; NULL: without them. OK;
 * CORRUPT. */
lbx_status lbx__box_row_decode_options(lbx__bytes bytes, char *buffer,
                                       lbx_box_options *ret);

/* What the rules ask; only `uid` is not written. */
lbx_status lbx__box_row_decode_facts(lbx__bytes value, lbx__facts *ret);

/* The texts of a row one after the other: false at the end, or when the rest is
 * no texts. */
bool lbx__box_row_next_text(lbx__bytes *left, lbx_box_text *ret);
void lbx__box_row_add_text(lbx_buffer *out, const lbx_box_text *text);

/* ---- describe.c ---- */

/* The box of a request, by uid or by name: OK; NOT_FOUND; CORRUPT; IO. */
lbx_status lbx__catalog_find(lbx__rules *rules, const lbx_box_request *request,
                             lbx__box_record **ret);

/* Fills in what a request asks to be told. */
lbx_status lbx__catalog_fill(lbx__rules *rules, lbx__box_record *head,
                             lbx_box_request *request);

#endif
