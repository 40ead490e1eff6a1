/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of JSON: see output.h. */
#include "output.h"
#include "utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    JSON_MOST = 512 << 20, /* a body of 64 MiB, escaped */
    PAD = 64               /* index of '=' */
};

bool
cli_json_begin(struct cli_json *json, struct cli_out *out)
{
    json->out = out;
    json->buffer = NULL;
    if (lbx_buffer_create(JSON_MOST, NULL, &json->buffer) != LBX_OK) {
        out->error = ENOMEM;
        return false;
    }
    lbx_json_writer_init(&json->writer, json->buffer);
    lbx_json_writer_object(&json->writer, NULL);
    return true;
}

bool
cli_json_end(struct cli_json *json)
{
    size_t size;
    bool fine;

    lbx_json_writer_end(&json->writer);
    fine = lbx_json_writer_finish(&json->writer) == LBX_OK;
    if (fine) {
        const char *text = lbx_buffer_bytes(json->buffer, &size);

        fwrite(text, 1, size, json->out->stream);
        fputc('\n', json->out->stream);
    } else {
        json->out->error = ENOMEM;
    }
    lbx_buffer_destroy(json->buffer);
    return fine;
}

/* base64 of bytes, on the heap; NULL without memory. */
static char *
json_base64(const unsigned char *bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqr"
                                  "stuvwxyz0123456789+/=";
    char *text = malloc(size / 3 * 4 + 5);
    char *to = text;

    if (!text)
        return NULL;
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)bytes[i] << 16 |
                              (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0u);

        *to++ = letters[bits >> 18];
        *to++ = letters[bits >> 12 & 63];
        *to++ = letters[left > 1 ? bits >> 6 & 63 : PAD];
        *to++ = letters[left > 2 ? bits & 63 : PAD];
    }
    *to = '\0';
    return text;
}

void
cli_json_bytes(struct cli_json *json, const char *name, const void *bytes,
               size_t size_bytes)
{
    const bool is_text = cli_utf8_is_text(bytes, size_bytes);
    char *text =
        is_text ? malloc(size_bytes + 1) : json_base64(bytes, size_bytes);

    if (!text) {
        // An array that is never ended: finish() reports it.
        lbx_json_writer_array(&json->writer, name);
        return;
    }
    if (is_text) {
        if (size_bytes > 0)
            memcpy(text, bytes, size_bytes);
        text[size_bytes] = '\0';
    }
    lbx_json_writer_text(&json->writer, name, text);
    if (!is_text)
        lbx_json_writer_text(&json->writer, "encoding", "base64");
    free(text);
}

void
cli_json_limit(struct cli_json *json, const char *name, int64_t number)
{
    if (number == LBX_UNLIMITED)
        lbx_json_writer_text(&json->writer, name, NULL);
    else
        lbx_json_writer_int64(&json->writer, name, number);
}

void
cli_json_ms(struct cli_json *json, const char *name, int64_t ns)
{
    if (ns == LBX_UNLIMITED || ns < 0)
        lbx_json_writer_text(&json->writer, name, NULL);
    else if (ns % LBX_MS == 0)
        lbx_json_writer_int64(&json->writer, name, ns / LBX_MS);
    else
        lbx_json_writer_double(&json->writer, name,
                               (double)ns / (double)LBX_MS);
}

void
cli_json_count(struct cli_json *json, const char *name, uint64_t number)
{
    lbx_json_writer_int64(&json->writer, name, (int64_t)number);
}
