/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations used in every order, the wrong ones included: WAIT-1 and WAIT-7.
 * Their wakers are in waker_test.c, what other threads do to them meanwhile in
 * operation_races_test.c.
 */
#include <string.h>

#include "mailbox/fixture.h"

// WAIT-1: one of value, cancelled, timeout, closed wins, once and for all.
BOX_TEST("WAIT-1", finished_operation_keeps_its_status, box_unbounded())
{
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, box);
    box_send_numbers(box, 1, 2);
    CHECK_OK(receiver_poll(&receiver));
    CHECK_INT(1, number_of(receiver.message));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_OK(receiver_poll(&receiver));
    CHECK_OK(lbx_operation_cancel(&receiver.operation));
    CHECK_OK(lbx_operation_status(&receiver.operation));
    CHECK_INT(1, number_of(receiver.message)); // and its value
    CHECK_RECEIVES(box, 2);
}

BOX_TEST("WAIT-1", cancelled_operation_stays_cancelled, box_unbounded())
{
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, box);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&receiver.operation));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&receiver.operation));
    box_send(box, 1);
    CHECK_STATUS(LBX_CANCELLED, receiver_poll(&receiver));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_status(&receiver.operation));
    CHECK_INT(0, receiver.bell.rings);
    CHECK_RECEIVES(box, 1);
}

// consumer.h: nothing happens before the first poll.
BOX_TEST("", operation_does_nothing_before_its_first_poll,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    void *message = NULL;
    LOCAL_OPERATION(receive);
    LOCAL_OPERATION(send);

    CHECK_OK(lbx_producer_send_init(&send, box->in, letter(1), LBX_FOREVER));
    CHECK_INT(0, lbx_mailbox_depth(box->mailbox));
    CHECK_STATUS(LBX_PENDING, lbx_operation_status(&send));
    CHECK_OK(
        lbx_consumer_receive_init(&receive, box->out, &message, LBX_FOREVER));
    box_send(box, 2);
    CHECK_INT(0, box_stats(box).waiting_receivers);
    CHECK_RECEIVES(box, 2); // not promised to the receive
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&send));
    CHECK_NOTHING(box);
}

BOX_TEST("WAIT-7", zeroed_ended_and_null_operations_can_be_ended,
         box_unbounded())
{
    lbx_operation zeroed;
    struct receiver receiver;

    memset(&zeroed, 0, sizeof(zeroed));
    lbx_operation_fini(&zeroed);
    lbx_operation_fini(NULL);
    receiver_wait(&receiver, box);
    lbx_operation_fini(&receiver.operation);
    lbx_operation_fini(&receiver.operation);
    box_send(box, 1);
    CHECK_INT(0, receiver.bell.rings);
    CHECK_RECEIVES(box, 1);
}

TEST(operations_that_were_never_started_are_invalid)
{
    lbx_operation zeroed;

    memset(&zeroed, 0, sizeof(zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_poll(&zeroed, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_wait(&zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_cancel(&zeroed));
    CHECK_STATUS(LBX_INVALID, lbx_operation_poll(NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_wait(NULL));
    CHECK_STATUS(LBX_INVALID, lbx_operation_cancel(NULL));
}

// The same memory may be used again after fini.
BOX_TEST("", operation_may_be_started_again_after_its_end, box_unbounded())
{
    struct receiver receiver;

    for (int number = 1; number <= 3; number++) {
        receiver_wait(&receiver, box);
        box_send(box, number);
        receiver_check(&receiver, number);
    }
}

// operation.h: a finished receive may be started again, for loops.
BOX_TEST("", finished_receive_can_be_restarted, box_unbounded())
{
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, box);
    CHECK_STATUS(LBX_BUSY,
                 lbx_operation_restart(&receiver.operation, LBX_FOREVER));
    for (int number = 1; number <= 3; number++) {
        box_send(box, number);
        CHECK_OK(receiver_poll(&receiver));
        CHECK_INT(number, number_of(receiver.message));
        CHECK_OK(lbx_operation_restart(&receiver.operation, LBX_FOREVER));
        CHECK_STATUS(LBX_PENDING, receiver_poll(&receiver));
    }
    CHECK_INT(3, receiver.bell.rings);
}

BOX_TEST("", finished_flush_and_batch_can_be_restarted, box_unbounded())
{
    void *received[2];
    size_t count = 0;
    LOCAL_OPERATION(receive);
    LOCAL_OPERATION(flush);

    CHECK_OK(lbx_mailbox_flush_init(&flush, box->mailbox, LBX_FOREVER));
    CHECK_OK(lbx_consumer_receive_batch_init(&receive, box->out, received, 2,
                                             &count, LBX_FOREVER));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(lbx_operation_poll(&flush, NULL));
        CHECK_OK(lbx_operation_restart(&flush, LBX_FOREVER));
        box_send_numbers(box, 1, 2);
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&flush, NULL));
        CHECK_OK(lbx_operation_poll(&receive, NULL));
        CHECK_INT(2, count);
        CHECK_OK(lbx_operation_restart(&receive, LBX_FOREVER));
    }
    CHECK_OK(lbx_operation_poll(&flush, NULL));
}

