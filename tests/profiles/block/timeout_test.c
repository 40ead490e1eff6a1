/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block: waits that end by themselves. The seed left timeouts open (B-16);
 * R-02 settles them: wait_ns of the mailbox, a deadline of the call, whichever
 * comes first.
 */
#include "profiles/block/block.h"

TEST_CITING("B-16 R-02", offer_ends_at_its_deadline_and_not_before)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = block_full_timed(&clock, -1, LBX_OVERFLOW_REJECT);
    LOCAL_WAITER(offer);

    waiter_send(&offer, &box, 2, lbx_deadline_after(&clock, LBX_SECOND));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    CHECK_INT(test_clock_now(&time) + LBX_SECOND,
              lbx_operation_deadline(&offer.operation));
    test_clock_advance(&time, LBX_SECOND - 1);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    test_clock_advance(&time, 1);
    CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&offer));
    CHECK_INT(0, box_stats(&box).waiting_senders);
}

/* The message of a send that timed out never arrives. */
TEST_CITING("B-16 R-12", timed_out_offer_leaves_nothing_behind)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = block_full_timed(&clock, LBX_MS, LBX_OVERFLOW_REJECT);
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, &box, 2);
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&offer));
    CHECK_TAKES(&box, 1);
    CHECK_NOTHING(&box);
    CHECK_INT(1, box_stats(&box).accepted);
    CHECK_INT(0, box_stats(&box).lost);
}

/* The mailbox's own wait and the call's deadline: the earlier one ends it. */
TEST_CITING("B-16 R-02", earlier_of_two_deadlines_ends_the_wait)
{
    static const int64_t waits[] = {2 * LBX_MS, 5 * LBX_MS};

    for (size_t i = 0; i < 2; i++) {
        struct test_clock time = TEST_CLOCK_INIT;
        lbx_clock clock = test_clock_interface(&time);
        struct box box =
            block_full_timed(&clock, waits[i], LBX_OVERFLOW_REJECT);
        struct waiter offer;

        waiter_send(&offer, &box, 2, lbx_deadline_after(&clock, waits[1 - i]));
        CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
        CHECK_INT(test_clock_now(&time) + 2 * LBX_MS,
                  lbx_operation_deadline(&offer.operation));
        test_clock_advance(&time, 2 * LBX_MS);
        CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&offer));
        waiter_fini(&offer);
        box_destroy(&box);
    }
}

/* Room that came in time counts, even when the poll comes late. */
TEST_CITING("B-16 R-34", handed_over_before_the_deadline_is_sent)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = block_full_timed(&clock, LBX_MS, LBX_OVERFLOW_REJECT);
    LOCAL_WAITER(offer);

    waiter_send_pending(&offer, &box, 2);
    CHECK_TAKES(&box, 1);
    test_clock_advance(&time, LBX_SECOND);
    CHECK_OK(waiter_poll(&offer));
    CHECK_TAKES(&box, 2);
}

/* One in the line times out; the others keep their places. */
TEST_CITING("B-16 B-15", timeout_in_the_line_lets_the_next_proceed)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = block_full_timed(&clock, -1, LBX_OVERFLOW_REJECT);
    struct waiter hurried, patient;

    waiter_send(&hurried, &box, 2, lbx_deadline_after(&clock, LBX_MS));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&hurried));
    waiter_send_pending(&patient, &box, 3);
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&hurried));
    CHECK_TAKES(&box, 1);
    CHECK_OK(waiter_poll(&patient));
    CHECK_TAKES(&box, 3);
    waiter_fini(&hurried);
    waiter_fini(&patient);
}

/* after_wait DROP_NEWEST, as in Akka: the sender sees OK, and the loss sink
 * owns the message. */
TEST_CITING("B-16 R-01", wait_that_ends_in_drop_newest_is_a_loss)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    struct losses losses = {0};
    struct waiter offer;
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, plain_options(), with.capacity_messages = 1,
            with.overflow = LBX_OVERFLOW_BLOCK, with.wait_ns = LBX_MS,
            with.after_wait = LBX_OVERFLOW_DROP_NEWEST,
            with.loss_sink = losses_sink(&losses), with.clock = &clock);

    CHECK_OK(box_send(&box, 1));
    waiter_post(&offer, &box, lbx_envelope_with_default_priority(message_of(2)),
                LBX_FOREVER);
    CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    CHECK_INT(0, losses.count);
    test_clock_advance(&time, LBX_MS);
    CHECK_OK(waiter_poll(&offer));
    CHECK_INT(LBX_OUTCOME_DROPPED_NEWEST, offer.result.outcome);
    CHECK_INT(1, losses.count);
    CHECK_INT(2, number_of(losses.envelopes[0].message));
    CHECK_INT(LBX_LOSS_DROPPED_NEWEST, losses.envelopes[0].lost);
    CHECK_TAKES(&box, 1);
    CHECK_NOTHING(&box);
    waiter_fini(&offer);
}

/* A deadline of the call's own always gives the message back. */
TEST_CITING("B-16 R-12", own_deadline_never_drops)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) =
        block_full_timed(&clock, LBX_SECOND, LBX_OVERFLOW_DROP_NEWEST);
    LOCAL_WAITER(offer);

    waiter_send(&offer, &box, 2, lbx_deadline_after(&clock, LBX_MS));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&offer));
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&offer));
    CHECK_INT(0, box_stats(&box).lost);
}

/* A deadline in the past is one try and no wait. */
BOX_TEST("B-16 R-02", past_deadline_is_one_try,
         box_bounded(1, LBX_OVERFLOW_BLOCK))
{
    CHECK_OK(lbx_producer_send_until(box->in, message_of(1), 1));
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_producer_send_until(box->in, message_of(2), 1));
    CHECK_TAKES(box, 1);
    CHECK_NOTHING(box);
}

/* wait_ns 0 is the same for every send. */
TEST_CITING("B-16 R-02", zero_wait_never_waits)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = block_full_timed(&clock, 0, LBX_OVERFLOW_REJECT);

    CHECK_STATUS(LBX_TIMEOUT, lbx_producer_send(box.in, message_of(2)));
    CHECK_TAKES(&box, 1);
    CHECK_OK(lbx_producer_send(box.in, message_of(2)));
}

/* A parked thread comes back by itself, and not before its time. */
BOX_TEST("B-16 R-02", parked_thread_comes_back_at_its_deadline, block_full(1))
{
    int64_t deadline = lbx_deadline_after(NULL, 2 * LBX_MS);

    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_producer_send_until(box->in, message_of(2), deadline));
    CHECK(lbx_clock_now(NULL) >= deadline);
    CHECK_INT(0, box_stats(box).waiting_senders);
}

TEST_CITING("B-16 B-03", receive_ends_at_its_deadline_too)
{
    struct test_clock time = TEST_CLOCK_INIT;
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) = block_full_timed(&clock, -1, LBX_OVERFLOW_REJECT);
    LOCAL_WAITER(take);

    CHECK_TAKES(&box, 1);
    waiter_receive(&take, &box, lbx_deadline_after(&clock, LBX_MS));
    CHECK_STATUS(LBX_PENDING, waiter_poll(&take));
    test_clock_advance(&time, LBX_MS);
    CHECK_STATUS(LBX_TIMEOUT, waiter_poll(&take));
    CHECK_OK(box_send(&box, 2)); // and takes nothing after that
    CHECK_TAKES(&box, 2);
}
