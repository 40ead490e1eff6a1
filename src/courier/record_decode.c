/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from JSON; see record.h.
 *
 * Texts of a decoded record lie one behind the other in one buffer. It moves
 * while it grows, so that they are found by where they begin until all have been
 * read.
 */
#include "courier/record.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/timestamp.h"
#include <letterbox/post/draft.h>

#include <assert.h>
#include <stdalign.h>
#include <string.h>

/* What a decoded record lies in (Y2). */
struct block {
    const lbx_allocator *allocator;
    size_t size_bytes;
    lbx_buffer texts;
    alignas(max_align_t) unsigned char record[];
};

struct reading {
    const lbx__record_kind *kind;
    lbx__json json;
    struct block *block;
    struct {
        bool there;
        size_t begins; /* in the block's texts */
        size_t size;
    } texts[LBX__RECORD_MAX_FIELDS];
};

static lbx_buffer *
texts_of(struct reading *reading)
{
    return &reading->block->texts;
}

static void *
place_of(struct reading *reading, size_t index)
{
    return reading->block->record + reading->kind->fields[index].offset;
}

/* Keeps bytes as the text of a member, with a NUL behind them. */
static bool
keep(struct reading *reading, size_t index, const char *bytes, size_t size)
{
    reading->texts[index].there = true;
    reading->texts[index].begins = texts_of(reading)->size;
    reading->texts[index].size = size;
    lbx__buffer_add(texts_of(reading), bytes, size);
    lbx__buffer_add_byte(texts_of(reading), '\0');
    return texts_of(reading)->status == LBX_OK;
}

/* The string that is the token. */
static bool
keep_string(struct reading *reading, size_t index)
{
    lbx_buffer *texts = texts_of(reading);

    if (reading->json.kind != LBX__JSON_STRING)
        return false;
    reading->texts[index].there = true;
    reading->texts[index].begins = texts->size;
    lbx__json_text(&reading->json, texts);
    reading->texts[index].size = texts->size - reading->texts[index].begins;
    lbx__buffer_add_byte(texts, '\0');
    return texts->status == LBX_OK;
}

/* The JSON value that the token begins, as it stands there. */
static bool
keep_json(struct reading *reading, size_t index)
{
    const char *begins = reading->json.token;

    if (reading->json.kind == LBX__JSON_STRING)
        begins--; // the quote
    return lbx__json_skip(&reading->json) &&
           keep(reading, index, begins, (size_t)(reading->json.at - begins));
}

static bool
read_id(struct reading *reading, size_t index)
{
    lbx_id *id = place_of(reading, index);

    if (!keep_string(reading, index) || reading->texts[index].size == 0 ||
        reading->texts[index].size >= sizeof(id->text))
        return false;
    memcpy(id->text, texts_of(reading)->bytes + reading->texts[index].begins,
           reading->texts[index].size + 1);
    return true;
}

static bool
read_time(struct reading *reading, size_t index)
{
    const lbx__json *json = &reading->json;

    return json->kind == LBX__JSON_STRING &&
           lbx__timestamp_parse(json->token, json->size,
                                place_of(reading, index));
}

static bool
read_count(struct reading *reading, size_t index)
{
    uint32_t *count = place_of(reading, index);
    int64_t number;

    if (!lbx__json_integer(&reading->json, &number) || number < 0 ||
        number > UINT32_MAX)
        return false;
    *count = (uint32_t)number;
    return true;
}

static bool
read_base64(struct reading *reading, size_t index)
{
    const lbx__json *json = &reading->json;
    char *bytes;
    size_t most, size;

    if (json->kind != LBX__JSON_STRING || json->escaped)
        return false;
    most = lbx__base64_max_bytes(json->size);
    reading->texts[index].there = true;
    reading->texts[index].begins = texts_of(reading)->size;
    bytes = lbx__buffer_claim(texts_of(reading), most + 1);
    if (!bytes ||
        !lbx__base64_decode(LBX__BASE64, json->token, json->size, bytes, &size))
        return false;
    memset(bytes + size, 0, most + 1 - size);
    reading->texts[index].size = size;
    return true;
}

