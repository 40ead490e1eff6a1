/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults with a place. The text has a fixed size: what matters more stands
 * first, and of a long file name the end is kept, which tells files apart.
 */
#include "settings/place.h"

#include <stdio.h>
#include <string.h>

enum {
    FILE_SHOWN = 80
};

/* Writes the place; returns how long it became. */
static size_t
write_place(char *text, size_t size_bytes, lbx__place place)
{
    const char *file = place.file;
    const char *cut = "";
    int length;

    if (!file)
        return 0;
    if (strlen(file) > FILE_SHOWN) {
        file += strlen(file) - FILE_SHOWN;
        while (((unsigned char)*file & 0xc0) == 0x80)
            file++; // not in the middle of a character
        cut = "...";
    }
    if (place.line > 0)
        length = snprintf(text, size_bytes, "%s%s:%u: ", cut, file,
                          (unsigned)place.line);
    else
        length = snprintf(text, size_bytes, "%s%s: ", cut, file);
    return length < 0 ? 0 : (size_t)length;
}

lbx_status
lbx__fault_write(lbx_fault *fault, lbx_status status, lbx__place place,
                 const char *format, va_list arguments)
{
    size_t length;

    if (!fault)
        return status;
    fault->status = status;
    length = write_place(fault->text, sizeof(fault->text), place);
    (void)vsnprintf(fault->text + length, sizeof(fault->text) - length, format,
                    arguments);
    return status;
}

lbx_status
lbx__fault_print(lbx_fault *fault, lbx_status status, lbx__place place,
                 const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)lbx__fault_write(fault, status, place, format, arguments);
    va_end(arguments);
    return status;
}