BOX_TEST("", receive_of_an_envelope_waits_like_any_other,
         BOX(LBX_KIND_UNBOUNDED, envelope_options()))
{
    struct bell bell = {0};
    lbx_envelope envelope;
    lbx_operation receive;

    CHECK_OK(lbx_consumer_receive_envelope_init(&receive, box->out, &envelope,
                                                LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, bell_poll(&receive, &bell));
    box_send_envelope(box, lbx_envelope_of(letter(1), -3));
    CHECK_INT(1, bell.rings);
    CHECK_OK(bell_poll(&receive, &bell));
    CHECK_INT(1, number_of(envelope.message));
    CHECK_INT(-3, envelope.priority);
    lbx_operation_fini(&receive);
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_consumer_receive_envelope_until(box->out, &envelope, 0));
}

// Also one that was cancelled or timed out: it waits anew, from the end of
// the line and with its new deadline.
BOX_TEST("", cancelled_receive_can_be_restarted, box_unbounded())
{
    struct receiver first;
    struct receiver second;

    receiver_wait(&first, box);
    receiver_wait(&second, box);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&first.operation));
    CHECK_OK(lbx_operation_restart(&first.operation, 12345));
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&first)); // long past
    CHECK_OK(lbx_operation_restart(&first.operation, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&first));
    box_send_numbers(box, 1, 2);
    receiver_check(&second, 1);
    receiver_check(&first, 2);
}

BOX_TEST("", sends_and_zeroed_operations_cannot_be_restarted, box_unbounded())
{
    lbx_operation send;
    lbx_operation zeroed;

    memset(&zeroed, 0, sizeof(zeroed));
    CHECK_OK(lbx_producer_send_init(&send, box->in, letter(1), LBX_FOREVER));
    CHECK_OK(lbx_operation_poll(&send, NULL));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_operation_restart(&send, LBX_FOREVER));
    CHECK_OK(lbx_operation_status(&send));
    lbx_operation_fini(&send);
    CHECK_STATUS(LBX_INVALID, lbx_operation_restart(&zeroed, LBX_FOREVER));
    CHECK_STATUS(LBX_INVALID, lbx_operation_restart(NULL, LBX_FOREVER));
    CHECK_RECEIVES(box, 1);
}

BOX_TEST("", outputs_are_written_only_on_success, box_unbounded())
{
    void *message = letter(77);
    LOCAL_RECEIVER(receiver);

    CHECK_STATUS(LBX_EMPTY, lbx_consumer_try_receive(box->out, &message));
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_consumer_receive_until(box->out, &message, 0));
    CHECK_PTR(letter(77), message);
    receiver_wait(&receiver, box);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&receiver));
    CHECK_PTR(letter(-1), receiver.message);
}

// The result of a waiting send is written when it is final.
BOX_TEST("R-13", waiting_send_reports_its_outcome,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(2));
    lbx_send_result result = LBX_SEND_RESULT_INIT;
    lbx_operation send;

    memset(&result, 0xa5, sizeof(result));
    result.size_bytes = sizeof(result);
    box_send(box, 1);
    CHECK_OK(lbx_producer_send_envelope_init(&send, box->in, &envelope,
                                             LBX_FOREVER, &result));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
    CHECK_INT(1, box_next(box));
    CHECK_OK(lbx_operation_poll(&send, NULL));
    CHECK_INT(LBX_OUTCOME_ENQUEUED, result.outcome);
    CHECK_INT(LBX_OVERFLOW_BLOCK, result.overflow);
    lbx_operation_fini(&send);

    CHECK_OK(lbx_producer_send_envelope_init(&send, box->in, &envelope,
                                             LBX_FOREVER, &result));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&send));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    lbx_operation_fini(&send);
}
