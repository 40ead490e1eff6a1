/* SPDX-License-Identifier: Apache-2.0 */
/* UUIDs as text; see uuid.h. */
#include "codec/uuid.h"

#include "codec/hex.h"

#include <string.h>

static const char uuid_digits[] = "0123456789abcdef";

void
lbx__uuid_format(const uint8_t bytes[LBX__UUID_BYTES],
                 char text[LBX__UUID_TEXT_BYTES])
{
    // Every letter has its id written twice: no branches.
    static const uint8_t at[LBX__UUID_BYTES] = {0,  2,  4,  6,  9,  11, 14, 16,
                                                19, 21, 24, 26, 28, 30, 32, 34};

#pragma GCC unroll 16
    for (int i = 0; i < LBX__UUID_BYTES; i++) {
        text[at[i]] = uuid_digits[bytes[i] >> 4];
        text[at[i] + 1] = uuid_digits[bytes[i] & 15];
    }
    text[8] = text[13] = text[18] = text[23] = '-';
    text[36] = '\0';
}

bool
lbx__uuid_parse(const char *text, uint8_t bytes[LBX__UUID_BYTES])
{
    uint8_t parsed[LBX__UUID_BYTES];

    for (int i = 0; i < LBX__UUID_BYTES; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
            return false;
        if (!text[0] || !lbx__hex_decode(text, 2, &parsed[i]))
            return false;
        text += 2;
    }
    if (*text)
        return false;
    memcpy(bytes, parsed, sizeof(parsed));
    return true;
}

void
lbx__uuid_mark_random(uint8_t bytes[LBX__UUID_BYTES])
{
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
}
