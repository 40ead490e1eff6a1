/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a letter, by what its handler answers. */
#include "shelf.h"

#include "support/threads.h"

#include <stdio.h>
#include <string.h>

/* A handler that answers what its context says, and counts. */
struct clerk {
    lbx_status answer;
    int jobs;
};

static lbx_status
say(lbx_job *job, void *context)
{
    struct clerk *clerk = context;

    CHECK(lbx_job_letter(job) != NULL);
    CHECK(!lbx_job_is_stopping(job));
    clerk->jobs++;
    return clerk->answer;
}

static void
clerk_begin(struct desk *desk, struct clerk *clerk, lbx_status answer)
{
    desk_open(desk);
    *clerk = (struct clerk){.answer = answer};
    desk->options.handle = say;
    desk->options.context = clerk;
}

TEST_CITING("W-20 W-23", what_was_handled_is_acknowledged)
{
    struct desk desk;
    struct clerk clerk;

    clerk_begin(&desk, &clerk, LBX_OK);
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(1, clerk.jobs);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    CHECK_COUNTS(&desk, "answers", 0, 0, 0);
    CHECK_INT(1, desk_stats(&desk)->received);
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    CHECK_INT(0, desk_stats(&desk)->returned);
    desk_close(&desk);
}

TEST_CITING("W-20", failures_come_back_after_a_growing_delay)
{
    static const int64_t delays[] = {60,  120, 180, 240, 300, 360,
                                     420, 480, 540, 600, 660, 720,
                                     780, 840, 900, 900, 900};
    const int count = (int)(sizeof(delays) / sizeof(delays[0]));
    struct desk desk;
    struct clerk clerk;

    clerk_begin(&desk, &clerk, LBX_REFUSED);
    desk_send(&desk, "a book");
    for (int i = 0; i < count; i++) {
        desk_run(&desk, 1);
        CHECK_INT(i + 1, clerk.jobs);
        CHECK_COUNTS(&desk, "requests", 0, 0, 1);
        shelf_advance(&desk.shelf, delays[i] * LBX_SECOND - 1);
        desk_run(&desk, 1); // not yet
        CHECK_INT(i + 1, clerk.jobs);
        shelf_advance(&desk.shelf, 1);
        CHECK_COUNTS(&desk, "requests", 1, 0, 0);
    }
    CHECK_COUNTS(&desk, "answers", 0, 0, 0); // no error reply below a policy
    CHECK_INT(count, desk_stats(&desk)->returned);
    CHECK(desk_has_logged(&desk, "delivery 17 failed: LBX_REFUSED"));
    desk_close(&desk);
}

TEST_CITING("W-20", an_answer_that_nobody_wants_is_a_warning)
{
    static const lbx_status answers[] = {LBX_NO_ROUTE, LBX_NO_REPLY};

    for (size_t i = 0; i < 2; i++) {
        struct desk desk;
        struct clerk clerk;

        clerk_begin(&desk, &clerk, answers[i]);
        desk_send(&desk, "a book");
        desk_run(&desk, 1);
        CHECK_COUNTS(&desk, "requests", 0, 0, 0);
        CHECK_INT(1, desk_stats(&desk)->acknowledged);
        CHECK(desk_has_logged(&desk, "acknowledged without an answer"));
        desk_close(&desk);
    }
}

/* ---- Answers ---- */

/* Progress, and then the result. */
static lbx_status
report(lbx_job *job, void *context)
{
    lbx_draft progress = lbx_draft_of_text("half");
    lbx_draft result = lbx_draft_of_text("whole");
    lbx_status status;

    (void)context;
    CHECK_OK(lbx_letter_reply(lbx_job_letter(job), &progress, NULL, NULL));
    status = lbx_job_answer(job, &result);
    CHECK(status != LBX_OK || lbx_letter_is_finalized(lbx_job_letter(job)));
    return status;
}

TEST_CITING("W-19 W-20 W-25", progress_then_the_result_then_the_acknowledgement)
{
    struct desk desk;
    lbx_letter *letter;

    desk_open(&desk);
    desk.options.handle = report;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    letter = desk_take(desk.answers);
    CHECK_STR("half", lbx_letter_body(letter, NULL));
    lbx_letter_destroy(letter);
    letter = desk_take(desk.answers);
    CHECK_STR("whole", lbx_letter_body(letter, NULL));
    lbx_letter_destroy(letter);
    CHECK_COUNTS(&desk, "answers", 0, 0, 0);
    CHECK_INT(1, desk_stats(&desk)->acknowledged); // once
    desk_close(&desk);
}

