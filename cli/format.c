/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes, durations and times as people read them: see output.h. */
#include "output.h"
#include "utf8.h"

#include <inttypes.h>
#include <time.h>

/* Characters that change what a terminal shows: C0 and C1 controls, and those
 * that turn the direction of writing. */
static bool
format_is_control(uint32_t character)
{
    return character < 0x20 || (character >= 0x7F && character < 0xA0) ||
           (character >= 0x200E && character <= 0x200F) ||
           (character >= 0x2028 && character <= 0x202E) ||
           (character >= 0x2066 && character <= 0x2069);
}

void
cli_out_escaped(FILE *stream, const void *bytes, size_t size_bytes, bool lines)
{
    const unsigned char *at = bytes;

    while (size_bytes > 0) {
        uint32_t character;
        size_t size = cli_utf8_read(at, size_bytes, &character);
        const bool shown =
            size > 0 && (!format_is_control(character) ||
                         (lines && (character == '\n' || character == '\t')));

        size = size > 0 ? size : 1; // not UTF-8: byte by byte
        if (shown) {
            fwrite(at, 1, size, stream);
        } else {
            for (size_t i = 0; i < size; i++)
                fprintf(stream, "\\x%02x", at[i]);
        }
        at += size;
        size_bytes -= size;
    }
}

static const struct {
    const char *name;
    int64_t ns;
} format_units[] = {
    {"d", 86400 * LBX_SECOND},
    {"h", 3600 * LBX_SECOND},
    {"m", 60 * LBX_SECOND},
    {"s", LBX_SECOND},
    {"ms", LBX_MS},
    {"us", LBX_US},
    {"ns", 1},
};

enum {
    FORMAT_UNITS = sizeof(format_units) / sizeof(format_units[0])
};

/* The largest unit, and the next one if there is a rest: "1h30m". */
const char *
cli_format_duration(int64_t ns, char buffer[CLI_NUMBER_BYTES])
{
    size_t i = 0;
    int used;

    if (ns == LBX_UNLIMITED || ns < 0) {
        snprintf(buffer, CLI_NUMBER_BYTES, "%s", ns < 0 ? "-" : "unlimited");
        return buffer;
    }
    if (ns == 0) {
        snprintf(buffer, CLI_NUMBER_BYTES, "0s");
        return buffer;
    }
    while (i < FORMAT_UNITS - 1 && ns < format_units[i].ns)
        i++;
    used = snprintf(buffer, CLI_NUMBER_BYTES, "%" PRId64 "%s",
                    ns / format_units[i].ns, format_units[i].name);
    ns %= format_units[i].ns;
    if (i + 1 < FORMAT_UNITS && ns >= format_units[i + 1].ns)
        snprintf(buffer + used, CLI_NUMBER_BYTES - (size_t)used,
                 "%" PRId64 "%s", ns / format_units[i + 1].ns,
                 format_units[i + 1].name);
    return buffer;
}

const char *
cli_format_bytes(uint64_t bytes, char buffer[CLI_NUMBER_BYTES])
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
    double number = (double)bytes / 1024;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(buffer, CLI_NUMBER_BYTES, "%" PRIu64 " B", bytes);
        return buffer;
    }
    for (; number >= 1024 && i < 3; i++)
        number /= 1024;
    snprintf(buffer, CLI_NUMBER_BYTES, "%.1f %s", number, names[i]);
    return buffer;
}

const char *
cli_format_time(int64_t ms, bool human, char buffer[CLI_NUMBER_BYTES])
{
    const time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    size_t used;

    if (!(human ? localtime_r(&seconds, &parts) : gmtime_r(&seconds, &parts))) {
        snprintf(buffer, CLI_NUMBER_BYTES, "-");
        return buffer;
    }
    used = strftime(buffer, CLI_NUMBER_BYTES,
                    human ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%dT%H:%M:%S", &parts);
    if (!human)
        snprintf(buffer + used, CLI_NUMBER_BYTES - used, ".%03dZ",
                 (int)(ms % 1000));
    return buffer;
}
