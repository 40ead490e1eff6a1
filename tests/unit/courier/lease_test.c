/* SPDX-License-Identifier: Apache-2.0 */
/* Leases: who beats keeps its letters, who hangs does not. */
#include "shelf.h"

#include <string.h>

/* A handler that works for so many steps, and beats after each, or not. */
struct long_work {
    struct desk *desk;
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
        shelf_advance(&work->desk->shelf, work->step_ns);
        if (work->beats) {
            work->last_beat = lbx_job_beat(job);
            if (work->last_beat != LBX_OK)
                return work->last_beat;
        }
    }
    return LBX_OK;
}

static void
open_work(struct desk *desk, struct long_work *context, int steps,
          int64_t step_ns, bool beats)
{
    desk_open(desk);
    *context = (struct long_work){
        .desk = desk, .steps = steps, .step_ns = step_ns, .beats = beats};
    desk->options.handle = work;
    desk->options.context = context;
}

TEST_CITING("W-20 W-25", a_handler_that_beats_keeps_its_lease)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 60, 60 * LBX_SECOND, true); // an hour
    desk_send(&desk, "a book");
    desk_run(&desk, 2);
    CHECK_INT(1, context.jobs);
    CHECK_INT(60, desk_stats(&desk)->extended);
    CHECK_INT(0, desk_stats(&desk)->lost_leases);
    CHECK_COUNTS(&desk, "requests", 0, 0, 0);
    desk_close(&desk);
}

TEST_CITING("W-16 W-25", a_handler_that_never_beats_loses_its_letter)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 5, 61 * LBX_SECOND, false);
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(0, desk_stats(&desk)->extended);
    CHECK_INT(0, desk_stats(&desk)->acknowledged);
    CHECK_INT(1, desk_stats(&desk)->lost_leases);
    CHECK(desk_has_logged(&desk, "it comes again"));
    CHECK_COUNTS(&desk, "requests", 1, 0, 0);
    context.steps = 0;
    desk_run(&desk, 1); // here it is
    CHECK_INT(2, context.jobs);
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    desk_close(&desk);
}

TEST_CITING("W-25", the_first_beat_extends_and_then_one_in_a_minute)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 121, LBX_SECOND, true);
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(3, desk_stats(&desk)->extended); // after 1, 61 and 121 seconds
    desk_close(&desk);
}

TEST(beats_extend_nothing_when_that_is_off)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 5, 10 * LBX_SECOND, true);
    desk.options.extend_every_ns = 0;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(0, desk_stats(&desk)->extended);
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    desk_close(&desk);
}

TEST_CITING("W-17", a_handler_that_has_lost_its_lease_is_told)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 5, 301 * LBX_SECOND, true);
    desk.options.dead_letters.postbox = desk.dead;
    desk.options.dead_letters.deliveries = 1;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_STATUS(LBX_EXPIRED, context.last_beat);
    CHECK_INT(1, desk_stats(&desk)->lost_leases);
    CHECK_INT(0, desk_stats(&desk)->returned); // it is not ours to return
    CHECK_COUNTS(&desk, "dead", 0, 0, 0);      // nor to put aside
    CHECK_COUNTS(&desk, "requests", 1, 0, 0);
    desk_close(&desk);
}

/* Beats that went wrong say so again, and ask nobody. */
static lbx_status
beat_on(lbx_job *job, void *context)
{
    struct desk *desk = context;
    long calls;

    shelf_advance(&desk->shelf, 301 * LBX_SECOND);
    CHECK_STATUS(LBX_EXPIRED, lbx_job_beat(job));
    calls = atomic_load(&desk->shelf.calls[LBX_VERB_SETTLE]);
    CHECK_STATUS(LBX_EXPIRED, lbx_job_beat(job));
    CHECK_INT(calls, atomic_load(&desk->shelf.calls[LBX_VERB_SETTLE]));
    return LBX_OK; // and does not care
}

TEST(a_lost_lease_stays_lost)
{
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = beat_on;
    desk.options.context = &desk;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(1, desk_stats(&desk)->lost_leases);
    CHECK_INT(0, desk_stats(&desk)->acknowledged);
    desk_close(&desk);
}

