/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON writer: compact, with commas where they belong.
 *
 *     lbx__json_writer out;
 *
 *     lbx__json_writer_init(&out, &buffer);
 *     lbx__json_writer_object(&out);
 *     lbx__json_writer_name(&out, "default");
 *     lbx__json_writer_text(&out, address);
 *     lbx__json_writer_object_end(&out);
 *     if (buffer.status != LBX_OK) ...
 *
 * A failure is kept in the buffer and makes all later calls do nothing:
 * TOO_LARGE, NO_MEMORY, and ENCODING for bytes that are not UTF-8. Calls in a
 * wrong order are a mistake of the caller, and asserted.
 *
 * The reader reads what was written as the same values. The caller must not
 * write a name twice into one object.
 */
#ifndef LBX_CODEC_JSON_WRITER_H
#define LBX_CODEC_JSON_WRITER_H

#include "codec/json.h"

typedef struct lbx__json_writer {
    lbx_buffer *buffer;
    uint32_t depth;
    uint64_t objects; /* a bit for each level: it is an object */
    bool first;       /* nothing written at this level yet */
    bool named;       /* a name was written, and its value not */
} lbx__json_writer;

void lbx__json_writer_init(lbx__json_writer *out, lbx_buffer *buffer);

void lbx__json_writer_object(lbx__json_writer *out);
void lbx__json_writer_object_end(lbx__json_writer *out);
void lbx__json_writer_array(lbx__json_writer *out);
void lbx__json_writer_array_end(lbx__json_writer *out);

/* Whether a value that is written now has a name. */
bool lbx__json_writer_in_object(const lbx__json_writer *out);

/* The name of a member of an object. */
void lbx__json_writer_name(lbx__json_writer *out, const char *name);
void lbx__json_writer_name_bytes(lbx__json_writer *out, const char *name,
                                 size_t size);

/* Values. A NULL text is null. */
void lbx__json_writer_text(lbx__json_writer *out, const char *text);
void lbx__json_writer_bytes(lbx__json_writer *out, const char *text,
                            size_t size);
void lbx__json_writer_integer(lbx__json_writer *out, int64_t number);
/* The shortest text that is read as this number, which must be finite. */
void lbx__json_writer_double(lbx__json_writer *out, double number);
void lbx__json_writer_boolean(lbx__json_writer *out, bool value);
void lbx__json_writer_null(lbx__json_writer *out);

/* A value that is JSON text already. */
void lbx__json_writer_raw(lbx__json_writer *out, const char *json, size_t size);

#endif
