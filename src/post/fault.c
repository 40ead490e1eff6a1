/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about failures. */
#include "post/fault.h"

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
