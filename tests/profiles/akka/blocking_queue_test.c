/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BoundedBlockingQueueSpec: put, take, offer, poll, their
 * timed forms and capacity.
 *
 * put is lbx_producer_send() and take lbx_consumer_receive(), both for ever;
 * offer is try_send and poll try_receive; the timed forms take a deadline, on
 * a clock that the test moves. Akka refuses null; we deliver it.
 */
#include "fixture.h"

struct queue {
    struct test_clock time;
    lbx_clock clock;
    struct box box;
};

static void
queue_begin(struct queue *queue, int64_t capacity)
{
    lbx_mailbox_options options = limited_options(capacity, LBX_OVERFLOW_BLOCK);

    *queue = (struct queue){.time = TEST_CLOCK_INIT};
    queue->clock = test_clock_interface(&queue->time);
    options.clock = &queue->clock;
    queue->box = box_make(LBX_KIND_BOUNDED, &options);
}

static int64_t
queue_after(struct queue *queue, int64_t duration_ns)
{
    return test_clock_now(&queue->time) + duration_ns;
}

static int64_t
remaining(const struct queue *queue)
{
    return lbx_mailbox_capacity(queue->box.mailbox) -
           (int64_t)lbx_mailbox_depth(queue->box.mailbox);
}

#define SPEC(name) TEST_CITING("A-10 R-02", name)

/* A test with a queue of this capacity, which is destroyed after it. */
#define QUEUE_SPEC(name, capacity)                                             \
    static void name##_on(struct queue *queue);                                \
                                                                               \
    SPEC(name)                                                                 \
    {                                                                          \
        struct queue queue;                                                    \
                                                                               \
        queue_begin(&queue, capacity);                                         \
        name##_on(&queue);                                                     \
        box_end(&queue.box);                                                   \
    }                                                                          \
                                                                               \
    static void name##_on(struct queue *queue)

// ---- Constructor and capacity ----

SPEC(constructor_refuses_a_capacity_that_is_not_positive)
{
    const int64_t capacities[] = {0, -1, -1000};
    lbx_producer *in;
    lbx_consumer *out;

    for (size_t i = 0; i < 3; i++) {
        lbx_mailbox_options options =
            limited_options(capacities[i], LBX_OVERFLOW_BLOCK);

        CHECK_STATUS(LBX_INVALID,
                     lbx_mailbox_create(LBX_KIND_BOUNDED, &options, &in, &out));
    }
}

QUEUE_SPEC(remaining_capacity_is_capacity_less_size, 2)
{
    CHECK_INT(2, remaining(queue));
    box_send(&queue->box, 1);
    CHECK_INT(1, remaining(queue));
    box_send(&queue->box, 2);
    CHECK_INT(0, remaining(queue));
    CHECK_INT(1, box_next(&queue->box));
    CHECK_INT(1, remaining(queue));
}

// ---- put ----

QUEUE_SPEC(put_stores_the_element, 2)
{
    CHECK_OK(lbx_producer_send(queue->box.in, letter(1)));
    CHECK_INT(1, lbx_mailbox_depth(queue->box.mailbox));
    CHECK_RECEIVES(&queue->box, 1);
}

QUEUE_SPEC(put_signals_a_waiting_take, 2)
{
    struct parked take;

    parked_receive(&take, &queue->box, LBX_FOREVER);
    CHECK_OK(lbx_producer_send(queue->box.in, letter(1)));
    CHECK_OK(parked_end(&take));
    CHECK_INT(1, number_of(take.message));
}

QUEUE_SPEC(put_blocks_when_full_and_unblocks_with_room, 1)
{
    struct parked put;

    box_send(&queue->box, 1);
    parked_send(&put, &queue->box, 2, LBX_FOREVER);
    CHECK(!put.is_done);
    CHECK_INT(1, lbx_mailbox_depth(queue->box.mailbox));
    CHECK_INT(1, box_next(&queue->box));
    CHECK_OK(parked_end(&put));
    CHECK_RECEIVES(&queue->box, 2);
}

// "check whether the queue is full before waiting again": of two blocked puts
// one goes in per take, and the other keeps waiting.
QUEUE_SPEC(put_checks_again_after_it_was_woken, 1)
{
    struct parked first;
    struct parked second;

    box_send(&queue->box, 1);
    parked_send(&first, &queue->box, 2, LBX_FOREVER);
    parked_send(&second, &queue->box, 3, LBX_FOREVER);
    CHECK_INT(1, box_next(&queue->box));
    CHECK_OK(parked_end(&first));
    CHECK(!second.is_done);
    CHECK_INT(1, box_stats(&queue->box).waiting_senders);
    CHECK_INT(2, box_next(&queue->box));
    CHECK_OK(parked_end(&second));
    CHECK_RECEIVES(&queue->box, 3);
}

