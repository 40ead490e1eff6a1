/* SPDX-License-Identifier: Apache-2.0 */
/* Escaping; see xml.h. */
#include "codec/xml.h"

#include "base/utf8.h"

/* The characters of XML 1.0, section 2.2. */
static bool
xml_allows(uint32_t code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return code != 0xfffe && code != 0xffff;
}

/* The length in bytes of the character at `at`; 0 when it is no UTF-8, or one
 * that XML does not allow. */
static size_t
xml_character(const char *at, size_t left)
{
    const unsigned char byte = (unsigned char)*at;
    size_t length = 1;
    uint32_t code = byte;

    if (byte >= 0x80) // ASCII needs no call
        length = lbx__utf8_decode(at, left, &code);
    return length > 0 && xml_allows(code) ? length : 0;
}

/* What is written instead of a byte; NULL: itself. */
static const char *
xml_escape(char byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#xD;";
    default:
        return NULL;
    }
}

/* How many bytes are to be replaced at `at`, where something is wrong: a whole
 * character, or a byte that belongs to none. */
static size_t
xml_wrong_bytes(const char *at, size_t left)
{
    uint32_t code;
    const size_t length = lbx__utf8_decode(at, left, &code);

    return length > 0 ? length : 1;
}

void
lbx__xml_text(lbx_buffer *out, lbx__slice text)
{
    size_t done = 0, i = 0;

    // What needs no escape is added in runs.
    while (i < text.size) {
        const char *at = text.bytes + i, *escape = NULL;
        size_t length = lbx__utf8_skip_plain(at, text.size - i);

        if (length == 0) {
            escape = xml_escape(*at);
            length = escape ? 1 : xml_character(at, text.size - i);
        }
        if (!escape && length > 0) {
            i += length;
            continue;
        }
        if (length == 0) {
            escape = "\xef\xbf\xbd"; // XML-1
            length = xml_wrong_bytes(at, text.size - i);
        }
        lbx__buffer_add(out, text.bytes + done, i - done);
        lbx__buffer_add(out, escape, strlen(escape));
        i += length;
        done = i;
    }
    if (done < i)
        lbx__buffer_add(out, text.bytes + done, i - done);
}

bool
lbx__xml_is_text(lbx__slice text)
{
    for (size_t i = 0; i < text.size;) {
        size_t length = lbx__utf8_skip_plain(text.bytes + i, text.size - i);

        if (length == 0)
            length = xml_character(text.bytes + i, text.size - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}
