/* SPDX-License-Identifier: Apache-2.0 */
/* Replies, to the byte, in both wire formats. */
#include "server/sqs/reply.h"
#include "support/test.h"
#include "support/torture.h"

#define SPACE " xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\""
#define META  "<ResponseMetadata><RequestId>id-1</RequestId></ResponseMetadata>"

/* Writes a reply in both formats and checks the bodies. */
static void
check_reply(const char *action, void (*write)(lbx__sqs_reply *reply),
            bool is_empty, const char *json, const char *xml)
{
    const char *expected[] = {json, xml};

    for (int format = LBX__SQS_JSON; format <= LBX__SQS_QUERY; format++) {
        lbx__sqs_reply reply;
        lbx_buffer body;

        lbx__buffer_init(&body, NULL, 1 << 16);
        lbx__reply_begin(&reply, (lbx__sqs_format)format, action, "id-1",
                         &body);
        if (write)
            write(&reply);
        lbx__reply_finish(&reply, is_empty);
        CHECK_OK(body.status);
        CHECK_STR(expected[format], lbx__buffer_text(&body));
        lbx__buffer_fini(&body);
    }
}

TEST(an_action_without_output_has_an_empty_body_or_no_result)
{
    check_reply("PurgeQueue", NULL, true, "",
                "<?xml version=\"1.0\"?><PurgeQueueResponse" SPACE ">" META
                "</PurgeQueueResponse>");
}

TEST(a_receive_without_messages_has_an_empty_result)
{
    check_reply("ReceiveMessage", NULL, false, "{}",
                "<?xml version=\"1.0\"?><ReceiveMessageResponse" SPACE
                "><ReceiveMessageResult/>" META "</ReceiveMessageResponse>");
}

static void
write_members(lbx__sqs_reply *reply)
{
    lbx__reply_text(reply, "QueueUrl", lbx__slice_of("http://h/1/q?a&b"));
    lbx__reply_number(reply, "Count", -7);
    lbx__reply_boolean(reply, "SenderFault", true);
    lbx__reply_boolean(reply, "Other", false);
    lbx__reply_text(reply, "Empty", (lbx__slice){0});
}

TEST(members_are_written_in_order)
{
    check_reply("X", write_members, false,
                "{\"QueueUrl\":\"http://h/1/q?a&b\",\"Count\":-7,"
                "\"SenderFault\":true,\"Other\":false,\"Empty\":\"\"}",
                "<?xml version=\"1.0\"?><XResponse" SPACE "><XResult>"
                "<QueueUrl>http://h/1/q?a&amp;b</QueueUrl><Count>-7</Count>"
                "<SenderFault>true</SenderFault><Other>false</Other>"
                "<Empty></Empty></XResult>" META "</XResponse>");
}

static void
write_messages(lbx__sqs_reply *reply)
{
    lbx__reply_list(reply, "Messages", "Message");
    lbx__reply_item(reply);
    lbx__reply_text(reply, "Body", lbx__slice_of("a\r\n<b>\"\xc3\xbc"));
    lbx__reply_map(reply, "Attributes", "Attribute", "Name", "Value");
    lbx__reply_map_text(reply, lbx__slice_of("SenderId"), lbx__slice_of("me"));
    lbx__reply_map_text(reply, lbx__slice_of("Count"), lbx__slice_of("1"));
    lbx__reply_map_end(reply);
    lbx__reply_map(reply, "MessageAttributes", "MessageAttribute", "Name",
                   "Value");
    lbx__reply_map_object(reply, lbx__slice_of("n"));
    lbx__reply_text(reply, "DataType", lbx__slice_of("Binary"));
    lbx__reply_base64(reply, "BinaryValue", (lbx__slice){"\0\xff", 2});
    lbx__reply_map_object_end(reply);
    lbx__reply_map_end(reply);
    lbx__reply_item_end(reply);
    lbx__reply_item(reply);
    lbx__reply_text(reply, "Body", lbx__slice_of("2"));
    lbx__reply_item_end(reply);
    lbx__reply_list_end(reply);
}

