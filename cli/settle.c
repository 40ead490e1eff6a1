/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letterbox ack, nack, extend: what becomes of messages, by their receipts.
 */
#include "commands.h"
#include "output.h"
#include "reader.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct settle_values {
    struct cli_common common;
    int64_t time_ns;
    bool quiet;
};

#define OFFSET(member) offsetof(struct settle_values, member)

#define QUIET_OPTION                                                           \
    {                                                                          \
        .name = "quiet", .letter = 'q', .kind = CLI_FLAG,                      \
        .offset = OFFSET(quiet), .help = "print nothing when all went well"    \
    }

static const struct cli_option ack_options[] = {
    QUIET_OPTION,
    CLI_JSON_OPTION(struct settle_values),
    CLI_STORE_OPTIONS(struct settle_values),
    {.name = NULL},
};

static const struct cli_option nack_options[] = {
    {.name = "delay",
     .letter = 'd',
     .kind = CLI_DURATION,
     .offset = OFFSET(time_ns),
     .argument = "DURATION",
     .help = "not to be received before this time has passed (0)"},
    QUIET_OPTION,
    CLI_JSON_OPTION(struct settle_values),
    CLI_STORE_OPTIONS(struct settle_values),
    {.name = NULL},
};

static const struct cli_option extend_options[] = {
    {.name = "lease",
     .letter = 'l',
     .kind = CLI_DURATION,
     .offset = OFFSET(time_ns),
     .argument = "DURATION",
     .help = "how long from now the lease lasts (the box's, mostly 30s)"},
    QUIET_OPTION,
    CLI_JSON_OPTION(struct settle_values),
    CLI_STORE_OPTIONS(struct settle_values),
    {.name = NULL},
};

struct settling {
    const struct settle_values *values;
    lbx_settle_action action;
    struct cli_target target;
    struct cli_out out;
    int64_t time_ns;
    uint64_t settled;
    int code; /* of the first that failed */
};

static const char *
settle_word(lbx_settle_action action)
{
    switch (action) {
    case LBX_SETTLE_ACKNOWLEDGE:
        return "acknowledged";
    case LBX_SETTLE_NACK:
        return "returned";
    case LBX_SETTLE_EXTEND:
        break;
    }
    return "extended";
}

static void
settle_print_json(struct settling *settling, const lbx_settle_item *item)
{
    struct cli_json json;

    if (!cli_json_begin(&json, &settling->out))
        return;
    lbx_json_writer_text(&json.writer, "receipt", item->receipt);
    lbx_json_writer_text(&json.writer, "result",
                         item->status == LBX_OK
                             ? settle_word(item->action)
                             : lbx_status_name(item->status));
    cli_json_end(&json);
}

/* Says what became of one; a receipt of hundreds of characters is cut. */
static void
settle_report(struct settling *settling, const lbx_settle_item *item)
{
    char shown[32];

    if (settling->out.style == CLI_JSON)
        settle_print_json(settling, item);
    if (item->status == LBX_OK) {
        settling->settled++;
        return;
    }
    snprintf(shown, sizeof(shown), "%.20s%s", item->receipt,
             strlen(item->receipt) > 20 ? "..." : "");
    if (item->status == LBX_INVALID)
        cli_complain("receipt %s: not a receipt of %s, or the %s is more than "
                     "its box allows",
                     shown, settling->target.url,
                     settling->action == LBX_SETTLE_NACK ? "delay" : "lease");
    else
        cli_complain("receipt %s: %s", shown, lbx_status_text(item->status));
    if (settling->code == CLI_OK)
        settling->code = cli_exit_of(item->status);
}

static void
settle_group(struct settling *settling, const char *const *receipts,
             size_t count)
{
    lbx_settle_item items[LBX_MAX_BATCH];

    for (size_t i = 0; i < count; i++)
        items[i] = (lbx_settle_item){
            .action = settling->action,
            .time_ns = settling->time_ns,
            .receipt = receipts[i],
        };
    (void)!lbx_postbox_settle_batch(settling->target.postbox, items, count);
    for (size_t i = 0; i < count; i++)
        settle_report(settling, &items[i]);
}

static void
settle_arguments(struct settling *settling, char **receipts, size_t count)
{
    while (count > 0) {
        const char *group[LBX_MAX_BATCH];
        size_t size = 0;

        for (; size < count && size < LBX_MAX_BATCH; size++)
            group[size] = receipts[size];
        settle_group(settling, group, size);
        receipts += size;
        count -= size;
    }
}

/* Receipts from standard input, one per line. Longer ones than there can be
 * are cut, and refused. */
