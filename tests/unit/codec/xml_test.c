/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in XML: what is escaped, and what XML cannot have. */
#include "codec/xml.h"
#include "support/test.h"

static void
check_escaped(lbx__slice text, const char *expected)
{
    lbx_buffer out;

    lbx__buffer_init(&out, NULL, 1000);
    lbx__xml_text(&out, text);
    CHECK_OK(out.status);
    CHECK_STR(expected, lbx__buffer_text(&out));
    lbx__buffer_fini(&out);
}

TEST(what_a_parser_would_change_is_escaped)
{
    check_escaped(lbx__slice_of(""), "");
    check_escaped((lbx__slice){0}, "");
    check_escaped(lbx__slice_of("plain 'text'\t\n"), "plain 'text'\t\n");
    check_escaped(lbx__slice_of("<a b=\"1\">&amp;</a>\r\n"),
                  "&lt;a b=&quot;1&quot;&gt;&amp;amp;&lt;/a&gt;&#xD;\n");
    check_escaped(lbx__slice_of("]]>"), "]]&gt;");
    check_escaped(lbx__slice_of("\xc3\xbc\xf0\x9f\x98\x80\xef\xbf\xbd"),
                  "\xc3\xbc\xf0\x9f\x98\x80\xef\xbf\xbd");
}

#define UNKNOWN "\xef\xbf\xbd"

/* XML-1 */
TEST(what_xml_does_not_allow_is_replaced)
{
    check_escaped((lbx__slice){"a\0b", 3}, "a" UNKNOWN "b");
    check_escaped(lbx__slice_of("\x01\x08\x1f"), UNKNOWN UNKNOWN UNKNOWN);
    check_escaped(lbx__slice_of("\xef\xbf\xbe!"), UNKNOWN "!");
    check_escaped(lbx__slice_of("\xc3("), UNKNOWN "(");
    check_escaped(lbx__slice_of("cut\xf0\x9f\x98"),
                  "cut" UNKNOWN UNKNOWN UNKNOWN);
    check_escaped(lbx__slice_of("\xed\xa0\x80&"),
                  UNKNOWN UNKNOWN UNKNOWN "&amp;");
}

static bool
is_text(const char *text)
{
    return lbx__xml_is_text(lbx__slice_of(text));
}

/* The characters that SQS accepts in messages. */
TEST(texts_have_only_characters_of_xml)
{
    CHECK(is_text(""));
    CHECK(lbx__xml_is_text((lbx__slice){0}));
    CHECK(is_text("\t\n\r \x7f&<"));
    CHECK(is_text("\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbd")); // D7FF E000 FFFD
    CHECK(is_text("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"));     // 10000 10FFFF
    CHECK(!lbx__xml_is_text((lbx__slice){"\0", 1}));
    CHECK(!is_text("\x08"));
    CHECK(!is_text("\x0b"));
    CHECK(!is_text("\x1f"));
    CHECK(!is_text("\xef\xbf\xbe")); // FFFE
    CHECK(!is_text("\xef\xbf\xbf")); // FFFF
    CHECK(!is_text("\xed\xa0\x80")); // D800
    CHECK(!is_text("\xff"));
    CHECK(!is_text("ok\xc3"));
}
