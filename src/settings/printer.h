/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text written into a buffer of fixed size, which goes on counting when it is
 * full, as snprintf() does.
 */
#ifndef LBX_SETTINGS_OUT_H
#define LBX_SETTINGS_OUT_H

#include <letterbox/base.h>

typedef struct lbx__printer {
    char *buffer;
    size_t size_bytes;
    size_t length; /* of the whole text so far */
} lbx__printer;

void lbx__printer_text(lbx__printer *out, const char *text);

/* In quotes, as JSON has it. */
void lbx__printer_quoted(lbx__printer *out, const char *text);

/* A key as it stands in a path, in quotes if it must be. */
void lbx__printer_key(lbx__printer *out, const char *key);

/* Puts the NUL at the end of what there was room for. */
void lbx__printer_end(lbx__printer *out);

#endif
