/* SPDX-License-Identifier: Apache-2.0 */
/* Replies in XML; private to reply.c, which has the same in JSON. */
#ifndef LBX_SERVER_SQS_REPLY_XML_H
#define LBX_SERVER_SQS_REPLY_XML_H

#include "server/sqs/reply.h"

/* The declaration, and the elements around the members. */
void lbx__reply_xml_begin(lbx__sqs_reply *reply);
void lbx__reply_xml_finish(lbx__sqs_reply *reply, bool is_empty);

/* <name>text</name> */
void lbx__reply_xml_element(lbx__sqs_reply *reply, const char *name,
                            lbx__slice text);

/* Of the innermost open list or map. */
void lbx__reply_xml_item(lbx__sqs_reply *reply);
void lbx__reply_xml_item_end(lbx__sqs_reply *reply);
void lbx__reply_xml_list_text(lbx__sqs_reply *reply, lbx__slice text);
void lbx__reply_xml_map_text(lbx__sqs_reply *reply, lbx__slice name,
                             lbx__slice value);
void lbx__reply_xml_map_object(lbx__sqs_reply *reply, lbx__slice name);
void lbx__reply_xml_map_object_end(lbx__sqs_reply *reply);

void lbx__reply_xml_error(lbx__sqs_reply *reply, const lbx__sqs_error_row *row,
                          const char *text);

#endif
