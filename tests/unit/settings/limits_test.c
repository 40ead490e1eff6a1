/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile texts: what grows has a maximum, recursion is bounded, and a load
 * costs no more than its text is long.
 */
#include "settings/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/loader.h"

enum {
    ROOM = 4 << 20
};

static char *
new_text(void)
{
    char *text = malloc(ROOM);

    CHECK(text);
    text[0] = '\0';
    return text;
}

/* `count` times `part`. */
static char *
repeated(const char *part, size_t count)
{
    const size_t length = strlen(part);
    char *text = new_text();

    CHECK(length * count < ROOM);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, part, length);
    text[length * count] = '\0';
    return text;
}

/* The text is refused, with the default limits, because of this one. */
static void
check_limit(char *text, const char *part)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings = NULL;

    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load_text(text, &options, &settings));
    CHECK_FAULT(LBX_INVALID, part);
    free(text);
}

TEST(deep_nesting_is_refused)
{
    check_limit(repeated("a{", 100000), "nested deeper than 100");
    check_limit(repeated("a=[", 101), "not '='");
    check_limit(repeated("[", 100000), "expected a key");
    check_limit(repeated("a.", 100000), "nested deeper than 100");
}

TEST(deep_lists_are_refused)
{
    char *text = repeated("[", 100000);

    memcpy(text, "a=", 2);
    check_limit(text, "nested deeper than 100");
}

/* The largest allowed depth leaves enough of the stack. */
TEST(five_hundred_levels_are_possible)
{
    lbx_settings_options options = test_options();
    SETTINGS(settings) = NULL;
    char *text = new_text();
    char *at = text;

    options.max_depth = 500;
    for (int i = 0; i < 250; i++)
        at = stpcpy(at, "a{");
    at = stpcpy(at, "a=");
    for (int i = 0; i < 249; i++)
        *at++ = '[';
    for (int i = 0; i < 249; i++)
        *at++ = ']';
    for (int i = 0; i < 250; i++)
        *at++ = '}';
    *at = '\0';
    settings = load_text_with(text, &options);
    CHECK_INT(251 * strlen("{\"a\":}") + 249 * strlen("[]"),
              strlen(json_of(settings)));
    free(text);
}

/* Each line needs the next one. */
TEST(long_chains_of_substitutions_are_refused)
{
    char *text = new_text();
    char *at = text;

    for (int i = 0; i < 50000; i++)
        at += sprintf(at, "a%d=${a%d}\n", i, i + 1);
    strcpy(at, "a50000=1");
    check_limit(text, "nested deeper than 100");
}

/* The same, but each needs what is known already. */
TEST(long_chains_backwards_are_fine)
{
    char *text = new_text();
    char *at = text;
    SETTINGS(settings) = NULL;

    at = stpcpy(at, "a0=1\n");
    for (int i = 1; i < 50000; i++)
        at += sprintf(at, "a%d=${a%d}\n", i, i - 1);
    settings = load_text(text);
    CHECK_STR("1", lbx_settings_text(lbx_settings_at(settings, "a49999")));
    free(text);
}

TEST(a_field_may_extend_itself_a_thousand_times)
{
    char *text = repeated("a += 1\n", 1000);
    lbx_settings *settings = load_text(text);

    CHECK_INT(1000, lbx_settings_count(lbx_settings_at(settings, "a")));
    lbx_settings_unref(settings);
    free(text);
    text = repeated("a = ${?a}x\n", 1000);
    settings = load_text(text);
    CHECK_INT(1000, strlen(lbx_settings_text(lbx_settings_at(settings, "a"))));
    lbx_settings_unref(settings);
    free(text);
    text = repeated("a = ${?a}{x=1}\na{y=2}\n", 300);
    settings = load_text(text);
    CHECK_STR("{\"a\":{\"x\":1,\"y\":2}}", json_of(settings));
    lbx_settings_unref(settings);
    free(text);
}

/* Ten lines that would be ten thousand million values, or bytes. */
TEST(a_billion_laughs_are_refused)
{
    static const char *const values[] = {
        "l%d=[${l%d},${l%d},${l%d},${l%d},${l%d},${l%d},${l%d},${l%d},${l%d}]"
        "\n",
        "l%d={a=${l%d},b=${l%d},c=${l%d},d=${l%d},e=${l%d},f=${l%d},g=${l%d},"
        "h=${l%d},i=${l%d}}\n",
        "l%d=${l%d}${l%d}${l%d}${l%d}${l%d}${l%d}${l%d}${l%d}${l%d}\n",
        "l%d=${l%d} ${l%d} ${l%d} ${l%d} ${l%d} ${l%d} ${l%d} ${l%d} ${l%d}\n",
    };
    static const char *const seeds[] = {"[lol]", "{lol=1}", "lol", "[lol]"};
    static const char *const limits[] = {"values", "values", "bytes", "bytes"};

    for (int i = 0; i < 4; i++) {
        char *text = new_text();
        char *at = text + sprintf(text, "l0=%s\n", seeds[i]);

        for (int j = 0; j < 12; j++)
            at += sprintf(at, values[i], j + 1, j, j, j, j, j, j, j, j, j);
        check_limit(text, limits[i]);
    }
}

