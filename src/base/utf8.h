/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of a text, and JSON's escapes for them. */
#ifndef LBX_BASE_UTF8_H
#define LBX_BASE_UTF8_H

#include <letterbox/base.h>

/* The length in bytes of the character at `text`, of which `left_bytes` are
 * there; 0 when it is no valid UTF-8. `ret` is its code point. */
size_t lbx__utf8_decode(const char *text, size_t left_bytes, uint32_t *ret);

/* Whether all of a text is valid UTF-8: up to its NUL; or so many bytes. */
bool lbx__utf8_valid(const char *text);
bool lbx__utf8_valid_bytes(const char *text, size_t left);

/* How many bytes at the beginning of a text stand for themselves in JSON and
 * in XML: printable ASCII but for " \ & < >. Counted in words of eight bytes:
 * what follows is for the caller to look at, byte by byte. */
size_t lbx__utf8_skip_plain(const char *text, size_t size);

/* Writes a code point and returns how many bytes that took, at most 4. */
size_t lbx__utf8_encode(uint32_t code, char *buffer);

/* Undoes the escape behind a backslash at *at, moves *at past it and writes
 * what it stands for, at most 4 bytes. Returns how many; 0 when it is no
 * escape, or one for U+0000 or half of a pair. */
size_t lbx__utf8_unescape(const char **at, const char *end, char *buffer);

#endif
