/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults: the sentence about a failure that a user reads.
 *
 * Every function takes a fault that may be NULL and returns the status it was
 * given, so that a check is one statement:
 *
 *     return lbx__fault_set(fault, LBX_INVALID, "the capacity is %d ...", n);
 *
 * The text has a fixed size and is cut at its end: what matters most comes
 * first.
 */
#ifndef LBX_BASE_FAULT_H
#define LBX_BASE_FAULT_H

#include <letterbox/base.h>

#include <stdarg.h>

/* Writes status and text, printf-like. */
lbx_status lbx__fault_set(lbx_fault *fault, lbx_status status,
                          const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A line of a settings file, or of another origin. */
typedef struct lbx__fault_line {
    const char *file; /* NULL: unknown */
    uint32_t line;    /* from 1; 0: the whole file */
} lbx__fault_line;

/* The same, with "file:line: " before the text. A long file name loses its
 * front: its end tells files apart. */
lbx_status lbx__fault_set_at(lbx_fault *fault, lbx_status status,
                             lbx__fault_line at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
lbx_status lbx__fault_set_list(lbx_fault *fault, lbx_status status,
                               lbx__fault_line at, const char *format,
                               va_list arguments)
    __attribute__((format(printf, 4, 0)));

/* Empties the text, so that lbx__fault_complete() sees what was written
 * since. */
void lbx__fault_clear(lbx_fault *fault);

/* Writes the status's own text unless a text was written since the fault was
 * cleared: "box 'orders': no such name". `name` may be NULL: left out. Does
 * nothing for LBX_OK. */
lbx_status lbx__fault_complete(lbx_fault *fault, lbx_status status,
                               const char *what, const char *name);

enum {
    LBX__FAULT_QUOTED_BYTES = 80,
    LBX__FAULT_NUMBER_BYTES = 24,
    LBX__FAULT_PATH_BYTES = 88
};

/* A user's text in quotes, printable: other bytes than printable ASCII become
 * \xNN, and a long text is cut. Returns `ret`. */
const char *lbx__fault_quote(const char *text,
                             char ret[LBX__FAULT_QUOTED_BYTES]);

/* A path; a long one loses its front, so that the reason behind it is not cut:
 * its end tells paths apart. Returns `ret`. */
const char *lbx__fault_path(const char *path, char ret[LBX__FAULT_PATH_BYTES]);

/* A number; LBX_UNLIMITED by that name. Returns `ret`. */
const char *lbx__fault_number(int64_t number,
                              char ret[LBX__FAULT_NUMBER_BYTES]);

#endif
