/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from JSON; see record.h.
 *
 * The block has as many bytes for texts as the JSON has in all. That is enough,
 * since a string loses two quotes and gets a NUL, a JSON value loses its colon,
 * and base64 shrinks: so texts never move, and members point at them at once.
 */
#include "codec/record.h"

#include "base/alloc.h"
#include "base/fault.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "codec/timestamp.h"

#include <assert.h>
#include <string.h>

struct record_decoder {
    lbx__json json;
    lbx__record_block block;
    lbx_buffer texts; /* in the block; does not grow */
    lbx__record_path path;
};

/* Notes what is wrong with the field; false, for the caller to return. */
static bool
record_decode_fail(struct record_decoder *decoder, const char *why)
{
    if (!decoder->path.why)
        decoder->path.why = why;
    return false;
}

/* Where the next text starts. */
static char *
record_decode_next(const struct record_decoder *decoder)
{
    return decoder->texts.bytes + decoder->texts.size;
}

/* Appends the token, a string, decoded and with a NUL. */
static bool
record_decode_string(struct record_decoder *decoder, lbx__record_bytes *ret)
{
    char *begins = record_decode_next(decoder);

    if (decoder->json.kind != LBX__JSON_STRING)
        return record_decode_fail(decoder, "a string is expected");
    lbx__json_text(&decoder->json, &decoder->texts);
    *ret = (lbx__record_bytes){begins,
                               (size_t)(record_decode_next(decoder) - begins)};
    lbx__buffer_add_byte(&decoder->texts, '\0');
    assert(decoder->texts.status == LBX_OK);
    return true;
}

/* Appends the JSON value that starts at the token, unchanged. */
static bool
record_decode_json(struct record_decoder *decoder, lbx__record_bytes *ret)
{
    const char *begins = decoder->json.token;

    if (decoder->json.kind == LBX__JSON_STRING)
        begins--; // the quote
    if (!lbx__json_skip(&decoder->json))
        return false;
    *ret = (lbx__record_bytes){record_decode_next(decoder),
                               (size_t)(decoder->json.at - begins)};
    lbx__buffer_add(&decoder->texts, begins, ret->size);
    lbx__buffer_add_byte(&decoder->texts, '\0');
    assert(decoder->texts.status == LBX_OK);
    return true;
}

static bool
record_decode_base64(struct record_decoder *decoder, lbx__record_bytes *ret)
{
    const lbx__json *json = &decoder->json;
    char *bytes = record_decode_next(decoder);

    if (json->kind != LBX__JSON_STRING)
        return record_decode_fail(decoder, "a string is expected");
    if (json->escaped ||
        !lbx__buffer_claim(&decoder->texts,
                           lbx__base64_max_bytes(json->size) + 1) ||
        !lbx__base64_decode(LBX__BASE64, json->token, json->size, bytes,
                            &ret->size))
        return record_decode_fail(decoder, "it is not base64");
    bytes[ret->size] = '\0';
    ret->bytes = bytes;
    return true;
}

static bool
record_decode_bytes(struct record_decoder *decoder, const lbx_field *field,
                    void *message, bool base64)
{
    lbx__record_bytes bytes = {NULL, 0};
    const bool read = base64 ? record_decode_base64(decoder, &bytes)
                      : field->kind == LBX_FIELD_KIND_JSON
                          ? record_decode_json(decoder, &bytes)
                          : record_decode_string(decoder, &bytes);

    if (read)
        lbx__record_set_bytes(message, field, bytes);
    return read;
}

static bool
record_decode_chars(struct record_decoder *decoder, const lbx_field *field,
                    void *at)
{
    lbx__record_bytes bytes;

    if (!record_decode_string(decoder, &bytes))
        return false;
    if (bytes.size >= field->extra)
        return record_decode_fail(decoder, "it is too long");
    if (bytes.size == 0 && !field->optional)
        return record_decode_fail(decoder, "it is empty");
    memcpy(at, bytes.bytes, bytes.size + 1);
    return true;
}

