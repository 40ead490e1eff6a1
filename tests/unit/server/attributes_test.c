/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a queue's attributes: shown, set, refused, compared. */
#include "server/sqs/attributes.h"
#include "support/test.h"

#include <stdio.h>

static const lbx__world world = {"000000000000", "us-east-1"};

struct drafting {
    lbx__arena arena;
    lbx__queue_draft draft;
};

static void
drafting_init(struct drafting *drafting, lbx_box_preset preset)
{
    *drafting = (struct drafting){.draft = {.world = &world}};
    lbx__arena_init(&drafting->arena, NULL, 1 << 20);
    drafting->draft.arena = &drafting->arena;
    drafting->draft.name = "orders";
    drafting->draft.options = lbx_box_options_preset(preset);
}

static bool
set(struct drafting *drafting, const char *name, const char *value)
{
    lbx__sqs_pair pair = {lbx__slice_of(name), lbx__slice_of(value)};

    return lbx__attributes_set_all(&drafting->draft,
                                   &(lbx__sqs_pairs){&pair, 1});
}

static void
check_refused(struct drafting *drafting, const char *name, const char *value,
              lbx__sqs_error error)
{
    if (set(drafting, name, value))
        FAIL("%s: %s was taken", name, value);
    CHECK_INT(error, drafting->draft.fault.error);
}

/* NULL: the attribute is not shown. */
static void
check_shown(const lbx__attribute_view *view, const char *name,
            const char *expected)
{
    const lbx__attribute *row = lbx__attributes_find(lbx__slice_of(name));
    char buffer[LBX__REDRIVE_BYTES], text[LBX__REDRIVE_BYTES];
    lbx__slice value;

    CHECK(row);
    value = lbx__attributes_get(row, view, buffer);
    if (!value.bytes != !expected)
        FAIL("%s is %s", name, value.bytes ? value.bytes : "not shown");
    if (!expected)
        return;
    snprintf(text, sizeof(text), "%.*s", (int)value.size, value.bytes);
    CHECK_STR(expected, text);
}

static void
check_draft(const struct drafting *drafting, const char *name,
            const char *expected)
{
    const lbx__attribute_view view =
        lbx__attributes_draft_view(&drafting->draft);

    check_shown(&view, name, expected);
}

static size_t
count_shown(const lbx__attribute_view *view)
{
    char buffer[LBX__REDRIVE_BYTES];
    size_t count = 0;

    for (size_t i = 0; i < lbx__attribute_count; i++)
        count += lbx__attributes_get(&lbx__attributes[i], view, buffer).bytes !=
                 NULL;
    return count;
}

/* What AWS shows of new queues. */
TEST(a_new_queue_shows_twelve_attributes_and_a_fifo_queue_four_more)
{
    struct drafting drafting;
    lbx__attribute_view view;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    view = lbx__attributes_draft_view(&drafting.draft);
    CHECK_INT(12, count_shown(&view));
    check_shown(&view, "DelaySeconds", "0");
    check_shown(&view, "MaximumMessageSize", "1048576");
    check_shown(&view, "MessageRetentionPeriod", "345600");
    check_shown(&view, "ReceiveMessageWaitTimeSeconds", "0");
    check_shown(&view, "VisibilityTimeout", "30");
    check_shown(&view, "SqsManagedSseEnabled", "true");
    check_shown(&view, "QueueArn", "arn:aws:sqs:us-east-1:000000000000:orders");
    check_shown(&view, "ApproximateNumberOfMessages", "0");
    check_shown(&view, "FifoQueue", NULL);
    lbx__arena_fini(&drafting.arena);
    drafting_init(&drafting, LBX_BOX_PRESET_SQS_FIFO);
    view = lbx__attributes_draft_view(&drafting.draft);
    CHECK_INT(16, count_shown(&view));
    check_shown(&view, "FifoQueue", "true");
    check_shown(&view, "ContentBasedDeduplication", "false");
    check_shown(&view, "DeduplicationScope", "queue");
    check_shown(&view, "FifoThroughputLimit", "perQueue");
    lbx__arena_fini(&drafting.arena);
}

TEST(counts_and_times_are_shown_as_they_are)
{
    const lbx_box_text texts[] = {{LBX__TEXT_CREATED, "17"},
                                  {LBX__TEXT_MODIFIED, "18"}};
    const lbx__queue queue = {.world = world,
                              .name = "orders",
                              .options = LBX_BOX_OPTIONS_INIT,
                              .texts = texts,
                              .text_count = 2};
    const lbx_box_counts counts = {.ready = 1, .leased = 2, .delayed = 3};
    const lbx__attribute_view view = lbx__attributes_view(&queue, &counts);

    check_shown(&view, "ApproximateNumberOfMessages", "1");
    check_shown(&view, "ApproximateNumberOfMessagesNotVisible", "2");
    check_shown(&view, "ApproximateNumberOfMessagesDelayed", "3");
    check_shown(&view, "CreatedTimestamp", "17");
    check_shown(&view, "LastModifiedTimestamp", "18");
}

