/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and units.
 *
 * Amounts are computed in integers, so that there is no rounding and no locale:
 * a fraction is added digit by digit, from the last to the first, dividing by
 * ten each time.
 */
#include "settings/scalar.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The shape of a number ---- */

static bool
scalar_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *
scalar_skip_digits(const char *at)
{
    while (scalar_is_digit(*at))
        at++;
    return at;
}

/* The parts of a number at the front of a text. */
struct number {
    bool negative;
    const char *whole; /* digits up to `point` */
    const char *point; /* where the whole part ends */
    const char *fraction;
    const char *exponent; /* where the fraction ends */
    const char *end;
};

/* JSON's grammar; false when the text does not begin with a number. */
static bool
scalar_split(const char *text, struct number *ret)
{
    ret->negative = *text == '-';
    ret->whole = text + ret->negative;
    ret->point = scalar_skip_digits(ret->whole);
    if (ret->point == ret->whole)
        return false;
    if (*ret->whole == '0' && ret->point > ret->whole + 1)
        return false;
    ret->fraction = ret->exponent = ret->end = ret->point;
    if (ret->point[0] == '.' && scalar_is_digit(ret->point[1])) {
        ret->fraction = ret->point + 1;
        ret->exponent = ret->end = scalar_skip_digits(ret->fraction);
    }
    if (*ret->end == 'e' || *ret->end == 'E') {
        const char *at = ret->end + 1;

        at += *at == '+' || *at == '-';
        if (scalar_is_digit(*at))
            ret->end = scalar_skip_digits(at);
    }
    return true;
}

bool
lbx__scalar_is_number(const char *text)
{
    struct number number;

    return scalar_split(text, &number) && *number.end == '\0';
}

/* ---- Integers, numbers, booleans ---- */

/* Appends digits to *value; subtracts when it is negative, so that INT64_MIN
 * can be read. */
