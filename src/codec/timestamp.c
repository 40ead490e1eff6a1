/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as text; see timestamp.h.
 *
 * Days are counted in years that start in March, so that the leap day is the
 * last day of its year, and in eras of 400 years, which all have the same
 * length. The functions of the C library depend on the locale, on TZ, or on a
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
timestamp_days_of(int64_t year, int64_t month, int64_t day)
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
timestamp_date_of(int64_t days, int *year, int *month, int *day)
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
    timestamp_date_of(days, &year, &month, &day);
    length = snprintf(text, LBX__TIMESTAMP_BYTES,
                      "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day,
                      (int)(rest / 3600000), (int)(rest / 60000 % 60),
                      (int)(rest / 1000 % 60), (int)(rest % 1000));
    assert(length == LBX__TIMESTAMP_BYTES - 1);
    (void)length;
    return true;
}

struct timestamp_reader {
    const char *at, *end;
};

/* So many digits; -1 when there are fewer. */
static int
timestamp_number(struct timestamp_reader *reader, int digits)
{
    int value = 0;

    if (reader->end - reader->at < digits)
        return -1;
    for (int i = 0; i < digits; i++) {
        const char digit = *reader->at++;

        if (digit < '0' || digit > '9')
            return -1;
        value = value * 10 + (digit - '0');
    }
    return value;
}

static bool
timestamp_mark(struct timestamp_reader *reader, const char *any)
{
    if (reader->at == reader->end || !strchr(any, *reader->at) ||
        *reader->at == '\0')
        return false;
    reader->at++;
    return true;
}

static int
timestamp_days_in(int year, int month)
{
    static const char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (leap && month == 2);
}

static bool
timestamp_read_date(struct timestamp_reader *reader, int64_t *ret_days)
{
    const int year = timestamp_number(reader, 4);
    int month, day;

    if (year < 0 || !timestamp_mark(reader, "-"))
        return false;
    month = timestamp_number(reader, 2);
    if (month < 1 || month > 12 || !timestamp_mark(reader, "-"))
        return false;
    day = timestamp_number(reader, 2);
    if (day < 1 || day > timestamp_days_in(year, month))
        return false;
    *ret_days = timestamp_days_of(year, month, day);
    return true;
}

/* The part behind the seconds: cut, not rounded, as a time that is over. */
static bool
timestamp_read_fraction(struct timestamp_reader *reader, int64_t *ret_ms)
{
    int64_t unit = 100;
    const char *start;

    *ret_ms = 0;
    if (!timestamp_mark(reader, "."))
        return true;
    start = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' &&
           *reader->at <= '9') {
        *ret_ms += (*reader->at++ - '0') * unit;
        unit /= 10;
    }
    return reader->at > start;
}

static bool
timestamp_read_time(struct timestamp_reader *reader, int64_t *ret_ms)
{
    const int hour = timestamp_number(reader, 2);
    int minute, second;
    int64_t fraction;

    if (hour < 0 || hour > 23 || !timestamp_mark(reader, ":"))
        return false;
    minute = timestamp_number(reader, 2);
    if (minute < 0 || minute > 59 || !timestamp_mark(reader, ":"))
        return false;
    second = timestamp_number(reader, 2);
    if (second < 0 || second > 59 ||
        !timestamp_read_fraction(reader, &fraction))
        return false;
    *ret_ms = (hour * 3600 + minute * 60 + second) * (int64_t)1000 + fraction;
    return true;
}

static bool
timestamp_read_offset(struct timestamp_reader *reader, int64_t *ret_ms)
{
    int hour, minute;
    bool behind;

    *ret_ms = 0;
    if (timestamp_mark(reader, "Zz"))
        return true;
    if (reader->at == reader->end)
        return false;
    behind = *reader->at == '-';
    if (!timestamp_mark(reader, "+-"))
        return false;
    hour = timestamp_number(reader, 2);
    if (hour < 0 || hour > 23 || !timestamp_mark(reader, ":"))
        return false;
    minute = timestamp_number(reader, 2);
    if (minute < 0 || minute > 59)
        return false;
    *ret_ms = (hour * 60 + minute) * (int64_t)60000 * (behind ? -1 : 1);
    return true;
}

bool
lbx__timestamp_parse(const char *text, size_t size, int64_t *ret_ms)
{
    struct timestamp_reader reader = {text, text + size};
    int64_t days, time_ms, offset_ms, instant_ms;

    if (!timestamp_read_date(&reader, &days) ||
        !timestamp_mark(&reader, "Tt ") ||
        !timestamp_read_time(&reader, &time_ms) ||
        !timestamp_read_offset(&reader, &offset_ms) || reader.at != reader.end)
        return false;
    // An offset may lead out of the years that can be written.
    instant_ms = days * MS_PER_DAY + time_ms - offset_ms;
    if (instant_ms < FIRST_MS || instant_ms >= PAST_MS)
        return false;
    *ret_ms = instant_ms;
    return true;
}
