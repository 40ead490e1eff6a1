/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies; see reply.h. Each function writes JSON itself, and leaves XML to
 * reply_xml.c.
 *
 * What surrounds the members is written with the first of them, so that a reply
 * without any can be told from one that has some.
 */
#include "server/sqs/reply.h"

#include "base/alloc.h"
#include "codec/base64.h"
#include "server/sqs/reply_xml.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

void
lbx__reply_begin(lbx__sqs_reply *reply, lbx__sqs_format format,
                 const char *action, const char *request_id, lbx_buffer *buffer)
{
    *reply = (lbx__sqs_reply){
        .format = format,
        .action = action,
        .request_id = request_id,
        .buffer = buffer,
    };
    lbx__json_writer_init(&reply->json, buffer);
}

/* {"SendMessageResponse":{"SendMessageResult":{ */
static void
reply_tree_object(lbx__sqs_reply *reply, const char *suffix)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s%s", reply->action, suffix);
    lbx__json_writer_name(&reply->json, name);
    lbx__json_writer_object(&reply->json);
}

static void
reply_open_result(lbx__sqs_reply *reply)
{
    reply->has_result = true;
    if (reply->format == LBX__SQS_QUERY) {
        lbx__reply_xml_begin(reply);
        return;
    }
    lbx__json_writer_object(&reply->json);
    if (reply->format == LBX__SQS_TREE) {
        reply_tree_object(reply, "Response");
        reply_tree_object(reply, "Result");
    }
}

/* Whether it is JSON; opens the result if nothing was written yet. */
static bool
reply_is_json(lbx__sqs_reply *reply)
{
    if (!reply->has_result)
        reply_open_result(reply);
    return reply->format != LBX__SQS_QUERY;
}

void
lbx__reply_text(lbx__sqs_reply *reply, const char *name, lbx__slice text)
{
    if (!reply_is_json(reply)) {
        lbx__reply_xml_element(reply, name, text);
        return;
    }
    lbx__json_writer_name(&reply->json, name);
    lbx__json_writer_bytes(&reply->json, text.bytes ? text.bytes : "",
                           text.size);
}

void
lbx__reply_number(lbx__sqs_reply *reply, const char *name, int64_t number)
{
    char text[24];

    if (!reply_is_json(reply)) {
        (void)snprintf(text, sizeof(text), "%" PRId64, number);
        lbx__reply_xml_element(reply, name, lbx__slice_of(text));
        return;
    }
    lbx__json_writer_name(&reply->json, name);
    lbx__json_writer_integer(&reply->json, number);
}

void
lbx__reply_boolean(lbx__sqs_reply *reply, const char *name, bool value)
{
    if (!reply_is_json(reply)) {
        lbx__reply_xml_element(reply, name,
                               lbx__slice_of(value ? "true" : "false"));
        return;
    }
    lbx__json_writer_name(&reply->json, name);
    lbx__json_writer_boolean(&reply->json, value);
}

void
lbx__reply_base64(lbx__sqs_reply *reply, const char *name, lbx__slice bytes)
{
    const lbx_allocator *allocator = reply->buffer->allocator;
    const size_t size = lbx__base64_text_size(LBX__BASE64, bytes.size);
    char *text = lbx__alloc(allocator, size + 1, 1);

    if (!text) {
        if (reply->buffer->status == LBX_OK)
            reply->buffer->status = LBX_NO_MEMORY; // REPLY-X2
        return;
    }
    lbx__base64_encode(LBX__BASE64, bytes.bytes, bytes.size, text);
    lbx__reply_text(reply, name, (lbx__slice){text, size});
    lbx__free(allocator, text, size + 1);
}

void
lbx__reply_null(lbx__sqs_reply *reply, const char *name)
{
    if (reply->format != LBX__SQS_TREE || reply->has_xml_names)
        return;
    (void)reply_is_json(reply);
    lbx__json_writer_name(&reply->json, name);
    lbx__json_writer_null(&reply->json);
}

// ---- Lists and maps ----

/* Remembers what an open list or map repeats, for XML. */
static void
reply_open(lbx__sqs_reply *reply, const char *name, const char *key,
           const char *value)
{
    assert(reply->depth < LBX__REPLY_DEPTH);
    reply->open[reply->depth].name = name;
    reply->open[reply->depth].key = key;
    reply->open[reply->depth].value = value;
    reply->depth++;
}

static void
reply_close(lbx__sqs_reply *reply)
{
    assert(reply->depth > 0);
    reply->depth--;
}

/* In the tree, SQS writes lists in lower case: "messages", "queueUrls". */
static void
reply_list_name(lbx__sqs_reply *reply, const char *json_name,
                const char *xml_name)
{
    char name[64];

    if (reply->has_xml_names || reply->format != LBX__SQS_TREE) {
        lbx__json_writer_name(&reply->json,
                              reply->has_xml_names ? xml_name : json_name);
        return;
    }
    (void)snprintf(name, sizeof(name), "%s", json_name);
    if (name[0] >= 'A' && name[0] <= 'Z')
        name[0] = (char)(name[0] - 'A' + 'a');
    lbx__json_writer_name(&reply->json, name);
}

