/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a text means as a number, a boolean, a duration or a size.
 *
 * Each function returns false when the text is something else; *why is then the
 * end of a sentence with what is wrong and what is allowed.
 */
#ifndef LBX_SETTINGS_SCALAR_H
#define LBX_SETTINGS_SCALAR_H

#include <letterbox/base.h>

/* Whether the text is a number as JSON writes them. */
bool lbx__scalar_is_number(const char *text);

bool lbx__scalar_to_integer(const char *text, int64_t *ret, const char **why);
bool lbx__scalar_to_number(const char *text, double *ret, const char **why);
bool lbx__scalar_to_boolean(const char *text, bool *ret, const char **why);
bool lbx__scalar_to_duration(const char *text, int64_t *ret_ns,
                             const char **why);
bool lbx__scalar_to_size(const char *text, int64_t *ret_bytes,
                         const char **why);

#endif
