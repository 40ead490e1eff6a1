/* SPDX-License-Identifier: Apache-2.0 */
/* Where text comes from: files, memory, includes. */
#ifndef LBX_SETTINGS_SOURCE_H
#define LBX_SETTINGS_SOURCE_H

#include "settings/raw.h"

/* Reads a source of the caller's into `section`. */
bool lbx__source_read(lbx__load *load, const lbx_settings_source *source,
                      lbx__raw *section);

typedef struct lbx__include {
    const char *name;
    bool required;
    lbx__place place; /* of the word include */
} lbx__include;

/* Reads what is included into `section`; what is not there is passed over
 * unless it is required. */
bool lbx__include_read(lbx__load *load, const lbx__include *include,
                       lbx__raw *section);

#endif
