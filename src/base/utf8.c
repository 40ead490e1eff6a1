/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
 * U+10FFFF; and JSON's escapes.
 */
#include "base/utf8.h"

#include <string.h>

size_t
lbx__utf8_decode(const char *text, size_t left_bytes, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t code;
    size_t length;

    if (left_bytes == 0)
        return 0;
    if (bytes[0] < 0x80) {
        *ret = bytes[0];
        return 1;
    }
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
        return 0;
    length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
    if (length > left_bytes)
        return 0;
    code = bytes[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    if (code < least[length] || code > 0x10ffff)
        return 0;
    if (code >= 0xd800 && code <= 0xdfff)
        return 0;
    *ret = code;
    return length;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The highest bit of each byte of `word` that equals `byte`; also of bytes
 * above one that does. */
static uint64_t
utf8_equals(uint64_t word, unsigned char byte)
{
    const uint64_t difference = word ^ EACH(byte);

    return (difference - EACH(1)) & ~difference & EACH(0x80);
}

static bool
utf8_is_plain(uint64_t word)
{
    const uint64_t low = (word - EACH(0x20)) & ~word;
    const uint64_t high = word | (word + EACH(1)); // 0x7f and above

    return ((low | high) & EACH(0x80)) == 0 &&
           (utf8_equals(word, '"') | utf8_equals(word, '\\') |
            utf8_equals(word, '&') | utf8_equals(word, '<') |
            utf8_equals(word, '>')) == 0;
}

size_t
lbx__utf8_skip_plain(const char *text, size_t size)
{
    size_t skipped = 0;
    uint64_t word;

    while (size - skipped >= sizeof(word)) {
        memcpy(&word, text + skipped, sizeof(word));
        if (!utf8_is_plain(word))
            break;
        skipped += sizeof(word);
    }
    return skipped;
}

bool
lbx__utf8_valid_bytes(const char *text, size_t left)
{
    uint32_t code;

    while (left > 0) {
        const size_t plain = lbx__utf8_skip_plain(text, left);
        size_t length;

        text += plain;
        left -= plain;
        if (left == 0)
            break;
        length = lbx__utf8_decode(text, left, &code);
        if (length == 0)
            return false;
        text += length;
        left -= length;
    }
    return true;
}

bool
lbx__utf8_valid(const char *text)
{
    return lbx__utf8_valid_bytes(text, strlen(text));
}

size_t
lbx__utf8_encode(uint32_t code, char *buffer)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = length; i-- > 1; code >>= 6)
        buffer[i] = (char)(0x80 | (code & 0x3f));
    buffer[0] = (char)(leads[length] | code);
    return length;
}

/* Four hexadecimal digits. */
static bool
utf8_read_unit(const char **at, const char *end, uint32_t *ret)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t unit = 0;

    if (end - *at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        const char lower = (char)((*at)[i] | ('A' ^ 'a'));
        const char *digit = memchr(digits, (*at)[i], 10);

        if (!digit)
            digit = memchr(digits + 10, lower, 6);
        if (!digit)
            return false;
        unit = unit << 4 | (uint32_t)(digit - digits);
    }
    *at += 4;
    *ret = unit;
    return true;
}

/* What follows \u: one unit, or two that make a pair. */
static size_t
utf8_unescape_unit(const char **at, const char *end, char *buffer)
{
    uint32_t code, low;

    if (!utf8_read_unit(at, end, &code) || code == 0)
        return 0;
    if (code >= 0xd800 && code <= 0xdfff) {
        if (code > 0xdbff || end - *at < 2 || (*at)[0] != '\\' ||
            (*at)[1] != 'u')
            return 0;
        *at += 2;
        if (!utf8_read_unit(at, end, &low) || low < 0xdc00 || low > 0xdfff)
            return 0;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return lbx__utf8_encode(code, buffer);
}

size_t
lbx__utf8_unescape(const char **at, const char *end, char *buffer)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *name;

    if (*at == end)
        return 0;
    if (**at == 'u') {
        *at += 1;
        return utf8_unescape_unit(at, end, buffer);
    }
    name = memchr(names, **at, sizeof(names) - 1);
    if (!name)
        return 0;
    *at += 1;
    buffer[0] = meanings[name - names];
    return 1;
}
