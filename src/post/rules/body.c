/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies and states of letters, to and from their rows; see body.h. */
#include "post/rules/body.h"

#include "base/alloc.h"
#include "codec/endian.h"

#include <string.h>

enum {
    TEXTS = 7,
    ATTRIBUTE_FIXED = 16
};

_Static_assert(LBX__BODY_FIXED == 16 + 3 * 8 + 3 * 4 + TEXTS * 4,
               "the fixed part is as long as it says");

static void
body_texts_of(const lbx_parcel *parcel, const char *source,
              const char *ret[TEXTS])
{
    ret[0] = parcel->type_name;
    ret[1] = parcel->routes;
    ret[2] = parcel->group;
    ret[3] = parcel->deduplication_id;
    ret[4] = parcel->trace;
    ret[5] = parcel->in_reply_to;
    ret[6] = source;
}

static size_t
body_text_bytes(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static void
body_encode_attribute(const lbx_attribute *attribute, lbx_buffer *out)
{
    const size_t name = strlen(attribute->name) + 1;
    const size_t label = body_text_bytes(attribute->label);
    uint8_t fixed[ATTRIBUTE_FIXED] = {(uint8_t)attribute->kind};
    uint8_t *at = fixed + 4;

    at = lbx__put_le32(at, (uint32_t)name);
    at = lbx__put_le32(at, (uint32_t)label);
    lbx__put_le32(at, (uint32_t)attribute->value_bytes);
    lbx__buffer_add(out, fixed, sizeof(fixed));
    lbx__buffer_add(out, attribute->name, name);
    if (label > 0)
        lbx__buffer_add(out, attribute->label, label);
    if (attribute->value_bytes > 0)
        lbx__buffer_add(out, attribute->value, attribute->value_bytes);
}

void
lbx__body_encode(const lbx_parcel *parcel, const char *source, lbx_buffer *out)
{
    const char *texts[TEXTS];

    body_texts_of(parcel, source, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i])
            lbx__buffer_add(out, texts[i], strlen(texts[i]) + 1);
    }
    for (size_t i = 0; i < parcel->attribute_count; i++)
        body_encode_attribute(&parcel->attributes[i], out);
}

void
lbx__body_fixed(const lbx__body *body, uint8_t fixed[LBX__BODY_FIXED])
{
    const char *texts[TEXTS];
    uint8_t *at = fixed + sizeof(body->id);

    memcpy(fixed, body->id, sizeof(body->id));
    at = lbx__put_le64(at, (uint64_t)body->sent_ns);
    at = lbx__put_le64(at, (uint64_t)body->sent_ms);
    at = lbx__put_le64(at, body->gid);
    at = lbx__put_le32(at, body->counted_bytes);
    at = lbx__put_le32(at, (uint32_t)body->parcel.body_bytes);
    at = lbx__put_le32(at, (uint32_t)body->parcel.attribute_count);
    body_texts_of(&body->parcel, body->source, texts);
    for (size_t i = 0; i < TEXTS; i++)
        at = lbx__put_le32(at, (uint32_t)body_text_bytes(texts[i]));
}

lbx_status
lbx__body_decode_fixed(lbx__bytes value, lbx__body *ret)
{
    const uint8_t *at = value.data;

    if (value.size < LBX__BODY_FIXED)
        return LBX_CORRUPT;
    memset(ret, 0, sizeof(*ret));
    memcpy(ret->id, at, sizeof(ret->id));
    ret->sent_ns = (int64_t)lbx__get_le64(at + 16);
    ret->sent_ms = (int64_t)lbx__get_le64(at + 24);
    ret->gid = lbx__get_le64(at + 32);
    ret->counted_bytes = lbx__get_le32(at + 40);
    ret->parcel.body_bytes = lbx__get_le32(at + 44);
    ret->parcel.attribute_count = lbx__get_le32(at + 48);
    ret->aged = lbx__get_le32(at + LBX__BODY_FIXED - 4) > 0;
    return LBX_OK;
}

/* The next `size` bytes of a value; NULL when fewer are left. */
static const uint8_t *
body_take(lbx__bytes *left, size_t size)
{
    const uint8_t *at = left->data;

    if (size > left->size)
        return NULL;
    left->data = at + size;
    left->size -= size;
    return at;
}

/* A text with its NUL; NULL for a size of 0. */
static bool
body_take_text(lbx__bytes *left, size_t size, const char **ret)
{
    *ret = NULL;
    if (size == 0)
        return true;
    *ret = (const char *)body_take(left, size);
    return *ret && (*ret)[size - 1] == '\0';
}

static bool
body_take_attribute(lbx__bytes *left, lbx_attribute *ret)
{
    const uint8_t *fixed = body_take(left, ATTRIBUTE_FIXED);

    if (!fixed || fixed[0] > LBX_ATTRIBUTE_BINARY)
        return false;
    ret->kind = (lbx_attribute_kind)fixed[0];
    ret->value_bytes = lbx__get_le32(fixed + 12);
    if (!body_take_text(left, lbx__get_le32(fixed + 4), &ret->name) ||
        !ret->name ||
        !body_take_text(left, lbx__get_le32(fixed + 8), &ret->label))
        return false;
    ret->value = body_take(left, ret->value_bytes);
    return ret->value != NULL;
}

static bool
body_reserve_attributes(lbx__attributes *attributes, size_t count)
{
    lbx_attribute *array;

    if (count <= attributes->capacity)
        return true;
    array = lbx__alloc(attributes->allocator, count * sizeof(*array),
                       _Alignof(lbx_attribute));
    if (!array)
        return false;
    lbx__body_attributes_fini(attributes);
    attributes->array = array;
    attributes->capacity = count;
    return true;
}

