/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as bytes, through the three readers that a connection uses. What
 * they accept must be the same however the bytes are cut, and the readers never
 * read behind their input: each piece is copied to memory of its own.
 */
#include "http/head.h"
#include "http/parser.h"
#include "http/request_line.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    int status; /* 0: accepted; -1: not its end */
    size_t used;
    size_t body;
};

/* The body, `piece` bytes at a time. */
static int
read_body(lbx__http_parser *parser, const char *bytes, size_t size,
          size_t piece, size_t *used)
{
    while (!parser->is_complete && size > 0) {
        size_t some = size < piece ? size : piece, taken = 0;
        char *copy = malloc(some);
        int status;

        if (!copy)
            abort();
        memcpy(copy, bytes, some);
        status = lbx__http_parser_read_body(parser, copy, some, &taken);
        free(copy);
        if (status)
            return status;
        if (taken > some || (taken < some && !parser->is_complete))
            abort(); // PARSE-1
        bytes += taken;
        size -= taken;
        *used += taken;
    }
    return parser->is_complete ? 0 : -1;
}

/* LINE-1, and slices that lie in the head. */
static void
check_request(const lbx__http_request *request, const char *head, size_t size)
{
    size_t i;

    for (i = 0; i < request->field_count; i++) {
        const lbx__http_field *field = &request->fields[i];

        if (field->name.size == 0 || field->name.bytes < head ||
            field->value.bytes + field->value.size > head + size)
            abort();
        if (memchr(field->value.bytes, '\n', field->value.size) ||
            memchr(field->value.bytes, '\0', field->value.size))
            abort();
    }
    for (i = 0; i < request->target.size; i++) {
        if (request->target.bytes[i] <= ' ' || request->target.bytes[i] > '~')
            abort();
    }
}

static int
read_head(const char *bytes, lbx__head_scan *scan, lbx__http_parser *parser,
          lbx__http_field *fields, char *head)
{
    lbx__http_request request = {.fields = fields};
    lbx__request_line line;
    lbx__head_facts facts;
    const char *end;
    int status;

    memcpy(head, bytes, scan->offset);
    end = memchr(head, '\r', scan->offset);
    status = lbx__request_line_parse((lbx__slice){head, (size_t)(end - head)},
                                     8192, &request, &line);
    if (!status)
        status = lbx__http_parser_read_head(parser, head, scan->offset);
    if (status)
        return status;
    request.field_count = parser->field_count;
    status =
        lbx__head_fields_check(&request, line.is_old, line.authority, &facts);
    if (status)
        return status;
    check_request(&request, head, scan->offset);
    if (facts.is_chunked != parser->is_chunked)
        abort();
    return 0;
}

static struct outcome
read_request(const char *bytes, size_t size, size_t piece)
{
    struct outcome outcome = {.status = LBX__HEAD_MORE};
    lbx__head_scan scan = {0};
    lbx__http_parser parser = {.body = NULL};
    lbx__http_field *fields;
    lbx_buffer body;
    size_t have = 0;
    char *head;

    while (outcome.status == LBX__HEAD_MORE && have < size) {
        have = have + piece < size ? have + piece : size;
        outcome.status =
            lbx__head_scan_bytes(&scan, bytes, have, &lbx__http_default_limits);
    }
    if (outcome.status != LBX__HEAD_COMPLETE || scan.lines == 0)
        return outcome;
    fields = calloc(scan.lines, sizeof(*fields));
    head = malloc(scan.offset);
    if (!fields || !head)
        abort();
    lbx__buffer_init(&body, NULL, 1 << 20);
    parser.fields = fields;
    parser.max_field_count = scan.lines - 1;
    parser.body = &body;
    parser.max_body_bytes = 1 << 20;
    outcome.status = read_head(bytes, &scan, &parser, fields, head);
    outcome.used = scan.offset;
    if (outcome.status == 0)
        outcome.status = read_body(&parser, bytes + scan.offset,
                                   size - scan.offset, piece, &outcome.used);
    outcome.body = body.size;
    lbx__buffer_fini(&body);
    free(fields);
    free(head);
    return outcome;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct outcome whole = read_request(bytes, size, size + 1);
    struct outcome one = read_request(bytes, size, 1);
    struct outcome seven = read_request(bytes, size, 7);

    if ((whole.status == 0) != (one.status == 0) ||
        (whole.status == 0) != (seven.status == 0))
        abort();
    if (whole.status == 0 &&
        (whole.used != one.used || whole.body != one.body ||
         whole.used != seven.used || whole.body != seven.body))
        abort();
    return 0;
}
