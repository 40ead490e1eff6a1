/* SPDX-License-Identifier: Apache-2.0 */
/* Moments as text and back. */
#include "codec/timestamp.h"

#include "support/test.h"

#include <string.h>
#include <time.h>

static void
check_text(const char *expected, int64_t ms)
{
    char text[LBX__TIMESTAMP_BYTES];
    int64_t back = -1;

    CHECK(lbx__timestamp_format(ms, text));
    CHECK_STR(expected, text);
    CHECK(lbx__timestamp_parse(text, strlen(text), &back));
    CHECK_INT(ms, back);
}

TEST(moments_are_written_as_rfc_3339_says)
{
    check_text("1970-01-01T00:00:00.000Z", 0);
    check_text("1969-12-31T23:59:59.999Z", -1);
    check_text("2000-02-29T23:59:59.001Z", 951868799001);
    check_text("2100-03-01T00:00:00.000Z", 4107542400000); // no leap year
    check_text("0000-01-01T00:00:00.000Z", -62167219200000);
    check_text("9999-12-31T23:59:59.999Z", 253402300799999);
}

/* Every day of 800 years, against the C library. */
TEST(moments_agree_with_the_c_library)
{
    for (int64_t day = -146097; day < 146097; day++) {
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        char expected[64], text[LBX__TIMESTAMP_BYTES];

        CHECK(gmtime_r(&seconds, &tm) != NULL);
        CHECK(strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S.000Z",
                       &tm) > 0);
        CHECK(lbx__timestamp_format(day * 86400000, text));
        CHECK_STR(expected, text);
    }
}

TEST(moments_outside_four_digits_of_years_are_not_written)
{
    char text[LBX__TIMESTAMP_BYTES];

    CHECK(!lbx__timestamp_format(-62167219200001, text));
    CHECK(!lbx__timestamp_format(253402300800000, text));
    CHECK(!lbx__timestamp_format(INT64_MIN, text));
    CHECK(!lbx__timestamp_format(INT64_MAX, text));
}

TEST(moments_are_read_with_any_fraction_and_offset)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00+00:00", 0}, // Python's isoformat()
        {"1970-01-01T01:30:00.5+01:30", 500},
        {"1969-12-31T23:00:00.123456789-01:00", 123},
        {"1970-01-01t00:00:00z", 0},
        {"1970-01-01 00:00:00.9999Z", 999},
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int64_t ms = -1;

        CHECK(lbx__timestamp_parse(good[i].text, strlen(good[i].text), &ms));
        CHECK_INT(good[i].ms, ms);
    }
}

TEST(texts_that_are_no_moments_are_refused)
{
    static const char *const bad[] = {
        "",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01T00:00Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00ZZ",
        "1970-13-01T00:00:00Z",
        "1970-00-01T00:00:00Z",
        "1970-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:60Z",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+00:60",
        "0000-01-01T00:00:00+00:01", // the offset leads to another year
        "9999-12-31T23:59:59-00:01",
        "1970-01-01T00:00:00+0000",
        "1970-01-01T00:00:00 ",
        "+970-01-01T00:00:00Z",
        "1970-1-01T00:00:00Z",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t ms;

        if (lbx__timestamp_parse(bad[i], strlen(bad[i]), &ms))
            FAIL("\"%s\" was read", bad[i]);
    }
}

/* Cut anywhere, also in front of a NUL that is no part of it. */
TEST(a_moment_that_is_cut_off_is_none)
{
    static const char text[] = "1970-01-01T00:00:00.000Z";
    int64_t ms;

    for (size_t size = 0; size < sizeof(text) - 1; size++)
        CHECK(!lbx__timestamp_parse(text, size, &ms));
    CHECK(!lbx__timestamp_parse(text, sizeof(text), &ms));
}