TEST(lists_and_maps_are_flat_in_xml)
{
    check_reply(
        "ReceiveMessage", write_messages, false,
        "{\"Messages\":[{\"Body\":\"a\\r\\n<b>\\\"\xc3\xbc\",\"Attributes\":{"
        "\"SenderId\":\"me\",\"Count\":\"1\"},\"MessageAttributes\":{\"n\":{"
        "\"DataType\":\"Binary\",\"BinaryValue\":\"AP8=\"}}},{\"Body\":\"2\"}"
        "]}",
        "<?xml version=\"1.0\"?><ReceiveMessageResponse" SPACE
        "><ReceiveMessageResult><Message><Body>a&#xD;\n&lt;b&gt;&quot;\xc3\xbc"
        "</Body><Attribute><Name>SenderId</Name><Value>me</Value></Attribute>"
        "<Attribute><Name>Count</Name><Value>1</Value></Attribute>"
        "<MessageAttribute><Name>n</Name><Value><DataType>Binary</DataType>"
        "<BinaryValue>AP8=</BinaryValue></Value></MessageAttribute></Message>"
        "<Message><Body>2</Body></Message></ReceiveMessageResult>" META
        "</ReceiveMessageResponse>");
}

static void
write_texts(lbx__sqs_reply *reply)
{
    lbx__reply_list(reply, "queueUrls", "QueueUrl");
    lbx__reply_list_text(reply, lbx__slice_of("a"));
    lbx__reply_list_text(reply, lbx__slice_of("b"));
    lbx__reply_list_end(reply);
    lbx__reply_map(reply, "Tags", "Tag", "Key", "Value");
    lbx__reply_map_text(reply, lbx__slice_of("k"), (lbx__slice){0});
    lbx__reply_map_end(reply);
    lbx__reply_text(reply, "NextToken", lbx__slice_of("t"));
}

TEST(lists_of_texts_and_tags_have_their_names)
{
    check_reply("L", write_texts, false,
                "{\"queueUrls\":[\"a\",\"b\"],\"Tags\":{\"k\":\"\"},"
                "\"NextToken\":\"t\"}",
                "<?xml version=\"1.0\"?><LResponse" SPACE
                "><LResult><QueueUrl>a</QueueUrl><QueueUrl>b</QueueUrl><Tag>"
                "<Key>k</Key><Value></Value></Tag><NextToken>t</NextToken>"
                "</LResult>" META "</LResponse>");
}

/* Writes an error over a result that was begun. */
static void
check_error(lbx__sqs_format format, lbx__sqs_error error, const char *text,
            const char *expected)
{
    lbx__sqs_reply reply;
    lbx_buffer body;

    lbx__buffer_init(&body, NULL, 1000);
    lbx__reply_begin(&reply, format, "ReceiveMessage", "id-1", &body);
    lbx__reply_list(&reply, "Messages", "Message");
    lbx__reply_item(&reply);
    body.status = LBX_TOO_LARGE;
    lbx__reply_error(&reply, error, text);
    CHECK_OK(body.status);
    CHECK_STR(expected, lbx__buffer_text(&body));
    lbx__buffer_fini(&body);
}

TEST(an_error_takes_the_place_of_a_result)
{
    check_error(LBX__SQS_JSON, LBX__SQS_QueueDoesNotExist,
                "The \"queue\" does not exist.",
                "{\"__type\":\"com.amazonaws.sqs#QueueDoesNotExist\","
                "\"message\":\"The \\\"queue\\\" does not exist.\"}");
    check_error(LBX__SQS_JSON, LBX__SQS_SerializationException, "",
                "{\"__type\":\"com.amazon.coral.service#SerializationException"
                "\",\"message\":\"\"}");
    check_error(LBX__SQS_QUERY, LBX__SQS_QueueDoesNotExist, "a <b>",
                "<?xml version=\"1.0\"?><ErrorResponse" SPACE
                "><Error><Type>Sender</Type><Code>AWS.SimpleQueueService."
                "NonExistentQueue</Code><Message>a &lt;b&gt;</Message><Detail/>"
                "</Error><RequestId>id-1</RequestId></ErrorResponse>");
    check_error(LBX__SQS_QUERY, LBX__SQS_InternalFailure, "x",
                "<?xml version=\"1.0\"?><ErrorResponse" SPACE
                "><Error><Type>Receiver</Type><Code>InternalFailure</Code>"
                "<Message>x</Message><Detail/></Error><RequestId>id-1"
                "</RequestId></ErrorResponse>");
}

