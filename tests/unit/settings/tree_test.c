/* SPDX-License-Identifier: Apache-2.0 */
/* What can be seen of a tree: values, paths, origins, and how long it lives. */
#include "settings/fixture.h"

#include <string.h>

#include "support/threads.h"

TEST(values_are_found_by_path)
{
    SETTINGS(settings) =
        load_text("a { \"b.c\" { d = 1 }, \"\" = 2, \"q\\\"\" = 3 }");

    CHECK_STR("1", lbx_settings_text(lbx_settings_at(settings, "a.\"b.c\".d")));
    CHECK_STR("2", lbx_settings_text(lbx_settings_at(settings, "a.\"\"")));
    CHECK_STR("3", lbx_settings_text(lbx_settings_at(settings, "a.\"q\\\"\"")));
    CHECK_STR("1", lbx_settings_text(
                       lbx_settings_at(settings, "\"a\".\"\\u0062.c\".d")));
    CHECK_PTR(settings, lbx_settings_at(settings, ""));
    CHECK_PTR(settings, lbx_settings_at(settings, NULL));
    CHECK_PTR(NULL, lbx_settings_at(settings, "a.b.c.d"));
    CHECK_PTR(NULL, lbx_settings_at(settings, "a.\"b.c\".d.e"));
}

TEST(bad_paths_find_nothing)
{
    static const char *const bad[] = {".",   "a.",      ".a",   "a..b",
                                      "\"a", "\"\\x\"", "a.\"", "\"a\"."};
    SETTINGS(settings) = load_text("a { b = 1 }");
    char path[1100];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_PTR(NULL, lbx_settings_at(settings, bad[i]));
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    CHECK_PTR(NULL, lbx_settings_at(settings, path));
}

TEST(kinds_tell_what_was_written)
{
    SETTINGS(settings) =
        load_text("a = null, b = true, c = 1, d = x, e = [], f {}");

    for (size_t i = 0; i < 6; i++)
        CHECK_INT(i, lbx_settings_kind_of(lbx_settings_child(settings, i)));
    CHECK_INT(LBX_SETTINGS_KIND_NULL, lbx_settings_kind_of(NULL));
    CHECK(!lbx_settings_has(settings, "a"));
    CHECK(lbx_settings_has(settings, "b"));
    CHECK(!lbx_settings_has(settings, "g"));
    CHECK_STR("", lbx_settings_text(lbx_settings_at(settings, "a")));
}

TEST(children_come_in_order_of_appearance)
{
    SETTINGS(settings) = load_text("c=1,a=2,b=3,\"x y\"=4");
    const char *const keys[] = {"c", "a", "b", "x y"};

    CHECK_INT(4, lbx_settings_count(settings));
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(keys[i], lbx_settings_key(lbx_settings_child(settings, i)));
    CHECK_PTR(NULL, lbx_settings_child(settings, 4));
}

TEST(origins_are_where_the_value_stands)
{
    SETTINGS(settings) = load_text("a = 1\nb {\n  c = [\n 1\n 2 ]\n}");
    const lbx_settings *list = lbx_settings_at(settings, "b.c");

    CHECK_INT(1, lbx_settings_line(lbx_settings_at(settings, "a")));
    CHECK_INT(2, lbx_settings_line(lbx_settings_at(settings, "b")));
    CHECK_INT(3, lbx_settings_line(list));
    CHECK_INT(5, lbx_settings_line(lbx_settings_child(list, 1)));
    CHECK_STR("text", lbx_settings_file(list));
}

TEST(paths_lead_back_to_their_values)
{
    SETTINGS(settings) =
        load_text("akka.actor { \"b.c\" { /d = [1] } }, include2 = 1");
    const lbx_settings *value =
        lbx_settings_at(settings, "letterbox.actor.\"b.c\"./d");
    char path[64];

    CHECK_INT(24, lbx_settings_path(value, path, sizeof(path)));
    CHECK_STR("letterbox.actor.\"b.c\"./d", path);
    CHECK_PTR(value, lbx_settings_at(settings, path));
    CHECK_INT(24, lbx_settings_path(value, path, 10));
    CHECK_STR("letterbox", path);
    CHECK_INT(24, lbx_settings_path(value, NULL, 0));
    CHECK_INT(0, lbx_settings_path(settings, path, sizeof(path)));
    CHECK_STR("", path);
    CHECK_INT(0, lbx_settings_path(NULL, path, sizeof(path)));
}

/* Any value keeps the whole tree. */
TEST(a_reference_to_a_part_keeps_the_tree)
{
    lbx_settings *settings = load_text("a { b = 1 }");
    lbx_settings *part = lbx_settings_ref(lbx_settings_at(settings, "a"));

    lbx_settings_unref(settings);
    CHECK_STR("1", lbx_settings_text(lbx_settings_at(part, "b")));
    lbx_settings_unref(part);
    CHECK_PTR(NULL, lbx_settings_ref(NULL));
    lbx_settings_unref(NULL);
}

