/* SPDX-License-Identifier: Apache-2.0 */
/* A place in a text, and faults that name it. */
#ifndef LBX_SETTINGS_PLACE_H
#define LBX_SETTINGS_PLACE_H

#include <letterbox/base.h>

#include <stdarg.h>

typedef struct lbx__place {
    const char *file; /* or another origin; NULL: nowhere */
    uint32_t line;    /* from 1; 0: the whole of it */
} lbx__place;

/* Fills in `fault`, if there is one: "file:line: " and the text, printf-like.
 * Long file names lose their front. Returns `status`. */
lbx_status lbx__fault_write(lbx_fault *fault, lbx_status status,
                            lbx__place place, const char *format,
                            va_list arguments);
lbx_status lbx__fault_print(lbx_fault *fault, lbx_status status,
                            lbx__place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
