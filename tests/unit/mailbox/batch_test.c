/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches: many messages in one call, with the same rules as one by one.
 */
#include "mailbox/fixture.h"

enum {
    BATCH = 5,
    BATCHES = 1000, // of each thread; many segments
};

// 1 to 5.
static void
fill_batch(void **messages)
{
    for (int i = 0; i < BATCH; i++)
        messages[i] = letter(i + 1);
}

// Starts to send 1 to 5; it must have to wait. The bell may be NULL.
static void
batch_wait(lbx_operation *send, const struct box *box, void **messages,
           size_t *sent, struct bell *bell)
{
    fill_batch(messages);
    CHECK_OK(lbx_producer_send_batch_init(send, box->in, messages, BATCH,
                                          LBX_FOREVER, sent));
    CHECK_STATUS(LBX_PENDING,
                 bell ? bell_poll(send, bell) : lbx_operation_poll(send, NULL));
}

static void
sends_and_receives_batches_in_order(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    void *messages[BATCH];
    void *received[8] = {NULL};
    size_t count = 99;

    fill_batch(messages);
    CHECK_OK(lbx_producer_try_send_batch(box.in, messages, BATCH, &count));
    CHECK_INT(5, count);
    CHECK_INT(5, lbx_mailbox_depth(box.mailbox));
    CHECK_OK(lbx_consumer_try_receive_batch(box.out, received, 3, &count));
    CHECK_INT(3, count);
    CHECK_OK(lbx_consumer_try_receive_batch(box.out, received + 3, 5, &count));
    CHECK_INT(2, count);
    for (int i = 0; i < BATCH; i++)
        CHECK_PTR(messages[i], received[i]);
    CHECK_STATUS(LBX_EMPTY,
                 lbx_consumer_try_receive_batch(box.out, received, 8, &count));
    CHECK_INT(0, count);
}

EVERY_KIND(KIND_TEST, sends_and_receives_batches_in_order)

// The first *ret_sent are the mailbox's, the rest the caller's.
static void
full_in_mid_batch_takes_what_fits(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, limited_options(3, LBX_OVERFLOW_REJECT));
    void *messages[BATCH];
    size_t sent = 99;

    fill_batch(messages);
    CHECK_STATUS(LBX_FULL,
                 lbx_producer_try_send_batch(box.in, messages, BATCH, &sent));
    CHECK_INT(3, sent);
    CHECK_RECEIVES(&box, 1, 2, 3);
}

LIMITED_KINDS(KIND_TEST, full_in_mid_batch_takes_what_fits)

// A mailbox for two that was sent all five, and lost three of them.
static struct box
overflowing_box(lbx_overflow overflow, struct losses *losses)
{
    struct box box = BOX(LBX_KIND_BOUNDED, limited_options(2, overflow),
                         with.loss_sink = losses_sink(losses));
    void *messages[BATCH];
    size_t sent = 0;

    fill_batch(messages);
    CHECK_OK(lbx_producer_try_send_batch(box.in, messages, BATCH, &sent));
    CHECK_INT(5, sent);
    CHECK_INT(3, losses->count);
    return box;
}

TEST(batch_follows_the_overflow_policy)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = overflowing_box(LBX_OVERFLOW_DROP_OLDEST, &losses);

    losses_check(&losses, 2, 3, LBX_LOSS_DROPPED_OLDEST);
    CHECK_RECEIVES(&box, 4, 5);
}

// Lost by DROP_NEWEST is swallowed, hence sent: the sink owns those.
TEST(batch_beyond_drop_newest_is_sent_and_lost)
{
    struct losses losses = {.count = 0};
    LOCAL_BOX(box) = overflowing_box(LBX_OVERFLOW_DROP_NEWEST, &losses);

    losses_check(&losses, 0, 3, LBX_LOSS_DROPPED_NEWEST);
    CHECK_RECEIVES(&box, 1, 2);
}

BOX_TEST("", empty_batch_is_sent_at_once, box_unbounded())
{
    size_t sent = 99;

    CHECK_OK(lbx_producer_try_send_batch(box->in, NULL, 0, &sent));
    CHECK_INT(0, sent);
    CHECK_INT(0, lbx_mailbox_depth(box->mailbox));
}

