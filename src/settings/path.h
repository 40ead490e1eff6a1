/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as callers write them: keys separated by dots, some in quotes. */
#ifndef LBX_SETTINGS_PATH_H
#define LBX_SETTINGS_PATH_H

#include "settings/loader.h"

typedef enum lbx__path_step {
    LBX__PATH_KEY, /* a key was read */
    LBX__PATH_END, /* no key is left */
    LBX__PATH_BAD, /* not a path */
} lbx__path_step;

/* Removes the first key, and the dot after it, from a path. `key` has space for
 * LBX__LOADER_KEY_BYTES. NULL and "" are paths without keys. */
lbx__path_step lbx__path_next(const char **path, char *key);

#endif