static void
settle_standard_input(struct settling *settling)
{
    struct cli_reader reader = {.fd = STDIN_FILENO, .delimiter = '\n'};
    struct cli_record records[LBX_MAX_BATCH];
    size_t count;

    while ((count = cli_reader_next(&reader, records, LBX_MAX_BATCH)) > 0) {
        char texts[LBX_MAX_BATCH][LBX_RECEIPT_BYTES + 1];
        const char *group[LBX_MAX_BATCH];
        size_t size = 0;

        for (size_t i = 0; i < count; i++) {
            if (records[i].size_bytes == 0)
                continue;
            snprintf(texts[size], sizeof(texts[size]), "%.*s",
                     (int)(records[i].size_bytes < sizeof(texts[size])
                               ? records[i].size_bytes
                               : sizeof(texts[size])),
                     records[i].bytes);
            group[size] = texts[size];
            size++;
        }
        if (size > 0)
            settle_group(settling, group, size);
    }
    if (reader.error) {
        cli_complain("cannot read standard input: %s", strerror(reader.error));
        settling->code = CLI_FAILED;
    }
    cli_reader_fini(&reader);
}

static int
settle_opened(struct settling *settling, const struct cli_call *call)
{
    const int code =
        cli_out_open(&settling->out, settling->values->common.json);

    if (code != CLI_OK)
        return code;
    if (call->argument_count > 1)
        settle_arguments(settling, call->arguments + 1,
                         call->argument_count - 1);
    else
        settle_standard_input(settling);
    if (settling->out.style == CLI_HUMAN && !settling->values->quiet)
        fprintf(settling->out.stream, "%" PRIu64 " %s\n", settling->settled,
                settle_word(settling->action));
    return cli_out_close(&settling->out, settling->code);
}

static int
settle_run(struct cli_call *call, lbx_settle_action action)
{
    struct settle_values values = {
        .common = CLI_COMMON_INIT,
        .time_ns = LBX_DEFAULT,
    };
    struct settling settling = {.values = &values, .action = action};
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    code = cli_target_open(&settling.target, call->arguments[0], &values.common,
                           false);
    if (code != CLI_OK)
        return code;
    settling.time_ns = values.time_ns;
    if (values.time_ns == LBX_DEFAULT)
        settling.time_ns =
            action == LBX_SETTLE_EXTEND
                ? lbx_postbox_box_options(settling.target.postbox)->lease_ns
                : 0;
    code = settle_opened(&settling, call);
    cli_target_close(&settling.target);
    return code;
}

static int
ack_run(struct cli_call *call)
{
    return settle_run(call, LBX_SETTLE_ACKNOWLEDGE);
}

static int
nack_run(struct cli_call *call)
{
    return settle_run(call, LBX_SETTLE_NACK);
}

static int
extend_run(struct cli_call *call)
{
    return settle_run(call, LBX_SETTLE_EXTEND);
}

#define FROM_STDIN                                                             \
    "Without a RECEIPT, they are read from standard input, one per line. "     \
    "Receipts are settled one by one: one that is no longer current does not " \
    "keep the others from it."

const struct cli_command cli_ack_command = {
    .name = "ack",
    .arguments = "URL [RECEIPT...]",
    .summary = "acknowledge received messages: they are deleted",
    .details = "Deletes messages that were received, by the receipts that "
               "letterbox receive has printed.\n" FROM_STDIN,
    .options = ack_options,
    .examples =
        (const char *const[]){
            "one message", "letterbox ack file:shop/orders \"$receipt\"",
            "what was received as JSON",
            "jq -r .receipt received.json | letterbox ack file:shop/orders",
            NULL},
    .least_arguments = 1,
    .most_arguments = SIZE_MAX,
    .run = ack_run,
};

const struct cli_command cli_nack_command = {
    .name = "nack",
    .arguments = "URL [RECEIPT...]",
    .summary = "give received messages back, to be received again",
    .details = "Ends the lease of messages that were received: they are "
               "received again, at once or after --delay.\n" FROM_STDIN,
    .options = nack_options,
    .examples =
        (const char *const[]){
            "at once", "letterbox nack file:shop/orders \"$receipt\"",
            "not before five minutes have passed",
            "letterbox nack file:shop/orders \"$receipt\" --delay 5m", NULL},
    .least_arguments = 1,
    .most_arguments = SIZE_MAX,
    .run = nack_run,
};

const struct cli_command cli_extend_command = {
    .name = "extend",
    .arguments = "URL [RECEIPT...]",
    .summary = "lease received messages for longer",
    .details = "Makes the lease of messages that were received end --lease "
               "from now, also when that is sooner.\n" FROM_STDIN,
    .options = extend_options,
    .examples =
        (const char *const[]){
            "as long again as the box gives",
            "letterbox extend file:shop/orders \"$receipt\"", "for ten minutes",
            "letterbox extend file:shop/orders \"$receipt\" --lease 10m", NULL},
    .least_arguments = 1,
    .most_arguments = SIZE_MAX,
    .run = extend_run,
};
