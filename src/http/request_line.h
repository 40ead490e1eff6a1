/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line of a request: method, target, version.
 *
 * LINE-1  What is accepted has a target of visible ASCII, percent-encoded
 *         correctly, whose path has no %00 and no segment "..", be it
 *         encoded: a path can be compared as it was sent.
 */
#ifndef LBX_HTTP_REQUEST_LINE_H
#define LBX_HTTP_REQUEST_LINE_H

#include "http/exchange.h"

typedef struct lbx__request_line {
    lbx__slice authority; /* of an absolute target; NULL: origin form */
    bool is_old;          /* HTTP/1.0 */
} lbx__request_line;

/* Reads the line, without its end, into the request's method, target, path and
 * query. Returns 0, or the status of HTTP to refuse it with. */
int lbx__request_line_parse(lbx__slice line, size_t max_target_bytes,
                            lbx__http_request *request, lbx__request_line *ret);

/* Looks at a line whose end has not come: 0 if it may still become one. */
int lbx__request_line_check(lbx__slice begin, size_t max_target_bytes);

#endif
