/* SPDX-License-Identifier: Apache-2.0 */
/* Printing letters: see output.h. */
#include "output.h"

#include <inttypes.h>
#include <string.h>

static const char *
letter_kind_name(lbx_attribute_kind kind)
{
    switch (kind) {
    case LBX_ATTRIBUTE_NUMBER:
        return "Number";
    case LBX_ATTRIBUTE_BINARY:
        return "Binary";
    case LBX_ATTRIBUTE_STRING:
        break;
    }
    return "String";
}

/* "Number.float" */
static const char *
letter_attribute_type(const lbx_attribute *attribute, char buffer[320])
{
    snprintf(buffer, 320, "%s%s%s", letter_kind_name(attribute->kind),
             attribute->label ? "." : "",
             attribute->label ? attribute->label : "");
    return buffer;
}

/* ---- JSON ---- */

static void
letter_json_attributes(struct cli_json *json, const lbx_letter *letter)
{
    lbx_attribute attribute;
    char type[320];

    if (!lbx_letter_attribute_at(letter, 0, &attribute))
        return;
    lbx_json_writer_object(&json->writer, "attributes");
    for (size_t i = 0; lbx_letter_attribute_at(letter, i, &attribute); i++) {
        lbx_json_writer_object(&json->writer, attribute.name);
        lbx_json_writer_text(&json->writer, "type",
                             letter_attribute_type(&attribute, type));
        cli_json_bytes(json, "value", attribute.value, attribute.value_bytes);
        lbx_json_writer_end(&json->writer);
    }
    lbx_json_writer_end(&json->writer);
}

static void
letter_json_text(struct cli_json *json, const char *name, const char *text)
{
    if (text)
        lbx_json_writer_text(&json->writer, name, text);
}

static void
letter_json_info(struct cli_json *json, const lbx_letter_info *info,
                 bool peeked)
{
    char time[CLI_NUMBER_BYTES];

    cli_json_count(json, "sequence", info->sequence);
    cli_json_count(json, "deliveries", info->delivery_count);
    lbx_json_writer_text(&json->writer, "sent",
                         cli_format_time(info->sent_ms, false, time));
    if (info->first_received_ms > 0)
        lbx_json_writer_text(
            &json->writer, "first_received",
            cli_format_time(info->first_received_ms, false, time));
    if (!peeked)
        cli_json_ms(json, "lease_ms", info->lease_ns);
    letter_json_text(json, "group", info->group);
    letter_json_text(json, "deduplication_id", info->deduplication_id);
    letter_json_text(json, "trace", info->trace);
    letter_json_text(json, "in_reply_to", info->in_reply_to);
    letter_json_text(json, "dead_letter_source", info->dead_letter_source);
}

static bool
letter_json(struct cli_out *out, const lbx_letter *letter,
            const lbx_letter_info *info, const char *receipt,
            const struct cli_letter_style *style)
{
    struct cli_json json;
    size_t size;
    const void *body = lbx_letter_body(letter, &size);

    if (!cli_json_begin(&json, out))
        return false;
    lbx_json_writer_text(&json.writer, "id", lbx_letter_id(letter));
    cli_json_bytes(&json, "body", body, size);
    letter_json_text(&json, "type", lbx_letter_type_name(letter));
    letter_json_info(&json, info, style->peeked);
    letter_json_attributes(&json, letter);
    letter_json_text(&json, "receipt", receipt);
    return cli_json_end(&json);
}

/* ---- On a terminal ---- */

static void
letter_row(struct cli_out *out, const char *label, const char *text)
{
    if (!text)
        return;
    fprintf(out->stream, "%s%-12s%s ", cli_out_dim(out), label,
            cli_out_normal(out));
    cli_out_escaped(out->stream, text, strlen(text), false);
    fputc('\n', out->stream);
}

static void
letter_human_info(struct cli_out *out, const lbx_letter_info *info, bool peeked)
{
    char number[CLI_NUMBER_BYTES];
    char line[128];

    letter_row(out, "sent", cli_format_time(info->sent_ms, true, number));
    snprintf(line, sizeof(line), "%" PRIu32 "%s%s", info->delivery_count,
             peeked ? "" : ", leased for ",
             peeked ? "" : cli_format_duration(info->lease_ns, number));
    letter_row(out, peeked ? "deliveries" : "delivery", line);
    letter_row(out, "group", info->group);
    letter_row(out, "dedup id", info->deduplication_id);
    letter_row(out, "trace", info->trace);
    letter_row(out, "in reply to", info->in_reply_to);
    letter_row(out, "came from", info->dead_letter_source);
}

static void
letter_human_attributes(struct cli_out *out, const lbx_letter *letter)
{
    lbx_attribute attribute;
    char type[320];

    for (size_t i = 0; lbx_letter_attribute_at(letter, i, &attribute); i++) {
        fprintf(out->stream, "%s%-12s%s ", cli_out_dim(out), "attribute",
                cli_out_normal(out));
        cli_out_escaped(out->stream, attribute.name, strlen(attribute.name),
                        false);
        fprintf(out->stream, " (%s) ", letter_attribute_type(&attribute, type));
        cli_out_escaped(out->stream, attribute.value, attribute.value_bytes,
                        false);
        fputc('\n', out->stream);
    }
}

static void
letter_human(struct cli_out *out, const lbx_letter *letter,
             const lbx_letter_info *info, const char *receipt,
             const struct cli_letter_style *style)
{
    size_t size;
    const char *body = lbx_letter_body(letter, &size);

    letter_row(out, "message", lbx_letter_id(letter));
    letter_human_info(out, info, style->peeked);
    letter_row(out, "type", lbx_letter_type_name(letter));
    letter_human_attributes(out, letter);
    letter_row(out, "receipt", receipt);
    fprintf(out->stream, "%s%-12s%s %zu bytes\n%s", cli_out_dim(out), "body",
            cli_out_normal(out), size, cli_out_bold(out));
    cli_out_escaped(out->stream, body, size, true);
    fprintf(out->stream, "%s%s\n", cli_out_normal(out),
            size > 0 && body[size - 1] == '\n' ? "" : "\n");
}

static void
letter_plain(struct cli_out *out, const lbx_letter *letter, const char *receipt,
             const struct cli_letter_style *style)
{
    size_t size;
    const void *body = lbx_letter_body(letter, &size);

    if (style->plain_receipt && receipt)
        fprintf(out->stream, "%s\t", receipt);
    fwrite(body, 1, size, out->stream);
    fputc(style->delimiter, out->stream);
}

bool
cli_letter_print(struct cli_out *out, const lbx_letter *letter,
                 const struct cli_letter_style *style)
{
    lbx_letter_info info = LBX_LETTER_INFO_INIT;
    char receipt[LBX_RECEIPT_BYTES];
    const char *shown = NULL;

    if (lbx_letter_info_read(letter, &info) != LBX_OK)
        return false;
    if (style->receipt &&
        lbx_letter_receipt(letter, receipt, sizeof(receipt)) == LBX_OK)
        shown = receipt;
    if (out->style == CLI_JSON)
        return letter_json(out, letter, &info, shown, style);
    if (out->style == CLI_HUMAN)
        letter_human(out, letter, &info, shown, style);
    else
        letter_plain(out, letter, shown, style);
    return true;
}
