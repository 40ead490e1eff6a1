/* SPDX-License-Identifier: Apache-2.0 */
/* letterbox stat: what a box has, and by which rules. */
#include "commands.h"
#include "output.h"

#include <inttypes.h>
#include <string.h>

struct stat_values {
    struct cli_common common;
};

static const struct cli_option stat_options[] = {
    CLI_JSON_OPTION(struct stat_values),
    CLI_STORE_OPTIONS(struct stat_values),
    {.name = NULL},
};

/* What stat knows of a box. */
struct stat_box {
    const char *url;
    const char *name;
    char buffer[LBX_BOX_OPTIONS_BUFFER_BYTES];
    lbx_box_options options;
    lbx_box_counts counts;
    lbx_move_progress move;
    bool has_move;
};

/* ---- The rules, as one table ---- */

enum stat_kind {
    STAT_DURATION,
    STAT_NUMBER,
    STAT_NUMBER32, /* UINT32_MAX: no limit */
    STAT_BYTES,
    STAT_BOOL
};

struct stat_row {
    const char *label; /* as the option of create */
    const char *json;
    enum stat_kind kind;
    size_t offset;
};

#define ROW(label, json, kind, member)                                         \
    {                                                                          \
        label, json, kind, offsetof(lbx_box_options, member)                   \
    }

static const struct stat_row stat_rows[] = {
    ROW("lease", "lease_ms", STAT_DURATION, lease_ns),
    ROW("delay", "delay_ms", STAT_DURATION, delay_ns),
    ROW("wait", "wait_ms", STAT_DURATION, wait_ns),
    ROW("retention", "retention_ms", STAT_DURATION, retention_ns),
    ROW("capacity", "capacity", STAT_NUMBER, capacity_letters),
    ROW("strict", "strict", STAT_BOOL, strict),
    ROW("keep-position", "keep_position", STAT_BOOL, keep_position),
    ROW("fifo", "fifo", STAT_BOOL, fifo),
    ROW("dedup-by-content", "dedup_by_content", STAT_BOOL,
        deduplicate_by_content),
    ROW("max-lease", "max_lease_ms", STAT_DURATION, limits.max_lease_ns),
    ROW("max-wait", "max_wait_ms", STAT_DURATION, limits.max_wait_ns),
    ROW("max-delay", "max_delay_ms", STAT_DURATION, limits.max_delay_ns),
    ROW("min-retention", "min_retention_ms", STAT_DURATION,
        limits.min_retention_ns),
    ROW("max-retention", "max_retention_ms", STAT_DURATION,
        limits.max_retention_ns),
    ROW("max-letter", "max_letter_bytes", STAT_BYTES, limits.max_letter_bytes),
    ROW("max-batch", "max_batch_bytes", STAT_BYTES, limits.max_batch_bytes),
    ROW("max-leased", "max_leased", STAT_NUMBER, limits.max_leased),
    ROW("max-attributes", "max_attributes", STAT_NUMBER32,
        limits.max_attributes),
    ROW("text-only", "text_only", STAT_BOOL, limits.text_only),
};

enum {
    STAT_ROWS = sizeof(stat_rows) / sizeof(stat_rows[0])
};

/* The number of a row; LBX_UNLIMITED for no limit. */
static int64_t
stat_number(const lbx_box_options *options, const struct stat_row *row)
{
    const char *at = (const char *)options + row->offset;
    int64_t number;
    uint32_t small;
    bool is;

    switch (row->kind) {
    case STAT_BOOL:
        memcpy(&is, at, sizeof(is));
        return is;
    case STAT_NUMBER32:
        memcpy(&small, at, sizeof(small));
        return small == UINT32_MAX ? LBX_UNLIMITED : (int64_t)small;
    default:
        memcpy(&number, at, sizeof(number));
        return number;
    }
}

