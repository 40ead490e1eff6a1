/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with a letter, by the status its handler returns. */
#include "fixture.h"

#include "support/local_post.h"
#include "support/threads.h"

#include <stdio.h>
#include <string.h>

/* A handler that returns the status of its context, and counts. */
struct clerk {
    lbx_status answer;
    int jobs;
};

static lbx_status
answer_status(lbx_job *job, void *context)
{
    struct clerk *clerk = context;

    CHECK(lbx_job_letter(job) != NULL);
    CHECK(!lbx_job_is_stopping(job));
    clerk->jobs++;
    return clerk->answer;
}

static void
clerk_begin(struct fixture *fx, struct clerk *clerk, lbx_status answer)
{
    fixture_open(fx);
    *clerk = (struct clerk){.answer = answer};
    fx->options.handle = answer_status;
    fx->options.context = clerk;
}

TEST_CITING("W-20 W-23", what_was_handled_is_acknowledged)
{
    FIXTURE(fx);
    struct clerk clerk;

    clerk_begin(&fx, &clerk, LBX_OK);
    fixture_deliver(&fx, "a book", 1);
    CHECK_INT(1, clerk.jobs);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    CHECK_COUNTS(&fx, "answers", 0, 0, 0);
    CHECK_INT(1, fixture_stats(&fx)->received);
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
    CHECK_INT(0, fixture_stats(&fx)->returned);
}

TEST_CITING("W-20", failures_come_back_after_a_growing_delay)
{
    static const int64_t delays[] = {60,  120, 180, 240, 300, 360,
                                     420, 480, 540, 600, 660, 720,
                                     780, 840, 900, 900, 900};
    const int count = (int)(sizeof(delays) / sizeof(delays[0]));
    FIXTURE(fx);
    struct clerk clerk;

    clerk_begin(&fx, &clerk, LBX_REFUSED);
    fixture_send(&fx, "a book");
    for (int i = 0; i < count; i++) {
        fixture_run(&fx, 1);
        CHECK_INT(i + 1, clerk.jobs);
        CHECK_COUNTS(&fx, "requests", 0, 0, 1);
        fixture_advance(&fx, delays[i] * LBX_SECOND - 1);
        fixture_run(&fx, 1); // not yet
        CHECK_INT(i + 1, clerk.jobs);
        fixture_advance(&fx, 1);
        CHECK_COUNTS(&fx, "requests", 1, 0, 0);
    }
    CHECK_COUNTS(&fx, "answers", 0, 0, 0); // no error reply below a policy
    CHECK_INT(count, fixture_stats(&fx)->returned);
    CHECK(fixture_has_logged(&fx, "delivery 17 failed: LBX_REFUSED"));
}

TEST_CITING("W-20", an_answer_without_a_route_is_a_warning)
{
    static const lbx_status answers[] = {LBX_NO_ROUTE, LBX_NO_REPLY};

    for (size_t i = 0; i < 2; i++) {
        FIXTURE(fx);
        struct clerk clerk;

        clerk_begin(&fx, &clerk, answers[i]);
        fixture_send(&fx, "a book");
        fixture_run(&fx, 1);
        CHECK_COUNTS(&fx, "requests", 0, 0, 0);
        CHECK_INT(1, fixture_stats(&fx)->acknowledged);
        CHECK(fixture_has_logged(&fx, "acknowledged without an answer"));
    }
}

static lbx_status
answer_with_a_result(lbx_job *job, void *directly)
{
    lbx_draft result = lbx_draft_of_text("done");

    result.type_name = "shop.Result";
    return directly ? lbx_letter_reply(lbx_job_letter(job), &result, NULL, NULL)
                    : lbx_job_reply_and_acknowledge(job, &result);
}