static bool
record_decode_time(struct record_decoder *decoder, const lbx_field *field,
                   void *at)
{
    const lbx__json *json = &decoder->json;
    int64_t ms;

    if (json->kind != LBX__JSON_STRING ||
        !lbx__timestamp_parse(json->token, json->size, &ms))
        return record_decode_fail(decoder, "a time is expected, RFC 3339");
    if (ms == 0 && !field->optional)
        return record_decode_fail(decoder, "the start of 1970 is no time here");
    memcpy(at, &ms, sizeof(ms));
    return true;
}

static bool
record_decode_integer(struct record_decoder *decoder, const lbx_field *field,
                      void *at)
{
    int64_t number;

    if (!lbx__json_integer(&decoder->json, &number))
        return record_decode_fail(decoder, "a whole number is expected");
    if (field->kind == LBX_FIELD_KIND_INT64) {
        memcpy(at, &number, sizeof(number));
    } else if (field->kind == LBX_FIELD_KIND_INT32) {
        const int32_t small = (int32_t)number;

        if (small != number)
            return record_decode_fail(decoder, "it has more than 32 bits");
        memcpy(at, &small, sizeof(small));
    } else {
        const uint32_t count = (uint32_t)number;

        if (number < 0 || count != number)
            return record_decode_fail(decoder, "it is not 0 to 4294967295");
        memcpy(at, &count, sizeof(count));
    }
    return true;
}

static bool record_decode_struct(struct record_decoder *decoder,
                                 const lbx_record *record, void *message);

static bool
record_decode_pointer(struct record_decoder *decoder, const lbx_field *field,
                      void *at)
{
    void *inside = lbx__record_block_take(&decoder->block, field->record);

    memcpy(at, &inside, sizeof(inside));
    return record_decode_struct(decoder, field->record, inside);
}

/* The value of a field; the token is its first. */
static bool
record_decode_value(struct record_decoder *decoder, const lbx_field *field,
                    void *message, bool base64)
{
    void *at = lbx__record_member(message, field);
    const lbx__json_kind kind = decoder->json.kind;
    bool truth = kind == LBX__JSON_TRUE;
    double real;

    switch (field->kind) {
    case LBX_FIELD_KIND_TEXT:
    case LBX_FIELD_KIND_JSON:
    case LBX_FIELD_KIND_BODY:
        return record_decode_bytes(decoder, field, message, base64);
    case LBX_FIELD_KIND_BYTES:
        return record_decode_bytes(decoder, field, message, true);
    case LBX_FIELD_KIND_CHARS:
        return record_decode_chars(decoder, field, at);
    case LBX_FIELD_KIND_TIME:
        return record_decode_time(decoder, field, at);
    case LBX_FIELD_KIND_BOOL:
        if (!truth && kind != LBX__JSON_FALSE)
            return record_decode_fail(decoder, "true or false is expected");
        memcpy(at, &truth, sizeof(truth));
        return true;
    case LBX_FIELD_KIND_DOUBLE:
        if (!lbx__json_double(&decoder->json, &real))
            return record_decode_fail(decoder, "a number is expected, as a "
                                               "double can have it");
        memcpy(at, &real, sizeof(real));
        return true;
    case LBX_FIELD_KIND_RECORD:
        return record_decode_struct(decoder, field->record, at);
    case LBX_FIELD_KIND_POINTER:
        return record_decode_pointer(decoder, field, at);
    default:
        return record_decode_integer(decoder, field, at);
    }
}

/* The index of the field with this name; field_count: none. */
static size_t
record_decode_find(const struct record_decoder *decoder,
                   const lbx_record *record, bool *ret_base64)
{
    char name[LBX__RECORD_NAME_BYTES];
    size_t i;

    *ret_base64 = false;
    for (i = 0; i < record->field_count; i++) {
        const lbx_field *field = lbx__record_field(record, i);

        if (lbx__json_is(&decoder->json, field->name))
            break;
        if (field->kind != LBX_FIELD_KIND_BODY)
            continue;
        lbx__record_base64_name(field, name);
        *ret_base64 = lbx__json_is(&decoder->json, name);
        if (*ret_base64)
            break;
    }
    return i;
}

/* A member of the object; the token is its name. `there` is a bit for each
 * field that was read. */