/* Programs make boxes with numbers that no client of SQS expects. */
TEST(a_box_of_a_program_is_shown_within_the_limits_of_sqs)
{
    lbx__queue queue = {
        .world = world, .name = "orders", .options = LBX_BOX_OPTIONS_INIT};
    lbx__attribute_view view;

    queue.options.delay_ns = LBX_UNLIMITED;
    queue.options.lease_ns = LBX_UNLIMITED;
    queue.options.wait_ns = 3600 * LBX_SECOND;
    view = lbx__attributes_view(&queue, NULL);
    CHECK_INT(12, count_shown(&view));
    check_shown(&view, "DelaySeconds", "900");
    check_shown(&view, "VisibilityTimeout", "43200");
    check_shown(&view, "ReceiveMessageWaitTimeSeconds", "20");
    check_shown(&view, "MessageRetentionPeriod", "1209600");
    check_shown(&view, "MaximumMessageSize", "1048576");
    check_shown(&view, "CreatedTimestamp", "0");
    queue.options.limits.max_letter_bytes = 1;
    queue.options.retention_ns = 1;
    check_shown(&view, "MaximumMessageSize", "1024");
    check_shown(&view, "MessageRetentionPeriod", "60");
}

TEST(numbers_are_set_at_both_ends_and_refused_beyond)
{
    static const struct {
        const char *name, *least, *most, *below, *above;
    } rows[] = {
        {"DelaySeconds", "0", "900", "-1", "901"},
        {"MaximumMessageSize", "1024", "1048576", "1023", "1048577"},
        {"MessageRetentionPeriod", "60", "1209600", "59", "1209601"},
        {"ReceiveMessageWaitTimeSeconds", "0", "20", "-1", "21"},
        {"VisibilityTimeout", "0", "43200", "-1", "43201"},
    };
    static const char *const none[] = {
        "", "x", "1.0", " 1", "0x1", "+1", "99999999999999999999"};
    static const char seconds[] = "KmsDataKeyReusePeriodSeconds";
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK(set(&drafting, rows[i].name, rows[i].least));
        check_draft(&drafting, rows[i].name, rows[i].least);
        CHECK(set(&drafting, rows[i].name, rows[i].most));
        check_draft(&drafting, rows[i].name, rows[i].most);
        check_refused(&drafting, rows[i].name, rows[i].below,
                      LBX__SQS_InvalidAttributeValue);
        check_refused(&drafting, rows[i].name, rows[i].above,
                      LBX__SQS_InvalidAttributeValue);
        for (size_t j = 0; j < sizeof(none) / sizeof(none[0]); j++)
            check_refused(&drafting, rows[i].name, none[j],
                          LBX__SQS_InvalidAttributeValue);
        check_draft(&drafting, rows[i].name, rows[i].most);
    }
    CHECK_STR("Invalid value for the parameter VisibilityTimeout.",
              drafting.draft.fault.text);
    CHECK(set(&drafting, seconds, "60") && set(&drafting, seconds, "86400"));
    check_refused(&drafting, seconds, "59", LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, seconds, "86401", LBX__SQS_InvalidAttributeValue);
    CHECK_INT(43200 * LBX_SECOND, drafting.draft.options.lease_ns);
    CHECK_INT(1 << 20, drafting.draft.options.limits.max_letter_bytes);
    lbx__arena_fini(&drafting.arena);
}

TEST(what_is_read_only_unknown_or_of_fifo_queues_is_refused_by_name)
{
    static const char *const names[] = {
        "QueueArn", "ApproximateNumberOfMessages", "CreatedTimestamp", "All",
        "Unheard",  "ContentBasedDeduplication",   "FifoQueue"};
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_refused(&drafting, names[i], "false",
                      LBX__SQS_InvalidAttributeName);
    CHECK_STR("Unknown Attribute FifoQueue.", drafting.draft.fault.text);
    check_refused(&drafting, "FifoThroughputLimit", "perQueue",
                  LBX__SQS_InvalidAttributeName);
    check_refused(&drafting, "DeduplicationScope", "queue",
                  LBX__SQS_InvalidAttributeName);
    CHECK_STR("You can specify the DeduplicationScope only when FifoQueue is "
              "set to true.",
              drafting.draft.fault.text);
    lbx__arena_fini(&drafting.arena);
}

