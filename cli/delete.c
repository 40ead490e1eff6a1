/* SPDX-License-Identifier: Apache-2.0 */
/* letterbox delete, purge: a box with its messages, or the messages alone. */
#include "commands.h"
#include "output.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct delete_values {
    struct cli_common common;
    bool yes;
};

#define OFFSET(member) offsetof(struct delete_values, member)

static const struct cli_option delete_options[] = {
    {.name = "yes",
     .letter = 'y',
     .kind = CLI_FLAG,
     .offset = OFFSET(yes),
     .help = "do not ask"},
    CLI_JSON_OPTION(struct delete_values),
    CLI_STORE_OPTIONS(struct delete_values),
    {.name = NULL},
};

/* Asks on a terminal. Scripts are not asked: they mean it. */
static bool
delete_confirmed(const struct delete_values *values,
                 const struct cli_target *target, const char *what)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    char answer[16];

    if (values->yes || isatty(STDIN_FILENO) != 1)
        return true;
    if (lbx_postbox_count(target->postbox, &counts) != LBX_OK)
        return true; // the next call says why
    fprintf(stderr, "%s %s, with %" PRIu64 " messages? [y/N] ", what,
            target->url, counts.ready + counts.leased + counts.delayed);
    fflush(stderr);
    return fgets(answer, sizeof(answer), stdin) &&
           (strcmp(answer, "y\n") == 0 || strcmp(answer, "yes\n") == 0);
}

static int
delete_print(const struct delete_values *values, const char *url,
             const char *what, uint64_t count)
{
    struct cli_out out;
    struct cli_json json;
    const int code = cli_out_open(&out, values->common.json);

    if (code != CLI_OK)
        return code;
    if (out.style == CLI_HUMAN)
        fprintf(out.stream, "%s %s, with %" PRIu64 " messages\n", url, what,
                count);
    if (out.style == CLI_JSON && cli_json_begin(&json, &out)) {
        cli_json_bytes(&json, "url", url, strlen(url));
        lbx_json_writer_text(&json.writer, "result", what);
        cli_json_count(&json, "messages", count);
        cli_json_end(&json);
    }
    return cli_out_close(&out, CLI_OK);
}

static lbx_status
delete_do(const struct cli_target *target, bool purge, uint64_t *ret_count)
{
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;
    lbx_status status;

    if (purge)
        return lbx_postbox_purge(target->postbox, ret_count);
    status = lbx_postbox_count(target->postbox, &counts);
    *ret_count = counts.ready + counts.leased + counts.delayed;
    return status == LBX_OK ? lbx_store_delete_box(target->store, target->box)
                            : status;
}

static int
delete_or_purge(struct cli_call *call, bool purge)
{
    struct delete_values values = {.common = CLI_COMMON_INIT};
    struct cli_target target;
    uint64_t count = 0;
    lbx_status status;
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    code = cli_target_open(&target, call->arguments[0], &values.common, false);
    if (code != CLI_OK)
        return code;
    if (!delete_confirmed(&values, &target, call->command->name)) {
        cli_complain("nothing was changed");
        code = CLI_FAILED;
    } else {
        status = delete_do(&target, purge, &count);
        code = status == LBX_OK
                   ? delete_print(&values, target.url,
                                  purge ? "purged" : "deleted", count)
                   : cli_complain_status(status, NULL, target.url);
    }
    cli_target_close(&target);
    return code;
}

static int
delete_run(struct cli_call *call)
{
    return delete_or_purge(call, false);
}

static int
purge_run(struct cli_call *call)
{
    return delete_or_purge(call, true);
}

const struct cli_command cli_delete_command = {
    .name = "delete",
    .arguments = "URL",
    .summary = "delete a box and every message in it",
    .details = "Deletes a box and every message in it: ready, delayed and "
               "leased ones. On a terminal it asks first.",
    .options = delete_options,
    .examples =
        (const char *const[]){"after a question",
                              "letterbox delete file:shop/orders", "without",
                              "letterbox delete file:shop/orders --yes", NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = delete_run,
};

const struct cli_command cli_purge_command = {
    .name = "purge",
    .arguments = "URL",
    .summary = "delete every message of a box",
    .details = "Deletes every message of a box: ready, delayed and leased "
               "ones, whose receipts are good for nothing afterwards. The box "
               "and its options stay. On a terminal it asks first.",
    .options = delete_options,
    .examples =
        (const char *const[]){
            "after a question", "letterbox purge file:shop/orders", "without",
            "letterbox purge file:shop/orders --yes --json", NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = purge_run,
};
