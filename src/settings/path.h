/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as callers write them: keys with dots between them, some in quotes. */
#ifndef LBX_SETTINGS_PATH_H
#define LBX_SETTINGS_PATH_H

#include "settings/loader.h"

typedef enum lbx__path_step {
    LBX__PATH_KEY, /* there was a key */
    LBX__PATH_END, /* there is none left */
    LBX__PATH_BAD, /* this is no path */
} lbx__path_step;

/* Takes the first key off a path, and the dot behind it. `key` has room for
 * LBX__LOADER_KEY_BYTES bytes. NULL and "" are paths without keys. */
lbx__path_step lbx__path_next(const char **path, char *key);

#endif
