/* SPDX-License-Identifier: Apache-2.0 */
/* Sending records: see sender.h. */
#include "sender.h"

#include <inttypes.h>

enum {
    /* More than a store takes: a number at the end is never cut off from a
     * text that it does take. */
    ID_BYTES = 160
};

/* "TOKEN" for the first message, "TOKEN-2" for the second; NULL for NULL. */
static const char *
sender_number(const char *text, uint64_t number, char buffer[ID_BYTES])
{
    if (!text || number == 1)
        return text;
    snprintf(buffer, ID_BYTES, "%s-%" PRIu64, text, number);
    return buffer;
}

static void
sender_print(struct cli_sender *sender, const lbx_sent_letter *sent)
{
    struct cli_out *out = &sender->out;
    struct cli_json json;

    sender->count++;
    if (sender->options->quiet)
        return;
    if (out->style != CLI_JSON) {
        fprintf(out->stream, "%s%s\n", sent->id.text,
                sent->duplicate && out->style == CLI_HUMAN
                    ? " (sent before, not again)"
                    : "");
        return;
    }
    if (!cli_json_begin(&json, out))
        return;
    lbx_json_writer_text(&json.writer, "id", sent->id.text);
    cli_json_count(&json, "sequence", sent->sequence);
    lbx_json_writer_bool(&json.writer, "duplicate", sent->duplicate);
    cli_json_end(&json);
}

static void
sender_refuse(struct cli_sender *sender, const lbx_draft *draft,
              uint64_t number, lbx_status status)
{
    char what[64];
    lbx_fault fault = {.text = ""};

    if (status == LBX_INVALID || status == LBX_TOO_LARGE)
        (void)!lbx_postbox_check_draft(sender->target.postbox, draft, &fault);
    snprintf(what, sizeof(what), "%s %" PRIu64, sender->source, number);
    sender->code = cli_complain_status(status, &fault, what);
    if (status == LBX_UNKNOWN)
        cli_complain("sent again with the same --token, it is there once");
}

/* The texts that a draft borrows. */
struct sender_texts {
    char id[ID_BYTES];
    char token[ID_BYTES];
};

static lbx_draft
sender_make_draft(const struct cli_sender *sender,
                  const struct cli_record *record, uint64_t number,
                  struct sender_texts *texts)
{
    const struct cli_sender_options *options = sender->options;
    lbx_draft draft = lbx_draft_of_bytes(record->bytes, record->size_bytes);

    draft.delay_ns = options->delay_ns;
    draft.group = options->group;
    draft.type_name = options->type;
    draft.trace = options->trace;
    draft.attributes = sender->attributes.items;
    draft.attribute_count = sender->attributes.count;
    draft.deduplication_id =
        sender_number(options->dedup_id, number, texts->id);
    draft.token = sender_number(options->token, number, texts->token);
    return draft;
}

/* Sends up to LBX_MAX_BATCH records in one step. False when one failed. */
static bool
sender_send_group(struct cli_sender *sender, const struct cli_record *records,
                  size_t count)
{
    struct sender_texts texts[LBX_MAX_BATCH];
    lbx_draft drafts[LBX_MAX_BATCH] = {LBX_DRAFT_INIT};
    lbx_sent_letter sent[LBX_MAX_BATCH];
    const uint64_t before = sender->count;
    lbx_status status;

    for (size_t i = 0; i < count; i++)
        drafts[i] =
            sender_make_draft(sender, &records[i], before + i + 1, &texts[i]);
    status =
        lbx_postbox_send_batch(sender->target.postbox, drafts, count, sent);
    for (size_t i = 0; i < count; i++) {
        if (sent[i].status == LBX_OK)
            sender_print(sender, &sent[i]);
        else
            sender_refuse(sender, &drafts[i], before + i + 1, sent[i].status);
    }
    return status == LBX_OK && cli_out_flush(&sender->out);
}

bool
cli_sender_send(struct cli_sender *sender, const struct cli_record *records,
                size_t count)
{
    const int64_t most =
        lbx_postbox_box_options(sender->target.postbox)->limits.max_batch_bytes;
    bool fine = true;

    while (fine && count > 0) {
        int64_t bytes = 0;
        size_t group = 0;

        while (group < count && group < LBX_MAX_BATCH) {
            bytes +=
                (int64_t)records[group].size_bytes + sender->attributes.bytes;
            if (group > 0 && bytes > most)
                break;
            group++;
        }
        fine = sender_send_group(sender, records, group);
        records += group;
        count -= group;
    }
    return fine;
}
