/* SPDX-License-Identifier: Apache-2.0 */
/* letterbox check, copy, salvage: looking after stores in files. */
#include "commands.h"
#include "output.h"
#include "progress.h"

#include <inttypes.h>
#include <string.h>

struct check_values {
    struct cli_common common;
};

static const struct cli_option check_options[] = {
    CLI_JSON_OPTION(struct check_values),
    CLI_STORE_OPTIONS(struct check_values),
    {.name = NULL},
};

/* A check, copy or salvage that is under way. */
struct checking {
    const struct check_values *values;
    const char *url;
    char folder[CLI_URL_BYTES];
    char new_folder[CLI_URL_BYTES];
    struct cli_out out;
    struct cli_progress bar;
    lbx_file_store_work work;
    int signal;
};

static void
check_print_damage_json(struct cli_out *out, const lbx_file_store_damage *part)
{
    struct cli_json json;

    if (!cli_json_begin(&json, out))
        return;
    lbx_json_writer_text(&json.writer, "damage", part->what);
    lbx_json_writer_text(&json.writer, "box", part->box);
    cli_json_count(&json, "first_sequence", part->first_sequence);
    cli_json_count(&json, "last_sequence", part->last_sequence);
    cli_json_count(&json, "offset_bytes", part->offset_bytes);
    cli_json_count(&json, "damaged_bytes", part->damaged_bytes);
    cli_json_end(&json);
}

static void
check_damage(void *context, const lbx_file_store_damage *part)
{
    struct checking *checking = context;
    struct cli_out *out = &checking->out;

    cli_progress_clear(&checking->bar);
    if (out->style == CLI_JSON) {
        check_print_damage_json(out, part);
        cli_out_flush_some(out);
        return;
    }
    fprintf(out->stream, "%sdamaged%s %s: %s", cli_out_red(out),
            cli_out_normal(out), part->box ? part->box : "store", part->what);
    if (part->first_sequence > 0)
        fprintf(out->stream, ", messages %" PRIu64 " to %" PRIu64,
                part->first_sequence, part->last_sequence);
    if (part->damaged_bytes > 0)
        fprintf(out->stream, ", %" PRIu64 " bytes at %" PRIu64,
                part->damaged_bytes, part->offset_bytes);
    fputc('\n', out->stream);
    cli_out_flush_some(out);
}

static bool
check_progress(void *context, uint64_t done, uint64_t total)
{
    struct checking *checking = context;

    checking->signal = cli_signals_take(checking->out.signal_fd);
    cli_progress_draw(&checking->bar, done, total);
    return checking->signal == 0;
}

static void
check_print_report(struct checking *checking,
                   const lbx_file_store_report *report, const char *result)
{
    struct cli_out *out = &checking->out;
    struct cli_json json;

    if (out->style != CLI_JSON) {
        fprintf(out->stream, "%s: %" PRIu64 " messages in %" PRIu64 " boxes",
                result, report->letters, report->boxes);
        if (report->damaged > 0 || report->missing > 0)
            fprintf(out->stream,
                    ", %" PRIu64 " damaged records, %" PRIu64
                    " messages missing",
                    report->damaged, report->missing);
        fputc('\n', out->stream);
        return;
    }
    if (!cli_json_begin(&json, out))
        return;
    lbx_json_writer_text(&json.writer, "result", result);
    cli_json_count(&json, "boxes", report->boxes);
    cli_json_count(&json, "messages", report->letters);
    cli_json_count(&json, "damaged", report->damaged);
    cli_json_count(&json, "missing", report->missing);
    cli_json_count(&json, "journal_records", report->journal_records);
    cli_json_count(&json, "torn_bytes", report->torn_bytes);
    cli_json_end(&json);
}

/* Begins a command: options, folders, output, signals. CLI_RUN or the exit
 * code. */
static int
check_open(struct checking *checking, struct cli_call *call,
           struct check_values *values)
{
    int code = cli_parse(call, values);

    if (code != CLI_RUN)
        return code;
    checking->values = values;
    checking->url = call->arguments[0];
    code = cli_target_folder(checking->url, false, checking->folder);
    if (code == CLI_OK && call->argument_count > 1)
        code =
            cli_target_folder(call->arguments[1], true, checking->new_folder);
    if (code == CLI_OK)
        code = cli_out_open(&checking->out, values->common.json);
    if (code != CLI_OK)
        return code;
    checking->out.signal_fd = cli_signals_open();
    cli_progress_open(&checking->bar);
    checking->work = (lbx_file_store_work)LBX_FILE_STORE_WORK_INIT;
    checking->work.context = checking;
    checking->work.damage = check_damage;
    checking->work.progress = check_progress;
    checking->work.group = values->common.group_store;
    return CLI_RUN;
}

static int
check_failed(struct checking *checking, lbx_status status,
             const lbx_fault *fault)
{
    if (status != LBX_CANCELLED)
        return cli_complain_status(status, fault, checking->url);
    cli_complain("stopped");
    return CLI_INTERRUPTED;
}

