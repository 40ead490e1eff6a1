/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cellex: the async queue (offer_blocking and poll_blocking), and the rules of
 * seed 002 for pollable operations. Polled by hand: no runtime, no threads.
 */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

#include <poll.h>

BOX_TEST("C-22 C-23", offer_then_poll_are_ready_at_once,
         cellex_bounded(2, LBX_OVERFLOW_BLOCK))
{
    struct waiter offer, take;

    waiter_send(&offer, box, 1, LBX_FOREVER);
    CHECK_OK(waiter_poll(&offer));
    waiter_receive(&take, box, LBX_FOREVER);
    CHECK_OK(waiter_poll(&take));
    CHECK_INT(1, number_of(take.message));
    waiter_fini(&offer);
    waiter_fini(&take);
}

/* The operations work on the two handles by themselves, clones included. */
BOX_TEST("C-22", pair_round_trip, cellex_bounded(2, LBX_OVERFLOW_BLOCK))
{
    lbx_producer *producer = lbx_producer_ref(box->in);
    lbx_operation offer;

    CHECK_OK(
        lbx_producer_send_init(&offer, producer, message_of(5), LBX_FOREVER));
    lbx_producer_unref(producer); // the operation keeps what it needs
    CHECK_OK(lbx_operation_poll(&offer, NULL));
    lbx_operation_fini(&offer);
    CHECK_TAKES(box, 5);
}

/* Nothing happens before the first poll. */
BOX_TEST("C-23 C-30", operation_does_nothing_until_polled,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter offer;

    waiter_send(&offer, box, 1, LBX_FOREVER);
    CHECK_INT(0, box_depth(box));
    CHECK_STATUS(LBX_PENDING, lbx_operation_status(&offer.operation));
    waiter_fini(&offer);
    CHECK_NOTHING(box);
}

BOX_TEST("C-36", close_prevents_further_operations,
         cellex_bounded(2, LBX_OVERFLOW_BLOCK))
{
    struct waiter take, again, offer;

    CHECK_OK(box_send(box, 1));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    waiter_receive(&take, box, LBX_FOREVER);
    CHECK_OK(waiter_poll(&take));
    CHECK_INT(1, number_of(take.message));
    waiter_receive(&again, box, LBX_FOREVER);
    CHECK_STATUS(LBX_CLOSED, waiter_poll(&again));
    waiter_send(&offer, box, 2, LBX_FOREVER);
    CHECK_STATUS(LBX_CLOSED, waiter_poll(&offer));
    waiter_fini(&take);
    waiter_fini(&again);
    waiter_fini(&offer);
}

/* The seed's scenario: capacity 2 with 2 messages, and a third offer. */
BOX_TEST("C-26 C-23 C-29", offer_blocks_until_space_available,
         cellex_bounded(2, LBX_OVERFLOW_BLOCK))
{
    LOCAL_WAITER(third);

    box_fill(box, 1, 2);
    waiter_send_pending(&third, box, 3);
    CHECK_INT(1, box_stats(box).waiting_senders);
    CHECK_TAKES(box, 1);
    CHECK_INT(1, atomic_load(&third.wakes));
    CHECK_OK(waiter_poll(&third));
    CHECK_TAKES(box, 2, 3);
}

BOX_TEST("C-24", poll_blocks_until_item_available,
         cellex_bounded(2, LBX_OVERFLOW_BLOCK))
{
    LOCAL_WAITER(take);

    waiter_receive_pending(&take, box);
    CHECK_INT(1, box_stats(box).waiting_receivers);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&take)); // nothing has changed
    CHECK_INT(1, box_stats(box).waiting_receivers);
    CHECK_OK(box_send(box, 9));
    CHECK_OK(waiter_poll(&take));
    CHECK_INT(9, number_of(take.message));
    CHECK_INT(0, box_stats(box).waiting_receivers);
}

