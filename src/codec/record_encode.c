/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to JSON; see record.h. What record_decode.c would refuse is refused
 * here too (RECORD-1).
 */
#include "codec/record.h"

#include "base/fault.h"
#include "base/utf8.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "codec/timestamp.h"

#include <math.h>
#include <string.h>

struct record_encoder {
    lbx__json_writer out;
    lbx__record_path path;
};

/* Notes what is wrong with the field; false, for the caller to return. */
static bool
record_encode_fail(struct record_encoder *encoder, const char *why)
{
    encoder->path.why = why;
    return false;
}

/* Checks that a text is one JSON value that the record can contain. */
static bool
record_encode_check_json(struct record_encoder *encoder, const char *json,
                         size_t size)
{
    lbx_buffer *out = encoder->out.buffer;
    lbx__json reader;
    bool deep = false;

    lbx__json_init(&reader, json, size, out->allocator);
    while (reader.status == LBX_OK && lbx__json_next(&reader) != LBX__JSON_END)
        deep = deep || reader.depth > LBX__JSON_DEPTH - encoder->out.depth;
    lbx__json_fini(&reader);
    if (reader.status == LBX_NO_MEMORY && out->status == LBX_OK)
        out->status = LBX_NO_MEMORY;
    if (reader.status != LBX_OK)
        return record_encode_fail(encoder, "it is not JSON");
    return !deep || record_encode_fail(encoder, "it has too many levels");
}

static void
record_encode_base64(struct record_encoder *encoder, lbx__record_bytes bytes)
{
    lbx_buffer *out = encoder->out.buffer;
    const size_t size = lbx__base64_text_size(LBX__BASE64, bytes.size);
    char *text;

    lbx__json_writer_raw(&encoder->out, "\"", 1);
    text = lbx__buffer_claim(out, size);
    if (text)
        lbx__base64_encode(LBX__BASE64, bytes.bytes, bytes.size, text);
    lbx__buffer_add_byte(out, '"');
}

/* A field that is bytes in memory and not NULL. */
static bool
record_encode_bytes(struct record_encoder *encoder, const lbx_field *field,
                    lbx__record_bytes bytes)
{
    lbx__json_writer *out = &encoder->out;
    const bool text = lbx__utf8_valid_bytes(bytes.bytes, bytes.size);
    char name[LBX__RECORD_NAME_BYTES];

    if (field->kind == LBX_FIELD_KIND_TEXT && !text)
        return record_encode_fail(encoder, "it is not UTF-8");
    if (field->kind == LBX_FIELD_KIND_JSON &&
        !record_encode_check_json(encoder, bytes.bytes, bytes.size))
        return false;
    // JSON allows U+0000, but our reader refuses it.
    if (field->kind == LBX_FIELD_KIND_BODY &&
        (!text || memchr(bytes.bytes, 0, bytes.size))) {
        lbx__record_base64_name(field, name);
        lbx__json_writer_name(out, name);
        record_encode_base64(encoder, bytes);
        return true;
    }
    lbx__json_writer_name(out, field->name);
    if (field->kind == LBX_FIELD_KIND_JSON)
        lbx__json_writer_raw(out, bytes.bytes, bytes.size);
    else if (field->kind == LBX_FIELD_KIND_BYTES)
        record_encode_base64(encoder, bytes);
    else
        lbx__json_writer_bytes(out, bytes.bytes, bytes.size);
    return true;
}

static bool
record_encode_chars(struct record_encoder *encoder, const lbx_field *field,
                    const char *chars)
{
    const char *end = memchr(chars, 0, field->extra);

    if (!end)
        return record_encode_fail(encoder, "it has no NUL");
    if (!lbx__utf8_valid(chars))
        return record_encode_fail(encoder, "it is not UTF-8");
    lbx__json_writer_name(&encoder->out, field->name);
    lbx__json_writer_text(&encoder->out, chars);
    return true;
}

static bool
record_encode_time(struct record_encoder *encoder, const lbx_field *field,
                   int64_t ms)
{
    char text[LBX__TIMESTAMP_BYTES];

    if (!lbx__timestamp_format(ms, text))
        return record_encode_fail(encoder, "it is not in the years 0 to 9999");
    lbx__json_writer_name(&encoder->out, field->name);
    lbx__json_writer_text(&encoder->out, text);
    return true;
}

