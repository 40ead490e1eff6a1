/* SPDX-License-Identifier: Apache-2.0 */
/* Faults; see fault.h. */
#include "base/fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FILE_SHOWN = 80
};

lbx_status
lbx__fault_set(lbx_fault *fault, lbx_status status, const char *format, ...)
{
    static const lbx__fault_line unknown;
    va_list arguments;

    va_start(arguments, format);
    (void)lbx__fault_set_list(fault, status, unknown, format, arguments);
    va_end(arguments);
    return status;
}

lbx_status
lbx__fault_set_at(lbx_fault *fault, lbx_status status, lbx__fault_line at,
                  const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)lbx__fault_set_list(fault, status, at, format, arguments);
    va_end(arguments);
    return status;
}

const char *
lbx__fault_path(const char *path, char ret[LBX__FAULT_PATH_BYTES])
{
    const char *cut = "";

    if (strlen(path) > FILE_SHOWN) {
        path += strlen(path) - FILE_SHOWN;
        while (((unsigned char)*path & 0xc0) == 0x80)
            path++; // not in the middle of a character
        cut = "...";
    }
    (void)snprintf(ret, LBX__FAULT_PATH_BYTES, "%s%s", cut, path);
    return ret;
}

/* Writes "file:line: "; returns how many bytes. */
static size_t
fault_write_line(char *text, size_t size_bytes, lbx__fault_line at)
{
    char file[LBX__FAULT_PATH_BYTES];
    int length;

    if (!at.file)
        return 0;
    (void)lbx__fault_path(at.file, file);
    if (at.line > 0)
        length = snprintf(text, size_bytes, "%s:%" PRIu32 ": ", file, at.line);
    else
        length = snprintf(text, size_bytes, "%s: ", file);
    return length < 0 ? 0 : (size_t)length;
}

lbx_status
lbx__fault_set_list(lbx_fault *fault, lbx_status status, lbx__fault_line at,
                    const char *format, va_list arguments)
{
    // Formatted apart: an argument may point into the fault itself.
    char text[sizeof(fault->text)];
    size_t length;

    if (!fault)
        return status;
    length = fault_write_line(text, sizeof(text), at);
    (void)vsnprintf(text + length, sizeof(text) - length, format, arguments);
    memcpy(fault->text, text, sizeof(text));
    fault->status = status;
    return status;
}

void
lbx__fault_clear(lbx_fault *fault)
{
    if (fault)
        fault->text[0] = '\0';
}

lbx_status
lbx__fault_complete(lbx_fault *fault, lbx_status status, const char *what,
                    const char *name)
{
    char quoted[LBX__FAULT_QUOTED_BYTES];

    if (status == LBX_OK || !fault || fault->text[0])
        return status;
    return lbx__fault_set(fault, status, "%s%s%s: %s", what, name ? " " : "",
                          name ? lbx__fault_quote(name, quoted) : "",
                          lbx_status_text(status));
}

const char *
lbx__fault_quote(const char *text, char ret[LBX__FAULT_QUOTED_BYTES])
{
    static const char end[] = "...'";
    // What is left must hold one more \xNN and the end.
    const size_t limit = LBX__FAULT_QUOTED_BYTES - sizeof(end) - 4;
    size_t used = 0;

    if (!text) {
        (void)snprintf(ret, LBX__FAULT_QUOTED_BYTES, "NULL");
        return ret;
    }
    ret[used++] = '\'';
    for (; *text && used < limit; text++) {
        if (*text >= ' ' && *text <= '~')
            ret[used++] = *text;
        else
            used += (size_t)snprintf(ret + used, LBX__FAULT_QUOTED_BYTES - used,
                                     "\\x%02x", (unsigned char)*text);
    }
    (void)snprintf(ret + used, LBX__FAULT_QUOTED_BYTES - used, "%s",
                   *text ? end : "'");
    return ret;
}

const char *
lbx__fault_number(int64_t number, char ret[LBX__FAULT_NUMBER_BYTES])
{
    if (number == LBX_UNLIMITED)
        (void)snprintf(ret, LBX__FAULT_NUMBER_BYTES, "LBX_UNLIMITED");
    else
        (void)snprintf(ret, LBX__FAULT_NUMBER_BYTES, "%" PRId64, number);
    return ret;
}
