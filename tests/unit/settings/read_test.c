/* SPDX-License-Identifier: Apache-2.0 */
/* Typed reads: the meaning of a value depends on the read. */
#include "settings/fixture.h"

#include <locale.h>
#include <stdio.h>

static lbx_fault fault;

TEST(plain_values_are_read_as_text)
{
    SETTINGS(settings) = load_text("a = x, b = 1.50, c = true, d = [], e {}");
    const char *text;

    CHECK_OK(lbx_settings_read_string(settings, "a", &text, &fault));
    CHECK_STR("x", text);
    CHECK_OK(lbx_settings_read_string(settings, "b", &text, &fault));
    CHECK_STR("1.50", text);
    CHECK_OK(lbx_settings_read_string(settings, "c", &text, &fault));
    CHECK_STR("true", text);
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_string(settings, "d", &text, &fault));
    CHECK_STR("text:1: d: is a list, but a string is needed", fault.text);
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_string(settings, "e", &text, &fault));
}

/* Missing and null are the same; the plain form reports which is missing. */
TEST(what_is_missing_or_null_is_not_found)
{
    SETTINGS(settings) = load_text("s {\n a = null\n}");
    const lbx_settings *section = lbx_settings_at(settings, "s");
    const char *text = "before";

    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_settings_read_string(section, "b.c", &text, &fault));
    CHECK_STR("text:1: s: there is no b.c in it", fault.text);
    CHECK_STATUS(LBX_NOT_FOUND,
                 lbx_settings_read_string(section, "a", &text, &fault));
    CHECK_STR("text:2: s.a: is null, but a value is needed", fault.text);
    CHECK_STR("before", text);
    CHECK_OK(lbx_settings_read_string_or(section, "a", "other", &text, &fault));
    CHECK_STR("other", text);
}

typedef lbx_status reading(const lbx_settings *section, const char *path,
                           int64_t *ret, lbx_fault *fault);

