/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON, written: compact, with the commas in their places.
 *
 *     lbx__json_writer out;
 *
 *     lbx__json_writer_init(&out, &buffer);
 *     lbx__json_writer_object(&out);
 *     lbx__json_writer_name(&out, "default");
 *     lbx__json_writer_text(&out, place);
 *     lbx__json_writer_object_end(&out);
 *     if (buffer.status != LBX_OK) ...
 *
 * Failures are the buffer's, and stick: TOO_LARGE, NO_MEMORY, and ENCODING for
 * bytes that are not UTF-8. A text that is written in the wrong order is a fault
 * of the caller, and asserted.
 *
 * What the strict reader accepts and this writes again, it reads as the same;
 * names are the caller's to keep apart.
 */
#ifndef LBX_CODEC_JSON_OUT_H
#define LBX_CODEC_JSON_OUT_H

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

/* Of a member, in an object. */
void lbx__json_writer_name(lbx__json_writer *out, const char *name);
void lbx__json_writer_name_bytes(lbx__json_writer *out, const char *name,
                                 size_t size);

/* Values. A NULL text is null. */
void lbx__json_writer_text(lbx__json_writer *out, const char *text);
void lbx__json_writer_bytes(lbx__json_writer *out, const char *text,
                            size_t size);
void lbx__json_writer_integer(lbx__json_writer *out, int64_t number);
void lbx__json_writer_boolean(lbx__json_writer *out, bool value);
void lbx__json_writer_null(lbx__json_writer *out);

/* A value that is JSON already. */
void lbx__json_writer_raw(lbx__json_writer *out, const char *json, size_t size);

#endif
