/* SPDX-License-Identifier: Apache-2.0 */
/* Faults about settings. */
#include "actor/select/blame.h"

#include <stdarg.h>
#include <stdio.h>

lbx_status
lbx__blame(lbx_fault *fault, lbx_status status, const lbx_settings *at,
           const char *format, ...)
{
    char text[sizeof(fault->text)];
    va_list arguments;

    if (!fault)
        return status;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    // What was not read from a file has no line to show.
    if (at && lbx_settings_line(at) > 0)
        (void)lbx_settings_complain(at, fault, text);
    else
        (void)snprintf(fault->text, sizeof(fault->text), "%s", text);
    fault->status = status;
    return status;
}
