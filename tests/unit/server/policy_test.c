/* SPDX-License-Identifier: Apache-2.0 */
/* Policies of queues that are edited, and handles of moves. */
#include "base/buffer.h"
#include "codec/base64.h"
#include "server/sqs/action.h"
#include "server/sqs/move_handle.h"
#include "server/sqs/policy.h"
#include "support/test.h"

static void
check_edited(const char *text, const char *label, const char *more,
             const char *expected)
{
    lbx__policy policy;
    lbx__arena arena;
    lbx_buffer out;

    lbx__arena_init(&arena, NULL, 1 << 20);
    lbx__buffer_init(&out, NULL, 1 << 16);
    CHECK(lbx__policy_read(&policy, &arena, NULL, lbx__slice_of(text), label));
    lbx__policy_write(&policy, lbx__slice_of(more), &out);
    CHECK_OK(out.status);
    CHECK_STR(expected, out.bytes);
    lbx__buffer_fini(&out);
    lbx__arena_fini(&arena);
}

TEST(a_statement_is_added_and_the_rest_stays_as_it_was_written)
{
    check_edited("{\"Version\":\"2008-10-17\",\"Id\":\"x\"}", "a", "{\"n\":1}",
                 "{\"Version\":\"2008-10-17\",\"Id\":\"x\","
                 "\"Statement\":[{\"n\":1}]}");
    check_edited("{ \"Statement\" : [ {\"Sid\" : \"b\", \"x\":[1, {}]} ], "
                 "\"Version\" : \"v\" }",
                 "a", "{\"n\":1}",
                 "{\"Version\": \"v\",\"Statement\":[{\"Sid\" : \"b\", "
                 "\"x\":[1, {}]},{\"n\":1}]}");
    check_edited("{\"Statement\":{\"Sid\":\"b\"}}", "a", "{}",
                 "{\"Statement\":[{\"Sid\":\"b\"},{}]}");
}

TEST(a_statement_is_taken_out_by_its_label)
{
    check_edited("{\"Statement\":[{\"Sid\":\"a\"},{\"Sid\":\"b\"},{\"Sid\":7}"
                 ",{}]}",
                 "a", NULL, "{\"Statement\":[{\"Sid\":\"b\"},{\"Sid\":7},{}]}");
}

TEST(a_label_is_found_however_it_is_escaped)
{
    lbx__policy policy;
    lbx__arena arena;

    lbx__arena_init(&arena, NULL, 1 << 20);
    CHECK(lbx__policy_read(
        &policy, &arena, NULL,
        lbx__slice_of("{\"Statement\":[{\"x\":{\"Sid\":\"no\"}},{\"x\":1,"
                      "\"Sid\":\"\\u0061b\"}]}"),
        "ab"));
    CHECK(policy.has_label);
    CHECK_INT(2, policy.count);
    CHECK(!policy.statements->has_label && policy.statements->next->has_label);
    CHECK(lbx__policy_read(
        &policy, &arena, NULL,
        lbx__slice_of("{\"Statement\":[{\"x\":{\"Sid\":\"no\"}}]}"), "no"));
    CHECK(!policy.has_label);
    lbx__arena_fini(&arena);
}

TEST(what_has_no_statements_is_not_edited)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{\"Statement\":1}",
        "{\"Statement\":[1]}",
        "{\"Statement\":[{]}",
        "{\"Statement\":[{\"a\":}]}",
        "{\"Statement\":[]",
        "{\"a\":tru}",
        "{} {}",
    };
    lbx__policy policy;
    lbx__arena arena;

    lbx__arena_init(&arena, NULL, 1 << 20);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (lbx__policy_read(&policy, &arena, NULL, lbx__slice_of(texts[i]),
                             "a"))
            FAIL("%s was read", texts[i]);
    }
    lbx__arena_fini(&arena);
}

/* ---- Handles of moves ---- */

