/* SPDX-License-Identifier: Apache-2.0 */
/* Files and includes. */
#include "settings/fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Loads a.conf beside b.conf: it is this JSON. */
static void
check_files(const char *a, const char *b, const char *json)
{
    FOLDER(folder);
    SETTINGS(settings) = NULL;

    folder_write(&folder, "a.conf", a);
    folder_write(&folder, "b.conf", b);
    CHECK_OK(folder_load(&folder, "a.conf", &settings));
    CHECK_STR(json, json_of(settings));
}

/* The same: it is refused, with a fault that contains both texts. */
static void
check_files_refused(const char *a, const char *b, const char *one,
                    const char *other)
{
    FOLDER(folder);
    lbx_settings *settings;

    folder_write(&folder, "a.conf", a);
    folder_write(&folder, "b.conf", b);
    CHECK_STATUS(LBX_INVALID, folder_load(&folder, "a.conf", &settings));
    CHECK_FAULT(LBX_INVALID, one);
    CHECK_FAULT(LBX_INVALID, other);
}

TEST(a_file_is_loaded_and_named)
{
    FOLDER(folder);
    SETTINGS(settings) = NULL;

    folder_write(&folder, "a.conf", "\nx = 1\n");
    CHECK_OK(folder_load(&folder, "a.conf", &settings));
    CHECK(strstr(lbx_settings_file(lbx_settings_at(settings, "x")), "/a.conf"));
    CHECK_INT(2, lbx_settings_line(lbx_settings_at(settings, "x")));
}

TEST(a_missing_file_is_not_found)
{
    FOLDER(folder);
    lbx_settings *settings = NULL;

    CHECK_STATUS(LBX_NOT_FOUND, folder_load(&folder, "no.conf", &settings));
    CHECK_FAULT(LBX_NOT_FOUND, "no.conf: no such file");
    CHECK_PTR(NULL, settings);
}

TEST(a_folder_cannot_be_read)
{
    FOLDER(folder);
    lbx_settings *settings = NULL;

    CHECK_STATUS(LBX_INVALID, folder_load(&folder, ".", &settings));
    CHECK_FAULT(LBX_INVALID, "cannot be read: it is a folder");
}

/* More than one piece of memory. */
TEST(a_large_file_is_read_whole)
{
    static char text[40000];
    FOLDER(folder);
    SETTINGS(settings) = NULL;
    char *at = text;

    for (int i = 0; i < 2000; i++)
        at += sprintf(at, "key%d = %d\n", i, i);
    folder_write(&folder, "a.conf", text);
    CHECK_OK(folder_load(&folder, "a.conf", &settings));
    CHECK_INT(2000, lbx_settings_count(settings));
    CHECK_STR("1999", lbx_settings_text(lbx_settings_at(settings, "key1999")));
}

TEST(an_include_is_a_file_beside_its_includer)
{
    FOLDER(folder);
    SETTINGS(settings) = NULL;

    folder_write(&folder, "a.conf",
                 "x = 1\ninclude \"b.conf\"\ny = 2\n"
                 "s { include file(\"b.conf\"), z = 3 }");
    folder_write(&folder, "b.conf", "{ x = 10, b = ${?x} }");
    CHECK_OK(folder_load(&folder, "a.conf", &settings));
    CHECK_STR("{\"x\":10,\"b\":10,\"y\":2,\"s\":{\"x\":10,\"b\":10,\"z\":3}}",
              json_of(settings));
    CHECK(strstr(lbx_settings_file(lbx_settings_at(settings, "x")), "/b.conf"));
}

/* In an included file a path is first one below the include. */
TEST(substitutions_of_an_included_file_are_relative_to_the_include)
{
    check_files("x = outer, only = root, akka.k = 1\ns { include \"b\" }",
                "x = inner, p = ${x}, q = ${only}, r = ${akka.k}, l = [1]\n"
                "l = ${l} [2], l += 3",
                "{\"x\":\"outer\",\"only\":\"root\",\"letterbox\":{\"k\":1},"
                "\"s\":{\"x\":\"inner\",\"p\":\"inner\",\"q\":\"root\",\"r\":1,"
                "\"l\":[1,2,3]}}");
}

TEST(a_name_without_an_ending_is_tried_with_two)
{
    FOLDER(folder);
    SETTINGS(settings) = NULL;

    folder_write(&folder, "a.conf", "include \"b\"\ninclude \"c\"");
    folder_write(&folder, "b.conf", "b = 1");
    folder_write(&folder, "c.json", "{\"c\": 2}");
    CHECK_OK(folder_load(&folder, "a.conf", &settings));
    CHECK_STR("{\"b\":1,\"c\":2}", json_of(settings));
}