void
lbx__body_attributes_fini(lbx__attributes *attributes)
{
    lbx__free(attributes->allocator, attributes->array,
              attributes->capacity * sizeof(*attributes->array));
    attributes->array = NULL;
    attributes->capacity = 0;
}

static lbx_status
body_decode_attributes(lbx__bytes *left, lbx__attributes *attributes,
                       lbx_parcel *parcel)
{
    const size_t count = parcel->attribute_count;

    if (count > left->size / ATTRIBUTE_FIXED)
        return LBX_CORRUPT;
    if (!body_reserve_attributes(attributes, count))
        return LBX_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (!body_take_attribute(left, &attributes->array[i]))
            return LBX_CORRUPT;
    }
    parcel->attributes = attributes->array;
    return LBX_OK;
}

lbx_status
lbx__body_decode_rest(lbx__bytes value, lbx__attributes *attributes,
                      lbx__body *ret)
{
    const uint8_t *sizes =
        (const uint8_t *)value.data + (size_t)(LBX__BODY_FIXED - TEXTS * 4);
    const char *texts[TEXTS];
    lbx_parcel *parcel = &ret->parcel;
    lbx_status status;

    body_take(&value, LBX__BODY_FIXED);
    for (size_t i = 0; i < TEXTS; i++) {
        if (!body_take_text(&value, lbx__get_le32(sizes + 4 * i), &texts[i]))
            return LBX_CORRUPT;
    }
    parcel->type_name = texts[0];
    parcel->routes = texts[1];
    parcel->group = texts[2];
    parcel->deduplication_id = texts[3];
    parcel->trace = texts[4];
    parcel->in_reply_to = texts[5];
    ret->source = texts[6];
    if (parcel->attribute_count > 0) {
        status = body_decode_attributes(&value, attributes, parcel);
        if (status != LBX_OK)
            return status;
    }
    if (value.size != parcel->body_bytes)
        return LBX_CORRUPT;
    parcel->body = value.data;
    return LBX_OK;
}

lbx_status
lbx__body_decode(lbx__bytes value, lbx__attributes *attributes, lbx__body *ret)
{
    lbx_status status = lbx__body_decode_fixed(value, ret);

    return status == LBX_OK ? lbx__body_decode_rest(value, attributes, ret)
                            : status;
}

/* ---- Size ---- */

int64_t
lbx__body_parcel_bytes(const lbx_parcel *parcel)
{
    static const size_t kinds[] = {6, 6, 6}; // "String", "Number", "Binary"
    size_t size = parcel->body_bytes;

    for (size_t i = 0; i < parcel->attribute_count; i++) {
        const lbx_attribute *attribute = &parcel->attributes[i];

        size += strlen(attribute->name) + kinds[attribute->kind] +
                attribute->value_bytes;
        if (attribute->label)
            size += strlen(attribute->label) + 1; // "Number.float"
        if (size > (size_t)LBX__ROW_VALUE_MAX)
            break; // over every limit already: the sum cannot overflow
    }
    return size > INT64_MAX ? INT64_MAX : (int64_t)size;
}

size_t
lbx__body_row_bytes(const lbx_parcel *parcel)
{
    const char *texts[TEXTS];
    size_t size = LBX__BODY_FIXED + parcel->body_bytes;

    body_texts_of(parcel, NULL, texts);
    for (size_t i = 0; i < TEXTS; i++)
        size += body_text_bytes(texts[i]);
    for (size_t i = 0; i < parcel->attribute_count; i++)
        size += ATTRIBUTE_FIXED + strlen(parcel->attributes[i].name) + 1 +
                body_text_bytes(parcel->attributes[i].label) +
                parcel->attributes[i].value_bytes;
    return size;
}

/* ---- States ---- */

void
lbx__body_encode_state(const lbx__state *state, uint8_t bytes[LBX__STATE_BYTES])
{
    uint8_t *at = bytes;

    at = lbx__put_le32(at, (uint32_t)state->kind);
    at = lbx__put_le32(at, state->epoch);
    at = lbx__put_le32(at, state->deliveries);
    at = lbx__put_le32(at, state->carried);
    at = lbx__put_le64(at, (uint64_t)state->due);
    at = lbx__put_le64(at, state->ticket);
    at = lbx__put_le64(at, (uint64_t)state->claimed_due);
    at = lbx__put_le64(at, state->claimed_ticket);
    at = lbx__put_le64(at, (uint64_t)state->first_ms);
    lbx__put_le64(at, (uint64_t)state->received_ns);
}

lbx_status
lbx__body_decode_state(lbx__bytes value, lbx__state *ret)
{
    const uint8_t *at = value.data;

    if (value.size != LBX__STATE_BYTES || lbx__get_le32(at) > LBX__IS_DELAYED)
        return LBX_CORRUPT;
    ret->kind = (lbx__letter_kind)lbx__get_le32(at);
    ret->stored = true;
    ret->epoch = lbx__get_le32(at + 4);
    ret->deliveries = lbx__get_le32(at + 8);
    ret->carried = lbx__get_le32(at + 12);
    ret->due = (int64_t)lbx__get_le64(at + 16);
    ret->ticket = lbx__get_le64(at + 24);
    ret->claimed_due = (int64_t)lbx__get_le64(at + 32);
    ret->claimed_ticket = lbx__get_le64(at + 40);
    ret->first_ms = (int64_t)lbx__get_le64(at + 48);
    ret->received_ns = (int64_t)lbx__get_le64(at + 56);
    return LBX_OK;
}
