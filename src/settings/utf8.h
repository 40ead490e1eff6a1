/* SPDX-License-Identifier: Apache-2.0 */
/* Characters: UTF-8 in and out, white space, and the escapes of quoted text. */
#ifndef LBX_SETTINGS_UTF8_H
#define LBX_SETTINGS_UTF8_H

#include <letterbox/base.h>

/* The length in bytes of the character at `text`, of which `left_bytes` are
 * there; 0 when it is no valid UTF-8. `ret` is its code point. */
size_t lbx__utf8_decode(const char *text, size_t left_bytes, uint32_t *ret);

/* Whether all of a text, up to its NUL, is valid UTF-8. */
bool lbx__utf8_valid(const char *text);

/* Writes a code point and returns how many bytes that took, at most 4. */
size_t lbx__utf8_encode(uint32_t code, char *buffer);

/* The length in bytes of the white space at `text`, one character's; 0 when
 * there is something else, a line feed included. */
size_t lbx__utf8_space(const char *text, size_t left_bytes);

/* Undoes the escape behind a backslash at *at, moves *at past it and writes
 * what it stands for, at most 4 bytes. Returns how many; 0 when it is no
 * escape, or one for U+0000 or half of a pair. */
size_t lbx__unescape(const char **at, const char *end, char *buffer);

#endif