TEST(a_missing_include_is_passed_over_unless_required)
{
    FOLDER(folder);
    lbx_settings *settings;

    folder_write(&folder, "a.conf", "include \"no\"\nx = 1");
    folder_write(&folder, "b.conf", "x = 1\ninclude required(\"no\")");
    folder_write(&folder, "c.conf", "include required( file( \"a.conf\" ) )");
    CHECK_OK(folder_load(&folder, "a.conf", &settings));
    CHECK_STR("{\"x\":1}", json_of(settings));
    lbx_settings_unref(settings);
    CHECK_STATUS(LBX_NOT_FOUND, folder_load(&folder, "b.conf", &settings));
    CHECK_FAULT(LBX_NOT_FOUND, "b.conf:2: include \"no\": no such file, and");
    CHECK_OK(folder_load(&folder, "c.conf", &settings));
    CHECK_STR("{\"x\":1}", json_of(settings));
    lbx_settings_unref(settings);
}

TEST(include_cycles_are_refused)
{
    check_files_refused("\ninclude \"./b\"", "include \"a\"",
                        "b.conf:1: ", "includes itself");
}

/* What is not a cycle: the same file twice. */
TEST(a_file_may_be_included_twice)
{
    check_files("x {include \"b\"}\ny {include \"b\"}", "k = 1",
                "{\"x\":{\"k\":1},\"y\":{\"k\":1}}");
}

TEST(faults_name_the_file_they_are_in)
{
    check_files_refused("include \"b\"", "x = 1\ny = [",
                        "/b.conf:2: ", "b.conf:2: expected a value");
}

TEST(malformed_includes_are_refused)
{
    CHECK_REFUSED("include x", "expected \"name\"");
    CHECK_REFUSED("include = 1", "a key of that name is written in quotes");
    CHECK_REFUSED("include required(\"x\"", "expected ')'");
    CHECK_REFUSED("include url(\"http://x\")", "only files");
    CHECK_REFUSED("include classpath(\"x\")", "only files");
    CHECK_REFUSED("include \"\"", "a name is missing");
    CHECK_JSON("\"include\" = 1", "{\"include\":1}");
    CHECK_JSON("a = include", "{\"a\":\"include\"}");
}

/* A text has no folder of its own: silence would hide what was meant. */
TEST(a_text_includes_only_from_the_folder_it_is_given)
{
    FOLDER(folder);
    lbx_settings_options options = test_options();
    SETTINGS(settings) = NULL;

    CHECK_REFUSED("include \"b\"", "no include_folder was given");
    folder_write(&folder, "b.conf", "b = 1");
    options.include_folder = folder.path;
    settings = load_text_with("include \"b\", a = ${b}", &options);
    CHECK_STR("{\"b\":1,\"a\":1}", json_of(settings));
}

static lbx_status
include_from_memory(const char *name, const char *origin, void *context,
                    lbx_settings_source *ret)
{
    (*(int *)context)++;
    CHECK(origin[0]);
    if (strcmp(name, "missing") == 0)
        return LBX_NOT_FOUND;
    if (strcmp(name, "broken") == 0)
        return LBX_REFUSED;
    ret->text = strcmp(name, "self") == 0 ? "include \"self\"" : "k = 1";
    ret->length_bytes = strlen(ret->text);
    return LBX_OK;
}

TEST(a_callback_stands_in_for_the_file_system)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings;
    int calls = 0;

    options.include = include_from_memory;
    options.environment = NULL;
    options.context = &calls;
    settings = load_text_with(
        "include \"x\", include \"missing\", s { include \"y\" }", &options);
    CHECK_STR("{\"k\":1,\"s\":{\"k\":1}}", json_of(settings));
    CHECK_STR("x", lbx_settings_file(lbx_settings_at(settings, "k")));
    CHECK_INT(3, calls);
    lbx_settings_unref(settings);
    CHECK_STATUS(LBX_REFUSED, lbx_settings_load_text("include \"broken\"",
                                                     &options, &settings));
    CHECK_STATUS(LBX_INVALID, lbx_settings_load_text("include \"self\"",
                                                     &options, &settings));
    CHECK_FAULT(LBX_INVALID, "includes itself");
}