TEST(the_number_of_values_is_limited)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings;

    // The root, the list and each of its values, of which a copy is made.
    options.max_values = 9;
    lbx_settings_unref(load_text_with("a=[1,2,3]", &options));
    options.max_values = 8;
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load_text("a=[1,2,3]", &options, &settings));
    CHECK_FAULT(LBX_INVALID, "more than 8 values");
}

TEST(the_length_of_a_source_is_limited)
{
    FOLDER(folder);
    lbx_settings_options options = test_options();
    lbx_settings *settings;
    char path[100];

    options.max_file_bytes = 10;
    folder_write(&folder, "a.conf", "a = 123456");
    folder_write(&folder, "b.conf", "a = 1234567");
    snprintf(path, sizeof(path), "%s/a.conf", folder.path);
    CHECK_OK(lbx_settings_load_file(path, &options, &settings));
    lbx_settings_unref(settings);
    snprintf(path, sizeof(path), "%s/b.conf", folder.path);
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load_file(path, &options, &settings));
    CHECK_FAULT(LBX_INVALID, "longer than 10 bytes");
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load_text("a = 1234567", &options, &settings));
}

/* ARENA-1, whatever the limit leaves for the header of a block. */
TEST(an_arena_takes_no_more_than_its_limit)
{
    for (size_t limit = 2048; limit < 2048 + 64; limit += 8) {
        lbx__arena arena;

        lbx__arena_init(&arena, NULL, limit);
        while (lbx__arena_take(&arena, 100))
            ;
        CHECK(arena.full);
        CHECK(arena.taken_bytes <= limit);
        lbx__arena_fini(&arena);
    }
}

TEST(the_memory_of_a_load_is_limited)
{
    lbx_settings_options options = test_options();
    char *text = repeated("x, ", 5000);
    lbx_settings *settings;

    memcpy(text, "a=[", 3);
    strcat(text, "]");
    options.max_memory_bytes = 100000;
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_load_text(text, &options, &settings));
    CHECK_FAULT(LBX_INVALID, "more than 100000 bytes");
    options.max_memory_bytes = 10 << 20;
    lbx_settings_unref(load_text_with(text, &options));
    free(text);
}

/* What a load of `count` lines costs, in steps. */
static uint64_t
cost(const char *line, int count)
{
    lbx_settings_options options = test_options();
    lbx_settings *settings;
    char *text = new_text();
    char *at = text;
    lbx_settings_source source;
    uint64_t steps;

    at = stpcpy(at, "base { x = 1, y = [1, 2], z { w = 1 } }\n");
    for (int i = 0; i < count; i++) {
        const int number = i;

        for (const char *c = line; *c; c++) {
            if (*c == '@')
                at += sprintf(at, "%06d", number);
            else
                *at++ = *c;
        }
    }
    source = (lbx_settings_source){.text = text,
                                   .length_bytes = (size_t)(at - text)};
    if (lbx__settings_load(&source, 1, &options, &steps, &settings) != LBX_OK)
        FAIL("%s", last_fault()->text);
    lbx_settings_unref(settings);
    free(text);
    return steps;
}

/* Twice the text, twice the steps, whatever it is made of. */
TEST(the_cost_grows_with_the_length_of_the_text)
{
    static const char *const lines[] = {
        "k@ = 1\n",
        "k@ { a = 1, b { c = [1, 2, 3] } }\n",
        "same { k@ = 1 }\n",
        "same { inner { k@ = 1 } }\n",
        "a.b.c.k@ = ${base.x}\n",
        "k@ = ${base} { own = 1 }\n",
        "k@ = ${base.y} [3]\n",
        "k@ = \"text \"${base.x}\" more\"\n",
        "# comment @\n",
        "same { v = ${base.x} }\n",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const uint64_t once = cost(lines[i], 2000);
        const uint64_t twice = cost(lines[i], 4000);

        if (twice > 2 * once + once / 10)
            FAIL("%s: %llu steps, then %llu", lines[i],
                 (unsigned long long)once, (unsigned long long)twice);
    }
}
