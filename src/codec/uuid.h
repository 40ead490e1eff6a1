/* SPDX-License-Identifier: Apache-2.0 */
/* UUIDs: 16 bytes, and their text of 36 characters, lower case. */
#ifndef LBX_CODEC_UUID_H
#define LBX_CODEC_UUID_H

#include <letterbox/base.h>

/* A UUID: 16 bytes, and 36 characters with a NUL. */
#define LBX__UUID_BYTES      16
#define LBX__UUID_TEXT_BYTES 37

void lbx__uuid_format(const uint8_t bytes[LBX__UUID_BYTES],
                      char text[LBX__UUID_TEXT_BYTES]);
bool lbx__uuid_parse(const char *text, uint8_t bytes[LBX__UUID_BYTES]);

/* Marks 16 random bytes as a UUID of version 4. */
void lbx__uuid_mark_random(uint8_t bytes[LBX__UUID_BYTES]);

#endif
