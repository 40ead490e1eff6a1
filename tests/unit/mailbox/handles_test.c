/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: counted, clonable, and what the last one takes with it.
 * Also what outlives them: operations, threads that wait (91, 94, WAIT-7,
 * MSG-7).
 */
#include "mailbox/fixture.h"
#include "support/torture.h"

BOX_TEST("R-21", both_handles_reach_the_same_mailbox, box_unbounded())
{
    CHECK_PTR(lbx_producer_mailbox(box->in), lbx_consumer_mailbox(box->out));
}

BOX_TEST("R-21", clone_is_the_same_pointer, box_unbounded())
{
    CHECK_PTR(box->in, lbx_producer_ref(box->in));
    CHECK_PTR(box->out, lbx_consumer_ref(box->out));
    lbx_producer_unref(box->in);
    lbx_consumer_unref(box->out);
    box_send(box, 1); // the first pair still holds it open
    CHECK_RECEIVES(box, 1);
}

TEST(null_handles_are_cloned_and_given_up_without_effect)
{
    CHECK_PTR(NULL, lbx_producer_ref(NULL));
    CHECK_PTR(NULL, lbx_consumer_ref(NULL));
    lbx_producer_unref(NULL);
    lbx_consumer_unref(NULL);
}

// The consumer gets the rest and then learns that no producer is left.
static void
closes_with_its_last_producer(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);

    lbx_producer_ref(box.in);
    box_send_numbers(&box, 1, 3);
    lbx_producer_unref(box.in);
    CHECK(!lbx_mailbox_is_closed(box.mailbox));
    lbx_producer_unref(box.in);
    CHECK(lbx_mailbox_is_closed(box.mailbox));
    CHECK_INT(1, box_next(&box));
    CHECK_INT(2, box_next(&box));
    CHECK_INT(3, box_next(&box));
    CHECK_ENDED(&box);
    box.in = NULL;
}

EVERY_KIND(KIND_CITING, "R-21 CLOSE-2", closes_with_its_last_producer)

// MSG-7: each message that cannot be received any more is lost exactly once.
static void
loses_the_rest_with_its_last_consumer(const char *kind)
{
    struct losses losses = {.count = 0};
    struct box box =
        BOX(kind, options_for(kind, 10), with.loss_sink = losses_sink(&losses));

    box_send_numbers(&box, 1, 3);
    box_send_system(&box, 4);

    lbx_consumer_unref(box.out);
    box.out = NULL;
    CHECK_INT(4, losses.count);
    losses_check(&losses, 0, 4, LBX_LOSS_CLOSED); // system first, as received
    losses_check(&losses, 1, 1, LBX_LOSS_CLOSED);
    losses_check(&losses, 2, 2, LBX_LOSS_CLOSED);
    losses_check(&losses, 3, 3, LBX_LOSS_CLOSED);
    CHECK_STATUS(LBX_CLOSED, lbx_producer_try_send(box.in, letter(5)));
    box_end(&box);
    CHECK_INT(4, losses.count);
}

EVERY_KIND(KIND_CITING, "MSG-7 R-21", loses_the_rest_with_its_last_consumer)

// Whichever handle goes last, the rest is ended once.
TEST_CITING("MSG-7", messages_left_inside_are_destroyed_once)
{
    for (int producer_first = 0; producer_first < 2; producer_first++) {
        _Atomic int ended = 0;
        struct box box =
            BOX(LBX_KIND_UNBOUNDED, plain_options(),
                with.destroy = destroy_counting, with.destroy_context = &ended);

        box_send_numbers(&box, 1, 5000); // more than one segment
        CHECK_INT(1, box_next(&box));
        if (producer_first) {
            lbx_producer_unref(box.in);
            box.in = NULL;
        }
        box_end(&box);
        CHECK_INT(4999, ended);
    }
}

// The receivers' waits end, although close was not called.
BOX_TEST("CLOSE-4", last_producer_wakes_waiting_receivers, box_unbounded())
{
    LOCAL_RECEIVER(receiver);

    receiver_wait(&receiver, box);
    lbx_producer_unref(box->in);
    box->in = NULL;
    CHECK_INT(1, receiver.bell.rings);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&receiver));
}

// Their messages stay theirs.
TEST_CITING("CLOSE-4", last_consumer_wakes_waiting_senders)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, limited_options(1, LBX_OVERFLOW_BLOCK),
            with.loss_sink = losses_sink(&losses));
    LOCAL_SENDER(sender);

    box_send(&box, 1);
    sender_wait(&sender, &box, 2);
    lbx_consumer_unref(box.out);
    box.out = NULL;
    CHECK_INT(1, sender.bell.rings);
    CHECK_STATUS(LBX_CLOSED, sender_poll(&sender));
    CHECK_INT(1, losses.count); // message 1 only
}