/* The log names the type of the reply and the routes that the letter has. */
TEST(a_reply_without_a_route_is_logged_with_its_type_and_the_routes)
{
    static const lbx_routes_entry table[] = {{"shop.Progress", "answers"}};
    lbx_draft draft = lbx_draft_of_text("a book");
    LOCAL_ROUTES(routes);

    CHECK_OK(lbx_routes_create(table, 1, NULL, NULL, &routes));
    draft.routes = routes;
    for (int directly = 0; directly <= 1; directly++) {
        FIXTURE(fx);

        fixture_open_with(&fx, answer_with_a_result, directly ? "" : NULL);
        fixture_send_draft(&fx, draft);
        fixture_run(&fx, 1);
        CHECK_INT(1, fixture_stats(&fx)->acknowledged);
        CHECK(fixture_has_logged(&fx, "shop.Progress"));
        CHECK(directly || fixture_has_logged(&fx, "no route for shop.Result;"));
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
    status = lbx_job_reply_and_acknowledge(job, &result);
    CHECK(status != LBX_OK || lbx_letter_is_finalized(lbx_job_letter(job)));
    return status;
}

COURIER_TEST("W-19 W-20 W-25",
             progress_then_the_result_then_the_acknowledgement,
             fixture_open_with(fx, report, NULL))
{
    lbx_letter *letter;

    fixture_deliver(fx, "a book", 1);
    CHECK_COUNTS(fx, "requests", 0, 0, 0);
    letter = fixture_take(fx->answers);
    CHECK_STR("half", lbx_letter_body(letter, NULL));
    lbx_letter_destroy(letter);
    letter = fixture_take(fx->answers);
    CHECK_STR("whole", lbx_letter_body(letter, NULL));
    lbx_letter_destroy(letter);
    CHECK_COUNTS(fx, "answers", 0, 0, 0);
    CHECK_INT(1, fixture_stats(fx)->acknowledged); // once
}

static lbx_status
answer_whole(lbx_job *job, void *context)
{
    lbx_draft result = lbx_draft_of_text("whole");

    (void)context;
    return lbx_job_reply_and_acknowledge(job, &result);
}

COURIER_TEST("W-20", a_letter_without_routes_is_acknowledged_without_an_answer,
             fixture_open_with(fx, answer_whole, NULL))
{
    fixture_send_draft(fx, lbx_draft_of_text("a book"));
    fixture_run(fx, 1);
    CHECK_COUNTS(fx, "requests", 0, 0, 0);
    CHECK_INT(1, fixture_stats(fx)->acknowledged);
    CHECK(fixture_has_logged(fx, "acknowledged without an answer"));
}

/* The box of the answers is full: the reply cannot be attached. */
static lbx_status
no_room(void *context, lbx_call_kind verb, const void *request)
{
    const lbx_settle_request *settle = request;
    const _Atomic bool *full = context;

    if (atomic_load(full) && verb == LBX_CALL_SETTLE &&
        settle->entries[0].attachment_count > 0)
        return LBX_FULL;
    return LBX_OK;
}

/* WINK: a failing results queue made a successful job look failed. */
TEST_CITING("W-25 R-44", an_answer_that_cannot_be_sent_is_no_failure)
{
    _Atomic bool full = true;
    FIXTURE(fx);

    fixture_open_with(&fx, answer_whole, NULL);
    fx.options.dead_letters.postbox = fx.dead;
    fx.options.dead_letters.deliveries = 1;
    fixture_before(&fx, no_room, &full);
    fixture_deliver(&fx, "a book", 1);
    CHECK_COUNTS(&fx, "requests", 0, 0, 1); // given back, not put aside
    CHECK_COUNTS(&fx, "dead", 0, 0, 0);
    CHECK_INT(1, fixture_stats(&fx)->returned);
    CHECK(fixture_has_logged(&fx, "the answer was not sent"));
    atomic_store(&full, false);
    fixture_advance(&fx, 60 * LBX_SECOND);
    fixture_run(&fx, 1);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    CHECK_COUNTS(&fx, "answers", 1, 0, 0);
}

static lbx_status
answer_nothing(lbx_job *job, void *context)
{
    (void)context;
    CHECK_STATUS(LBX_INVALID, lbx_job_reply_and_acknowledge(job, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_job_reply_and_acknowledge(NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_job_heartbeat(NULL));
    CHECK(!lbx_job_is_stopping(NULL));
    CHECK_PTR(NULL, lbx_job_letter(NULL));
    CHECK_STATUS(LBX_DENIED, lbx_job_fail(NULL, LBX_DENIED, NULL, NULL));
    lbx_job_finish(NULL, LBX_OK);
    return LBX_OK;
}

TEST(jobs_refuse_nonsense)
{
    lbx_courier_options options = LBX_COURIER_OPTIONS_INIT;
    lbx_fault fault = {LBX_OK, ""};
    lbx_courier_stats stats = LBX_COURIER_STATS_INIT;
    lbx_courier *courier;
    struct fixture fx;

    fixture_open_with(&fx, answer_nothing, NULL);
    fixture_deliver(&fx, "a book", 1);
    fixture_close(&fx);

    options.fault = &fault;
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(&options, &courier));
    CHECK_STATUS(LBX_INVALID, fault.status);
    CHECK(strstr(fault.text, "postbox") != NULL);
    options.size_bytes = 0;
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(&options, &courier));
    CHECK_STATUS(LBX_INVALID, lbx_courier_create(NULL, &courier));
    CHECK_STATUS(LBX_INVALID, lbx_courier_start(NULL));
    CHECK_STATUS(LBX_INVALID, lbx_courier_run(NULL, 1));
    CHECK_STATUS(LBX_INVALID, lbx_courier_stop(NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_courier_stats_read(NULL, &stats));
    CHECK_STATUS(LBX_INVALID, lbx_courier_tell_actor(NULL, NULL));
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

COURIER_TEST("", a_letter_that_the_handler_has_settled_is_left_alone,
             fixture_open_with(fx, give_back_now, NULL))
{
    fx->options.dead_letters.postbox = fx->dead;
    fx->options.dead_letters.deliveries = 1;
    fixture_deliver(fx, "a book", 1);
    CHECK_COUNTS(fx, "requests", 0, 0, 1);
    CHECK_COUNTS(fx, "dead", 0, 0, 0);
    fixture_advance(fx,
                    5 * LBX_SECOND); // its own delay, not ours
    CHECK_COUNTS(fx, "requests", 1, 0, 0);
    CHECK_INT(0, fixture_stats(fx)->returned);
    CHECK_INT(0, fixture_stats(fx)->acknowledged);
}

/* ---- Stores that fail ---- */

struct failing {
    lbx_call_kind verb;
    lbx_status status;
    int times;
};

static lbx_status
fail_some(void *context, lbx_call_kind verb, const void *request)
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
        struct failing failing = {LBX_CALL_SETTLE, failures[i], 1};
        FIXTURE(fx);
        struct clerk clerk;

        clerk_begin(&fx, &clerk, LBX_OK);
        fx.store.before = fail_some;
        fx.store.context = &failing;
        fixture_send(&fx, "a book");
        fixture_run(&fx, 2); // and goes on
        CHECK_INT(1, fixture_stats(&fx)->unsettled);
        CHECK_COUNTS(&fx, "requests", 0, 1, 0);
        fixture_advance(&fx, 300 * LBX_SECOND);
        fixture_run(&fx, 1);
        CHECK_INT(2, clerk.jobs);
        CHECK_COUNTS(&fx, "requests", 0, 0, 0);
    }
}

/* No other answer of this handler would be sent either: its letter has failed,
 * and is put aside. */
TEST(an_answer_that_can_never_be_sent_is_a_failure_of_its_handler)
{
    static const lbx_status mistakes[] = {LBX_INVALID, LBX_ENCODING,
                                          LBX_UNSUPPORTED, LBX_TOO_LARGE};

    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct failing failing = {LBX_CALL_SETTLE, mistakes[i], 1};
        FIXTURE(fx);

        fixture_open_with(&fx, answer_whole, NULL);
        fx.options.dead_letters.postbox = fx.dead;
        fx.options.dead_letters.deliveries = 1;
        fixture_before(&fx, fail_some, &failing);
        fixture_deliver(&fx, "a book", 1);
        CHECK_COUNTS(&fx, "requests", 0, 0, 0);
        CHECK_COUNTS(&fx, "dead", 1, 0, 0);
        CHECK_INT(0, fixture_stats(&fx)->returned);
    }
}

