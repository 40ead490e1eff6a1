/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letterbox move: messages from one box to another, or dead letters back to
 * where they came from.
 *
 * The store moves them, as a task that goes on while a process has the store
 * open. So the command waits until it is done, unless it is told not to.
 */
#include "commands.h"
#include "output.h"
#include "progress.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

struct move_values {
    struct cli_common common;
    int64_t rate;
    bool wait, cancel, status;
};

#define OFFSET(member) offsetof(struct move_values, member)

static const struct cli_option move_options[] = {
    {.name = "rate",
     .letter = 'r',
     .kind = CLI_NUMBER,
     .offset = OFFSET(rate),
     .argument = "N",
     .least = 1,
     .most = 1000000,
     .help = "so many messages in a second (as fast as it goes)"},
    {.name = "wait",
     .kind = CLI_FLAG,
     .offset = OFFSET(wait),
     .help = "return when all are moved (the default)"},
    {.name = "no-wait",
     .kind = CLI_NO_FLAG,
     .offset = OFFSET(wait),
     .help = "return when it has begun: it goes on while another process, as "
             "a server, has the store open"},
    {.name = "status",
     .kind = CLI_FLAG,
     .offset = OFFSET(status),
     .help = "how far the latest move out of the box is"},
    {.name = "cancel",
     .kind = CLI_FLAG,
     .offset = OFFSET(cancel),
     .help = "stop the move out of the box"},
    CLI_JSON_OPTION(struct move_values),
    CLI_STORE_OPTIONS(struct move_values),
    {.name = NULL},
};

enum {
    LOOK_MS = 50
};

struct moving {
    const struct move_values *values;
    struct cli_target from;
    struct cli_target to; /* the store is NULL: back to where they came from */
    lbx_move_progress progress;
    int signal_fd;
    int signal;
};

static bool
move_is_over(lbx_move_phase phase)
{
    return phase == LBX_MOVE_PHASE_COMPLETED ||
           phase == LBX_MOVE_PHASE_CANCELLED || phase == LBX_MOVE_PHASE_FAILED;
}

static const char *
move_phase_name(lbx_move_phase phase)
{
    switch (phase) {
    case LBX_MOVE_PHASE_RUNNING:
        return "running";
    case LBX_MOVE_PHASE_COMPLETED:
        return "completed";
    case LBX_MOVE_PHASE_CANCELLING:
        return "cancelling";
    case LBX_MOVE_PHASE_CANCELLED:
        return "cancelled";
    case LBX_MOVE_PHASE_FAILED:
        break;
    }
    return "failed";
}

static void
move_print_json(struct cli_out *out, const struct moving *moving)
{
    const lbx_move_progress *progress = &moving->progress;
    struct cli_json json;

    if (!cli_json_begin(&json, out))
        return;
    cli_json_bytes(&json, "from", moving->from.url, strlen(moving->from.url));
    if (moving->to.store)
        cli_json_bytes(&json, "to", moving->to.url, strlen(moving->to.url));
    lbx_json_writer_text(&json.writer, "phase",
                         move_phase_name(progress->phase));
    cli_json_count(&json, "moved", progress->moved);
    cli_json_count(&json, "left", progress->left);
    cli_json_end(&json);
}

/* Says how it ended, or how far it is. */
static int
move_report(const struct moving *moving)
{
    const lbx_move_progress *progress = &moving->progress;
    struct cli_out out;
    int code = cli_out_open(&out, moving->values->common.json);

    if (code != CLI_OK)
        return code;
    if (out.style == CLI_JSON)
        move_print_json(&out, moving);
    else
        fprintf(out.stream, "%s: %" PRIu64 " moved, %" PRIu64 " left\n",
                move_phase_name(progress->phase), progress->moved,
                progress->left);
    code = CLI_OK;
    if (progress->phase == LBX_MOVE_PHASE_FAILED) {
        cli_complain("%s: the move has stopped: %s", moving->from.url,
                     progress->reason == LBX_NOT_FOUND
                         ? "a message came from no box, or from one that is "
                           "gone; name the box to move to"
                         : lbx_status_text(progress->reason));
        code = cli_exit_of(progress->reason);
        code = code == CLI_OK ? CLI_FAILED : code;
    }
    return cli_out_close(&out, moving->signal ? CLI_INTERRUPTED : code);
}

/* Looks until it is over. A signal cancels it: nobody is there to see it go
 * on. */
static lbx_status
move_wait(struct moving *moving)
{
    struct pollfd input = {.fd = moving->signal_fd, .events = POLLIN};
    struct cli_progress bar;
    lbx_status status;

    cli_progress_open(&bar);
    for (;;) {
        status = lbx_store_describe_move(moving->from.store, moving->from.box,
                                         &moving->progress);
        if (status != LBX_OK || move_is_over(moving->progress.phase))
            break;
        cli_progress_draw(&bar, moving->progress.moved,
                          moving->progress.moved + moving->progress.left);
        if (poll(&input, 1, LOOK_MS) <= 0)
            continue;
        moving->signal = cli_signals_take(input.fd);
        if (moving->signal)
            (void)!lbx_store_cancel_move(moving->from.store, moving->from.box);
    }
    cli_progress_clear(&bar);
    return status;
}

