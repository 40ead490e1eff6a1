/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, merging, overriding, and what counts as a duplicate. */
#include "settings/fixture.h"

#include <string.h>

TEST(dots_in_keys_make_sections)
{
    CHECK_JSON("a.b.c = 1, a.b.d = 2", "{\"a\":{\"b\":{\"c\":1,\"d\":2}}}");
    CHECK_JSON("a.b { c.d = 1 }", "{\"a\":{\"b\":{\"c\":{\"d\":1}}}}");
    CHECK_JSON("1.5 = x", "{\"1\":{\"5\":\"x\"}}");
}

TEST(quotes_keep_dots_in_keys)
{
    CHECK_JSON("a.\"b.c\".d = 1", "{\"a\":{\"b.c\":{\"d\":1}}}");
    CHECK_JSON("\"\" = 1", "{\"\":1}");
    CHECK_JSON("a\"b.c\"d = 1", "{\"ab.cd\":1}");
    CHECK_JSON("\"/parent/*\" { x = 1 }", "{\"/parent/*\":{\"x\":1}}");
}

TEST(white_space_inside_a_key_belongs_to_it)
{
    CHECK_JSON("a b  c = 1", "{\"a b  c\":1}");
    CHECK_JSON("a . b = 1", "{\"a \":{\" b\":1}}");
}

TEST(empty_keys_are_refused)
{
    CHECK_REFUSED("a..b = 1", "empty key");
    CHECK_REFUSED(".a = 1", "empty key");
    CHECK_REFUSED("a. = 1", "empty key");
    CHECK_REFUSED("= 1", "expected a key, not '='");
}

TEST(a_key_that_is_too_long_is_refused)
{
    char text[1200] = "x";

    memset(text, 'x', 1100);
    strcpy(text + 1100, " = 1");
    CHECK_REFUSED(text, "longer than 1023 bytes");
    memset(text, 'x', 1100);
    strcpy(text + 1023, " = 1");
    lbx_settings_unref(load_text(text));
}

TEST(sections_merge_and_later_values_win)
{
    CHECK_JSON("a { x = 1, y = 1 }\na { y = 2, z = 2 }",
               "{\"a\":{\"x\":1,\"y\":2,\"z\":2}}");
    CHECK_JSON("a { b { x = 1 } }\na { b { y = 2 } }",
               "{\"a\":{\"b\":{\"x\":1,\"y\":2}}}");
    CHECK_JSON("a { b = 1 }\na.b = 2", "{\"a\":{\"b\":2}}");
    CHECK_JSON("{a{b=1}, a{b={c=2}}, a{b={d=3}}}",
               "{\"a\":{\"b\":{\"c\":2,\"d\":3}}}");
}

TEST(a_value_between_two_sections_separates_them)
{
    CHECK_JSON("x { a { b = 1 } }\nx { a = 2 }\nx { a { c = 3 } }",
               "{\"x\":{\"a\":{\"c\":3}}}");
    CHECK_JSON("x { a { b = 1 } }\nx { a = null }\nx { a { c = 3 } }",
               "{\"x\":{\"a\":{\"c\":3}}}");
}

/* Also when the sections are put together from several, each with a stack of
 * its own; found by comparing with libcpp-hocon. */
TEST(what_a_section_covers_stays_covered_when_it_is_merged)
{
    CHECK_JSON("c { a { h = 1 } }\nc = ${?no} { a = [1] } { a { g = 2 } }",
               "{\"c\":{\"a\":{\"g\":2}}}");
    CHECK_JSON("c { a { h = 1 } }\nx { a = 1 }\nx { a { g = 2 } }\n"
               "c = ${x}",
               "{\"c\":{\"a\":{\"g\":2}},\"x\":{\"a\":{\"g\":2}}}");
    CHECK_HOCON_JSON("c { a { h = 1 } }\n"
                     "c = ${?no} { a = 1, a { g = 2 }, a = ${c.a} { i = 3 } }",
                     "{\"c\":{\"a\":{\"g\":2,\"i\":3}}}");
}

TEST(sections_keep_the_order_of_first_appearance)
{
    CHECK_JSON("c=1,a=2,b=3,x{},c=${?nothing}",
               "{\"c\":1,\"a\":2,\"b\":3,\"x\":{}}");
}