/* A field that is a number. */
static bool
record_encode_number(struct record_encoder *encoder, const lbx_field *field,
                     const void *at)
{
    int64_t number = 0;
    int32_t small;
    uint32_t count;
    double real;

    if (field->kind == LBX_FIELD_KIND_DOUBLE) {
        memcpy(&real, at, sizeof(real));
        if (!isfinite(real))
            return record_encode_fail(encoder, "it is not finite");
        lbx__json_writer_name(&encoder->out, field->name);
        lbx__json_writer_double(&encoder->out, real);
        return true;
    }
    if (field->kind == LBX_FIELD_KIND_INT32) {
        memcpy(&small, at, sizeof(small));
        number = small;
    } else if (field->kind == LBX_FIELD_KIND_UINT32) {
        memcpy(&count, at, sizeof(count));
        number = count;
    } else {
        memcpy(&number, at, sizeof(number));
    }
    lbx__json_writer_name(&encoder->out, field->name);
    lbx__json_writer_integer(&encoder->out, number);
    return true;
}

static bool record_encode_struct(struct record_encoder *encoder,
                                 const lbx_record *record, const void *message);

/* A struct inside the struct, or where the field points to. */
static bool
record_encode_inside(struct record_encoder *encoder, const lbx_field *field,
                     const void *message)
{
    lbx__json_writer_name(&encoder->out, field->name);
    return record_encode_struct(encoder, field->record, message);
}

/* Whether the field is there: by its value, as its kind says. */
static bool
record_encode_is_absent(const lbx_field *field, const void *at)
{
    const void *pointer;
    int64_t ms;

    switch (field->kind) {
    case LBX_FIELD_KIND_TEXT:
    case LBX_FIELD_KIND_JSON:
    case LBX_FIELD_KIND_BYTES:
    case LBX_FIELD_KIND_BODY:
    case LBX_FIELD_KIND_POINTER:
        memcpy(&pointer, at, sizeof(pointer));
        return !pointer;
    case LBX_FIELD_KIND_CHARS:
        return *(const char *)at == '\0';
    case LBX_FIELD_KIND_TIME:
        memcpy(&ms, at, sizeof(ms));
        return ms == 0;
    default:
        return false;
    }
}

static bool
record_encode_field(struct record_encoder *encoder, const lbx_field *field,
                    const void *message)
{
    const void *at = (const char *)message + field->offset_bytes;
    const void *pointer;
    int64_t ms;
    bool truth;

    if (record_encode_is_absent(field, at))
        return field->optional ||
               record_encode_fail(encoder, "it is absent and not optional");
    switch (field->kind) {
    case LBX_FIELD_KIND_TEXT:
    case LBX_FIELD_KIND_JSON:
    case LBX_FIELD_KIND_BYTES:
    case LBX_FIELD_KIND_BODY:
        return record_encode_bytes(encoder, field,
                                   lbx__record_get_bytes(message, field));
    case LBX_FIELD_KIND_CHARS:
        return record_encode_chars(encoder, field, at);
    case LBX_FIELD_KIND_TIME:
        memcpy(&ms, at, sizeof(ms));
        return record_encode_time(encoder, field, ms);
    case LBX_FIELD_KIND_BOOL:
        memcpy(&truth, at, sizeof(truth));
        lbx__json_writer_name(&encoder->out, field->name);
        lbx__json_writer_boolean(&encoder->out, truth);
        return true;
    case LBX_FIELD_KIND_RECORD:
        return record_encode_inside(encoder, field, at);
    case LBX_FIELD_KIND_POINTER:
        memcpy(&pointer, at, sizeof(pointer));
        return record_encode_inside(encoder, field, pointer);
    default:
        return record_encode_number(encoder, field, at);
    }
}

static bool
record_encode_struct(struct record_encoder *encoder, const lbx_record *record,
                     const void *message)
{
    lbx__record_path *path = &encoder->path;

    lbx__json_writer_object(&encoder->out);
    path->depth++;
    for (size_t i = 0; i < record->field_count; i++) {
        const lbx_field *field = lbx__record_field(record, i);

        path->names[path->depth - 1] = field->name;
        if (!record_encode_field(encoder, field, message))
            return false;
    }
    path->depth--;
    lbx__json_writer_object_end(&encoder->out);
    return true;
}

lbx_status
lbx__record_encode(const lbx_record *record, const void *message,
                   lbx_buffer *out, lbx_fault *fault)
{
    struct record_encoder encoder = {.path = {.depth = 0}};
    bool whole;

    lbx__json_writer_init(&encoder.out, out);
    whole = record_encode_struct(&encoder, record, message);
    if (out->status != LBX_OK)
        return lbx__fault_set(fault, out->status, "%s: %s", record->name,
                              lbx_status_text(out->status));
    return whole
               ? LBX_OK
               : lbx__record_fault(record, &encoder.path, LBX_ENCODING, fault);
}

lbx_status
lbx_record_encode(const lbx_record *record, const void *message,
                  lbx_buffer *out, lbx_fault *fault)
{
    const lbx_status status = lbx__record_check(record, fault);

    if (status != LBX_OK)
        return status;
    if (!message || !out)
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s: there is no message, or no buffer",
                              record->name);
    return lbx__record_encode(record, message, out, fault);
}
