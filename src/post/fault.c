/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about failures. */
#include "post/fault.h"

#include <letterbox/mailbox/options.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

lbx_status
lbx__fault(lbx_fault *fault, lbx_status status, const char *format, ...)
{
    va_list arguments;

    if (!fault)
        return status;
    fault->status = status;
    va_start(arguments, format);
    (void)vsnprintf(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    return status;
}

lbx_status
lbx__fault_version(lbx_fault *fault, const char *init, uint32_t has,
                   uint32_t needs)
{
    return lbx__fault(fault, LBX_INVALID,
                      "the version is %" PRIu32 ", and must be %" PRIu32
                      ": begin with %s",
                      has, needs, init);
}

void
lbx__fault_clear(lbx_fault *fault)
{
    if (fault)
        fault->text[0] = '\0';
}

lbx_status
lbx__fault_otherwise(lbx_fault *fault, lbx_status status, const char *what,
                     const char *name)
{
    char shown[LBX__SHOWN_BYTES];

    if (status == LBX_OK || !fault || fault->text[0])
        return status;
    return lbx__fault(fault, status, "%s%s%s: %s", what, name ? " " : "",
                      name ? lbx__show(name, shown) : "",
                      lbx_status_text(status));
}

const char *
lbx__show(const char *text, char ret[LBX__SHOWN_BYTES])
{
    static const char end[] = "...'";
    const size_t most = LBX__SHOWN_BYTES - sizeof(end) - 4; // one more \xNN
    size_t used = 0;

    if (!text) {
        (void)snprintf(ret, LBX__SHOWN_BYTES, "NULL");
        return ret;
    }
    ret[used++] = '\'';
    for (; *text && used < most; text++) {
        if (*text >= ' ' && *text <= '~')
            ret[used++] = *text;
        else
            used += (size_t)snprintf(ret + used, LBX__SHOWN_BYTES - used,
                                     "\\x%02x", (unsigned char)*text);
    }
    (void)snprintf(ret + used, LBX__SHOWN_BYTES - used, "%s",
                   *text ? end : "'");
    return ret;
}

const char *
lbx__show_number(int64_t number, char ret[LBX__NUMBER_BYTES])
{
    if (number == LBX_UNLIMITED)
        (void)snprintf(ret, LBX__NUMBER_BYTES, "LBX_UNLIMITED");
    else
        (void)snprintf(ret, LBX__NUMBER_BYTES, "%" PRId64, number);
    return ret;
}