/* Receives fail some times, and then work; the log names lbx_file_store_check()
 * when the store is damaged. */
static void
receive_after(lbx_status status, int times)
{
    struct failing failing = {LBX_CALL_RECEIVE, status, times};
    FIXTURE(fx);
    struct clerk clerk;

    clerk_begin(&fx, &clerk, LBX_OK);
    fixture_before(&fx, fail_some, &failing);
    fixture_deliver(&fx, "a book", times + 1);
    CHECK_INT(1, clerk.jobs);
    CHECK(fixture_has_logged(&fx, "receiving from requests failed"));
    CHECK(fixture_has_logged(&fx, "lbx_file_store_check()") ==
          (status == LBX_CORRUPT));
}

TEST(a_store_that_cannot_be_reached_is_tried_again)
{
    receive_after(LBX_UNREACHABLE, 2);
}

/* Receives that fail: the first two, and the one after the letter. */
static lbx_status
fail_around_a_success(void *context, lbx_call_kind verb, const void *request)
{
    int *receives = context;

    (void)request;
    if (verb != LBX_CALL_RECEIVE)
        return LBX_OK;
    ++*receives;
    return *receives == 3 ? LBX_OK : LBX_UNREACHABLE;
}

TEST(the_pause_is_short_again_after_a_success)
{
    const char *first, *second;
    int receives = 0;
    FIXTURE(fx);
    struct clerk clerk;

    clerk_begin(&fx, &clerk, LBX_OK);
    fixture_before(&fx, fail_around_a_success, &receives);
    fixture_deliver(&fx, "a book", 4);
    CHECK_INT(1, clerk.jobs);
    first = strstr(fx.log, "next try in 10 ms");
    CHECK(first && strstr(first, "next try in 20 ms"));
    second = strstr(first + 1, "next try in 10 ms");
    CHECK(second && second > strstr(first, "next try in 20 ms"));
    CHECK(!strstr(fx.log, "next try in 40 ms"));
}

