/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units, as people type them. */
#include "cli.h"

#include <string.h>

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit duration_units[] = {
    {"ns", 1},
    {"us", LBX_US},
    {"ms", LBX_MS},
    {"s", LBX_SECOND},
    {"m", 60 * LBX_SECOND},
    {"min", 60 * LBX_SECOND},
    {"h", 3600 * LBX_SECOND},
    {"d", 86400 * LBX_SECOND},
    {NULL, 0},
};

static const struct unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"K", (int64_t)1 << 10},
    {"KiB", (int64_t)1 << 10},
    {"M", (int64_t)1 << 20},
    {"MiB", (int64_t)1 << 20},
    {"G", (int64_t)1 << 30},
    {"GiB", (int64_t)1 << 30},
    {NULL, 0},
};

/* Reads digits; NULL when there are none, or the number does not fit. */
static const char *
argument_digits(const char *text, int64_t *ret)
{
    int64_t number = 0;

    if (*text < '0' || *text > '9')
        return NULL;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *text - '0', &number))
            return NULL;
    }
    *ret = number;
    return text;
}

/* The factor of the unit that `text` begins with, up to the next digit. 0:
 * there is no such unit. */
static int64_t
argument_unit(const struct unit *units, const char *text, size_t *ret_bytes)
{
    const size_t size = strcspn(text, "0123456789");

    *ret_bytes = size;
    for (; units->name; units++) {
        if (strlen(units->name) == size && memcmp(units->name, text, size) == 0)
            return units->factor;
    }
    return 0;
}

/* Reads one number and its unit; NULL when that is not there. */
static const char *
argument_pair(const struct unit *units, const char *text, int64_t *ret)
{
    int64_t number;
    int64_t factor;
    size_t size;

    text = argument_digits(text, &number);
    if (!text)
        return NULL;
    factor = argument_unit(units, text, &size);
    if (factor == 0 || __builtin_mul_overflow(number, factor, ret))
        return NULL;
    return text + size;
}

bool
cli_read_duration(const char *text, int64_t *ret_ns)
{
    int64_t sum = 0;

    if (strcmp(text, "0") == 0) {
        *ret_ns = 0;
        return true;
    }
    do {
        int64_t part;

        text = argument_pair(duration_units, text, &part);
        if (!text || __builtin_add_overflow(sum, part, &sum))
            return false;
    } while (*text);
    *ret_ns = sum;
    return sum != LBX_UNLIMITED;
}

bool
cli_read_size(const char *text, int64_t *ret_bytes)
{
    int64_t bytes;

    text = argument_pair(size_units, text, &bytes);
    if (!text || *text || bytes == LBX_UNLIMITED)
        return false;
    *ret_bytes = bytes;
    return true;
}

bool
cli_read_number(const char *text, int64_t *ret)
{
    int64_t number;

    text = argument_digits(text, &number);
    if (!text || *text)
        return false;
    *ret = number;
    return true;
}
