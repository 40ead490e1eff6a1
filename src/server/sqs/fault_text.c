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

/* Drops the last character of a text that was cut, unless it is ASCII: it may
 * be half of one. */
static void
fault_text_drop_last(char *text, size_t size)
{
    while (size > 0 && ((unsigned char)text[size - 1] & 0xc0) == 0x80)
        size--;
    if (size > 0 && (unsigned char)text[size - 1] >= 0xc0)
        size--;
    text[size] = '\0';
}

bool
lbx__fault_text_set(lbx__sqs_fault *fault, lbx__sqs_error error,
                    const char *format, ...)
{
    va_list arguments;
    int size;

    fault->error = error;
    va_start(arguments, format);
    size = vsnprintf(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    if (size >= (int)sizeof(fault->text))
        fault_text_drop_last(fault->text, sizeof(fault->text) - 1);
    return false;
}