QUEUE_SPEC(put_delivers_null_where_akka_refuses_it, 1)
{
    void *message = letter(9);

    CHECK_OK(lbx_producer_send(queue->box.in, NULL));
    CHECK_OK(lbx_consumer_receive(queue->box.out, &message));
    CHECK_PTR(NULL, message);
}

// ---- take ----

QUEUE_SPEC(take_returns_the_first_element, 3)
{
    void *message = NULL;

    box_send_numbers(&queue->box, 1, 2);
    CHECK_OK(lbx_consumer_receive(queue->box.out, &message));
    CHECK_INT(1, number_of(message));
    CHECK_RECEIVES(&queue->box, 2);
}

QUEUE_SPEC(take_signals_a_waiting_put, 1)
{
    struct sender put;
    void *message = NULL;

    box_send(&queue->box, 1);
    sender_wait(&put, &queue->box, 2);
    CHECK_OK(lbx_consumer_receive(queue->box.out, &message));
    CHECK_INT(1, put.bell.rings);
    CHECK_OK(sender_poll(&put));
    lbx_operation_fini(&put.operation);
}

QUEUE_SPEC(take_blocks_when_empty_and_unblocks_with_an_element, 1)
{
    struct parked take;

    parked_receive(&take, &queue->box, LBX_FOREVER);
    CHECK(!take.is_done);
    box_send(&queue->box, 1);
    CHECK_OK(parked_end(&take));
    CHECK_INT(1, number_of(take.message));
}

QUEUE_SPEC(take_checks_again_after_it_was_woken, 2)
{
    struct parked first;
    struct parked second;

    parked_receive(&first, &queue->box, LBX_FOREVER);
    parked_receive(&second, &queue->box, LBX_FOREVER);
    box_send(&queue->box, 1);
    CHECK_OK(parked_end(&first));
    CHECK_INT(1, number_of(first.message));
    CHECK(!second.is_done);
    box_send(&queue->box, 2);
    CHECK_OK(parked_end(&second));
    CHECK_INT(2, number_of(second.message));
}

// ---- offer ----

QUEUE_SPEC(offer_answers_at_once_when_there_is_room, 2)
{
    CHECK_OK(lbx_producer_try_send(queue->box.in, letter(1)));
    CHECK_RECEIVES(&queue->box, 1);
}

QUEUE_SPEC(offer_refuses_at_once_when_full, 1)
{
    box_send(&queue->box, 1);
    CHECK_STATUS(LBX_FULL, lbx_producer_try_send(queue->box.in, letter(2)));
    CHECK_INT(0, box_stats(&queue->box).waiting_senders);
    CHECK_RECEIVES(&queue->box, 1);
}

QUEUE_SPEC(offer_signals_a_waiting_poll, 1)
{
    struct receiver poll;

    receiver_wait_until(&poll, &queue->box, queue_after(queue, LBX_SECOND));
    CHECK_OK(lbx_producer_try_send(queue->box.in, letter(1)));
    CHECK_INT(1, poll.bell.rings);
    receiver_check(&poll, 1);
}

// ---- timed offer ----

QUEUE_SPEC(timed_offer_does_not_wait_when_there_is_room, 1)
{
    CHECK_OK(lbx_producer_send_until(queue->box.in, letter(1),
                                     queue_after(queue, LBX_SECOND)));
    CHECK_INT(1, lbx_mailbox_depth(queue->box.mailbox));
}

QUEUE_SPEC(timed_offer_waits_at_least_its_time, 1)
{
    struct sender offer;

    box_send(&queue->box, 1);
    sender_wait_until(&offer, &queue->box, 2, queue_after(queue, 100 * LBX_MS));
    test_clock_advance(&queue->time, 100 * LBX_MS - 1);
    CHECK_STATUS(LBX_PENDING, sender_poll(&offer));
    test_clock_advance(&queue->time, 1);
    CHECK_STATUS(LBX_TIMEOUT, sender_poll(&offer));
    lbx_operation_fini(&offer.operation);
}

QUEUE_SPEC(timed_offer_refuses_after_its_time, 1)
{
    struct parked offer;

    box_send(&queue->box, 1);
    parked_send(&offer, &queue->box, 2, queue_after(queue, LBX_MS));
    CHECK(!offer.is_done);
    test_clock_advance(&queue->time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, parked_end(&offer));
    CHECK_RECEIVES(&queue->box, 1);
}

QUEUE_SPEC(timed_offer_returns_early_when_room_appears, 1)
{
    struct parked offer;

    box_send(&queue->box, 1);
    parked_send(&offer, &queue->box, 2, queue_after(queue, LBX_SECOND));
    CHECK_INT(1, box_next(&queue->box));
    CHECK_OK(parked_end(&offer)); // the clock has not moved
    CHECK_RECEIVES(&queue->box, 2);
}

