/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from JSON; see record.h.
 *
 * The texts of a decoded record lie one after the other in one buffer. The
 * buffer moves while it grows, so texts are identified by their offsets until
 * all of them have been read; then the members are pointed at them.
 */
#include "courier/record.h"

#include "base/alloc.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/timestamp.h"
#include <letterbox/post/draft.h>

#include <assert.h>
#include <stdalign.h>
#include <string.h>

struct record_decoder {
    const lbx__record_kind *kind;
    lbx__json json;
    struct lbx__record_block *block;
    struct {
        bool there;
        size_t begins; /* in the block's texts */
        size_t size;
    } texts[LBX__RECORD_MAX_FIELDS];
};

static lbx_buffer *
record_texts_of(struct record_decoder *decoder)
{
    return &decoder->block->texts;
}

static void *
record_member_address(struct record_decoder *decoder, size_t index)
{
    return decoder->block->record + decoder->kind->fields[index].offset;
}

/* Keeps bytes as the text of a member, followed by a NUL. */
static bool
record_keep(struct record_decoder *decoder, size_t index, const char *bytes,
            size_t size)
{
    decoder->texts[index].there = true;
    decoder->texts[index].begins = record_texts_of(decoder)->size;
    decoder->texts[index].size = size;
    lbx__buffer_add(record_texts_of(decoder), bytes, size);
    lbx__buffer_add_byte(record_texts_of(decoder), '\0');
    return record_texts_of(decoder)->status == LBX_OK;
}

/* Keeps the token, a string, decoded. */
static bool
record_keep_string(struct record_decoder *decoder, size_t index)
{
    lbx_buffer *texts = record_texts_of(decoder);

    if (decoder->json.kind != LBX__JSON_STRING)
        return false;
    decoder->texts[index].there = true;
    decoder->texts[index].begins = texts->size;
    lbx__json_text(&decoder->json, texts);
    decoder->texts[index].size = texts->size - decoder->texts[index].begins;
    lbx__buffer_add_byte(texts, '\0');
    return texts->status == LBX_OK;
}

/* Keeps the JSON value that starts at the token, unchanged. */
static bool
record_keep_json(struct record_decoder *decoder, size_t index)
{
    const char *begins = decoder->json.token;

    if (decoder->json.kind == LBX__JSON_STRING)
        begins--; // the quote
    return lbx__json_skip(&decoder->json) &&
           record_keep(decoder, index, begins,
                       (size_t)(decoder->json.at - begins));
}

static bool
record_read_id(struct record_decoder *decoder, size_t index)
{
    lbx_id *id = record_member_address(decoder, index);

    if (!record_keep_string(decoder, index) ||
        decoder->texts[index].size == 0 ||
        decoder->texts[index].size >= sizeof(id->text))
        return false;
    memcpy(id->text,
           record_texts_of(decoder)->bytes + decoder->texts[index].begins,
           decoder->texts[index].size + 1);
    return true;
}

static bool
record_read_time(struct record_decoder *decoder, size_t index)
{
    const lbx__json *json = &decoder->json;

    return json->kind == LBX__JSON_STRING &&
           lbx__timestamp_parse(json->token, json->size,
                                record_member_address(decoder, index));
}

static bool
record_read_count(struct record_decoder *decoder, size_t index)
{
    uint32_t *count = record_member_address(decoder, index);
    int64_t number;

    if (!lbx__json_integer(&decoder->json, &number) || number < 0 ||
        number > UINT32_MAX)
        return false;
    *count = (uint32_t)number;
    return true;
}

static bool
record_read_base64(struct record_decoder *decoder, size_t index)
{
    const lbx__json *json = &decoder->json;
    char *bytes;
    size_t max_bytes, size;

    if (json->kind != LBX__JSON_STRING || json->escaped)
        return false;
    max_bytes = lbx__base64_max_bytes(json->size);
    decoder->texts[index].there = true;
    decoder->texts[index].begins = record_texts_of(decoder)->size;
    bytes = lbx__buffer_claim(record_texts_of(decoder), max_bytes + 1);
    if (!bytes ||
        !lbx__base64_decode(LBX__BASE64, json->token, json->size, bytes, &size))
        return false;
    memset(bytes + size, 0, max_bytes + 1 - size);
    decoder->texts[index].size = size;
    return true;
}