// More than any internal buffer or segment.
BOX_TEST("", large_batch_crosses_segments, box_unbounded())
{
    enum {
        MANY = 10000
    };
    static void *messages[MANY];
    static void *received[MANY];
    size_t taken = 0;
    size_t count = 0;

    for (int i = 0; i < MANY; i++)
        messages[i] = letter(i);
    CHECK_OK(lbx_producer_try_send_batch(box->in, messages, MANY, &count));
    CHECK_INT(MANY, count);
    while (taken < MANY) {
        CHECK_OK(lbx_consumer_try_receive_batch(box->out, received + taken,
                                                MANY - taken, &count));
        taken += count;
    }
    for (int i = 0; i < MANY; i++)
        CHECK_PTR(messages[i], received[i]);
    CHECK_NOTHING(box);
}

// producer.h: waits for room as often as needed; *ret_sent counts as they go.
BOX_TEST("", waiting_batch_goes_in_as_room_appears,
         box_limited(2, LBX_OVERFLOW_BLOCK))
{
    struct bell bell = {0};
    void *messages[BATCH];
    size_t sent = 99;
    LOCAL_OPERATION(send);

    batch_wait(&send, box, messages, &sent, &bell);
    CHECK_INT(2, sent);
    for (int number = 1; number <= 3; number++) {
        CHECK_INT(number, box_next(box));
        if (number < 3)
            CHECK_STATUS(LBX_PENDING, bell_poll(&send, &bell));
    }
    CHECK_OK(bell_poll(&send, &bell));
    CHECK_INT(5, sent);
    CHECK_RECEIVES(box, 4, 5);
}

// WAIT-4: part in, part out, and the count says which.
BOX_TEST("WAIT-4", cancelled_batch_says_how_many_went_in,
         box_limited(2, LBX_OVERFLOW_BLOCK))
{
    void *messages[BATCH];
    size_t sent = 99;
    LOCAL_OPERATION(send);

    batch_wait(&send, box, messages, &sent, NULL);
    CHECK_INT(1, box_next(box)); // 3 is moved in
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&send));
    CHECK_INT(3, sent);
    CHECK_RECEIVES(box, 2, 3);
}

// A batch waits in line like everyone else: one message at a time, at its
// head, and behind those who came first.
BOX_TEST("WAIT-10", waiting_batch_keeps_its_place_in_line,
         box_limited(1, LBX_OVERFLOW_BLOCK))
{
    struct bell bell = {0};
    void *messages[BATCH];
    size_t sent = 0;
    LOCAL_OPERATION(send);
    LOCAL_SENDER(before);

    box_send(box, 100);
    sender_wait(&before, box, 101);
    fill_batch(messages);
    CHECK_OK(lbx_producer_send_batch_init(&send, box->in, messages, 2,
                                          LBX_FOREVER, &sent));
    CHECK_STATUS(LBX_PENDING, bell_poll(&send, &bell));
    CHECK_INT(100, box_next(box));
    CHECK_OK(sender_poll(&before));
    CHECK_STATUS(LBX_PENDING, bell_poll(&send, &bell));
    CHECK_INT(101, box_next(box));
    CHECK_STATUS(LBX_PENDING, bell_poll(&send, &bell));
    CHECK_INT(1, box_next(box));
    CHECK_OK(bell_poll(&send, &bell));
    CHECK_RECEIVES(box, 2);
}

BOX_TEST("CLOSE-4", close_ends_a_waiting_batch,
         box_limited(2, LBX_OVERFLOW_BLOCK))
{
    void *messages[BATCH];
    size_t sent = 0;
    LOCAL_OPERATION(send);

    batch_wait(&send, box, messages, &sent, NULL);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, lbx_operation_poll(&send, NULL));
    CHECK_INT(2, sent);
    CHECK_RECEIVES(box, 1, 2);
}

// R-29 in spirit: returns as soon as there is one.
BOX_TEST("", waiting_receive_batch_takes_what_is_there, box_unbounded())
{
    struct bell bell = {0};
    void *received[4] = {NULL};
    size_t count = 0;
    LOCAL_OPERATION(receive);

    CHECK_OK(lbx_consumer_receive_batch_init(&receive, box->out, received, 4,
                                             &count, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, bell_poll(&receive, &bell));
    box_send_numbers(box, 1, 6);
    CHECK_INT(1, bell.rings);
    CHECK_OK(bell_poll(&receive, &bell));
    CHECK_INT(4, count);
    for (int i = 0; i < 4; i++)
        CHECK_INT(i + 1, number_of(received[i]));
    CHECK_RECEIVES(box, 5, 6);
}

// WAIT-3: nothing was taken, so nothing can be lost.
BOX_TEST("WAIT-3", cancelled_receive_batch_takes_nothing, box_unbounded())
{
    struct bell bell = {0};
    void *received[4] = {NULL};
    size_t count = 0;
    LOCAL_OPERATION(receive);

    CHECK_OK(lbx_consumer_receive_batch_init(&receive, box->out, received, 4,
                                             &count, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, bell_poll(&receive, &bell));
    box_send_numbers(box, 1, 3);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&receive));
    CHECK_INT(0, count);
    CHECK_RECEIVES(box, 1, 2, 3);
}

