/* SPDX-License-Identifier: Apache-2.0 */
/* Substitutions, concatenation, looking back, cycles. */
#include "settings/fixture.h"

TEST(a_substitution_is_the_value_itself)
{
    CHECK_JSON("a = 1, b = ${a}", "{\"a\":1,\"b\":1}");
    CHECK_JSON("b = ${a.c}, a { c = [1, true] }",
               "{\"b\":[1,true],\"a\":{\"c\":[1,true]}}");
    CHECK_JSON("b = ${\"x.y\".z}, \"x.y\".z = null",
               "{\"b\":null,\"x.y\":{\"z\":null}}");
    CHECK_JSON("b = ${ a }, a = 1", "{\"b\":1,\"a\":1}");
}

TEST(a_substitution_sees_the_last_value)
{
    CHECK_HOCON_JSON("a = 1, b = ${a}, a = 2", "{\"a\":2,\"b\":2}");
}

TEST(a_missing_substitution_is_refused)
{
    CHECK_REFUSED("\na = ${b}",
                  "text:2: ${b}: no such key and no such variable");
    CHECK_REFUSED("a = 1, b = ${a.c}", "${a.c}: no such key");
}

TEST(an_optional_substitution_may_be_missing)
{
    CHECK_JSON("a = ${?b}", "{}");
    CHECK_JSON("a = [1, ${?b}, 2]", "{\"a\":[1,2]}");
    CHECK_JSON("a = ${?b}x", "{\"a\":\"x\"}");
    CHECK_JSON("a = ${?b}${?c}", "{}");
    CHECK_JSON("a = ${?b} [1]", "{\"a\":[1]}");
    CHECK_JSON("a = ${?b} {c = 1}", "{\"a\":{\"c\":1}}");
}

TEST(the_environment_is_the_last_resort)
{
    CHECK_JSON("a = ${NAME}", "{\"a\":\"value\"}");
    CHECK_JSON("NAME = 1, a = ${NAME}", "{\"NAME\":1,\"a\":1}");
    CHECK_JSON("a = ${EMPTY}", "{\"a\":\"\"}");
    CHECK_JSON("a = ${NAME}/${NAME}", "{\"a\":\"value/value\"}");
    CHECK_REFUSED("a = ${BROKEN}", "not valid UTF-8");
}

TEST(the_environment_can_be_left_out)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings;

    options.no_environment = true;
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load_text("a = ${NAME}", &options, &settings));
    CHECK_FAULT(LBX_INVALID, "${NAME}: no such key;");
}

TEST(the_process_environment_is_read_by_default)
{
    SETTINGS(settings) = NULL;

    CHECK_OK(lbx_settings_load_text("a = ${PATH}", NULL, &settings));
    CHECK(lbx_settings_text(lbx_settings_at(settings, "a"))[0]);
}

TEST(plain_values_beside_each_other_are_one_text)
{
    CHECK_JSON("a = 1, b = ${a}.${a} x", "{\"a\":1,\"b\":\"1.1 x\"}");
    CHECK_JSON("a = true, b = ${a}\"\"", "{\"a\":true,\"b\":\"true\"}");
    CHECK_JSON("a = x, b = ${a} ${a}", "{\"a\":\"x\",\"b\":\"x x\"}");
}

TEST(lists_beside_each_other_are_one_list)
{
    CHECK_JSON("a = [1] [2, 3] []", "{\"a\":[1,2,3]}");
    CHECK_JSON("a = [1], b = ${a} [2] ${a}", "{\"a\":[1],\"b\":[1,2,1]}");
    CHECK_REFUSED("a = [1] x", "a list can only stand beside others");
    CHECK_REFUSED("a = [1] {}", "different kinds");
}

TEST(sections_beside_each_other_are_one_section)
{
    CHECK_JSON("a = {x = 1} {y = 2}", "{\"a\":{\"x\":1,\"y\":2}}");
    CHECK_JSON("a {x = 1, y = 1}, b = ${a} {y = 2}",
               "{\"a\":{\"x\":1,\"y\":1},\"b\":{\"x\":1,\"y\":2}}");
    CHECK_JSON("a {x = 1, y = 1}, b = {y = 2} ${a}",
               "{\"a\":{\"x\":1,\"y\":1},\"b\":{\"y\":1,\"x\":1}}");
    CHECK_REFUSED("a = {} x", "a section can only stand beside others");
}

