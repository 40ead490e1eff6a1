/* SPDX-License-Identifier: Apache-2.0 */
/* Reading UTF-8, one character at a time. */
#ifndef LBX_CLI_UTF8_H
#define LBX_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes the character at the beginning of `bytes` has; 0 when that is
 * not UTF-8: overlong, a surrogate, cut off, or beyond U+10FFFF. */
static inline size_t
cli_utf8_read(const unsigned char *bytes, size_t size_bytes, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = size_bytes > 0 ? bytes[0] : 0xFF;
    const size_t size = first < 0x80             ? 1
                        : (first & 0xE0) == 0xC0 ? 2
                        : (first & 0xF0) == 0xE0 ? 3
                        : (first & 0xF8) == 0xF0 ? 4
                                                 : 0;
    uint32_t character;

    if (size == 0 || size > size_bytes)
        return 0;
    character = size == 1 ? first : first & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        character = character << 6 | (bytes[i] & 0x3F);
    }
    if (size > 1 && (character < least[size] || character > 0x10FFFF ||
                     (character >= 0xD800 && character < 0xE000)))
        return 0;
    *ret = character;
    return size;
}

/* Whether bytes are UTF-8 without a NUL. */
static inline bool
cli_utf8_is_text(const unsigned char *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        uint32_t character;
        const size_t size = cli_utf8_read(bytes, size_bytes, &character);

        if (size == 0 || character == 0)
            return false;
        bytes += size;
        size_bytes -= size;
    }
    return true;
}

#endif