// MSG-1: the message was promised, and its receiver can no longer be served:
// lost, once, and the receiver learns CLOSED.
TEST_CITING("MSG-1 CLOSE-4", promise_dies_with_the_last_consumer)
{
    struct losses losses = {.count = 0};
    struct receiver receiver;
    struct box box = BOX(LBX_KIND_UNBOUNDED, plain_options(),
                         with.loss_sink = losses_sink(&losses));

    receiver_wait(&receiver, &box);
    box_send(&box, 1);
    lbx_consumer_unref(box.out);
    box.out = NULL;
    CHECK_INT(1, losses.count);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&receiver));
    lbx_operation_fini(&receiver.operation);
    box_end(&box);
    CHECK_INT(1, losses.count);
}

// 91: the mailbox is gone for everyone else, and its memory goes with the
// last operation, not before.
TEST(waiting_operation_keeps_a_dropped_mailbox_alive)
{
    TORTURE(memory, allocator);
    struct receiver receiver;
    struct box box =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.allocator = &allocator);

    receiver_wait(&receiver, &box);
    box_end(&box);
    CHECK(memory.live_blocks > 0);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&receiver));
    lbx_operation_fini(&receiver.operation);
    CHECK_INT(0, memory.live_blocks);
}

// 91 again, with a thread: both handles are gone while it sleeps inside.
TEST(thread_that_waits_in_a_dropped_mailbox_wakes_with_closed)
{
    TORTURE(memory, allocator);
    struct parked parked;
    struct box box =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.allocator = &allocator);

    parked_receive(&parked, &box, LBX_FOREVER);
    box_end(&box);
    CHECK_STATUS(LBX_CLOSED, parked_end(&parked));
    CHECK_INT(0, memory.live_blocks);
}

// An operation that was never polled holds its mailbox as well.
TEST(operation_that_was_never_polled_can_be_ended_last)
{
    TORTURE(memory, allocator);
    lbx_operation operation;
    void *message;
    struct box box =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.allocator = &allocator);

    CHECK_OK(
        lbx_consumer_receive_init(&operation, box.out, &message, LBX_FOREVER));
    box_end(&box);
    lbx_operation_fini(&operation);
    CHECK_INT(0, memory.live_blocks);
}

struct abandoned {
    struct box box;
    struct receiver *receiver;
};

static void
wait_and_leave(void *context)
{
    struct abandoned *abandoned = context;

    receiver_wait(abandoned->receiver, &abandoned->box);
}

// 94, WAIT-7: a thread ends while its operation waits. The wait goes on, and
// ending it later gives what it was promised to the next.
TEST_CITING("WAIT-7", thread_may_end_while_its_operation_waits)
{
    struct receiver receiver;
    struct receiver next;
    struct abandoned abandoned = {.receiver = &receiver};
    struct thread thread;
    LOCAL_BOX(box) = box_unbounded();

    abandoned.box = box;
    thread_start(&thread, wait_and_leave, &abandoned);
    thread_join(&thread);
    receiver_wait(&next, &box);

    box_send(&box, 1);
    CHECK_INT(1, receiver.bell.rings);
    lbx_operation_fini(&receiver.operation);
    CHECK_INT(1, next.bell.rings);
    receiver_check(&next, 1);
}

static void
clone_and_drop(unsigned index, void *context)
{
    struct box *box = context;

    for (int i = 0; i < 2000; i++) {
        if (index % 2 == 0)
            lbx_producer_unref(lbx_producer_ref(box->in));
        else
            lbx_consumer_unref(lbx_consumer_ref(box->out));
    }
}

BOX_TEST("R-21", handles_are_cloned_from_many_threads, box_unbounded())
{
    threads_run(4, clone_and_drop, box);
    box_send(box, 1);
    CHECK_RECEIVES(box, 1);
}

static void
drop_one(unsigned index, void *context)
{
    struct box *box = context;

    if (index == 0)
        lbx_producer_unref(box->in);
    else
        lbx_consumer_unref(box->out);
}

// CLOSE-5: both last handles go at the same moment; what is inside is lost once
// and the memory is freed once.
TEST_CITING("CLOSE-5", both_last_handles_go_at_the_same_moment)
{
    for (int round = 0; round < 200; round++) {
        TORTURE(memory, allocator);
        _Atomic int ended = 0;
        struct box box = BOX(
            LBX_KIND_UNBOUNDED, plain_options(), with.allocator = &allocator,
            with.destroy = destroy_counting, with.destroy_context = &ended);

        box_send_numbers(&box, 1, 3);
        threads_run(2, drop_one, &box);
        CHECK_INT(3, ended);
        CHECK_INT(0, memory.live_blocks);
    }
}
