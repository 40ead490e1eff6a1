/* SPDX-License-Identifier: Apache-2.0 */
/* What letters have and SQS does not, as message attributes and back. */
#include "server/sqs/letter_fields.h"
#include "support/test.h"

static lbx__sqs_attribute
field(const char *name, const char *type, const char *value)
{
    return (lbx__sqs_attribute){
        .name = lbx__slice_of(name),
        .data_type = lbx__slice_of(type),
        .string_value = lbx__slice_of(value),
    };
}

TEST(fields_become_attributes_and_fields_again)
{
    const lbx_parcel from = {
        .type_name = "order", .routes = "{}", .in_reply_to = "7"};
    lbx__sqs_attribute shown[LBX__LETTER_FIELDS];
    lbx_parcel to = {.body = ""};
    size_t count = lbx__letter_fields_show(&from, false, shown);

    CHECK_INT(3, count);
    for (size_t i = 0; i < count; i++)
        CHECK(lbx__letter_fields_take(&to, &shown[i]));
    CHECK_STR("order", to.type_name);
    CHECK_STR("{}", to.routes);
    CHECK_STR("7", to.in_reply_to);
}

TEST(other_attributes_are_not_fields)
{
    const lbx__sqs_attribute others[] = {
        field("type", "String", "x"),
        field("lbx.", "String", "x"),
        field("lbx.other", "String", "x"),
        field("lbx.type", "Number", "1"),
        field("lbx.type", "String.custom", "x"),
        field("lbx.encoding", "String", "base64"),
    };
    lbx_parcel to = {.body = ""};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(!lbx__letter_fields_take(&to, &others[i]));
    CHECK(!to.type_name && !to.routes && !to.in_reply_to);
}

/* What would be too long for a letter stays an attribute. */
TEST(fields_have_the_sizes_of_letters)
{
    static char text[4098];
    lbx_parcel to = {.body = ""};
    lbx__sqs_attribute one;

    memset(text, 'x', sizeof(text) - 1);
    one = field("lbx.type", "String", text + sizeof(text) - 1 - 257);
    CHECK(!lbx__letter_fields_take(&to, &one));
    one = field("lbx.type", "String", text + sizeof(text) - 1 - 256);
    CHECK(lbx__letter_fields_take(&to, &one));
    one = field("lbx.in-reply-to", "String", text + sizeof(text) - 1 - 4097);
    CHECK(!lbx__letter_fields_take(&to, &one));
    one = field("lbx.in-reply-to", "String", text + sizeof(text) - 1 - 4096);
    CHECK(lbx__letter_fields_take(&to, &one));
}

/* A name must not come twice in a reply. */
TEST(attribute_of_the_letter_hides_a_field_of_its_name)
{
    const lbx_attribute own[] = {{.name = "lbx.typ", .value = "x"},
                                 {.name = "lbx.type", .value = "x"}};
    const lbx_parcel from = {
        .type_name = "order", .attributes = own, .attribute_count = 2};
    lbx__sqs_attribute shown[LBX__LETTER_FIELDS];

    CHECK_INT(0, lbx__letter_fields_show(&from, false, shown));
    CHECK_INT(1, lbx__letter_fields_show(&from, true, shown));
    CHECK_STR("lbx.encoding", shown[0].name.bytes);
}
