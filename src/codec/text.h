/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as text: hexadecimal, base64, UUIDs.
 *
 * Decoders are strict: there is one text for given bytes, and every other is
 * refused; so two texts that decode to the same are the same.
 */
#ifndef LBX_CODEC_TEXT_H
#define LBX_CODEC_TEXT_H

#include <letterbox/base.h>

/* Lower-case hexadecimal, 2 * size characters and a NUL. */
void lbx__hex_encode(const void *bytes, size_t size, char *text);

/* 2 * size lower-case digits; false when there is anything else. */
bool lbx__hex_decode(const char *text, size_t text_size, void *bytes);

/* Which 64 characters, and whether there is padding. */
typedef enum lbx__base64 {
    LBX__BASE64,     /* RFC 4648 section 4: + and /, padded */
    LBX__BASE64_URL, /* section 5: - and _, not padded */
} lbx__base64;

/* How many characters, without the NUL; how many bytes at most. */
size_t lbx__base64_text_size(lbx__base64 kind, size_t size);
size_t lbx__base64_most(size_t text_size);

/* Writes lbx__base64_text_size() characters and a NUL. */
void lbx__base64_encode(lbx__base64 kind, const void *bytes, size_t size,
                        char *text);

/* Writes at most lbx__base64_most() bytes. False for characters that do not
 * belong, wrong padding, or bits behind the last byte that are not 0. */
bool lbx__base64_decode(lbx__base64 kind, const char *text, size_t text_size,
                        void *bytes, size_t *ret_size);

/* A UUID: 16 bytes, and 36 characters with a NUL. */
#define LBX__UUID_BYTES 16
#define LBX__UUID_TEXT  37

void lbx__uuid_text(const uint8_t bytes[LBX__UUID_BYTES],
                    char text[LBX__UUID_TEXT]);
bool lbx__uuid_parse(const char *text, uint8_t bytes[LBX__UUID_BYTES]);

/* Marks 16 random bytes as a UUID of version 4. */
void lbx__uuid_mark(uint8_t bytes[LBX__UUID_BYTES]);

/* Random bytes from the kernel. False when there are none, which has not been
 * seen since Linux 3.17. */
bool lbx__random(void *bytes, size_t size);

#endif
