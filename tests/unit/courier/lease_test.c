/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: a handler that beats keeps its letters, one that hangs does not. */
#include "fixture.h"

#include <string.h>

/* A handler that works for so many steps, and beats after each, or not. */
struct long_work {
    struct fixture *fx;
    int steps;
    int64_t step_ns;
    bool beats;
    lbx_status last_beat;
    int jobs;
};

static lbx_status
work(lbx_job *job, void *context)
{
    struct long_work *work = context;

    work->jobs++;
    for (int i = 0; i < work->steps; i++) {
        fixture_advance(work->fx, work->step_ns);
        if (work->beats) {
            work->last_beat = lbx_job_heartbeat(job);
            if (work->last_beat != LBX_OK)
                return work->last_beat;
        }
    }
    return LBX_OK;
}

static void
open_work(struct fixture *fx, struct long_work *context, int steps,
          int64_t step_ns, bool beats)
{
    fixture_open(fx);
    *context = (struct long_work){
        .fx = fx, .steps = steps, .step_ns = step_ns, .beats = beats};
    fx->options.handle = work;
    fx->options.context = context;
}

TEST_CITING("W-20 W-25", a_handler_that_beats_keeps_its_lease)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 60, 60 * LBX_SECOND, true); // an hour
    fixture_deliver(&fx, "a book", 2);
    CHECK_INT(1, context.jobs);
    CHECK_INT(60, fixture_stats(&fx)->extended);
    CHECK_INT(0, fixture_stats(&fx)->lost_leases);
    CHECK_COUNTS(&fx, "requests", 0, 0, 0);
}

TEST_CITING("W-16 W-25", a_handler_that_never_beats_loses_its_letter)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 5, 61 * LBX_SECOND, false);
    fixture_deliver(&fx, "a book", 1);
    CHECK_INT(0, fixture_stats(&fx)->extended);
    CHECK_INT(0, fixture_stats(&fx)->acknowledged);
    CHECK_INT(1, fixture_stats(&fx)->lost_leases);
    CHECK(fixture_has_logged(&fx, "it comes again"));
    CHECK_COUNTS(&fx, "requests", 1, 0, 0);
    context.steps = 0;
    fixture_run(&fx, 1); // here it is
    CHECK_INT(2, context.jobs);
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
}

TEST_CITING("W-25", the_first_beat_extends_and_then_one_in_a_minute)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 121, LBX_SECOND, true);
    fixture_deliver(&fx, "a book", 1);
    CHECK_INT(3,
              fixture_stats(&fx)->extended); // after 1, 61 and 121 seconds
}

TEST(beats_extend_nothing_when_that_is_off)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 5, 10 * LBX_SECOND, true);
    fx.options.extend_every_ns = 0;
    fixture_deliver(&fx, "a book", 1);
    CHECK_INT(0, fixture_stats(&fx)->extended);
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
}

TEST_CITING("W-17", a_heartbeat_reports_a_lost_lease)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 5, 301 * LBX_SECOND, true);
    fx.options.dead_letters.postbox = fx.dead;
    fx.options.dead_letters.deliveries = 1;
    fixture_deliver(&fx, "a book", 1);
    CHECK_STATUS(LBX_EXPIRED, context.last_beat);
    CHECK_INT(1, fixture_stats(&fx)->lost_leases);
    CHECK_INT(0, fixture_stats(&fx)->returned); // it is not ours to return
    CHECK_COUNTS(&fx, "dead", 0, 0, 0);         // nor to put aside
    CHECK_COUNTS(&fx, "answers", 0, 0, 0);      // nor to answer
    CHECK_COUNTS(&fx, "requests", 1, 0, 0);
}

