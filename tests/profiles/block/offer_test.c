/* SPDX-License-Identifier: Apache-2.0 */
/* Block: an offer to a full queue waits, and resumes. */
#include "profiles/block/block.h"
#include "support/torture.h"

/* Offer, offer while full, poll: it waits, then resumes. */
BOX_TEST("B-09 B-03", offer_on_full_is_pending_and_resumes_after_poll,
         block_full(2))
{
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, box, 3);
    CHECK_INT(2, box_depth(box));
    CHECK_TAKES(box, 1);
    CHECK_INT(1, atomic_load(&offer.wakes));
    CHECK_OK(waiter_poll(&offer));
    CHECK_TAKES(box, 2, 3);
}

/* Capacity 1 with one message: the second offer waits and never says full. */
BOX_TEST("B-15", capacity_one_second_offer_is_pending_not_full, block_full(1))
{
    LOCAL_WAITER(offer);

    waiter_send(&offer, box, 2, LBX_FOREVER);
    for (int i = 0; i < 10; i++)
        CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    CHECK_INT(0, box_stats(box).rejected);
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&offer));
    CHECK_TAKES(box, 2);
}

/* One and the same thread keeps a thousand sends waiting and goes on to
 * receive: none of them blocks it. */
BOX_TEST("B-01", no_thread_is_blocked_by_waiting_offers, block_full(1))
{
    enum {
        OFFERS = 1000
    };
    static struct waiter offers[OFFERS];

    for (int i = 0; i < OFFERS; i++)
        waiter_send_pending(&offers[i], box, 2 + i);
    CHECK_INT(OFFERS, box_stats(box).waiting_senders);
    for (int i = 0; i <= OFFERS; i++)
        CHECK_TAKES(box, 1 + i);
    for (int i = 0; i < OFFERS; i++) {
        CHECK_OK(waiter_poll(&offers[i]));
        CHECK_INT(1, atomic_load(&offers[i].wakes));
        waiter_fini(&offers[i]);
    }
}

/* Where there is capacity nothing waits, is registered or woken. */
BOX_TEST("B-15 B-03", offer_with_room_adds_no_waiting,
         box_bounded(3, LBX_OVERFLOW_BLOCK))
{
    struct waiter offer;

    for (int i = 1; i <= 3; i++) {
        waiter_send(&offer, box, i, LBX_FOREVER);
        CHECK_OK(waiter_poll(&offer));
        CHECK_INT(0, atomic_load(&offer.wakes));
        CHECK_INT(0, box_stats(box).waiting_senders);
        waiter_fini(&offer);
    }
    CHECK_TAKES(box, 1, 2, 3);
}

/* The poll path mirrors the offer's: empty registers, a message resumes. */
BOX_TEST("B-03", poll_on_empty_is_pending_and_resumes_after_offer,
         box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter take, offer;

    waiter_receive_pending(&take, box);
    waiter_send(&offer, box, 1, LBX_FOREVER);
    CHECK_OK(waiter_poll(&offer));
    CHECK_INT(1, atomic_load(&take.wakes));
    CHECK_OK(waiter_poll(&take));
    CHECK_INT(1, number_of(take.message));
    waiter_fini(&take);
    waiter_fini(&offer);
}

/* One poll notifies one producer; one offer notifies one consumer. */
BOX_TEST("B-03", each_poll_notifies_one_waiter, block_full(1))
{
    struct waiter first, second;

    waiter_send_pending(&first, box, 2);
    waiter_send_pending(&second, box, 3);
    CHECK_TAKES(box, 1);
    CHECK_INT(1, atomic_load(&first.wakes));
    CHECK_INT(0, atomic_load(&second.wakes));
    CHECK_TAKES(box, 2);
    CHECK_INT(1, atomic_load(&first.wakes));
    CHECK_INT(1, atomic_load(&second.wakes));
    waiter_fini(&first);
    waiter_fini(&second);
}

/* The named risk: a lock held across a suspension. While sends and a receive
 * elsewhere are pending, every synchronous call goes through. */
