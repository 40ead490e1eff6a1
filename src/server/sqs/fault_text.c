/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of an input; see fault_text.h. */
#include "server/sqs/fault_text.h"

#include <stdarg.h>
#include <stdio.h>

int
lbx__fault_text_clip(lbx__slice value)
{
    size_t size = value.size;

    if (size > LBX__FAULT_VALUE_BYTES) {
        size = LBX__FAULT_VALUE_BYTES;
        while (size > 0 && ((unsigned char)value.bytes[size] & 0xc0) == 0x80)
            size--; // in the middle of a character
    }
    return (int)size;
}

bool
lbx__fault_text_set(lbx__sqs_fault *fault, lbx__sqs_error error,
                    const char *format, ...)
{
    va_list arguments;

    fault->error = error;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    return false;
}
