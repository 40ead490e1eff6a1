/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of boxes, without their sum: names, options, and texts, as a foreign
 * file may have them.
 *
 * What is accepted has only enumerations that exist, lists and names that fit
 * their buffers, and is encoded again; those bytes decode and encode to the
 * same (BOXROW-1).
 */
#include "post/rules/box_row.h"
#include "target.h"

static bool
encode_options_again(lbx__bytes from, lbx_buffer *out)
{
    // An odd address: the list of pointers inside must be aligned.
    char *memory = malloc(LBX_BOX_OPTIONS_BUFFER_BYTES + 1);
    lbx_box_options options;
    lbx_status status;

    must_be(memory != NULL);
    status = lbx__box_row_decode_options(from, memory + 1, &options);
    must_be(status == LBX_OK || status == LBX_CORRUPT || status == LBX_NEWER);
    if (status == LBX_OK) {
        must_be(options.deduplication <= LBX_DEDUPLICATION_GROUP &&
                options.dead_letter_allow <= LBX_DEAD_LETTER_ALLOW_LISTED);
        lbx__box_row_encode_options(&options, out);
    }
    free(memory);
    return status == LBX_OK;
}

static void
encode_texts_again(lbx__bytes left, lbx_buffer *out)
{
    lbx_box_text text;

    while (lbx__box_row_next_text(&left, &text))
        lbx__box_row_add_text(out, &text);
}

/* Options and texts are decoded and encoded as parts of the row. */
static bool
encode_box_again(lbx__bytes value, lbx_buffer *out)
{
    lbx_buffer options, texts;
    lbx__box_row row;
    lbx__facts *facts = malloc(sizeof(*facts));
    const bool good = lbx__box_row_decode(value, &row) == LBX_OK;

    must_be(facts != NULL);
    lbx__buffer_init(&options, NULL, 1 << 20);
    lbx__buffer_init(&texts, NULL, 1 << 20);
    if (good && encode_options_again(row.options, &options)) {
        must_be(lbx__box_row_decode_facts(value, facts) == LBX_OK);
        row.options = (lbx__bytes){options.bytes, options.size};
    }
    if (good) {
        encode_texts_again(row.texts, &texts);
        row.texts = (lbx__bytes){texts.bytes, texts.size};
        lbx__box_row_encode(&row, out);
    } else {
        must_be(lbx__box_row_decode_facts(value, facts) != LBX_OK);
    }
    lbx__buffer_fini(&options);
    lbx__buffer_fini(&texts);
    free(facts);
    return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *exact = copy_exactly(data, size);
    lbx_buffer once, twice;

    lbx__buffer_init(&once, NULL, 1 << 20);
    lbx__buffer_init(&twice, NULL, 1 << 20);
    if (encode_box_again((lbx__bytes){exact, size}, &once)) {
        must_be(encode_box_again((lbx__bytes){once.bytes, once.size}, &twice));
        must_be(once.size == twice.size &&
                memcmp(once.bytes, twice.bytes, once.size) == 0);
    }
    lbx__buffer_fini(&once);
    lbx__buffer_fini(&twice);
    free(exact);
    return 0;
}
