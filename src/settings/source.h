/* SPDX-License-Identifier: Apache-2.0 */
/* Where text comes from: files, memory, includes. */
#ifndef LBX_SETTINGS_SOURCE_H
#define LBX_SETTINGS_SOURCE_H

#include "settings/expr.h"

/* Parses a source of the caller into `section`. */
bool lbx__source_read(lbx__loader *load, const lbx_settings_source *source,
                      lbx__expr *section);

typedef struct lbx__source_include_name {
    const char *name;
    bool required;
    lbx__fault_line origin; /* of the word include */
} lbx__source_include_name;

/* Parses an included text into `section`; a missing one is ignored unless it is
 * required. */
bool lbx__source_include(lbx__loader *load,
                         const lbx__source_include_name *include,
                         lbx__expr *section);

#endif
