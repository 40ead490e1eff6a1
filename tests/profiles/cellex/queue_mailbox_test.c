/* SPDX-License-Identifier: Apache-2.0 */
/* cellex: QueueMailbox, its core and its producer. */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

/* cellex's mailbox turns a dropped newest message into "full" and hands it
 * back. Here the sender sees LBX_OK with the outcome, and the loss sink is
 * handed the very message: nothing is lost in silence. */
TEST_CITING("C-34 R-01", drop_newest_reports_policy_and_message)
{
    struct losses losses = {0};
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    LOCAL_BOX(box) = BOX(LBX_KIND_BOUNDED, lbx_cellex_mailbox_options(),
                         with.capacity_messages = 1,
                         with.overflow = LBX_OVERFLOW_DROP_NEWEST,
                         with.loss_sink = losses_sink(&losses));

    CHECK_OK(box_send(&box, 1));
    CHECK_STATUS(LBX_FULL, box_post(&box, regular(2), &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    CHECK_INT(LBX_OVERFLOW_DROP_NEWEST, result.overflow);
    CHECK_INT(1, box_stats(&box).dropped_newest);
    CHECK_INT(0, losses.count); // it is still the sender's
    CHECK_TAKES(&box, 1);
    CHECK_NOTHING(&box);
}

/* REJECT answers the same, and counts it as rejected. */
BOX_TEST("C-34 C-18", reject_gives_the_message_back,
         cellex_bounded(1, LBX_OVERFLOW_REJECT))
{
    CHECK_OK(box_send(box, 1));
    CHECK_STATUS(LBX_FULL, box_send(box, 2));
    CHECK_INT(1, box_stats(box).rejected);
    CHECK_INT(0, box_stats(box).lost);
    CHECK_TAKES(box, 1);
}

BOX_TEST("C-34", drop_oldest_keeps_mailbox_usable,
         cellex_bounded(1, LBX_OVERFLOW_DROP_OLDEST))
{
    box_fill(box, 1, 2);
    CHECK_TAKES(box, 2);
    CHECK_OK(box_send(box, 3));
    CHECK_TAKES(box, 3);
    CHECK_NOTHING(box);
}

BOX_TEST("C-34 R-02", block_policy_is_reported_on_the_non_blocking_path,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    CHECK_OK(box_send(box, 1));
    CHECK_STATUS(LBX_FULL, box_post(box, regular(2), &result));
    CHECK_INT(LBX_OVERFLOW_BLOCK, result.overflow);
    CHECK_INT(0, box_stats(box).waiting_senders);
    CHECK_TAKES(box, 1);
}

BOX_TEST("C-33 C-34", drop_oldest_does_not_close,
         cellex_bounded(2, LBX_OVERFLOW_DROP_OLDEST))
{
    box_fill(box, 1, 10);
    CHECK(!lbx_mailbox_is_closed(box->mailbox));
    CHECK_INT(2, box_depth(box));
    CHECK_TAKES(box, 9, 10);
}

BOX_TEST("C-35", producer_reports_dropped_oldest,
         cellex_bounded(1, LBX_OVERFLOW_DROP_OLDEST))
{
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    CHECK_OK(box_send(box, 1));
    CHECK_OK(box_post(box, regular(2), &result));
    CHECK_INT(LBX_OUTCOME_DROPPED_OLDEST, result.outcome);
    CHECK_INT(1, result.dropped_messages);
    CHECK_INT(LBX_OVERFLOW_DROP_OLDEST, result.overflow);
}

BOX_TEST("C-35", producer_reports_enqueued,
         cellex_bounded(1, LBX_OVERFLOW_DROP_OLDEST))
{
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    CHECK_OK(box_post(box, regular(1), &result));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, result.outcome);
    CHECK_INT(0, result.dropped_messages);
}

BOX_TEST("C-34 C-35", producer_reports_grew_to,
         cellex_bounded(2, LBX_OVERFLOW_GROW))
{
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    box_fill(box, 1, 2);
    CHECK_OK(box_post(box, regular(3), &result));
    CHECK_INT(LBX_OUTCOME_GREW, result.outcome);
    CHECK_INT(4, result.capacity_messages);
    CHECK_INT(4, lbx_mailbox_capacity(box->mailbox));
    CHECK_OK(box_post(box, regular(4), &result));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, result.outcome);
    CHECK_TAKES(box, 1, 2, 3, 4);
}

