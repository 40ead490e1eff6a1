/* SPDX-License-Identifier: Apache-2.0 */
/* cellex: the system lane and its reservation. */
#include "profiles/cellex/cellex.h"
#include <letterbox/compat/cellex.h>

static lbx_status
post_system(struct box *box, intptr_t number)
{
    return box_post(box, system_of(LBX_SYSTEM_CODE_WATCH, number), NULL);
}

/* The user's places are used up; the system's are not. */
BOX_TEST("C-38", reservation_accepts_control_when_user_full,
         cellex_bounded(2, LBX_OVERFLOW_REJECT))
{
    box_fill(box, 1, 2);
    CHECK_STATUS(LBX_FULL, box_send(box, 3));
    CHECK_OK(post_system(box, 4));
    CHECK_INT(3, box_depth(box));
    CHECK_TAKES(box, 4, 1, 2); // and it is delivered first
}

BOX_TEST("C-38 C-39", reservation_exhaustion_is_reported_and_measured,
         cellex_bounded(1, LBX_OVERFLOW_REJECT))
{
    static struct events events; // the box outlives this frame

    events_watch(&events, box);
    for (int i = 1; i <= 4; i++) {
        CHECK_OK(post_system(box, i));
        CHECK_INT(4 - i,
                  events_last(&events, LBX_METRIC_RESERVATION_USED).count);
    }
    CHECK_STATUS(LBX_FULL, post_system(box, 5));
    CHECK_INT(1, events_count(&events, LBX_METRIC_RESERVATION_EXHAUSTED));
    CHECK_INT(4, events_count(&events, LBX_METRIC_RESERVATION_USED));
}

/* A system message that finds its lane full does not sneak into the user's,
 * and under no policy is another evicted for it. */
TEST_CITING("C-37 C-38", system_lane_full_does_not_fall_through)
{
    static const lbx_overflow policies[] = {
        LBX_OVERFLOW_REJECT, LBX_OVERFLOW_DROP_NEWEST, LBX_OVERFLOW_DROP_OLDEST,
        LBX_OVERFLOW_GROW, LBX_OVERFLOW_BLOCK};

    for (size_t i = 0; i < 5; i++) {
        struct box box = cellex_bounded(8, policies[i]);

        for (int number = 1; number <= 4; number++)
            CHECK_OK(post_system(&box, number));
        CHECK_STATUS(LBX_FULL, post_system(&box, 5));
        CHECK_INT(4, box_depth(&box));
        CHECK_TAKES(&box, 1, 2, 3, 4);
        CHECK_NOTHING(&box);
        box_destroy(&box);
    }
}

/* Only system messages enter; control messages use the user's places. */
BOX_TEST("C-38 R-07", only_system_messages_use_the_reservation,
         cellex_bounded(1, LBX_OVERFLOW_REJECT))
{
    CHECK_OK(box_post(box, control(1, 9), NULL));
    CHECK_INT(0, box_stats(box).system_depth);
    CHECK_STATUS(LBX_FULL, box_post(box, control(2, 9), NULL));
    CHECK_OK(post_system(box, 3));
    CHECK_INT(1, box_stats(box).system_depth);
}

/* A place is free again as soon as its message was taken. */
BOX_TEST("C-38", reservation_is_given_back_by_a_take,
         BOX(LBX_KIND_UNBOUNDED, lbx_cellex_mailbox_options(),
             with.system_reservation = 1))
{
    for (int i = 1; i <= 3; i++) {
        CHECK_OK(post_system(box, i));
        CHECK_STATUS(LBX_FULL, post_system(box, 9));
        CHECK_TAKES(box, i);
    }
}

/* Drop-oldest evicts user messages only. */
BOX_TEST("C-34 C-38", drop_oldest_never_evicts_system_messages,
         cellex_bounded(1, LBX_OVERFLOW_DROP_OLDEST))
{
    CHECK_OK(post_system(box, 1));
    box_fill(box, 2, 5);
    CHECK_INT(1, box_stats(box).system_depth);
    CHECK_TAKES(box, 1, 5);
    CHECK_NOTHING(box);
}

/* The lane works in the plainest mailbox too, which keeps one word per user
 * message: 4 places are its default. */
BOX_TEST("C-14 C-38", plain_mailbox_has_the_default_reservation,
         box_bounded(1, LBX_OVERFLOW_REJECT))
{
    CHECK_OK(box_send(box, 1));
    for (int i = 2; i <= 5; i++)
        CHECK_OK(post_system(box, i));
    CHECK_STATUS(LBX_FULL, post_system(box, 6));
    CHECK_TAKES(box, 2, 3, 4, 5, 1);
}

/* System messages that are left when a mailbox is closed are still delivered,
 * first; cellex's close throws one of them away. */
BOX_TEST("C-36 C-38", close_delivers_the_system_lane_too,
         cellex_bounded(2, LBX_OVERFLOW_REJECT))
{
    CHECK_OK(box_send(box, 1));
    CHECK_OK(post_system(box, 2));
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_CLOSED, post_system(box, 3));
    CHECK_TAKES(box, 2, 1);
    CHECK_ENDED(box);
}
