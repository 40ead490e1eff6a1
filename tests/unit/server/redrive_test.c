/* SPDX-License-Identifier: Apache-2.0 */
/* RedrivePolicy and RedriveAllowPolicy: what is read, refused and written. */
#include "base/utf8.h"
#include "server/sqs/redrive.h"
#include "support/test.h"

#include <stdio.h>

#define ARN "arn:aws:sqs:us-east-1:000000000000:"

static const lbx__world world = {"000000000000", "us-east-1"};

struct reading {
    lbx__arena arena;
    lbx__sqs_fault fault;
    lbx__redrive_reader reader;
    lbx_box_options options;
    bool as_given;
};

static void
reading_init(struct reading *reading)
{
    *reading = (struct reading){.options = LBX_BOX_OPTIONS_INIT};
    lbx__arena_init(&reading->arena, NULL, 1 << 20);
    reading->reader = (lbx__redrive_reader){
        .arena = &reading->arena,
        .world = &world,
        .fault = &reading->fault,
    };
}

static bool
read_policy(struct reading *reading, const char *text)
{
    return lbx__redrive_read(&reading->reader, lbx__slice_of(text),
                             &reading->options, &reading->as_given);
}

static bool
read_allow(struct reading *reading, const char *text)
{
    return lbx__redrive_read_allow(&reading->reader, lbx__slice_of(text),
                                   &reading->options);
}

static void
check_refused(struct reading *reading, bool read, const char *why)
{
    CHECK(!read);
    CHECK_INT(LBX__SQS_InvalidParameterValueException, reading->fault.error);
    if (!strstr(reading->fault.text, why))
        FAIL("\"%s\" is not in: %s", why, reading->fault.text);
}

TEST(a_policy_has_a_target_and_a_count_be_it_a_string)
{
    struct reading reading;
    char text[LBX__REDRIVE_BYTES];

    reading_init(&reading);
    CHECK(read_policy(&reading, "{\"deadLetterTargetArn\":\"" ARN
                                "dlq\",\"maxReceiveCount\":5}"));
    CHECK_STR("dlq", reading.options.dead_letters);
    CHECK_INT(5, reading.options.max_deliveries);
    CHECK(read_policy(&reading, " { \"more\" : [ {} ] , \"maxReceiveCount\" : "
                                "\"1000\", \"deadLetterTargetArn\":\"" ARN
                                "\\u0071\" } "));
    CHECK_STR("q", reading.options.dead_letters);
    CHECK_INT(1000, reading.options.max_deliveries);
    lbx__redrive_write(&world, &reading.options, text);
    CHECK_STR("{\"deadLetterTargetArn\":\"" ARN "q\",\"maxReceiveCount\":1000}",
              text);
    CHECK(read_policy(&reading, ""));
    CHECK(!reading.options.dead_letters);
    CHECK_INT(0, reading.options.max_deliveries);
    lbx__redrive_write(&world, &reading.options, text);
    CHECK_STR("", text);
    lbx__arena_fini(&reading.arena);
}

TEST(a_policy_that_is_not_one_is_refused_with_the_reason)
{
#define TARGET "\"deadLetterTargetArn\":\"" ARN "dlq\""
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"nope", "not a valid JSON map"},
        {"[]", "not a valid JSON map"},
        {"{} x", "not a valid JSON map"},
        {"{\"maxReceiveCount\":{}}", "not a valid JSON map"},
        {"{}", "mandatory attribute: maxReceiveCount."},
        {"{" TARGET "}", "mandatory attribute: maxReceiveCount."},
        {"{\"maxReceiveCount\":3}", "mandatory attribute: deadLetterTarget"},
        {"{" TARGET ",\"maxReceiveCount\":0}", "maxReceiveCount: 0, valid"},
        {"{" TARGET ",\"maxReceiveCount\":1001}", "maxReceiveCount: 1001,"},
        {"{" TARGET ",\"maxReceiveCount\":-1}", "maxReceiveCount: -1,"},
        {"{" TARGET ",\"maxReceiveCount\":1.5}", "maxReceiveCount: 1.5,"},
        {"{" TARGET ",\"maxReceiveCount\":\"\"}", "maxReceiveCount: ,"},
        {"{" TARGET ",\"maxReceiveCount\":\"x\"}", "maxReceiveCount: x,"},
        {"{" TARGET ",\"maxReceiveCount\":99999999999999999999}", "from 1 to"},
        {"{\"deadLetterTargetArn\":\"dlq\",\"maxReceiveCount\":3}",
         "Reason: Invalid value for deadLetterTargetArn."},
        {"{\"deadLetterTargetArn\":\"arn:aws\",\"maxReceiveCount\":3}",
         "Only SQS"},
        {"{\"deadLetterTargetArn\":\"arn:aws:sns:us-east-1:000000000000:sqs:\","
         "\"maxReceiveCount\":3}",
         "Only SQS"},
        {"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu:1:dlq\","
         "\"maxReceiveCount\":3}",
         "Dead letter target does not exist."},
    };
    struct reading reading;

    reading_init(&reading);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_refused(&reading, read_policy(&reading, rows[i].text),
                      rows[i].why);
    lbx__arena_fini(&reading.arena);
#undef TARGET
}

