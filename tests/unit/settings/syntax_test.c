/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar, construct by construct, and what is refused. */
#include "settings/fixture.h"

#include <string.h>

TEST(an_empty_text_is_an_empty_tree)
{
    CHECK_JSON("", "{}");
    CHECK_JSON("  \n\n # only a comment", "{}");
    CHECK_JSON("{}", "{}");
    CHECK_JSON("\n{\n}\n\n", "{}");
}

TEST(equals_colon_and_a_bare_brace_assign)
{
    CHECK_JSON("a=1", "{\"a\":1}");
    CHECK_JSON("a : 1", "{\"a\":1}");
    CHECK_JSON("a { b = 1 }", "{\"a\":{\"b\":1}}");
    CHECK_JSON("a = { b : 1 }", "{\"a\":{\"b\":1}}");
}

TEST(line_ends_may_stand_around_the_assignment)
{
    CHECK_JSON("a\n=\n1", "{\"a\":1}");
    CHECK_JSON("a\n{\nb = 1\n}", "{\"a\":{\"b\":1}}");
    CHECK_JSON("a =\n\n  \"x\"", "{\"a\":\"x\"}");
}

TEST(commas_line_ends_and_semicolons_separate)
{
    CHECK_JSON("a=1,b=2", "{\"a\":1,\"b\":2}");
    CHECK_JSON("a=1\nb=2", "{\"a\":1,\"b\":2}");
    CHECK_JSON("a=1\n,\nb=2,", "{\"a\":1,\"b\":2}");
    CHECK_JSON("a=1; b { c=2; d=3; }", "{\"a\":1,\"b\":{\"c\":2,\"d\":3}}");
    CHECK_JSON("a=[1;2]", "{\"a\":[1,2]}");
    CHECK_JSON("a=[1\n2\n\n3,]", "{\"a\":[1,2,3]}");
    CHECK_REFUSED("a=1,,b=2", "expected a key, not ','");
    CHECK_REFUSED(",a=1", "expected a key, not ','");
    CHECK_REFUSED("a=[,1]", "expected a value, not ','");
    CHECK_REFUSED("a=[1,,2]", "expected a value, not ','");
    CHECK_REFUSED("a={b=1}c=2", "end of the value");
}

TEST(comments_begin_with_a_hash_or_two_slashes)
{
    CHECK_JSON("a=1 # x\n// y\nb=2//z", "{\"a\":1,\"b\":2}");
    CHECK_JSON("a = /x/y // z", "{\"a\":\"/x/y\"}");
    CHECK_JSON("a = \"# // no comment\"", "{\"a\":\"# // no comment\"}");
    CHECK_JSON("a = [ # x\n1 // y\n, 2]", "{\"a\":[1,2]}");
}

TEST(words_beside_each_other_are_one_string)
{
    CHECK_JSON("a = one  two", "{\"a\":\"one  two\"}");
    CHECK_JSON("a = 10 s", "{\"a\":\"10 s\"}");
    CHECK_JSON("a = true x", "{\"a\":\"true x\"}");
    CHECK_JSON("a = \"x\" \"y\"z", "{\"a\":\"x yz\"}");
    CHECK_JSON("a = null x", "{\"a\":\"null x\"}");
}

TEST(words_that_stand_alone_have_a_type)
{
    CHECK_JSON("a=true,b=false,c=null", "{\"a\":true,\"b\":false,\"c\":null}");
    CHECK_JSON("a=1,b=-1.5e3,c=0", "{\"a\":1,\"b\":-1.5e3,\"c\":0}");
    CHECK_JSON("a=yes,b=010,c=1.,d=-",
               "{\"a\":\"yes\",\"b\":\"010\",\"c\":\"1.\",\"d\":\"-\"}");
    CHECK_JSON("a=\"true\",b=\"1\"", "{\"a\":\"true\",\"b\":\"1\"}");
}

TEST(quoted_text_undoes_escapes)
{
    CHECK_JSON("a = \"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
               "{\"a\":\"\\\"\\\\/\\b\\f\\n\\r\\t\"}");
    CHECK_JSON("a = \"\\u00e9\\ud83d\\ude00\"",
               "{\"a\":\"\xc3\xa9\xf0\x9f\x98\x80\"}");
    CHECK_REFUSED("a = \"\\x\"", "bad escape");
    CHECK_REFUSED("a = \"\\u12g4\"", "bad escape");
    CHECK_REFUSED("a = \"\\u0000\"", "bad escape");
    CHECK_REFUSED("a = \"\\ud83d\"", "bad escape");
    CHECK_REFUSED("a = \"\\ude00\"", "bad escape");
    CHECK_REFUSED("a = \"\\ud83d\\u0041\"", "bad escape");
    CHECK_REFUSED("a = \"x\\\"", "not closed");
    CHECK_REFUSED("\na = \"x\ny\"", "text:2: a quote is not closed");
    CHECK_REFUSED("a = \"\t\"", "control character");
}

