/* SPDX-License-Identifier: Apache-2.0 */
/* From a draft to a parcel. */
#include "post/draft.h"
#include "post/rules/body.h"

#include "support/test.h"
#include "support/torture.h"
#include <letterbox/post/postbox.h>

#include <string.h>

static const lbx_box_options seed = LBX_BOX_OPTIONS_INIT;

static lbx_status
pack(const lbx_draft *draft, const lbx_box_options *rules)
{
    lbx__draft_packed packing;
    lbx_status status = lbx__draft_pack(&packing, draft, rules, NULL);

    lbx__draft_packed_fini(&packing);
    return status;
}

/* Ids are made by the store: 36 characters of a random UUID, and no two
 * alike. */
TEST(ids_are_uuids)
{
    lbx_postbox *postbox;
    lbx_id id, other;

    CHECK_OK(lbx_postbox_open("memory:ids/box", NULL, &postbox));
    CHECK_OK(lbx_postbox_send(postbox, "x", 1, &id));
    CHECK_OK(lbx_postbox_send(postbox, "x", 1, &other));
    CHECK_INT(36, strlen(id.text));
    CHECK_INT('-', id.text[8]);
    CHECK_INT('4', id.text[14]);
    CHECK(strcmp(id.text, other.text) != 0);
    lbx_postbox_unref(postbox);
}

TEST(delays_are_the_box_s_or_within_its_limit)
{
    lbx_box_options rules = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    lbx_draft draft = lbx_draft_of_text("x");
    lbx__draft_packed packing;

    rules.delay_ns = 5;
    CHECK_OK(lbx__draft_pack(&packing, &draft, &rules, NULL));
    CHECK_INT(5, packing.parcel.delay_ns);
    draft.delay_ns = 0;
    CHECK_OK(lbx__draft_pack(&packing, &draft, &rules, NULL));
    CHECK_INT(0, packing.parcel.delay_ns);
    draft.delay_ns = 900 * LBX_SECOND;
    CHECK_OK(pack(&draft, &rules));
    draft.delay_ns++;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &rules));
    draft.delay_ns = -1;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &rules));
}

TEST(fifo_needs_a_group_and_an_id)
{
    lbx_box_options rules = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_draft draft = lbx_draft_of_text("abc");
    lbx__draft_packed packing;

    rules.delay_ns = 7;
    draft.deduplication_id = "d";
    CHECK_STATUS(LBX_INVALID, pack(&draft, &rules));
    draft.group = "g";
    CHECK_OK(lbx__draft_pack(&packing, &draft, &rules, NULL));
    CHECK_INT(7, packing.parcel.delay_ns);
    draft.delay_ns = 1; // not for one letter alone
    CHECK_STATUS(LBX_INVALID, pack(&draft, &rules));
    draft.delay_ns = 0;
    draft.deduplication_id = NULL;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &rules));
    rules.deduplicate_by_content = true;
    CHECK_OK(lbx__draft_pack(&packing, &draft, &rules, NULL));
    CHECK_STR("ba7816bf8f01cfea414140de5dae2223"
              "b00361a396177a9cb410ff61f20015ad",
              packing.parcel.deduplication_id);
}

TEST(texts_are_short_and_printable)
{
    char longer[200];
    lbx_draft draft = lbx_draft_of_text("x");

    memset(longer, 'a', sizeof(longer));
    longer[129] = '\0';
    draft.group = longer;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    longer[128] = '\0';
    CHECK_OK(pack(&draft, &seed));
    draft.group = "a b";
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    draft.group = "";
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    draft.group = NULL;
    draft.token = "";
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    draft.token = longer;
    CHECK_OK(pack(&draft, &seed));
    draft.trace = "\xff";
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    draft.trace = NULL;
    draft.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
}

TEST(attributes_have_names_of_their_own)
{
    lbx_attribute attributes[] = {
        {"a", LBX_ATTRIBUTE_STRING, NULL, "1", 1},
        {"b", LBX_ATTRIBUTE_NUMBER, "float", "2.5", 3}};
    lbx_box_options rules = seed;
    lbx_draft draft = lbx_draft_of_text("body");
    lbx__draft_packed packing;

    draft.attributes = attributes;
    draft.attribute_count = 2;
    CHECK_OK(lbx__draft_pack(&packing, &draft, &rules, NULL));
    // body; "a" "String" "1"; "b" "Number.float" "2.5"
    CHECK_INT(4 + 1 + 6 + 1 + 1 + 12 + 3,
              lbx__body_parcel_bytes(&packing.parcel));
    rules.limits.max_letter_bytes = 28;
    CHECK_OK(pack(&draft, &rules));
    rules.limits.max_letter_bytes = 27;
    CHECK_STATUS(LBX_TOO_LARGE, pack(&draft, &rules));
    rules = seed;
    rules.limits.max_attributes = 1;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &rules));
    attributes[1].name = "a";
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    attributes[1].name = "";
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    attributes[1] = (lbx_attribute){"c", LBX_ATTRIBUTE_STRING, NULL, "\xff", 1};
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    attributes[1].kind = LBX_ATTRIBUTE_BINARY;
    CHECK_OK(pack(&draft, &seed));
    attributes[1].value = NULL;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    draft.attributes = NULL;
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
}

