/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON; see json_writer.h. */
#include "codec/json_writer.h"

#include "base/buffer.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
lbx__json_writer_init(lbx__json_writer *out, lbx_buffer *buffer)
{
    *out = (lbx__json_writer){.buffer = buffer, .first = true};
}

bool
lbx__json_writer_in_object(const lbx__json_writer *out)
{
    return out->depth > 0 && out->objects >> (out->depth - 1) & 1;
}

/* What comes before a name, or before a value that has none. */
static void
json_writer_separate(lbx__json_writer *out)
{
    if (!out->first)
        lbx__buffer_add_byte(out->buffer, ',');
    out->first = false;
}

static void
json_writer_before_value(lbx__json_writer *out)
{
    assert(lbx__json_writer_in_object(out) ==
           out->named);                   // a member has a name, others none
    assert(out->depth > 0 || out->first); // one value at the top
    if (!out->named)
        json_writer_separate(out);
    out->named = false;
}

static void
json_writer_open(lbx__json_writer *out, char bracket, bool object)
{
    json_writer_before_value(out);
    assert(out->depth < LBX__JSON_DEPTH);
    lbx__buffer_add_byte(out->buffer, bracket);
    out->objects &= ~((uint64_t)1 << out->depth);
    out->objects |= (uint64_t)object << out->depth;
    out->depth++;
    out->first = true;
}

static void
json_writer_close(lbx__json_writer *out, char bracket, bool object)
{
    assert(out->depth > 0 && lbx__json_writer_in_object(out) == object &&
           !out->named);
    (void)object;
    lbx__buffer_add_byte(out->buffer, bracket);
    out->depth--;
    out->first = false;
}

void
lbx__json_writer_object(lbx__json_writer *out)
{
    json_writer_open(out, '{', true);
}

void
lbx__json_writer_object_end(lbx__json_writer *out)
{
    json_writer_close(out, '}', true);
}

void
lbx__json_writer_array(lbx__json_writer *out)
{
    json_writer_open(out, '[', false);
}

void
lbx__json_writer_array_end(lbx__json_writer *out)
{
    json_writer_close(out, ']', false);
}

/* A character that must be escaped. */
static void
json_writer_escape(lbx_buffer *buffer, char byte)
{
    static const char meanings[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    const char *found = memchr(meanings, byte, sizeof(meanings) - 1);
    char text[8] = {'\\'};

    if (found)
        text[1] = names[found - meanings];
    else
        snprintf(text + 1, sizeof(text) - 1, "u%04x", (unsigned)byte);
    lbx__buffer_add(buffer, text, strlen(text));
}

static void
json_writer_quote(lbx_buffer *buffer, const char *text, size_t size)
{
    const char *at = text, *end = text + size, *plain = text;

    if (!lbx__utf8_valid_bytes(text, size)) {
        if (buffer->status == LBX_OK)
            buffer->status = LBX_ENCODING;
        return;
    }
    lbx__buffer_add_byte(buffer, '"');
    for (; at < end; at++) {
        at += lbx__utf8_skip_plain(at, (size_t)(end - at));
        if (at == end)
            break;
        if ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\')
            continue;
        lbx__buffer_add(buffer, plain, (size_t)(at - plain));
        json_writer_escape(buffer, *at);
        plain = at + 1;
    }
    lbx__buffer_add(buffer, plain, (size_t)(at - plain));
    lbx__buffer_add_byte(buffer, '"');
}

void
lbx__json_writer_name_bytes(lbx__json_writer *out, const char *name,
                            size_t size)
{
    assert(lbx__json_writer_in_object(out) && !out->named);
    json_writer_separate(out);
    json_writer_quote(out->buffer, name, size);
    lbx__buffer_add_byte(out->buffer, ':');
    out->named = true;
}

void
lbx__json_writer_name(lbx__json_writer *out, const char *name)
{
    lbx__json_writer_name_bytes(out, name, strlen(name));
}

void
lbx__json_writer_bytes(lbx__json_writer *out, const char *text, size_t size)
{
    json_writer_before_value(out);
    json_writer_quote(out->buffer, text, size);
}

void
lbx__json_writer_text(lbx__json_writer *out, const char *text)
{
    if (text)
        lbx__json_writer_bytes(out, text, strlen(text));
    else
        lbx__json_writer_null(out);
}

void
lbx__json_writer_raw(lbx__json_writer *out, const char *json, size_t size)
{
    json_writer_before_value(out);
    lbx__buffer_add(out->buffer, json, size);
}

void
lbx__json_writer_integer(lbx__json_writer *out, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, number);
    lbx__json_writer_raw(out, text, strlen(text));
}

void
lbx__json_writer_double(lbx__json_writer *out, double number)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = uselocale(plain); // its point is a point
    char text[32];

    assert(isfinite(number));
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    (void)uselocale(before);
    freelocale(plain);
    lbx__json_writer_raw(out, text, strlen(text));
}

void
lbx__json_writer_boolean(lbx__json_writer *out, bool value)
{
    lbx__json_writer_raw(out, value ? "true" : "false", value ? 4 : 5);
}

void
lbx__json_writer_null(lbx__json_writer *out)
{
    lbx__json_writer_raw(out, "null", 4);
}
