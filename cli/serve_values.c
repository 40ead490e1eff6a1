/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of letterbox serve, from three origins: the settings file counts
 * least, then the environment, then the command line.
 */
#include "serve.h"

#include <stdlib.h>
#include <string.h>

static const struct serve_values serve_defaults = {
    .common = CLI_COMMON_INIT,
    .store = "file:letterbox-data",
    .region = "us-east-1",
    .account = "000000000000",
    .max_connections = 10000,
    .max_connections_per_address = 1000,
    .max_memory = (int64_t)256 << 20,
    .max_polls = 5000,
    .max_log_lines = 1000,
    .request_timeout_ns = 10 * LBX_SECOND,
    .write_timeout_ns = 30 * LBX_SECOND,
    .idle_timeout_ns = 60 * LBX_SECOND,
    .max_in_flight = 120000,
};

static const struct cli_option *
option_named(const char *name)
{
    const struct cli_option *option = serve_options;

    while (strcmp(option->name, name) != 0)
        option++;
    return option;
}

static int
read_environment(struct serve_values *values)
{
    static const struct {
        const char *variable, *option;
    } rows[] = {
        {"LETTERBOX_STORE", "store"},   {"LETTERBOX_LISTEN", "listen"},
        {"LETTERBOX_REGION", "region"}, {"LETTERBOX_ACCOUNT", "account"},
        {"LETTERBOX_URL", "url"},       {"LETTERBOX_KEYS", "keys"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cli_option *option = option_named(rows[i].option);
        const char *text = getenv(rows[i].variable);
        const char *allowed;

        if (!text || !text[0])
            continue;
        allowed = option->allowed ? option->allowed(text) : NULL;
        if (allowed) {
            cli_complain("%s=%s: allowed is %s", rows[i].variable, text,
                         allowed);
            return CLI_USAGE;
        }
        *(const char **)(void *)((char *)values + option->offset) = text;
    }
    return CLI_RUN;
}

/* Which settings file: the line is read for that first, and once more over
 * what the file says. */
static int
find_config(struct cli_call *call, const char **ret)
{
    struct serve_values line = serve_defaults;
    const char *variable = getenv("LETTERBOX_CONFIG");
    const int code = cli_parse(call, &line);

    if (line.config)
        *ret = line.config;
    else if (variable && variable[0])
        *ret = variable;
    return code;
}

int
serve_values_read(struct cli_call *call, struct serve_values *values,
                  lbx_settings **ret)
{
    const char *config = NULL;
    int code = find_config(call, &config);

    *ret = NULL;
    if (code != CLI_RUN)
        return code;
    *values = serve_defaults;
    values->listen = serve_passed_socket();
    if (config)
        code = serve_config_read(config, values, ret);
    if (code == CLI_RUN)
        code = read_environment(values);
    if (code == CLI_RUN)
        code = cli_parse(call, values);
    values->config = config;
    if (code != CLI_RUN) {
        lbx_settings_unref(*ret);
        *ret = NULL;
    }
    return code;
}

static bool
option_differs(const struct cli_option *option, const struct serve_values *one,
               const struct serve_values *other)
{
    const void *a = (const char *)one + option->offset;
    const void *b = (const char *)other + option->offset;
    const char *text, *other_text;

    switch (option->kind) {
    case CLI_FLAG:
    case CLI_NO_FLAG:
        return *(const bool *)a != *(const bool *)b;
    case CLI_CHOICE:
        return *(const int *)a != *(const int *)b;
    case CLI_NUMBER:
    case CLI_DURATION:
    case CLI_SIZE:
        return *(const int64_t *)a != *(const int64_t *)b;
    case CLI_TEXT:
        text = *(const char *const *)a;
        other_text = *(const char *const *)b;
        return strcmp(text ? text : "", other_text ? other_text : "") != 0;
    case CLI_LIST:
        break;
    }
    return false;
}

const struct cli_option *
serve_values_next_fixed(const struct serve_values *running,
                        const struct serve_values *next,
                        const struct cli_option *after)
{
    static const char *const changeable[] = {"config", "keys", "log-requests",
                                             "quiet", NULL};
    const struct cli_option *option = after ? after + 1 : serve_options;

    for (; option->name; option++) {
        size_t i = 0;

        while (changeable[i] && strcmp(changeable[i], option->name) != 0)
            i++;
        if (!changeable[i] && option_differs(option, running, next))
            return option;
    }
    return NULL;
}
