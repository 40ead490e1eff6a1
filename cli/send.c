/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letterbox send: arguments, files or standard input become messages, up to ten
 * in one step.
 */
#include "commands.h"
#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct send_values {
    struct cli_common common;
    struct cli_list files;
    bool lines, whole, null, must_exist;
    struct cli_sender_options send;
    struct cli_list attributes;
};

#define OFFSET(member) offsetof(struct send_values, member)

static const struct cli_option send_options[] = {
    {.name = "file",
     .letter = 'f',
     .kind = CLI_LIST,
     .offset = OFFSET(files),
     .argument = "FILE",
     .help = "send this file, as one message; - is standard input. May be "
             "repeated"},
    {.name = "lines",
     .letter = 'l',
     .kind = CLI_FLAG,
     .offset = OFFSET(lines),
     .help = "one message per line (the default for standard input)"},
    {.name = "whole",
     .letter = 'w',
     .kind = CLI_FLAG,
     .offset = OFFSET(whole),
     .help = "one message per file (the default for --file)"},
    {.name = "null",
     .letter = '0',
     .kind = CLI_FLAG,
     .offset = OFFSET(null),
     .help = "messages end with a NUL byte, not with a newline"},
    {.name = "delay",
     .letter = 'd',
     .kind = CLI_DURATION,
     .offset = OFFSET(send.delay_ns),
     .argument = "DURATION",
     .help = "not to be received before this time has passed (the box's)"},
    {.name = "attribute",
     .letter = 'a',
     .kind = CLI_LIST,
     .offset = OFFSET(attributes),
     .argument = "NAME=VALUE",
     .help = "an attribute, of type String; NAME:Number=1 has another type: "
             "Number or Binary, or with a label, as Number.float. May be "
             "repeated"},
    {.name = "type",
     .letter = 't',
     .kind = CLI_TEXT,
     .offset = OFFSET(send.type),
     .argument = "NAME",
     .help = "the type of the body, as shop.Order"},
    {.name = "group",
     .letter = 'g',
     .kind = CLI_TEXT,
     .offset = OFFSET(send.group),
     .argument = "NAME",
     .help = "the group; fifo boxes need one"},
    {.name = "dedup-id",
     .kind = CLI_TEXT,
     .offset = OFFSET(send.dedup_id),
     .argument = "ID",
     .help = "fifo boxes: a message with this id is sent once in five "
             "minutes. The second message has ID-2, and so on"},
    {.name = "token",
     .kind = CLI_TEXT,
     .offset = OFFSET(send.token),
     .argument = "TOKEN",
     .help = "any box: sending again with the same token, within five "
             "minutes, sends nothing twice. The second message has TOKEN-2, "
             "and so on"},
    {.name = "trace",
     .kind = CLI_TEXT,
     .offset = OFFSET(send.trace),
     .argument = "TEXT",
     .help = "a trace header, carried along"},
    {.name = "must-exist",
     .kind = CLI_FLAG,
     .offset = OFFSET(must_exist),
     .help = "do not create the box"},
    {.name = "quiet",
     .letter = 'q',
     .kind = CLI_FLAG,
     .offset = OFFSET(send.quiet),
     .help = "do not print the ids"},
    CLI_JSON_OPTION(struct send_values),
    CLI_STORE_OPTIONS(struct send_values),
    {.name = NULL},
};

/* A send that is under way. */
struct sending {
    const struct cli_call *call;
    const struct send_values *values;
    struct cli_sender sender;
};

/* ---- Where messages come from ---- */

static bool
send_read_failed(struct sending *sending, const char *name, int error)
{
    if (error == E2BIG)
        cli_complain("%s: message %" PRIu64 " has more than %d MiB", name,
                     sending->sender.count + 1, CLI_RECORD_MOST >> 20);
    else
        cli_complain("cannot read %s: %s", name, strerror(error));
    sending->sender.code = error == ENOENT ? CLI_NOT_FOUND : CLI_FAILED;
    return false;
}

static bool
send_descriptor(struct sending *sending, int fd, const char *name, bool whole)
{
    struct cli_reader reader = {
        .fd = fd,
        .delimiter = sending->values->null ? '\0' : '\n',
        .whole = whole,
    };
    struct cli_record records[LBX_MAX_BATCH];
    bool fine = true;

    while (fine) {
        const size_t count = cli_reader_next(&reader, records, LBX_MAX_BATCH);

        if (count == 0)
            break;
        fine = cli_sender_send(&sending->sender, records, count);
    }
    if (fine && reader.error)
        fine = send_read_failed(sending, name, reader.error);
    cli_reader_fini(&reader);
    return fine;
}