/* Reads a text as the value of a key. */
static lbx_status
read_as(reading *read, const char *value, int64_t *ret)
{
    char text[100];
    lbx_settings *settings;
    lbx_status status;

    snprintf(text, sizeof(text), "a = %s", value);
    settings = load_text(text);
    status = read(settings, "a", ret, &fault);
    lbx_settings_unref(settings);
    return status;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct row {
    const char *text;
    int64_t value;
};

/* Each of the good texts is read as its value, each of the bad ones refused. */
static void
check_rows(reading *read, const struct row *good, size_t good_count,
           const char *const *bad, size_t bad_count)
{
    int64_t value;

    for (size_t i = 0; i < good_count; i++) {
        if (read_as(read, good[i].text, &value) != LBX_OK)
            FAIL("%s: %s", good[i].text, fault.text);
        if (value != good[i].value)
            FAIL("%s is read as %lld", good[i].text, (long long)value);
    }
    for (size_t i = 0; i < bad_count; i++)
        if (read_as(read, bad[i], &value) != LBX_INVALID)
            FAIL("%s is accepted", bad[i]);
}

TEST(integers_are_whole_numbers_of_64_bits)
{
    static const struct row good[] = {
        {"0", 0},
        {"-0", 0},
        {"1000", 1000},
        {"\"1000\"", 1000},
        {"-17", -17},
        {"1e3", 1000},
        {"1.5e1", 15},
        {"1.50E+2", 150},
        {"2.0", 2},
        {"1200e-2", 12},
        {"0e99999999999", 0},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *const bad[] = {
        "1.5",
        "15e-1",
        "x",
        "\"\"",
        "1 2",
        "01",
        "010",
        "1e19",
        "\" 1\"",
        "true",
        "0x10",
        "1e99999999999",
        "1.25e1",
        "9223372036854775808",
        "-9223372036854775809",
        "-",
    };
    int64_t value;

    check_rows(lbx_settings_read_integer, good, COUNT(good), bad, COUNT(bad));
    CHECK_STATUS(LBX_INVALID,
                 read_as(lbx_settings_read_integer, "many", &value));
    CHECK_STR("text:1: a: 'many' is no whole number", fault.text);
}

TEST(numbers_do_not_depend_on_the_locale)
{
    SETTINGS(settings) = load_text("a = 1.5e-3, b = \"-2\", c = 1e999, d = x");
    double number;

    (void)setlocale(LC_ALL, "de_DE.UTF-8"); // where there is one
    CHECK_OK(lbx_settings_read_number(settings, "a", &number, &fault));
    CHECK(number == 1.5e-3);
    CHECK_OK(lbx_settings_read_number(settings, "b", &number, &fault));
    CHECK(number == -2);
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_number(settings, "c", &number, &fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_number(settings, "d", &number, &fault));
    CHECK_OK(lbx_settings_read_number_or(settings, "e", 0.5, &number, &fault));
    CHECK(number == 0.5);
}

TEST(booleans_are_six_words)
{
    SETTINGS(settings) = load_text("t = [true, yes, on, \"true\"], f = "
                                   "[false, no, off], x = [1, True, y]");
    bool flag;

    for (size_t i = 0; i < 4; i++) {
        flag = false;
        CHECK_OK(lbx_settings_read_boolean(
            lbx_settings_child(lbx_settings_at(settings, "t"), i), NULL, &flag,
            NULL));
        CHECK(flag);
    }
    for (size_t i = 0; i < 3; i++) {
        flag = true;
        CHECK_OK(lbx_settings_read_boolean(
            lbx_settings_child(lbx_settings_at(settings, "f"), i), NULL, &flag,
            NULL));
        CHECK(!flag);
        CHECK_STATUS(LBX_INVALID,
                     lbx_settings_read_boolean(
                         lbx_settings_child(lbx_settings_at(settings, "x"), i),
                         NULL, &flag, &fault));
    }
    CHECK_STR("text:1: x: 'y' is no boolean; true, yes, on, false, no and off "
              "are allowed",
              fault.text);
    CHECK_OK(lbx_settings_read_boolean_or(settings, "no", true, &flag, NULL));
    CHECK(flag);
}

TEST_CITING("A-12", durations_have_the_units_of_hocon)
{
    static const struct row good[] = {
        {"10s", 10 * LBX_SECOND},
        {"10 s", 10 * LBX_SECOND},
        {"\"10 seconds\"", 10 * LBX_SECOND},
        {"1 second", LBX_SECOND},
        {"5", 5 * LBX_MS},
        {"\"5\"", 5 * LBX_MS},
        {"0", 0},
        {"0.5s", 500 * LBX_MS},
        {"1.000000001 s", LBX_SECOND + 1},
        {"1.0000000019999999999999999999999s", LBX_SECOND + 1},
        {"7ns", 7},
        {"7 nano", 7},
        {"7 nanos", 7},
        {"7 nanosecond", 7},
        {"7 nanoseconds", 7},
        {"7us", 7 * LBX_US},
        {"7 micro", 7 * LBX_US},
        {"7 micros", 7 * LBX_US},
        {"7 microsecond", 7 * LBX_US},
        {"7 microseconds", 7 * LBX_US},
        {"7ms", 7 * LBX_MS},
        {"7 milli", 7 * LBX_MS},
        {"7 millis", 7 * LBX_MS},
        {"7 millisecond", 7 * LBX_MS},
        {"7 milliseconds", 7 * LBX_MS},
        {"2m", 120 * LBX_SECOND},
        {"2 minute", 120 * LBX_SECOND},
        {"2 minutes", 120 * LBX_SECOND},
        {"2h", 7200 * LBX_SECOND},
        {"2 hour", 7200 * LBX_SECOND},
        {"2 hours", 7200 * LBX_SECOND},
        {"1.5d", 129600 * LBX_SECOND},
        {"2 day", 172800 * LBX_SECOND},
        {"2 days", 172800 * LBX_SECOND},
        {"106751 d", (int64_t)106751 * 86400 * LBX_SECOND},
        {"infinite", -1},
        {"inf", -1},
        {"-1", -1},
        {"-0.5s", -1},
        {"-0s", 0},
    };
    static const char *const bad[] = {
        "10x",
        "s",
        "\"\"",
        "10 s s",
        "1e3s",
        "106752 d",
        "\"10s10s\"",
        "10 S",
        "true",
        "soon",
        "010s",
        "\"1 weeks\"",
        "99999999999999999999",
        "\"10 nanosecondses\"",
        "10 nanosecon",
        "10 anoseconds",
        "10 millisecondandtwo", // 17, 18 and 19 letters
        "10 millisecondsandone",
        "10 millisecondsandone2",
        "\"10 s second\"",
    };

    check_rows(lbx_settings_read_duration, good, COUNT(good), bad, COUNT(bad));
}

/* In one origin of Akka off means 0, in another for ever: the fault names
 * both. */
TEST(off_is_no_duration)
{
    int64_t value;

    CHECK_STATUS(LBX_INVALID,
                 read_as(lbx_settings_read_duration, "off", &value));
    CHECK_STR("text:1: a: 'off' is no duration; 0 is none, infinite has no end",
              fault.text);
    CHECK_STATUS(LBX_INVALID,
                 read_as(lbx_settings_read_duration, "10 sec", &value));
    CHECK_STR("text:1: a: '10 sec' is no duration; a number and ns, us, ms, s, "
              "m, h or d is allowed, or infinite",
              fault.text);
}

TEST(sizes_have_powers_of_1000_and_of_1024)
{
    static const struct row good[] = {
        {"512", 512},
        {"512B", 512},
        {"512 bytes", 512},
        {"1 byte", 1},
        {"1kB", 1000},
        {"1KB", 1000},
        {"1 kilobyte", 1000},
        {"2 kilobytes", 2000},
        {"1K", 1024},
        {"1k", 1024},
        {"1Ki", 1024},
        {"64KiB", 65536},
        {"1 kibibyte", 1024},
        {"1MB", 1000000},
        {"1.5 MB", 1500000},
        {"1m", 1 << 20},
        {"1.5MiB", 3 << 19},
        {"2 mebibytes", 2 << 20},
        {"1GB", 1000000000},
        {"1G", 1 << 30},
        {"1GiB", 1 << 30},
        {"1TB", 1000000000000},
        {"1TiB", (int64_t)1 << 40},
        {"1PB", 1000000000000000},
        {"1PiB", (int64_t)1 << 50},
        {"1EB", 1000000000000000000},
        {"7EiB", (int64_t)7 << 60},
        {"0.9", 0},
    };
    static const char *const bad[] = {
        "-1", "1XB", "8EiB", "kB", "1kb", "\"\"", "1 k B", "one",
    };

    check_rows(lbx_settings_read_size, good, COUNT(good), bad, COUNT(bad));
}

TEST(a_size_that_is_absent_is_the_default)
{
    SETTINGS(settings) = load_text("a = one");
    int64_t value;

    CHECK_OK(lbx_settings_read_size_or(settings, "b", 7, &value, &fault));
    CHECK_INT(7, value);
}

TEST(lists_of_strings_are_checked_as_a_whole)
{
    SETTINGS(settings) =
        load_text("a = [x, 1, true], b = [], c = [x, [y]], d = x, e = [null]");
    const lbx_settings *list;

    CHECK_OK(lbx_settings_read_strings(settings, "a", &list, &fault));
    CHECK_INT(3, lbx_settings_count(list));
    CHECK_STR("x", lbx_settings_text(lbx_settings_child(list, 0)));
    CHECK_STR("1", lbx_settings_text(lbx_settings_child(list, 1)));
    CHECK_PTR(NULL, lbx_settings_child(list, 3));
    CHECK_OK(lbx_settings_read_strings(settings, "b", &list, &fault));
    CHECK_INT(0, lbx_settings_count(list));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_strings(settings, "c", &list, &fault));
    CHECK_STR("text:1: c: member 2 is a list, but a list of strings is needed",
              fault.text);
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_strings(settings, "d", &list, &fault));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_strings(settings, "e", &list, &fault));
}

TEST(a_wrong_value_is_refused_by_the_or_form_too)
{
    SETTINGS(settings) = load_text("a = x");
    int64_t value = 5;

    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_integer_or(settings, "a", 1, &value, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_duration_or(settings, "a", 1, &value, NULL));
    CHECK_INT(5, value);
    CHECK_OK(lbx_settings_read_duration_or(settings, "b", 1, &value, NULL));
    CHECK_INT(1, value);
}

TEST(reads_refuse_null_arguments)
{
    SETTINGS(settings) = load_text("a = 1");
    const lbx_settings *part;
    const char *text;
    int64_t value;

    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_integer(NULL, "a", &value, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_integer(settings, "a", NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_integer_or(NULL, "a", 1, &value, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_integer_or(settings, "a", 1, NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_settings_read_string(NULL, "", &text, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_settings_read_section(NULL, "", &part, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_section(settings, "", NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_settings_read_strings(settings, "", NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_settings_write_fault(NULL, "x", NULL));
}
