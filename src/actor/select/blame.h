/* SPDX-License-Identifier: Apache-2.0 */
/* Faults about settings: what is wrong, and where. */
#ifndef LBX_ACTOR_SELECT_BLAME_H
#define LBX_ACTOR_SELECT_BLAME_H

#include <letterbox/settings.h>

/* Writes a fault, which may be NULL: "file:line: path: " if `at` is given, then
 * the text. Answers `status`. */
lbx_status lbx__blame(lbx_fault *fault, lbx_status status,
                      const lbx_settings *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
