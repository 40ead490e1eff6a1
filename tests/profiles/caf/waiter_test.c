/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of waiters, made from issues of other systems: what their waiters lost
 * when one was cancelled, closed or destroyed.
 */
#include "fixture.h"
#include "support/torture.h"

static struct box
full_box(int64_t capacity)
{
    struct box box = box_limited(capacity, LBX_OVERFLOW_BLOCK);

    box_send_numbers(&box, 1, (int)capacity);
    return box;
}

// Two receivers wait, and message 1 is promised to the head.
static struct box
box_with_two(struct receiver *head, struct receiver *next)
{
    struct box box = box_make(LBX_KIND_UNBOUNDED, NULL);

    receiver_wait(head, &box);
    receiver_wait(next, &box);
    box_send(&box, 1);
    return box;
}

// embassy#6964: cancelling the head waiter with a message available must wake
// the next.
TEST_CITING("MSG-10 WAIT-3", cancelled_head_receiver_lets_the_next_proceed)
{
    struct receiver head;
    struct receiver next;
    LOCAL_BOX(box) = box_with_two(&head, &next);

    CHECK_INT(0, next.bell.rings);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&head.operation));
    CHECK_INT(1, next.bell.rings);
    receiver_check(&next, 1);
    lbx_operation_fini(&head.operation);
}

// The same by plain fini, as an abandoned future would be dropped (WAIT-7).
TEST_CITING("MSG-10 WAIT-7", dropped_head_receiver_lets_the_next_proceed)
{
    struct receiver head;
    struct receiver next;
    LOCAL_BOX(box) = box_with_two(&head, &next);

    lbx_operation_fini(&head.operation);
    CHECK_INT(1, next.bell.rings);
    receiver_check(&next, 1);
}

// And by its deadline.
TEST_CITING("MSG-10 WAIT-9", timed_out_head_receiver_lets_the_next_proceed)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    struct receiver head;
    struct receiver next;
    LOCAL_BOX(box) =
        BOX(LBX_KIND_UNBOUNDED, plain_options(), with.clock = &clock);

    receiver_wait_until(&head, &box, test_clock_now(&time) + LBX_MS);
    receiver_wait(&next, &box);
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, receiver_poll(&head));
    box_send(&box, 1);
    CHECK_INT(1, next.bell.rings);
    receiver_check(&next, 1);
    lbx_operation_fini(&head.operation);
}

// A whole line of receivers gives up, one after the other: the promise walks
// down the line and ends with the one that comes after.
BOX_TEST("MSG-10", promise_walks_down_a_line_of_cancelled_receivers,
         box_make(LBX_KIND_UNBOUNDED, NULL))
{
    struct receiver line[5];

    for (int i = 0; i < 5; i++)
        receiver_wait(&line[i], box);
    box_send(box, 1);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(1, line[i].bell.rings);
        CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&line[i].operation));
        lbx_operation_fini(&line[i].operation);
    }
    CHECK_RECEIVES(box, 1);
}

// The cancelled one had two messages' worth behind it: nothing moves up twice.
BOX_TEST("MSG-10 R-35", cancelled_promise_wakes_one_and_only_one,
         box_make(LBX_KIND_UNBOUNDED, NULL))
{
    struct receiver line[3];

    for (int i = 0; i < 3; i++)
        receiver_wait(&line[i], box);
    box_send(box, 1);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&line[0].operation));
    CHECK_INT(1, line[1].bell.rings);
    CHECK_INT(0, line[2].bell.rings);
    CHECK_STATUS(LBX_PENDING, receiver_poll(&line[2]));
    receiver_check(&line[1], 1);
    lbx_operation_fini(&line[0].operation);
    lbx_operation_fini(&line[2].operation);
}

// async-channel#87, tokio#5947: a cancelled send loses the message unless it
// says which side it is on. With room given away, the room is used.
BOX_TEST("WAIT-4", cancel_after_hand_over_says_sent_and_the_message_is_there,
         full_box(1))
{
    LOCAL_SENDER(first);
    LOCAL_SENDER(second);

    sender_wait(&first, box, 2);
    sender_wait(&second, box, 3);
    CHECK_INT(1, box_next(box));
    CHECK_INT(1, first.bell.rings);
    CHECK_OK(lbx_operation_cancel(&first.operation)); // sent after all
    CHECK_STATUS(LBX_PENDING, sender_poll(&second));
    CHECK_INT(2, box_next(box));
    CHECK_INT(1, second.bell.rings);
    CHECK_OK(sender_poll(&second));
    CHECK_RECEIVES(box, 3);
}

// A cancelled head sender gives its turn, not its place, to the next.
BOX_TEST("MSG-10 WAIT-4", cancelled_head_sender_lets_the_next_proceed,
         full_box(1))
{
    LOCAL_SENDER(head);
    LOCAL_SENDER(next);

    sender_wait(&head, box, 2);
    sender_wait(&next, box, 3);
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&head.operation));
    CHECK_INT(0, next.bell.rings); // there is no room yet
    CHECK_INT(1, box_next(box));
    CHECK_INT(1, next.bell.rings);
    CHECK_OK(sender_poll(&next));
    CHECK_RECEIVES(box, 3);
}

// The last waiter leaves: try_send finds the mailbox free again.
BOX_TEST("C-32", last_cancelled_sender_leaves_the_mailbox_free, full_box(1))
{
    struct sender sender;

    sender_wait(&sender, box, 2);
    lbx_operation_fini(&sender.operation);
    CHECK_INT(1, box_next(box));
    box_send(box, 3);
    CHECK_RECEIVES(box, 3);
    CHECK_INT(0, sender.bell.rings);
}

