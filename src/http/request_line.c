/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request_line.h"

#include <strings.h>

enum {
    LINE_METHOD_BYTES = 20, /* the longest registered one has 17 */
    LINE_VERSION_BYTES = 8  /* HTTP/1.1 */
};

static const char *const line_methods[] = {
    [LBX__HTTP_GET] = "GET",       [LBX__HTTP_HEAD] = "HEAD",
    [LBX__HTTP_POST] = "POST",     [LBX__HTTP_PUT] = "PUT",
    [LBX__HTTP_DELETE] = "DELETE", [LBX__HTTP_OPTIONS] = "OPTIONS",
};

/* The methods of RFC 9110 and 5789 that we do not have. */
static const char *const line_other_methods[] = {"PATCH", "TRACE", "CONNECT"};

/* A method of letters and dashes, as all registered ones are. */
static bool
line_is_method(lbx__slice text)
{
    size_t i;

    for (i = 0; i < text.size; i++) {
        char c = text.bytes[i];

        if (!(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && c != '-')
            return false;
    }
    return text.size > 0;
}

static int
line_parse_method(lbx__slice text, lbx__http_request *request)
{
    size_t i;

    for (i = 0; i < sizeof(line_methods) / sizeof(line_methods[0]); i++) {
        if (lbx__slice_is(text, line_methods[i])) {
            request->method = (lbx__http_method)i;
            request->method_name = text;
            return 0;
        }
    }
    if (!line_is_method(text))
        return 400;
    for (i = 0; i < sizeof(line_other_methods) / sizeof(line_other_methods[0]);
         i++) {
        if (lbx__slice_is(text, line_other_methods[i]))
            return 405;
    }
    return lbx__slice_is(text, "PRI") ? 505 : 501; // PRI: HTTP/2
}

static int
line_parse_version(lbx__slice text, lbx__request_line *ret)
{
    if (lbx__slice_is(text, "HTTP/1.1"))
        return 0;
    ret->is_old = true;
    if (lbx__slice_is(text, "HTTP/1.0"))
        return 0;
    if (text.size == LINE_VERSION_BYTES && memcmp(text.bytes, "HTTP/", 5) == 0)
        return 505;
    return 400;
}

static int
line_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The next byte, decoded; its place moves on. -1: it is not allowed. */
static int
line_next_byte(lbx__slice text, size_t *at)
{
    char c = text.bytes[*at];
    int high, low;

    if (c <= ' ' || c >= 127 || c == '#')
        return -1;
    *at += 1;
    if (c != '%')
        return c;
    if (text.size - *at < 2)
        return -1;
    high = line_hex(text.bytes[*at]);
    low = line_hex(text.bytes[*at + 1]);
    *at += 2;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* LINE-1 for a path. An encoded slash separates segments here too: a reader
 * behind us may decode it. */
static bool
line_path_is_good(lbx__slice path)
{
    size_t at = 0, dots = 0, others = 0;
    int byte;

    while (at < path.size) {
        byte = line_next_byte(path, &at);
        if (byte <= 0)
            return false;
        if (byte == '/') {
            if (dots == 2 && others == 0)
                return false;
            dots = others = 0;
        } else if (byte == '.') {
            dots++;
        } else {
            others++;
        }
    }
    return !(dots == 2 && others == 0);
}

static bool
line_query_is_good(lbx__slice query)
{
    size_t at = 0;

    while (at < query.size) {
        if (line_next_byte(query, &at) < 0)
            return false;
    }
    return true;
}

/* Takes "http://HOST" off an absolute target. */
static bool
line_take_authority(lbx__slice *target, lbx__request_line *ret)
{
    size_t skip, end;

    if (target->size > 7 && strncasecmp(target->bytes, "http://", 7) == 0)
        skip = 7;
    else if (target->size > 8 && strncasecmp(target->bytes, "https://", 8) == 0)
        skip = 8;
    else
        return false;
    for (end = skip; end < target->size; end++) {
        if (target->bytes[end] == '/' || target->bytes[end] == '?')
            break;
    }
    ret->authority = (lbx__slice){target->bytes + skip, end - skip};
    *target = (lbx__slice){target->bytes + end, target->size - end};
    if (target->size == 0)
        *target = lbx__slice_of("/");
    return ret->authority.size > 0 && target->bytes[0] == '/';
}

static int
line_parse_target(lbx__slice target, lbx__http_request *request,
                  lbx__request_line *ret)
{
    const char *mark;

    if (target.size == 0)
        return 400;
    if (!(request->method == LBX__HTTP_OPTIONS && lbx__slice_is(target, "*")) &&
        target.bytes[0] != '/' && !line_take_authority(&target, ret))
        return 400;
    request->target = target;
    request->path = target;
    request->query = (lbx__slice){NULL, 0};
    mark = memchr(target.bytes, '?', target.size);
    if (mark) {
        request->path.size = (size_t)(mark - target.bytes);
        request->query.bytes = mark + 1;
        request->query.size = target.size - request->path.size - 1;
    }
    return line_path_is_good(request->path) &&
                   line_query_is_good(request->query)
               ? 0
               : 400;
}

int
lbx__request_line_parse(lbx__slice line, size_t max_target_bytes,
                        lbx__http_request *request, lbx__request_line *ret)
{
    lbx__slice method = {line.bytes, 0}, target, version;
    const char *space = memchr(line.bytes, ' ', line.size), *second;
    const char *end = line.bytes + line.size;
    int status;

    *ret = (lbx__request_line){.authority = {NULL, 0}};
    if (!space)
        return 400;
    method.size = (size_t)(space - line.bytes);
    status = line_parse_method(method, request);
    if (status == 400)
        return status;
    second = memchr(space + 1, ' ', (size_t)(end - space - 1));
    if (!second)
        return 400; // HTTP/0.9
    target = (lbx__slice){space + 1, (size_t)(second - space - 1)};
    version = (lbx__slice){second + 1, (size_t)(end - second - 1)};
    if (target.size > max_target_bytes)
        return 414;
    if (!status)
        status = line_parse_version(version, ret);
    return status ? status : line_parse_target(target, request, ret);
}

int
lbx__request_line_check(lbx__slice begin, size_t max_target_bytes)
{
    const char *space = memchr(begin.bytes, ' ', begin.size);
    lbx__slice method = {begin.bytes,
                         space ? (size_t)(space - begin.bytes) : begin.size};

    if (!space && begin.bytes[begin.size - 1] == '\r')
        return begin.size == 1 ? 0 : 400;
    if (method.size > LINE_METHOD_BYTES)
        return 400;
    if (!line_is_method(method))
        return 400;
    if (begin.size > max_target_bytes + LINE_METHOD_BYTES + LINE_VERSION_BYTES)
        return 414;
    return 0;
}
