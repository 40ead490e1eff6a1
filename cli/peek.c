/* SPDX-License-Identifier: Apache-2.0 */
/* letterbox peek: messages without leasing them. */
#include "commands.h"
#include "output.h"

struct peek_values {
    struct cli_common common;
    int64_t max;
    int64_t from;
    bool null;
};

#define OFFSET(member) offsetof(struct peek_values, member)

static const struct cli_option peek_options[] = {
    CLI_MAX_OPTION(struct peek_values, "at most so many messages (10)"),
    {.name = "from",
     .kind = CLI_NUMBER,
     .offset = OFFSET(from),
     .argument = "SEQUENCE",
     .least = 0,
     .most = INT64_MAX,
     .help = "begin with the message of this number in the box (0)"},
    CLI_NULL_OPTION(struct peek_values),
    CLI_JSON_OPTION(struct peek_values),
    CLI_STORE_OPTIONS(struct peek_values),
    {.name = NULL},
};

struct peeking {
    struct cli_target target;
    struct cli_out out;
    struct cli_letter_style style;
    uint64_t next; /* sequence */
    uint64_t left;
    uint64_t printed;
};

/* Prints one group; false when there is no more, or that failed. */
static bool
peek_group(struct peeking *peeking, lbx_status *ret)
{
    const size_t most =
        peeking->left < LBX_MAX_BATCH ? (size_t)peeking->left : LBX_MAX_BATCH;
    lbx_letter *letters[LBX_MAX_BATCH];
    lbx_letter_info info = LBX_LETTER_INFO_INIT;
    size_t count = 0;
    bool fine;

    *ret = lbx_postbox_peek(peeking->target.postbox, peeking->next, most,
                            letters, &count);
    fine = *ret == LBX_OK;
    for (size_t i = 0; i < count; i++) {
        if (fine && lbx_letter_info_read(letters[i], &info) == LBX_OK)
            peeking->next = info.sequence + 1;
        fine = fine &&
               cli_letter_print(&peeking->out, letters[i], &peeking->style) &&
               cli_out_flush_some(&peeking->out);
        peeking->printed += fine;
        lbx_letter_destroy(letters[i]);
    }
    peeking->left -= count;
    return fine && count > 0 && peeking->left > 0;
}

static int
peek_opened(struct peeking *peeking, const struct peek_values *values)
{
    lbx_status status;
    int code = cli_out_open(&peeking->out, values->common.json);

    if (code != CLI_OK)
        return code;
    while (peek_group(peeking, &status))
        continue;
    if (status != LBX_OK && status != LBX_EMPTY)
        code = cli_complain_status(status, NULL, peeking->target.url);
    else if (peeking->printed == 0)
        code = CLI_NOTHING;
    return cli_out_close(&peeking->out, code);
}

static int
peek_run(struct cli_call *call)
{
    struct peek_values values = {.common = CLI_COMMON_INIT, .max = 10};
    struct peeking peeking;
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    peeking = (struct peeking){
        .style = {.peeked = true, .delimiter = values.null ? '\0' : '\n'},
        .next = (uint64_t)values.from,
        .left = (uint64_t)values.max,
    };
    code = cli_target_open(&peeking.target, call->arguments[0], &values.common,
                           false);
    if (code != CLI_OK)
        return code;
    code = peek_opened(&peeking, &values);
    cli_target_close(&peeking.target);
    return code;
}

const struct cli_command cli_peek_command = {
    .name = "peek",
    .arguments = "URL",
    .summary = "show messages without receiving them",
    .details = "Shows messages in the order they were sent, whether they are "
               "ready, delayed or leased, and changes nothing: they are not "
               "leased, and their deliveries are not counted. It prints as "
               "letterbox receive does, without receipts.",
    .options = peek_options,
    .examples =
        (const char *const[]){
            "the first ten", "letterbox peek file:shop/orders",
            "the bodies of the first hundred",
            "letterbox peek file:shop/orders --max 100 --json | jq -r .body",
            NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = peek_run,
};
