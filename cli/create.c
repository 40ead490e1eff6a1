/* SPDX-License-Identifier: Apache-2.0 */
/*
 * letterbox create: makes a box, or changes the options of one.
 *
 * The command line is read twice: first for --preset and --update, then over
 * the options that those begin with.
 */
#include "commands.h"
#include "output.h"

#include <string.h>

struct create_values {
    struct cli_common common;
    int preset;
    bool update;
    lbx_box_options box;
    int64_t max_deliveries; /* -1: not given */
    int64_t max_attributes; /* -1: not given */
    int dedup_scope;        /* -1: not given */
    bool refuse_dead_letters;
    struct cli_list dead_letters_from;
};

#define OFFSET(member) offsetof(struct create_values, member)
#define BOX_DURATION(option_name, member, text)                                \
    {                                                                          \
        .name = option_name, .kind = CLI_DURATION, .offset = OFFSET(member),   \
        .argument = "DURATION", .help = text, .unlimited = "unlimited"         \
    }
#define BOX_NUMBER(option_name, member, text)                                  \
    {                                                                          \
        .name = option_name, .kind = CLI_NUMBER, .offset = OFFSET(member),     \
        .argument = "N", .help = text, .unlimited = "unlimited", .least = 1,   \
        .most = INT64_MAX                                                      \
    }
#define BOX_SIZE(option_name, member, text)                                    \
    {                                                                          \
        .name = option_name, .kind = CLI_SIZE, .offset = OFFSET(member),       \
        .argument = "SIZE", .help = text, .unlimited = "unlimited",            \
        .least = 1, .most = INT64_MAX                                          \
    }
#define BOX_FLAG(option_name, flag, member, text)                              \
    {                                                                          \
        .name = option_name, .kind = flag, .offset = OFFSET(member),           \
        .help = text                                                           \
    }

static const char *const create_presets[] = {"default", "sqs", "sqs-fifo",
                                             NULL};
static const char *const create_scopes[] = {"box", "group", NULL};

static const struct cli_option create_options[] = {
    {.name = "preset",
     .letter = 'p',
     .kind = CLI_CHOICE,
     .offset = OFFSET(preset),
     .argument = "NAME",
     .choices = create_presets,
     .help = "begin with these options: default, sqs or sqs-fifo"},
    BOX_FLAG("update", CLI_FLAG, update,
             "change the given options of a box that exists"),
    BOX_DURATION("lease", box.lease_ns, "of received messages (30s)"),
    BOX_DURATION("delay", box.delay_ns, "before a message is ready (0)"),
    BOX_DURATION("wait", box.wait_ns, "of receives that state none (0)"),
    BOX_DURATION("retention", box.retention_ns,
                 "messages are deleted when they are older (unlimited; sqs: "
                 "4d)"),
    BOX_NUMBER("capacity", box.capacity_letters,
               "so many messages inside at most (unlimited)"),
    BOX_FLAG("fifo", CLI_FLAG, box.fifo,
             "strict order within groups, no duplicates; cannot be changed "
             "later"),
    BOX_FLAG("dedup-by-content", CLI_FLAG, box.deduplicate_by_content,
             "fifo: messages without an id are duplicates if their bodies are "
             "the same"),
    {.name = "dedup-scope",
     .kind = CLI_CHOICE,
     .offset = OFFSET(dedup_scope),
     .argument = "SCOPE",
     .choices = create_scopes,
     .help = "fifo: where duplicates are looked for: box or group (box)"},
    BOX_FLAG("strict", CLI_FLAG, box.strict,
             "a receipt is good as long as its lease (the default, but of "
             "sqs)"),
    BOX_FLAG("no-strict", CLI_NO_FLAG, box.strict,
             "a receipt is good until the message is received again"),
    BOX_FLAG("keep-position", CLI_FLAG, box.keep_position,
             "a message that comes back takes its old position"),
    BOX_FLAG("no-keep-position", CLI_NO_FLAG, box.keep_position,
             "a message that comes back is the last (the default)"),
    {.name = "dead-letters",
     .kind = CLI_TEXT,
     .offset = OFFSET(box.dead_letters),
     .argument = "NAME",
     .help = "messages that were delivered --max-deliveries times go to this "
             "box of the same store, which must exist"},
    {.name = "max-deliveries",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_deliveries),
     .argument = "N",
     .least = 1,
     .most = 1000,
     .help = "with --dead-letters: 1 to 1000"},
    {.name = "dead-letters-from",
     .kind = CLI_LIST,
     .offset = OFFSET(dead_letters_from),
     .argument = "NAME",
     .help = "only this box may send its dead letters here. May be repeated, "
             "10 times at most"},
    BOX_FLAG("refuse-dead-letters", CLI_FLAG, refuse_dead_letters,
             "no box may send its dead letters here"),
    BOX_DURATION("max-lease", box.limits.max_lease_ns,
                 "the longest lease (unlimited; sqs: 12h)"),
    BOX_DURATION("max-wait", box.limits.max_wait_ns,
                 "the longest wait (unlimited; sqs: 20s)"),
    BOX_DURATION("max-delay", box.limits.max_delay_ns,
                 "the longest delay (unlimited; sqs: 15m)"),
    BOX_DURATION("min-retention", box.limits.min_retention_ns,
                 "the shortest retention (0; sqs: 1m)"),
    BOX_DURATION("max-retention", box.limits.max_retention_ns,
                 "the longest retention (unlimited; sqs: 14d)"),
    BOX_SIZE("max-letter", box.limits.max_letter_bytes,
             "the largest message (unlimited, which is 64MiB; sqs: 1MiB)"),
    BOX_SIZE("max-batch", box.limits.max_batch_bytes,
             "the sum of a group that is sent (unlimited; sqs: 1MiB)"),
    BOX_NUMBER("max-leased", box.limits.max_leased,
               "so many may be leased (unlimited; sqs: 120000)"),
    {.name = "max-attributes",
     .kind = CLI_NUMBER,
     .offset = OFFSET(max_attributes),
     .argument = "N",
     .unlimited = "unlimited",
     .most = UINT32_MAX - 1,
     .help = "of a message (unlimited; sqs: 10)"},
    BOX_FLAG("text-only", CLI_FLAG, box.limits.text_only,
             "bodies are text: UTF-8, not empty, allowed in XML (sqs)"),
    BOX_FLAG("no-text-only", CLI_NO_FLAG, box.limits.text_only,
             "bodies are any bytes (the default)"),
    CLI_JSON_OPTION(struct create_values),
    CLI_STORE_OPTIONS(struct create_values),
    {.name = NULL},
};