static const char *
stat_text(const lbx_box_options *options, const struct stat_row *row,
          char buffer[CLI_NUMBER_BYTES])
{
    const int64_t number = stat_number(options, row);

    if (row->kind == STAT_BOOL)
        return number ? "yes" : "no";
    if (number == LBX_UNLIMITED)
        return "unlimited";
    if (row->kind == STAT_DURATION)
        return cli_format_duration(number, buffer);
    if (row->kind == STAT_BYTES)
        return cli_format_bytes((uint64_t)number, buffer);
    snprintf(buffer, CLI_NUMBER_BYTES, "%" PRId64, number);
    return buffer;
}

static const char *
stat_allow(lbx_dead_letter_allow allow)
{
    return allow == LBX_DEAD_LETTER_ALLOW_ALL    ? "all"
           : allow == LBX_DEAD_LETTER_ALLOW_NONE ? "none"
                                                 : "listed";
}

static const char *
stat_phase(lbx_move_phase phase)
{
    static const char *const names[] = {"running", "completed", "cancelling",
                                        "cancelled", "failed"};

    return (size_t)phase < sizeof(names) / sizeof(names[0]) ? names[phase]
                                                            : "unknown";
}

/* ---- JSON ---- */

static void
stat_json_dead_letters(struct cli_json *json, const lbx_box_options *options)
{
    lbx_json_writer_text(&json->writer, "dead_letters", options->dead_letters);
    cli_json_count(json, "max_deliveries", options->max_deliveries);
    lbx_json_writer_text(&json->writer, "dead_letters_from",
                         stat_allow(options->dead_letter_allow));
    lbx_json_writer_array(&json->writer, "dead_letters_from_boxes");
    for (size_t i = 0; i < options->dead_letter_box_count; i++)
        lbx_json_writer_text(&json->writer, NULL,
                             options->dead_letter_boxes[i]);
    lbx_json_writer_end(&json->writer);
}

static void
stat_json_options(struct cli_json *json, const lbx_box_options *options)
{
    lbx_json_writer_object(&json->writer, "options");
    for (size_t i = 0; i < STAT_ROWS; i++) {
        const struct stat_row *row = &stat_rows[i];
        const int64_t number = stat_number(options, row);

        if (row->kind == STAT_BOOL)
            lbx_json_writer_bool(&json->writer, row->json, number != 0);
        else if (row->kind == STAT_DURATION)
            cli_json_ms(json, row->json, number);
        else
            cli_json_limit(json, row->json, number);
    }
    lbx_json_writer_text(
        &json->writer, "dedup_scope",
        options->deduplication == LBX_DEDUPLICATION_GROUP ? "group" : "box");
    stat_json_dead_letters(json, options);
    lbx_json_writer_end(&json->writer);
}

static void
stat_json_move(struct cli_json *json, const lbx_move_progress *move)
{
    lbx_json_writer_object(&json->writer, "move");
    lbx_json_writer_text(&json->writer, "phase", stat_phase(move->phase));
    cli_json_count(json, "moved", move->moved);
    cli_json_count(json, "left", move->left);
    if (move->phase == LBX_MOVE_PHASE_FAILED)
        lbx_json_writer_text(&json->writer, "reason",
                             lbx_status_name(move->reason));
    lbx_json_writer_end(&json->writer);
}

static void
stat_json(struct cli_out *out, const struct stat_box *box)
{
    struct cli_json json;

    if (!cli_json_begin(&json, out))
        return;
    lbx_json_writer_text(&json.writer, "name", box->name);
    cli_json_count(&json, "ready", box->counts.ready);
    cli_json_count(&json, "leased", box->counts.leased);
    cli_json_count(&json, "delayed", box->counts.delayed);
    cli_json_count(&json, "bytes", box->counts.bytes);
    cli_json_ms(&json, "oldest_ms", box->counts.oldest_ns);
    stat_json_options(&json, &box->options);
    if (box->has_move)
        stat_json_move(&json, &box->move);
    cli_json_end(&json);
}

/* ---- For people ---- */

static void
stat_row_text(struct cli_out *out, const char *label, const char *text)
{
    fprintf(out->stream, "%s%-17s%s %s\n", cli_out_dim(out), label,
            cli_out_normal(out), text);
}

