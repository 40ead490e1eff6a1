/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letterbox receive: leases messages and prints them.
 *
 * PRINT-1  A message that was not printed is put back, however the command
 *          ends: by a signal, by a reader that has gone, by a full disk. After
 *          kill -9, when its lease ends.
 */
#include "commands.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

struct receive_values {
    struct cli_common common;
    int64_t max;
    int64_t wait_ns;
    int64_t lease_ns;
    bool follow, ack, null, receipts;
    const char *attempt_id;
};

#define OFFSET(member) offsetof(struct receive_values, member)

static const struct cli_option receive_options[] = {
    CLI_MAX_OPTION(struct receive_values,
                   "at most so many messages (1; with --follow, no limit)"),
    {.name = "wait",
     .letter = 'w',
     .kind = CLI_DURATION,
     .offset = OFFSET(wait_ns),
     .argument = "DURATION",
     .unlimited = "forever",
     .help = "how long to wait for the first message, or forever (the box's, "
             "mostly 0)"},
    {.name = "lease",
     .letter = 'l',
     .kind = CLI_DURATION,
     .offset = OFFSET(lease_ns),
     .argument = "DURATION",
     .help = "no other receiver gets them for so long (the box's, mostly "
             "30s)"},
    {.name = "follow",
     .letter = 'f',
     .kind = CLI_FLAG,
     .offset = OFFSET(follow),
     .help = "receive until Ctrl-C, or --max messages have come"},
    {.name = "ack",
     .letter = 'a',
     .kind = CLI_FLAG,
     .offset = OFFSET(ack),
     .help = "acknowledge messages when they have been printed: they are "
             "deleted"},
    {.name = "receipts",
     .letter = 'r',
     .kind = CLI_FLAG,
     .offset = OFFSET(receipts),
     .help = "in a pipe: print the receipt and a tab before each message"},
    CLI_NULL_OPTION(struct receive_values),
    {.name = "attempt-id",
     .kind = CLI_TEXT,
     .offset = OFFSET(attempt_id),
     .argument = "ID",
     .help = "fifo boxes: repeated with the same id within five minutes, the "
             "same messages are received"},
    CLI_JSON_OPTION(struct receive_values),
    CLI_STORE_OPTIONS(struct receive_values),
    {.name = NULL},
};

/* A receive that is under way. */
struct receiving {
    const struct receive_values *values;
    struct cli_target target;
    struct cli_out out;
    struct cli_letter_style style;
    lbx_event event;
    int64_t deadline_ns; /* of the wait for the first message */
    uint64_t printed;
    bool stopped;
    int signal;
    int code;
};

/* ---- Waiting ---- */

/* Waits until the operation may be polled again; false to stop. */
static bool
receive_watch(struct receiving *receiving, const lbx_operation *operation)
{
    const int64_t deadline = lbx_operation_deadline(operation);
    struct pollfd fds[3] = {
        {.fd = receiving->event.fd, .events = POLLIN},
        {.fd = receiving->out.signal_fd, .events = POLLIN},
        {.fd = STDOUT_FILENO}, // POLLERR: the reader of the pipe has gone
    };

    if (poll(fds, 3, lbx_deadline_poll_ms(NULL, deadline)) < 0)
        return errno == EINTR;
    lbx_event_clear(&receiving->event);
    if (fds[1].revents)
        receiving->signal = cli_signals_take(receiving->out.signal_fd);
    receiving->out.gone = (fds[2].revents & (POLLERR | POLLHUP)) != 0;
    return !receiving->signal && !receiving->out.gone;
}

/* How long the next receive waits: no longer than the box allows. */
static int64_t
receive_wait_ns(const struct receiving *receiving)
{
    const int64_t most =
        lbx_postbox_box_options(receiving->target.postbox)->limits.max_wait_ns;
    int64_t wait;

    if (receiving->deadline_ns == LBX_FOREVER)
        return most == LBX_UNLIMITED ? -1 : most;
    wait = receiving->deadline_ns - lbx_clock_now(NULL);
    wait = wait < 0 ? 0 : wait;
    return wait < most ? wait : most;
}

/* Cancels a receive. What had come is put back by the store in the background,
 * for which nothing waits when the process ends: a call behind it does. */
