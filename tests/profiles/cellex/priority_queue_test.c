/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cellex: the priority mailbox. Its control levels above one regular FIFO are
 * two of our kinds: control-aware (two lanes, a capacity each) and priority
 * (one order, by number or by a comparison of our own).
 */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

static struct box
two_lanes(int64_t control_capacity, int64_t capacity_messages,
          lbx_overflow overflow)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    options.capacity_messages = capacity_messages;
    options.control_capacity = control_capacity;
    options.overflow = overflow;
    return box_create(LBX_KIND_BOUNDED_CONTROL_AWARE, &options);
}

static struct box
by_priority(void)
{
    lbx_mailbox_options options = lbx_cellex_mailbox_options();

    return box_create(LBX_KIND_UNBOUNDED_PRIORITY, &options);
}

BOX_TEST("C-40 R-07", control_before_regular,
         two_lanes(LBX_LIMIT_SHARED, 10, LBX_OVERFLOW_REJECT))
{
    box_fill(box, 1, 2);
    CHECK_OK(box_post(box, control(3, 1), NULL));
    CHECK_OK(box_post(box, control(4, 1), NULL));
    CHECK_TAKES(box, 3, 4, 1, 2);
}

BOX_TEST("C-39 C-40", metrics_reach_all_lanes,
         two_lanes(2, 2, LBX_OVERFLOW_REJECT))
{
    static struct events events; // the box outlives this frame

    events_watch(&events, box);
    CHECK_OK(box_send(box, 1));
    CHECK_OK(box_post(box, control(2, 1), NULL));
    CHECK_OK(box_post(box, system_of(LBX_SYSTEM_CODE_STOP, 3), NULL));
    CHECK_INT(3, events_count(&events, LBX_METRIC_ENQUEUED));
    CHECK_TAKES(box, 3, 2, 1);
    CHECK_INT(3, events_count(&events, LBX_METRIC_DEQUEUED));
}

/* Two control levels of 2 and a regular lane of 3 hold 7 in all. */
BOX_TEST("C-37 C-40", length_and_capacity_are_sums,
         two_lanes(4, 3, LBX_OVERFLOW_REJECT))
{
    for (int i = 0; i < 4; i++)
        CHECK_OK(box_post(box, control(10 + i, 1), NULL));
    box_fill(box, 1, 3);
    CHECK_INT(7, box_depth(box));
    CHECK_STATUS(LBX_FULL, box_post(box, control(14, 1), NULL));
    CHECK_STATUS(LBX_FULL, box_send(box, 4));
    CHECK_INT(7, box_depth(box));
}

BOX_TEST("C-40 R-03 R-39", orders_99_20_10, by_priority())
{
    static const int32_t priorities[] = {10, 99, 20};

    for (size_t i = 0; i < 3; i++)
        CHECK_OK(box_post(box, control(priorities[i], priorities[i]), NULL));
    CHECK_TAKES(box, 99, 20, 10);
}

/* The source clamps to eight levels and so loses the order of everything
 * above 7. Here the whole number counts. */
BOX_TEST("C-40 R-39", order_is_by_the_full_value, by_priority())
{
    for (int priority = 5; priority <= 40; priority++)
        CHECK_OK(box_post(box, control(priority, priority), NULL));
    CHECK_OK(box_post(box, control(-3, -3), NULL));
    for (int priority = 40; priority >= 5; priority--)
        CHECK_TAKES(box, priority);
    CHECK_TAKES(box, -3);
}

/* A message without a priority of its own counts as 4 in this profile. */
BOX_TEST("C-12 R-06", default_priority_is_4, by_priority())
{
    lbx_envelope received;

    CHECK_INT(4, LBX_CELLEX_PRIORITY_DEFAULT);
    CHECK_OK(box_post(box, lbx_envelope_of(message_of(1), 3), NULL));
    CHECK_OK(box_send(box, 2));
    CHECK_OK(box_post(box, lbx_envelope_of(message_of(3), 5), NULL));
    CHECK_TAKES(box, 3);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &received));
    CHECK_INT(2, number_of(received.message));
    CHECK_INT(4, received.priority);
    CHECK_TAKES(box, 1);
}

BOX_TEST("C-40", capacity_split_refuses_the_third_regular,
         two_lanes(2, 2, LBX_OVERFLOW_REJECT))
{
    box_fill(box, 1, 2);
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK_OK(box_post(box, control(4, 1), NULL)); // its places are its own
    CHECK_OK(box_post(box, control(5, 1), NULL));
    CHECK_STATUS(LBX_FULL, box_post(box, control(6, 1), NULL));
    CHECK_TAKES(box, 4, 5, 1, 2);
}

/* cellex's own order, in full: controls by level, highest first, FIFO within
 * a level; then regular messages, which no priority ever reorders. */
