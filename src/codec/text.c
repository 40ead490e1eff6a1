/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as text; see text.h. */
#include "codec/text.h"

#include <string.h>
#include <sys/random.h>

static const char hex_digits[] = "0123456789abcdef";
static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char *const extras[] = {"+/", "-_"};

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

size_t
lbx__base64_text_size(lbx__base64 kind, size_t size)
{
    if (kind == LBX__BASE64)
        return (size + 2) / 3 * 4;
    return size / 3 * 4 + (size % 3 == 0 ? 0 : size % 3 + 1);
}

size_t
lbx__base64_most(size_t text_size)
{
    return text_size / 4 * 3 + text_size % 4;
}

static char
base64_digit(lbx__base64 kind, unsigned value)
{
    if (value < 62)
        return letters[value];
    return extras[kind][value - 62];
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
    if (digit == extras[kind][0])
        return 62;
    return digit == extras[kind][1] ? 63 : -1;
}

/* Two to four digits make one to three bytes. */
static bool
decode_group(lbx__base64 kind, const char *text, size_t digits, uint8_t *bytes)
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

        if (!decode_group(kind, text, digits, at))
            return false;
        at += digits - 1;
        text += digits;
        text_size -= digits;
    }
    *ret_size = (size_t)(at - (uint8_t *)bytes);
    return true;
}

void
lbx__uuid_text(const uint8_t bytes[LBX__UUID_BYTES], char text[LBX__UUID_TEXT])
{
    // Every letter has its id written twice: no branches.
    static const uint8_t at[LBX__UUID_BYTES] = {0,  2,  4,  6,  9,  11, 14, 16,
                                                19, 21, 24, 26, 28, 30, 32, 34};

#pragma GCC unroll 16
    for (int i = 0; i < LBX__UUID_BYTES; i++) {
        text[at[i]] = hex_digits[bytes[i] >> 4];
        text[at[i] + 1] = hex_digits[bytes[i] & 15];
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
lbx__uuid_mark(uint8_t bytes[LBX__UUID_BYTES])
{
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
}

bool
lbx__random(void *bytes, size_t size)
{
    uint8_t *at = bytes;

    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);

        // A signal may end a call for more than 256 bytes, not one for less.
        if (got <= 0)
            got = getrandom(at, size < 256 ? size : 256, 0);
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}
