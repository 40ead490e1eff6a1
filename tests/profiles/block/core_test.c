/* SPDX-License-Identifier: Apache-2.0 */
/* Block: through the whole mailbox, with system lane, metrics and signal. */
#include "profiles/block/block.h"

static lbx_envelope
system_message(intptr_t number)
{
    return lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_WATCH), message_of(number));
}

/* Build a mailbox, offer three times: the third is pending until a poll. */
BOX_TEST("B-10 B-02", third_of_three_offers_is_pending_until_a_poll,
         box_bounded(2, LBX_OVERFLOW_BLOCK))
{
    struct waiter offers[3], take;

    for (int i = 0; i < 3; i++) {
        waiter_send(&offers[i], box, 1 + i, LBX_FOREVER);
        CHECK_STATUS(i < 2 ? LBX_OK : LBX_PENDING, waiter_poll(&offers[i]));
    }
    waiter_receive(&take, box, LBX_FOREVER);
    CHECK_OK(waiter_poll(&take));
    CHECK_INT(1, number_of(take.message));
    CHECK_OK(waiter_poll(&offers[2]));
    CHECK_TAKES(box, 2, 3);
    for (int i = 0; i < 3; i++)
        waiter_fini(&offers[i]);
    waiter_fini(&take);
}

/* A system message passes a waiting user message, and taking it is no room
 * for the user. */
BOX_TEST("B-10", third_offer_is_pending_with_a_system_queue_present,
         block_full(2))
{
    LOCAL_WAITER(third);

    waiter_send_pending(&third, box, 3);
    CHECK_OK(box_post(box, system_message(9), NULL));
    CHECK_TAKES(box, 9);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&third));
    CHECK_INT(0, atomic_load(&third.wakes));
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&third));
    CHECK_TAKES(box, 2, 3);
}

/* The open question, settled: the system lane never waits, as an operation
 * neither; a full reservation is told at once. */
BOX_TEST("B-14 C-38", system_lane_answers_full_at_once, block_full(1))
{
    struct waiter offer;

    for (int i = 0; i < LBX_MAILBOX_DEFAULT_SYSTEM_RESERVATION; i++)
        CHECK_OK(box_post(box, system_message(10 + i), NULL));
    CHECK_STATUS(LBX_FULL, box_post(box, system_message(99), NULL));
    waiter_post(&offer, box, system_message(99), LBX_FOREVER);
    CHECK_STATUS(LBX_FULL, waiter_poll(&offer));
    waiter_fini(&offer);
    CHECK_TAKES(box, 10, 11, 12, 13, 1);
}

/* Metrics say what happened, when it happened: a waiting message is not
 * enqueued, and a completed one is, once. */
BOX_TEST("B-10 B-08", third_offer_is_pending_with_metrics_attached,
         block_full(2))
{
    static struct events events; // the box outlives this frame
    LOCAL_WAITER(third);

    events_watch(&events, box);
    waiter_send_pending(&third, box, 3);
    CHECK_INT(0, events_count(&events, LBX_METRIC_ENQUEUED));
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&third));
    CHECK_INT(1, events_count(&events, LBX_METRIC_ENQUEUED));
    CHECK_INT(1, events_count(&events, LBX_METRIC_DEQUEUED));
    CHECK_TAKES(box, 2, 3);
    CHECK_INT(3, events_count(&events, LBX_METRIC_DEQUEUED));
}

static void
count_ready(void *context, lbx_mailbox *mailbox)
{
    (void)mailbox;
    ++*(int *)context;
}

/* The scheduler hears of a waiting message when it is in, not before. */
BOX_TEST("B-07 B-08", hook_is_called_when_the_waiting_message_is_in,
         block_full(1))
{
    int ready = 0;
    lbx_scheduler_hook hook = {count_ready, &ready};
    LOCAL_WAITER(offer);

    CHECK_OK(lbx_mailbox_set_scheduler_hook(box->mailbox, &hook));
    waiter_send_pending(&offer, box, 2);
    CHECK_INT(0, ready);
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&offer));
    CHECK_INT(1, ready);
}

