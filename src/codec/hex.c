/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal; see hex.h. */
#include "codec/hex.h"

static const char hex_digits[] = "0123456789abcdef";

void
lbx__hex_encode(const void *bytes, size_t size, char *text)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++) {
        *text++ = hex_digits[at[i] >> 4];
        *text++ = hex_digits[at[i] & 15];
    }
    *text = '\0';
}

/* 0 to 15; -1 for what is no digit. */
static int
hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

bool
lbx__hex_decode(const char *text, size_t text_size, void *bytes)
{
    uint8_t *at = bytes;

    if (text_size % 2 != 0)
        return false;
    for (size_t i = 0; i < text_size; i += 2) {
        const int high = hex_value(text[i]), low = hex_value(text[i + 1]);

        if (high < 0 || low < 0)
            return false;
        *at++ = (uint8_t)(high << 4 | low);
    }
    return true;
}