static int
move_start(struct moving *moving)
{
    const char *to = moving->to.store ? moving->to.box : NULL;
    lbx_status status;

    // Before it is under way: a signal must not end the command without it.
    if (moving->values->wait)
        moving->signal_fd = cli_signals_open();
    status = lbx_store_start_move(moving->from.store, moving->from.box, to,
                                  moving->values->rate);

    if (status == LBX_NOT_FOUND && !to) {
        cli_complain("%s: its first message did not come from another box as "
                     "a dead letter; name the box to move to",
                     moving->from.url);
        return CLI_NOT_FOUND;
    }
    if (status == LBX_INVALID && to) {
        cli_complain("%s cannot be moved to %s: they must be two boxes, both "
                     "fifo or none",
                     moving->from.url, moving->to.url);
        return CLI_USAGE;
    }
    if (status == LBX_BUSY) {
        cli_complain("%s: a move out of it is under way: --status, --cancel",
                     moving->from.url);
        return CLI_TEMPORARY;
    }
    return status == LBX_OK
               ? CLI_OK
               : cli_complain_status(status, NULL, moving->from.url);
}

static int
move_describe(struct moving *moving)
{
    const lbx_status status = lbx_store_describe_move(
        moving->from.store, moving->from.box, &moving->progress);

    if (status == LBX_NOT_FOUND) {
        cli_complain("%s: there was no move out of it", moving->from.url);
        return CLI_NOT_FOUND;
    }
    return status == LBX_OK
               ? move_report(moving)
               : cli_complain_status(status, NULL, moving->from.url);
}

static int
move_opened(struct moving *moving)
{
    lbx_status status;
    int code;

    if (moving->values->status)
        return move_describe(moving);
    if (moving->values->cancel) {
        status = lbx_store_cancel_move(moving->from.store, moving->from.box);
        if (status == LBX_NOT_FOUND) {
            cli_complain("%s: there is no move out of it", moving->from.url);
            return CLI_NOT_FOUND;
        }
        if (status != LBX_OK)
            return cli_complain_status(status, NULL, moving->from.url);
    } else {
        code = move_start(moving);
        if (code != CLI_OK)
            return code;
        if (!moving->values->wait)
            return move_describe(moving);
    }
    status = move_wait(moving);
    return status == LBX_OK
               ? move_report(moving)
               : cli_complain_status(status, NULL, moving->from.url);
}

static int
move_open_to(struct moving *moving, const char *url)
{
    const int code =
        cli_target_open(&moving->to, url, &moving->values->common, false);

    // One store is open once, however its folder is written.
    if (code != CLI_OK || moving->to.store == moving->from.store)
        return code;
    cli_complain("%s and %s are in two stores; a move is inside one",
                 moving->from.url, url);
    return CLI_USAGE;
}

static int
move_run(struct cli_call *call)
{
    struct move_values values = {.common = CLI_COMMON_INIT, .wait = true};
    struct moving moving = {
        .values = &values,
        .progress = LBX_MOVE_PROGRESS_INIT,
        .signal_fd = -1,
    };
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    if ((values.status || values.cancel) &&
        (call->argument_count > 1 || (values.status && values.cancel)))
        return cli_complain_usage(
            call, "--status and --cancel take one box, and not each other");
    code = cli_target_open(&moving.from, call->arguments[0], &values.common,
                           false);
    if (code == CLI_OK && call->argument_count > 1)
        code = move_open_to(&moving, call->arguments[1]);
    if (code == CLI_OK)
        code = move_opened(&moving);
    cli_target_close(&moving.to);
    cli_target_close(&moving.from);
    return code;
}

const struct cli_command cli_move_command = {
    .name = "move",
    .arguments = "FROM-URL [TO-URL]",
    .summary = "move messages to another box, or dead letters back",
    .details =
        "Moves every message of FROM-URL to TO-URL, a box of the same store; "
        "without TO-URL, each dead letter back to the box it came from. Each "
        "message is moved in one step: none is lost or there twice. It gets a "
        "new id, and no deliveries.\n"
        "Ctrl-C cancels the move; what was moved stays where it is.",
    .options = move_options,
    .examples =
        (const char *const[]){
            "dead letters back to their boxes, ten in a second",
            "letterbox move file:shop/failed --rate 10",
            "everything into another box",
            "letterbox move file:shop/orders file:shop/archive", NULL},
    .least_arguments = 1,
    .most_arguments = 2,
    .run = move_run,
};
