/* SPDX-License-Identifier: Apache-2.0 */
#include "http/parser.h"

#include <llhttp.h>

enum {
    PARSER_EXTRAS_BYTES = 1024,
    PARSER_TRAILERS_BYTES = 8 * 1024,
    /* Around a chunked body: some, and for each byte a chunk of its own. */
    PARSER_GAP_BYTES = 16 * 1024,
    PARSER_GAP_PER_BYTE = 8
};

_Static_assert(sizeof(llhttp_t) <= sizeof(uint64_t[LBX__PARSER_STATE_WORDS]),
               "llhttp's state fits");

static llhttp_t *
parser_llhttp(lbx__http_parser *parser)
{
    return (llhttp_t *)(void *)parser->state;
}

static int
parser_refuse(lbx__http_parser *parser, int status)
{
    parser->status = status;
    return -1;
}

static int
parser_on_field(llhttp_t *llhttp, const char *bytes, size_t size)
{
    lbx__http_parser *parser = llhttp->data;

    if (!parser->fields) {
        parser->trailers += (uint32_t)size;
        return parser->trailers > PARSER_TRAILERS_BYTES
                   ? parser_refuse(parser, 431)
                   : 0;
    }
    if (parser->field_count == parser->max_field_count)
        return parser_refuse(parser, 431);
    parser->fields[parser->field_count++] =
        (lbx__http_field){.name = {bytes, size}, .value = {bytes + size, 0}};
    return 0;
}

static int
parser_on_value(llhttp_t *llhttp, const char *bytes, size_t size)
{
    lbx__http_parser *parser = llhttp->data;

    if (!parser->fields)
        return parser_on_field(llhttp, bytes, size);
    while (size > 0 && (bytes[size - 1] == ' ' || bytes[size - 1] == '\t'))
        size--;
    parser->fields[parser->field_count - 1].value = (lbx__slice){bytes, size};
    return 0;
}

static int
parser_on_head_end(llhttp_t *llhttp)
{
    lbx__http_parser *parser = llhttp->data;

    // An offer to speak another protocol is not taken up, which is allowed.
    llhttp->upgrade = 0;
    parser->fields = NULL;
    parser->is_chunked = (llhttp->flags & F_CHUNKED) != 0;
    return 0;
}

static int
parser_on_chunk(llhttp_t *llhttp)
{
    lbx__http_parser *parser = llhttp->data;

    if (llhttp->content_length > parser->max_body_bytes - parser->body->size)
        return parser_refuse(parser, 413);
    return 0;
}

static int
parser_on_extra(llhttp_t *llhttp, const char *bytes, size_t size)
{
    lbx__http_parser *parser = llhttp->data;

    (void)bytes;
    parser->extras += (uint32_t)size;
    return parser->extras > PARSER_EXTRAS_BYTES ? parser_refuse(parser, 400)
                                                : 0;
}

/* Looks at the bytes from the gap's begin to `end`: each line ends with CR LF,
 * and none begins with a space or a colon. */
static int
parser_check_gap(lbx__http_parser *parser, const char *end)
{
    const char *at;
    char last = parser->last;

    if (!parser->is_chunked)
        return 0;
    for (at = parser->gap; at < end; at++) {
        if ((*at == '\n') != (last == '\r') || *at == '\0' ||
            (last == '\n' && (*at == ' ' || *at == '\t' || *at == ':')))
            return parser_refuse(parser, 400);
        last = *at;
    }
    parser->last = last;
    parser->gap_bytes += (size_t)(end - parser->gap);
    if (parser->gap_bytes >
        PARSER_GAP_BYTES + PARSER_GAP_PER_BYTE * parser->body->size)
        return parser_refuse(parser, 400);
    return 0;
}

static int
parser_on_body(llhttp_t *llhttp, const char *bytes, size_t size)
{
    lbx__http_parser *parser = llhttp->data;

    if (parser_check_gap(parser, bytes) != 0)
        return -1;
    parser->gap = bytes + size;
    parser->last = '\0';
    if (size > parser->max_body_bytes - parser->body->size)
        return parser_refuse(parser, 413);
    if (lbx_buffer_append(parser->body, bytes, size) != LBX_OK)
        return parser_refuse(parser, 503);
    return 0;
}

static int
parser_on_end(llhttp_t *llhttp)
{
    lbx__http_parser *parser = llhttp->data;

    parser->is_complete = true;
    return HPE_PAUSED; // PARSE-1
}

static const llhttp_settings_t parser_settings = {
    .on_header_field = parser_on_field,
    .on_header_value = parser_on_value,
    .on_headers_complete = parser_on_head_end,
    .on_chunk_header = parser_on_chunk,
    .on_chunk_extension_name = parser_on_extra,
    .on_chunk_extension_value = parser_on_extra,
    .on_body = parser_on_body,
    .on_message_complete = parser_on_end,
};

static void
parser_lower(char *bytes, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        if (bytes[i] >= 'A' && bytes[i] <= 'Z')
            bytes[i] = (char)(bytes[i] + ('a' - 'A'));
    }
}

int
lbx__http_parser_read_head(lbx__http_parser *parser, char *head, size_t size)
{
    llhttp_t *llhttp = parser_llhttp(parser);
    lbx__http_field *fields = parser->fields;
    llhttp_errno_t error;
    size_t i;

    llhttp_init(llhttp, HTTP_REQUEST, &parser_settings);
    llhttp->data = parser;
    error = llhttp_execute(llhttp, head, size);
    if (parser->status)
        return parser->status;
    if (error == HPE_INVALID_TRANSFER_ENCODING && !parser->fields)
        return 501; // one coding, and not chunked
    if (error != HPE_OK && error != HPE_PAUSED)
        return 400;
    // The head ends where we said and has as many fields as lines, or llhttp
    // sees another request than we do.
    if (parser->fields || parser->field_count != parser->max_field_count ||
        (error == HPE_PAUSED && llhttp_get_error_pos(llhttp) != head + size))
        return 400;
    for (i = 0; i < parser->field_count; i++)
        parser_lower(head + (fields[i].name.bytes - head), fields[i].name.size);
    return 0;
}

int
lbx__http_parser_read_body(lbx__http_parser *parser, const char *bytes,
                           size_t size, size_t *ret_used)
{
    llhttp_t *llhttp = parser_llhttp(parser);
    const char *end = bytes + size;
    llhttp_errno_t error;

    parser->gap = bytes;
    error = llhttp_execute(llhttp, bytes, size);
    if (parser->status)
        return parser->status;
    if (error == HPE_PAUSED)
        end = llhttp_get_error_pos(llhttp);
    else if (error != HPE_OK)
        return 400;
    if (parser_check_gap(parser, end) != 0)
        return parser->status;
    *ret_used = (size_t)(end - bytes);
    return 0;
}
