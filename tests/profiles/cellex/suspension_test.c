/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cellex: suspension, its metrics and its clock. What moves suspended
 * mailboxes between a scheduler's queues comes with actors.
 */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

static struct box
timed_box(const lbx_clock *clock)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    options.clock = clock;
    options.timestamps = true;
    return box_create(LBX_KIND_UNBOUNDED, &options);
}

static void
suspend_for(struct box *box, struct test_clock *time, int64_t duration_ns)
{
    CHECK(lbx_mailbox_suspend(box->mailbox));
    test_clock_advance(time, duration_ns);
    CHECK(lbx_mailbox_resume(box->mailbox));
}

/* Suspended for 10, then for 20: the total is 30. */
TEST_CITING("C-39", suspension_metrics_with_clock)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = timed_box(&clock);
    static struct events events; // the box outlives this frame
    lbx_metric_event resumed;

    events_watch(&events, &box);
    suspend_for(&box, &time, 10);
    resumed = events_last(&events, LBX_METRIC_RESUMED);
    CHECK_INT(1, resumed.count);
    CHECK_INT(10, resumed.last_ns);
    CHECK_INT(10, resumed.total_ns);
    suspend_for(&box, &time, 20);
    resumed = events_last(&events, LBX_METRIC_RESUMED);
    CHECK_INT(2, resumed.count);
    CHECK_INT(20, resumed.last_ns);
    CHECK_INT(30, resumed.total_ns);
    CHECK_INT(2, events_count(&events, LBX_METRIC_SUSPENDED));
    CHECK_INT(2, events_last(&events, LBX_METRIC_SUSPENDED).count);
}

/* Without timestamps there is nothing to measure with, and -1 says so. */
BOX_TEST("C-39", suspension_durations_omitted_without_clock, cellex_unbounded())
{
    static struct events events; // the box outlives this frame
    lbx_metric_event resumed;

    events_watch(&events, box);
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK(lbx_mailbox_resume(box->mailbox));
    resumed = events_last(&events, LBX_METRIC_RESUMED);
    CHECK_INT(1, resumed.count);
    CHECK_INT(-1, resumed.last_ns);
    CHECK_INT(-1, resumed.total_ns);
}

TEST_CITING("R-16 C-39", two_mailboxes_are_suspended_independently)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(left) = timed_box(&clock);
    LOCAL_BOX(right) = timed_box(&clock);
    static struct events events; // the box outlives this frame

    events_watch(&events, &right);
    CHECK_OK(box_send(&left, 1));
    CHECK_OK(box_send(&right, 2));
    CHECK(lbx_mailbox_suspend(left.mailbox));
    CHECK_NOTHING(&left);
    CHECK_TAKES(&right, 2);
    CHECK_INT(0, events_count(&events, LBX_METRIC_SUSPENDED));
    CHECK(lbx_mailbox_resume(left.mailbox));
    CHECK_TAKES(&left, 1);
}

/* What came in while suspended is delivered after resume, in order. */
BOX_TEST("R-16", backpressure_release_delivers_pending, cellex_unbounded())
{
    LOCAL_WAITER(receiver);

    CHECK(lbx_mailbox_suspend(box->mailbox));
    waiter_receive_pending(&receiver, box);
    box_fill(box, 1, 3);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&receiver));
    CHECK_INT(3, box_depth(box));
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK(atomic_load(&receiver.wakes) >= 1);
    CHECK_OK(waiter_poll(&receiver));
    CHECK_INT(1, number_of(receiver.message));
    CHECK_TAKES(box, 2, 3);
}

/* Full of user messages, suspended, and the system message still comes. */
BOX_TEST("C-37 R-16", system_message_first_under_saturation,
         cellex_bounded(2, LBX_OVERFLOW_REJECT))
{
    box_fill(box, 1, 2);
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_RESUME, 9), NULL));
    CHECK_TAKES(box, 9);
    CHECK_NOTHING(box);
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_TAKES(box, 1, 2);
}

/* Calls nest; a resume too many is harmless. */
BOX_TEST("R-16", suspensions_nest, cellex_unbounded())
{
    CHECK_OK(box_send(box, 1));
    CHECK(!lbx_mailbox_resume(box->mailbox));
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK(!lbx_mailbox_suspend(box->mailbox));
    CHECK_INT(2, box_stats(box).suspensions);
    CHECK(!lbx_mailbox_resume(box->mailbox));
    CHECK_NOTHING(box);
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK(!lbx_mailbox_resume(box->mailbox));
    CHECK_TAKES(box, 1);
}

/* The control lane is held back with the user's: only the system's flows. */
BOX_TEST("R-16 R-07", suspension_holds_control_messages_too,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, lbx_cellex_mailbox_options()))
{
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK_OK(box_send(box, 1));
    CHECK_OK(box_post(box, control(2, 5), NULL));
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_STOP, 3), NULL));
    CHECK_TAKES(box, 3);
    CHECK_NOTHING(box);
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_TAKES(box, 2, 1);
}

/* A receiver that waits on a suspended mailbox is woken by a system message
 * and gets it, although user messages came before. */
BOX_TEST("C-37 R-16", waiting_receiver_gets_system_messages_while_suspended,
         cellex_unbounded())
{
    LOCAL_WAITER(receiver);

    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK_OK(box_send(box, 1));
    waiter_receive_pending(&receiver, box);
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_RESUME, 2), NULL));
    CHECK_INT(1, atomic_load(&receiver.wakes));
    CHECK_OK(waiter_poll(&receiver));
    CHECK_INT(2, number_of(receiver.message));
}

/* Time in mailbox, by the same clock. */
TEST_CITING("C-39", dequeue_metric_says_how_long_a_message_waited)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = timed_box(&clock);
    static struct events events; // the box outlives this frame
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    events_watch(&events, &box);
    CHECK_OK(box_send(&box, 1));
    test_clock_advance(&time, 5 * LBX_MS);
    CHECK_OK(box_send(&box, 2));
    test_clock_advance(&time, 2 * LBX_MS);
    CHECK_TAKES(&box, 1);
    CHECK_INT(7 * LBX_MS, events_last(&events, LBX_METRIC_DEQUEUED).waited_ns);
    CHECK_TAKES(&box, 2);
    CHECK_INT(2 * LBX_MS, events_last(&events, LBX_METRIC_DEQUEUED).waited_ns);
    stats = box_stats(&box);
    CHECK_INT(2, stats.timed_messages);
    CHECK_INT(9 * LBX_MS, stats.waited_total_ns);
    CHECK_INT(7 * LBX_MS, stats.max_waited_ns);
}
