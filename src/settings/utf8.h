/* SPDX-License-Identifier: Apache-2.0 */
/* HOCON's white space; characters and escapes are base's. */
#ifndef LBX_SETTINGS_UTF8_H
#define LBX_SETTINGS_UTF8_H

#include "base/utf8.h"

/* The length in bytes of the white space at `text`, one character's; 0 when
 * there is something else, a line feed included. */
size_t lbx__utf8_space(const char *text, size_t left_bytes);

#endif