static bool
read_json(const char *json, lbx__arena *arena, lbx__move_handle *ret)
{
    char text[1024];

    lbx__base64_encode(LBX__BASE64, json, strlen(json), text);
    return lbx__move_handle_read(arena, NULL, lbx__slice_of(text), ret);
}

TEST(a_handle_of_a_move_is_read_as_it_was_written)
{
    char text[LBX__MOVE_HANDLE_BYTES];
    lbx__move_handle handle;
    lbx__arena arena;

    lbx__arena_init(&arena, NULL, 1 << 20);
    lbx__move_handle_write(0xabc123, "arn:x", text);
    CHECK(lbx__move_handle_read(&arena, NULL, lbx__slice_of(text), &handle));
    CHECK_INT(0xabc123, handle.task);
    CHECK_STR("arn:x", handle.source);
    lbx__arena_fini(&arena);
}

/* Tests of clients build handles by hand. */
TEST(a_handle_of_another_hand_is_read_and_has_no_task)
{
    lbx__move_handle handle;
    lbx__arena arena;

    lbx__arena_init(&arena, NULL, 1 << 20);
    CHECK(read_json("{\"sourceArn\":\"s\", \"more\":[], \"taskId\":"
                    "\"c0ffee00-0000-4000-8000-00000000002a\"}",
                    &arena, &handle));
    CHECK_INT(0, handle.task);
    CHECK_STR("s", handle.source);
    CHECK(read_json("{\"sourceArn\":\"s\",\"taskId\":"
                    "\"00000000-0000-4000-8000-00000000002A\"}",
                    &arena, &handle));
    CHECK_INT(0, handle.task);
    CHECK(read_json("{\"sourceArn\":\"s\",\"taskId\":"
                    "\"00000000-0000-4000-8000-00000000002a\"}",
                    &arena, &handle));
    CHECK_INT(42, handle.task);
    CHECK(read_json("{\"sourceArn\":\"s\",\"taskId\":\"\"}", &arena, &handle));
    CHECK_INT(0, handle.task);
    lbx__arena_fini(&arena);
}

TEST(what_is_no_handle_is_refused)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"taskId\":\"a\"}",
        "{\"sourceArn\":\"a\"}",
        "{\"taskId\":1,\"sourceArn\":\"a\"}",
        "{\"taskId\":\"a\",\"sourceArn\":\"a\"} x",
    };
    static char large[10000];
    lbx__move_handle handle;
    lbx__arena arena;

    lbx__arena_init(&arena, NULL, 1 << 20);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        CHECK(!read_json(texts[i], &arena, &handle));
    CHECK(!lbx__move_handle_read(&arena, NULL, lbx__slice_of("foobared"),
                                 &handle));
    CHECK(!lbx__move_handle_read(&arena, NULL, lbx__slice_of(NULL), &handle));
    memset(large, 'A', sizeof(large));
    CHECK(!lbx__move_handle_read(&arena, NULL,
                                 (lbx__slice){large, sizeof(large)}, &handle));
    lbx__arena_fini(&arena);
}

/* ---- The table of actions ---- */

TEST(every_action_is_found_by_its_name_and_no_other)
{
    for (size_t i = 0; i < lbx__action_count; i++) {
        CHECK_PTR(&lbx__actions[i],
                  lbx__action_find(lbx__slice_of(lbx__actions[i].name)));
        if (i > 0) // the search relies on it
            CHECK(strcmp(lbx__actions[i - 1].name, lbx__actions[i].name) < 0);
    }
    CHECK_INT(23, lbx__action_count);
    CHECK(!lbx__action_find(lbx__slice_of("")));
    CHECK(!lbx__action_find(lbx__slice_of(NULL)));
    CHECK(!lbx__action_find(lbx__slice_of("ListQueue")));
    CHECK(!lbx__action_find(lbx__slice_of("ListQueuess")));
    CHECK(!lbx__action_find(lbx__slice_of("listqueues")));
    CHECK(!lbx__action_find(lbx__slice_of("Zzz")));
}
