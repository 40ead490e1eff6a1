/* SPDX-License-Identifier: Apache-2.0 */
/* letterbox ls: the boxes of a store. */
#include "commands.h"
#include "output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct ls_values {
    struct cli_common common;
    const char *prefix;
};

#define OFFSET(member) offsetof(struct ls_values, member)

static const struct cli_option ls_options[] = {
    {.name = "prefix",
     .letter = 'p',
     .kind = CLI_TEXT,
     .offset = OFFSET(prefix),
     .argument = "TEXT",
     .help = "only boxes whose name begins with this"},
    CLI_JSON_OPTION(struct ls_values),
    CLI_STORE_OPTIONS(struct ls_values),
    {.name = NULL},
};

/* Names are collected first: what lists them must not use the store. */
struct ls_names {
    char *text; /* each with its NUL */
    size_t size_bytes;
    FILE *stream;
    int width; /* of the longest */
};

static bool
ls_collect(void *context, const char *name)
{
    struct ls_names *names = context;
    const size_t size = strlen(name);

    names->width = (int)size > names->width ? (int)size : names->width;
    return fwrite(name, 1, size + 1, names->stream) == size + 1;
}

static void
ls_print_json(struct cli_out *out, const char *name,
              const lbx_box_counts *counts)
{
    struct cli_json json;

    if (!cli_json_begin(&json, out))
        return;
    lbx_json_writer_text(&json.writer, "name", name);
    cli_json_count(&json, "ready", counts->ready);
    cli_json_count(&json, "leased", counts->leased);
    cli_json_count(&json, "delayed", counts->delayed);
    cli_json_count(&json, "bytes", counts->bytes);
    cli_json_ms(&json, "oldest_ms", counts->oldest_ns);
    cli_json_end(&json);
}

static void
ls_print(struct cli_out *out, const char *name, int width,
         const lbx_box_counts *counts)
{
    char bytes[CLI_NUMBER_BYTES];
    char age[CLI_NUMBER_BYTES];

    if (out->style == CLI_JSON)
        ls_print_json(out, name, counts);
    else if (out->style == CLI_PLAIN)
        fprintf(out->stream, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
                name, counts->ready, counts->leased, counts->delayed);
    else
        fprintf(out->stream,
                "%-*s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10s %10s\n",
                width, name, counts->ready, counts->leased, counts->delayed,
                cli_format_bytes(counts->bytes, bytes),
                cli_format_duration(counts->oldest_ns, age));
}

static void
ls_print_header(struct cli_out *out, int width)
{
    if (out->style == CLI_HUMAN)
        fprintf(out->stream, "%s%-*s %10s %10s %10s %10s %10s%s\n",
                cli_out_bold(out), width, "BOX", "READY", "LEASED", "DELAYED",
                "SIZE", "OLDEST", cli_out_normal(out));
}

static int
ls_print_all(struct cli_out *out, lbx_store *store,
             const struct ls_names *names)
{
    ls_print_header(out, names->width);
    for (size_t at = 0; at < names->size_bytes;) {
        const char *name = names->text + at;
        lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
        const lbx_status status =
            lbx_store_describe_box(store, name, NULL, NULL, &counts);

        if (status == LBX_OK)
            ls_print(out, name, names->width, &counts);
        else if (status != LBX_NOT_FOUND) // deleted in between
            return cli_complain_status(status, NULL, name);
        if (!cli_out_flush_some(out))
            break;
        at += strlen(name) + 1;
    }
    return CLI_OK;
}

static int
ls_opened(lbx_store *store, const struct ls_values *values, const char *url)
{
    struct ls_names names = {.width = 3};
    struct cli_out out;
    lbx_status status;
    int code = cli_out_open(&out, values->common.json);

    if (code != CLI_OK)
        return code;
    names.stream = open_memstream(&names.text, &names.size_bytes);
    status = names.stream ? lbx_store_list_boxes(store, values->prefix, NULL,
                                                 ls_collect, &names)
                          : LBX_NO_MEMORY;
    if (names.stream && fclose(names.stream) != 0)
        status = LBX_NO_MEMORY;
    code = status == LBX_OK ? ls_print_all(&out, store, &names)
                            : cli_complain_status(status, NULL, url);
    free(names.text);
    return cli_out_close(&out, code);
}

static int
ls_run(struct cli_call *call)
{
    struct ls_values values = {.common = CLI_COMMON_INIT};
    struct cli_target target;
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    code = cli_target_open_whole(&target, call->arguments[0], &values.common);
    if (code != CLI_OK)
        return code;
    code = ls_opened(target.store, &values, call->arguments[0]);
    cli_target_close(&target);
    return code;
}

const struct cli_command cli_ls_command = {
    .name = "ls",
    .arguments = "STORE",
    .summary = "list the boxes of a store, with their counts",
    .details = "Lists the boxes of STORE, as file:DIR, with how many messages "
               "are ready, leased and delayed, their size and the age of the "
               "oldest. In a pipe: name, ready, leased and delayed with tabs "
               "between them.",
    .options = ls_options,
    .examples =
        (const char *const[]){
            "the boxes of a store", "letterbox ls file:shop",
            "the names of those that have something",
            "letterbox ls file:shop --json | jq -r 'select(.ready > 0).name'",
            NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = ls_run,
};