TEST(a_fallback_fills_in_what_is_missing)
{
    lbx_settings *settings = load_text("a { x = 1, s { p = 1 }, n = null }");
    lbx_settings *defaults =
        load_text("x = 9, y = 2, s { p = 9, q = 2 }, n = 3, l = [1]");
    SETTINGS(both) = NULL;

    CHECK_OK(lbx_settings_with_fallback(lbx_settings_at(settings, "a"),
                                        defaults, &both));
    lbx_settings_unref(defaults);
    lbx_settings_unref(settings);
    CHECK_STR("{\"x\":1,\"y\":2,\"s\":{\"p\":1,\"q\":2},\"n\":null,\"l\":[1]}",
              json_of(both));
}

/* Faults in a section that was put together name the whole path. */
TEST(a_part_keeps_its_path)
{
    SETTINGS(settings) = load_text("a.\"b.c\" { x = 1 }");
    lbx_settings *empty, *part, *again;
    lbx_fault fault;
    int64_t value;

    CHECK_OK(lbx_settings_load(NULL, 0, NULL, &empty));
    CHECK_OK(lbx_settings_with_fallback(lbx_settings_at(settings, "a.\"b.c\""),
                                        empty, &part));
    CHECK_OK(lbx_settings_with_string(part, "y.z", "w\n", &again));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_integer(again, "y.z", &value, &fault));
    CHECK_STR("a.\"b.c\".y.z: 'w\n' is no whole number", fault.text);
    CHECK_INT(0, lbx_settings_line(lbx_settings_at(again, "y.z")));
    lbx_settings_unref(again);
    lbx_settings_unref(part);
    lbx_settings_unref(empty);
}

TEST(a_string_can_be_put_anywhere)
{
    SETTINGS(settings) = load_text("a = 1, b { c = 2 }");
    lbx_settings *changed;

    CHECK_OK(lbx_settings_with_string(settings, "a.x", "y", &changed));
    CHECK_STR("{\"a\":{\"x\":\"y\"},\"b\":{\"c\":2}}", json_of(changed));
    lbx_settings_unref(changed);
    CHECK_OK(lbx_settings_with_string(settings, "b", "y", &changed));
    CHECK_STR("{\"a\":1,\"b\":\"y\"}", json_of(changed));
    lbx_settings_unref(changed);
    CHECK_OK(lbx_settings_with_string(settings, "akka.x", "y", &changed));
    CHECK_STR("y", lbx_settings_text(lbx_settings_at(changed, "letterbox.x")));
    lbx_settings_unref(changed);
}

TEST(trees_are_made_of_sections_only)
{
    SETTINGS(settings) = load_text("a = 1, b { c = 2 }");
    const lbx_settings *plain = lbx_settings_at(settings, "a");
    lbx_settings *ret = NULL;

    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_with_fallback(plain, settings, &ret));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_with_fallback(settings, plain, &ret));
    CHECK_STATUS(LBX_INVALID, lbx_settings_with_fallback(NULL, plain, &ret));
    CHECK_STATUS(LBX_INVALID, lbx_settings_with_string(plain, "x", "y", &ret));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_with_string(settings, "", "y", &ret));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_with_string(settings, "a..b", "y", &ret));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_with_string(settings, "a", "\xff", &ret));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_with_string(settings, NULL, "y", &ret));
    CHECK_PTR(NULL, ret);
}

TEST(loads_refuse_bad_arguments)
{
    const lbx_settings_source nothing = {.length_bytes = 1};
    const lbx_allocator half = {.context = NULL};
    lbx_settings_options options = test_options();
    lbx_settings *settings = NULL;

    CHECK_STATUS(LBX_INVALID, lbx_settings_load_text(NULL, NULL, &settings));
    CHECK_STATUS(LBX_INVALID, lbx_settings_load_file(NULL, NULL, &settings));
    CHECK_STATUS(LBX_INVALID, lbx_settings_load_text("", NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_settings_load(NULL, 1, NULL, &settings));
    CHECK_STATUS(LBX_INVALID, lbx_settings_load(&nothing, 1, NULL, &settings));
    options.size_bytes = 99;
    CHECK_STATUS(LBX_INVALID, lbx_settings_load_text("", &options, &settings));
    CHECK(strstr(last_fault()->text, "LBX_SETTINGS_OPTIONS_INIT"));
    options = test_options();
    options.max_depth = 501;
    CHECK_STATUS(LBX_INVALID, lbx_settings_load_text("", &options, &settings));
    CHECK_FAULT(LBX_INVALID, "max_depth is 501; 1 to 500 is allowed");
    options = test_options();
    options.allocator = &half;
    CHECK_STATUS(LBX_INVALID, lbx_settings_load_text("", &options, &settings));
    CHECK_PTR(NULL, settings);
}

static void
read_and_release(unsigned index, void *context)
{
    SETTINGS(settings) = context;

    for (int i = 0; i < 200; i++) {
        lbx_settings *part = lbx_settings_ref(lbx_settings_at(settings, "a"));
        int64_t value;

        CHECK_OK(lbx_settings_read_integer(part, "b", &value, NULL));
        CHECK_INT(7, value);
        lbx_settings_unref(part);
    }
    (void)index;
}

/* The last of the threads destroys the tree. */
TEST(threads_read_and_release_of_one_tree)
{
    lbx_settings *settings = load_text("a { b = 7 }");

    for (int i = 0; i < 3; i++)
        (void)lbx_settings_ref(settings);
    threads_run(4, read_and_release, settings);
}
