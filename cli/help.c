/* SPDX-License-Identifier: Apache-2.0 */
/* Help, from the tables of the commands. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

enum {
    COLUMNS = 78,
    HELP_COLUMN = 28 /* where the help of an option begins */
};

static const struct {
    int code;
    const char *text;
} help_exits[] = {
    {CLI_OK, "done"},
    {CLI_FAILED, "failed; standard error says why"},
    {CLI_USAGE, "the command line is wrong"},
    {CLI_NOTHING, "nothing there: no message to receive or to show"},
    {CLI_NOT_FOUND, "no such store, box or file"},
    {CLI_DAMAGED, "damage was found in the store"},
    {CLI_STALE, "a receipt is no longer current"},
    {CLI_TEMPORARY, "not now, try again: busy, full, unreachable"},
    {CLI_INTERRUPTED, "ended by a signal before it was done"},
};

const struct cli_command *
cli_command_find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    }
    return NULL;
}

/* Prints a paragraph in lines of at most COLUMNS, the first continuing at
 * `column`, the others indented by `indent`. */
static void
help_wrap(const char *text, int column, int indent)
{
    while (*text) {
        const int size = (int)strcspn(text, " ");

        if (column > indent && column + 1 + size > COLUMNS) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", size, text);
        column += size;
        text += size;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void
help_option(const struct cli_option *option)
{
    char left[64];
    int used;

    used = snprintf(
        left, sizeof(left), "  %c%c%c --%s%s%s", option->letter ? '-' : ' ',
        option->letter ? option->letter : ' ', option->letter ? ',' : ' ',
        option->name, option->argument ? " " : "",
        option->argument ? option->argument : "");
    printf("%s", left);
    if (used >= HELP_COLUMN - 1) {
        putchar('\n');
        used = 0;
    }
    printf("%*s", HELP_COLUMN - used, "");
    help_wrap(option->help, HELP_COLUMN, HELP_COLUMN);
}

static void
help_exit_codes(void)
{
    puts("Exit codes:");
    for (size_t i = 0; i < sizeof(help_exits) / sizeof(help_exits[0]); i++)
        printf("  %3d  %s\n", help_exits[i].code, help_exits[i].text);
}

/* Paragraphs, with a newline between them. */
static void
help_details(const char *details)
{
    while (*details) {
        char paragraph[1024];
        const size_t size = strcspn(details, "\n");

        snprintf(paragraph, sizeof(paragraph), "%.*s", (int)size, details);
        help_wrap(paragraph, 0, 0);
        putchar('\n');
        details += size;
        details += strspn(details, "\n");
    }
}

int
cli_help_command(const struct cli_command *command)
{
    printf("Usage: letterbox %s [OPTION...] %s\n\n", command->name,
           command->arguments);
    help_details(command->details);
    puts("Options:");
    for (size_t i = 0; command->options[i].name; i++)
        help_option(&command->options[i]);
    help_option(&(struct cli_option){
        .name = "help", .letter = 'h', .help = "print this"});
    puts("\nExamples:");
    for (size_t i = 0; command->examples[i]; i += 2)
        printf("  # %s\n  %s\n", command->examples[i],
               command->examples[i + 1]);
    putchar('\n');
    help_exit_codes();
    return CLI_OK;
}

int
cli_help_all(void)
{
    puts("Usage: letterbox COMMAND [OPTION...] [ARGUMENT...]\n\n"
         "Queues of messages on this machine: they are leased when they are\n"
         "received, deleted when they are acknowledged, and come back "
         "otherwise.\n\n"
         "Commands:");
    for (size_t i = 0; cli_commands[i]; i++)
        printf("  %-9s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    puts("\n"
         "A URL names a box, file:DIR/BOX, or a store, file:DIR. A relative "
         "DIR\nis below the current folder. In names %20 is a space, %25 is "
         "%.\n\n"
         "Durations have units: 500ms, 30s, 5m, 12h, 4d, 1h30m. Sizes are "
         "bytes,\nor 64KiB, 1MiB, 2GiB.\n\n"
         "On a terminal the output is for people; in a pipe it is plain; with\n"
         "--json it is one object on a line. NO_COLOR turns colours off.\n\n"
         "letterbox help COMMAND, or letterbox COMMAND --help, says more.\n");
    help_exit_codes();
    return CLI_OK;
}
