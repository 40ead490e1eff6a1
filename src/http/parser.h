/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam to llhttp, which splits requests. It gets a head as a whole, so that
 * fields are slices of it, and a body as it comes.
 *
 * What llhttp lets pass and we do not is refused here and in head.h: ends of
 * lines other than CR LF, folded lines, and large chunk extensions and
 * trailers.
 *
 * PARSE-1  No byte behind the end of a request is used.
 * PARSE-2  Memory is bounded: a body by `max_body_bytes`, what surrounds the
 *          pieces of a chunked one by its own size; trailers are not kept.
 */
#ifndef LBX_HTTP_PARSER_H
#define LBX_HTTP_PARSER_H

#include "base/buffer.h"
#include "http/exchange.h"

enum {
    LBX__PARSER_STATE_WORDS = 14
};

typedef struct lbx__http_parser {
    uint64_t state[LBX__PARSER_STATE_WORDS]; /* llhttp's; only parser.c knows */
    lbx__http_field *fields; /* the caller's; NULL: the head is over */
    size_t field_count;
    size_t max_field_count; /* how many lines there are */
    lbx_buffer *body;
    size_t max_body_bytes;
    const char *gap;   /* where bytes begin that are not of the body */
    size_t gap_bytes;  /* of these, so far */
    uint32_t extras;   /* bytes of chunk extensions */
    uint32_t trailers; /* bytes of trailers */
    char last;         /* byte before the gap; 0: of the body */
    bool is_complete;  /* the request has been read */
    bool is_chunked;
    int status; /* of HTTP, why it is refused; 0: it is not */
} lbx__http_parser;

/* Reads a head: `size` bytes with the empty line at their end. Names become
 * lower case in place. Returns 0, or the status of HTTP to refuse it with. */
int lbx__http_parser_read_head(lbx__http_parser *parser, char *head,
                               size_t size);

/* Reads what follows, until the request is complete. Returns 0 or a status. */
int lbx__http_parser_read_body(lbx__http_parser *parser, const char *bytes,
                               size_t size, size_t *ret_used);

#endif
