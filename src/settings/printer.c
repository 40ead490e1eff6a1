/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, quoted where HOCON and JSON need it to read them back unchanged. */
#include "settings/printer.h"

#include <stdio.h>
#include <string.h>

static void
printer_put(lbx__printer *out, char c)
{
    if (out->length < out->size_bytes)
        out->buffer[out->length] = c;
    out->length++;
}

void
lbx__printer_text(lbx__printer *out, const char *text)
{
    while (*text)
        printer_put(out, *text++);
}

void
lbx__printer_quoted(lbx__printer *out, const char *text)
{
    static const char controls[] = "\b\f\n\r\t";
    static const char names[] = "bfnrt";

    printer_put(out, '"');
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const char *control = memchr(controls, c, sizeof(controls) - 1);
        char escape[8];

        if (control) {
            printer_put(out, '\\');
            printer_put(out, names[control - controls]);
        } else if (c == '"' || c == '\\') {
            printer_put(out, '\\');
            printer_put(out, *text);
        } else if (c >= 0x20 && c != 0x7f) {
            printer_put(out, *text);
        } else {
            (void)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
            lbx__printer_text(out, escape);
        }
    }
    printer_put(out, '"');
}

/* Letters, digits and the characters of class names and actor paths need none:
 * every reader of HOCON takes them without quotes. */
static bool
printer_needs_quotes(const char *key)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/";

    return key[0] == '\0' || strspn(key, plain) != strlen(key) ||
           strstr(key, "//") || strcmp(key, "include") == 0;
}

void
lbx__printer_key(lbx__printer *out, const char *key)
{
    if (printer_needs_quotes(key))
        lbx__printer_quoted(out, key);
    else
        lbx__printer_text(out, key);
}

void
lbx__printer_end(lbx__printer *out)
{
    if (out->size_bytes == 0)
        return;
    if (out->length < out->size_bytes)
        out->buffer[out->length] = '\0';
    else
        out->buffer[out->size_bytes - 1] = '\0';
}
