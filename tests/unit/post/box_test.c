/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a box. */
#include "post/box.h"
#include "support/test.h"
#include <letterbox/compat/wink.h>

#include <string.h>

TEST_CITING("R-33 W-26 W-31", box_presets_pass_their_own_check)
{
    lbx_box_options options;

    for (int set = LBX_BOX_PRESET_DEFAULT; set <= LBX_BOX_PRESET_SQS_FIFO;
         set++) {
        options = lbx_box_options_preset((lbx_box_preset)set);
        CHECK_OK(lbx_box_options_check(&options, NULL));
        CHECK(options.lease_ns == 30 * LBX_SECOND);
    }
    options = lbx_box_options_preset(LBX_BOX_PRESET_DEFAULT);
    options.lease_ns = INT64_MAX; // no upper limit
    options.wait_ns = INT64_MAX;
    CHECK_OK(lbx_box_options_check(&options, NULL));
    options = lbx_wink_box_options();
    options.lease_ns = 43200 * LBX_SECOND;
    CHECK_OK(lbx_box_options_check(&options, NULL));
    options.lease_ns += 1;
    CHECK_STATUS(LBX_INVALID, lbx_box_options_check(&options, NULL));
    options = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    CHECK(options.fifo && options.strict);
    CHECK(options.retention_ns == 345600 * LBX_SECOND);
}

/* The ranges that SQS documents, both ends of each. */
TEST(sqs_boxes_have_sqs_limits)
{
    static const struct {
        size_t offset;
        int64_t least_s, most_s;
    } fields[] = {
        {offsetof(lbx_box_options, delay_ns), 0, 900},
        {offsetof(lbx_box_options, retention_ns), 60, 1209600},
        {offsetof(lbx_box_options, wait_ns), 0, 20},
        {offsetof(lbx_box_options, lease_ns), 0, 43200},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        for (int end = 0; end < 4; end++) {
            lbx_box_options options =
                lbx_box_options_preset(LBX_BOX_PRESET_SQS);
            int64_t *field =
                (int64_t *)(void *)((char *)&options + fields[i].offset);

            *field =
                (end < 2 ? fields[i].least_s : fields[i].most_s) * LBX_SECOND;
            *field += end == 0 ? -1 : end == 3 ? 1 : 0;
            CHECK_STATUS(end == 0 || end == 3 ? LBX_INVALID : LBX_OK,
                         lbx_box_options_check(&options, NULL));
        }
    }
}

/* Each is wrong in one way, and the fault names it. */
TEST(box_options_that_contradict_themselves_are_refused)
{
    static const char *const names[] = {"good", "not/good"};
    lbx_box_options options = LBX_BOX_OPTIONS_INIT;
    lbx_fault fault;

#define REFUSED(change, word)                                                  \
    do {                                                                       \
        options = lbx_box_options_preset(LBX_BOX_PRESET_DEFAULT);              \
        change;                                                                \
        memset(&fault, 0, sizeof(fault));                                      \
        CHECK_STATUS(LBX_INVALID, lbx_box_options_check(&options, &fault));    \
        CHECK_STATUS(LBX_INVALID, fault.status);                               \
        CHECK(strstr(fault.text, word));                                       \
    } while (0)

    REFUSED(options.size_bytes = 0, "LBX_BOX_OPTIONS_INIT");
    REFUSED(options.lease_ns = -1, "lease_ns");
    REFUSED(options.capacity_letters = 0, "capacity_letters");
    REFUSED(options.limits.max_leased = 0, "max_leased");
    REFUSED(options.limits.min_retention_ns = -1, "min_retention_ns");
    REFUSED(options.lease_ns = -1, "-1; allowed are 0 or more");
    REFUSED((options = lbx_box_options_preset(LBX_BOX_PRESET_SQS),
             options.lease_ns = LBX_UNLIMITED),
            "lease_ns is LBX_UNLIMITED; allowed are 0 to 43200000000000");
    REFUSED(options.max_deliveries = 3,
            "max_deliveries is 3, and dead_letters is missing");
    REFUSED(options.dead_letters = "dlq",
            "max_deliveries is 0; with dead_letters, allowed are 1 to 1000");
    REFUSED((options.dead_letters = "", options.max_deliveries = 1),
            "dead_letters: '' is no name");
    REFUSED((options.dead_letters = "d", options.max_deliveries = 1001),
            "1 to 1000");
    REFUSED((options.dead_letters = "a b", options.max_deliveries = 1),
            "dead_letters");
    REFUSED(options.deduplicate_by_content = true, "fifo");
    REFUSED(options.deduplication = LBX_DEDUPLICATION_GROUP, "fifo");
    REFUSED((options.fifo = true, options.strict = false), "strict");
    REFUSED(options.deduplication = (lbx_deduplication)7, "deduplication");
    REFUSED(options.dead_letter_allow = (lbx_dead_letter_allow)7,
            "dead_letter_allow");
    REFUSED(options.dead_letter_box_count = 1, "dead_letter_boxes");
    REFUSED((options.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED,
             options.dead_letter_box_count = 1),
            "NULL");
    REFUSED((options.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED,
             options.dead_letter_boxes = names,
             options.dead_letter_box_count = 2),
            "not/good");
    REFUSED((options.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED,
             options.dead_letter_boxes = names,
             options.dead_letter_box_count = 11),
            "at most 10");
#undef REFUSED
    options = lbx_box_options_preset(LBX_BOX_PRESET_DEFAULT);
    options.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED;
    options.dead_letter_boxes = names;
    options.dead_letter_box_count = 1;
    CHECK_OK(lbx_box_options_check(&options, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_box_options_check(NULL, NULL));
}

TEST(box_names_are_plain)
{
    char name[LBX_BOX_NAME_BYTES + 1];

    CHECK(lbx__box_name_valid("client-123:success"));
    CHECK(lbx__box_name_valid("orders.fifo"));
    CHECK(!lbx__box_name_valid(""));
    CHECK(!lbx__box_name_valid("a/b"));
    CHECK(!lbx__box_name_valid("a b"));
    CHECK(!lbx__box_name_valid("a\n"));
    CHECK(!lbx__box_name_valid("\xc3\xa9"));
    CHECK(!lbx__box_name_valid("\x7f"));
    memset(name, 'a', sizeof(name));
    name[LBX_BOX_NAME_BYTES - 1] = '\0';
    CHECK(lbx__box_name_valid(name));
    name[LBX_BOX_NAME_BYTES - 1] = 'a';
    name[LBX_BOX_NAME_BYTES] = '\0';
    CHECK(!lbx__box_name_valid(name));
}