/* The cellex back end drops the oldest unless told otherwise. */
BOX_TEST("C-34", profile_default_is_drop_oldest_when_limited,
         BOX(LBX_KIND_BOUNDED, lbx_cellex_mailbox_options(),
             with.capacity_messages = 2))
{
    box_fill(box, 1, 3);
    CHECK_TAKES(box, 2, 3);
}

BOX_TEST("C-24", receiver_is_pending_until_a_message_arrives,
         cellex_unbounded())
{
    LOCAL_WAITER(receiver);

    waiter_receive_pending(&receiver, box);
    CHECK_INT(0, atomic_load(&receiver.wakes));
    CHECK_OK(box_send(box, 7));
    CHECK_INT(1, atomic_load(&receiver.wakes));
    CHECK_OK(waiter_poll(&receiver));
    CHECK_INT(7, number_of(receiver.message));
}

/* ---- The core's order of events: signal, metric, hook ---- */

struct diary {
    char marks[16];
    size_t count;
    lbx_signal *signal;
};

static void
write_mark(struct diary *diary, char mark)
{
    if (diary->count < sizeof(diary->marks) - 1)
        diary->marks[diary->count++] = mark;
}

static void
mark_signal(void *context)
{
    write_mark(context, 's');
}

static void
mark_metric(void *context, const lbx_metric_event *event)
{
    if (event->metric == LBX_METRIC_ENQUEUED)
        write_mark(context, 'm');
}

static void
mark_hook(void *context, lbx_mailbox *mailbox)
{
    (void)mailbox;
    write_mark(context, 'h');
}

BOX_TEST("C-37 B-07", send_notifies_signal_then_metrics_then_hook,
         cellex_unbounded())
{
    struct diary diary = {0};
    lbx_metrics_sink sink = {mark_metric, &diary};
    lbx_scheduler_hook hook = {mark_hook, &diary};
    lbx_waker waker = {mark_signal, &diary};
    lbx_operation wait;

    CHECK_OK(lbx_mailbox_set_metrics_sink(box->mailbox, &sink));
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box->mailbox, &hook));
    CHECK_OK(lbx_consumer_signal(box->out, &diary.signal));
    CHECK_OK(lbx_signal_wait_init(&wait, diary.signal, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&wait, &waker));
    CHECK_OK(box_send(box, 1));
    CHECK_STR("smh", diary.marks);
    CHECK_OK(lbx_operation_poll(&wait, &waker));
    lbx_operation_fini(&wait);
    lbx_signal_unref(diary.signal);
}

/* A refused message wakes no receiver. */
BOX_TEST("C-37", refused_send_calls_no_hook,
         cellex_bounded(1, LBX_OVERFLOW_REJECT))
{
    struct diary diary = {0};
    lbx_metrics_sink sink = {mark_metric, &diary};
    lbx_scheduler_hook hook = {mark_hook, &diary};

    CHECK_OK(box_send(box, 1));
    CHECK_OK(lbx_mailbox_set_metrics_sink(box->mailbox, &sink));
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box->mailbox, &hook));
    CHECK_STATUS(LBX_FULL, box_send(box, 2));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, box_send(box, 3));
    CHECK_STR("", diary.marks);
}

/* Detached hooks are called no more. */
BOX_TEST("C-17", hooks_can_be_taken_off, cellex_unbounded())
{
    struct diary diary = {0};
    lbx_scheduler_hook hook = {mark_hook, &diary};

    CHECK_OK(lbx_mailbox_set_scheduler_hook(box->mailbox, &hook));
    CHECK_OK(box_send(box, 1));
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box->mailbox, NULL));
    CHECK_OK(box_send(box, 2));
    CHECK_STR("h", diary.marks);
}

