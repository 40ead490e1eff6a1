/* SPDX-License-Identifier: Apache-2.0 */
/* Faults about a value of a tree. */
#ifndef LBX_SETTINGS_READ_H
#define LBX_SETTINGS_READ_H

#include "settings/tree.h"

/* "file:line: path: " and a sentence, printf-like. Returns `status`. */
lbx_status lbx__settings_fault(const lbx_settings *settings, lbx_fault *fault,
                               lbx_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
