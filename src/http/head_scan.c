/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head.h"

#include "http/request_line.h"

/* One whole line, from `offset` to the LF at `end`. */
static int
head_take_line(lbx__head_scan *scan, const char *bytes, size_t end,
               const lbx__http_limits *limits)
{
    const char *line = bytes + scan->offset;
    size_t size = end - scan->offset; // with the CR

    if (size == 0 || memchr(line, '\r', size) != line + size - 1)
        return 400;
    scan->offset = (uint32_t)(end + 1);
    scan->seen = 0;
    if (size == 1)
        return LBX__HEAD_COMPLETE;
    // Folded, or without a name.
    if (scan->lines > 0 &&
        (line[0] == ' ' || line[0] == '\t' || line[0] == ':'))
        return 400;
    scan->lines++;
    return scan->lines > limits->max_field_count + 1 ? 431 : LBX__HEAD_MORE;
}

/* The first line, as soon as there is something of it: a client that speaks
 * another protocol should not wait for an answer. */
static int
head_check_first(lbx__head_scan *scan, const char *bytes, size_t size,
                 const lbx__http_limits *limits)
{
    lbx__http_request request = {.target = {NULL, 0}};
    lbx__request_line line;
    const char *end;
    int status;

    if (scan->lines == 0)
        status = lbx__request_line_check((lbx__slice){bytes, size},
                                         limits->max_target_bytes);
    else if (!scan->is_checked && (end = memchr(bytes, '\r', size)))
        status =
            lbx__request_line_parse((lbx__slice){bytes, (size_t)(end - bytes)},
                                    limits->max_target_bytes, &request, &line);
    else
        return LBX__HEAD_MORE;
    scan->is_checked = scan->lines > 0;
    return status ? status : LBX__HEAD_MORE;
}

int
lbx__head_scan_bytes(lbx__head_scan *scan, const char *bytes, size_t size,
                     const lbx__http_limits *limits)
{
    size_t most = size < limits->max_head_bytes ? size : limits->max_head_bytes;
    int status = LBX__HEAD_MORE;
    const char *end;

    while (status == LBX__HEAD_MORE && scan->offset + scan->seen < most) {
        size_t from = scan->offset + scan->seen;

        end = memchr(bytes + from, '\n', most - from);
        if (!end) {
            scan->seen = (uint32_t)(most - scan->offset);
            break;
        }
        status = head_take_line(scan, bytes, (size_t)(end - bytes), limits);
    }
    if (status == LBX__HEAD_MORE)
        status = head_check_first(scan, bytes, most, limits);
    if (status == LBX__HEAD_MORE && size >= limits->max_head_bytes)
        return 431;
    return status;
}
