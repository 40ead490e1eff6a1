/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a JSON text, to refuse duplicates; private to the reader. */
#ifndef LBX_CODEC_JSON_NAMES_H
#define LBX_CODEC_JSON_NAMES_H

#include "codec/json.h"

/* Adds the token as a name of the innermost object. ENCODING for a duplicate,
 * TOO_LARGE for too many names, NO_MEMORY; *why is the reason. */
lbx_status lbx__json_names_add(lbx__json *json, const char **why);

/* Frees the table. */
void lbx__json_names_fini(lbx__json *json);

#endif
