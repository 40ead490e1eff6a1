/* SPDX-License-Identifier: Apache-2.0 */
/* Replies in XML; see reply_xml.h. Only texts are escaped: the names of
 * elements are constants. */
#include "server/sqs/reply_xml.h"

#include "codec/xml.h"

#include <assert.h>

static const char reply_xml_space[] =
    " xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"";

static void
reply_xml_put(lbx__sqs_reply *reply, const char *text)
{
    lbx__buffer_add(reply->buffer, text, strlen(text));
}

/* <nameSuffix> */
static void
reply_xml_start(lbx__sqs_reply *reply, const char *name, const char *suffix)
{
    reply_xml_put(reply, "<");
    reply_xml_put(reply, name);
    reply_xml_put(reply, suffix);
    reply_xml_put(reply, ">");
}

/* </nameSuffix> */
static void
reply_xml_stop(lbx__sqs_reply *reply, const char *name, const char *suffix)
{
    reply_xml_put(reply, "</");
    reply_xml_put(reply, name);
    reply_xml_put(reply, suffix);
    reply_xml_put(reply, ">");
}

void
lbx__reply_xml_element(lbx__sqs_reply *reply, const char *name, lbx__slice text)
{
    reply_xml_start(reply, name, "");
    lbx__xml_text(reply->buffer, text);
    reply_xml_stop(reply, name, "");
}

/* The declaration and the outermost element. */
static void
reply_xml_open_response(lbx__sqs_reply *reply)
{
    reply_xml_put(reply, "<?xml version=\"1.0\"?><");
    reply_xml_put(reply, reply->action);
    reply_xml_put(reply, "Response");
    reply_xml_put(reply, reply_xml_space);
    reply_xml_put(reply, ">");
}

void
lbx__reply_xml_begin(lbx__sqs_reply *reply)
{
    reply_xml_open_response(reply);
    reply_xml_start(reply, reply->action, "Result");
}

void
lbx__reply_xml_finish(lbx__sqs_reply *reply, bool is_empty)
{
    if (reply->has_result) {
        reply_xml_stop(reply, reply->action, "Result");
    } else {
        reply_xml_open_response(reply);
        if (!is_empty)
            reply_xml_start(reply, reply->action, "Result/");
    }
    reply_xml_start(reply, "ResponseMetadata", "");
    lbx__reply_xml_element(reply, "RequestId",
                           lbx__slice_of(reply->request_id));
    reply_xml_stop(reply, "ResponseMetadata", "");
    reply_xml_stop(reply, reply->action, "Response");
}

void
lbx__reply_xml_item(lbx__sqs_reply *reply)
{
    assert(reply->depth > 0);
    reply_xml_start(reply, reply->open[reply->depth - 1].name, "");
}

void
lbx__reply_xml_item_end(lbx__sqs_reply *reply)
{
    assert(reply->depth > 0);
    reply_xml_stop(reply, reply->open[reply->depth - 1].name, "");
}

void
lbx__reply_xml_list_text(lbx__sqs_reply *reply, lbx__slice text)
{
    assert(reply->depth > 0);
    lbx__reply_xml_element(reply, reply->open[reply->depth - 1].name, text);
}

void
lbx__reply_xml_map_text(lbx__sqs_reply *reply, lbx__slice name,
                        lbx__slice value)
{
    lbx__reply_xml_item(reply);
    assert(reply->open[reply->depth - 1].key);
    lbx__reply_xml_element(reply, reply->open[reply->depth - 1].key, name);
    lbx__reply_xml_element(reply, reply->open[reply->depth - 1].value, value);
    lbx__reply_xml_item_end(reply);
}

void
lbx__reply_xml_map_object(lbx__sqs_reply *reply, lbx__slice name)
{
    lbx__reply_xml_item(reply);
    assert(reply->open[reply->depth - 1].key);
    lbx__reply_xml_element(reply, reply->open[reply->depth - 1].key, name);
    reply_xml_start(reply, reply->open[reply->depth - 1].value, "");
}

void
lbx__reply_xml_map_object_end(lbx__sqs_reply *reply)
{
    assert(reply->depth > 0);
    reply_xml_stop(reply, reply->open[reply->depth - 1].value, "");
    lbx__reply_xml_item_end(reply);
}

void
lbx__reply_xml_error(lbx__sqs_reply *reply, const lbx__sqs_error_row *row,
                     const char *text)
{
    reply_xml_put(reply, "<?xml version=\"1.0\"?><ErrorResponse");
    reply_xml_put(reply, reply_xml_space);
    reply_xml_put(reply, "><Error>");
    lbx__reply_xml_element(
        reply, "Type", lbx__slice_of(row->is_sender ? "Sender" : "Receiver"));
    lbx__reply_xml_element(reply, "Code", lbx__slice_of(row->code));
    lbx__reply_xml_element(reply, "Message", lbx__slice_of(text));
    reply_xml_put(reply, "<Detail/></Error>");
    lbx__reply_xml_element(reply, "RequestId",
                           lbx__slice_of(reply->request_id));
    reply_xml_put(reply, "</ErrorResponse>");
}
