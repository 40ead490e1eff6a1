/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cellactor: the wait queue. It is not a thing of its own in Letterbox's
 * interface; its rules are seen through the operations that wait in it.
 */
#include "profiles/cellex/cellex.h"

BOX_TEST("C-23", wait_queue_new_is_empty, cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    CHECK_INT(0, box_stats(box).waiting_senders);
    CHECK_INT(0, box_stats(box).waiting_receivers);
}

/* Polling again keeps the one registration, with the new waker. */
BOX_TEST("C-23 C-30", wait_queue_registers_once_per_operation,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter offer, other;

    waiter_init(&other);
    CHECK_OK(box_send(box, 1));
    waiter_send_pending(&offer, box, 2);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    CHECK_STATUS(LBX_PENDING,
                 lbx_operation_poll(&offer.operation, &other.waker));
    CHECK_INT(1, box_stats(box).waiting_senders);
    CHECK_TAKES(box, 1);
    CHECK_INT(0, atomic_load(&offer.wakes));
    CHECK_INT(1, atomic_load(&other.wakes));
    CHECK_OK(waiter_poll(&offer));
    waiter_fini(&offer);
}

BOX_TEST("C-23 R-35", wait_queue_notifies_one,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter first, second;

    waiter_receive_pending(&first, box);
    waiter_receive_pending(&second, box);
    CHECK_OK(box_send(box, 1));
    CHECK_INT(1, atomic_load(&first.wakes));
    CHECK_INT(0, atomic_load(&second.wakes));
    CHECK_OK(waiter_poll(&first));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&second));
    waiter_fini(&first);
    waiter_fini(&second);
}

/* Without waiters, the capacity and the message stay for the next. */
BOX_TEST("C-23", wait_queue_notify_with_none,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter offer, take;

    CHECK_OK(box_send(box, 1));
    CHECK_TAKES(box, 1);
    waiter_send(&offer, box, 2, LBX_FOREVER);
    CHECK_OK(waiter_poll(&offer));
    waiter_receive(&take, box, LBX_FOREVER);
    CHECK_OK(waiter_poll(&take));
    CHECK_INT(0, atomic_load(&offer.wakes) + atomic_load(&take.wakes));
    waiter_fini(&offer);
    waiter_fini(&take);
}

BOX_TEST("C-24 R-34", wait_queue_serves_several_in_order,
         cellex_bounded(4, LBX_OVERFLOW_BLOCK))
{
    struct waiter takes[4];

    for (int i = 0; i < 4; i++)
        waiter_receive_pending(&takes[i], box);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(box_send(box, 1 + i));
        for (int j = 0; j < 4; j++)
            CHECK_INT(j <= i, atomic_load(&takes[j].wakes));
    }
    for (int i = 0; i < 4; i++) {
        CHECK_OK(waiter_poll(&takes[i]));
        CHECK_INT(1 + i, number_of(takes[i].message));
    }
    CHECK_NOTHING(box);
    for (int i = 0; i < 4; i++)
        waiter_fini(&takes[i]);
}

/* cellactor hands one error to all; closing is our only such error. */
BOX_TEST("C-33 R-14", wait_queue_error_goes_to_all,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter offers[3];

    CHECK_OK(box_send(box, 1));
    for (int i = 0; i < 3; i++)
        waiter_send_pending(&offers[i], box, 2 + i);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_INT(0, box_stats(box).waiting_senders);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(1, atomic_load(&offers[i].wakes));
        CHECK_STATUS(LBX_CLOSED, waiter_poll(&offers[i]));
        CHECK_STATUS(LBX_CLOSED, waiter_poll(&offers[i])); // and stays so
        waiter_fini(&offers[i]);
    }
    CHECK_TAKES(box, 1);
    CHECK_ENDED(box);
}

/* The error factory made each waiter its own error, with its own message:
 * each of ours still has the message it tried to send. */
TEST_CITING("C-33 R-12", wait_queue_error_leaves_each_its_message)
{
    LOCAL_BOX(box) = cellex_bounded(1, LBX_OVERFLOW_BLOCK);
    LOCAL_BOX(spare) = cellex_unbounded();
    struct waiter offers[3];

    CHECK_OK(box_send(&box, 1));
    for (int i = 0; i < 3; i++) {
        waiter_init(&offers[i]);
        waiter_post(&offers[i], &box, regular(10 + i), LBX_FOREVER);
        CHECK_STATUS(LBX_PENDING, waiter_poll(&offers[i]));
    }
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_IMMEDIATE));
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(LBX_CLOSED, waiter_poll(&offers[i]));
        CHECK_INT(LBX_OUTCOME_NOT_SENT, offers[i].result.outcome);
        waiter_fini(&offers[i]);
        CHECK_OK(box_post(&spare, offers[i].sent, NULL));
    }
    CHECK_TAKES(&spare, 10, 11, 12);
}

/* Ending operations that never waited, or were never started, is harmless. */
BOX_TEST("C-32", wait_queue_empty_cases, cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter offer;
    lbx_operation zeroed = {{0}};

    lbx_operation_fini(NULL);
    lbx_operation_fini(&zeroed);
    waiter_send(&offer, box, 1, LBX_FOREVER);
    waiter_fini(&offer);
    waiter_fini(&offer);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
}

/* A waiter in the middle leaves without a trace; the others keep their turn. */
BOX_TEST("C-32 R-34", wait_queue_cancelled_in_the_middle,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct waiter offers[3];

    CHECK_OK(box_send(box, 1));
    for (int i = 0; i < 3; i++)
        waiter_send_pending(&offers[i], box, 2 + i);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&offers[1].operation));
    CHECK_INT(2, box_stats(box).waiting_senders);
    CHECK_TAKES(box, 1, 2, 4);
    CHECK_NOTHING(box);
    CHECK_INT(0, atomic_load(&offers[1].wakes));
    for (int i = 0; i < 3; i++)
        waiter_fini(&offers[i]);
}
