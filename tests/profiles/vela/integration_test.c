/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela: test_actor_concurrency.py, as far as it is about mailboxes: an actor
 * is a thread that receives. The same with message loops is in
 * loop_integration_test.c.
 */
#include "profiles/vela/vela.h"

enum {
    SENDERS = 5,
    EACH = 200
};

struct crowd {
    struct box box;
    int next[SENDERS]; /* what each sender must be at; the receiver's */
    int received;
};

static intptr_t
stamp(int sender, int turn)
{
    return (intptr_t)sender * 10000 + turn;
}

static void
send_turns(struct crowd *crowd, int sender)
{
    for (int turn = 0; turn < EACH; turn++)
        CHECK_OK(box_send(&crowd->box, stamp(sender, turn)));
}

/* Each sender's messages arrive in the order in which it sent them. */
static void
receive_crowd(struct crowd *crowd)
{
    while (crowd->received < SENDERS * EACH) {
        void *message = NULL;
        int sender, turn;

        CHECK_OK(lbx_consumer_receive(crowd->box.out, &message));
        sender = (int)(number_of(message) / 10000);
        turn = (int)(number_of(message) % 10000);
        CHECK_INT(crowd->next[sender]++, turn);
        crowd->received++;
    }
}

static void
crowd_thread(unsigned index, void *context)
{
    struct crowd *crowd = context;

    if (index < SENDERS)
        send_turns(crowd, (int)index);
    else
        receive_crowd(crowd);
}

TEST_CITING("V-01 V-36", many_senders_to_one_receiver)
{
    struct crowd crowd = {.box = vela_unbounded()};

    threads_run(SENDERS, crowd_thread, &crowd); // only then is it read
    CHECK_INT(SENDERS * EACH, box_depth(&crowd.box));
    receive_crowd(&crowd);
    CHECK_NOTHING(&crowd.box);
    box_destroy(&crowd.box);
}

TEST_CITING("V-08 V-36", fifo_per_sender_with_several_senders)
{
    struct crowd crowd = {.box = vela_unbounded()};

    threads_run(SENDERS + 1, crowd_thread, &crowd);
    CHECK_INT(SENDERS * EACH, crowd.received);
    for (int sender = 0; sender < SENDERS; sender++)
        CHECK_INT(EACH, crowd.next[sender]);
    box_destroy(&crowd.box);
}

/* The same through the kind with one consumer, which takes another path. */
TEST_CITING("V-08 V-36", fifo_per_sender_for_a_single_consumer)
{
    struct crowd crowd = {
        .box = vela_create(LBX_KIND_UNBOUNDED_SINGLE_CONSUMER, LBX_DEFAULT)};

    threads_run(SENDERS + 1, crowd_thread, &crowd);
    CHECK_INT(SENDERS * EACH, crowd.received);
    box_destroy(&crowd.box);
}

static void
one_sender_one_receiver(unsigned index, void *context)
{
    struct box *box = context;

    for (int i = 0; i < 2000; i++) {
        void *message = NULL;

        if (index == 0) {
            CHECK_OK(box_send(box, i));
        } else {
            CHECK_OK(lbx_consumer_receive(box->out, &message));
            CHECK_INT(i, number_of(message));
        }
    }
}

BOX_TEST("V-08 V-36", order_is_kept_for_one_sender, vela_unbounded())
{
    threads_run(2, one_sender_one_receiver, box);
    CHECK_NOTHING(box);
}

BOX_TEST("V-08", large_queue_is_processed_completely, vela_unbounded())
{
    intptr_t number = 0;

    box_fill(box, 1, 100000);
    CHECK_INT(100000, box_depth(box));
    for (intptr_t i = 1; i <= 100000; i++) {
        CHECK_OK(box_take(box, &number));
        CHECK_INT(i, number);
    }
    CHECK_NOTHING(box);
}

/* What overflows is refused; what was accepted stays in order around it. */
BOX_TEST("V-09 V-11", fifo_is_kept_with_overflow, vela_bounded(5))
{
    for (int i = 0; i < 10; i++)
        CHECK_STATUS(i < 5 ? LBX_OK : LBX_FULL, box_send(box, i));
    CHECK_TAKES(box, 0, 1);
    CHECK_OK(box_send(box, 10));
    CHECK_OK(box_send(box, 11));
    CHECK_STATUS(LBX_FULL, box_send(box, 12));
    CHECK_TAKES(box, 2, 3, 4, 10, 11);
    CHECK_INT(6, box_stats(box).rejected);
}

/* A full mailbox concerns its own senders only. */
TEST_CITING("V-20", slow_receivers_do_not_stall_others)
{
    LOCAL_BOX(slow) = vela_bounded(1);
    LOCAL_BOX(quick) = vela_bounded(1);

    CHECK_OK(box_send(&slow, 1));
    for (int i = 0; i < 100; i++) {
        CHECK_STATUS(LBX_FULL, box_send(&slow, 2));
        CHECK_OK(box_send(&quick, i));
        CHECK_TAKES(&quick, i);
    }
}

/* One mailbox each, never shared: a hundred of them do not mix. */
TEST_CITING("V-20", hundred_mailboxes_keep_their_own)
{
    enum {
        BOXES = 100
    };
    struct box boxes[BOXES];

    for (int i = 0; i < BOXES; i++)
        boxes[i] = vela_unbounded();
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < BOXES; i++)
            CHECK_OK(box_send(&boxes[i], i * 100 + round));
    }
    for (int i = 0; i < BOXES; i++) {
        for (int round = 0; round < 10; round++)
            CHECK_TAKES(&boxes[i], i * 100 + round);
        box_destroy(&boxes[i]);
    }
}

struct table {
    struct box side[2];
};

/* Hits the ball back, one higher each time, until it has been 500 times over
 * the net. */
static void
play(unsigned index, void *context)
{
    struct table *table = context;
    struct box *mine = &table->side[index];
    struct box *theirs = &table->side[1 - index];
    intptr_t ball = 0;

    while (ball < 500) {
        void *message = NULL;

        CHECK_OK(lbx_consumer_receive(mine->out, &message));
        ball = number_of(message) + 1;
        CHECK_OK(box_send(theirs, ball));
    }
}

TEST_CITING("V-36", ping_pong_between_two_threads)
{
    struct table table = {{vela_bounded(2), vela_bounded(2)}};

    CHECK_OK(box_send(&table.side[0], 0));
    threads_run(2, play, &table);
    CHECK_TAKES(&table.side[1], 501); // the last return, which is not hit
    box_destroy(&table.side[0]);
    box_destroy(&table.side[1]);
}