/* Each draft is wrong in one way, and the fault says which. */
TEST(a_draft_that_is_refused_can_be_explained)
{
    const lbx_box_options sqs = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    const lbx_box_options line =
        lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_attribute twice[2] = {{"a", LBX_ATTRIBUTE_STRING, NULL, "v", 1},
                              {"a", LBX_ATTRIBUTE_STRING, NULL, "v", 1}};
    lbx_attribute nameless = {"", LBX_ATTRIBUTE_STRING, NULL, "v", 1};
    char text[130];
    lbx_draft draft;
    lbx_fault fault;

    memset(text, 't', sizeof(text));
    text[sizeof(text) - 1] = '\0';
#define REFUSED(expected, rules, change, words)                                \
    do {                                                                       \
        draft = lbx_draft_of_text("x");                                        \
        change;                                                                \
        memset(&fault, 0, sizeof(fault));                                      \
        CHECK_STATUS(expected, pack(&draft, rules));                           \
        CHECK_STATUS(expected,                                                 \
                     lbx__draft_explain(&draft, rules, expected, &fault));     \
        CHECK_STATUS(expected, fault.status);                                  \
        if (!strstr(fault.text, words))                                        \
            FAIL("%s", fault.text);                                            \
    } while (0)

    REFUSED(LBX_INVALID, &seed, draft.size_bytes = 0, "LBX_DRAFT_INIT");
    REFUSED(LBX_INVALID, &seed, draft.token = text, "token: allowed are 1 to");
    REFUSED(LBX_INVALID, &seed, draft.token = "", "token: allowed are 1 to");
    REFUSED(LBX_INVALID, &seed, draft.type_name = "\xff", "type_name");
    REFUSED(LBX_INVALID, &seed, draft.group = "a b", "group: allowed");
    REFUSED(LBX_INVALID, &seed, draft.deduplication_id = "",
            "deduplication_id: all");
    REFUSED(LBX_INVALID, &seed, draft.attribute_count = 2, "NULL");
    REFUSED(LBX_INVALID, &seed,
            (draft.attribute_count = 2, draft.attributes = twice), "twice");
    REFUSED(LBX_INVALID, &seed,
            (draft.attribute_count = 1, draft.attributes = &nameless),
            "attributes[0]");
    REFUSED(LBX_INVALID, &sqs, draft.attribute_count = 11, "allows 10");
    REFUSED(LBX_INVALID, &seed, draft.delay_ns = -1, "delay_ns is -1");
    REFUSED(
        LBX_INVALID, &line,
        (draft.delay_ns = 1, draft.group = "g", draft.deduplication_id = "d"),
        "fifo box allows LBX_DEFAULT and 0");
    REFUSED(LBX_INVALID, &line, draft.deduplication_id = "d", "needs a group");
    REFUSED(LBX_INVALID, &line, draft.group = "g", "needs a deduplication_id");
    REFUSED(LBX_INVALID, &seed, draft = lbx_draft_of_bytes(NULL, 1),
            "the body is NULL");
    REFUSED(LBX_INVALID, &sqs, draft = lbx_draft_of_text(""), "text only");
    REFUSED(LBX_TOO_LARGE, &sqs, draft.body_bytes = (1 << 20) + 1, "1048576");
#undef REFUSED
}

TEST(text_only_boxes_take_what_xml_takes)
{
    const lbx_box_options sqs = lbx_box_options_preset(LBX_BOX_PRESET_SQS);
    lbx_draft draft = lbx_draft_of_text("a\tb\n\xc3\xa9");

    CHECK_OK(pack(&draft, &sqs));
    draft = lbx_draft_of_text("");
    CHECK_STATUS(LBX_INVALID, pack(&draft, &sqs));
    CHECK_OK(pack(&draft, &seed));
    draft = lbx_draft_of_bytes("a\0b", 3);
    CHECK_STATUS(LBX_INVALID, pack(&draft, &sqs));
    CHECK_OK(pack(&draft, &seed));
    draft = lbx_draft_of_text("\xef\xbf\xbf"); // U+FFFF
    CHECK_STATUS(LBX_INVALID, pack(&draft, &sqs));
    draft = lbx_draft_of_bytes(NULL, 1);
    CHECK_STATUS(LBX_INVALID, pack(&draft, &seed));
    draft = lbx_draft_of_bytes("", (size_t)LBX__DRAFT_MAX_BYTES + 1);
    CHECK_STATUS(LBX_TOO_LARGE, pack(&draft, &seed)); // unread
}
