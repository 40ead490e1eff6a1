/* SPDX-License-Identifier: Apache-2.0 */
/* The MD5 of bodies and attributes; see message_md5.h. */
#include "server/sqs/message_md5.h"

#include "codec/endian.h"

#include <stdlib.h>

enum {
    MD5_TAG_STRING = 1,
    MD5_TAG_BINARY = 2
};

bool
lbx__message_md5_body(lbx__slice body, char text[LBX__MD5_TEXT_BYTES])
{
    lbx__md5 *md5 = lbx__md5_of_thread();

    if (!md5)
        return false;
    lbx__md5_start(md5);
    lbx__md5_add(md5, body.bytes, body.size);
    return lbx__md5_finish(md5, text) == LBX_OK;
}

/* The length of a text, in four bytes, and the text. */
static void
md5_add_text(lbx__md5 *md5, lbx__slice text)
{
    uint8_t size[4];

    lbx__put_be32(size, (uint32_t)text.size);
    lbx__md5_add(md5, size, sizeof(size));
    lbx__md5_add(md5, text.bytes, text.size);
}

bool
lbx__message_md5_attributes(const lbx__sqs_attribute *sorted, size_t count,
                            char text[LBX__MD5_TEXT_BYTES])
{
    lbx__md5 *md5 = lbx__md5_of_thread();

    if (!md5)
        return false;
    lbx__md5_start(md5);
    for (size_t i = 0; i < count; i++) {
        const lbx__sqs_attribute *attribute = &sorted[i];
        const bool is_binary = attribute->binary_value.bytes != NULL;
        const uint8_t tag = is_binary ? MD5_TAG_BINARY : MD5_TAG_STRING;

        md5_add_text(md5, attribute->name);
        md5_add_text(md5, attribute->data_type);
        lbx__md5_add(md5, &tag, sizeof(tag));
        md5_add_text(md5, is_binary ? attribute->binary_value
                                    : attribute->string_value);
    }
    return lbx__md5_finish(md5, text) == LBX_OK;
}

static int
md5_compare_names(const void *left, const void *right)
{
    const lbx__sqs_attribute *a = left, *b = right;
    const size_t shorter =
        a->name.size < b->name.size ? a->name.size : b->name.size;
    const int order =
        shorter > 0 ? memcmp(a->name.bytes, b->name.bytes, shorter) : 0;

    return order != 0
               ? order
               : (a->name.size > b->name.size) - (a->name.size < b->name.size);
}

void
lbx__message_md5_sort(lbx__sqs_attribute *attributes, size_t count)
{
    if (count > 1)
        qsort(attributes, count, sizeof(*attributes), md5_compare_names);
}
