/* SPDX-License-Identifier: Apache-2.0 */
/* Base64; see base64.h. */
#include "codec/base64.h"

static const char base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char *const base64_extras[] = {"+/", "-_"};

size_t
lbx__base64_text_size(lbx__base64 kind, size_t size)
{
    if (kind == LBX__BASE64)
        return (size + 2) / 3 * 4;
    return size / 3 * 4 + (size % 3 == 0 ? 0 : size % 3 + 1);
}

size_t
lbx__base64_max_bytes(size_t text_size)
{
    return text_size / 4 * 3 + text_size % 4;
}

static char
base64_digit(lbx__base64 kind, unsigned value)
{
    if (value < 62)
        return base64_letters[value];
    return base64_extras[kind][value - 62];
}

void
lbx__base64_encode(lbx__base64 kind, const void *bytes, size_t size, char *text)
{
    const uint8_t *at = bytes;

    for (; size > 0; at += 3, size -= size < 3 ? size : 3) {
        const unsigned group = (unsigned)at[0] << 16 |
                               (size > 1 ? (unsigned)at[1] << 8 : 0) |
                               (size > 2 ? at[2] : 0);
        const int digits = size > 2 ? 4 : (int)size + 1;

        for (int i = 0; i < digits; i++)
            *text++ = base64_digit(kind, group >> (18 - 6 * i) & 63);
        for (int i = digits; i < 4 && kind == LBX__BASE64; i++)
            *text++ = '=';
        if (size < 3)
            break;
    }
    *text = '\0';
}

/* 0 to 63; -1 for what does not belong. */
static int
base64_value(lbx__base64 kind, char digit)
{
    if (digit >= 'A' && digit <= 'Z')
        return digit - 'A';
    if (digit >= 'a' && digit <= 'z')
        return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9')
        return digit - '0' + 52;
    if (digit == base64_extras[kind][0])
        return 62;
    return digit == base64_extras[kind][1] ? 63 : -1;
}

/* Two to four digits make one to three bytes. */
static bool
base64_decode_group(lbx__base64 kind, const char *text, size_t digits,
                    uint8_t *bytes)
{
    unsigned group = 0;

    for (size_t i = 0; i < 4; i++) {
        const int value = i < digits ? base64_value(kind, text[i]) : 0;

        if (value < 0)
            return false;
        group = group << 6 | (unsigned)value;
    }
    for (size_t i = 0; i < digits - 1; i++)
        bytes[i] = (uint8_t)(group >> (16 - 8 * i));
    // One text only: what is left over is 0.
    return digits == 4 || (group & (digits == 3 ? 0xffU : 0xffffU)) == 0;
}

bool
lbx__base64_decode(lbx__base64 kind, const char *text, size_t text_size,
                   void *bytes, size_t *ret_size)
{
    uint8_t *at = bytes;

    if (kind == LBX__BASE64) {
        if (text_size % 4 != 0)
            return false;
        for (int i = 0; i < 2 && text_size > 0 && text[text_size - 1] == '=';
             i++)
            text_size--;
    }
    if (text_size % 4 == 1)
        return false;
    while (text_size > 0) {
        const size_t digits = text_size < 4 ? text_size : 4;

        if (!base64_decode_group(kind, text, digits, at))
            return false;
        at += digits - 1;
        text += digits;
        text_size -= digits;
    }
    *ret_size = (size_t)(at - (uint8_t *)bytes);
    return true;
}
