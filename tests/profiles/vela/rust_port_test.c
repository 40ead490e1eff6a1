/* SPDX-License-Identifier: Apache-2.0 */
/* Vela: the tests of its later Rust port, and V-37 through each front. */
#include "profiles/vela/vela.h"

BOX_TEST("V-37", receive_two_in_order, vela_unbounded())
{
    void *message = NULL;

    box_fill(box, 1, 2);
    CHECK_OK(lbx_consumer_receive(box->out, &message));
    CHECK_INT(1, number_of(message));
    CHECK_OK(lbx_consumer_receive(box->out, &message));
    CHECK_INT(2, number_of(message));
}

/* What was sent is still received; only then does "closed" come. */
BOX_TEST("V-37", receive_after_all_senders_are_gone_is_closed, vela_unbounded())
{
    void *message = NULL;

    CHECK_OK(box_send(box, 1));
    lbx_producer_unref(box->in);
    box->in = NULL;
    CHECK_OK(lbx_consumer_receive(box->out, &message));
    CHECK_INT(1, number_of(message));
    CHECK_STATUS(LBX_CLOSED, lbx_consumer_receive(box->out, &message));
}

BOX_TEST("V-37", try_receive_empty_message_empty, vela_unbounded())
{
    CHECK_NOTHING(box);
    CHECK_OK(box_send(box, 42));
    CHECK_TAKES(box, 42);
    CHECK_NOTHING(box);
}

BOX_TEST("V-37", try_receive_closed, vela_unbounded())
{
    lbx_producer_unref(box->in);
    box->in = NULL;
    CHECK_ENDED(box);
}

/* A send to a full mailbox of 1 is done only after a receive. */
BOX_TEST("V-37", bounded_backpressure, box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    LOCAL_WAITER(second);

    CHECK_OK(box_send(box, 1));
    waiter_send_pending(&second, box, 2);
    CHECK_TAKES(box, 1);
    CHECK_OK(waiter_poll(&second));
    CHECK_TAKES(box, 2);
}

static void
send_and_wait(void *context)
{
    struct box *box = context;

    CHECK_OK(lbx_producer_send(box->in, message_of(2)));
}

/* The same with a thread that really waits. */
BOX_TEST("V-37", bounded_backpressure_of_a_thread,
         box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    struct thread sender;
    void *message = NULL;

    CHECK_OK(box_send(box, 1));
    thread_start(&sender, send_and_wait, box);
    EVENTUALLY(box_stats(box).waiting_senders == 1);
    CHECK_INT(1, box_depth(box));
    CHECK_TAKES(box, 1);
    CHECK_OK(lbx_consumer_receive(box->out, &message));
    CHECK_INT(2, number_of(message));
    thread_join(&sender);
}

/* One of several senders going away closes nothing. */
BOX_TEST("V-37", mailbox_closes_with_its_last_sender_only, vela_unbounded())
{
    lbx_producer *clone = lbx_producer_ref(box->in);

    lbx_producer_unref(box->in);
    CHECK(!lbx_mailbox_is_closed(box->mailbox));
    CHECK_OK(lbx_producer_try_send(clone, message_of(1)));
    lbx_producer_unref(clone);
    box->in = NULL;
    CHECK(lbx_mailbox_is_closed(lbx_consumer_mailbox(box->out)));
    CHECK_TAKES(box, 1);
    CHECK_ENDED(box);
}

/* A receive that already waits learns that the last sender has gone. */
BOX_TEST("V-37", waiting_receive_ends_when_the_last_sender_goes,
         vela_unbounded())
{
    LOCAL_WAITER(receiver);

    waiter_receive_pending(&receiver, box);
    lbx_producer_unref(box->in);
    box->in = NULL;
    CHECK_INT(1, atomic_load(&receiver.wakes));
    CHECK_STATUS(LBX_CLOSED, waiter_poll(&receiver));
}
