/* SPDX-License-Identifier: Apache-2.0 */
/* Polls of a queue, lines of the log, and what the gate says of a head. */
#include "server/gate.h"
#include "server/log.h"
#include "server/sqs/polls.h"

#include "support/test.h"
#include "support/torture.h"
#include <stdio.h>
#include <string.h>

/* POLLS-1 */
TEST(polls_of_a_queue_are_limited)
{
    TORTURE(memory, allocator);
    const lbx_box one = {1}, two = {2};
    lbx__polls polls;

    lbx__polls_init(&polls, &allocator, 2);
    CHECK_OK(lbx__polls_add(&polls, one));
    CHECK_OK(lbx__polls_add(&polls, one));
    CHECK_STATUS(LBX_FULL, lbx__polls_add(&polls, one));
    CHECK_OK(lbx__polls_add(&polls, two));
    lbx__polls_remove(&polls, one);
    CHECK_OK(lbx__polls_add(&polls, one));
    lbx__polls_remove(&polls, one);
    lbx__polls_remove(&polls, one);
    lbx__polls_remove(&polls, two);
    lbx__polls_fini(&polls);
    CHECK_INT(0, memory.live_bytes);
}

struct lines {
    int count;
    char last[128];
};

static void
keep_line(void *context, const char *line)
{
    struct lines *lines = context;

    lines->count++;
    snprintf(lines->last, sizeof(lines->last), "%s", line);
}

/* LOG-1 */
TEST(log_drops_lines_and_says_how_many)
{
    struct lines lines = {.count = 0};
    lbx__log log = {.write = keep_line, .context = &lines, .max_lines = 3};

    for (int i = 0; i < 10; i++)
        lbx__log_write(&log, 5 * LBX_SECOND + i, "line");
    CHECK_INT(3, lines.count);
    CHECK_STR("line", lines.last);
    lbx__log_write(&log, 6 * LBX_SECOND, "next");
    CHECK_INT(5, lines.count);
    CHECK_STR("next", lines.last);
    for (int i = 0; i < 10; i++)
        lbx__log_write(&log, 6 * LBX_SECOND, "line");
    lbx__log_flush(&log);
    CHECK_INT(8, lines.count);
    CHECK_STR("8 lines were dropped: more than 3 in a second", lines.last);
    lbx__log_flush(&log);
    CHECK_INT(8, lines.count);
}

TEST(log_without_a_limit_drops_nothing)
{
    struct lines lines = {.count = 0};
    lbx__log log = {.write = keep_line, .context = &lines};

    for (int i = 0; i < 5000; i++)
        lbx__log_write(&log, LBX_SECOND, "line");
    lbx__log_flush(&log);
    CHECK_INT(5000, lines.count);
}

#define CREDENTIAL(key) "Credential=" key "/20261118/us-east-1/sqs/aws4_request"
#define SIGNED                                                                 \
    ", SignedHeaders=host;x-amz-date, Signature="                              \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static bool
may_admit(lbx__gate *gate, const char *authorization)
{
    const lbx__http_field fields[] = {
        {lbx__slice_of("host"), lbx__slice_of("x")},
        {lbx__slice_of("x-amz-date"), lbx__slice_of("20261118T000000Z")},
        {lbx__slice_of("authorization"), lbx__slice_of(authorization)},
    };
    const lbx__http_request request = {
        .method = LBX__HTTP_POST,
        .method_name = lbx__slice_of("POST"),
        .path = lbx__slice_of("/"),
        .fields = fields,
        .field_count = authorization[0] ? 3 : 2,
    };

    return lbx__gate_may_admit(gate, &request);
}

/* A body is read only if a known key claims to have signed it. */
TEST(gate_refuses_at_the_head_what_no_body_can_mend)
{
    const lbx_server_key key = {.access_key = "AKIDKNOWN",
                                .secret = "a secret of some length"};
    const lbx__world home = {"000000000000", "us-east-1"};
    lbx__gate gate;

    lbx__gate_init(&gate, NULL, &home);
    CHECK(may_admit(&gate, "")); // no keys: open
    CHECK_OK(lbx__gate_set_keys(&gate, &key, 1, NULL));
    CHECK(!may_admit(&gate, ""));
    CHECK(!may_admit(&gate, "Bearer x"));
    CHECK(!may_admit(&gate, "AWS4-HMAC-SHA256 "));
    CHECK(!may_admit(&gate, "AWS4-HMAC-SHA256 " CREDENTIAL("AKIDKNOWN")));
    CHECK(
        !may_admit(&gate, "AWS4-HMAC-SHA256 " CREDENTIAL("AKIDOTHER") SIGNED));
    CHECK(may_admit(&gate, "AWS4-HMAC-SHA256 " CREDENTIAL("AKIDKNOWN") SIGNED));
    lbx__gate_fini(&gate);
}