static lbx_status
receive_cancel(struct receiving *receiving, lbx_operation *operation)
{
    const lbx_status status = lbx_operation_cancel(operation);
    lbx_box_counts counts = LBX_BOX_COUNTS_INIT;

    receiving->stopped = true;
    (void)!lbx_postbox_count(receiving->target.postbox, &counts);
    return status;
}

/* One receive. EMPTY: nothing came in as long as the box allows to wait. */
static lbx_status
receive_some(struct receiving *receiving, lbx_letter **letters, size_t *count)
{
    const struct receive_values *values = receiving->values;
    const uint64_t left = (uint64_t)values->max - receiving->printed;
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_operation operation;
    lbx_status status;

    options.max_letters = left < LBX_MAX_BATCH ? (uint32_t)left : LBX_MAX_BATCH;
    options.lease_ns = values->lease_ns;
    options.wait_ns = receive_wait_ns(receiving);
    options.attempt_id = values->attempt_id;
    *count = 0;
    status = lbx_postbox_receive_init(&operation, receiving->target.postbox,
                                      &options, letters, count);
    if (status != LBX_OK)
        return status;
    do {
        status = lbx_operation_poll(&operation, &receiving->event.waker);
        if (status == LBX_PENDING && !receive_watch(receiving, &operation))
            status = receive_cancel(receiving, &operation);
    } while (status == LBX_PENDING);
    lbx_operation_fini(&operation);
    return status;
}

/* ---- Printing ---- */

/* PRINT-1. A letter whose lease has ended comes back by itself. */
static void
receive_put_back(lbx_letter **letters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)!lbx_letter_nack(letters[i], 0);
}

static void
receive_acknowledge(struct receiving *receiving, lbx_letter **letters,
                    size_t count)
{
    lbx_settle_item items[LBX_MAX_BATCH];

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        items[i] = (lbx_settle_item){
            .action = LBX_SETTLE_ACKNOWLEDGE,
            .letter = letters[i],
        };
    (void)!lbx_postbox_settle_batch(receiving->target.postbox, items, count);
    for (size_t i = 0; i < count; i++) {
        if (items[i].status == LBX_OK)
            continue;
        cli_complain("%s was printed, but not acknowledged: %s",
                     lbx_letter_id(letters[i]),
                     lbx_status_text(items[i].status));
        receiving->code = cli_exit_of(items[i].status);
        receiving->stopped = true;
    }
}

/* Prints letters, each to its last byte, and settles them. */
static void
receive_print(struct receiving *receiving, lbx_letter **letters, size_t count)
{
    struct cli_out *out = &receiving->out;
    size_t printed = 0;

    for (; printed < count && !receiving->stopped; printed++) {
        if (!cli_letter_print(out, letters[printed], &receiving->style)) {
            cli_complain("%s cannot be printed: %s",
                         lbx_letter_id(letters[printed]),
                         lbx_status_text(LBX_NO_MEMORY));
            receiving->code = CLI_TEMPORARY;
            receiving->stopped = true;
            break;
        }
        if (!cli_out_flush(out)) {
            receiving->signal = out->signal;
            receiving->stopped = true;
            break;
        }
    }
    receiving->printed += printed;
    if (receiving->values->ack)
        receive_acknowledge(receiving, letters, printed); // CLI-2
    receive_put_back(letters + printed, count - printed);
    for (size_t i = 0; i < count; i++)
        lbx_letter_destroy(letters[i]);
}

/* ---- The command ---- */

static bool
receive_may_continue(const struct receiving *receiving)
{
    const struct receive_values *values = receiving->values;

    if (receiving->stopped || receiving->code != CLI_OK ||
        receiving->printed >= (uint64_t)values->max)
        return false;
    return values->follow || receiving->printed == 0 || values->max > 1;
}

static void
receive_failed(struct receiving *receiving, lbx_status status)
{
    const lbx_box_options *box =
        lbx_postbox_box_options(receiving->target.postbox);
    char number[CLI_NUMBER_BYTES];

    if (status == LBX_INVALID &&
        receiving->values->lease_ns > box->limits.max_lease_ns) {
        cli_complain("--lease: %s allows at most %s", receiving->target.url,
                     cli_format_duration(box->limits.max_lease_ns, number));
        receiving->code = CLI_USAGE;
        return;
    }
    if (status == LBX_CORRUPT)
        cli_complain("letterbox check %s shows what is damaged",
                     receiving->target.store_url);
    receiving->code = cli_complain_status(status, NULL, receiving->target.url);
}

