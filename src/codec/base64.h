/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64, of RFC 4648.
 *
 * BASE64-1  The decoder is strict: each sequence of bytes has one text, and
 *           every other text is refused. So equal bytes have equal texts.
 */
#ifndef LBX_CODEC_BASE64_H
#define LBX_CODEC_BASE64_H

#include <letterbox/base.h>

/* Which 64 characters, and whether there is padding. */
typedef enum lbx__base64 {
    LBX__BASE64,     /* RFC 4648 section 4: + and /, padded */
    LBX__BASE64_URL, /* section 5: - and _, not padded */
} lbx__base64;

/* How many characters, without the NUL; how many bytes at most. */
size_t lbx__base64_text_size(lbx__base64 kind, size_t size);
size_t lbx__base64_max_bytes(size_t text_size);

/* Writes lbx__base64_text_size() characters and a NUL. */
void lbx__base64_encode(lbx__base64 kind, const void *bytes, size_t size,
                        char *text);

/* Writes at most lbx__base64_max_bytes() bytes. False for characters that do
 * not belong, wrong padding, or bits behind the last byte that are not 0. */
bool lbx__base64_decode(lbx__base64 kind, const char *text, size_t text_size,
                        void *bytes, size_t *ret_size);

#endif
