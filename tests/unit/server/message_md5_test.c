/* SPDX-License-Identifier: Apache-2.0 */
/* The MD5 of attributes: what AWS answered for them, which clients verify. */
#include "server/sqs/message_md5.h"
#include "support/test.h"

#include <string.h>

static lbx__sqs_attribute
text_attribute(const char *name, const char *type, const char *value)
{
    return (lbx__sqs_attribute){
        .name = lbx__slice_of(name),
        .data_type = lbx__slice_of(type),
        .string_value = lbx__slice_of(value),
    };
}

static void
check_md5(const char *wanted, lbx__sqs_attribute *attributes, size_t count)
{
    char text[LBX__MD5_TEXT_BYTES];

    lbx__message_md5_sort(attributes, count);
    CHECK(lbx__message_md5_attributes(attributes, count, text));
    CHECK_STR(wanted, text);
}

TEST(md5_of_one_string_is_what_aws_answers)
{
    lbx__sqs_attribute foobar =
        text_attribute("MyAttribute", "String", "foobar");
    lbx__sqs_attribute test =
        text_attribute("test-key", "String", "test-value");

    check_md5("adb59cd4678ea5a855436b949cd07ab6", &foobar, 1);
    check_md5("befa18540a897f7d022bf07057754a03", &test, 1);
}

/* The order of the request does not matter. */
TEST(md5_of_several_attributes_is_over_the_order_of_their_names)
{
    lbx__sqs_attribute all[] = {
        text_attribute("Help.Me", "String", "Me"),
        text_attribute("Hello", "String", "There"),
        text_attribute("General", "String", "Kenobi"),
    };

    check_md5("83fee93c1bcd8b9a5a923ffacdc636c7", all, 2);
    check_md5("4c360f3fdafd970e05fae2f149d997f5", all, 3);
}

TEST(md5_has_the_whole_data_type_with_its_label)
{
    lbx__sqs_attribute number =
        text_attribute("timestamp", "Number.java.lang.Long", "1493147359900");

    check_md5("2e2e4876d8e0bd6b8c2c8f556831c349", &number, 1);
}

TEST(md5_of_a_binary_value_is_over_its_bytes)
{
    static const char bytes[] =
        "traceparent\x1e"
        "00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01";
    lbx__sqs_attribute binary = {
        .name = lbx__slice_of("attr1"),
        .data_type = lbx__slice_of("Binary"),
        .binary_value = lbx__slice_of(bytes),
    };

    check_md5("8cbe4db156db8a94db8b801b7addb984", &binary, 1);
}

TEST(md5_of_a_trace_header_is_what_aws_answers)
{
    lbx__sqs_attribute trace = text_attribute(
        "AWSTraceHeader", "String",
        "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;"
        "Sampled=1");

    check_md5("5ae4d5d7636402d80f4eb6d213245a88", &trace, 1);
}

TEST(md5_of_a_body_is_over_its_bytes)
{
    char text[LBX__MD5_TEXT_BYTES];

    CHECK(lbx__message_md5_body(lbx__slice_of("msg"), text));
    CHECK_STR("6e2baaf3b97dbeef01c0043275f9a0e7", text);
    CHECK(lbx__message_md5_body((lbx__slice){"a\0b", 3}, text));
    CHECK_STR("70350f6027bce3713f6b76473084309b", text);
}

/* A name that is the beginning of another comes first. */
TEST(sort_puts_the_shorter_of_two_names_first)
{
    lbx__sqs_attribute all[] = {
        text_attribute("ab", "String", "1"),
        text_attribute("a", "String", "2"),
        text_attribute("B", "String", "3"),
    };

    lbx__message_md5_sort(all, 3);
    CHECK_STR("B", all[0].name.bytes);
    CHECK_STR("a", all[1].name.bytes);
    CHECK_STR("ab", all[2].name.bytes);
}