TEST(fifo_queues_have_attributes_of_their_own)
{
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS_FIFO);
    CHECK(set(&drafting, "FifoQueue", "true"));
    check_refused(&drafting, "FifoQueue", "false",
                  LBX__SQS_InvalidAttributeValue);
    CHECK_STR("Invalid value for the parameter FifoQueue. Reason: Modifying "
              "queue type is not supported.",
              drafting.draft.fault.text);
    check_refused(&drafting, "FifoQueue", "", LBX__SQS_InvalidAttributeValue);
    CHECK(set(&drafting, "ContentBasedDeduplication", "true"));
    check_draft(&drafting, "ContentBasedDeduplication", "true");
    check_refused(&drafting, "ContentBasedDeduplication", "yes",
                  LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, "DeduplicationScope", "group",
                  LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, "FifoThroughputLimit", "much",
                  LBX__SQS_InvalidAttributeValue);
    CHECK(set(&drafting, "DeduplicationScope", "messageGroup"));
    CHECK(set(&drafting, "FifoThroughputLimit", "perMessageGroupId"));
    check_draft(&drafting, "FifoThroughputLimit", "perMessageGroupId");
    check_refused(&drafting, "DeduplicationScope", "queue",
                  LBX__SQS_InvalidAttributeValue);
    lbx__arena_fini(&drafting.arena);
}

TEST(a_high_throughput_limit_needs_the_scope_of_groups)
{
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS_FIFO);
    check_refused(&drafting, "FifoThroughputLimit", "perMessageGroupId",
                  LBX__SQS_InvalidAttributeValue);
    lbx__arena_fini(&drafting.arena);
}

TEST(a_key_turns_the_other_encryption_off_and_both_are_refused)
{
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    CHECK(set(&drafting, "KmsDataKeyReusePeriodSeconds", "60"));
    check_draft(&drafting, "KmsDataKeyReusePeriodSeconds", NULL);
    CHECK(set(&drafting, "KmsMasterKeyId", "alias/aws/sqs"));
    check_draft(&drafting, "KmsMasterKeyId", "alias/aws/sqs");
    check_draft(&drafting, "KmsDataKeyReusePeriodSeconds", "60");
    check_draft(&drafting, "SqsManagedSseEnabled", "false");
    CHECK(set(&drafting, "KmsDataKeyReusePeriodSeconds", "300"));
    check_draft(&drafting, "KmsDataKeyReusePeriodSeconds", NULL);
    check_refused(&drafting, "KmsDataKeyReusePeriodSeconds", "59",
                  LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, "KmsDataKeyReusePeriodSeconds", "86401",
                  LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, "SqsManagedSseEnabled", "maybe",
                  LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, "SqsManagedSseEnabled", "true",
                  LBX__SQS_InvalidAttributeName);
    CHECK_STR("You can use one type of server-side encryption (SSE) at one "
              "time. You can either enable KMS SSE or SQS SSE.",
              drafting.draft.fault.text);
    lbx__arena_fini(&drafting.arena);
}

TEST(a_removed_key_leaves_the_other_encryption_off)
{
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    CHECK(set(&drafting, "KmsMasterKeyId", "alias/aws/sqs"));
    CHECK(set(&drafting, "KmsMasterKeyId", ""));
    check_draft(&drafting, "KmsMasterKeyId", NULL);
    check_draft(&drafting, "SqsManagedSseEnabled", "false");
    CHECK(set(&drafting, "SqsManagedSseEnabled", "true"));
    check_draft(&drafting, "SqsManagedSseEnabled", "true");
    lbx__arena_fini(&drafting.arena);
}

TEST(a_policy_is_a_json_object_or_empty)
{
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    CHECK(set(&drafting, "Policy", "{ \"Statement\": [] }"));
    check_draft(&drafting, "Policy", "{ \"Statement\": [] }");
    check_refused(&drafting, "Policy", "[]", LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, "Policy", "{", LBX__SQS_InvalidAttributeValue);
    check_refused(&drafting, "Policy", "{} {}", LBX__SQS_InvalidAttributeValue);
    CHECK(set(&drafting, "Policy", ""));
    check_draft(&drafting, "Policy", NULL);
    lbx__arena_fini(&drafting.arena);
}

#define POLICY                                                                 \
    "{ \"maxReceiveCount\": 3, \"deadLetterTargetArn\":"                       \
    "\"arn:aws:sqs:us-east-1:000000000000:dlq\"}"