static bool
send_standard_input(struct sending *sending)
{
    const struct send_values *values = sending->values;

    sending->sender.source = values->whole ? "message" : "line";
    if (isatty(STDIN_FILENO) == 1)
        cli_complain("reading from the terminal, %s; Ctrl-D ends it",
                     values->whole ? "one message" : "one message per line");
    return send_descriptor(sending, STDIN_FILENO, "standard input",
                           values->whole);
}

static bool
send_file(struct sending *sending, const char *name)
{
    const bool whole = !sending->values->lines && !sending->values->null;
    int fd;
    bool fine;

    if (strcmp(name, "-") == 0)
        return send_standard_input(sending);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return send_read_failed(sending, name, errno);
    fine = send_descriptor(sending, fd, name, whole);
    close(fd);
    return fine;
}

static bool
send_arguments(struct sending *sending)
{
    const struct cli_call *call = sending->call;
    bool fine = true;

    sending->sender.source = "argument";
    for (size_t i = 1; fine && i < call->argument_count;) {
        struct cli_record records[LBX_MAX_BATCH];
        size_t count = 0;

        for (; count < LBX_MAX_BATCH && i < call->argument_count; count++, i++)
            records[count] = (struct cli_record){
                .bytes = call->arguments[i],
                .size_bytes = strlen(call->arguments[i]),
            };
        fine = cli_sender_send(&sending->sender, records, count);
    }
    return fine;
}

static void
send_everything(struct sending *sending)
{
    const struct cli_list *files = &sending->values->files;
    bool fine = send_arguments(sending);

    sending->sender.source = "message";
    for (size_t i = 0; fine && i < files->count; i++)
        fine = send_file(sending, files->texts[i]);
    if (sending->call->argument_count == 1 && files->count == 0)
        fine = send_standard_input(sending);
    if (!fine && sending->sender.count > 0)
        cli_complain("%" PRIu64 " sent before that", sending->sender.count);
}

/* Before a box is created for nothing. */
static int
send_check_files(const struct cli_list *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->texts[i], "-") != 0 &&
            access(files->texts[i], R_OK) != 0) {
            cli_complain("cannot read %s: %s", files->texts[i],
                         strerror(errno));
            return errno == ENOENT ? CLI_NOT_FOUND : CLI_FAILED;
        }
    }
    return CLI_OK;
}

static int
send_check(const struct cli_call *call, struct sending *sending)
{
    const struct send_values *values = sending->values;
    int code;

    if (values->whole && (values->lines || values->null))
        return cli_complain_usage(call,
                                  "--whole and --%s contradict each other",
                                  values->lines ? "lines" : "null");
    code = cli_attributes_read(call, &values->attributes,
                               &sending->sender.attributes);
    return code == CLI_OK ? send_check_files(&values->files) : code;
}

static int
send_run(struct cli_call *call)
{
    struct send_values values = {
        .common = CLI_COMMON_INIT,
        .send.delay_ns = LBX_DEFAULT,
    };
    struct sending sending = {
        .call = call,
        .values = &values,
        .sender.options = &values.send,
    };
    struct cli_sender *sender = &sending.sender;
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    code = send_check(call, &sending);
    if (code == CLI_OK)
        code = cli_target_open(&sender->target, call->arguments[0],
                               &values.common, !values.must_exist);
    if (code != CLI_OK)
        return code;
    if (strcmp(lbx_store_scheme(sender->target.store), "memory") == 0)
        cli_complain("%s is gone when this command ends: use file:DIR/BOX",
                     call->arguments[0]);
    code = cli_out_open(&sender->out, values.common.json);
    if (code == CLI_OK) {
        send_everything(&sending);
        code = cli_out_close(&sender->out, sender->code);
    }
    cli_target_close(&sender->target);
    return code;
}

const struct cli_command cli_send_command = {
    .name = "send",
    .arguments = "URL [MESSAGE...]",
    .summary = "send messages: arguments, files or standard input",
    .details =
        "Sends each MESSAGE, then each --file; without any of them, standard "
        "input, one message per line. A box that does not exist is created, "
        "and its store too. Messages are sent in groups of up to ten; a group "
        "is on the disk before the next one is sent.\n"
        "Prints the id of each message. When one is refused, those behind it "
        "are not sent, except of its own group.",
    .options = send_options,
    .examples =
        (const char *const[]){
            "one message", "letterbox send file:shop/orders 'a book'",
            "each line of a program's output, after a minute",
            "seq 100 | letterbox send file:shop/orders --delay 1m --quiet",
            NULL},
    .least_arguments = 1,
    .most_arguments = SIZE_MAX,
    .run = send_run,
};
