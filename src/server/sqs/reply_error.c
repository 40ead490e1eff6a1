/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as replies; see reply.h. */
#include "base/utf8.h"
#include "server/sqs/reply_xml.h"

/* Adds a text with U+FFFD for each byte that is no UTF-8: a text may be cut in
 * the middle of a character, or quote a header. */
static void
reply_add_clean(lbx_buffer *out, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        uint32_t code;
        const size_t length = lbx__utf8_decode(text, left, &code);

        if (length > 0)
            lbx__buffer_add(out, text, length);
        else
            lbx__buffer_add(out, "\xef\xbf\xbd", 3);
        text += length > 0 ? length : 1;
        left -= length > 0 ? length : 1;
    }
}

static void
reply_error_tree(lbx__sqs_reply *reply, const lbx__sqs_error_row *row,
                 const char *text)
{
    lbx__json_writer *json = &reply->json;

    if (reply->has_xml_names) {
        lbx__json_writer_name(json, "ErrorResponse");
        lbx__json_writer_object(json);
    }
    lbx__json_writer_name(json, "Error");
    lbx__json_writer_object(json);
    lbx__json_writer_name(json, "Type");
    lbx__json_writer_text(json, row->is_sender ? "Sender" : "Receiver");
    lbx__json_writer_name(json, "Code");
    lbx__json_writer_text(json, row->code);
    lbx__json_writer_name(json, "Message");
    lbx__json_writer_text(json, text);
    lbx__json_writer_object_end(json);
    lbx__json_writer_name(json, "RequestId");
    lbx__json_writer_text(json, reply->request_id);
    if (reply->has_xml_names)
        lbx__json_writer_object_end(json);
}

static void
reply_error_json(lbx__sqs_reply *reply, const lbx__sqs_error_row *row,
                 const char *text)
{
    lbx__json_writer *json = &reply->json;
    lbx_buffer clean;

    lbx__buffer_init(&clean, reply->buffer->allocator, reply->buffer->max);
    reply_add_clean(&clean, text);
    lbx__json_writer_init(json, reply->buffer);
    lbx__json_writer_object(json);
    if (reply->format == LBX__SQS_TREE)
        reply_error_tree(reply, row, lbx__buffer_text(&clean));
    else {
        lbx__json_writer_name(json, "__type");
        lbx__json_writer_text(json, row->type);
        lbx__json_writer_name(json, "message");
        lbx__json_writer_text(json, lbx__buffer_text(&clean));
    }
    lbx__json_writer_object_end(json);
    lbx__buffer_fini(&clean);
}

void
lbx__reply_error(lbx__sqs_reply *reply, lbx__sqs_error error, const char *text)
{
    const lbx__sqs_error_row *row = lbx__sqs_error_row_of(error);

    lbx__buffer_reset(reply->buffer);
    reply->has_result = false;
    reply->depth = 0;
    if (reply->format != LBX__SQS_QUERY)
        reply_error_json(reply, row, text);
    else
        lbx__reply_xml_error(reply, row, text);
}