// The last receiver leaves: try_receive takes again what was promised.
TEST_CITING("C-32", last_cancelled_receiver_leaves_the_message_to_anyone)
{
    struct receiver receiver;
    LOCAL_BOX(box) = box_with_promise(&receiver);

    CHECK_NOTHING(&box);
    lbx_operation_fini(&receiver.operation);
    CHECK_RECEIVES(&box, 1);
}

// tokio#8260: returning reserved room must wake the receiver. Close with a
// promise outstanding: the receiver wakes, gets it, then CLOSED.
TEST_CITING("CLOSE-4 CLOSE-2",
            close_with_a_promise_outstanding_wakes_the_receiver)
{
    struct receiver promised;
    struct receiver behind;
    LOCAL_BOX(box) = box_with_two(&promised, &behind);

    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_OK(receiver_poll(&promised));
    CHECK_INT(1, number_of(promised.message));
    CHECK_INT(1, behind.bell.rings); // at the latest when nothing is left
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&behind));
    lbx_operation_fini(&promised.operation);
    lbx_operation_fini(&behind.operation);
}

// The promise is given back after the close: it goes to the one behind.
TEST_CITING("CLOSE-2 MSG-10", promise_given_back_after_close_goes_to_the_next)
{
    struct receiver promised;
    struct receiver behind;
    LOCAL_BOX(box) = box_with_two(&promised, &behind);

    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&promised.operation));
    CHECK_INT(1, behind.bell.rings);
    receiver_check(&behind, 1);
    CHECK_ENDED(&box);
    lbx_operation_fini(&promised.operation);
}

// Or, without one behind, to the next that looks.
TEST_CITING("CLOSE-2 MSG-10", promise_given_back_after_close_is_still_received)
{
    struct receiver promised;
    LOCAL_BOX(box) = box_with_promise(&promised);

    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CANCELLED, lbx_operation_cancel(&promised.operation));
    lbx_operation_fini(&promised.operation);
    CHECK_RECEIVES(&box, 1);
    CHECK_ENDED(&box);
}

// A waiter of a destroyed mailbox never consumes from a namesake, even one
// that sits at the very same address.
TEST_CITING("MSG-2", waiter_of_a_destroyed_mailbox_ignores_its_namesake)
{
    lbx_mailbox_options options = plain_options();
    struct receiver old;
    struct box first;
    LOCAL_BOX(second);

    options.name = "post";
    first = box_make(LBX_KIND_UNBOUNDED, &options);
    receiver_wait(&old, &first);
    box_end(&first);
    second = box_make(LBX_KIND_UNBOUNDED, &options);
    box_send(&second, 1);
    CHECK_STATUS(LBX_CLOSED, receiver_poll(&old));
    CHECK_PTR(letter(-1), old.message);
    lbx_operation_fini(&old.operation);
    CHECK_RECEIVES(&second, 1);
}

// The same for a send: its message must not turn up elsewhere.
TEST_CITING("MSG-2 WAIT-4",
            send_to_a_destroyed_mailbox_never_reaches_its_namesake)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_BLOCK);
    struct sender old;
    struct box first;
    LOCAL_BOX(second);

    options.name = "post";
    first = box_make(LBX_KIND_BOUNDED, &options);
    box_send(&first, 1);
    sender_wait(&old, &first, 2);
    box_end(&first);
    second = box_make(LBX_KIND_BOUNDED, &options);
    CHECK_STATUS(LBX_CLOSED, sender_poll(&old));
    lbx_operation_fini(&old.operation);
    CHECK_NOTHING(&second);
}

// asyncband#10: waiters must be removable, in any order, and the line is
// whole afterwards.
TEST_CITING("C-32", waiters_can_be_removed_in_any_order)
{
    enum {
        LINE = 8
    };

    for (int step = 1; step < LINE; step += 2) { // odd: visits every place
        struct box box = full_box(1);
        struct sender line[LINE];

        for (int i = 0; i < LINE; i++)
            sender_wait(&line[i], &box, i + 2);
        for (int i = 0; i < LINE - 1; i++) {
            struct sender *leaving = &line[(i * step) % LINE];

            CHECK_STATUS(LBX_CANCELLED,
                         lbx_operation_cancel(&leaving->operation));
            lbx_operation_fini(&leaving->operation);
            CHECK_INT(LINE - 1 - i, box_stats(&box).waiting_senders);
        }
        int last = ((LINE - 1) * step) % LINE;

        CHECK_RECEIVES(&box, 1, last + 2);
        CHECK_OK(sender_poll(&line[last]));
        lbx_operation_fini(&line[last].operation);
        box_end(&box);
    }
}

// Nothing is allocated for a wait, so that giving up cannot leak.
TEST_CITING("MSG-6", waiting_allocates_nothing)
{
    struct torture memory = TORTURE_INIT;
    lbx_allocator allocator = torture_allocator(&memory);
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_BLOCK);
    struct receiver receiver;
    struct sender sender;
    LOCAL_BOX(box);
    long before;

    options.allocator = &allocator;
    box = box_make(LBX_KIND_BOUNDED, &options);
    before = memory.allocations;
    for (int i = 0; i < 100; i++) {
        receiver_wait(&receiver, &box);
        box_send(&box, 1);
        sender_wait(&sender, &box, 2);
        receiver_check(&receiver, 1);
        lbx_operation_fini(&sender.operation);
        CHECK_RECEIVES(&box, 2);
    }
    CHECK_INT(before, memory.allocations);
}