/* ---- The commands ---- */

/* Runs a command: its work prints, or complains, and returns the exit code. */
static int
check_run_work(struct cli_call *call, int (*work)(struct checking *checking))
{
    struct check_values values = {.common = CLI_COMMON_INIT};
    struct checking checking;
    const int code = check_open(&checking, call, &values);

    if (code != CLI_RUN)
        return code;
    return cli_out_close(&checking.out, work(&checking));
}

static int
check_work(struct checking *checking)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const lbx_status status =
        lbx_file_store_check_with(checking->folder, &checking->work, &report);

    cli_progress_clear(&checking->bar);
    if (status != LBX_OK && status != LBX_CORRUPT)
        return check_failed(checking, status, &report.fault);
    check_print_report(checking, &report,
                       status == LBX_OK ? "intact" : "damaged");
    if (status == LBX_OK)
        return CLI_OK;
    cli_complain("%s is damaged; letterbox salvage %s NEW-DIR saves what is "
                 "intact",
                 checking->url, checking->url);
    return CLI_DAMAGED;
}

static int
check_run(struct cli_call *call)
{
    return check_run_work(call, check_work);
}

static int
salvage_work(struct checking *checking)
{
    lbx_file_store_report report = LBX_FILE_STORE_REPORT_INIT;
    const lbx_status status = lbx_file_store_salvage_with(
        checking->folder, checking->new_folder, &checking->work, &report);

    cli_progress_clear(&checking->bar);
    if (status != LBX_OK)
        return check_failed(checking, status, &report.fault);
    check_print_report(checking, &report, "saved");
    return CLI_OK;
}

static int
salvage_run(struct cli_call *call)
{
    return check_run_work(call, salvage_work);
}

static void
copy_print(struct checking *checking)
{
    struct cli_json json;

    if (checking->out.style != CLI_JSON) {
        fprintf(checking->out.stream, "copied to %s\n", checking->new_folder);
    } else if (cli_json_begin(&json, &checking->out)) {
        lbx_json_writer_text(&json.writer, "result", "copied");
        cli_json_bytes(&json, "folder", checking->new_folder,
                       strlen(checking->new_folder));
        cli_json_end(&json);
    }
}

static int
copy_work(struct checking *checking)
{
    lbx_fault fault = {.text = ""};
    struct cli_target target;
    lbx_status status;
    int code = cli_target_open_whole(&target, checking->url,
                                     &checking->values->common);

    if (code != CLI_OK)
        return code;
    status = lbx_file_store_copy_with(target.store, checking->new_folder,
                                      &checking->work, &fault);
    cli_progress_clear(&checking->bar);
    if (status == LBX_OK)
        copy_print(checking);
    else
        code = check_failed(checking, status, &fault);
    cli_target_close(&target);
    return code;
}

static int
copy_run(struct cli_call *call)
{
    return check_run_work(call, copy_work);
}

const struct cli_command cli_check_command = {
    .name = "check",
    .arguments = "STORE",
    .summary = "look for damage in a store",
    .details = "Reads every record of STORE, as file:DIR, and compares "
               "checksums, counts and indexes. The store may be in use. "
               "Damage is listed, and the exit code is 5.",
    .options = check_options,
    .examples =
        (const char *const[]){
            "once a week, from a timer", "letterbox check file:shop",
            "in a script",
            "letterbox check file:shop --json >report || echo look at it",
            NULL},
    .least_arguments = 1,
    .most_arguments = 1,
    .run = check_run,
};

const struct cli_command cli_copy_command = {
    .name = "copy",
    .arguments = "STORE NEW-DIR",
    .summary = "copy a store, while it is in use",
    .details = "Makes a compact copy of STORE, as file:DIR, in the folder "
               "NEW-DIR, which must not exist: as it was at one moment, with "
               "everything that had been sent before. Never copy the files "
               "of a store that is in use with cp. Receipts of the original "
               "are not good in the copy.",
    .options = check_options,
    .examples =
        (const char *const[]){
            "a backup", "letterbox copy file:shop shop-monday",
            "the same, and check it",
            "letterbox copy file:shop backup && letterbox check file:backup",
            NULL},
    .least_arguments = 2,
    .most_arguments = 2,
    .run = copy_run,
};

const struct cli_command cli_salvage_command = {
    .name = "salvage",
    .arguments = "STORE NEW-DIR",
    .summary = "save what is intact of a damaged store",
    .details = "Puts every message of STORE, as file:DIR, that is intact into "
               "a new store in the folder NEW-DIR, which must not exist, and "
               "lists what is damaged. No process may have the store open. "
               "It is left as it is. Leased messages become ready.",
    .options = check_options,
    .examples =
        (const char *const[]){
            "after letterbox check has found damage",
            "letterbox salvage file:shop shop-saved", "and use it instead",
            "mv shop shop-damaged && mv shop-saved shop", NULL},
    .least_arguments = 2,
    .most_arguments = 2,
    .run = salvage_run,
};