static lbx_status
answer_whole(lbx_job *job, void *context)
{
    lbx_draft result = lbx_draft_of_text("whole");

    (void)context;
    return lbx_job_answer(job, &result);
}

TEST_CITING("W-20", a_letter_without_routes_is_acknowledged_without_an_answer)
{
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = answer_whole;
    desk_send_draft(&desk, lbx_draft_of_text("a book"));
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    CHECK(desk_has_logged(&desk, "acknowledged without an answer"));
    desk_close(&desk);
}

/* The place of the answers is full: the reply cannot be attached. */
static lbx_status
no_room(void *context, lbx_verb verb, const void *request)
{
    const lbx_settle_request *settle = request;
    const _Atomic bool *full = context;

    if (atomic_load(full) && verb == LBX_VERB_SETTLE &&
        settle->entries[0].attachment_count > 0)
        return LBX_FULL;
    return LBX_OK;
}

/* WINK: a failing results queue made a successful job look failed. */
TEST_CITING("W-25 R-44", an_answer_that_cannot_be_sent_is_no_failure)
{
    _Atomic bool full = true;
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = answer_whole;
    desk.options.dead_letters.postbox = desk.dead;
    desk.options.dead_letters.deliveries = 1;
    desk.shelf.before = no_room;
    desk.shelf.context = &full;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 1); // given back, not put aside
    CHECK_COUNTS(&desk, "dead", 0, 0, 0);
    CHECK_INT(1, desk_stats(&desk)->returned);
    CHECK(desk_has_logged(&desk, "the answer was not sent"));
    atomic_store(&full, false);
    shelf_advance(&desk.shelf, 60 * LBX_SECOND);
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    CHECK_COUNTS(&desk, "answers", 1, 0, 0);
    desk_close(&desk);
}

static lbx_status
answer_nothing(lbx_job *job, void *context)
{
    (void)context;
    CHECK_STATUS(LBX_INVALID, lbx_job_answer(job, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_job_answer(NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_job_beat(NULL));
    CHECK(!lbx_job_is_stopping(NULL));
    CHECK_PTR(NULL, lbx_job_letter(NULL));
    CHECK_STATUS(LBX_DENIED, lbx_job_fail(NULL, LBX_DENIED, NULL, NULL));
    lbx_job_done(NULL, LBX_OK);
    return LBX_OK;
}

TEST(jobs_refuse_nonsense)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_fault fault = {LBX_OK, ""};
    lbx_courier_stats stats;
    lbx_courier *courier;
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = answer_nothing;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    desk_close(&desk);

    options.fault = &fault;
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(&options, &courier));
    CHECK_STATUS(LBX_INVALID, fault.status);
    CHECK(strstr(fault.text, "postbox") != NULL);
    options.version = 0;
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(&options, &courier));
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(NULL, &courier));
    CHECK_STATUS(LBX_INVALID, lbx_courier_start(NULL));
    CHECK_STATUS(LBX_INVALID, lbx_courier_run(NULL, 1));
    CHECK_STATUS(LBX_INVALID, lbx_courier_stop(NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_courier_stats_read(NULL, &stats));
    CHECK_STATUS(LBX_INVALID, lbx_courier_to_actor(NULL, NULL));
    CHECK(!lbx_courier_is_running(NULL));
    lbx_courier_destroy(NULL);
}

/* ---- Handlers that settle themselves ---- */

static lbx_status
give_back_now(lbx_job *job, void *context)
{
    (void)context;
    CHECK_OK(lbx_letter_nack(lbx_job_letter(job), 5 * LBX_SECOND));
    return LBX_REFUSED;
}

TEST(a_letter_that_the_handler_has_settled_is_left_alone)
{
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = give_back_now;
    desk.options.dead_letters.postbox = desk.dead;
    desk.options.dead_letters.deliveries = 1;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "requests", 0, 0, 1);
    CHECK_COUNTS(&desk, "dead", 0, 0, 0);
    shelf_advance(&desk.shelf, 5 * LBX_SECOND); // its own delay, not ours
    CHECK_COUNTS(&desk, "requests", 1, 0, 0);
    CHECK_INT(0, desk_stats(&desk)->returned);
    CHECK_INT(0, desk_stats(&desk)->acknowledged);
    desk_close(&desk);
}

/* ---- Stores that fail ---- */

struct failing {
    lbx_verb verb;
    lbx_status status;
    int times;
};