/* The same key twice inside one pair of braces. */
TEST(the_same_key_twice_in_one_pair_of_braces_is_refused)
{
    CHECK_REFUSED("a = 1\nb = 1\na = 2",
                  "text:3: a: set twice in the same braces, first on line 1");
    CHECK_REFUSED("x {\n a.b = 1\n a.b = 2\n}",
                  "text:3: b: set twice in the same braces, first on line 2");
    CHECK_REFUSED("a = 1\na = 1", "set twice");
    CHECK_REFUSED("{\"a\": 1, \"a\": 2}", "set twice");
    CHECK_REFUSED("x = [{ a = 1, a = 2 }]", "set twice");
    CHECK_REFUSED("a = [1]\na = [2]", "set twice");
}

TEST(a_value_over_a_section_in_the_same_braces_is_refused)
{
    CHECK_REFUSED("a.b = 1\na = 2", "text:2: a: set twice");
    CHECK_REFUSED("a = 2\na.b = 1", "text:2: a: set twice");
    CHECK_REFUSED("a { b = 1 }\na = null", "text:2: a: set twice");
    CHECK_REFUSED("a = ${b}\na = 1\nb = 2", "text:2: a: set twice");
    CHECK_REFUSED("a = ${b}/x\na = ${b}/y\nb = 2", "text:2: a: set twice");
}

/* The names of the root are one key. */
TEST(duplicates_are_found_through_the_names_of_the_root)
{
    CHECK_REFUSED("akka.a = 1\nletterbox.a = 2", "text:2: a: set twice");
    CHECK_JSON("akka { a = 1 }\nletterbox { a = 2 }",
               "{\"letterbox\":{\"a\":2}}");
}

TEST(what_builds_on_what_is_there_is_no_duplicate)
{
    CHECK_JSON("a.b = 1\na.c = 2", "{\"a\":{\"b\":1,\"c\":2}}");
    CHECK_JSON("a { b = 1 }\na { b = 2 }", "{\"a\":{\"b\":2}}");
    CHECK_JSON("a.b = 1\na { b = 2 }", "{\"a\":{\"b\":2}}");
    CHECK_JSON("a = [1]\na = ${a} [2]\na += 3", "{\"a\":[1,2,3]}");
    CHECK_JSON("a = ${b}\na { y = 2 }\nb { x = 1 }",
               "{\"a\":{\"x\":1,\"y\":2},\"b\":{\"x\":1}}");
}

/* HOCON's idiom for a variable that overrides a default. */
TEST(an_optional_override_is_no_duplicate)
{
    CHECK_JSON("a = 1\na = ${?NAME}", "{\"a\":\"value\"}");
    CHECK_JSON("a = 1\na = ${?NO_SUCH}", "{\"a\":1}");
}

TEST(duplicates_are_the_later_ones_when_they_are_allowed)
{
    CHECK_HOCON_JSON("a = 1\na = 2", "{\"a\":2}");
    CHECK_HOCON_JSON("a.b = 1\na = 2\na.c = 3", "{\"a\":{\"c\":3}}");
}

TEST(later_sources_win)
{
    const lbx_settings_source sources[] = {
        {.text = "a = 1, b { c = 1, d = 1 }", .length_bytes = 25},
        {.text = "a = 2, b.d = 2, e = ${b.c}", .length_bytes = 26},
        {.text = "b.c = 3", .length_bytes = 7, .origin = "third"},
    };
    lbx_settings_options options = test_options();
    SETTINGS(settings) = NULL;

    CHECK_OK(lbx_settings_load(sources, 3, &options, &settings));
    CHECK_STR("{\"a\":2,\"b\":{\"c\":3,\"d\":2},\"e\":3}", json_of(settings));
    CHECK_STR("third", lbx_settings_file(lbx_settings_at(settings, "b.c")));
    CHECK_STR("text", lbx_settings_file(lbx_settings_at(settings, "b.d")));
}

/* A library's defaults stand below, and substitutions see them. */
TEST(a_fallback_stands_below_all_sources)
{
    lbx_settings_options options = test_options();
    lbx_settings *defaults =
        load_text("akka.actor { capacity = 1000, timeout = 10s }");
    SETTINGS(settings) = NULL;

    options.fallback = defaults;
    settings = load_text_with("akka.actor.timeout = 5s\n"
                              "mine = ${akka.actor.capacity}",
                              &options);
    lbx_settings_unref(defaults);
    CHECK_STR("{\"letterbox\":{\"actor\":{\"capacity\":1000,\"timeout\":\"5s\"}"
              "},\"mine\":1000}",
              json_of(settings));
}