// A batch must not take what waiting receivers were promised.
BOX_TEST("R-34", receive_batch_leaves_promised_messages_alone, box_unbounded())
{
    LOCAL_RECEIVER(receiver);
    void *received[4] = {NULL};
    size_t count = 0;

    receiver_wait(&receiver, box);
    box_send_numbers(box, 1, 3);
    CHECK_OK(lbx_consumer_try_receive_batch(box->out, received, 4, &count));
    CHECK_INT(2, count);
    CHECK_OK(receiver_poll(&receiver));
    CHECK_NOTHING(box);
}

// Each taken message makes room for one waiting sender, also in a batch.
BOX_TEST("MSG-9", receive_batch_lets_as_many_senders_in,
         box_limited(3, LBX_OVERFLOW_BLOCK))
{
    struct sender senders[3];
    void *received[3];
    size_t count = 0;

    box_send_numbers(box, 1, 3);
    for (int i = 0; i < 3; i++)
        sender_wait(&senders[i], box, i + 4);
    CHECK_OK(lbx_consumer_try_receive_batch(box->out, received, 3, &count));
    CHECK_INT(3, count);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(1, senders[i].bell.rings);
        CHECK_OK(sender_poll(&senders[i]));
        lbx_operation_fini(&senders[i].operation);
    }
    CHECK_RECEIVES(box, 4, 5, 6);
}

BOX_TEST("", receive_batch_parks_the_thread, box_unbounded())
{
    void *received[4];
    size_t count = 99;

    CHECK_STATUS(LBX_TIMEOUT, lbx_consumer_receive_batch_until(
                                  box->out, received, 4, &count, 0));
    CHECK_INT(0, count);
    box_send_numbers(box, 1, 5);
    CHECK_OK(lbx_consumer_receive_batch_until(box->out, received, 4, &count,
                                              LBX_FOREVER));
    CHECK_INT(4, count);
    CHECK_INT(4, number_of(received[3]));
    CHECK_RECEIVES(box, 5);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, lbx_consumer_receive_batch_until(
                                 box->out, received, 4, &count, LBX_FOREVER));
}

// One wake-up per item: a batch wakes as many as it brings.
BOX_TEST("R-35", batch_wakes_one_receiver_per_message, box_unbounded())
{
    struct receiver receivers[3];
    void *messages[BATCH];
    size_t sent = 0;

    for (int i = 0; i < 3; i++)
        receiver_wait(&receivers[i], box);
    fill_batch(messages);
    CHECK_OK(lbx_producer_try_send_batch(box->in, messages, 2, &sent));
    CHECK_INT(1, receivers[0].bell.rings);
    CHECK_INT(1, receivers[1].bell.rings);
    CHECK_INT(0, receivers[2].bell.rings);
    receiver_check(&receivers[0], 1);
    receiver_check(&receivers[1], 2);
    lbx_operation_fini(&receivers[2].operation);
}

static void
send_batches(unsigned index, void *context)
{
    struct box *box = context;
    void *messages[BATCH];
    int next = (int)index * BATCHES * BATCH;
    size_t sent = 0;

    for (int round = 0; round < BATCHES; round++) {
        for (int i = 0; i < BATCH; i++)
            messages[i] = letter(next++);
        CHECK_OK(lbx_producer_try_send_batch(box->in, messages, BATCH, &sent));
        CHECK_INT(BATCH, sent);
    }
}

// MSG-3: others may come between, but each batch keeps its own order, and so do
// the batches of one thread.
BOX_TEST("MSG-3", batches_of_several_threads_keep_their_own_order,
         box_unbounded())
{
    int next[4];

    for (int i = 0; i < 4; i++)
        next[i] = i * BATCHES * BATCH;
    threads_run(4, send_batches, box);
    for (int i = 0; i < 4 * BATCHES * BATCH; i++) {
        int number = box_next(box);

        CHECK_INT(next[number / (BATCHES * BATCH)]++, number);
    }
    CHECK_NOTHING(box);
}