static lbx_status
fail_some(void *context, lbx_verb verb, const void *request)
{
    struct failing *failing = context;

    (void)request;
    if (verb != failing->verb || failing->times == 0)
        return LBX_OK;
    failing->times--;
    return failing->status;
}

TEST_CITING("W-25", an_acknowledgement_that_fails_lets_the_letter_come_again)
{
    static const lbx_status failures[] = {LBX_UNREACHABLE, LBX_UNKNOWN, LBX_IO};

    for (size_t i = 0; i < 3; i++) {
        struct failing failing = {LBX_VERB_SETTLE, failures[i], 1};
        struct desk desk;
        struct clerk clerk;

        clerk_begin(&desk, &clerk, LBX_OK);
        desk.shelf.before = fail_some;
        desk.shelf.context = &failing;
        desk_send(&desk, "a book");
        desk_run(&desk, 2); // and goes on
        CHECK_INT(1, desk_stats(&desk)->unsettled);
        CHECK_COUNTS(&desk, "requests", 0, 1, 0);
        shelf_advance(&desk.shelf, 300 * LBX_SECOND);
        desk_run(&desk, 1);
        CHECK_INT(2, clerk.jobs);
        CHECK_COUNTS(&desk, "requests", 0, 0, 0);
        desk_close(&desk);
    }
}

TEST(a_store_that_cannot_be_reached_is_tried_again)
{
    struct failing failing = {LBX_VERB_RECEIVE, LBX_UNREACHABLE, 2};
    struct desk desk;
    struct clerk clerk;

    clerk_begin(&desk, &clerk, LBX_OK);
    desk.shelf.before = fail_some;
    desk.shelf.context = &failing;
    desk_send(&desk, "a book");
    desk_run(&desk, 3);
    CHECK_INT(1, clerk.jobs);
    CHECK(desk_has_logged(&desk, "receiving from requests failed"));
    CHECK(!desk_has_logged(&desk, "lbx_file_check()"));
    desk_close(&desk);
}

TEST(who_reads_that_a_store_is_damaged_is_told_where_to_look)
{
    struct failing failing = {LBX_VERB_RECEIVE, LBX_CORRUPT, 1};
    struct desk desk;
    struct clerk clerk;

    clerk_begin(&desk, &clerk, LBX_OK);
    desk.shelf.before = fail_some;
    desk.shelf.context = &failing;
    desk_send(&desk, "a book");
    desk_run(&desk, 2);
    CHECK_INT(1, clerk.jobs);
    CHECK(desk_has_logged(&desk, "receiving from requests failed"));
    CHECK(desk_has_logged(&desk, "lbx_file_check()"));
    desk_close(&desk);
}

TEST_CITING("W-09", a_loop_ends_when_its_postbox_is_closed)
{
    struct desk desk;
    struct clerk clerk;

    clerk_begin(&desk, &clerk, LBX_OK);
    desk_send(&desk, "a book");
    (void)desk_courier(&desk);
    lbx_postbox_close(desk.requests);
    CHECK_STATUS(LBX_CLOSED, lbx_courier_run(desk.courier, -1));
    CHECK_INT(0, clerk.jobs);
    desk_close(&desk);
}

/* ---- Work that goes on elsewhere ---- */

struct elsewhere {
    _Atomic(lbx_job *) job;
    lbx_status status;
};

static lbx_status
pass_on(lbx_job *job, void *context)
{
    struct elsewhere *elsewhere = context;

    atomic_store(&elsewhere->job, job);
    return LBX_PENDING;
}

static void
finish_elsewhere(void *context)
{
    struct elsewhere *elsewhere = context;
    lbx_job *job;

    EVENTUALLY((job = atomic_load(&elsewhere->job)) != NULL);
    CHECK(lbx_job_letter(job) != NULL); // it stays
    lbx_job_done(job, elsewhere->status);
}

TEST(work_that_goes_on_elsewhere_is_settled_when_it_is_done)
{
    struct elsewhere elsewhere = {NULL, LBX_OK};
    struct thread thread;
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = pass_on;
    desk.options.context = &elsewhere;
    desk_send(&desk, "a book");
    thread_start(&thread, finish_elsewhere, &elsewhere);
    desk_run(&desk, 1);
    thread_join(&thread);
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    desk_close(&desk);
}

static lbx_status
done_at_once(lbx_job *job, void *context)
{
    (void)context;
    lbx_job_done(job, LBX_REFUSED); // before the handler has returned
    return LBX_PENDING;
}

TEST(work_may_be_done_before_its_handler_has_returned)
{
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = done_at_once;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(1, desk_stats(&desk)->returned);
    desk_close(&desk);
}