/* ATTR-3. Tools compare what they have set with what they get. */
TEST(a_redrive_policy_is_shown_as_it_was_set_until_a_program_changes_it)
{
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    CHECK(set(&drafting, "RedrivePolicy", POLICY));
    check_draft(&drafting, "RedrivePolicy", POLICY);
    CHECK_INT(3, drafting.draft.options.max_deliveries);
    drafting.draft.options.max_deliveries = 4;
    check_draft(&drafting, "RedrivePolicy",
                "{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:"
                "dlq\",\"maxReceiveCount\":4}");
    CHECK(set(&drafting, "RedrivePolicy",
              "{ \"maxReceiveCount\": \"3\", \"deadLetterTargetArn\":"
              "\"arn:aws:sqs:us-east-1:000000000000:dlq\"}"));
    check_draft(&drafting, "RedrivePolicy",
                "{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:"
                "dlq\",\"maxReceiveCount\":3}");
    CHECK(set(&drafting, "RedrivePolicy", ""));
    check_draft(&drafting, "RedrivePolicy", NULL);
    CHECK(set(&drafting, "RedriveAllowPolicy",
              "{ \"redrivePermission\":\"allowAll\"}"));
    check_draft(&drafting, "RedriveAllowPolicy",
                "{ \"redrivePermission\":\"allowAll\"}");
    drafting.draft.options.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_NONE;
    check_draft(&drafting, "RedriveAllowPolicy",
                "{\"redrivePermission\":\"denyAll\"}");
    lbx__arena_fini(&drafting.arena);
}

/* ATTR-2. */
TEST(a_change_keeps_what_it_does_not_name)
{
    const lbx_box_text has[] = {{LBX__TEXT_POLICY, "{}"},
                                {LBX__TEXT_KEY, "old"}};
    const lbx__texts below = {.items = has, .count = 2};
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    drafting.draft.below = &below;
    CHECK(set(&drafting, "DelaySeconds", "7"));
    check_draft(&drafting, "Policy", "{}");
    check_draft(&drafting, "KmsMasterKeyId", "old");
    check_draft(&drafting, "VisibilityTimeout", "30");
    CHECK_INT(0, drafting.draft.text_count);
    CHECK(set(&drafting, "Policy", ""));
    check_draft(&drafting, "Policy", NULL);
    CHECK_INT(1, drafting.draft.text_count);
    lbx__arena_fini(&drafting.arena);
}

TEST(options_that_break_the_own_limits_of_a_box_are_refused)
{
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_DEFAULT);
    drafting.draft.options.limits.max_delay_ns = 5 * LBX_SECOND;
    CHECK(set(&drafting, "DelaySeconds", "5"));
    check_refused(&drafting, "DelaySeconds", "6",
                  LBX__SQS_InvalidAttributeValue);
    lbx__arena_fini(&drafting.arena);
}

TEST(a_value_with_a_nul_is_refused)
{
    lbx__sqs_pair pair = {lbx__slice_of("KmsMasterKeyId"), {"a\0b", 3}};
    struct drafting drafting;

    drafting_init(&drafting, LBX_BOX_PRESET_SQS);
    CHECK(
        !lbx__attributes_set_all(&drafting.draft, &(lbx__sqs_pairs){&pair, 1}));
    lbx__arena_fini(&drafting.arena);
}

TEST(attributes_are_compared_by_what_they_mean)
{
    static const char *const names[] = {"DelaySeconds", "RedrivePolicy",
                                        "RedriveAllowPolicy", "Policy"};
    struct drafting a, b;
    const lbx__attribute *rows[4];
    lbx__attribute_view one, other;

    drafting_init(&a, LBX_BOX_PRESET_SQS);
    drafting_init(&b, LBX_BOX_PRESET_SQS);
    for (size_t i = 0; i < 4; i++)
        rows[i] = lbx__attributes_find(lbx__slice_of(names[i]));
    CHECK(set(&a, "DelaySeconds", "07") && set(&b, "DelaySeconds", "7"));
    CHECK(set(&a, "RedrivePolicy", POLICY));
    CHECK(set(&b, "RedrivePolicy",
              "{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:"
              "dlq\",\"maxReceiveCount\":3}"));
    one = lbx__attributes_draft_view(&a.draft);
    other = lbx__attributes_draft_view(&b.draft);
    for (size_t i = 0; i < 4; i++)
        CHECK(lbx__attributes_equal(rows[i], &one, &other));
    CHECK(set(&b, "DelaySeconds", "8") && set(&b, "RedrivePolicy", ""));
    CHECK(set(&b, "RedriveAllowPolicy", "{\"redrivePermission\":\"denyAll\"}"));
    CHECK(set(&b, "Policy", "{}"));
    other = lbx__attributes_draft_view(&b.draft);
    for (size_t i = 0; i < 4; i++)
        CHECK(!lbx__attributes_equal(rows[i], &one, &other));
    lbx__arena_fini(&a.arena);
    lbx__arena_fini(&b.arena);
}