/* After a lost lease, heartbeats report it without a call of the store. */
static lbx_status
beat_on(lbx_job *job, void *context)
{
    struct fixture *fx = context;
    long calls;

    fixture_advance(fx, 301 * LBX_SECOND);
    CHECK_STATUS(LBX_EXPIRED, lbx_job_heartbeat(job));
    calls = atomic_load(&fx->store.calls[LBX_CALL_SETTLE]);
    CHECK_STATUS(LBX_EXPIRED, lbx_job_heartbeat(job));
    CHECK_INT(calls, atomic_load(&fx->store.calls[LBX_CALL_SETTLE]));
    return LBX_OK; // and does not care
}

TEST(a_lost_lease_stays_lost)
{
    FIXTURE(fx);

    fixture_open_with(&fx, beat_on, &fx);
    fixture_deliver(&fx, "a book", 1);
    CHECK_INT(1, fixture_stats(&fx)->lost_leases);
    CHECK_INT(0, fixture_stats(&fx)->acknowledged);
}

static lbx_status
answer_late(lbx_job *job, void *context)
{
    lbx_draft answer = lbx_draft_of_text("late");
    struct fixture *fx = context;

    fixture_advance(fx, 301 * LBX_SECOND);
    return lbx_job_reply_and_acknowledge(job, &answer);
}

TEST_CITING("W-17", an_answer_after_the_lease_is_not_sent)
{
    FIXTURE(fx);

    fixture_open_with(&fx, answer_late, &fx);
    fixture_deliver(&fx, "a book", 1);
    CHECK_COUNTS(&fx, "answers", 0, 0, 0); // one store, one step
    CHECK_COUNTS(&fx, "requests", 1, 0, 0);
    CHECK_INT(1, fixture_stats(&fx)->lost_leases);
}

static lbx_status
refuse_extending(void *context, lbx_call_kind verb, const void *request)
{
    const lbx_settle_request *settle = request;

    (void)context;
    return verb == LBX_CALL_SETTLE &&
                   settle->entries[0].action == LBX_SETTLE_EXTEND
               ? LBX_UNREACHABLE
               : LBX_OK;
}

TEST_CITING("W-25", an_extension_that_fails_is_logged_and_work_goes_on)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 2, 10 * LBX_SECOND, true);
    fx.store.before = refuse_extending;
    fixture_deliver(&fx, "a book", 1);
    CHECK_STATUS(LBX_OK, context.last_beat);
    CHECK(fixture_has_logged(&fx, "the lease was not extended"));
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
}

static lbx_status
settle_and_beat(lbx_job *job, void *context)
{
    (void)context;
    CHECK_OK(lbx_letter_acknowledge(lbx_job_letter(job)));
    CHECK_OK(lbx_job_heartbeat(job)); // there is nothing to extend
    return LBX_OK;
}

COURIER_TEST("", a_beat_after_settling_extends_nothing,
             fixture_open_with(fx, settle_and_beat, NULL))
{
    fixture_deliver(fx, "a book", 1);
    CHECK_INT(0, fixture_stats(fx)->extended);
    CHECK_STR("", fx->log);
}

/* ---- Letters that were received and not begun ---- */

TEST_CITING("W-25", letters_that_are_not_begun_are_extended_too)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 5, 100 * LBX_SECOND, true);
    fx.options.max_letters = 3;
    fixture_send_many(&fx, "a book", 3);
    fixture_run(&fx, 1);
    CHECK_INT(3, context.jobs);
    CHECK_INT(5 * 3 + 5 * 2 + 5, fixture_stats(&fx)->extended);
    CHECK_INT(3, fixture_stats(&fx)->acknowledged);
    CHECK_INT(0, fixture_stats(&fx)->lost_leases);
}

TEST_CITING("W-16", letters_whose_lease_is_over_are_not_begun)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 1, 300 * LBX_SECOND, false);
    fx.options.max_letters = 3;
    fixture_send_many(&fx, "a book", 3);
    fixture_run(&fx, 1);
    CHECK_INT(1, context.jobs); // the leases of the others are over
    CHECK_INT(3, fixture_stats(&fx)->lost_leases);
    CHECK(fixture_has_logged(&fx, "before it was begun"));
    CHECK_COUNTS(&fx, "requests", 3, 0, 0);
}