BOX_TEST("C-36 R-35", close_wakes_waiting_consumer,
         cellex_bounded(2, LBX_OVERFLOW_BLOCK))
{
    struct waiter takes[3];

    for (int i = 0; i < 3; i++)
        waiter_receive_pending(&takes[i], box);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    for (int i = 0; i < 3; i++) { // all of them, not one
        CHECK_INT(1, atomic_load(&takes[i].wakes));
        CHECK_STATUS(LBX_CLOSED, waiter_poll(&takes[i]));
        waiter_fini(&takes[i]);
    }
}

/* ---- Interrupt context: seven operations, one answer ---- */

static bool
not_here(void *context)
{
    return *(bool *)context;
}

static struct box
interrupt_box(bool *may_wait)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    options.capacity_messages = 2;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.may_wait = not_here;
    options.may_wait_context = may_wait;
    return box_create(LBX_KIND_BOUNDED, &options);
}

TEST_CITING("C-41", interrupt_context_sends_would_block)
{
    bool may_wait = false;
    LOCAL_BOX(box) = interrupt_box(&may_wait);
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    size_t sent = 9;
    void *batch[1] = {NULL};

    CHECK_STATUS(LBX_WOULD_BLOCK, box_send(&box, 1));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_producer_send(box.in, NULL));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_producer_send_until(box.in, NULL, LBX_FOREVER));
    CHECK_STATUS(LBX_WOULD_BLOCK, box_post(&box, regular(1), &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_producer_try_send_batch(box.in, batch, 1, &sent));
    CHECK_INT(0, sent);
    may_wait = true;
    CHECK_NOTHING(&box); // none of them left anything
}

TEST_CITING("C-41", interrupt_context_receives_would_block)
{
    bool may_wait = true;
    LOCAL_BOX(box) = interrupt_box(&may_wait);
    void *message = NULL;
    size_t count = 9;

    CHECK_OK(box_send(&box, 1));
    may_wait = false;
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_consumer_try_receive(box.out, &message));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_consumer_receive(box.out, &message));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_consumer_receive_until(box.out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_consumer_try_receive_batch(box.out, &message, 1, &count));
    CHECK_INT(0, count);
    may_wait = true;
    CHECK_TAKES(&box, 1); // still there
}

TEST_CITING("C-41", interrupt_context_operations_would_block)
{
    bool may_wait = false;
    LOCAL_BOX(box) = interrupt_box(&may_wait);
    struct waiter offer, take;

    waiter_send(&offer, &box, 1, LBX_FOREVER);
    CHECK_STATUS(LBX_WOULD_BLOCK, waiter_poll(&offer));
    waiter_receive(&take, &box, LBX_FOREVER);
    CHECK_STATUS(LBX_WOULD_BLOCK, waiter_poll(&take));
    waiter_fini(&offer);
    waiter_fini(&take);
    may_wait = true;
    CHECK_NOTHING(&box);
    CHECK_INT(0, box_stats(&box).waiting_receivers);
}

/* ---- The rules for operations ---- */

/* Only BLOCK ever waits: the other policies decide on the first poll. */
TEST_CITING("C-25 C-27", other_policies_answer_on_the_first_poll)
{
    static const struct {
        lbx_overflow overflow;
        lbx_status status;
        lbx_outcome outcome;
    } rows[] = {
        {LBX_OVERFLOW_REJECT, LBX_FULL, LBX_OUTCOME_NOT_SENT},
        {LBX_OVERFLOW_DROP_NEWEST, LBX_FULL, LBX_OUTCOME_NOT_SENT},
        {LBX_OVERFLOW_DROP_OLDEST, LBX_OK, LBX_OUTCOME_DROPPED_OLDEST},
        {LBX_OVERFLOW_GROW, LBX_OK, LBX_OUTCOME_GREW},
    };

    for (size_t i = 0; i < 4; i++) {
        struct box box = cellex_bounded(1, rows[i].overflow);
        struct waiter offer;

        CHECK_OK(box_send(&box, 1));
        waiter_post(&offer, &box, regular(2), LBX_FOREVER);
        CHECK_STATUS(rows[i].status, waiter_poll(&offer));
        CHECK_INT(rows[i].outcome, offer.result.outcome);
        CHECK_INT(0, box_stats(&box).waiting_senders);
        waiter_fini(&offer);
        box_destroy(&box);
    }
}