/* Signalling stays synchronous, and can be waited on as an operation. */
BOX_TEST("B-07 B-14", signal_is_notified_after_a_successful_send,
         box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    lbx_signal *signal = NULL;
    struct waiter wait, offer;

    CHECK_OK(lbx_consumer_signal(box->out, &signal));
    waiter_init(&wait);
    CHECK_OK(lbx_signal_wait_init(&wait.operation, signal, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&wait));
    waiter_send(&offer, box, 1, LBX_FOREVER);
    CHECK_INT(0, atomic_load(&wait.wakes));
    CHECK_OK(waiter_poll(&offer));
    CHECK_INT(1, atomic_load(&wait.wakes));
    CHECK_OK(waiter_poll(&wait));
    waiter_fini(&wait);
    waiter_fini(&offer);
    lbx_signal_unref(signal);
}

/* Counts: a waiting message is neither accepted nor rejected. */
BOX_TEST("B-04 B-08 R-41", waiting_messages_are_not_counted, block_full(1))
{
    LOCAL_WAITER(offer);
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    waiter_send_pending(&offer, box, 2);
    stats = box_stats(box);
    CHECK_INT(1, stats.accepted);
    CHECK_INT(0, stats.rejected);
    CHECK_INT(1, stats.depth);
    CHECK_INT(1, stats.waiting_senders);
    CHECK_TAKES(box, 1);
    stats = box_stats(box);
    CHECK_INT(2, stats.accepted);
    CHECK_INT(1, stats.taken);
    CHECK_INT(0, stats.waiting_senders);
}

/* The transitional helper of that queue, block_on: any operation can be waited
 * for in a thread. */
static void
take_one(void *context)
{
    struct box *box = context;
    void *message = NULL;

    EVENTUALLY(box_stats(box).waiting_senders == 1);
    CHECK_OK(lbx_consumer_receive(box->out, &message));
    CHECK_INT(1, number_of(message));
}

BOX_TEST("B-06", block_on_an_operation, block_full(1))
{
    struct thread consumer;
    lbx_operation offer;

    CHECK_OK(
        lbx_producer_send_init(&offer, box->in, message_of(2), LBX_FOREVER));
    thread_start(&consumer, take_one, box);
    CHECK_OK(lbx_operation_wait(&offer));
    thread_join(&consumer);
    lbx_operation_fini(&offer);
    CHECK_TAKES(box, 2);
}

/* A batch waits as often as it needs to, and counts what is in. */
BOX_TEST("B-06 B-03", batch_offer_waits_as_often_as_needed,
         box_bounded(2, LBX_OVERFLOW_BLOCK))
{
    void *messages[5];
    LOCAL_WAITER(batch);
    size_t sent = 0;

    for (int i = 0; i < 5; i++)
        messages[i] = message_of(1 + i);
    waiter_init(&batch);
    CHECK_OK(lbx_producer_send_batch_init(&batch.operation, box->in, messages,
                                          5, LBX_FOREVER, &sent));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&batch));
    CHECK_INT(2, sent);
    for (int i = 0; i < 5; i++) {
        CHECK_TAKES(box, 1 + i);
        CHECK_STATUS(i < 2 ? LBX_PENDING : LBX_OK, waiter_poll(&batch));
    }
    CHECK_INT(5, sent);
    CHECK_NOTHING(box);
}

/* Waiting for room in the first of two mailboxes that has some. */
TEST_CITING("B-06", select_sends_to_the_first_with_room)
{
    LOCAL_BOX(left) = block_full(1);
    LOCAL_BOX(right) = block_full(1);
    struct waiter to_left, to_right, either;
    lbx_operation *both[2] = {&to_left.operation, &to_right.operation};
    size_t winner = 9;

    waiter_send(&to_left, &left, 2, LBX_FOREVER);
    waiter_send(&to_right, &right, 2, LBX_FOREVER);
    waiter_init(&either);
    CHECK_OK(
        lbx_select_init(&either.operation, both, 2, 0, LBX_FOREVER, &winner));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&either));
    CHECK_TAKES(&right, 1);
    CHECK_OK(waiter_poll(&either));
    CHECK_INT(1, winner);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&to_left.operation));
    CHECK_INT(0, box_stats(&left).waiting_senders);
    CHECK_TAKES(&right, 2);
    waiter_fini(&either);
    waiter_fini(&to_left);
    waiter_fini(&to_right);
}

/* Suspension holds messages back; it makes no room, and none is given away. */
BOX_TEST("B-10 R-16", suspended_mailbox_keeps_producers_waiting, block_full(1))
{
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, box, 2);
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK_NOTHING(box);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    CHECK(lbx_mailbox_resume(box->mailbox));
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&offer));
    CHECK_TAKES(box, 2);
}
