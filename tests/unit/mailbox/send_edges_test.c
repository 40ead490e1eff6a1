/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges of sends: batches, results, the front, and envelopes that are sent
 * again (tests/mutants).
 */
#include "mailbox/fixture.h"

#include <string.h>

// ---- Batches ----

// A batch is cancelled while one of its messages is in, and the batch does not
// know it yet: whole, it was sent.
TEST(batch_that_is_cancelled_counts_the_message_that_went_in)
{
    for (size_t count = 2; count <= 3; count++) {
        LOCAL_BOX(box) = box_limited(1, LBX_OVERFLOW_BLOCK);
        void *messages[] = {letter(1), letter(2), letter(3)};
        size_t sent = 99;
        lbx_operation send;

        CHECK_OK(lbx_producer_send_batch_init(&send, box.in, messages, count,
                                              LBX_FOREVER, &sent));
        CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
        CHECK_INT(1, box_next(&box));
        CHECK_STATUS(count == 2 ? LBX_OK : LBX_CANCELLED,
                     lbx_operation_cancel(&send));
        CHECK_INT(2, sent);
        lbx_operation_fini(&send);
        CHECK_RECEIVES(&box, 2);
    }
}

// Batches go through in chunks.
static void
large_batch_keeps_its_order(const char *kind)
{
    enum {
        MESSAGES = 150
    };
    LOCAL_BOX(box) = BOX(
        kind, limited_options(kind_is_limited(kind) ? MESSAGES : LBX_UNLIMITED,
                              LBX_OVERFLOW_REJECT));
    void *messages[MESSAGES];
    void *received[MESSAGES];
    size_t count;

    for (int i = 0; i < MESSAGES; i++)
        messages[i] = letter(i);
    CHECK_OK(lbx_producer_try_send_batch(box.in, messages, MESSAGES, &count));
    CHECK_INT(MESSAGES, count);
    for (size_t total = 0; total < MESSAGES; total += count)
        CHECK_OK(lbx_consumer_try_receive_batch(box.out, &received[total],
                                                MESSAGES - total, &count));
    CHECK_INT(0, memcmp(messages, received, sizeof(messages)));
}

EVERY_KIND(KIND_TEST, large_batch_keeps_its_order)

// A batch that is received again, and in vain, holds nothing.
TEST(restarted_batch_begins_with_nothing)
{
    LOCAL_BOX(box) = box_unbounded();
    void *messages[2];
    size_t count;
    lbx_operation receive;

    box_send_numbers(&box, 1, 2);
    CHECK_OK(lbx_consumer_receive_batch_init(&receive, box.out, messages, 2,
                                             &count, LBX_FOREVER));
    CHECK_OK(lbx_operation_poll(&receive, NULL));
    CHECK_INT(2, count);
    CHECK_OK(lbx_operation_restart(&receive, 1));
    CHECK_STATUS(LBX_TIMEOUT, lbx_operation_poll(&receive, NULL));
    CHECK_INT(0, count);
    lbx_operation_fini(&receive);
}

// ---- Results ----

static lbx_send_result
unwritten_result(void)
{
    lbx_send_result result;

    memset(&result, 0xa5, sizeof(result));
    result.size_bytes = sizeof(result);
    return result;
}

// Sends that cannot succeed; what each says of its message is written.
static void
check_not_sent(const struct box *box, lbx_status at_once, lbx_status later)
{
    const lbx_envelope envelope = lbx_envelope_of(letter(2), 0);
    lbx_send_result result = unwritten_result();

    CHECK_STATUS(at_once,
                 lbx_producer_try_send_envelope(box->in, &envelope, &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    result = unwritten_result();
    CHECK_STATUS(later, lbx_producer_send_envelope_until(box->in, &envelope, 1,
                                                         &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
}

static void
result_of_a_failed_send_is_not_sent(const char *kind)
{
    LOCAL_BOX(box) =
        BOX(kind, options_for(kind, 1), with.overflow = LBX_OVERFLOW_BLOCK);

    box_send(&box, 1);
    if (kind_is_limited(kind))
        check_not_sent(&box, LBX_FULL, LBX_TIMEOUT);
    CHECK_OK(lbx_mailbox_close(box.mailbox, LBX_CLOSE_DRAIN));
    check_not_sent(&box, LBX_CLOSED, LBX_CLOSED);
}

EVERY_KIND(KIND_TEST, result_of_a_failed_send_is_not_sent)

// ---- The front ----

// A message at the front has its time, and makes the mailbox grow, as any.
TEST(message_at_the_front_is_dated_and_counted_as_any)
{
    struct test_clock time = {.now_ns = 1000};
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED_DEQUE, limited_options(1, LBX_OVERFLOW_GROW),
            with.clock = &clock, with.timestamps = true);

    CHECK_OK(lbx_producer_try_send_front(box.in, letter(2)));
    CHECK_INT(1, lbx_mailbox_capacity(box.mailbox));
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(1)));
    CHECK_INT(2, lbx_mailbox_capacity(box.mailbox));
    test_clock_set(&time, 1500);
    CHECK_RECEIVES(&box, 1, 2);
    CHECK_INT(500, box_stats(&box).max_waited_ns);
    CHECK_INT(1000, box_stats(&box).waited_total_ns);
}

static void
message_at_the_front_wakes_a_receive(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 1));
    struct receiver receiver;

    receiver_wait(&receiver, &box);
    CHECK_OK(lbx_producer_try_send_front(box.in, letter(1)));
    CHECK_INT(1, receiver.bell.rings);
    receiver_check(&receiver, 1);
}

KIND_TEST(bounded_deque, LBX_KIND_BOUNDED_DEQUE,
          message_at_the_front_wakes_a_receive)
KIND_TEST(unbounded_deque, LBX_KIND_UNBOUNDED_DEQUE,
          message_at_the_front_wakes_a_receive)

// ---- Envelopes ----

// What a dead letter says of its loss is not true of the next mailbox.
static void
envelope_that_was_lost_can_be_sent_again(const char *kind)
{
    int owner, stranger;
    lbx_envelope envelope = lbx_envelope_of(letter(1), 0);
    LOCAL_BOX(box) = BOX(kind, options_for(kind, 4), with.owner = &owner);

    envelope.lost = LBX_LOSS_EXPIRED;
    envelope.recipient = &stranger;
    box_send_envelope(&box, envelope);
    CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_INT(LBX_LOSS_NONE, envelope.lost);
    CHECK_PTR(&owner, envelope.recipient);
}

EVERY_KIND(KIND_TEST, envelope_that_was_lost_can_be_sent_again)