static bool
scalar_add_digits(const char *at, const char *end, bool negative,
                  int64_t *value)
{
    for (; at < end; at++) {
        const int64_t digit = negative ? '0' - *at : *at - '0';

        if (__builtin_mul_overflow(*value, (int64_t)10, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return true;
}

/* The exponent, limited to where a larger one makes no difference. */
static long
scalar_exponent(const struct number *number)
{
    const char *at = number->exponent;
    bool negative;
    long value = 0;

    if (at == number->end)
        return 0;
    at++;
    negative = *at == '-';
    at += *at == '-' || *at == '+';
    for (; at < number->end; at++)
        value = value < 100000 ? 10 * value + (*at - '0') : value;
    return negative ? -value : value;
}

/* Whether all digits from `at` to `end` are 0. */
static bool
scalar_all_zero(const char *at, const char *end)
{
    while (at < end && *at == '0')
        at++;
    return at == end;
}

/* The whole part, and the digits of the fraction that the exponent moves before
 * the point; those that remain behind it must be 0. */
static bool
scalar_shift_in(const struct number *number, int64_t *value)
{
    const long digits = number->exponent - number->fraction;
    long shift = scalar_exponent(number);
    long moved = shift < digits ? shift : digits;

    if (!scalar_add_digits(number->whole, number->point, number->negative,
                           value))
        return false;
    if (moved < 0)
        moved = 0;
    if (!scalar_add_digits(number->fraction, number->fraction + moved,
                           number->negative, value) ||
        !scalar_all_zero(number->fraction + moved, number->exponent))
        return false;
    for (shift -= moved; shift > 0 && *value != 0; shift--) {
        if (__builtin_mul_overflow(*value, (int64_t)10, value))
            return false;
    }
    for (; shift < 0 && *value != 0; shift++) {
        if (*value % 10 != 0)
            return false;
        *value /= 10;
    }
    return true;
}

bool
lbx__scalar_to_integer(const char *text, int64_t *ret, const char **why)
{
    struct number number;
    int64_t value = 0;

    if (!scalar_split(text, &number) || *number.end != '\0') {
        *why = "is no whole number";
        return false;
    }
    if (!scalar_shift_in(&number, &value)) {
        *why = "is no whole number of 64 bits";
        return false;
    }
    *ret = value;
    return true;
}

bool
lbx__scalar_to_number(const char *text, double *ret, const char **why)
{
    locale_t plain;
    double value;

    if (!lbx__scalar_is_number(text)) {
        *why = "is no number";
        return false;
    }
    // The "C" locale always exists; NULL means no memory.
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        *why = "cannot be read: out of memory";
        return false;
    }
    value = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (isinf(value)) {
        *why = "is too large a number";
        return false;
    }
    *ret = value;
    return true;
}

bool
lbx__scalar_to_boolean(const char *text, bool *ret, const char **why)
{
    static const char *const words[] = {"true",  "yes", "on",
                                        "false", "no",  "off"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret = i < 3;
            return true;
        }
    }
    *why = "is no boolean; true, yes, on, false, no and off are allowed";
    return false;
}

/* ---- Units ---- */

struct unit {
    const char *names; /* with a blank on both sides of each */
    int64_t factor;
};

static const struct unit durations[] = {
    {" ns nano nanos nanosecond nanoseconds ", 1},
    {" us micro micros microsecond microseconds ", 1000},
    {"  ms milli millis millisecond milliseconds ", 1000000},
    {" s second seconds ", 1000000000},
    {" m minute minutes ", 60 * (int64_t)1000000000},
    {" h hour hours ", 3600 * (int64_t)1000000000},
    {" d day days ", 86400 * (int64_t)1000000000},
    {NULL, 0},
};

static const struct unit sizes[] = {
    {"  B b byte bytes ", 1},
    {" kB KB kilobyte kilobytes ", 1000},
    {" MB megabyte megabytes ", 1000000},
    {" GB gigabyte gigabytes ", 1000000000},
    {" TB terabyte terabytes ", 1000000000000},
    {" PB petabyte petabytes ", 1000000000000000},
    {" EB exabyte exabytes ", 1000000000000000000},
    {" K k Ki KiB kibibyte kibibytes ", (int64_t)1 << 10},
    {" M m Mi MiB mebibyte mebibytes ", (int64_t)1 << 20},
    {" G g Gi GiB gibibyte gibibytes ", (int64_t)1 << 30},
    {" T t Ti TiB tebibyte tebibytes ", (int64_t)1 << 40},
    {" P p Pi PiB pebibyte pebibytes ", (int64_t)1 << 50},
    {" E e Ei EiB exbibyte exbibytes ", (int64_t)1 << 60},
    {NULL, 0},
};

static bool
scalar_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether `names`, with a blank on both sides of each, has this one. */
static bool
scalar_has_name(const char *names, const char *name, size_t length)
{
    for (const char *at = names; *at; at++) {
        if (*at == ' ' && strncmp(at + 1, name, length) == 0 &&
            at[1 + length] == ' ')
            return true;
    }
    return false;
}

/* The factor of the unit named by the rest of a text, without blanks around it;
 * an empty name is a unit too. 0 when it is unknown. */
static int64_t
scalar_factor(const struct unit *units, const char *text)
{
    size_t length;

    while (scalar_is_blank(*text))
        text++;
    length = strlen(text);
    while (length > 0 && scalar_is_blank(text[length - 1]))
        length--;
    if (memchr(text, ' ', length))
        return 0; // several words may stand side by side in the table
    for (; units->names; units++) {
        if (scalar_has_name(units->names, text, length))
            return units->factor;
    }
    return 0;
}

/* The number times the factor, rounded towards 0; false when it overflows. */
static bool
scalar_multiply(const struct number *number, int64_t factor, int64_t *ret)
{
    int64_t whole = 0;
    uint64_t part = 0;

    for (const char *at = number->exponent; at > number->fraction; at--)
        part = (part + (uint64_t)(at[-1] - '0') * (uint64_t)factor) / 10;
    if (!scalar_add_digits(number->whole, number->point, false, &whole) ||
        __builtin_mul_overflow(whole, factor, &whole) ||
        __builtin_add_overflow(whole, (int64_t)part, &whole))
        return false;
    *ret = whole;
    return true;
}

/* Reads a number and a unit; false when it is none or overflows. */
static bool
scalar_measure(const char *text, const struct unit *units,
               struct number *number, int64_t *ret)
{
    int64_t factor;

    while (scalar_is_blank(*text))
        text++;
    if (!scalar_split(text, number))
        return false;
    factor = scalar_factor(units, number->exponent);
    return factor > 0 && scalar_multiply(number, factor, ret);
}

bool
lbx__scalar_to_duration(const char *text, int64_t *ret_ns, const char **why)
{
    struct number number;
    int64_t value = -1;

    if (strcmp(text, "infinite") != 0 && strcmp(text, "inf") != 0) {
        if (!scalar_measure(text, durations, &number, &value)) {
            *why = strcmp(text, "off") == 0
                       ? "is no duration; 0 is none, infinite has no end"
                       : "is no duration; a number and ns, us, ms, s, m, h or "
                         "d is allowed, or infinite";
            return false;
        }
        if (number.negative && value > 0)
            value = -1;
    }
    *ret_ns = value;
    return true;
}

bool
lbx__scalar_to_size(const char *text, int64_t *ret_bytes, const char **why)
{
    struct number number;
    int64_t value;

    if (!scalar_measure(text, sizes, &number, &value) ||
        (number.negative && value > 0)) {
        *why = "is no size; a number that is not negative and B, kB, KiB, MB, "
               "MiB, GB, GiB, TB, TiB, PB, PiB, EB or EiB is allowed";
        return false;
    }
    *ret_bytes = value;
    return true;
}