/* A default or a limit, and what it must not be beyond. */
struct create_range {
    const char *name, *limit_name;
    int64_t value, limit;
};

/* The library explains what is wrong with its own names, in nanoseconds. */
static int
create_check_ranges(const struct cli_call *call, const lbx_box_options *box)
{
    const struct create_range ranges[] = {
        {"lease", "max-lease", box->lease_ns, box->limits.max_lease_ns},
        {"wait", "max-wait", box->wait_ns, box->limits.max_wait_ns},
        {"delay", "max-delay", box->delay_ns, box->limits.max_delay_ns},
        {"retention", "max-retention", box->retention_ns,
         box->limits.max_retention_ns},
        {"min-retention", "retention", box->limits.min_retention_ns,
         box->retention_ns},
    };
    char one[CLI_NUMBER_BYTES], other[CLI_NUMBER_BYTES];

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (ranges[i].value > ranges[i].limit)
            return cli_complain_usage(
                call, "--%s is %s, which is more than --%s, %s", ranges[i].name,
                cli_format_duration(ranges[i].value, one), ranges[i].limit_name,
                cli_format_duration(ranges[i].limit, other));
    }
    return CLI_OK;
}

/* What is not in the options as the table of the command has it. */
static int
create_complete(const struct cli_call *call, struct create_values *values)
{
    lbx_box_options *box = &values->box;

    if (values->max_deliveries >= 0)
        box->max_deliveries = (uint32_t)values->max_deliveries;
    if (values->max_attributes >= 0)
        box->limits.max_attributes = values->max_attributes == LBX_UNLIMITED
                                         ? UINT32_MAX
                                         : (uint32_t)values->max_attributes;
    if (values->dedup_scope >= 0)
        box->deduplication = (lbx_deduplication)values->dedup_scope;
    if (box->fifo)
        box->strict = true;
    if (values->refuse_dead_letters && values->dead_letters_from.count > 0)
        return cli_complain_usage(call, "--refuse-dead-letters and "
                                        "--dead-letters-from contradict each "
                                        "other");
    if (values->refuse_dead_letters) {
        box->dead_letter_allow = LBX_DEAD_LETTER_ALLOW_NONE;
        box->dead_letter_box_count = 0;
    } else if (values->dead_letters_from.count > 0) {
        box->dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED;
        box->dead_letter_boxes = values->dead_letters_from.texts;
        box->dead_letter_box_count = values->dead_letters_from.count;
    }
    if (box->dead_letters && box->max_deliveries == 0)
        return cli_complain_usage(
            call, "--dead-letters needs --max-deliveries: after how many "
                  "deliveries a message goes there");
    if (!box->dead_letters && box->max_deliveries > 0)
        return cli_complain_usage(
            call, "--max-deliveries needs --dead-letters: where messages go "
                  "after that");
    if (!box->fifo && (box->deduplicate_by_content ||
                       box->deduplication != LBX_DEDUPLICATION_BOX))
        return cli_complain_usage(
            call, "--dedup-by-content and --dedup-scope need --fifo");
    return create_check_ranges(call, box);
}