BOX_TEST("B-13 B-04", no_lock_is_held_while_pending, block_full(1))
{
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, box, 2);
    CHECK_INT(1, box_depth(box));
    CHECK_INT(1, lbx_mailbox_capacity(box->mailbox));
    CHECK_OK(lbx_mailbox_set_metrics_sink(box->mailbox, NULL));
    CHECK(lbx_mailbox_is_full(box->mailbox));
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK(lbx_mailbox_suspend(box->mailbox));
    CHECK(lbx_mailbox_resume(box->mailbox));
}

/* A waker is called outside every lock: it may end its own operation and send
 * again. */
struct again {
    struct box *box;
    lbx_operation operation;
    lbx_status first;
    lbx_status second;
};

static void
poll_from_the_waker(void *context)
{
    struct again *again = context;

    again->first = lbx_operation_poll(&again->operation, NULL);
    lbx_operation_fini(&again->operation);
    again->second = box_send(again->box, 3);
}

BOX_TEST("B-13", waker_may_finish_its_own_operation, block_full(1))
{
    struct again again = {.box = box, .second = LBX_OK};
    lbx_waker waker = {poll_from_the_waker, &again};

    CHECK_OK(lbx_producer_send_init(&again.operation, box->in, message_of(2),
                                    LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&again.operation, &waker));
    CHECK_TAKES(box, 1);
    CHECK_OK(again.first);
    CHECK_STATUS(LBX_FULL, again.second);
    CHECK_TAKES(box, 2);
}

/* The other risk: an allocation per operation. There is none. */
TEST_CITING("B-13", waiting_allocates_nothing)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    struct waiter offer, take;
    long before;
    struct box box;

    options.capacity_messages = 1;
    options.overflow = LBX_OVERFLOW_BLOCK;
    options.allocator = &allocator;
    box = box_create(LBX_KIND_BOUNDED, &options);
    before = memory.allocations;
    for (int round = 0; round < 100; round++) {
        CHECK_OK(box_send(&box, 1));
        waiter_send_pending(&offer, &box, 2);
        CHECK_TAKES(&box, 1, 2);
        CHECK_OK(waiter_poll(&offer));
        waiter_receive_pending(&take, &box);
        waiter_fini(&offer);
        waiter_fini(&take);
    }
    CHECK_INT(before, memory.allocations);
    box_destroy(&box);
    CHECK_INT(0, memory.live_blocks);
}

/* A destroyed operation leaves no registration behind, whichever in line. */
TEST_CITING("B-13 C-32", destroyed_operation_leaves_no_registration)
{
    for (int gone = 0; gone < 3; gone++) {
        struct box box = block_full(1);
        struct waiter offers[3];

        for (int i = 0; i < 3; i++)
            waiter_send_pending(&offers[i], &box, 10 + i);
        waiter_fini(&offers[gone]);
        CHECK_INT(2, box_stats(&box).waiting_senders);
        CHECK_TAKES(&box, 1);
        for (int i = 0; i < 3; i++) {
            if (i != gone)
                CHECK_TAKES(&box, 10 + i);
        }
        CHECK_NOTHING(&box);
        CHECK_INT(0, atomic_load(&offers[gone].wakes));
        for (int i = 0; i < 3; i++)
            waiter_fini(&offers[i]);
        box_destroy(&box);
    }
}

/* A send that was completed by hand-over is sent: giving it up afterwards says
 * so, and its message arrives once. */
BOX_TEST("B-03 R-34", cancelled_after_hand_over_is_sent, block_full(1))
{
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, box, 2);
    CHECK_TAKES(box, 1);
    CHECK_OK(lbx_operation_cancel(&offer.operation));
    CHECK_OK(lbx_operation_status(&offer.operation));
    CHECK_TAKES(box, 2);
    CHECK_NOTHING(box);
}

BOX_TEST("B-03 R-12", cancelled_before_room_keeps_its_message, block_full(1))
{
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, box, 2);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&offer.operation));
    CHECK_STATUS(LBX_CANCELLED, waiter_poll(&offer));
    CHECK_TAKES(box, 1);
    CHECK_NOTHING(box);
    CHECK_OK(box_send(box, 2)); // ours again
    CHECK_TAKES(box, 2);
}
