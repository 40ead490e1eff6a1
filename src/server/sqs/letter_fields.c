/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of letters as message attributes; see letter_fields.h. */
#include "server/sqs/letter_fields.h"

enum {
    MAX_TYPE_NAME_BYTES = 256, /* as drafts of programs */
    MAX_REPLY_ID_BYTES = 4096
};

static const char field_type[] = "lbx.type";
static const char field_routes[] = "lbx.routes";
static const char field_reply[] = "lbx.in-reply-to";
static const char field_encoding[] = "lbx.encoding";

bool
lbx__letter_fields_take(lbx_parcel *parcel, const lbx__sqs_attribute *attribute)
{
    const lbx__slice value = attribute->string_value;

    // Most names do not begin like this: one comparison for them.
    if (attribute->name.size < 5 ||
        memcmp(attribute->name.bytes, "lbx.", 4) != 0 ||
        !lbx__slice_is(attribute->data_type, "String"))
        return false;
    if (lbx__slice_is(attribute->name, field_type) &&
        value.size <= MAX_TYPE_NAME_BYTES)
        parcel->type_name = value.bytes;
    else if (lbx__slice_is(attribute->name, field_routes))
        parcel->routes = value.bytes;
    else if (lbx__slice_is(attribute->name, field_reply) &&
             value.size <= MAX_REPLY_ID_BYTES)
        parcel->in_reply_to = value.bytes;
    else
        return false;
    return true;
}

/* A letter of a program may have an attribute of the same name, which wins. */
static size_t
letter_show_field(const lbx_parcel *parcel, const char *name, const char *value,
                  lbx__sqs_attribute *ret)
{
    if (!value)
        return 0;
    for (size_t i = 0; i < parcel->attribute_count; i++) {
        if (strcmp(parcel->attributes[i].name, name) == 0)
            return 0;
    }
    *ret = (lbx__sqs_attribute){
        .name = lbx__slice_of(name),
        .data_type = lbx__slice_of("String"),
        .string_value = lbx__slice_of(value),
    };
    return 1;
}

size_t
lbx__letter_fields_show(const lbx_parcel *parcel, bool is_base64,
                        lbx__sqs_attribute ret[LBX__LETTER_FIELDS])
{
    size_t count = 0;

    count +=
        letter_show_field(parcel, field_type, parcel->type_name, &ret[count]);
    count +=
        letter_show_field(parcel, field_routes, parcel->routes, &ret[count]);
    count += letter_show_field(parcel, field_reply, parcel->in_reply_to,
                               &ret[count]);
    count += letter_show_field(parcel, field_encoding,
                               is_base64 ? "base64" : NULL, &ret[count]);
    return count;
}