/* ---- Metrics of each policy, through the user queue ---- */

BOX_TEST("C-39", metrics_for_enqueue_and_dequeue, cellex_unbounded())
{
    static struct events events; // the box outlives this frame

    events_watch(&events, box);
    box_fill(box, 1, 2);
    CHECK_TAKES(box, 1);
    CHECK_INT(2, events_count(&events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, events_count(&events, LBX_METRIC_DEQUEUED));
    CHECK_PTR(box->mailbox, events_last(&events, LBX_METRIC_DEQUEUED).mailbox);
}

BOX_TEST("C-39", metrics_for_drop_oldest,
         cellex_bounded(1, LBX_OVERFLOW_DROP_OLDEST))
{
    static struct events events; // the box outlives this frame

    events_watch(&events, box);
    box_fill(box, 1, 2);
    CHECK_INT(2, events_count(&events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, events_count(&events, LBX_METRIC_DROPPED_OLDEST));
    CHECK_INT(1, events_last(&events, LBX_METRIC_DROPPED_OLDEST).count);
}

/* A message that was dropped at the door was never enqueued. */
BOX_TEST("C-39", metrics_for_drop_newest,
         cellex_bounded(1, LBX_OVERFLOW_DROP_NEWEST))
{
    static struct events events; // the box outlives this frame

    events_watch(&events, box);
    CHECK_OK(box_send(box, 1));
    CHECK_STATUS(LBX_FULL, box_send(box, 2));
    CHECK_INT(1, events_count(&events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, events_count(&events, LBX_METRIC_DROPPED_NEWEST));
    CHECK_INT(1, events_last(&events, LBX_METRIC_DROPPED_NEWEST).count);
}

BOX_TEST("C-39", metrics_for_grow, cellex_bounded(1, LBX_OVERFLOW_GROW))
{
    static struct events events; // the box outlives this frame

    events_watch(&events, box);
    box_fill(box, 1, 2);
    CHECK_INT(1, events_count(&events, LBX_METRIC_GREW));
    CHECK_INT(2, events_last(&events, LBX_METRIC_GREW).count);
    box_fill(box, 3, 3);
    CHECK_INT(4, events_last(&events, LBX_METRIC_GREW).count);
}

BOX_TEST("C-39", metrics_for_block_say_nothing_until_it_is_in,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    static struct events events; // the box outlives this frame
    LOCAL_WAITER(second);

    events_watch(&events, box);
    CHECK_OK(box_send(box, 1));
    waiter_send_pending(&second, box, 2);
    CHECK_INT(1, events_count(&events, LBX_METRIC_ENQUEUED));
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&second));
    CHECK_INT(2, events_count(&events, LBX_METRIC_ENQUEUED));
}

/* actor-registered and -deregistered are the mailbox's and its sink's. */
TEST_CITING("C-39", metrics_say_when_a_mailbox_comes_and_goes)
{
    struct box box = cellex_unbounded();
    static struct events events; // the box outlives this frame

    events_watch(&events, &box);
    CHECK_INT(1, events_count(&events, LBX_METRIC_REGISTERED));
    CHECK_INT(0, events_count(&events, LBX_METRIC_DEREGISTERED));
    box_destroy(&box);
    CHECK_INT(1, events_count(&events, LBX_METRIC_DEREGISTERED));
}

/* A sink is called with no lock held: it may use the mailbox. */
static void
look_around(void *context, const lbx_metric_event *event)
{
    uint64_t *depth = context;

    if (event->metric == LBX_METRIC_ENQUEUED)
        *depth = lbx_mailbox_depth(event->mailbox);
}

BOX_TEST("C-39 R-42", metrics_sink_may_use_the_mailbox,
         cellex_bounded(4, LBX_OVERFLOW_DROP_OLDEST))
{
    uint64_t depth = 0;
    lbx_metrics_sink sink = {look_around, &depth};

    CHECK_OK(lbx_mailbox_set_metrics_sink(box->mailbox, &sink));
    box_fill(box, 1, 3);
    CHECK_INT(3, depth);
}
