/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the options of a command by its table. */
#include "cli.h"
#include "output.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum {
    OPTIONS_MOST = 40,
    HELP = 1000, /* what getopt returns for --help; row i is FIRST + i */
    FIRST
};

/* ---- One value ---- */

/* Complains about a value, naming what is allowed. */
static int
parse_refuse(const struct cli_call *call, const struct cli_option *option,
             const char *text, const char *allowed)
{
    const char *word = option->unlimited;

    return cli_complain_usage(call, "--%s %s: allowed is %s%s%s", option->name,
                              *text ? text : "''", allowed, word ? ", or " : "",
                              word ? word : "");
}

/* A limit as it could be typed. */
static void
parse_write_limit(const struct cli_option *option, int64_t limit,
                  char buffer[CLI_NUMBER_BYTES])
{
    if (option->kind == CLI_DURATION)
        (void)cli_format_duration(limit, buffer);
    else
        snprintf(buffer, CLI_NUMBER_BYTES, "%lld", (long long)limit);
}

/* Complains about a number, a duration or a size; `form` is how it is
 * typed. */
static int
parse_refuse_amount(const struct cli_call *call,
                    const struct cli_option *option, const char *text,
                    const char *form)
{
    char allowed[160], least[CLI_NUMBER_BYTES], most[CLI_NUMBER_BYTES];
    const char *comma = strchr(form, ',');
    const int what = (int)(comma ? (size_t)(comma - form) : strlen(form));

    parse_write_limit(option, option->least, least);
    parse_write_limit(option, option->most, most);
    if (option->most == 0)
        snprintf(allowed, sizeof(allowed), "%s", form);
    else if (option->most == INT64_MAX || option->most == UINT32_MAX)
        snprintf(allowed, sizeof(allowed), "%.*s, %s or more%s", what, form,
                 least, form + what);
    else
        snprintf(allowed, sizeof(allowed), "%.*s, %s to %s%s", what, form,
                 least, most, form + what);
    return parse_refuse(call, option, text, allowed);
}

static int
parse_amount(const struct cli_call *call, const struct cli_option *option,
             const char *text, int64_t *ret)
{
    const char *form = "a number";
    int64_t amount;
    bool is_good;

    if (option->kind == CLI_DURATION) {
        is_good = cli_read_duration(text, &amount);
        form = "a duration with its unit, as 500ms, 30s, 5m, 12h, 4d or 1h30m";
    } else if (option->kind == CLI_SIZE) {
        is_good = cli_read_size(text, &amount);
        form = "a number of bytes, as 4096, 64KiB or 1MiB";
    } else {
        is_good = cli_read_number(text, &amount);
    }
    if (is_good && option->most > 0)
        is_good = amount >= option->least && amount <= option->most;
    if (!is_good)
        return parse_refuse_amount(call, option, text, form);
    *ret = amount;
    return CLI_RUN;
}

static int
parse_choice(const struct cli_call *call, const struct cli_option *option,
             const char *text, int *ret)
{
    char allowed[128] = "";
    size_t used = 0;

    for (int i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *ret = i;
            return CLI_RUN;
        }
        used += (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s%s",
                                 i == 0 ? "" : ", ", option->choices[i]);
    }
    return parse_refuse(call, option, text, allowed);
}

static int
parse_list(const struct cli_call *call, const struct cli_option *option,
           const char *text, struct cli_list *list)
{
    if (list->count == CLI_LIST_MOST)
        return cli_complain_usage(call, "--%s: at most %d are allowed",
                                  option->name, CLI_LIST_MOST);
    list->texts[list->count++] = text;
    return CLI_RUN;
}

static int
parse_value(const struct cli_call *call, const struct cli_option *option,
            const char *text, void *values)
{
    void *value = (char *)values + option->offset;

    if (option->unlimited &&
        (strcmp(text, "unlimited") == 0 || strcmp(text, "forever") == 0)) {
        *(int64_t *)value = LBX_UNLIMITED;
        return CLI_RUN;
    }
    switch (option->kind) {
    case CLI_FLAG:
    case CLI_NO_FLAG:
        *(bool *)value = option->kind == CLI_FLAG;
        return CLI_RUN;
    case CLI_TEXT:
        if (option->allowed && option->allowed(text))
            return parse_refuse(call, option, text, option->allowed(text));
        *(const char **)value = text;
        return CLI_RUN;
    case CLI_LIST:
        return parse_list(call, option, text, value);
    case CLI_NUMBER:
    case CLI_DURATION:
    case CLI_SIZE:
        return parse_amount(call, option, text, value);
    case CLI_CHOICE:
        return parse_choice(call, option, text, value);
    }
    return CLI_FAILED;
}

