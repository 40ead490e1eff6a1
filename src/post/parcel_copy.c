/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of parcels: see parcel_copy.h. */
#include "post/parcel_copy.h"

#include "base/alloc.h"

#include <assert.h>
#include <string.h>

/* The texts of a parcel, in the order they are copied. */
#define PARCEL_TEXTS(XX)                                                       \
    XX(type_name)                                                              \
    XX(routes)                                                                 \
    XX(group)                                                                  \
    XX(deduplication_id)                                                       \
    XX(token)                                                                  \
    XX(trace)                                                                  \
    XX(in_reply_to)

size_t
lbx__parcel_copy_text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

size_t
lbx__parcel_copy_bytes(const lbx_parcel *parcel)
{
    size_t size = parcel->body_bytes + 1 +
                  parcel->attribute_count * sizeof(lbx_attribute);

    for (size_t i = 0; i < parcel->attribute_count; i++) {
        const lbx_attribute *attribute = &parcel->attributes[i];

        size += lbx__parcel_copy_text_bytes(attribute->name) +
                lbx__parcel_copy_text_bytes(attribute->label) +
                attribute->value_bytes + 1;
    }
#define ADD_TEXT(field) size += lbx__parcel_copy_text_bytes(parcel->field);
    PARCEL_TEXTS(ADD_TEXT)
#undef ADD_TEXT
    return size;
}

void *
lbx__parcel_copy_keep(char **to, const void *bytes, size_t size)
{
    char *copy = *to;

    if (size > 0)
        memcpy(copy, bytes, size);
    *to += size;
    return copy;
}

const char *
lbx__parcel_copy_text(char **to, const char *text)
{
    return text ? lbx__parcel_copy_keep(to, text, strlen(text) + 1) : NULL;
}

/* Bytes with a NUL after them. */
static const void *
parcel_copy_body(char **to, const void *bytes, size_t size)
{
    const void *copy = lbx__parcel_copy_keep(to, bytes, size);

    *(*to)++ = '\0';
    return copy;
}

char *
lbx__parcel_copy_to(void *memory, const lbx_parcel *from, lbx_parcel *ret)
{
    const lbx_parcel parcel = *from;
    lbx_attribute *attributes = memory;
    char *to = (char *)(attributes + parcel.attribute_count);

    *ret = parcel;
    ret->attributes = attributes;
    for (size_t i = 0; i < parcel.attribute_count; i++) {
        const lbx_attribute *attribute = &parcel.attributes[i];

        attributes[i] = *attribute;
        attributes[i].name = lbx__parcel_copy_text(&to, attribute->name);
        attributes[i].label = lbx__parcel_copy_text(&to, attribute->label);
        attributes[i].value =
            parcel_copy_body(&to, attribute->value, attribute->value_bytes);
    }
#define COPY_TEXT(field) ret->field = lbx__parcel_copy_text(&to, parcel.field);
    PARCEL_TEXTS(COPY_TEXT)
#undef COPY_TEXT
    ret->body = parcel_copy_body(&to, parcel.body, parcel.body_bytes);
    return to;
}

lbx__parcel_copy *
lbx__parcel_copy_create(const lbx_allocator *allocator, const lbx_parcel *from)
{
    const size_t size = sizeof(lbx__parcel_copy) + lbx__parcel_copy_bytes(from);
    lbx__parcel_copy *copy =
        lbx__alloc(allocator, size, _Alignof(lbx__parcel_copy));
    const char *end;

    if (!copy)
        return NULL;
    copy->size = size;
    end = lbx__parcel_copy_to(copy + 1, from, &copy->parcel);
    assert(end == (const char *)copy + size);
    (void)end;
    return copy;
}

void
lbx__parcel_copy_destroy(const lbx_allocator *allocator, lbx__parcel_copy *copy)
{
    if (copy)
        lbx__free(allocator, copy, copy->size);
}