static bool
record_decode_member(struct record_decoder *decoder, const lbx_record *record,
                     void *message, uint64_t *there)
{
    bool base64;
    const size_t index = record_decode_find(decoder, record, &base64);
    const lbx_field *field;

    if (index == record->field_count)
        return lbx__json_skip(&decoder->json);
    field = lbx__record_field(record, index);
    decoder->path.names[decoder->path.depth - 1] = field->name;
    if (lbx__json_next(&decoder->json) == LBX__JSON_FAULT)
        return false;
    if (decoder->json.kind == LBX__JSON_NULL)
        return true; // absent
    if (*there >> index & 1)
        return record_decode_fail(decoder, "it is there in both forms");
    *there |= (uint64_t)1 << index;
    return record_decode_value(decoder, field, message, base64);
}

static bool
record_decode_struct(struct record_decoder *decoder, const lbx_record *record,
                     void *message)
{
    lbx__json *json = &decoder->json;
    uint64_t there = 0;

    if (json->kind != LBX__JSON_OBJECT)
        return record_decode_fail(decoder, "an object is expected");
    decoder->path.depth++;
    while (lbx__json_next(json) == LBX__JSON_NAME)
        if (!record_decode_member(decoder, record, message, &there))
            return false;
    if (json->kind != LBX__JSON_OBJECT_END)
        return false;
    for (size_t i = 0; i < record->field_count; i++) {
        const lbx_field *field = lbx__record_field(record, i);

        decoder->path.names[decoder->path.depth - 1] = field->name;
        if (!field->optional && !(there >> i & 1))
            return record_decode_fail(decoder, "it is missing");
    }
    decoder->path.depth--;
    return true;
}

/* Explains why it was refused. */
static lbx_status
record_decode_fault(const struct record_decoder *decoder,
                    const lbx_record *record, lbx_fault *fault)
{
    const lbx__json *json = &decoder->json;

    if (json->status == LBX_NO_MEMORY)
        return lbx__json_fault(json, NULL, fault);
    if (json->status != LBX_OK || decoder->path.depth == 0)
        (void)lbx__json_fault(json, decoder->path.why, fault);
    else
        (void)lbx__record_fault(record, &decoder->path, LBX_ENCODING, fault);
    if (fault)
        fault->status = LBX_ENCODING;
    return LBX_ENCODING;
}

lbx_status
lbx__record_decode(const lbx_record *record, const char *json,
                   size_t size_bytes, const lbx_allocator *allocator,
                   void **ret, lbx_fault *fault)
{
    struct record_decoder decoder = {.path = {.depth = 0}};
    lbx_status status = LBX_OK;
    void *message;

    if (!lbx__record_block_create(&decoder.block, record, size_bytes + 1,
                                  allocator))
        return lbx__fault_set(fault, LBX_NO_MEMORY, "%s: %s", record->name,
                              lbx_status_text(LBX_NO_MEMORY));
    decoder.texts = (lbx_buffer){.bytes = decoder.block.texts,
                                 .capacity = size_bytes + 1,
                                 .max = size_bytes};
    message = lbx__record_block_take(&decoder.block, record);
    lbx__json_init(&decoder.json, json, size_bytes, allocator);
    (void)lbx__json_next(&decoder.json);
    if (!record_decode_struct(&decoder, record, message) ||
        lbx__json_next(&decoder.json) != LBX__JSON_END)
        status = record_decode_fault(&decoder, record, fault);
    lbx__json_fini(&decoder.json);
    if (status == LBX_OK)
        *ret = message;
    else
        lbx_record_destroy(message);
    return status;
}

lbx_status
lbx_record_decode(const lbx_record *record, const void *json, size_t size_bytes,
                  const lbx_allocator *allocator, void **ret, lbx_fault *fault)
{
    const lbx_status status = lbx__record_check(record, fault);

    if (status != LBX_OK)
        return status;
    if (!json || !ret || size_bytes > SIZE_MAX / 4 ||
        !lbx__allocator_usable(allocator))
        return lbx__fault_set(fault, LBX_INVALID,
                              "%s: there is no text, no pointer for the "
                              "message, or half an allocator",
                              record->name);
    return lbx__record_decode(record, json, size_bytes, allocator, ret, fault);
}
