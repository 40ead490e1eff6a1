/* SPDX-License-Identifier: Apache-2.0 */
/* The doubles beyond what WINK's tests ask of them (tests/profiles/wink). */
#include <letterbox/post.h>
#include <letterbox/testing.h>

#include "support/test.h"
#include "support/threads.h"

#include <stdatomic.h>
#include <string.h>

struct timed {
    lbx_test_clock time;
    lbx_clock clock;
    lbx_store_options store;
    lbx_box_options box;
    lbx_postbox_options options;
    lbx_postbox *fake;
};

static void
begin(struct timed *test)
{
    static const lbx_test_clock start = LBX_TEST_CLOCK_INIT;
    static const lbx_store_options store = LBX_STORE_OPTIONS_INIT;
    static const lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;

    test->time = start;
    test->clock = lbx_test_clock_as_clock(&test->time);
    test->store = store;
    test->store.clock = &test->clock;
    test->box = lbx_box_options_preset(LBX_BOX_PRESET_DEFAULT);
    test->options = options;
    test->options.store = &test->store;
    test->options.box = &test->box;
}

static void
advance(struct timed *test, int64_t duration_ns)
{
    lbx_test_clock_advance(&test->time, duration_ns,
                           lbx_postbox_store(test->fake));
}

TEST_CITING("W-29", a_clock_stands_until_it_is_moved)
{
    lbx_test_clock time = LBX_TEST_CLOCK_INIT;
    const lbx_clock clock = lbx_test_clock_as_clock(&time);
    const int64_t start = lbx_clock_now(&clock);

    CHECK_INT(start, lbx_clock_now(&clock));
    lbx_test_clock_advance(&time, 5, NULL);
    CHECK_INT(start + 5, lbx_clock_now(&clock));
    lbx_test_clock_advance(&time, -5, NULL);
    CHECK_INT(start + 5, lbx_clock_now(&clock));
}

TEST(a_double_that_cannot_be_made_says_why)
{
    lbx_postbox_options options = LBX_POSTBOX_OPTIONS_INIT;
    lbx_box_options line = lbx_box_options_preset(LBX_BOX_PRESET_SQS_FIFO);
    lbx_fault fault = {LBX_OK, ""};
    lbx_postbox *postbox;

    options.fault = &fault;
    options.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID, lbx_null_postbox_create(&options, &postbox));
    CHECK(strstr(fault.text, "LBX_POSTBOX_OPTIONS_INIT"));
    options.size_bytes = sizeof(lbx_postbox_options);
    options.box = &line;
    CHECK_STATUS(LBX_INVALID, lbx_fake_postbox_create(&options, &postbox));
    CHECK(strstr(fault.text, "a fake has no fifo"));
    line.lease_ns = -1;
    CHECK_STATUS(LBX_INVALID, lbx_fake_postbox_create(&options, &postbox));
    CHECK(strstr(fault.text, "lease_ns is -1"));
}

