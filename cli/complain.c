/* SPDX-License-Identifier: Apache-2.0 */
/* What goes to standard error. */
#include "cli.h"
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The text is escaped: it may have parts of what was given on the command line
 * or read from a store. */
static void
complain_print(const char *format, va_list arguments)
{
    char text[2048];

    vsnprintf(text, sizeof(text), format, arguments);
    fputs("letterbox: ", stderr);
    cli_out_escaped(stderr, text, strlen(text), false);
    fputc('\n', stderr);
}

void
cli_complain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    complain_print(format, arguments);
    va_end(arguments);
}

int
cli_complain_usage(const struct cli_call *call, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    complain_print(format, arguments);
    va_end(arguments);
    if (call)
        cli_complain("see: letterbox %s --help", call->command->name);
    return CLI_USAGE;
}

int
cli_complain_status(lbx_status status, const lbx_fault *fault, const char *what)
{
    const char *text = fault && fault->text[0] ? fault->text : NULL;

    if (text && what && !strstr(text, what))
        cli_complain("%s: %s", what, text);
    else if (text)
        cli_complain("%s", text);
    else if (what)
        cli_complain("%s: %s", what, lbx_status_text(status));
    else
        cli_complain("%s", lbx_status_text(status));
    return cli_exit_of(status);
}

int
cli_exit_of(lbx_status status)
{
    switch (status) {
    case LBX_OK:
        return CLI_OK;
    case LBX_EMPTY:
        return CLI_NOTHING;
    case LBX_NOT_FOUND:
        return CLI_NOT_FOUND;
    case LBX_CORRUPT:
        return CLI_DAMAGED;
    case LBX_EXPIRED:
    case LBX_GONE:
    case LBX_FINALIZED:
        return CLI_STALE;
    case LBX_BUSY:
    case LBX_FULL:
    case LBX_NO_SPACE:
    case LBX_NO_MEMORY:
    case LBX_TIMEOUT:
    case LBX_UNREACHABLE:
        return CLI_TEMPORARY;
    case LBX_CANCELLED:
        return CLI_INTERRUPTED;
    default:
        return CLI_FAILED;
    }
}

/* ---- Misspelt names ---- */

enum {
    NAME_MOST = 40, /* longer ones are not compared */
    FAR = NAME_MOST
};

static size_t
least_of(size_t one, size_t other, size_t third)
{
    size_t least = one < other ? one : other;

    return least < third ? least : third;
}

/* How many characters must be changed, added, left out or exchanged with their
 * neighbour to get from one text to the other. */
static size_t
name_distance(const char *one, const char *other)
{
    const size_t rows = strlen(one);
    const size_t columns = strlen(other);
    size_t table[3][NAME_MOST + 1]; // this row and the two before

    if (rows > NAME_MOST || columns > NAME_MOST)
        return FAR;
    for (size_t j = 0; j <= columns; j++)
        table[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *row = table[i % 3];
        const size_t *above = table[(i + 2) % 3];
        const size_t *two_above = table[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            const size_t change = one[i - 1] != other[j - 1];

            row[j] =
                least_of(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] &&
                one[i - 2] == other[j - 1] && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return table[rows % 3][columns];
}

const char *
cli_nearest(const char *text,
            const char *(*name_at)(const void *list, size_t index),
            const void *list)
{
    const char *nearest = NULL;
    size_t least = strlen(text) <= 3 ? 2 : 3; // it must be nearer than that

    for (size_t i = 0; name_at(list, i); i++) {
        const char *name = name_at(list, i);
        size_t distance = name_distance(text, name);

        // The beginning of a name, or a name with more behind it.
        if (strlen(text) >= 3 && (strncmp(name, text, strlen(text)) == 0 ||
                                  strncmp(name, text, strlen(name)) == 0))
            distance = 1;
        if (distance < least) {
            least = distance;
            nearest = name;
        }
    }
    return nearest;
}