TEST(the_log_names_the_check_when_a_store_is_damaged)
{
    receive_after(LBX_CORRUPT, 1);
}

TEST_CITING("W-09", a_loop_ends_when_its_postbox_is_closed)
{
    FIXTURE(fx);
    struct clerk clerk;

    clerk_begin(&fx, &clerk, LBX_OK);
    fixture_send(&fx, "a book");
    (void)fixture_courier(&fx);
    lbx_postbox_close(fx.requests);
    CHECK_STATUS(LBX_CLOSED, lbx_courier_run(fx.courier, -1));
    CHECK_INT(0, clerk.jobs);
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
    lbx_job_finish(job, elsewhere->status);
}

TEST(work_that_goes_on_elsewhere_is_settled_when_it_is_done)
{
    struct elsewhere elsewhere = {NULL, LBX_OK};
    struct thread thread;
    FIXTURE(fx);

    fixture_open_with(&fx, pass_on, &elsewhere);
    fixture_send(&fx, "a book");
    thread_start(&thread, finish_elsewhere, &elsewhere);
    fixture_run(&fx, 1);
    thread_join(&thread);
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
}

static lbx_status
done_at_once(lbx_job *job, void *context)
{
    (void)context;
    lbx_job_finish(job, LBX_REFUSED); // before the handler has returned
    return LBX_PENDING;
}

COURIER_TEST("", work_may_be_done_before_its_handler_has_returned,
             fixture_open_with(fx, done_at_once, NULL))
{
    fixture_deliver(fx, "a book", 1);
    CHECK_INT(1, fixture_stats(fx)->returned);
}

/* The first is handled, the second not. */
static void
finish_both(void *context)
{
    struct elsewhere *elsewhere = context;
    lbx_job *job;

    for (int i = 0; i < 2; i++) {
        EVENTUALLY((job = atomic_exchange(&elsewhere->job, NULL)) != NULL);
        lbx_job_finish(job, i == 0 ? LBX_OK : LBX_REFUSED);
    }
}

TEST(each_job_that_goes_on_elsewhere_is_waited_for)
{
    struct elsewhere elsewhere = {NULL, LBX_OK};
    struct thread thread;
    FIXTURE(fx);

    fixture_open_with(&fx, pass_on, &elsewhere);
    fx.options.max_letters = 2;
    fixture_send_many(&fx, "a book", 2);
    thread_start(&thread, finish_both, &elsewhere);
    fixture_run(&fx, 1);
    thread_join(&thread);
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
    CHECK_INT(1, fixture_stats(&fx)->returned);
}

static lbx_status
answer_the_first(lbx_job *job, void *context)
{
    int *jobs = context;

    return (*jobs)++ == 0 ? answer_whole(job, NULL) : LBX_FULL;
}

TEST(a_failure_after_an_answer_that_was_not_sent_is_a_failure)
{
    _Atomic bool full = true;
    int jobs = 0;
    FIXTURE(fx);

    fixture_open_with(&fx, answer_the_first, &jobs);
    fx.options.dead_letters.postbox = fx.dead;
    fx.options.dead_letters.deliveries = 1;
    fx.options.max_letters = 2;
    fixture_before(&fx, no_room, &full);
    fixture_send_many(&fx, "a book", 2);
    fixture_run(&fx, 1);
    CHECK_INT(2, jobs);
    CHECK(fixture_has_logged(&fx, "not put aside")); // it was tried, at least
}

static lbx_status
refuse_receives(void *context, lbx_call_kind verb, const void *request)
{
    (void)request;
    return verb == LBX_CALL_RECEIVE ? *(const lbx_status *)context : LBX_OK;
}

TEST(a_receive_that_can_never_succeed_ends_the_run)
{
    static const lbx_status statuses[] = {LBX_INVALID, LBX_UNSUPPORTED};

    for (size_t i = 0; i < 2; i++) {
        lbx_status status = statuses[i];
        struct clerk clerk;
        FIXTURE(fx);

        clerk_begin(&fx, &clerk, LBX_OK);
        fixture_before(&fx, refuse_receives, &status);
        CHECK_STATUS(status, lbx_courier_run(fixture_courier(&fx), -1));
    }
}

/* A letter that may still be put aside gets its error reply then. */
TEST(a_failure_is_not_answered_while_it_may_be_put_aside)
{
    struct clerk clerk;
    FIXTURE(fx);

    clerk_begin(&fx, &clerk, LBX_REFUSED);
    fx.options.reply_on_failure = true;
    fx.options.dead_letters.postbox = fx.dead;
    fx.options.dead_letters.deliveries = 2;
    fixture_deliver(&fx, "a book", 1);
    CHECK_COUNTS(&fx, "answers", 0, 0, 0);
    CHECK_COUNTS(&fx, "requests", 0, 0, 1);
}