void
lbx__reply_list(lbx__sqs_reply *reply, const char *json_name,
                const char *xml_name)
{
    if (reply_is_json(reply)) {
        reply_list_name(reply, json_name, xml_name);
        if (!reply->has_one_item)
            lbx__json_writer_array(&reply->json);
    }
    reply_open(reply, xml_name, NULL, NULL);
}

void
lbx__reply_item(lbx__sqs_reply *reply)
{
    if (reply_is_json(reply))
        lbx__json_writer_object(&reply->json);
    else
        lbx__reply_xml_item(reply);
}

void
lbx__reply_item_end(lbx__sqs_reply *reply)
{
    if (reply_is_json(reply))
        lbx__json_writer_object_end(&reply->json);
    else
        lbx__reply_xml_item_end(reply);
}

void
lbx__reply_list_text(lbx__sqs_reply *reply, lbx__slice text)
{
    if (reply_is_json(reply))
        lbx__json_writer_bytes(&reply->json, text.bytes ? text.bytes : "",
                               text.size);
    else
        lbx__reply_xml_list_text(reply, text);
}

void
lbx__reply_list_end(lbx__sqs_reply *reply)
{
    if (reply_is_json(reply) && !reply->has_one_item)
        lbx__json_writer_array_end(&reply->json);
    reply_close(reply);
}

void
lbx__reply_map(lbx__sqs_reply *reply, const char *json_name,
               const char *xml_name, const char *xml_key, const char *xml_value)
{
    if (reply_is_json(reply)) {
        const bool is_tree = reply->format == LBX__SQS_TREE;

        lbx__json_writer_name(&reply->json,
                              reply->has_xml_names ? xml_name : json_name);
        if (is_tree) // [{"Name":"...","Value":"..."}]
            lbx__json_writer_array(&reply->json);
        else
            lbx__json_writer_object(&reply->json);
    }
    reply_open(reply, xml_name, xml_key, xml_value);
}

/* The name of a map's value; in a tree, as a member of its own. */
static void
reply_map_name(lbx__sqs_reply *reply, lbx__slice name)
{
    lbx__json_writer *json = &reply->json;

    if (reply->format != LBX__SQS_TREE) {
        lbx__json_writer_name_bytes(json, name.bytes, name.size);
        return;
    }
    lbx__json_writer_object(json);
    lbx__json_writer_name(json, reply->open[reply->depth - 1].key);
    lbx__json_writer_bytes(json, name.bytes, name.size);
    lbx__json_writer_name(json, reply->open[reply->depth - 1].value);
}

void
lbx__reply_map_text(lbx__sqs_reply *reply, lbx__slice name, lbx__slice value)
{
    if (!reply_is_json(reply)) {
        lbx__reply_xml_map_text(reply, name, value);
        return;
    }
    reply_map_name(reply, name);
    lbx__json_writer_bytes(&reply->json, value.bytes ? value.bytes : "",
                           value.size);
    if (reply->format == LBX__SQS_TREE)
        lbx__json_writer_object_end(&reply->json);
}

void
lbx__reply_map_object(lbx__sqs_reply *reply, lbx__slice name)
{
    if (!reply_is_json(reply)) {
        lbx__reply_xml_map_object(reply, name);
        return;
    }
    reply_map_name(reply, name);
    lbx__json_writer_object(&reply->json);
}

void
lbx__reply_map_object_end(lbx__sqs_reply *reply)
{
    if (!reply_is_json(reply)) {
        lbx__reply_xml_map_object_end(reply);
        return;
    }
    lbx__json_writer_object_end(&reply->json);
    if (reply->format == LBX__SQS_TREE)
        lbx__json_writer_object_end(&reply->json);
}

void
lbx__reply_map_end(lbx__sqs_reply *reply)
{
    if (reply_is_json(reply)) {
        if (reply->format == LBX__SQS_TREE)
            lbx__json_writer_array_end(&reply->json);
        else
            lbx__json_writer_object_end(&reply->json);
    }
    reply_close(reply);
}

// ---- The end ----

static void
reply_tree_finish(lbx__sqs_reply *reply, bool is_empty)
{
    lbx__json_writer *json = &reply->json;

    if (!reply->has_result && is_empty) {
        lbx__json_writer_object(json);
        reply_tree_object(reply, "Response");
    } else {
        (void)reply_is_json(reply);
        lbx__json_writer_object_end(json);
    }
    lbx__json_writer_name(json, "ResponseMetadata");
    lbx__json_writer_object(json);
    lbx__json_writer_name(json, "RequestId");
    lbx__json_writer_text(json, reply->request_id);
    lbx__json_writer_object_end(json);
    lbx__json_writer_object_end(json);
    lbx__json_writer_object_end(json);
}

void
lbx__reply_finish(lbx__sqs_reply *reply, bool is_empty)
{
    assert(reply->depth == 0);
    if (reply->format == LBX__SQS_QUERY) {
        lbx__reply_xml_finish(reply, is_empty);
        return;
    }
    if (reply->format == LBX__SQS_TREE) {
        reply_tree_finish(reply, is_empty);
        return;
    }
    if (!reply->has_result && is_empty)
        return;
    (void)reply_is_json(reply);
    lbx__json_writer_object_end(&reply->json);
}