/* The value of a member; the token is the value's first. */
static bool
read_value(struct reading *reading, size_t index, bool base64)
{
    if (reading->json.kind == LBX__JSON_NULL)
        return true; // as if it were not there
    if (reading->texts[index].there)
        return false; // a body in both forms
    switch (reading->kind->fields[index].kind) {
    case LBX__RECORD_JSON:
        return keep_json(reading, index);
    case LBX__RECORD_ID:
        return read_id(reading, index);
    case LBX__RECORD_TIME:
        return read_time(reading, index);
    case LBX__RECORD_COUNT:
        return read_count(reading, index);
    default:
        return base64 ? read_base64(reading, index)
                      : keep_string(reading, index);
    }
}

/* Which member a name is; -1: none that is known. */
static int
find_field(const struct reading *reading, bool *ret_base64)
{
    char name[LBX__RECORD_NAME_BYTES];

    *ret_base64 = false;
    for (size_t i = 0; i < reading->kind->field_count; i++) {
        const lbx__record_field *field = &reading->kind->fields[i];

        if (lbx__json_is(&reading->json, field->name))
            return (int)i;
        if (field->kind != LBX__RECORD_BODY)
            continue;
        lbx__record_base64_name(field, name);
        *ret_base64 = lbx__json_is(&reading->json, name);
        if (*ret_base64)
            return (int)i;
    }
    return -1;
}

static bool
read_all(struct reading *reading)
{
    lbx__json *json = &reading->json;

    if (lbx__json_next(json) != LBX__JSON_OBJECT)
        return false;
    while (lbx__json_next(json) == LBX__JSON_NAME) {
        bool base64;
        const int index = find_field(reading, &base64);

        if (index < 0) {
            if (!lbx__json_skip(json))
                return false;
            continue;
        }
        if (lbx__json_next(json) == LBX__JSON_FAULT ||
            !read_value(reading, (size_t)index, base64))
            return false;
    }
    return json->kind == LBX__JSON_OBJECT_END &&
           lbx__json_next(json) == LBX__JSON_END;
}

/* Texts do not move any more: members can point to them. */
static bool
point(struct reading *reading)
{
    const lbx__record_kind *kind = reading->kind;

    for (size_t i = 0; i < kind->field_count; i++) {
        const char *text;
        lbx__record_body body;

        if (!reading->texts[i].there) {
            if (kind->fields[i].required)
                return false;
            continue;
        }
        text = texts_of(reading)->bytes + reading->texts[i].begins;
        body = (lbx__record_body){text, reading->texts[i].size};
        if (kind->fields[i].kind == LBX__RECORD_ID)
            continue; // copied already
        if (kind->fields[i].kind == LBX__RECORD_BODY)
            memcpy(place_of(reading, i), &body, sizeof(body));
        else
            memcpy(place_of(reading, i), &text, sizeof(text));
    }
    return true;
}

lbx_status
lbx__record_decode(const lbx__record_kind *kind, const char *json, size_t size,
                   const lbx_allocator *allocator, void **ret)
{
    const size_t size_bytes = sizeof(struct block) + kind->size_bytes;
    struct reading reading = {.kind = kind};
    lbx_status status = LBX_OK;

    assert(kind->field_count <= LBX__RECORD_MAX_FIELDS);
    reading.block = lbx__zalloc(allocator, size_bytes);
    if (!reading.block)
        return LBX_NO_MEMORY;
    reading.block->allocator = allocator;
    reading.block->size_bytes = size_bytes;
    // A string loses two quotes and gets a NUL, a value loses a colon.
    lbx__buffer_init(texts_of(&reading), allocator, size);
    lbx__json_init(&reading.json, json, size, allocator);
    if (!read_all(&reading) || !point(&reading))
        status = texts_of(&reading)->status == LBX_NO_MEMORY ||
                         reading.json.status == LBX_NO_MEMORY
                     ? LBX_NO_MEMORY
                     : LBX_ENCODING;
    lbx__json_fini(&reading.json);
    if (status == LBX_OK)
        *ret = reading.block->record;
    else
        lbx__record_destroy(reading.block->record);
    return status;
}

void
lbx__record_destroy(void *record)
{
    struct block *block;

    if (!record)
        return;
    block = (struct block *)(void *)((char *)record -
                                     offsetof(struct block, record));
    lbx__buffer_fini(&block->texts);
    lbx__free(block->allocator, block, block->size_bytes);
}