TEST(a_move_of_the_clock_serves_those_who_wait)
{
    lbx_receive_options wait = LBX_RECEIVE_OPTIONS_INIT;
    lbx_draft draft = lbx_draft_of_text("later");
    struct timed test;
    lbx_operation operation;
    lbx_letter *letter;
    size_t count;

    begin(&test);
    CHECK_OK(lbx_fake_postbox_create(&test.options, &test.fake));
    draft.delay_ns = 10 * LBX_SECOND;
    CHECK_OK(lbx_postbox_send_draft(test.fake, &draft, NULL));
    wait.wait_ns = 60 * LBX_SECOND;
    CHECK_OK(lbx_postbox_receive_init(&operation, test.fake, &wait, &letter,
                                      &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    advance(&test, 10 * LBX_SECOND - 1);
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    advance(&test, 1);
    CHECK_OK(lbx_operation_poll(&operation, NULL));
    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
    CHECK_OK(lbx_operation_restart(
        &operation, lbx_deadline_after(&test.clock, LBX_SECOND)));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    advance(&test, LBX_SECOND);
    CHECK_STATUS(LBX_EMPTY, lbx_operation_poll(&operation, NULL));
    lbx_operation_fini(&operation);
    lbx_postbox_unref(test.fake);
}

TEST_CITING("R-29", fewer_than_wanted_come_at_the_end_of_the_wait)
{
    lbx_receive_options wait = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[3];
    struct timed test;
    lbx_operation operation;
    size_t count;

    begin(&test);
    CHECK_OK(lbx_fake_postbox_create(&test.options, &test.fake));
    wait.wait_ns = 5 * LBX_SECOND;
    wait.max_letters = 3;
    wait.min_letters = 3;
    CHECK_OK(lbx_postbox_receive_init(&operation, test.fake, &wait, letters,
                                      &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    CHECK_OK(lbx_postbox_send(test.fake, "1", 1, NULL));
    CHECK_OK(lbx_postbox_send(test.fake, "2", 1, NULL));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    advance(&test, 5 * LBX_SECOND);
    CHECK_OK(lbx_operation_poll(&operation, NULL));
    CHECK_INT(2, count);
    CHECK_STR("1", lbx_letter_body(letters[0], NULL));
    lbx_letter_destroy(letters[0]);
    lbx_letter_destroy(letters[1]);
    lbx_operation_fini(&operation);
    lbx_postbox_unref(test.fake);
}

TEST(a_cancelled_receive_does_not_count_as_a_delivery)
{
    struct timed test;
    lbx_receive_options wait = LBX_RECEIVE_OPTIONS_INIT;
    lbx_operation operation;
    lbx_letter *letter;
    size_t count;

    begin(&test);
    CHECK_OK(lbx_fake_postbox_create(&test.options, &test.fake));
    wait.wait_ns = -1;
    CHECK_OK(lbx_postbox_receive_init(&operation, test.fake, &wait, &letter,
                                      &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    CHECK_OK(lbx_postbox_send(test.fake, "x", 1, NULL)); // it has it now
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&operation));
    lbx_operation_fini(&operation);
    CHECK_OK(lbx_postbox_receive(test.fake, 0, &letter));
    CHECK_INT(1, lbx_letter_delivery_count(letter));
    lbx_letter_destroy(letter);
    lbx_postbox_unref(test.fake);
}

TEST_CITING("W-36 R-30", strict_receipts_end_with_the_lease_and_others_do_not)
{
    struct timed test;
    lbx_letter *letter;

    begin(&test);
    CHECK_OK(lbx_fake_postbox_create(&test.options, &test.fake));
    CHECK_OK(lbx_postbox_send(test.fake, "x", 1, NULL));
    CHECK_OK(lbx_postbox_receive(test.fake, 0, &letter));
    advance(&test, 30 * LBX_SECOND);
    CHECK_STATUS(LBX_EXPIRED, lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
    lbx_postbox_unref(test.fake);

    test.box.strict = false;
    CHECK_OK(lbx_fake_postbox_create(&test.options, &test.fake));
    CHECK_OK(lbx_postbox_send(test.fake, "x", 1, NULL));
    CHECK_OK(lbx_postbox_receive(test.fake, 0, &letter));
    advance(&test, 30 * LBX_SECOND);
    CHECK_OK(lbx_letter_acknowledge(letter));
    lbx_letter_destroy(letter);
    lbx_postbox_unref(test.fake);
}

TEST(a_fake_is_too_plain_for_fifo)
{
    struct timed test;

    begin(&test);
    test.box.fifo = true;
    CHECK_STATUS(LBX_INVALID,
                 lbx_fake_postbox_create(&test.options, &test.fake));
    test.box = lbx_box_options_preset(LBX_BOX_PRESET_DEFAULT);
    test.box.lease_ns = -1;
    CHECK_STATUS(LBX_INVALID,
                 lbx_fake_postbox_create(&test.options, &test.fake));
}

TEST(an_error_ends_those_who_wait)
{
    lbx_receive_options wait = LBX_RECEIVE_OPTIONS_INIT;
    lbx_operation operation;
    lbx_postbox *fake;
    lbx_letter *letter;
    size_t count;

    CHECK_OK(lbx_fake_postbox_create(NULL, &fake));
    wait.wait_ns = -1;
    CHECK_OK(
        lbx_postbox_receive_init(&operation, fake, &wait, &letter, &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&operation, NULL));
    CHECK_OK(lbx_fake_postbox_set_error(fake, LBX_UNREACHABLE));
    CHECK_STATUS(LBX_UNREACHABLE, lbx_operation_poll(&operation, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_fake_postbox_set_error(fake, LBX_PENDING));
    CHECK_STATUS(LBX_INVALID, lbx_fake_postbox_set_error(NULL, LBX_OK));
    lbx_operation_fini(&operation);
    lbx_postbox_unref(fake);
}

TEST(collected_drafts_say_all_that_was_sent)
{
    static const lbx_attribute attribute = {"a", LBX_ATTRIBUTE_BINARY, "l",
                                            "\0v", 2};
    lbx_draft draft = lbx_draft_of_bytes("b\0", 2);
    const lbx_draft *seen;
    lbx_postbox *outbox, *null;
    lbx_routes *routes;

    CHECK_OK(lbx_collecting_postbox_create(NULL, &outbox));
    CHECK_OK(lbx_null_postbox_create(NULL, &null));
    CHECK_OK(lbx_routes_single("there", NULL, &routes));
    draft.routes = routes;
    draft.attributes = &attribute;
    draft.attribute_count = 1;
    draft.type_name = "t.T";
    draft.token = "tok";
    draft.delay_ns = 3;
    CHECK_OK(lbx_postbox_send_draft(outbox, &draft, NULL));
    lbx_routes_unref(routes);
    seen = lbx_collecting_postbox_at(outbox, 0);
    CHECK_INT(2, seen->body_bytes);
    CHECK(memcmp("b\0", seen->body, 3) == 0);
    CHECK_STR("there", lbx_routes_default(seen->routes));
    CHECK(memcmp("\0v", seen->attributes[0].value, 2) == 0);
    CHECK_STR("l", seen->attributes[0].label);
    CHECK_STR("t.T", seen->type_name);
    CHECK_STR("tok", seen->token);
    CHECK_INT(3, seen->delay_ns);
    for (int i = 0; i < 100; i++) // and stays where it is
        CHECK_OK(lbx_postbox_send(outbox, "x", 1, NULL));
    CHECK_PTR(seen, lbx_collecting_postbox_at(outbox, 0));
    CHECK_PTR(NULL, lbx_collecting_postbox_at(outbox, 101));
    CHECK_INT(0, lbx_collecting_postbox_count(null));
    CHECK_PTR(NULL, lbx_collecting_postbox_at(null, 0));
    lbx_postbox_unref(null);
    lbx_postbox_unref(outbox);
}

enum {
    SENDERS = 4,
    EACH = 100
};

struct race {
    lbx_postbox *fake;
    _Atomic int received;
    _Atomic int seen[SENDERS * EACH];
};

static void
send_or_receive(unsigned index, void *context)
{
    struct race *race = context;
    lbx_letter *letter;

    if (index < SENDERS) {
        for (int i = 0; i < EACH; i++) {
            const int number = (int)index * EACH + i;

            CHECK_OK(
                lbx_postbox_send(race->fake, &number, sizeof(number), NULL));
        }
        return;
    }
    while (race->received < SENDERS * EACH) {
        int number;

        if (lbx_postbox_receive(race->fake, LBX_MS, &letter) != LBX_OK)
            continue;
        memcpy(&number, lbx_letter_body(letter, NULL), sizeof(number));
        CHECK_OK(lbx_letter_acknowledge(letter));
        CHECK_INT(0, race->seen[number]++);
        race->received++;
        lbx_letter_destroy(letter);
    }
}

TEST_CITING("W-07 W-17", threads_share_a_fake_and_every_letter_comes_once)
{
    struct race race = {.received = 0};

    CHECK_OK(lbx_fake_postbox_create(NULL, &race.fake));
    threads_run(2 * SENDERS, send_or_receive, &race);
    lbx_postbox_unref(race.fake);
}