/* Texts quote what clients send, and are cut at a size. */
TEST(an_error_may_have_any_bytes)
{
    check_error(LBX__SQS_JSON, LBX__SQS_InvalidAddress, "\xff\x01 cut\xc3",
                "{\"__type\":\"com.amazonaws.sqs#InvalidAddress\",\"message\":"
                "\"\xef\xbf\xbd\\u0001 cut\xef\xbf\xbd\"}");
    check_error(LBX__SQS_QUERY, LBX__SQS_InvalidAddress, "\xff\x01 cut\xc3",
                "<?xml version=\"1.0\"?><ErrorResponse" SPACE
                "><Error><Type>Sender</Type><Code>InvalidAddress</Code>"
                "<Message>\xef\xbf\xbd\xef\xbf\xbd cut\xef\xbf\xbd</Message>"
                "<Detail/></Error><RequestId>id-1</RequestId>"
                "</ErrorResponse>");
}

/* REPLY-X2 */
TEST(a_reply_that_is_too_large_is_a_status)
{
    for (int format = LBX__SQS_JSON; format <= LBX__SQS_QUERY; format++) {
        lbx__sqs_reply reply;
        lbx_buffer body;

        lbx__buffer_init(&body, NULL, 100);
        lbx__reply_begin(&reply, (lbx__sqs_format)format, "X", "id", &body);
        for (int i = 0; i < 100; i++)
            lbx__reply_base64(&reply, i % 2 ? "A" : "B", lbx__slice_of("xxxx"));
        lbx__reply_finish(&reply, false);
        CHECK_STATUS(LBX_TOO_LARGE, body.status);
        lbx__buffer_fini(&body);
    }
}

static void
reply_once(struct torture *memory, void *context)
{
    const lbx_allocator allocator = torture_allocator(memory);
    const lbx__sqs_format *format = context;
    lbx__sqs_reply reply;
    lbx_buffer body;

    lbx__buffer_init(&body, &allocator, 1 << 16);
    lbx__reply_begin(&reply, *format, "ReceiveMessage", "id-1", &body);
    write_messages(&reply);
    lbx__reply_finish(&reply, false);
    CHECK(body.status == LBX_OK ||
          (body.status == LBX_NO_MEMORY && memory->failures > 0));
    lbx__reply_error(&reply, LBX__SQS_OverLimit, "text");
    CHECK(body.status == LBX_OK ||
          (body.status == LBX_NO_MEMORY && memory->failures > 0));
    lbx__buffer_fini(&body);
}

TEST(replies_survive_every_failing_allocation)
{
    for (int i = LBX__SQS_JSON; i <= LBX__SQS_QUERY; i++) {
        lbx__sqs_format format = (lbx__sqs_format)i;

        CHECK(torture_every_allocation(reply_once, &format) > 0);
    }
}

TEST(each_error_has_a_type_a_code_and_a_status)
{
    const lbx__sqs_error_row *row;

#define XX(name, space, code_is, status_is)                                    \
    row = lbx__sqs_error_row_of(LBX__SQS_##name);                              \
    CHECK(strstr(row->type, "#" #name));                                       \
    CHECK_STR(code_is, row->code);                                             \
    CHECK_INT(status_is, row->status);                                         \
    CHECK(row->is_sender == (status_is < 500));
    LBX__SQS_ERRORS(XX)
#undef XX
    row = lbx__sqs_error_row_of(LBX__SQS_OverLimit);
    CHECK_STR("com.amazonaws.sqs#OverLimit", row->type);
    row = lbx__sqs_error_row_of(LBX__SQS_AccessDeniedException);
    CHECK_STR("com.amazon.coral.service#AccessDeniedException", row->type);
    CHECK(!lbx__sqs_error_row_of(LBX__SQS_ServiceUnavailable)->is_sender);
}
