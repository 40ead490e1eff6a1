/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments as text; see moment.h.
 *
 * Days are counted in years that begin in March, so that the leap day is the
 * last of its year, and in eras of 400 years, which all have the same length.
 * The C library's functions would do, but depend on the locale, on TZ, or on a
 * lock.
 */
#include "codec/timestamp.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    MS_PER_DAY = 86400000,
    DAYS_PER_ERA = 146097,
    DAYS_TO_1970 = 719468, /* from 0000-03-01 */
};

/* 0000-01-01 and 10000-01-01. */
#define FIRST_MS (-62167219200000)
#define PAST_MS  253402300800000

/* Days since 1970 of a date. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
    const int64_t shifted = month > 2 ? year : year - 1; // begins in March
    const int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
    const int64_t of_era = shifted - era * 400;
    const int64_t of_year =
        (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 +
           of_year - DAYS_TO_1970;
}

static void
date_of(int64_t days, int *year, int *month, int *day)
{
    const int64_t z = days + DAYS_TO_1970;
    const int64_t era = (z >= 0 ? z : z - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
    const int64_t of_era = z - era * DAYS_PER_ERA;
    const int64_t years =
        (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    const int64_t from_march = (5 * of_year + 2) / 153;

    *day = (int)(of_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = (int)(years + era * 400 + (*month <= 2));
}

bool
lbx__timestamp_format(int64_t ms, char text[LBX__TIMESTAMP_BYTES])
{
    int64_t days, rest;
    int year, month, day, length;

    if (ms < FIRST_MS || ms >= PAST_MS)
        return false;
    days = (ms >= 0 ? ms : ms - (MS_PER_DAY - 1)) / MS_PER_DAY;
    rest = ms - days * MS_PER_DAY;
    date_of(days, &year, &month, &day);
    length = snprintf(text, LBX__TIMESTAMP_BYTES,
                      "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day,
                      (int)(rest / 3600000), (int)(rest / 60000 % 60),
                      (int)(rest / 1000 % 60), (int)(rest % 1000));
    assert(length == LBX__TIMESTAMP_BYTES - 1);
    (void)length;
    return true;
}

struct reading {
    const char *at, *end;
};

/* So many digits; -1 when there are fewer. */
static int
number(struct reading *reading, int digits)
{
    int value = 0;

    if (reading->end - reading->at < digits)
        return -1;
    for (int i = 0; i < digits; i++) {
        const char digit = *reading->at++;

        if (digit < '0' || digit > '9')
            return -1;
        value = value * 10 + (digit - '0');
    }
    return value;
}

static bool
mark(struct reading *reading, const char *any)
{
    if (reading->at == reading->end || !strchr(any, *reading->at) ||
        *reading->at == '\0')
        return false;
    reading->at++;
    return true;
}

static int
days_in(int year, int month)
{
    static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (leap && month == 2);
}

static bool
read_date(struct reading *reading, int64_t *ret_days)
{
    const int year = number(reading, 4);
    int month, day;

    if (year < 0 || !mark(reading, "-"))
        return false;
    month = number(reading, 2);
    if (month < 1 || month > 12 || !mark(reading, "-"))
        return false;
    day = number(reading, 2);
    if (day < 1 || day > days_in(year, month))
        return false;
    *ret_days = days_of(year, month, day);
    return true;
}

/* The part behind the seconds: cut, not rounded, as a time that is over. */
static bool
read_fraction(struct reading *reading, int64_t *ret_ms)
{
    int64_t unit = 100;
    const char *start;

    *ret_ms = 0;
    if (!mark(reading, "."))
        return true;
    start = reading->at;
    while (reading->at < reading->end && *reading->at >= '0' &&
           *reading->at <= '9') {
        *ret_ms += (*reading->at++ - '0') * unit;
        unit /= 10;
    }
    return reading->at > start;
}

static bool
read_time(struct reading *reading, int64_t *ret_ms)
{
    const int hour = number(reading, 2);
    int minute, second;
    int64_t fraction;

    if (hour < 0 || hour > 23 || !mark(reading, ":"))
        return false;
    minute = number(reading, 2);
    if (minute < 0 || minute > 59 || !mark(reading, ":"))
        return false;
    second = number(reading, 2);
    if (second < 0 || second > 59 || !read_fraction(reading, &fraction))
        return false;
    *ret_ms = (hour * 3600 + minute * 60 + second) * (int64_t)1000 + fraction;
    return true;
}

static bool
read_offset(struct reading *reading, int64_t *ret_ms)
{
    int hour, minute;
    bool behind;

    *ret_ms = 0;
    if (mark(reading, "Zz"))
        return true;
    if (reading->at == reading->end)
        return false;
    behind = *reading->at == '-';
    if (!mark(reading, "+-"))
        return false;
    hour = number(reading, 2);
    if (hour < 0 || hour > 23 || !mark(reading, ":"))
        return false;
    minute = number(reading, 2);
    if (minute < 0 || minute > 59)
        return false;
    *ret_ms = (hour * 60 + minute) * (int64_t)60000 * (behind ? -1 : 1);
    return true;
}

bool
lbx__timestamp_parse(const char *text, size_t size, int64_t *ret_ms)
{
    struct reading reading = {text, text + size};
    int64_t days, time_ms, offset_ms;

    if (!read_date(&reading, &days) || !mark(&reading, "Tt ") ||
        !read_time(&reading, &time_ms) || !read_offset(&reading, &offset_ms) ||
        reading.at != reading.end)
        return false;
    *ret_ms = days * MS_PER_DAY + time_ms - offset_ms;
    return true;
}
