/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a request as lines: where it ends, and whether it may be parsed.
 *
 * HEAD-1  A head that is passed on has lines that end with CR LF and contain
 *         no other CR, none of which begins with a space (folding) or a colon
 *         (no name), and no more lines and bytes than the limits say.
 * HEAD-2  A byte is looked at once, however slowly the head arrives; what
 *         cannot become a head is refused before its end has come.
 */
#ifndef LBX_HTTP_HEAD_H
#define LBX_HTTP_HEAD_H

#include "http/http.h"

/* How far a head was looked at; zeroed at its begin. */
typedef struct lbx__head_scan {
    uint32_t offset; /* where the next line begins */
    uint32_t seen;   /* of that line, without its end */
    uint32_t lines;
    bool is_checked; /* the first line, before the end of the head */
} lbx__head_scan;

enum {
    LBX__HEAD_MORE = -1,
    LBX__HEAD_COMPLETE = 0, /* `offset` bytes long */
    /* others: the status of HTTP to refuse it with */
};

int lbx__head_scan_bytes(lbx__head_scan *scan, const char *bytes, size_t size,
                         const lbx__http_limits *limits);

/* What the fields say about the request and its connection. */
typedef struct lbx__head_facts {
    uint64_t content_length;
    bool has_length;
    bool is_chunked;
    bool expects_continue;
    bool closes; /* the connection */
} lbx__head_facts;

/* Checks the fields that framing depends on. Sets the request's host. Returns 0
 * or a status of HTTP. */
int lbx__head_fields_check(lbx__http_request *request, bool is_old,
                           lbx__slice authority, lbx__head_facts *ret);

#endif
