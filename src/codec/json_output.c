/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON writer of <letterbox/json.h>: json_writer.h with names beside the
 * values, and calls in a wrong order refused instead of asserted.
 */
#include <letterbox/json.h>

#include "base/buffer.h"
#include "codec/json_writer.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(lbx__json_writer) <= sizeof(lbx_json_writer),
               "the public struct has space for it");

static lbx__json_writer *
json_output_of(lbx_json_writer *writer)
{
    return (lbx__json_writer *)(void *)writer;
}

void
lbx_json_writer_init(lbx_json_writer *writer, lbx_buffer *buffer)
{
    if (writer)
        lbx__json_writer_init(json_output_of(writer), buffer);
}

static lbx__json_writer *
json_output_fail(lbx__json_writer *out)
{
    if (out->buffer->status == LBX_OK)
        out->buffer->status = LBX_ENCODING;
    return NULL;
}

/* Writes the name of a value, if it has one. NULL: it must not be written,
 * because of this call or one before. */
static lbx__json_writer *
json_output_begin(lbx_json_writer *writer, const char *name)
{
    lbx__json_writer *out = writer ? json_output_of(writer) : NULL;

    if (!out || !out->buffer || out->buffer->status != LBX_OK)
        return NULL;
    if (out->depth == 0 ? !out->first || name != NULL
                        : lbx__json_writer_in_object(out) != (name != NULL))
        return json_output_fail(out);
    if (name)
        lbx__json_writer_name(out, name);
    return out->buffer->status == LBX_OK ? out : NULL;
}

void
lbx_json_writer_object(lbx_json_writer *writer, const char *name)
{
    lbx__json_writer *out = json_output_begin(writer, name);

    if (out && out->depth == LBX__JSON_DEPTH)
        (void)json_output_fail(out);
    else if (out)
        lbx__json_writer_object(out);
}

void
lbx_json_writer_array(lbx_json_writer *writer, const char *name)
{
    lbx__json_writer *out = json_output_begin(writer, name);

    if (out && out->depth == LBX__JSON_DEPTH)
        (void)json_output_fail(out);
    else if (out)
        lbx__json_writer_array(out);
}

void
lbx_json_writer_end(lbx_json_writer *writer)
{
    lbx__json_writer *out = writer ? json_output_of(writer) : NULL;

    if (!out || !out->buffer || out->buffer->status != LBX_OK)
        return;
    if (out->depth == 0)
        (void)json_output_fail(out);
    else if (lbx__json_writer_in_object(out))
        lbx__json_writer_object_end(out);
    else
        lbx__json_writer_array_end(out);
}

void
lbx_json_writer_text(lbx_json_writer *writer, const char *name,
                     const char *text)
{
    lbx__json_writer *out = json_output_begin(writer, name);

    if (out)
        lbx__json_writer_text(out, text);
}

void
lbx_json_writer_int64(lbx_json_writer *writer, const char *name, int64_t number)
{
    lbx__json_writer *out = json_output_begin(writer, name);

    if (out)
        lbx__json_writer_integer(out, number);
}

void
lbx_json_writer_double(lbx_json_writer *writer, const char *name, double number)
{
    lbx__json_writer *out = json_output_begin(writer, name);

    if (out && !isfinite(number))
        (void)json_output_fail(out);
    else if (out)
        lbx__json_writer_double(out, number);
}

void
lbx_json_writer_bool(lbx_json_writer *writer, const char *name, bool value)
{
    lbx__json_writer *out = json_output_begin(writer, name);

    if (out)
        lbx__json_writer_boolean(out, value);
}

lbx_status
lbx_json_writer_finish(lbx_json_writer *writer)
{
    lbx__json_writer *out = writer ? json_output_of(writer) : NULL;

    if (!out || !out->buffer)
        return LBX_INVALID;
    if (out->buffer->status == LBX_OK && (out->depth > 0 || out->first))
        (void)json_output_fail(out); // not ended, or not begun
    return out->buffer->status;
}