/* Reads the options over those of the preset, or of the box. */
static int
create_read(struct cli_call *call, struct create_values *values,
            const lbx_box_options *from)
{
    *values = (struct create_values){
        .common = CLI_COMMON_INIT,
        .box = *from,
        .max_deliveries = -1,
        .max_attributes = -1,
        .dedup_scope = -1,
    };
    return cli_parse(call, values);
}

static int
create_print(const struct create_values *values, const char *url,
             const char *what)
{
    struct cli_out out;
    struct cli_json json;
    const int code = cli_out_open(&out, values->common.json);

    if (code != CLI_OK)
        return code;
    if (out.style == CLI_HUMAN)
        fprintf(out.stream, "%s %s\n", url, what);
    if (out.style == CLI_JSON && cli_json_begin(&json, &out)) {
        cli_json_bytes(&json, "url", url, strlen(url));
        lbx_json_writer_text(&json.writer, "result", what);
        cli_json_end(&json);
    }
    return cli_out_close(&out, CLI_OK);
}

static int
create_in(struct cli_call *call, struct create_values *values,
          const struct cli_target *target, bool exists)
{
    lbx_fault fault = {.text = ""};
    lbx_status status;
    int code = create_complete(call, values);

    if (code != CLI_OK)
        return code;
    status = values->update && exists
                 ? lbx_store_configure_box(target->store, target->box,
                                           &values->box, &fault)
                 : lbx_store_create_box(target->store, target->box,
                                        &values->box, &fault);
    if (status == LBX_OK)
        return create_print(values, target->url,
                            !exists          ? "created"
                            : values->update ? "updated"
                                             : "exists already");
    code = cli_complain_status(status, &fault, target->url);
    if (status == LBX_EXISTS)
        cli_complain("--update changes the options of a box that exists");
    return status == LBX_INVALID ? CLI_USAGE : code;
}

/* What is wrong in itself is found before a store is made for it. */
static int
create_check_new(struct cli_call *call, struct create_values *values,
                 const lbx_box_options *from)
{
    lbx_fault fault = {.text = ""};
    int code;

    if (values->update)
        return CLI_OK; // its rest is in the store
    code = create_read(call, values, from);
    code = code == CLI_RUN ? create_complete(call, values) : code;
    if (code == CLI_OK && lbx_box_options_check(&values->box, &fault) != LBX_OK)
        code = cli_complain_usage(call, "%s", fault.text);
    return code;
}

static int
create_run(struct cli_call *call)
{
    struct create_values values;
    struct cli_target target;
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_options from = LBX_BOX_OPTIONS_INIT;
    bool exists;
    int code = create_read(call, &values, &from);

    if (code != CLI_RUN)
        return code;
    from = lbx_box_options_preset((lbx_box_preset)values.preset);
    code = create_check_new(call, &values, &from);
    if (code != CLI_OK)
        return code;
    code = cli_target_open_store(&target, call->arguments[0], &values.common,
                                 true);
    if (code != CLI_OK)
        return code;
    exists = lbx_store_describe_box(target.store, target.box, NULL, NULL,
                                    NULL) == LBX_OK;
    if (exists && values.update && values.preset == 0)
        (void)!lbx_store_describe_box(target.store, target.box, buffer, &from,
                                      NULL);
    code = create_read(call, &values, &from);
    if (code == CLI_RUN)
        code = create_in(call, &values, &target, exists);
    cli_target_close(&target);
    return code;
}

const struct cli_command cli_create_command = {
    .name = "create",
    .arguments = "URL",
    .summary = "make a box, or change the options of one",
    .details =
        "Makes a box, and its store if there is none. A box that exists with "
        "the same options is left as it is; one with other options is an "
        "error, unless --update is given.\n"
        "Numbers and durations that are limits may be unlimited.",
    .options = create_options,
    .examples =
        (const char *const[]){
            "messages that fail five times go to the box bad, which exists",
            "letterbox create file:s/in --dead-letters bad --max-deliveries 5",
            "a queue as SQS has it, with another lease",
            "letterbox create file:shop/mails --preset sqs --lease 5m", NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = create_run,
};