static lbx_status
answer_late(lbx_job *job, void *context)
{
    lbx_draft answer = lbx_draft_of_text("late");
    struct desk *desk = context;

    shelf_advance(&desk->shelf, 301 * LBX_SECOND);
    return lbx_job_answer(job, &answer);
}

TEST_CITING("W-17", an_answer_after_the_lease_is_not_sent)
{
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = answer_late;
    desk.options.context = &desk;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_COUNTS(&desk, "answers", 0, 0, 0); // one store, one step
    CHECK_COUNTS(&desk, "requests", 1, 0, 0);
    CHECK_INT(1, desk_stats(&desk)->lost_leases);
    desk_close(&desk);
}

static lbx_status
refuse_extending(void *context, lbx_verb verb, const void *request)
{
    const lbx_settle_request *settle = request;

    (void)context;
    return verb == LBX_VERB_SETTLE && settle->entries[0].what == LBX_EXTEND
               ? LBX_UNREACHABLE
               : LBX_OK;
}

TEST_CITING("W-25", an_extension_that_fails_is_logged_and_work_goes_on)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 2, 10 * LBX_SECOND, true);
    desk.shelf.before = refuse_extending;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_STATUS(LBX_OK, context.last_beat);
    CHECK(desk_has_logged(&desk, "the lease was not extended"));
    CHECK_INT(1, desk_stats(&desk)->acknowledged);
    desk_close(&desk);
}

static lbx_status
settle_and_beat(lbx_job *job, void *context)
{
    (void)context;
    CHECK_OK(lbx_letter_acknowledge(lbx_job_letter(job)));
    CHECK_OK(lbx_job_beat(job)); // there is nothing to extend
    return LBX_OK;
}

TEST(a_beat_after_settling_extends_nothing)
{
    struct desk desk;

    desk_open(&desk);
    desk.options.handle = settle_and_beat;
    desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(0, desk_stats(&desk)->extended);
    CHECK_STR("", desk.log);
    desk_close(&desk);
}

/* ---- Letters that wait in our hands ---- */

TEST_CITING("W-25", letters_that_are_not_begun_are_extended_too)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 5, 100 * LBX_SECOND, true);
    desk.options.letters_most = 3;
    for (int i = 0; i < 3; i++)
        desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(3, context.jobs);
    CHECK_INT(5 * 3 + 5 * 2 + 5, desk_stats(&desk)->extended);
    CHECK_INT(3, desk_stats(&desk)->acknowledged);
    CHECK_INT(0, desk_stats(&desk)->lost_leases);
    desk_close(&desk);
}

TEST_CITING("W-16", letters_whose_lease_is_over_are_not_begun)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 1, 300 * LBX_SECOND, false);
    desk.options.letters_most = 3;
    for (int i = 0; i < 3; i++)
        desk_send(&desk, "a book");
    desk_run(&desk, 1);
    CHECK_INT(1, context.jobs); // the others are somebody else's by now
    CHECK_INT(3, desk_stats(&desk)->lost_leases);
    CHECK(desk_has_logged(&desk, "before it was begun"));
    CHECK_COUNTS(&desk, "requests", 3, 0, 0);
    desk_close(&desk);
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
    // Both leases run out, and somebody else takes both letters.
    shelf_advance(&work->desk->shelf, 300 * LBX_SECOND);
    options.letters_most = 2;
    options.lease_ns = 300 * LBX_SECOND;
    CHECK_OK(lbx_postbox_receive_batch(work->desk->requests, &options, letters,
                                       &count));
    CHECK_INT(2, count);
    CHECK_STATUS(LBX_EXPIRED, lbx_job_beat(job));
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(lbx_letter_acknowledge(letters[i]));
        lbx_letter_destroy(letters[i]);
    }
    return LBX_EXPIRED;
}

TEST_CITING("W-17", letters_that_somebody_else_has_are_not_begun)
{
    struct long_work context;
    struct desk desk;

    open_work(&desk, &context, 0, 0, false);
    desk.options.handle = steal;
    desk.options.letters_most = 2;
    desk_send(&desk, "a book");
    desk_send(&desk, "a pen");
    desk_run(&desk, 1);
    CHECK_INT(1, context.jobs);
    CHECK_INT(2, desk_stats(&desk)->lost_leases);
    desk_close(&desk);
}