TEST(append_adds_to_a_list)
{
    CHECK_JSON("a += 1\na += [2]\na += {b = 3}", "{\"a\":[1,[2],{\"b\":3}]}");
    CHECK_JSON("a = [1], b { c = [2], c += 3 }",
               "{\"a\":[1],\"b\":{\"c\":[2,3]}}");
    CHECK_JSON("a = [{ b = [1], b += 2 }]", "{\"a\":[{\"b\":[1,2]}]}");
    CHECK_REFUSED("a = 1\na += 2", "different kinds");
}

TEST(a_field_can_look_back_at_itself)
{
    CHECK_JSON("path = a\npath = ${path}\":b\"", "{\"path\":\"a:b\"}");
    CHECK_JSON("a = 1\na = ${a}2\na = ${a}3", "{\"a\":\"123\"}");
    CHECK_JSON("a = {b = 5}\na = ${a.b}", "{\"a\":5}");
    CHECK_HOCON_JSON("a = 1, a = [${a}]", "{\"a\":[1]}");
}

TEST(looking_back_reaches_through_sections)
{
    CHECK_JSON("a { b = x }\na { b = ${a.b}y }", "{\"a\":{\"b\":\"xy\"}}");
    CHECK_JSON("c { x = [0] }\na = ${c}\na { x += 1 }",
               "{\"c\":{\"x\":[0]},\"a\":{\"x\":[0,1]}}");
    CHECK_JSON("c { x = [0] }\na = ${c}\na { x += 1 }\na = ${a} {y = 2}",
               "{\"c\":{\"x\":[0]},\"a\":{\"x\":[0,1],\"y\":2}}");
    CHECK_JSON("a { x += 1 }\na = ${a} {y = 2}", "{\"a\":{\"x\":[1],\"y\":2}}");
}

/* HOCON.md's own examples. */
TEST(the_examples_of_the_specification_hold)
{
    CHECK_JSON("bar : { foo : 42, baz : ${bar.foo} }",
               "{\"bar\":{\"foo\":42,\"baz\":42}}");
    CHECK_JSON("bar : { foo : 42, baz : ${bar.foo} }\nbar : { foo : 43 }",
               "{\"bar\":{\"foo\":43,\"baz\":43}}");
    CHECK_JSON("bar : { a : ${foo.d}, b : 1 }\nbar.b = 3\n"
               "foo : { c : ${bar.b}, d : 2 }\nfoo.d = 4",
               "{\"bar\":{\"a\":4,\"b\":3},\"foo\":{\"c\":3,\"d\":4}}");
    CHECK_JSON("foo : { a : { c : 1 } }\nfoo : ${foo.a}\nfoo : { a : 2 }",
               "{\"foo\":{\"a\":2,\"c\":1}}");
    CHECK_JSON("a = ${?a}foo", "{\"a\":\"foo\"}");
    CHECK_JSON("data-center-generic = { cluster-size = 6 }\n"
               "data-center-east = ${data-center-generic}\n"
               "data-center-east = { name = east }",
               "{\"data-center-generic\":{\"cluster-size\":6},"
               "\"data-center-east\":{\"cluster-size\":6,\"name\":\"east\"}}");
}

TEST(a_hidden_substitution_is_never_looked_up)
{
    CHECK_HOCON_JSON("a = ${no.such}, a = 5", "{\"a\":5}");
}

TEST(cycles_are_refused)
{
    CHECK_REFUSED("a = ${a}", "${a}: a cycle");
    CHECK_REFUSED("a = ${b}\nb = ${a}", "a cycle");
    CHECK_REFUSED("a = ${b}, b = ${c}, c = ${a}", "a cycle");
    CHECK_REFUSED("a = { b = ${a} }", "contains itself");
    CHECK_REFUSED("a = [${a}]", "a cycle");
    CHECK_REFUSED("a { x = ${b} }, b { y = ${a} }", "contains itself");
    CHECK_REFUSED("a = [{ b = ${a} }]", "contains itself");
}

TEST(an_optional_cycle_is_nothing)
{
    CHECK_JSON("a = ${?a}", "{}");
    CHECK_JSON("a = ${?b}, b = ${?a}", "{}");
}

/* The root goes by all its names in substitutions too. */
TEST(substitutions_know_the_names_of_the_root)
{
    CHECK_JSON("akka.x = 1, a = ${pekko.x}, b = ${letterbox.x}",
               "{\"letterbox\":{\"x\":1},\"a\":1,\"b\":1}");
}
