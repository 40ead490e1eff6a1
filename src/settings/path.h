/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as callers write them: keys with dots between them, some in quotes. */
#ifndef LBX_SETTINGS_PATH_H
#define LBX_SETTINGS_PATH_H

#include "settings/load.h"

typedef enum lbx__step {
    LBX__STEP_KEY, /* there was a key */
    LBX__STEP_END, /* there is none left */
    LBX__STEP_BAD, /* this is no path */
} lbx__step;

/* Takes the first key off a path, and the dot behind it. `key` has room for
 * LBX__KEY_MAX bytes. NULL and "" are paths without keys. */
lbx__step lbx__path_next(const char **path, char *key);

#endif
