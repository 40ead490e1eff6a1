/* SPDX-License-Identifier: Apache-2.0 */
/* cellex: the ring back end, the queues over it, and the user queue. */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

BOX_TEST("C-22", ring_round_trip, cellex_bounded(4, LBX_OVERFLOW_DROP_OLDEST))
{
    for (int lap = 0; lap < 5; lap++) {
        box_fill(box, 1, 3);
        CHECK_TAKES(box, 1, 2, 3);
        CHECK_NOTHING(box);
    }
}

BOX_TEST("C-34", ring_drop_oldest_replaces_head,
         cellex_bounded(3, LBX_OVERFLOW_DROP_OLDEST))
{
    box_fill(box, 1, 5);
    CHECK_INT(3, box_depth(box));
    CHECK_INT(2, box_stats(box).dropped_oldest);
    CHECK_TAKES(box, 3, 4, 5);
}

BOX_TEST("C-34", ring_drop_newest_discards,
         cellex_bounded(3, LBX_OVERFLOW_DROP_NEWEST))
{
    box_fill(box, 1, 3);
    CHECK_STATUS(LBX_FULL, box_send(box, 4));
    CHECK_STATUS(LBX_FULL, box_send(box, 5));
    CHECK_INT(3, box_depth(box));
    CHECK_INT(2, box_stats(box).dropped_newest);
    CHECK_INT(3, box_stats(box).accepted);
    CHECK_TAKES(box, 1, 2, 3);
}

BOX_TEST("C-34", ring_grows_from_one_to_two,
         cellex_bounded(1, LBX_OVERFLOW_GROW))
{
    box_fill(box, 1, 2);
    CHECK_INT(2, lbx_mailbox_capacity(box->mailbox));
    CHECK_TAKES(box, 1, 2);
}

/* Growing in the middle of a lap keeps the order over the ring's end. */
BOX_TEST("C-34", ring_grows_in_mid_lap, cellex_bounded(4, LBX_OVERFLOW_GROW))
{
    box_fill(box, 1, 4);
    CHECK_TAKES(box, 1, 2, 3);
    box_fill(box, 5, 20);
    for (int number = 4; number <= 20; number++)
        CHECK_TAKES(box, number);
    CHECK_NOTHING(box);
}

BOX_TEST("C-36", ring_closed_refuses_drains_then_disconnects,
         cellex_bounded(4, LBX_OVERFLOW_DROP_OLDEST))
{
    box_fill(box, 1, 2);
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, box_send(box, 3));
    CHECK_TAKES(box, 1, 2);
    CHECK_ENDED(box);
}

/* A full and closed queue is closed: drop-oldest must not evict for a message
 * that it refuses. */
TEST_CITING("C-36 C-34", closed_comes_before_the_policy)
{
    static const lbx_overflow policies[] = {
        LBX_OVERFLOW_DROP_OLDEST, LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_GROW,
        LBX_OVERFLOW_BLOCK};

    for (size_t i = 0; i < 4; i++) {
        struct box box = cellex_bounded(1, policies[i]);

        CHECK_OK(box_send(&box, 1));
        CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
        CHECK_STATUS(LBX_CLOSED, box_send(&box, 2));
        CHECK_INT(0, box_stats(&box).lost);
        CHECK_TAKES(&box, 1);
        box_destroy(&box);
    }
}

BOX_TEST("C-22", queue_is_fifo, cellex_unbounded())
{
    for (int number = 1; number <= 1000; number++)
        CHECK_OK(box_send(box, number));
    for (int number = 1; number <= 1000; number++)
        CHECK_TAKES(box, number);
}

BOX_TEST("C-34", queue_block_reports_full,
         cellex_bounded(1, LBX_OVERFLOW_BLOCK))
{
    CHECK_OK(box_send(box, 1));
    CHECK_STATUS(LBX_FULL, box_send(box, 2));
    CHECK(lbx_mailbox_is_full(box->mailbox));
    CHECK_TAKES(box, 1);
    CHECK(!lbx_mailbox_is_full(box->mailbox));
}

/* cellex's priority queue can show its least element. There is no peek here:
 * the least is what the next take gives, however they went in. */
BOX_TEST("C-22 R-03", priority_queue_gives_the_least_first,
         box_create(LBX_KIND_UNBOUNDED_PRIORITY, NULL))
{
    static const int32_t order[] = {30, 10, 50, 20, 40};

    for (size_t i = 0; i < 5; i++)
        CHECK_OK(box_post(box, lbx_envelope_of(message_of(order[i]), order[i]),
                          NULL));
    CHECK_TAKES(box, 10, 20, 30, 40, 50);
}