// Room that appeared for the one before does not end the wait.
QUEUE_SPEC(timed_offer_checks_again_after_room_went_to_another, 1)
{
    struct sender before;
    struct sender offer;

    box_send(&queue->box, 1);
    sender_wait(&before, &queue->box, 2);
    sender_wait_until(&offer, &queue->box, 3, queue_after(queue, LBX_MS));
    CHECK_INT(1, box_next(&queue->box));
    CHECK_OK(sender_poll(&before));
    CHECK_STATUS(LBX_PENDING, sender_poll(&offer));
    test_clock_advance(&queue->time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, sender_poll(&offer));
    CHECK_RECEIVES(&queue->box, 2);
    lbx_operation_fini(&before.operation);
    lbx_operation_fini(&offer.operation);
}

// ---- poll ----

QUEUE_SPEC(poll_says_empty_at_once, 1)
{
    CHECK_NOTHING(&queue->box);
    CHECK_INT(0, box_stats(&queue->box).waiting_receivers);
}

QUEUE_SPEC(poll_returns_the_head_and_signals_a_waiting_put, 2)
{
    struct parked put;

    box_send_numbers(&queue->box, 1, 2);
    parked_send(&put, &queue->box, 3, LBX_FOREVER);
    CHECK_INT(1, box_next(&queue->box));
    CHECK_OK(parked_end(&put));
    CHECK_RECEIVES(&queue->box, 2, 3);
}

// ---- timed poll ----

QUEUE_SPEC(timed_poll_returns_the_head_without_waiting, 1)
{
    void *message = NULL;

    box_send(&queue->box, 1);
    CHECK_OK(lbx_consumer_receive_until(queue->box.out, &message,
                                        queue_after(queue, LBX_SECOND)));
    CHECK_INT(1, number_of(message));
}

QUEUE_SPEC(timed_poll_waits_at_least_its_time, 1)
{
    struct receiver poll;

    receiver_wait_until(&poll, &queue->box, queue_after(queue, 100 * LBX_MS));
    test_clock_advance(&queue->time, 100 * LBX_MS - 1);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&poll));
    test_clock_advance(&queue->time, 1);
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&poll));
    lbx_operation_fini(&poll.operation);
}

QUEUE_SPEC(timed_poll_gives_up_after_its_time, 1)
{
    struct parked poll;

    parked_receive(&poll, &queue->box, queue_after(queue, LBX_MS));
    CHECK(!poll.is_done);
    test_clock_advance(&queue->time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, parked_end(&poll));
}

QUEUE_SPEC(timed_poll_returns_early_when_an_element_arrives, 1)
{
    struct parked poll;

    parked_receive(&poll, &queue->box, queue_after(queue, LBX_SECOND));
    box_send(&queue->box, 1);
    CHECK_OK(parked_end(&poll));
    CHECK_INT(1, number_of(poll.message));
}

QUEUE_SPEC(timed_poll_checks_again_after_an_element_went_to_another, 1)
{
    struct receiver before;
    struct receiver poll;

    receiver_wait(&before, &queue->box);
    receiver_wait_until(&poll, &queue->box, queue_after(queue, LBX_MS));
    box_send(&queue->box, 1);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&poll));
    receiver_check(&before, 1);
    test_clock_advance(&queue->time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&poll));
    lbx_operation_fini(&poll.operation);
}

QUEUE_SPEC(timed_poll_lets_a_waiting_put_in, 1)
{
    struct sender put;
    void *message = NULL;

    box_send(&queue->box, 1);
    sender_wait(&put, &queue->box, 2);
    CHECK_OK(lbx_consumer_receive_until(queue->box.out, &message,
                                        queue_after(queue, LBX_SECOND)));
    CHECK_INT(1, put.bell.rings);
    CHECK_OK(sender_poll(&put));
    CHECK_RECEIVES(&queue->box, 2);
    lbx_operation_fini(&put.operation);
}

// drainTo: everything at once, and everyone who waited for room is let in.
QUEUE_SPEC(drain_takes_all_and_lets_waiting_puts_in, 2)
{
    struct sender puts[2];
    void *drained[4];
    size_t count = 0;

    box_send_numbers(&queue->box, 1, 2);
    sender_wait(&puts[0], &queue->box, 3);
    sender_wait(&puts[1], &queue->box, 4);
    CHECK_OK(
        lbx_consumer_try_receive_batch(queue->box.out, drained, 2, &count));
    CHECK_INT(2, count);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(1, puts[i].bell.rings);
        CHECK_OK(sender_poll(&puts[i]));
        lbx_operation_fini(&puts[i].operation);
    }
    CHECK_RECEIVES(&queue->box, 3, 4);
}
