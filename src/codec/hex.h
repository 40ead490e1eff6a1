/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as lower-case hexadecimal digits; upper case is refused. */
#ifndef LBX_CODEC_HEX_H
#define LBX_CODEC_HEX_H

#include <letterbox/base.h>

/* Lower-case hexadecimal, 2 * size characters and a NUL. */
void lbx__hex_encode(const void *bytes, size_t size, char *text);

/* 2 * size lower-case digits; false when there is anything else. */
bool lbx__hex_decode(const char *text, size_t text_size, void *bytes);

#endif
