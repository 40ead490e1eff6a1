/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation k fails for k = 1, 2, ...: each time the status is LBX_NO_MEMORY,
 * nothing is left, and nothing was written.
 */
#include "settings/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/torture.h"

/* Some of everything, and enough of it for several blocks of memory. */
static char *
big_text(void)
{
    char *text = malloc(200000);
    char *at = text;

    CHECK(text);
    at = stpcpy(at, "base { x = 1, y = [1, {z = 2}], \"q.r\" = \"\\u00e9\" }\n"
                    "a = ${base} { y = ${base.y} [3] }\na { x = ${?NAME} }\n"
                    "l += 1\nl += ${base.x}\nm = \"\"\"x\ny\"\"\" ${base.x}\n"
                    "include \"inner\"\ns { include \"inner\" }\n");
    for (int i = 0; i < 300; i++)
        at += sprintf(at, "wide.key%d { v = [%d, ${base.x}], w = t%d }\n", i, i,
                      i);
    return text;
}

static lbx_status
include_inner(const char *name, const char *origin, void *context,
              lbx_settings_source *ret)
{
    (void)name;
    (void)origin;
    (void)context;
    ret->text = "k = [1], k = ${k} [2], n = ${base.x}";
    ret->length_bytes = strlen(ret->text);
    return LBX_OK;
}

typedef lbx_status loading(const char *source,
                           const lbx_settings_options *options,
                           lbx_settings **ret);

/* Loads a text or a file; NULL when an allocation failed. */
static lbx_settings *
load_in(const lbx_allocator *allocator, loading *load, const char *source,
        bool with_includes)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings = NULL;
    lbx_status status;

    options.allocator = allocator;
    if (with_includes)
        options.include = include_inner;
    status = load(source, &options, &settings);
    if (status != LBX_OK) {
        CHECK_STATUS(LBX_NO_MEMORY, status);
        CHECK_STATUS(LBX_NO_MEMORY, last_fault()->status);
        CHECK_PTR(NULL, settings);
    }
    return settings;
}

static void
load_body(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    SETTINGS(settings) =
        load_in(&allocator, lbx_settings_load_text, context, true);

    if (settings)
        CHECK_STR("2", lbx_settings_text(lbx_settings_child(
                           lbx_settings_at(settings, "s.k"), 1)));
}

TEST(loading_survives_every_failing_allocation)
{
    char *text = big_text();

    CHECK(torture_every_allocation(load_body, text) > 5);
    free(text);
}

static void
file_body(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);

    lbx_settings_unref(
        load_in(&allocator, lbx_settings_load_file, context, false));
}

TEST(reading_files_survives_every_failing_allocation)
{
    FOLDER(folder);
    char *text = malloc(30000);
    char path[100];

    CHECK(text);
    memset(text, '#', 20000);
    strcpy(text + 20000, "\ninclude \"b\"");
    folder_write(&folder, "a.conf", text);
    folder_write(&folder, "b.conf", "x = 1");
    snprintf(path, sizeof(path), "%s/a.conf", folder.path);
    CHECK(torture_every_allocation(file_body, path) > 4);
    free(text);
}

/* Derived trees draw on the memory of the first. */
static void
derive_body(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    lbx_settings_options options = test_options();
    lbx_settings *settings, *derived = NULL;
    long allowed = memory->allowed;
    lbx_status status;

    (void)context;
    memory->allowed = LONG_MAX;
    options.allocator = &allocator;
    settings =
        load_text_with("a { x = 1, l = [1, {k = 2}] }, b { y = 2 }", &options);
    memory->allowed = allowed < LONG_MAX - memory->allocations
                          ? memory->allocations + allowed
                          : LONG_MAX;
    status =
        lbx_settings_with_fallback(lbx_settings_at(settings, "a"),
                                   lbx_settings_at(settings, "b"), &derived);
    if (status == LBX_OK) {
        lbx_settings *again = NULL;

        status = lbx_settings_with_string(derived, "id.x", "y", &again);
        lbx_settings_unref(again);
    }
    if (status != LBX_OK)
        CHECK_STATUS(LBX_NO_MEMORY, status);
    lbx_settings_unref(derived);
    lbx_settings_unref(settings);
}

TEST(deriving_survives_every_failing_allocation)
{
    CHECK(torture_every_allocation(derive_body, NULL) > 3);
}

/* Everything else only reads the tree. */
TEST(reading_needs_no_memory)
{
    struct torture memory = TORTURE_INIT;
    const lbx_allocator allocator = torture_allocator(&memory);
    lbx_settings_options options = test_options();
    lbx_settings *settings;
    char text[100];
    int64_t value;
    long before;

    options.allocator = &allocator;
    settings = load_text_with("a { b = 10s }", &options);
    before = memory.allocations;
    CHECK_OK(lbx_settings_read_duration(settings, "a.b", &value, NULL));
    (void)lbx_settings_render(settings, LBX_SETTINGS_FORMAT_EXPLAIN, text,
                              sizeof(text));
    lbx_settings_unref(lbx_settings_ref(settings));
    CHECK_INT(before, memory.allocations);
    lbx_settings_unref(settings);
    CHECK_INT(0, memory.live_blocks);
}
