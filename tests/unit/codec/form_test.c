/* SPDX-License-Identifier: Apache-2.0 */
/* Forms: how they are split, and what their characters mean. */
#include "codec/form.h"
#include "support/test.h"

#include <string.h>

/* The fields as "name:value|", of at most 200 bytes. */
static void
check_fields(const char *text, const char *expected)
{
    lbx__form form = lbx__form_of(lbx__slice_of(text));
    char written[256] = "";
    lbx__slice name, value;
    size_t size = 0;

    while (lbx__form_next(&form, &name, &value)) {
        CHECK(size + name.size + value.size + 3 < sizeof(written));
        memcpy(written + size, name.bytes, name.size);
        size += name.size;
        written[size++] = ':';
        memcpy(written + size, value.bytes, value.size);
        size += value.size;
        written[size++] = '|';
    }
    CHECK(!lbx__form_next(&form, &name, &value)); // it stays at its end
    CHECK_STR(expected, written);
}

TEST(a_form_has_its_fields_in_order)
{
    check_fields("a=1&b=2&a=3", "a:1|b:2|a:3|");
    check_fields("a=b=c", "a:b=c|");
    check_fields("a%3Db=%26", "a%3Db:%26|");
}

TEST(a_form_may_have_empty_parts)
{
    check_fields("", "");
    check_fields("&&", "");
    check_fields("a", "a:|");
    check_fields("a=", "a:|");
    check_fields("=1", ":1|");
    check_fields("&a=1&&b&", "a:1|b:|");
    check_fields("=", ":|");
}

TEST(no_form_has_no_fields)
{
    lbx__form form = lbx__form_of((lbx__slice){0});
    lbx__slice name, value;

    CHECK(!lbx__form_next(&form, &name, &value));
}

static void
check_decoded(const char *text, const char *expected, size_t expected_size)
{
    const lbx__slice slice = lbx__slice_of(text);
    char out[64];
    size_t size = 99;

    CHECK(lbx__form_decode(slice, out, &size));
    CHECK_INT(expected_size, size);
    CHECK(memcmp(expected, out, size) == 0);
}

TEST(plus_and_percent_are_decoded)
{
    check_decoded("", "", 0);
    check_decoded("a+b%20c", "a b c", 5);
    check_decoded("%2B%2b%25", "++%", 3);
    check_decoded("%c3%BC", "\xc3\xbc", 2);
    check_decoded("%FF%00x", "\xff\0x", 3); // the caller decides
    check_decoded("\x80&=", "\x80&=", 3);
}

TEST(a_broken_percent_is_refused)
{
    static const char *const bad[] = {"%",   "%2",   "a%",   "a%2", "%zz",
                                      "%2g", "%g2",  "%%20", "%+1", "% 1",
                                      "%-1", "%0x1", "%:0",  "%@0", "%`0"};
    char out[16];
    size_t size;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!lbx__form_decode(lbx__slice_of(bad[i]), out, &size));
    // What is behind the text is not read.
    CHECK(!lbx__form_decode((lbx__slice){"%20", 2}, out, &size));
}
