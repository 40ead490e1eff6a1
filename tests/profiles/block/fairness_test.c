/* SPDX-License-Identifier: Apache-2.0 */
/* Block: several producers complete in the order of their arrival. */
#include "profiles/block/block.h"

/* Three waiting producers and three polls. */
BOX_TEST("B-09 B-15", three_producers_complete_in_fifo_order, block_full(1))
{
    struct waiter offers[3];

    for (int i = 0; i < 3; i++)
        waiter_send_pending(&offers[i], box, 2 + i);
    for (int i = 0; i < 3; i++) {
        CHECK_TAKES(box, 1 + i);
        for (int j = 0; j < 3; j++)
            CHECK_STATUS(j <= i ? LBX_OK : LBX_PENDING,
                         waiter_poll(&offers[j]));
    }
    CHECK_TAKES(box, 4);
    for (int i = 0; i < 3; i++)
        waiter_fini(&offers[i]);
}

/* The order is that of arrival, not of who is polled most. */
BOX_TEST("B-15 R-34", polling_often_gains_nothing, block_full(1))
{
    struct waiter patient, eager;

    waiter_send_pending(&patient, box, 2);
    waiter_send_pending(&eager, box, 3);
    for (int i = 0; i < 100; i++)
        CHECK_STATUS(LBX_PENDING, waiter_poll(&eager));
    CHECK_TAKES(box, 1);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&eager));
    CHECK_OK(waiter_poll(&patient));
    CHECK_TAKES(box, 2, 3);
    waiter_fini(&patient);
    waiter_fini(&eager);
}

/* In the source a newcomer can take the room that a waiter was woken for.
 * Here it was handed over: the newcomer finds the mailbox full. */
BOX_TEST("B-15 R-34", newcomer_does_not_overtake_a_waiter, block_full(1))
{
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, box, 2);
    CHECK_TAKES(box, 1); // the waiter has not been polled since
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK_TAKES(box, 2);
    CHECK_OK(waiter_poll(&offer));
}

/* A new operation goes to the end of the line, behind those that wait. */
BOX_TEST("B-15", new_offer_waits_behind_those_that_wait, block_full(2))
{
    struct waiter first, second;

    waiter_send_pending(&first, box, 3);
    waiter_send_pending(&second, box, 4);
    CHECK_TAKES(box, 1, 2, 3, 4);
    waiter_fini(&first);
    waiter_fini(&second);
}

/* Receivers are served in order of arrival too. */
BOX_TEST("B-03 R-34", three_consumers_are_served_in_fifo_order,
         box_bounded(3, LBX_OVERFLOW_BLOCK))
{
    struct waiter takes[3];

    for (int i = 0; i < 3; i++)
        waiter_receive_pending(&takes[i], box);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(box_send(box, 1 + i));
        CHECK_OK(waiter_poll(&takes[i]));
        CHECK_INT(1 + i, number_of(takes[i].message));
        if (i < 2)
            CHECK_STATUS(LBX_PENDING, waiter_poll(&takes[i + 1]));
    }
    for (int i = 0; i < 3; i++)
        waiter_fini(&takes[i]);
}

struct queue_of_threads {
    struct box box;
    struct thread threads[3];
    atomic_int next;
};

static void
send_my_number(void *context)
{
    struct queue_of_threads *queue = context;
    int number = atomic_fetch_add(&queue->next, 1);

    CHECK_OK(lbx_producer_send(queue->box.in, message_of(number)));
}

/* The same with threads that park, each in line before the next one starts. */
TEST_CITING("B-09 B-15", three_waiting_threads_complete_in_fifo_order)
{
    struct queue_of_threads queue = {.box = block_full(1), .next = 2};

    for (unsigned i = 0; i < 3; i++) {
        thread_start(&queue.threads[i], send_my_number, &queue);
        EVENTUALLY(box_stats(&queue.box).waiting_senders == i + 1);
    }
    CHECK_TAKES(&queue.box, 1, 2, 3, 4);
    for (int i = 0; i < 3; i++)
        thread_join(&queue.threads[i]);
    box_destroy(&queue.box);
}

enum {
    SENDERS = 4,
    EACH = 250
};

static void
send_or_receive(unsigned index, void *context)
{
    struct box *box = context;
    int next[SENDERS] = {0};

    for (int i = 0; index < SENDERS && i < EACH; i++)
        CHECK_OK(lbx_producer_send(box->in, message_of((int)index * 1000 + i)));
    for (int i = 0; index == SENDERS && i < SENDERS * EACH; i++) {
        void *message = NULL;

        CHECK_OK(lbx_consumer_receive(box->out, &message));
        CHECK_INT(next[number_of(message) / 1000]++, number_of(message) % 1000);
    }
}

/* No sender starves and no sender's messages change their order, with a mailbox
 * so small that everyone waits all the time. */
BOX_TEST("B-01 B-15", many_threads_through_a_mailbox_of_one,
         box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    threads_run(SENDERS + 1, send_or_receive, box);
    CHECK_NOTHING(box);
    CHECK_INT(SENDERS * EACH, box_stats(box).accepted);
    CHECK_INT(0, box_stats(box).rejected);
}

/* Room for several at once serves several, in order. */
BOX_TEST("B-03 B-15", batch_receive_resumes_as_many_as_fit, block_full(3))
{
    struct waiter offers[4];
    void *messages[3];
    size_t count = 0;

    for (int i = 0; i < 4; i++)
        waiter_send_pending(&offers[i], box, 4 + i);
    CHECK_OK(lbx_consumer_try_receive_batch(box->out, messages, 3, &count));
    CHECK_INT(3, count);
    for (int i = 0; i < 4; i++)
        CHECK_STATUS(i < 3 ? LBX_OK : LBX_PENDING, waiter_poll(&offers[i]));
    CHECK_TAKES(box, 4, 5, 6, 7);
    for (int i = 0; i < 4; i++)
        waiter_fini(&offers[i]);
}
