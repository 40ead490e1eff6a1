/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of an action, written once for both wire formats.
 *
 *     lbx__reply_list(reply, "Messages", "Message");
 *     lbx__reply_item(reply);
 *     lbx__reply_text(reply, "MessageId", id);
 *     lbx__reply_item_end(reply);
 *     lbx__reply_list_end(reply);
 *
 * is {"Messages":[{"MessageId":"..."}]} in JSON and, in XML, where lists are
 * flat, <Message><MessageId>...</MessageId></Message>. A map is an object in
 * JSON, and in XML repeated elements with a name and a value.
 *
 * REPLY-X1  What has no members is left out by the caller: no empty lists and
 *           maps.
 * REPLY-X2  A failure (memory, size) is kept in the buffer's status.
 */
#ifndef LBX_SERVER_SQS_REPLY_H
#define LBX_SERVER_SQS_REPLY_H

#include "base/buffer.h"
#include "base/slice.h"
#include "codec/json_writer.h"
#include "server/sqs/error.h"

typedef enum lbx__sqs_format {
    LBX__SQS_JSON,  /* AWS JSON 1.0 */
    LBX__SQS_QUERY, /* Query, answered in XML */
    LBX__SQS_TREE,  /* Query, answered with the tree of the XML as JSON: what
                       SQS does for Accept: application/json */
} lbx__sqs_format;

enum {
    LBX__REPLY_DEPTH = 4
};

typedef struct lbx__sqs_reply {
    lbx__sqs_format format;
    const char *action;     /* "SendMessage" */
    const char *request_id; /* a UUID */
    lbx_buffer *buffer;
    lbx__json_writer json;
    bool has_result;    /* something was written */
    bool has_xml_names; /* of a tree: lists and maps are called as in XML, as
                           LocalStack does, not as SQS does */
    bool has_one_item;  /* with these names: a list of one is that item, as in
                           LocalStack */
    /* of XML: the elements that an open list or map repeats */
    struct {
        const char *name;
        const char *key; /* of a map; NULL: a list */
        const char *value;
    } open[LBX__REPLY_DEPTH];
    uint32_t depth;
} lbx__sqs_reply;

void lbx__reply_begin(lbx__sqs_reply *reply, lbx__sqs_format format,
                      const char *action, const char *request_id,
                      lbx_buffer *buffer);

/* Members of the result, of an item, or of a map's object. */
void lbx__reply_text(lbx__sqs_reply *reply, const char *name, lbx__slice text);
void lbx__reply_number(lbx__sqs_reply *reply, const char *name, int64_t number);
void lbx__reply_boolean(lbx__sqs_reply *reply, const char *name, bool value);
void lbx__reply_base64(lbx__sqs_reply *reply, const char *name,
                       lbx__slice bytes);

/* A member that is not there: SQS writes it into the tree as null, and leaves
 * it out elsewhere. */
void lbx__reply_null(lbx__sqs_reply *reply, const char *name);

/* A list of objects, or of texts. */
void lbx__reply_list(lbx__sqs_reply *reply, const char *json_name,
                     const char *xml_name);
void lbx__reply_item(lbx__sqs_reply *reply);
void lbx__reply_item_end(lbx__sqs_reply *reply);
void lbx__reply_list_text(lbx__sqs_reply *reply, lbx__slice text);
void lbx__reply_list_end(lbx__sqs_reply *reply);

/* A map: ("Attributes", "Attribute", "Name", "Value"), ("Tags", "Tag", "Key",
 * "Value"). Its values are texts, or objects between _map_object() and
 * _map_object_end(). */
void lbx__reply_map(lbx__sqs_reply *reply, const char *json_name,
                    const char *xml_name, const char *xml_key,
                    const char *xml_value);
void lbx__reply_map_text(lbx__sqs_reply *reply, lbx__slice name,
                         lbx__slice value);
void lbx__reply_map_object(lbx__sqs_reply *reply, lbx__slice name);
void lbx__reply_map_object_end(lbx__sqs_reply *reply);
void lbx__reply_map_end(lbx__sqs_reply *reply);

/* Completes it. `buffer` then is the body: empty in JSON when `is_empty`, for
 * actions that have no output at all. */
void lbx__reply_finish(lbx__sqs_reply *reply, bool is_empty);

/* Instead of a result: the body of an error. What is in the buffer is thrown
 * away. The text may have any bytes. */
void lbx__reply_error(lbx__sqs_reply *reply, lbx__sqs_error error,
                      const char *text);

#endif