static int
cellex_order(const lbx_envelope *a, const lbx_envelope *b, void *context)
{
    (void)context;
    if (a->channel != b->channel)
        return a->channel == LBX_CHANNEL_CONTROL ? -1 : 1;
    if (a->channel == LBX_CHANNEL_REGULAR)
        return 0;
    return (a->priority < b->priority) - (a->priority > b->priority);
}

BOX_TEST("C-40", regular_messages_are_never_reordered,
         BOX(LBX_KIND_UNBOUNDED_PRIORITY, lbx_cellex_mailbox_options(),
             with.compare = cellex_order))
{
    CHECK_OK(box_post(box, lbx_envelope_of(message_of(1), 0), NULL));
    CHECK_OK(box_post(box, lbx_envelope_of(message_of(2), 7), NULL));
    CHECK_OK(box_post(box, control(3, 1), NULL));
    CHECK_OK(box_post(box, lbx_envelope_of(message_of(4), 3), NULL));
    CHECK_OK(box_post(box, control(5, 6), NULL));
    CHECK_OK(box_post(box, control(6, 1), NULL));
    CHECK_TAKES(box, 5, 3, 6, 1, 2, 4);
}

/* The comparison turned round keeps the number as it was given. */
BOX_TEST("C-10 R-03", higher_first_keeps_the_number, by_priority())
{
    lbx_envelope received;

    CHECK_OK(box_post(box, lbx_envelope_of(message_of(1), INT32_MIN), NULL));
    CHECK_OK(box_post(box, lbx_envelope_of(message_of(2), INT32_MAX), NULL));
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &received));
    CHECK_INT(INT32_MAX, received.priority);
    CHECK_OK(lbx_consumer_try_receive_envelope(box->out, &received));
    CHECK_INT(INT32_MIN, received.priority);
}

/* A limited priority mailbox under drop-oldest loses what matters least, and
 * among those the oldest: never the urgent ones. */
TEST_CITING("C-34 C-40", drop_oldest_evicts_the_least_urgent)
{
    struct losses losses = {0};
    LOCAL_BOX(box) = BOX(
        LBX_KIND_BOUNDED_PRIORITY, lbx_cellex_mailbox_options(),
        with.capacity_messages = 3, with.overflow = LBX_OVERFLOW_DROP_OLDEST,
        with.loss_sink = losses_sink(&losses));

    CHECK_OK(box_post(&box, lbx_envelope_of(message_of(1), 9), NULL));
    CHECK_OK(box_post(&box, lbx_envelope_of(message_of(2), 1), NULL));
    CHECK_OK(box_post(&box, lbx_envelope_of(message_of(3), 1), NULL));
    CHECK_OK(box_post(&box, lbx_envelope_of(message_of(4), 5), NULL));
    CHECK_INT(1, losses.count);
    CHECK_INT(2, number_of(losses.envelopes[0].message));
    CHECK_TAKES(&box, 1, 4, 3);
}

/* Control messages with places of their own cannot be helped by losing user
 * messages: the full lane says so, and nothing is evicted in vain. */
BOX_TEST("C-34 C-40", full_control_lane_evicts_no_user_messages,
         two_lanes(1, 2, LBX_OVERFLOW_DROP_OLDEST))
{
    box_fill(box, 1, 2);
    CHECK_OK(box_post(box, control(3, 1), NULL));
    CHECK_STATUS(LBX_FULL, box_post(box, control(4, 1), NULL));
    CHECK_INT(0, box_stats(box).lost);
    CHECK_TAKES(box, 3, 1, 2);
}

/* C-40 in one kind: control messages by priority, the highest first, then the
 * regular ones in order of arrival, whatever their numbers; each lane has room
 * of its own. */
BOX_TEST("C-40 R-39", control_lane_is_sorted_and_regular_lane_is_not,
         BOX(LBX_KIND_BOUNDED_CONTROL_AWARE, lbx_cellex_mailbox_options(),
             with.control_by_priority = true, with.capacity_messages = 2,
             with.control_capacity = 3, with.overflow = LBX_OVERFLOW_REJECT))
{
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    for (int i = 0; i < 2; i++) {
        lbx_envelope regular_one = lbx_envelope_of(message_of(i + 1), 7 - i);

        CHECK_OK(box_post(box, regular_one, &result));
    }
    for (int i = 0; i < 3; i++) {
        static const int32_t priorities[] = {20, 99, 10};
        lbx_envelope control =
            lbx_envelope_control(message_of(10 + i), priorities[i]);

        CHECK_OK(box_post(box, control, &result));
    }
    CHECK_STATUS(
        LBX_FULL,
        box_post(box, lbx_envelope_control(message_of(9), 50), &result));
    CHECK_TAKES(box, 11, 10, 12, 1, 2);
}