static void
stat_row_count(struct cli_out *out, const char *label, uint64_t count)
{
    char number[CLI_NUMBER_BYTES];

    snprintf(number, sizeof(number), "%" PRIu64, count);
    stat_row_text(out, label, number);
}

static void
stat_human_counts(struct cli_out *out, const struct stat_box *box)
{
    char number[CLI_NUMBER_BYTES];

    stat_row_count(out, "ready", box->counts.ready);
    stat_row_count(out, "leased", box->counts.leased);
    stat_row_count(out, "delayed", box->counts.delayed);
    stat_row_text(out, "size", cli_format_bytes(box->counts.bytes, number));
    stat_row_text(out, "oldest",
                  cli_format_duration(box->counts.oldest_ns, number));
}

static void
stat_human_dead_letters(struct cli_out *out, const lbx_box_options *options)
{
    if (options->fifo)
        stat_row_text(out, "dedup-scope",
                      options->deduplication == LBX_DEDUPLICATION_GROUP
                          ? "group"
                          : "box");
    stat_row_text(out, "dead-letters",
                  options->dead_letters ? options->dead_letters : "none");
    if (options->dead_letters)
        stat_row_count(out, "max-deliveries", options->max_deliveries);
    for (size_t i = 0; i < options->dead_letter_box_count; i++)
        stat_row_text(out, "dead-letters-from", options->dead_letter_boxes[i]);
    if (options->dead_letter_box_count == 0)
        stat_row_text(out, "dead-letters-from",
                      stat_allow(options->dead_letter_allow));
}

static void
stat_human(struct cli_out *out, const struct stat_box *box)
{
    char number[CLI_NUMBER_BYTES];

    fprintf(out->stream, "%s%s%s\n", cli_out_bold(out), box->url,
            cli_out_normal(out));
    stat_human_counts(out, box);
    for (size_t i = 0; i < STAT_ROWS; i++)
        stat_row_text(out, stat_rows[i].label,
                      stat_text(&box->options, &stat_rows[i], number));
    stat_human_dead_letters(out, &box->options);
    if (box->has_move) {
        stat_row_text(out, "move", stat_phase(box->move.phase));
        stat_row_count(out, "moved", box->move.moved);
    }
}

static int
stat_run(struct cli_call *call)
{
    struct stat_values values = {.common = CLI_COMMON_INIT};
    struct cli_target target;
    struct stat_box box = {
        .options = LBX_BOX_OPTIONS_INIT,
        .counts = LBX_BOX_COUNTS_INIT,
        .move = LBX_MOVE_PROGRESS_INIT,
    };
    struct cli_out out;
    lbx_status status;
    int code = cli_parse(call, &values);

    if (code != CLI_RUN)
        return code;
    // The box is opened for the complaint when it is not there.
    code = cli_target_open(&target, call->arguments[0], &values.common, false);
    if (code != CLI_OK)
        return code;
    box.url = target.url;
    box.name = target.box;
    status = lbx_store_describe_box(target.store, target.box, box.buffer,
                                    &box.options, &box.counts);
    box.has_move =
        lbx_store_describe_move(target.store, target.box, &box.move) == LBX_OK;
    if (status != LBX_OK) {
        code = cli_complain_status(status, NULL, target.url);
    } else if ((code = cli_out_open(&out, values.common.json)) == CLI_OK) {
        if (out.style == CLI_JSON)
            stat_json(&out, &box);
        else
            stat_human(&out, &box);
        code = cli_out_close(&out, code);
    }
    cli_target_close(&target);
    return code;
}

const struct cli_command cli_stat_command = {
    .name = "stat",
    .arguments = "URL",
    .summary = "show the counts and the options of a box",
    .details = "Shows how many messages a box has, its options by the names "
               "that letterbox create has for them, and the latest move out "
               "of it, if there was one.",
    .options = stat_options,
    .examples =
        (const char *const[]){
            "a box", "letterbox stat file:shop/orders", "how many are waiting",
            "letterbox stat file:shop/orders --json | jq .ready", NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = stat_run,
};