/* The value of a member; the token is the value's first. */
static bool
record_read_value(struct record_decoder *decoder, size_t index, bool base64)
{
    if (decoder->json.kind == LBX__JSON_NULL)
        return true; // absent
    if (decoder->texts[index].there)
        return false; // a body in both forms
    switch (decoder->kind->fields[index].kind) {
    case LBX__RECORD_JSON:
        return record_keep_json(decoder, index);
    case LBX__RECORD_ID:
        return record_read_id(decoder, index);
    case LBX__RECORD_TIME:
        return record_read_time(decoder, index);
    case LBX__RECORD_COUNT:
        return record_read_count(decoder, index);
    default:
        return base64 ? record_read_base64(decoder, index)
                      : record_keep_string(decoder, index);
    }
}

/* The index of the member with this name; -1: unknown. */
static int
record_find_field(const struct record_decoder *decoder, bool *ret_base64)
{
    char name[LBX__RECORD_NAME_BYTES];

    *ret_base64 = false;
    for (size_t i = 0; i < decoder->kind->field_count; i++) {
        const lbx__record_field *field = &decoder->kind->fields[i];

        if (lbx__json_is(&decoder->json, field->name))
            return (int)i;
        if (field->kind != LBX__RECORD_BODY)
            continue;
        lbx__record_base64_name(field, name);
        *ret_base64 = lbx__json_is(&decoder->json, name);
        if (*ret_base64)
            return (int)i;
    }
    return -1;
}

static bool
record_read_all(struct record_decoder *decoder)
{
    lbx__json *json = &decoder->json;

    if (lbx__json_next(json) != LBX__JSON_OBJECT)
        return false;
    while (lbx__json_next(json) == LBX__JSON_NAME) {
        bool base64;
        const int index = record_find_field(decoder, &base64);

        if (index < 0) {
            if (!lbx__json_skip(json))
                return false;
            continue;
        }
        if (lbx__json_next(json) == LBX__JSON_FAULT ||
            !record_read_value(decoder, (size_t)index, base64))
            return false;
    }
    return json->kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(json) == LBX__JSON_END;
}

/* Points the members at their texts, which do not move any more. */
static bool
record_point_texts(struct record_decoder *decoder)
{
    const lbx__record_kind *kind = decoder->kind;

    for (size_t i = 0; i < kind->field_count; i++) {
        const char *text;
        lbx__record_body body;

        if (!decoder->texts[i].there) {
            if (kind->fields[i].required)
                return false;
            continue;
        }
        text = record_texts_of(decoder)->bytes + decoder->texts[i].begins;
        body = (lbx__record_body){text, decoder->texts[i].size};
        if (kind->fields[i].kind == LBX__RECORD_ID)
            continue; // copied already
        if (kind->fields[i].kind == LBX__RECORD_BODY)
            memcpy(record_member_address(decoder, i), &body, sizeof(body));
        else
            memcpy(record_member_address(decoder, i), &text, sizeof(text));
    }
    return true;
}

lbx_status
lbx__record_decode(const lbx__record_kind *kind, const char *json, size_t size,
                   const lbx_allocator *allocator, void **ret)
{
    const size_t size_bytes =
        sizeof(struct lbx__record_block) + kind->size_bytes;
    struct record_decoder decoder = {.kind = kind};
    lbx_status status = LBX_OK;

    assert(kind->field_count <= LBX__RECORD_MAX_FIELDS);
    decoder.block = lbx__zalloc(allocator, size_bytes);
    if (!decoder.block)
        return LBX_NO_MEMORY;
    decoder.block->allocator = allocator;
    decoder.block->size_bytes = size_bytes;
    // A string loses two quotes and gets a NUL, a value loses a colon.
    lbx__buffer_init(record_texts_of(&decoder), allocator, size);
    lbx__json_init(&decoder.json, json, size, allocator);
    if (!record_read_all(&decoder) || !record_point_texts(&decoder))
        status = record_texts_of(&decoder)->status == LBX_NO_MEMORY ||
                         decoder.json.status == LBX_NO_MEMORY
                     ? LBX_NO_MEMORY
                     : LBX_ENCODING;
    lbx__json_fini(&decoder.json);
    if (status == LBX_OK && kind->sized)
        memcpy(decoder.block->record, &kind->size_bytes,
               sizeof(kind->size_bytes));
    if (status == LBX_OK)
        *ret = decoder.block->record;
    else
        lbx__record_destroy(decoder.block->record);
    return status;
}
