/* SPDX-License-Identifier: Apache-2.0 */
/* Message attributes that SQS takes, and those it refuses. */
#include "server/sqs/attribute_check.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static lbx__sqs_fault fault;

static lbx__sqs_attribute
attribute(const char *name, const char *type, const char *value)
{
    return (lbx__sqs_attribute){
        .name = lbx__slice_of(name),
        .data_type = lbx__slice_of(type),
        .string_value = lbx__slice_of(value),
    };
}

static bool
takes_one(lbx__sqs_attribute one)
{
    lbx__sqs_attributes all = {&one, 1};

    memset(&fault, 0, sizeof(fault));
    return lbx__attribute_check_message(&all, 10, &fault);
}

static bool
takes_name(const char *name)
{
    return takes_one(attribute(name, "String", "v"));
}

static bool
takes_type(const char *type)
{
    return takes_one(attribute("a", type, "1"));
}

static bool
takes_number(const char *text)
{
    return takes_one(attribute("a", "Number", text));
}

TEST(attribute_names_are_letters_digits_and_three_signs)
{
    CHECK(takes_name("aZ09_.-x"));
    CHECK(takes_name("\xc3\xa9t\xc3\xa9")); // AWS lets Latin letters pass
    CHECK(!takes_name("a!b"));
    CHECK(!takes_name("a b"));
    CHECK(!takes_name("\xe2\x82\xac"));
    CHECK(!takes_name(""));
    CHECK_INT(LBX__SQS_InvalidParameterValueException, fault.error);
}

TEST(attribute_names_have_dots_only_inside)
{
    CHECK(takes_name("a.b"));
    CHECK(!takes_name(".x"));
    CHECK(!takes_name("x."));
    CHECK(!takes_name("a..b"));
    CHECK(!takes_name("."));
}

TEST(attribute_names_of_aws_are_reserved)
{
    CHECK(!takes_name("AWS.x"));
    CHECK(!takes_name("aWs.x"));
    CHECK(!takes_name("amazon.x"));
    CHECK(!takes_name("Amazon.x"));
    CHECK(takes_name("AWSx"));
    CHECK(takes_name("amazons.x"));
}

TEST(attribute_names_and_types_have_at_most_256_bytes)
{
    char name[258], type[264] = "Number.";

    memset(name, 'n', 257);
    name[257] = '\0';
    CHECK(!takes_name(name));
    name[256] = '\0';
    CHECK(takes_name(name));
    memset(type + 7, 'L', 250);
    type[257] = '\0';
    CHECK(!takes_type(type));
    type[256] = '\0';
    CHECK(takes_type(type));
}

TEST(attribute_types_begin_with_one_of_three)
{
    CHECK(takes_type("String"));
    CHECK(takes_type("String.custom"));
    CHECK(takes_type("Number.java.lang.Long"));
    CHECK(!takes_type("Foo"));
    CHECK(!takes_type("string"));
    CHECK(!takes_type("Stringy"));
    CHECK(!takes_type("String."));
    CHECK(!takes_type(""));
}

TEST(attribute_value_must_not_be_empty)
{
    CHECK(!takes_one(attribute("ErrorDetails", "String", "")));
    CHECK_STR("Message (user) attribute 'ErrorDetails' must contain a "
              "non-empty value of type 'String'.",
              fault.text);
    CHECK(!takes_one(attribute("a", "Binary", NULL)));
}

TEST(attribute_value_has_the_field_of_its_type)
{
    lbx__sqs_attribute one = attribute("a", "Binary", "text");

    CHECK(!takes_one(one));
    one.binary_value = lbx__slice_of("bytes");
    CHECK(!takes_one(one));
    one.string_value = (lbx__slice){NULL, 0};
    CHECK(takes_one(one));
    one.data_type = lbx__slice_of("String");
    CHECK(!takes_one(one));
}

/* Some clients send both fields, one of them empty. The MD5 looks at which of
 * them is there. */
