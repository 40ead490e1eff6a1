/* SPDX-License-Identifier: Apache-2.0 */
/*
 * White space is HOCON's, and U+FFFC, which a word processor leaves behind where
 * it had an object.
 */
#include "settings/utf8.h"

static bool
is_space(uint32_t code)
{
    switch (code) {
    case '\t':
    case '\v':
    case '\f':
    case '\r':
    case 0x1c:
    case 0x1d:
    case 0x1e:
    case 0x1f:
    case ' ':
    case 0xa0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000:
    case 0xfeff: // a byte order mark
    case 0xfffc: // an object replacement character
        return true;
    default:
        return code >= 0x2000 && code <= 0x200a;
    }
}

size_t
lbx__utf8_space(const char *text, size_t left_bytes)
{
    uint32_t code;
    size_t length = lbx__utf8_decode(text, left_bytes, &code);

    return length > 0 && is_space(code) ? length : 0;
}