/* Any waker will do, and none at all: no runtime is presumed. */
BOX_TEST("C-28", operations_need_no_runtime,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    lbx_operation offer;

    CHECK_OK(box_send(box, 1));
    CHECK_OK(
        lbx_producer_send_init(&offer, box->in, message_of(2), LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&offer, NULL));
    CHECK_TAKES(box, 1);
    CHECK_OK(lbx_operation_poll(&offer, NULL));
    lbx_operation_fini(&offer);
    CHECK_TAKES(box, 2);
}

/* And an event loop needs a descriptor only. */
BOX_TEST("C-28 R-43", operations_fit_an_event_loop, cellex_unbounded())
{
    struct pollfd watched = {.events = POLLIN};
    lbx_event event;
    lbx_operation take;
    void *message = NULL;

    CHECK_OK(lbx_event_open(&event));
    watched.fd = event.fd;
    CHECK_OK(lbx_consumer_receive_init(&take, box->out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&take, &event.waker));
    CHECK_INT(0, poll(&watched, 1, 0));
    CHECK_OK(box_send(box, 3));
    CHECK_INT(1, poll(&watched, 1, 0));
    lbx_event_clear(&event);
    CHECK_INT(0, poll(&watched, 1, 0));
    CHECK_OK(lbx_operation_poll(&take, &event.waker));
    CHECK_INT(3, number_of(message));
    lbx_operation_fini(&take);
    lbx_event_close(&event);
}

/* The waker runs with no lock held, or this would never return. */
static void
use_the_mailbox(void *context)
{
    struct box *box = context;

    CHECK(box_depth(box) <= 2);
    CHECK_INT(0, box_stats(box).waiting_senders);
    CHECK_STATUS(LBX_FULL, box_send(box, 99));
}

BOX_TEST("C-31", no_lock_is_held_at_pending_or_in_a_waker,
         cellex_bounded(2, LBX_OVERFLOW_BLOCK))
{
    lbx_waker waker = {use_the_mailbox, box};
    lbx_operation third;

    box_fill(box, 1, 2);
    CHECK_OK(
        lbx_producer_send_init(&third, box->in, message_of(3), LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&third, &waker));
    CHECK_INT(2, box_depth(box)); // the pending one holds no other up
    CHECK_TAKES(box, 1);
    CHECK_OK(lbx_operation_poll(&third, NULL));
    lbx_operation_fini(&third);
    CHECK_TAKES(box, 2, 3);
}

/* The seed's scenario: destroyed after registering, then room appears. */
BOX_TEST("C-32", dropped_operation_releases_wait_registration,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter offer;

    CHECK_OK(box_send(box, 1));
    waiter_send_pending(&offer, box, 2);
    waiter_fini(&offer);
    CHECK_INT(0, box_stats(box).waiting_senders);
    CHECK_TAKES(box, 1);
    CHECK_INT(0, atomic_load(&offer.wakes));
    CHECK_NOTHING(box); // its message was not sent
    CHECK_OK(box_send(box, 3));
}

/* The same for a receive: nothing is taken on its behalf. */
BOX_TEST("C-32", dropped_receive_takes_nothing,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter take;

    waiter_receive_pending(&take, box);
    waiter_fini(&take);
    CHECK_INT(0, box_stats(box).waiting_receivers);
    CHECK_OK(box_send(box, 1));
    CHECK_INT(0, atomic_load(&take.wakes));
    CHECK_TAKES(box, 1);
}

/* In the source a woken operation that is destroyed swallows the wake-up; here
 * the next in line gets what the first was promised. */
BOX_TEST("C-32 R-34", dropped_after_wake_passes_the_message_on,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter first, second;

    waiter_receive_pending(&first, box);
    waiter_receive_pending(&second, box);
    CHECK_OK(box_send(box, 1));
    CHECK_INT(1, atomic_load(&first.wakes));
    CHECK_INT(0, atomic_load(&second.wakes));
    waiter_fini(&first);
    CHECK_INT(1, atomic_load(&second.wakes));
    CHECK_OK(waiter_poll(&second));
    CHECK_INT(1, number_of(second.message));
    waiter_fini(&second);
}