/* Until when the first message is waited for. */
static int64_t
receive_deadline(const struct receiving *receiving)
{
    const struct receive_values *values = receiving->values;
    int64_t wait = values->wait_ns;

    if (wait == LBX_DEFAULT && values->follow)
        return LBX_FOREVER;
    if (wait == LBX_DEFAULT)
        wait = lbx_postbox_box_options(receiving->target.postbox)->wait_ns;
    return wait == LBX_UNLIMITED ? LBX_FOREVER : lbx_deadline_after(NULL, wait);
}

static void
receive_everything(struct receiving *receiving)
{
    while (receive_may_continue(receiving)) {
        lbx_letter *letters[LBX_MAX_BATCH];
        size_t count;
        const lbx_status status = receive_some(receiving, letters, &count);

        if (status == LBX_OK) {
            receive_print(receiving, letters, count);
            // Of several, those behind the first are not waited for.
            receiving->deadline_ns =
                receiving->values->follow ? receive_deadline(receiving) : 0;
            continue;
        }
        if (receiving->stopped)
            break;
        if (status != LBX_EMPTY && status != LBX_TIMEOUT) {
            receive_failed(receiving, status);
            break;
        }
        if (lbx_clock_now(NULL) >= receiving->deadline_ns)
            break;
    }
}

static int
receive_exit_code(const struct receiving *receiving)
{
    if (receiving->code != CLI_OK)
        return receiving->code;
    if (receiving->signal) // which is how a --follow ends
        return receiving->values->follow ? CLI_OK : CLI_INTERRUPTED;
    return receiving->printed > 0 ? CLI_OK : CLI_NOTHING;
}

static int
receive_opened(struct receiving *receiving)
{
    int code;
    const lbx_status status = lbx_event_open(&receiving->event);

    if (status != LBX_OK)
        return cli_complain_status(status, NULL, "an eventfd");
    code = cli_out_open(&receiving->out, receiving->values->common.json);
    if (code == CLI_OK) {
        receiving->out.signal_fd = cli_signals_open();
        receiving->deadline_ns = receive_deadline(receiving);
        receive_everything(receiving);
        code = cli_out_close(&receiving->out, receive_exit_code(receiving));
    }
    lbx_event_close(&receiving->event);
    return code;
}

static int
receive_run(struct cli_call *call)
{
    struct receive_values values = {
        .common = CLI_COMMON_INIT,
        .wait_ns = LBX_DEFAULT,
        .lease_ns = LBX_DEFAULT,
    };
    struct receiving receiving = {.values = &values};
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    if (values.ack && values.receipts)
        return cli_complain_usage(
            call, "--receipts are of no use with --ack, which uses them up");
    if (values.max == 0)
        values.max = values.follow ? INT64_MAX : 1;
    receiving.style = (struct cli_letter_style){
        .receipt = !values.ack,
        .plain_receipt = values.receipts,
        .delimiter = values.null ? '\0' : '\n',
    };
    code = cli_target_open(&receiving.target, call->arguments[0],
                           &values.common, false);
    if (code != CLI_OK)
        return code;
    code = receive_opened(&receiving);
    cli_target_close(&receiving.target);
    return code;
}

const struct cli_command cli_receive_command = {
    .name = "receive",
    .arguments = "URL",
    .summary = "receive messages, and print them",
    .details =
        "Leases a message and prints it: on a terminal with all that is known "
        "of it, in a pipe its bytes and a newline, with --json as an object. "
        "With --ack it is deleted after that. Without, it comes back when the "
        "lease ends, unless its receipt is given to letterbox ack; a terminal "
        "and --json show the receipt, --receipts shows it in a pipe.\n"
        "Messages that were received and not printed, because of Ctrl-C or a "
        "reader that has gone, are put back at once.",
    .options = receive_options,
    .examples =
        (const char *const[]){
            "the next message, waiting for it, and done with it",
            "letterbox receive file:shop/orders --ack --wait 20s",
            "every message as JSON, until Ctrl-C",
            "letterbox receive file:shop/orders --follow --ack --json", NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = receive_run,
};