static void
send_fifty(unsigned index, void *context)
{
    struct box *box = context;
    lbx_producer *mine = lbx_producer_ref(box->in);

    for (int i = 0; i < 50; i++)
        CHECK_OK(lbx_producer_try_send(mine, message_of((int)index * 50 + i)));
    lbx_producer_unref(mine);
}

BOX_TEST("C-17", several_producers_share_one_queue, cellex_unbounded())
{
    bool seen[200] = {false};
    intptr_t number;

    threads_run(4, send_fifty, box);
    CHECK_INT(200, box_depth(box));
    while (box_take(box, &number) == LBX_OK) {
        CHECK(!seen[number]);
        seen[number] = true;
    }
    for (int i = 0; i < 200; i++)
        CHECK(seen[i]);
}

/* The two ends are separate handles of one queue. */
TEST_CITING("C-05", split_handles_end_separately)
{
    struct box box = cellex_unbounded();

    CHECK_OK(box_send(&box, 1));
    lbx_producer_unref(box.in);
    box.in = NULL;
    CHECK_TAKES(&box, 1);
    CHECK_ENDED(&box);
    box_destroy(&box);

    box = cellex_unbounded();
    lbx_consumer_unref(box.out);
    box.out = NULL;
    CHECK_STATUS(LBX_CLOSED, box_send(&box, 1));
    box_destroy(&box);
}

TEST_CITING("C-13", queue_size_helpers)
{
    CHECK_INT(5, lbx_mailbox_options_limit(5, 1));
    CHECK_INT(1, lbx_mailbox_options_limit(LBX_DEFAULT, 1));
    CHECK_INT(-1, lbx_mailbox_options_limit(LBX_UNLIMITED, 1));
    CHECK_INT(-1, lbx_mailbox_options_limit(LBX_DEFAULT, LBX_UNLIMITED));
}

/* Length is what is inside, in all lanes. */
BOX_TEST("C-37", length_is_the_sum_of_the_lanes,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, lbx_cellex_mailbox_options()))
{
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;

    box_fill(box, 1, 3);
    CHECK_OK(box_post(box, control(4, 1), NULL));
    CHECK_OK(box_post(box, control(5, 1), NULL));
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_STOP, 6), NULL));
    stats = box_stats(box);
    CHECK_INT(6, stats.depth);
    CHECK_INT(6, box_depth(box));
    CHECK_INT(2, stats.control_depth);
    CHECK_INT(1, stats.system_depth);
    CHECK_INT(LBX_UNLIMITED, stats.capacity_messages);
}

/* ---- The user queue: poll outcomes ---- */

BOX_TEST("C-35", user_queue_poll_yields_message_then_empty,
         cellex_bounded(2, LBX_OVERFLOW_DROP_OLDEST))
{
    CHECK_OK(box_send(box, 1));
    CHECK_TAKES(box, 1);
    CHECK_NOTHING(box);
}

/* message, empty, pending, disconnected: one status each. */
BOX_TEST("C-35", poll_outcomes_have_one_status_each, cellex_unbounded())
{
    LOCAL_WAITER(receiver);

    CHECK_NOTHING(box);
    waiter_receive_pending(&receiver, box);
    CHECK_OK(box_send(box, 1));
    CHECK_OK(waiter_poll(&receiver));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_ENDED(box);
}

/* One policy more in Letterbox: what is refused, dropped and evicted are three
 * different counts. */
TEST_CITING("C-35 R-41", each_outcome_has_its_own_count)
{
    struct box reject = cellex_bounded(1, LBX_OVERFLOW_REJECT);
    LOCAL_BOX(newest) = cellex_bounded(1, LBX_OVERFLOW_DROP_NEWEST);
    LOCAL_BOX(oldest) = cellex_bounded(1, LBX_OVERFLOW_DROP_OLDEST);

    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(i == 0 ? LBX_OK : LBX_FULL, box_send(&reject, i));
        CHECK_STATUS(i == 0 ? LBX_OK : LBX_FULL, box_send(&newest, i));
        CHECK_OK(box_send(&oldest, i));
    }
    CHECK_INT(2, box_stats(&reject).rejected);
    CHECK_INT(0, box_stats(&reject).lost);
    CHECK_INT(2, box_stats(&newest).dropped_newest);
    CHECK_INT(0, box_stats(&newest).lost);
    CHECK_INT(1, box_stats(&newest).accepted);
    CHECK_INT(2, box_stats(&oldest).dropped_oldest);
    CHECK_INT(2, box_stats(&oldest).lost);
    CHECK_INT(3, box_stats(&oldest).accepted);
    box_destroy(&reject);
}
