/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cellex: the error model. A kind of our own ("fussy") makes its storage
 * answer what the test wants, so that each status reaches a sender as it
 * would from a real failure.
 */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

#include <string.h>

/* Each queue error has one status, and no two share one. */
TEST_CITING("C-33", from_queue_error_maps_variants)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, 1, LBX_OVERFLOW_REJECT);

    CHECK_NOTHING(&box);        // empty
    fussy.answer = LBX_REFUSED; // offer-error
    CHECK_STATUS(LBX_REFUSED, box_send(&box, 1));
    fussy.answer = LBX_NO_MEMORY; // alloc-error
    CHECK_STATUS(LBX_NO_MEMORY, box_send(&box, 1));
    fussy.answer = LBX_OK;
    CHECK_OK(box_send(&box, 1));
    CHECK_STATUS(LBX_FULL, box_send(&box, 2)); // full
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, box_send(&box, 2)); // closed
    CHECK_TAKES(&box, 1);
    CHECK_ENDED(&box); // disconnected
    fussy_destroy(&fussy, &box);
}

/* A refusal names the policy that decided. */
TEST_CITING("C-33 R-38", with_policy_applies_hint)
{
    static const lbx_overflow policies[] = {LBX_OVERFLOW_REJECT,
                                            LBX_OVERFLOW_BLOCK};

    for (size_t i = 0; i < 2; i++) {
        struct box box = cellex_bounded(1, policies[i]);
        lbx_send_result result = LBX_SEND_RESULT_INIT;

        CHECK_OK(box_send(&box, 1));
        CHECK_STATUS(LBX_FULL, box_post(&box, regular(2), &result));
        CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
        CHECK_INT(policies[i], result.overflow);
        box_destroy(&box);
    }
}

/* A status becomes its name and text and is found again by them. */
TEST_CITING("C-33", statuses_round_trip_through_their_names)
{
    static const struct {
        lbx_status status;
        const char *name;
    } rows[] = {
        {LBX_FULL, "LBX_FULL"},       {LBX_CLOSED, "LBX_CLOSED"},
        {LBX_EMPTY, "LBX_EMPTY"},     {LBX_WOULD_BLOCK, "LBX_WOULD_BLOCK"},
        {LBX_REFUSED, "LBX_REFUSED"}, {LBX_NO_MEMORY, "LBX_NO_MEMORY"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        CHECK_STR(rows[i].name, lbx_status_name(rows[i].status));
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(lbx_status_text(rows[i].status),
                         lbx_status_text(rows[j].status)) != 0);
    }
}

/* cellex panics when "empty" is turned into a send's error. Here no send can
 * answer LBX_EMPTY, and no receive can answer LBX_FULL: whatever the state. */
TEST_CITING("C-33", empty_is_never_a_send_error)
{
    static const lbx_overflow policies[] = {
        LBX_OVERFLOW_REJECT, LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_DROP_OLDEST,
        LBX_OVERFLOW_GROW, LBX_OVERFLOW_BLOCK};

    for (size_t i = 0; i < 5; i++) {
        struct box box = cellex_bounded(1, policies[i]);
        intptr_t number;

        for (int n = 0; n < 3; n++)
            CHECK(box_send(&box, n) != LBX_EMPTY);
        CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
        CHECK_STATUS(LBX_CLOSED, box_send(&box, 9));
        while (box_take(&box, &number) == LBX_OK)
            continue;
        CHECK_ENDED(&box);
        box_destroy(&box);
    }
}

/* ---- Only closed closes; every other failure leaves the mailbox open and
 * the message with its sender. ---- */

static void
check_stays_open_after(lbx_status failure)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, 4, LBX_OVERFLOW_REJECT);

    CHECK_OK(box_send(&box, 1));
    fussy.answer = failure;
    CHECK_STATUS(failure, box_send(&box, 2));
    CHECK(!lbx_mailbox_is_closed(box.mailbox));
    CHECK_INT(1, box_depth(&box));
    CHECK_INT(1, box_stats(&box).accepted);
    CHECK_INT(0, box_stats(&box).lost);
    fussy.answer = LBX_OK;
    CHECK_OK(box_send(&box, 2)); // the same message, now accepted
    CHECK_TAKES(&box, 1, 2);
    CHECK_NOTHING(&box);
    fussy_destroy(&fussy, &box);
}

TEST_CITING("C-33", full_keeps_mailbox_open)
{
    check_stays_open_after(LBX_FULL);
}

TEST_CITING("C-33", resource_exhausted_keeps_mailbox_open)
{
    check_stays_open_after(LBX_NO_MEMORY);
}

TEST_CITING("C-33", internal_error_keeps_mailbox_open)
{
    check_stays_open_after(LBX_REFUSED);
}

static bool
read_flag(void *context)
{
    return *(bool *)context;
}

TEST_CITING("C-33 C-41", backpressure_keeps_mailbox_open)
{
    bool may_wait = false;
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.may_wait = read_flag,
            with.may_wait_context = &may_wait);

    CHECK_STATUS(LBX_WOULD_BLOCK, box_send(&box, 1));
    may_wait = true;
    CHECK(!lbx_mailbox_is_closed(box.mailbox));
    CHECK_INT(0, box_depth(&box));
    CHECK_OK(box_send(&box, 1));
    CHECK_TAKES(&box, 1);
}

TEST_CITING("C-33", only_closed_marks_the_mailbox_closed)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, 4, LBX_OVERFLOW_REJECT);

    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK(lbx_mailbox_is_closed(box.mailbox));
    CHECK_STATUS(LBX_CLOSED, box_send(&box, 1));
    fussy.answer = LBX_NO_MEMORY; // closed comes first
    CHECK_STATUS(LBX_CLOSED, box_send(&box, 1));
    fussy_destroy(&fussy, &box);
}

/* The result is written on failure too, so that it never tells an old story. */
BOX_TEST("C-33 C-35 R-13", failed_send_overwrites_the_result,
         cellex_bounded(1, LBX_OVERFLOW_REJECT))
{
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    CHECK_OK(box_post(box, regular(1), &result));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, result.outcome);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, box_post(box, regular(2), &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    CHECK_INT(0, result.dropped_messages);
}

/* The system messages' table, number by number. */
TEST_CITING("C-12", priority_table_matches_expected_values)
{
    static const struct {
        lbx_system_code code;
        int32_t above_default;
    } rows[] = {
        {LBX_SYSTEM_CODE_WATCH, 5},           {LBX_SYSTEM_CODE_UNWATCH, 5},
        {LBX_SYSTEM_CODE_STOP, 10},           {LBX_SYSTEM_CODE_FAILURE, 12},
        {LBX_SYSTEM_CODE_RESTART, 11},        {LBX_SYSTEM_CODE_SUSPEND, 9},
        {LBX_SYSTEM_CODE_RESUME, 9},          {LBX_SYSTEM_CODE_ESCALATE, 13},
        {LBX_SYSTEM_CODE_RECEIVE_TIMEOUT, 8},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        lbx_system_message message = lbx_system_message_of(rows[i].code);

        CHECK_INT(rows[i].code, message.code);
        CHECK_INT(4 + rows[i].above_default, message.priority);
    }
    CHECK_INT(8, LBX_CELLEX_PRIORITY_LEVELS);
    CHECK_INT(4, lbx_system_message_of(LBX_SYSTEM_CODE_USER + 1).priority);
}
