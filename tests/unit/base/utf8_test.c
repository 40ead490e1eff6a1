/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 and JSON's escapes, at the edges of what they may stand for. */
#include "base/utf8.h"
#include "support/test.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The first and the last character of each length, and beside the halves of
 * pairs, which are none. */
TEST(utf8_takes_the_characters_of_rfc_3629_and_no_others)
{
    static const struct {
        const char *text;
        uint32_t code; /* 0: refused */
    } rows[] = {
        {"\x7f", 0x7f},
        {"\xc2\x80", 0x80},
        {"\xdf\xbf", 0x7ff},
        {"\xe0\xa0\x80", 0x800},
        {"\xed\x9f\xbf", 0xd7ff},
        {"\xee\x80\x80", 0xe000},
        {"\xef\xbf\xbf", 0xffff},
        {"\xf0\x90\x80\x80", 0x10000},
        {"\xf4\x8f\xbf\xbf", 0x10ffff},
        {"\xc1\xbf", 0},         // overlong, U+007F
        {"\xe0\x9f\xbf", 0},     // overlong, U+07FF
        {"\xf0\x8f\xbf\xbf", 0}, // overlong, U+FFFF
        {"\xed\xa0\x80", 0},     // the first half of a pair
        {"\xed\xbf\xbf", 0},     // the last
        {"\xf4\x90\x80\x80", 0}, // U+110000
        {"\x80", 0},
        {"\xc2", 0},
        {"\xe0\xa0", 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t size = strlen(rows[i].text);
        uint32_t code = 0;
        char again[4];

        if (lbx__utf8_decode(rows[i].text, size, &code) !=
            (rows[i].code ? size : 0))
            FAIL("row %zu: U+%04X", i, (unsigned)code);
        CHECK_INT(rows[i].code, code);
        CHECK(lbx__utf8_valid(rows[i].text) == (rows[i].code != 0));
        if (rows[i].code == 0)
            continue;
        CHECK_INT(size, lbx__utf8_encode(code, again));
        CHECK(memcmp(again, rows[i].text, size) == 0);
    }
}

/* Every byte at every place of three words. */
TEST(utf8_skips_words_that_stand_for_themselves_and_no_others)
{
    char text[24];

    for (int byte = 0; byte < 256; byte++) {
        const bool plain =
            byte >= 0x20 && byte < 0x7f && !memchr("\"\\&<>", byte, 5);

        for (size_t i = 0; i < sizeof(text); i++) {
            memset(text, i % 2 ? 0x20 : 0x7e, sizeof(text));
            text[i] = (char)byte;
            for (size_t size = 0; size <= sizeof(text); size++)
                CHECK_INT(plain || i >= size ? size / 8 * 8 : i / 8 * 8,
                          lbx__utf8_skip_plain(text, size));
        }
    }
}

TEST(utf8_escapes_stand_for_whole_characters)
{
    static const struct {
        const char *escape, *text; /* NULL: refused */
    } rows[] = {
        {"u0001", "\x01"},
        {"ud7ff", "\xed\x9f\xbf"},
        {"uE000", "\xee\x80\x80"},
        {"ud800\\udc00", "\xf0\x90\x80\x80"},
        {"udbff\\udfff", "\xf4\x8f\xbf\xbf"},
        {"u0000", NULL},
        {"ud800", NULL},
        {"ud800x", NULL},
        {"ud800\\n0000", NULL},
        {"ud800\\udbff", NULL},
        {"ud800\\ue000", NULL},
        {"udc00", NULL},
        {"udc00\\udc00", NULL}, // the second half first
        {"udfff\\udfff", NULL},
        {"u00g0", NULL},
        {"u001", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *at = rows[i].escape, *end = at + strlen(at);
        char text[8] = "";
        const size_t size = lbx__utf8_unescape(&at, end, text);

        if (size != (rows[i].text ? strlen(rows[i].text) : 0))
            FAIL("%s: %zu bytes", rows[i].escape, size);
        if (rows[i].text)
            CHECK(memcmp(text, rows[i].text, size) == 0 && at == end);
    }
}