TEST(attribute_of_text_has_no_binary_value)
{
    lbx__sqs_attribute one = attribute("a", "String", "text");
    lbx__sqs_attributes all = {&one, 1};

    one.binary_value = lbx__slice_of("");
    CHECK(lbx__attribute_check_message(&all, 10, &fault));
    CHECK(!one.binary_value.bytes);
}

TEST(attribute_value_has_no_control_characters)
{
    CHECK(!takes_one(attribute("a", "String", "\x13")));
    CHECK_INT(LBX__SQS_InvalidParameterValueException, fault.error);
    CHECK(takes_one(attribute("a", "String", "\r\n\t")));
}

TEST(attribute_lists_are_unsupported)
{
    lbx__sqs_attribute one = attribute("a", "StringList", NULL);

    one.has_list_values = true;
    CHECK(!takes_one(one));
    CHECK_INT(LBX__SQS_UnsupportedOperation, fault.error);
}

TEST(attributes_are_at_most_ten)
{
    lbx__sqs_attribute items[11];
    lbx__sqs_attributes all = {items, 11};
    char names[11][2];

    for (size_t i = 0; i < 11; i++) {
        names[i][0] = (char)('a' + i);
        names[i][1] = '\0';
        items[i] = attribute(names[i], "String", "x");
    }
    CHECK(!lbx__attribute_check_message(&all, 10, &fault));
    CHECK_STR(
        "Number of message attributes [11] exceeds the allowed maximum [10].",
        fault.text);
    all.count = 10;
    CHECK(lbx__attribute_check_message(&all, 10, &fault));
}

TEST(numbers_have_a_sign_digits_a_point_and_an_exponent)
{
    static const char *const good[] = {"0",   "-1",    "+1",  "1.50",
                                       ".5",  "5.",    "1e3", "1E-3",
                                       "007", "0e999", "1e+3"};
    static const char *const bad[] = {
        "abc", "",    "-",     ".",   "1e",       "1.2.3",    "1 ",
        " 1",  "0x1", "1e3.5", "NaN", "Infinity", "1e9999999"};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        CHECK(takes_number(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!takes_number(bad[i]));
    CHECK(!takes_number("abc"));
    CHECK_STR("Can't cast the value of message (user) attribute 'a' to a "
              "number.",
              fault.text);
}

TEST(numbers_have_at_most_38_digits_and_a_range)
{
    CHECK(takes_number("12345678901234567890123456789012345678"));
    CHECK(!takes_number("123456789012345678901234567890123456789"));
    CHECK(takes_number("100000000000000000000000000000000000000000"));
    CHECK(takes_number("0.00000000000000000000000000000000000000000001"));
    CHECK(takes_number("1e126"));
    CHECK(!takes_number("1e127"));
    CHECK(takes_number("1e-128"));
    CHECK(!takes_number("0.1e-128"));
    CHECK(takes_number("10e-129"));
}

TEST(system_attribute_is_the_trace_header_alone)
{
    lbx__sqs_attribute items[] = {
        attribute("AWSTraceHeader", "String", "Root=1"),
        attribute("Other", "String", "x"),
    };
    lbx__sqs_attributes all = {items, 1};
    static char trace[4098];

    CHECK(lbx__attribute_check_system(&all, &fault));
    all.count = 2;
    CHECK(!lbx__attribute_check_system(&all, &fault));
    CHECK_STR("Message system attribute name 'Other' is invalid.", fault.text);
    all.count = 1;
    items[0].data_type = lbx__slice_of("Number");
    CHECK(!lbx__attribute_check_system(&all, &fault));
    items[0] = attribute("AWSTraceHeader", "String", "");
    CHECK(!lbx__attribute_check_system(&all, &fault));
    memset(trace, 'x', sizeof(trace) - 1);
    items[0] = attribute("AWSTraceHeader", "String", trace);
    CHECK(!lbx__attribute_check_system(&all, &fault));
    items[0] = attribute("AWSTraceHeader", "String", trace + 1);
    CHECK(lbx__attribute_check_system(&all, &fault));
}