TEST(three_quotes_keep_everything)
{
    CHECK_JSON("a = \"\"\"x\n \\n\"y\"\"\"", "{\"a\":\"x\\n \\\\n\\\"y\"}");
    CHECK_JSON("a = \"\"\"x\"\"\"\"\"", "{\"a\":\"x\\\"\\\"\"}");
    CHECK_JSON("a = \"\"\"\"\"\", b = \"\"", "{\"a\":\"\",\"b\":\"\"}");
    CHECK_REFUSED("a = 1\nb = \"\"\"x\n\n\"\"", "text:2: the text that begins");
}

/* Lines inside a long text count. */
TEST(faults_behind_a_text_of_several_lines_have_the_right_line)
{
    CHECK_REFUSED("a = \"\"\"\n\n\n\"\"\"\nb = *", "text:5: '*' is reserved");
}

TEST(reserved_characters_must_be_quoted)
{
    const char *reserved = "$+`^?!@*&\\";

    for (; *reserved; reserved++) {
        char text[] = "a = x?";
        char fault[] = "'?' is reserved";

        text[5] = *reserved;
        fault[1] = *reserved;
        CHECK_REFUSED(text, fault);
    }
    CHECK_REFUSED("a = b:c", "quote a text that has ':'");
    CHECK_REFUSED("a = b=c", "quote a text that has ':'");
    CHECK_REFUSED("a*b = c", "'*' is reserved");
}

TEST(brackets_must_match)
{
    CHECK_REFUSED("a {\nb = 1", "text:2: expected");
    CHECK_REFUSED("a = 1 }", "expected a line end or ',' after the value");
    CHECK_REFUSED("}", "expected a key, not '}'");
    CHECK_REFUSED("a = [1", "after a member of a list, but the text ends");
    CHECK_REFUSED("a = [1}", "not '}'");
    CHECK_REFUSED("{ a = 1", "expected");
    CHECK_REFUSED("{ a = 1 } b = 2", "nothing after the last '}'");
    CHECK_REFUSED("[1, 2]", "expected a key, not '['");
    CHECK_REFUSED("a = ${b", "'}' after the path");
}

TEST(a_key_needs_a_value)
{
    CHECK_REFUSED("a", "'=', ':', '+=' or '{' after a, but the text ends");
    CHECK_REFUSED("a = ", "expected a value, but the text ends");
    CHECK_REFUSED("a = ,", "expected a value, not ','");
    CHECK_REFUSED("a = }", "expected a value, not '}'");
    CHECK_REFUSED("a = 1\n2", "text:2: expected '='");
}

/* Raw UTF-8 is text like any other, in words, quotes and keys. */
TEST(text_that_is_not_ascii_is_accepted)
{
    CHECK_JSON("caf\xc3\xa9 = \xe9\x82\xae\xe7\xae\xb1",
               "{\"caf\xc3\xa9\":\"\xe9\x82\xae\xe7\xae\xb1\"}");
    CHECK_JSON("\"\xc3\xa9\".a = \"\xc3\xbc\"",
               "{\"\xc3\xa9\":{\"a\":\"\xc3\xbc\"}}");
}

TEST(text_that_is_not_utf8_is_refused)
{
    const char *const bad[] = {
        "\xff",     "\xc3",         "\xc0\x80",        "\xed\xa0\x80",
        "\xf5\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80"};
    char text[40];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        strcpy(text, "a = 1\nb = \"");
        strcat(text, bad[i]);
        strcat(text, "\"");
        CHECK_REFUSED(text, "text:2: not valid UTF-8");
    }
}

TEST(a_nul_byte_is_refused)
{
    const lbx_settings_source source = {.text = "a=1\0", .length_bytes = 4};
    lbx_settings_options options = test_options();
    lbx_settings *settings;

    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load(&source, 1, &options, &settings));
    CHECK_FAULT(LBX_INVALID, "NUL");
}

/* A byte order mark, U+FFFC and no-break spaces, wherever white space may
 * stand; they also end a word. */
TEST(unicode_white_space_is_white_space)
{
    CHECK_JSON("\xef\xbb\xbf"
               "a = 1",
               "{\"a\":1}");
    CHECK_JSON("\xef\xbf\xbc"
               "a\xc2\xa0=\xe3\x80\x80"
               "1\xe2\x80\x83\r\n",
               "{\"a\":1}");
    CHECK_JSON("a = \"\xef\xbf\xbc\"", "{\"a\":\"\xef\xbf\xbc\"}");
}

TEST(json_is_settings)
{
    CHECK_JSON("{\"a\": [1, {\"b\": null}, [], {}], \"c\": \"d\"}",
               "{\"a\":[1,{\"b\":null},[],{}],\"c\":\"d\"}");
}

/* A fault that is longer than its buffer keeps its beginning. */
TEST(long_names_are_cut_in_faults)
{
    char origin[300];
    lbx_settings_source source = {
        .text = "a = *", .length_bytes = 5, .origin = origin};
    lbx_settings_options options = test_options();
    lbx_settings *settings;

    memset(origin, 'x', sizeof(origin) - 1);
    strcpy(origin + sizeof(origin) - 6, ".conf");
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load(&source, 1, &options, &settings));
    CHECK_FAULT(LBX_INVALID, "xx.conf:1: '*' is reserved");
    CHECK(strncmp(last_fault()->text, "...", 3) == 0);
}