/* ---- The line ---- */

struct parse_forms {
    struct option longs[OPTIONS_MOST + 2];
    char letters[3 * OPTIONS_MOST + 4];
};

/* The table as getopt_long() takes it. */
static void
parse_make_forms(const struct cli_option *options, struct parse_forms *forms)
{
    size_t used = 0;
    size_t i;

    // ':' makes getopt tell a missing argument from an unknown option.
    forms->letters[used++] = ':';
    forms->letters[used++] = 'h';
    for (i = 0; i < OPTIONS_MOST && options[i].name; i++) {
        const bool takes = options[i].argument != NULL;

        forms->longs[i] = (struct option){
            .name = options[i].name,
            .has_arg = takes ? required_argument : no_argument,
            .val = FIRST + (int)i,
        };
        if (options[i].letter) {
            forms->letters[used++] = options[i].letter;
            if (takes)
                forms->letters[used++] = ':';
        }
    }
    forms->longs[i] = (struct option){.name = "help", .val = HELP};
    forms->longs[i + 1] = (struct option){.name = NULL};
    forms->letters[used] = '\0';
}

static const char *
parse_name_at(const void *list, size_t index)
{
    const struct cli_option *options = list;

    return options[index].name;
}

static int
parse_unknown(const struct cli_call *call, const char *word)
{
    char name[64];
    const char *near;

    if (strncmp(word, "--", 2) != 0)
        return cli_complain_usage(
            call,
            "%s has no option -%c; after -- everything is an argument, also "
            "what begins with -",
            call->command->name, optopt);
    if (optopt != 0) // known, but with an =VALUE that it does not take
        return cli_complain_usage(call, "%.*s takes no value",
                                  (int)strcspn(word, "="), word);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
    near = cli_nearest(name, parse_name_at, call->command->options);
    if (near)
        return cli_complain_usage(call, "%s has no option --%s; is it --%s?",
                                  call->command->name, name, near);
    return cli_complain_usage(call, "%s has no option --%s",
                              call->command->name, name);
}

/* The option that getopt has found. */
static const struct cli_option *
parse_found(const struct cli_call *call, int found)
{
    const struct cli_option *option = call->command->options;

    if (found >= FIRST)
        return &option[found - FIRST];
    while (option->name && option->letter != found)
        option++;
    return option->name ? option : NULL;
}

static int
parse_count_arguments(const struct cli_call *call)
{
    const struct cli_command *command = call->command;

    if (call->argument_count < command->least_arguments)
        return cli_complain_usage(call, "%s needs %s", command->name,
                                  command->arguments);
    if (call->argument_count > command->most_arguments)
        return cli_complain_usage(
            call, "%s: '%s' is one argument too many; it takes %s",
            command->name, call->arguments[command->most_arguments],
            *command->arguments ? command->arguments : "none");
    return CLI_RUN;
}

int
cli_parse(struct cli_call *call, void *values)
{
    struct parse_forms forms;
    int code = CLI_RUN;

    parse_make_forms(call->command->options, &forms);
    opterr = 0;
    optind = 0; // getopt begins anew
    while (code == CLI_RUN) {
        const struct cli_option *option;
        int found;

        optopt = 0;
        found = getopt_long(call->argc, call->argv, forms.letters, forms.longs,
                            NULL);
        if (found == -1)
            break;
        if (found == HELP || found == 'h')
            return cli_help_command(call->command);
        if (found == ':')
            return cli_complain_usage(call, "%s needs a value",
                                      call->argv[optind - 1]);
        option = found == '?' ? NULL : parse_found(call, found);
        code = option ? parse_value(call, option, optarg ? optarg : "", values)
                      : parse_unknown(call, call->argv[optind - 1]);
    }
    if (code != CLI_RUN)
        return code;
    call->arguments = call->argv + optind;
    call->argument_count = (size_t)(call->argc - optind);
    return parse_count_arguments(call);
}