/* Another courier's handler has the second letter when the first one beats. */
static lbx_status
steal(lbx_job *job, void *context)
{
    struct long_work *work = context;
    lbx_receive_options options = LBX_RECEIVE_OPTIONS_INIT;
    lbx_letter *letters[2];
    size_t count;

    if (work->jobs++ > 0)
        return LBX_OK;
    // Both leases run out, and another consumer takes both letters.
    fixture_advance(work->fx, 300 * LBX_SECOND);
    options.max_letters = 2;
    options.lease_ns = 300 * LBX_SECOND;
    CHECK_OK(lbx_postbox_receive_batch(work->fx->requests, &options, letters,
                                       &count));
    CHECK_INT(2, count);
    CHECK_STATUS(LBX_EXPIRED, lbx_job_heartbeat(job));
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(lbx_letter_acknowledge(letters[i]));
        lbx_letter_destroy(letters[i]);
    }
    return LBX_EXPIRED;
}

TEST_CITING("W-17", letters_that_another_consumer_has_are_not_begun)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 0, 0, false);
    fx.options.handle = steal;
    fx.options.max_letters = 2;
    fixture_send(&fx, "a book");
    fixture_deliver(&fx, "a pen", 1);
    CHECK_INT(1, context.jobs);
    CHECK_INT(2, fixture_stats(&fx)->lost_leases);
    fixture_send_many(&fx, "a map", 2); // nothing is known about these
    fixture_run(&fx, 1);
    CHECK_INT(3, context.jobs);
    CHECK_INT(2, fixture_stats(&fx)->lost_leases);
}

/* Another consumer has the second letter, and this one's lease goes on. */
static lbx_status
lose_the_second(lbx_job *job, void *context)
{
    struct long_work *work = context;
    lbx_letter *second;

    if (work->jobs++ > 0)
        return LBX_OK;
    CHECK_OK(lbx_letter_extend(lbx_job_letter(job), 900 * LBX_SECOND));
    fixture_advance(work->fx, 300 * LBX_SECOND);
    CHECK_OK(lbx_postbox_receive(work->fx->requests, 0, &second));
    CHECK_OK(lbx_job_heartbeat(job));
    CHECK_OK(lbx_letter_acknowledge(second));
    lbx_letter_destroy(second);
    return LBX_OK;
}

TEST_CITING("W-17", a_letter_that_was_lost_while_it_waited_is_not_begun)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 0, 0, false);
    fx.options.handle = lose_the_second;
    fx.options.max_letters = 2;
    fixture_send(&fx, "a book");
    fixture_deliver(&fx, "a pen", 1);
    CHECK_INT(1, context.jobs);
    CHECK_INT(1, fixture_stats(&fx)->acknowledged);
    CHECK_INT(1, fixture_stats(&fx)->lost_leases);
    CHECK(fixture_has_logged(&fx, "before it was begun"));
}

/* A clock that goes on by a second whenever it is read. */
static int64_t
leap(void *context)
{
    return *(int64_t *)context += LBX_SECOND;
}

/* However long it took to come here: other letters may be over by then. */
TEST(the_first_letter_of_a_receive_is_always_begun)
{
    int64_t now = LBX_SECOND;
    const lbx_clock leaping = {leap, &now};
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 0, 0, false);
    fx.options.clock = &leaping;
    fx.options.lease_ns = LBX_MS;
    fx.options.max_letters = 2;
    fixture_send_many(&fx, "a book", 2);
    fixture_run(&fx, 1);
    CHECK_INT(1, context.jobs);
    CHECK_INT(1, fixture_stats(&fx)->lost_leases);
}

TEST_CITING("W-25", the_first_beat_of_every_job_extends)
{
    struct long_work context;
    FIXTURE(fx);

    open_work(&fx, &context, 1, LBX_SECOND, true);
    fx.options.max_letters = 2;
    fixture_send_many(&fx, "a book", 2);
    fixture_run(&fx, 1);
    CHECK_INT(2 + 1, fixture_stats(&fx)->extended);
}