/* The text of an error has room for some of a value, and stays UTF-8. */
TEST(a_long_policy_is_cut_in_the_fault_between_characters)
{
    struct reading reading;
    char text[2002] = "x";

    reading_init(&reading);
    for (size_t i = 1; i < 2001; i += 2)
        memcpy(text + i, "\xc3\xbc", 2);
    for (size_t skip = 0; skip < 2; skip++) {
        check_refused(&reading, read_policy(&reading, text + skip),
                      "Reason: Redrive policy is not");
        CHECK(lbx__utf8_valid(reading.fault.text));
    }
    lbx__arena_fini(&reading.arena);
}

TEST(an_allow_policy_sets_who_may_send_dead_letters)
{
    struct reading reading;
    char text[LBX__REDRIVE_BYTES];

    reading_init(&reading);
    CHECK(read_allow(&reading, "{\"redrivePermission\":\"denyAll\"}"));
    CHECK_INT(LBX_DEAD_LETTER_ALLOW_NONE, reading.options.dead_letter_allow);
    lbx__redrive_write_allow(&world, &reading.options, text);
    CHECK_STR("{\"redrivePermission\":\"denyAll\"}", text);
    CHECK(read_allow(&reading,
                     "{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":["
                     "\"" ARN "a\",\"arn:aws:sqs:eu:1:other\",\"" ARN "b\"]}"));
    CHECK_INT(LBX_DEAD_LETTER_ALLOW_LISTED, reading.options.dead_letter_allow);
    CHECK_INT(2, reading.options.dead_letter_box_count);
    CHECK_STR("a", reading.options.dead_letter_boxes[0]);
    CHECK_STR("b", reading.options.dead_letter_boxes[1]);
    lbx__redrive_write_allow(&world, &reading.options, text);
    CHECK_STR("{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[\"" ARN
              "a\",\"" ARN "b\"]}",
              text);
    CHECK(read_allow(&reading, "{\"redrivePermission\":\"allowAll\"}"));
    CHECK_INT(LBX_DEAD_LETTER_ALLOW_ALL, reading.options.dead_letter_allow);
    CHECK_INT(0, reading.options.dead_letter_box_count);
    CHECK(read_allow(&reading, "{\"redrivePermission\":\"denyAll\"}"));
    CHECK(read_allow(&reading, ""));
    CHECK_INT(LBX_DEAD_LETTER_ALLOW_ALL, reading.options.dead_letter_allow);
    lbx__arena_fini(&reading.arena);
}

TEST(an_allow_policy_that_contradicts_itself_is_refused)
{
    static const char *const texts[] = {
        "x",
        "[]",
        "{}",
        "{\"redrivePermission\":\"some\"}",
        "{\"redrivePermission\":[]}",
        "{\"redrivePermission\":\"byQueue\"}",
        "{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[]}",
        "{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":\"" ARN "a\"}",
        "{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[1]}",
        "{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[\"a\"]}",
        "{\"redrivePermission\":\"allowAll\",\"sourceQueueArns\":[\"" ARN
        "a\"]}",
        "{\"redrivePermission\":\"denyAll\",\"sourceQueueArns\":[]}",
    };
    struct reading reading;

    reading_init(&reading);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_refused(&reading, read_allow(&reading, texts[i]),
                      "for parameter RedriveAllowPolicy is invalid. Reason: ");
    lbx__arena_fini(&reading.arena);
}

TEST(an_allow_policy_lists_at_most_ten_queues)
{
    struct reading reading;
    char text[1024] =
        "{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[";

    reading_init(&reading);
    for (int i = 0; i < 10; i++) {
        const size_t size = strlen(text);

        snprintf(text + size, sizeof(text) - size, "%s\"" ARN "q%d\"",
                 i ? "," : "", i);
    }
    memcpy(text + strlen(text), "]}", 3);
    CHECK(read_allow(&reading, text));
    CHECK_INT(10, reading.options.dead_letter_box_count);
    CHECK_STR("q9", reading.options.dead_letter_boxes[9]);
    memcpy(text + strlen(text) - 2, ",\"" ARN "q10\"]}", sizeof(ARN) + 8);
    check_refused(&reading, read_allow(&reading, text), "more than 10");
    lbx__arena_fini(&reading.arena);
}

TEST(policies_are_equal_when_they_mean_the_same)
{
    static const char *const one[] = {"a"}, *const two[] = {"b"};
    lbx_box_options a = LBX_BOX_OPTIONS_INIT, b = LBX_BOX_OPTIONS_INIT;

    CHECK(lbx__redrive_equal(&a, &b) && lbx__redrive_equal_allow(&a, &b));
    a.dead_letters = "x";
    a.max_deliveries = 2;
    CHECK(!lbx__redrive_equal(&a, &b) && !lbx__redrive_equal(&b, &a));
    b = a;
    CHECK(lbx__redrive_equal(&a, &b));
    b.max_deliveries = 3;
    CHECK(!lbx__redrive_equal(&a, &b));
    b.max_deliveries = 2;
    b.dead_letters = "y";
    CHECK(!lbx__redrive_equal(&a, &b));
    a.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED;
    CHECK(!lbx__redrive_equal_allow(&a, &b));
    b.dead_letter_allow = LBX_DEAD_LETTER_ALLOW_LISTED;
    a.dead_letter_boxes = one;
    a.dead_letter_box_count = 1;
    CHECK(!lbx__redrive_equal_allow(&a, &b));
    b.dead_letter_boxes = two;
    b.dead_letter_box_count = 1;
    CHECK(!lbx__redrive_equal_allow(&a, &b));
    b.dead_letter_boxes = one;
    CHECK(lbx__redrive_equal_allow(&a, &b));
}
