/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A printer writes text into a buffer of fixed size, and keeps counting when
 * the buffer is full, as snprintf() does.
 */
#ifndef LBX_SETTINGS_PRINTER_H
#define LBX_SETTINGS_PRINTER_H

#include <letterbox/base.h>

typedef struct lbx__printer {
    char *buffer;
    size_t size_bytes;
    size_t length; /* of the whole text so far */
} lbx__printer;

void lbx__printer_text(lbx__printer *out, const char *text);

/* In quotes, with JSON's escapes. */
void lbx__printer_quoted(lbx__printer *out, const char *text);

/* A key of a path, in quotes if it needs them. */
void lbx__printer_key(lbx__printer *out, const char *key);

/* Terminates the text, or what fits of it, with a NUL. */
void lbx__printer_end(lbx__printer *out);

#endif
