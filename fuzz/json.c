/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict JSON reader, side by side with jansson: both accept, and then the
 * same values, or both refuse. What is accepted is written again and read
 * again.
 *
 * jansson differs in three things, and there only ours is asked: it goes deeper
 * than 32 levels; it refuses numbers that no double can hold, which are text to
 * us; and it takes a NUL for the end of the text.
 */
#include "codec/json.h"
#include "base/buffer.h"
#include "codec/json_writer.h"
#include <letterbox/json.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What they disagree about is a bug in one of them. */
static void
must(int holds)
{
    if (!holds)
        abort();
}

static void
same_text(const lbx__json *json, const char *text, size_t size)
{
    lbx_buffer buffer;

    lbx__buffer_init(&buffer, NULL, 1 << 20);
    lbx__json_text(json, &buffer);
    must(buffer.size == size &&
         memcmp(lbx__buffer_text(&buffer), text, size) == 0);
    lbx__buffer_fini(&buffer);
}

static void
same_number(const lbx__json *json, const json_t *other)
{
    lbx_buffer buffer; // for its NUL

    lbx__buffer_init(&buffer, NULL, 1 << 20);
    lbx__buffer_add(&buffer, json->token, json->size);
    must(json_is_real(other) &&
         strtod(lbx__buffer_text(&buffer), NULL) == json_real_value(other));
    lbx__buffer_fini(&buffer);
}

/* Compares the value that begins with the token, and copies it to `out`. */
static void
compare(lbx__json *json, json_t *other, lbx__json_writer *out)
{
    const char *name;
    json_t *value;
    size_t index;

    switch (json->kind) {
    case LBX__JSON_OBJECT:
        must(json_is_object(other));
        lbx__json_writer_object(out);
        json_object_foreach(other, name, value)
        {
            must(lbx__json_next(json) == LBX__JSON_NAME);
            must(lbx__json_is(json, name));
            same_text(json, name, strlen(name));
            lbx__json_writer_name(out, name);
            lbx__json_next(json);
            compare(json, value, out);
        }
        must(lbx__json_next(json) == LBX__JSON_OBJECT_END);
        lbx__json_writer_object_end(out);
        break;
    case LBX__JSON_ARRAY:
        must(json_is_array(other));
        lbx__json_writer_array(out);
        json_array_foreach(other, index, value)
        {
            lbx__json_next(json);
            compare(json, value, out);
        }
        must(lbx__json_next(json) == LBX__JSON_ARRAY_END);
        lbx__json_writer_array_end(out);
        break;
    case LBX__JSON_STRING:
        must(json_is_string(other));
        same_text(json, json_string_value(other), json_string_length(other));
        lbx__json_writer_bytes(out, json_string_value(other),
                               json_string_length(other));
        break;
    case LBX__JSON_NUMBER:
        same_number(json, other);
        lbx__json_writer_raw(out, json->token, json->size);
        break;
    default:
        must(json->kind == LBX__JSON_NULL    ? json_is_null(other)
             : json->kind == LBX__JSON_TRUE  ? json_is_true(other)
             : json->kind == LBX__JSON_FALSE ? json_is_false(other)
                                             : 0);
        lbx__json_writer_raw(out, json->token, json->size);
    }
}

/* The tree that programs see has the same verdict, and can be walked. */
static void
walk_tree(const char *text, size_t size, lbx_status expected)
{
    lbx_fault fault;
    lbx_json *json;
    const lbx_status status = lbx_json_read(text, size, NULL, &json, &fault);
    lbx_json_value at;

    must(status == expected);
    if (status != LBX_OK)
        return;
    // Down the first of each level, and along it.
    for (lbx_json_value level = lbx_json_root(json); lbx_json_kind_of(level);
         level = lbx_json_first(level))
        for (at = level; lbx_json_kind_of(at); at = lbx_json_next(at))
            must(!lbx_json_text(at, NULL) || !lbx_json_first(at).json);
    lbx_json_destroy(json);
}

/* The verdict on a whole text. */
static lbx_status
verdict(const char *text, size_t size)
{
    lbx__json json;
    lbx__json_kind kind;
    lbx_status status;

    lbx__json_init(&json, text, size, NULL);
    do {
        kind = lbx__json_next(&json);
    } while (kind != LBX__JSON_END && kind != LBX__JSON_FAULT);
    status = kind == LBX__JSON_FAULT ? json.status : LBX_OK;
    must((status == LBX_OK) == (kind == LBX__JSON_END));
    lbx__json_fini(&json);
    walk_tree(text, size, status);
    return status;
}

/* Both accept it: the same values, also when written and read again. */
static void
both_accept(const char *text, size_t size, json_t *other)
{
    lbx_buffer buffer;
    lbx__json_writer out;
    lbx__json json;

    lbx__buffer_init(&buffer, NULL, 1 << 22);
    lbx__json_writer_init(&out, &buffer);
    lbx__json_init(&json, text, size, NULL);
    lbx__json_next(&json);
    compare(&json, other, &out);
    must(lbx__json_next(&json) == LBX__JSON_END);
    lbx__json_fini(&json);
    must(buffer.status == LBX_OK);
    must(verdict(buffer.bytes, buffer.size) == LBX_OK);
    if (buffer.size != size || memcmp(buffer.bytes, text, size) != 0) {
        json_t *again = json_loadb(buffer.bytes, buffer.size,
                                   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY |
                                       JSON_DECODE_INT_AS_REAL,
                                   NULL);

        must(again && json_equal(again, other));
        json_decref(again);
    }
    lbx__buffer_fini(&buffer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size > 0 ? (const char *)data : "";
    const lbx_status ours = verdict(text, size);
    json_error_t error = {0};
    json_t *other = json_loadb(text, size,
                               JSON_REJECT_DUPLICATES | JSON_DECODE_ANY |
                                   JSON_DECODE_INT_AS_REAL,
                               &error);

    if (memchr(text, '\0', size))
        must(ours != LBX_OK);
    else if (other && ours == LBX_OK)
        both_accept(text, size, other);
    else if (other)
        must(ours == LBX_TOO_LARGE); // too deep, too many names
    else if (ours == LBX_OK)
        must(json_error_code(&error) == json_error_numeric_overflow);
    json_decref(other);
    return 0;
}
