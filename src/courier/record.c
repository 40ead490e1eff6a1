/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to JSON, and their types; see record.h. A text that the reader of
 * record_decode.c would refuse is refused here too (RECORD-1).
 */
#include "courier/record.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/timestamp.h"
#include <letterbox/post/draft.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const void *
record_member(const void *record, const lbx__record_field *field)
{
    return (const char *)record + field->offset;
}

void
lbx__record_base64_name(const lbx__record_field *field,
                        char name[LBX__RECORD_NAME_BYTES])
{
    int length =
        snprintf(name, LBX__RECORD_NAME_BYTES, "%s_base64", field->name);

    assert(length < LBX__RECORD_NAME_BYTES);
    (void)length;
}

struct writing {
    lbx__json_writer out;
    const lbx_allocator *allocator;
    lbx_status status;
};

/* Checks that a text is one JSON value that a record can contain. */
static lbx_status
record_check_json(const char *json, const lbx_allocator *allocator)
{
    lbx_status status = LBX_OK;
    lbx__json reader;

    lbx__json_init(&reader, json, strlen(json), allocator);
    while (status == LBX_OK && lbx__json_next(&reader) != LBX__JSON_END) {
        status = reader.status;
        if (reader.depth == LBX__JSON_DEPTH)
            status = LBX_ENCODING; // one level more, and it could not be read
    }
    lbx__json_fini(&reader);
    return status == LBX_NO_MEMORY ? status
           : status == LBX_OK      ? LBX_OK
                                   : LBX_ENCODING;
}

static void
record_write_json(struct writing *writing, const lbx__record_field *field,
                  const char *json)
{
    writing->status = record_check_json(json, writing->allocator);
    if (writing->status != LBX_OK)
        return;
    lbx__json_writer_name(&writing->out, field->name);
    lbx__json_writer_raw(&writing->out, json, strlen(json));
}

static void
record_write_text(struct writing *writing, const lbx__record_field *field,
                  const char *text)
{
    lbx__json_writer_name(&writing->out, field->name);
    lbx__json_writer_text(&writing->out, text);
}

static void
record_write_time(struct writing *writing, const lbx__record_field *field,
                  int64_t ms)
{
    char text[LBX__TIMESTAMP_BYTES];

    if (lbx__timestamp_format(ms, text))
        record_write_text(writing, field, text);
    else
        writing->status = LBX_ENCODING;
}

static void
record_write_base64(struct writing *writing, const lbx__record_field *field,
                    const lbx__record_body *body)
{
    const size_t size = lbx__base64_text_size(LBX__BASE64, body->size);
    char name[LBX__RECORD_NAME_BYTES];
    char *text = lbx__alloc(writing->allocator, size + 1, 1);

    if (!text) {
        writing->status = LBX_NO_MEMORY;
        return;
    }
    lbx__base64_encode(LBX__BASE64, body->bytes, body->size, text);
    lbx__record_base64_name(field, name);
    lbx__json_writer_name(&writing->out, name);
    lbx__json_writer_bytes(&writing->out, text, size);
    lbx__free(writing->allocator, text, size + 1);
}

static void
record_write_body(struct writing *writing, const lbx__record_field *field,
                  const lbx__record_body *body)
{
    // JSON allows U+0000, but our reader refuses it.
    if (lbx__utf8_valid_bytes(body->bytes, body->size) &&
        !memchr(body->bytes, 0, body->size)) {
        lbx__json_writer_name(&writing->out, field->name);
        lbx__json_writer_bytes(&writing->out, body->bytes, body->size);
    } else {
        record_write_base64(writing, field, body);
    }
}

/* Writes a member; false when it is absent. */
static bool
record_write_field(struct writing *writing, const lbx__record_field *field,
                   const void *record)
{
    const void *at = record_member(record, field);
    const char *text;
    lbx__record_body body;
    int64_t ms;

    switch (field->kind) {
    case LBX__RECORD_TEXT:
    case LBX__RECORD_JSON:
        memcpy(&text, at, sizeof(text));
        if (!text)
            return false;
        if (field->kind == LBX__RECORD_JSON)
            record_write_json(writing, field, text);
        else
            record_write_text(writing, field, text);
        return true;
    case LBX__RECORD_ID:
        text = ((const lbx_id *)at)->text;
        if (!text[0])
            return false;
        if (memchr(text, 0, sizeof(lbx_id)))
            record_write_text(writing, field, text);
        else
            writing->status = LBX_ENCODING;
        return true;
    case LBX__RECORD_TIME:
        memcpy(&ms, at, sizeof(ms));
        if (ms == 0)
            return false;
        record_write_time(writing, field, ms);
        return true;
    case LBX__RECORD_COUNT:
        lbx__json_writer_name(&writing->out, field->name);
        lbx__json_writer_integer(&writing->out, *(const uint32_t *)at);
        return true;
    default:
        memcpy(&body, at, sizeof(body));
        if (!body.bytes)
            return false;
        record_write_body(writing, field, &body);
        return true;
    }
}

lbx_status
lbx__record_encode(const lbx__record_kind *kind, const void *record,
                   const lbx_allocator *allocator, lbx_buffer *out)
{
    struct writing writing = {.allocator = allocator};
    size_t end = kind->size_bytes;

    if (kind->sized) {
        if (lbx__sized_check(record, kind->sized, NULL) != LBX_OK)
            return LBX_ENCODING;
        memcpy(&end, record, sizeof(end)); // SIZED-1
    }
    lbx__json_writer_init(&writing.out, out);
    lbx__json_writer_object(&writing.out);
    for (size_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].offset >= end)
            continue;
        if (!record_write_field(&writing, &kind->fields[i], record) &&
            kind->fields[i].required)
            return LBX_ENCODING;
        if (writing.status != LBX_OK)
            return writing.status;
    }
    lbx__json_writer_object_end(&writing.out);
    return out->status;
}

void
lbx__record_destroy(void *record)
{
    struct lbx__record_block *block;

    if (!record)
        return;
    block =
        (struct lbx__record_block *)(void *)((char *)record -
                                             offsetof(struct lbx__record_block,
                                                      record));
    lbx__buffer_fini(&block->texts);
    lbx__free(block->allocator, block, block->size_bytes);
}

/* ---- Types ---- */

static void
record_type_destroy(void *message, void *context)
{
    (void)context;
    lbx__record_destroy(message);
}

static lbx_status
record_type_encode(const void *message, lbx_buffer *out, void *context)
{
    return message ? lbx__record_encode(context, message, NULL, out)
                   : LBX_ENCODING;
}

static lbx_status
record_type_decode(const void *bytes, size_t size_bytes, void **ret,
                   void *context)
{
    return lbx__record_decode(context, bytes, size_bytes, NULL, ret);
}

const lbx_type *
lbx__record_make_type(lbx__type_storage *storage, const lbx__record_kind *kind)
{
    lbx_type_options options = LBX_TYPE_OPTIONS_INIT;

    options.name = kind->name;
    options.context = (void *)(uintptr_t)kind;
    options.destroy = record_type_destroy;
    options.encode = record_type_encode;
    options.decode = record_type_decode;
    return lbx__type_init_static(storage, options);
}
