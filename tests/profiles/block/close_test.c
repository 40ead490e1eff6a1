/* SPDX-License-Identifier: Apache-2.0 */
/* Block: close, stop and flush. */
#include "profiles/block/block.h"

/* Waiting producers fail with Disconnected; each keeps its message. */
BOX_TEST("B-09 R-14", close_fails_waiting_producers_with_closed, block_full(1))
{
    struct waiter offers[3];

    for (int i = 0; i < 3; i++)
        waiter_send_pending(&offers[i], box, 2 + i);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    for (int i = 0; i < 3; i++) {
        CHECK_INT(1, atomic_load(&offers[i].wakes));
        CHECK_STATUS(LBX_CLOSED, waiter_poll(&offers[i]));
        waiter_fini(&offers[i]);
    }
    CHECK_TAKES(box, 1); // what was inside is delivered, and only that
    CHECK_ENDED(box);
}

static void
expect_closed(void *context)
{
    struct box *box = context;

    CHECK_STATUS(LBX_CLOSED, lbx_producer_send(box->in, message_of(2)));
}

BOX_TEST("B-09", close_wakes_a_parked_thread, block_full(1))
{
    struct thread sender;

    thread_start(&sender, expect_closed, box);
    EVENTUALLY(box_stats(box).waiting_senders == 1);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    thread_join(&sender);
}

static void
free_message(void *message, void *context)
{
    (void)message;
    ++*(int *)context;
}

/* The message of a send that failed is not the mailbox's to destroy. */
TEST_CITING("B-09 R-12", close_destroys_only_what_was_accepted)
{
    int destroyed = 0;
    struct waiter offer;
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, plain_options(), with.capacity_messages = 1,
            with.overflow = LBX_OVERFLOW_BLOCK, with.destroy = free_message,
            with.destroy_context = &destroyed);

    CHECK_OK(box_send(&box, 1));
    waiter_send_pending(&offer, &box, 2);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    CHECK_INT(1, destroyed);
    CHECK_STATUS(LBX_CLOSED, waiter_poll(&offer));
    waiter_fini(&offer);
    CHECK_INT(1, destroyed);
}

/* The last consumer going away is a close for those who wait. */
BOX_TEST("B-09 V-37", losing_the_last_consumer_fails_waiting_producers,
         block_full(1))
{
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, box, 2);
    lbx_consumer_unref(box->out);
    box->out = NULL;
    CHECK_STATUS(LBX_CLOSED, waiter_poll(&offer));
}

static void
keep_rest(void *context, const lbx_envelope *envelope)
{
    int *kept = context;

    CHECK_INT(++*kept, number_of(envelope->message));
}

/* The seed's close yields a preserved message; ours can yield all of them. */
BOX_TEST("B-04 R-14", close_can_hand_back_what_was_inside, block_full(3))
{
    int kept = 0;

    CHECK_OK(lbx_mailbox_close_into(box->mailbox, keep_rest, &kept));
    CHECK_INT(3, kept);
    CHECK_ENDED(box);
    CHECK_INT(0, box_stats(box).lost);
}

/* Closing an empty mailbox preserves nothing, and is no error. */
BOX_TEST("B-04", close_of_an_empty_mailbox_hands_back_nothing,
         box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    int kept = 0;

    CHECK_OK(lbx_mailbox_close_into(box->mailbox, keep_rest, &kept));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(0, kept);
}

/* flush and stop became asynchronous there; here they are operations. */
BOX_TEST("B-06", flush_is_done_when_what_was_sent_before_is_taken,
         block_full(2))
{
    LOCAL_WAITER(flush);

    waiter_init(&flush);
    CHECK_OK(
        lbx_mailbox_flush_init(&flush.operation, box->mailbox, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&flush));
    CHECK_TAKES(box, 1);
    CHECK_OK(box_send(box, 3)); // does not hold it up
    CHECK_STATUS(LBX_PENDING, waiter_poll(&flush));
    CHECK_TAKES(box, 2);
    CHECK(atomic_load(&flush.wakes) >= 1);
    CHECK_OK(waiter_poll(&flush));
    CHECK_INT(1, box_depth(box));
}

BOX_TEST("B-06", flush_of_an_empty_mailbox_is_done_at_once,
         box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    LOCAL_WAITER(flush);

    waiter_init(&flush);
    CHECK_OK(
        lbx_mailbox_flush_init(&flush.operation, box->mailbox, LBX_FOREVER));
    CHECK_OK(waiter_poll(&flush));
}

/* Stop refuses at once, is done when empty, and fails those who wait. */
BOX_TEST("B-06 B-09", stop_closes_and_is_done_when_empty, block_full(1))
{
    struct waiter offer, stop;

    waiter_send_pending(&offer, box, 2);
    waiter_init(&stop);
    CHECK_OK(lbx_mailbox_stop_init(&stop.operation, box->mailbox, LBX_FOREVER));
    CHECK(!lbx_mailbox_is_closed(box->mailbox)); // not before its first poll
    CHECK_STATUS(LBX_PENDING, waiter_poll(&stop));
    CHECK(lbx_mailbox_is_closed(box->mailbox));
    CHECK_STATUS(LBX_CLOSED, waiter_poll(&offer));
    CHECK_STATUS(LBX_CLOSED, box_send(box, 3));
    CHECK_TAKES(box, 1);
    CHECK_INT(1, atomic_load(&stop.wakes));
    CHECK_OK(waiter_poll(&stop));
    waiter_fini(&offer);
    waiter_fini(&stop);
}

/* Everyone who waited has let go when the operations are gone: the mailbox is
 * freed by the last of them, not under them. (ASan and the torture allocator
 * would tell.) */
TEST_CITING("B-09 B-13", operations_outlive_the_handles)
{
    struct box box = block_full(1);
    struct waiter offer;

    waiter_send_pending(&offer, &box, 2);
    box_destroy(&box);
    CHECK_STATUS(LBX_CLOSED, waiter_poll(&offer));
    waiter_fini(&offer);
}
