/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about failures, for people. */
#ifndef LBX_POST_FAULT_H
#define LBX_POST_FAULT_H

#include <letterbox/base.h>

/* Fills a fault in, which may be NULL; answers the status. */
lbx_status lbx__fault(lbx_fault *fault, lbx_status status, const char *format,
                      ...) __attribute__((format(printf, 3, 4)));

/* A struct that was not begun with its _INIT: INVALID, and both versions. What
 * is behind another version is not known, but for the fault, which stands where
 * it always stood. */
lbx_status lbx__fault_version(lbx_fault *fault, const char *init, uint32_t has,
                              uint32_t needs);

/* Fills in the status's own text if nobody has said more: "box 'orders': no such
 * name". The name may be NULL, and then there is none; the text was cleared
 * before. Takes LBX_OK, and does nothing. */
lbx_status lbx__fault_otherwise(lbx_fault *fault, lbx_status status,
                                const char *what, const char *name);

/* Empties a fault, which may be NULL, so that lbx__fault_otherwise() can tell. */
void lbx__fault_clear(lbx_fault *fault);

enum {
    LBX__SHOWN_BYTES = 80
};

/* A text of somebody's, in quotes, as it can be printed: other bytes than
 * printable ASCII as \xNN, and cut when it is long. Answers `ret`. */
const char *lbx__show(const char *text, char ret[LBX__SHOWN_BYTES]);

enum {
    LBX__NUMBER_BYTES = 24
};

/* A number; LBX_UNLIMITED by that name. Answers `ret`. */
const char *lbx__show_number(int64_t number, char ret[LBX__NUMBER_BYTES]);

#endif
