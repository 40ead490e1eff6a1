/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What travels beside a message: kept by sends to the front and by batches, as
 * by a send of one.
 */
#include "mailbox/fixture.h"

enum {
    COUNT = 3,
    MANY = 200,
    MILLISECOND = 1000000,
};

// Message 1, 2, ... of `count`, the later the more urgent, each with a sender.
static void
fill_envelopes(lbx_envelope *envelopes, int count)
{
    for (int i = 0; i < count; i++) {
        envelopes[i] = lbx_envelope_of(letter(i + 1), 100 - i);
        envelopes[i].sender = letter(1000 + i + 1);
    }
}

static void
check_envelope(const lbx_envelope *envelope, int number)
{
    CHECK_INT(number, number_of(envelope->message));
    CHECK_INT(101 - number, envelope->priority);
    CHECK_PTR(letter(1000 + number), envelope->sender);
}

static bool
kind_sorts(const char *kind)
{
    return lbx_kind_registry_capabilities(NULL, kind) &
           LBX_CAPABILITY_PRIORITIZE;
}

static void
front_insertion_keeps_the_envelope(const char *kind)
{
    lbx_mailbox_options options = options_for(kind, 8);
    LOCAL_BOX(box) = box_make(kind, &options);
    lbx_envelope sent[COUNT];
    lbx_envelope got;

    fill_envelopes(sent, COUNT);
    box_send(&box, 7);
    if (lbx_mailbox_capabilities(box.mailbox) & LBX_CAPABILITY_SEND_FRONT) {
        CHECK_OK(lbx_producer_try_send_front_envelope(box.in, &sent[0]));
        CHECK_OK(lbx_producer_try_send_front_envelope(box.in, &sent[1]));
        CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &got));
        check_envelope(&got, 2);
        CHECK_OK(lbx_consumer_try_receive_envelope(box.out, &got));
        check_envelope(&got, 1);
    } else {
        CHECK_STATUS(LBX_UNSUPPORTED,
                     lbx_producer_try_send_front_envelope(box.in, &sent[0]));
    }
    CHECK_RECEIVES(&box, 7);
}

EVERY_KIND(KIND_TEST, front_insertion_keeps_the_envelope)

static void
batch_keeps_each_envelope(const char *kind)
{
    lbx_mailbox_options options = options_for(kind, 8);
    LOCAL_BOX(box) = box_make(kind, &options);
    lbx_envelope sent[COUNT];
    lbx_envelope got[COUNT + 1];
    size_t count = 99;

    fill_envelopes(sent, COUNT);
    CHECK_OK(lbx_producer_try_send_envelope_batch(box.in, sent, COUNT, &count));
    CHECK_INT(COUNT, count);
    CHECK_OK(lbx_consumer_try_receive_envelope_batch(box.out, got, COUNT + 1,
                                                     &count));
    CHECK_INT(COUNT, count);
    for (int i = 0; i < COUNT; i++)
        check_envelope(&got[i], kind_sorts(kind) ? COUNT - i : i + 1);
    CHECK_STATUS(LBX_EMPTY, lbx_consumer_try_receive_envelope_batch(
                                box.out, got, COUNT, &count));
    CHECK_INT(0, count);
}

EVERY_KIND(KIND_TEST, batch_keeps_each_envelope)

// The operations: the same, and what had to wait keeps its envelope too.
static void
batch_that_waits_keeps_each_envelope(const char *kind)
{
    lbx_mailbox_options options = options_for(kind, 2);
    lbx_envelope sent[COUNT];
    lbx_envelope got[COUNT];
    size_t count = 99;
    size_t received = 99;
    LOCAL_BOX(box);
    LOCAL_OPERATION(receive);
    LOCAL_OPERATION(send);

    options.overflow = LBX_OVERFLOW_BLOCK;
    box = box_make(kind, &options);
    fill_envelopes(sent, COUNT);
    CHECK_OK(lbx_consumer_receive_envelope_batch_init(&receive, box.out, got, 1,
                                                      &received, LBX_FOREVER));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&receive, NULL));
    CHECK_OK(lbx_producer_send_envelope_batch_init(&send, box.in, sent, COUNT,
                                                   LBX_FOREVER, &count));
    CHECK_STATUS(LBX_PENDING, lbx_operation_poll(&send, NULL));
    CHECK_INT(2, count);
    CHECK_OK(lbx_operation_poll(&receive, NULL));
    CHECK_INT(1, received);
    check_envelope(&got[0], kind_sorts(kind) ? 2 : 1);
    CHECK_OK(lbx_operation_poll(&send, NULL));
    CHECK_INT(3, count);
    CHECK_OK(lbx_consumer_receive_envelope_batch_until(box.out, got, COUNT,
                                                       &received, LBX_FOREVER));
    CHECK_INT(2, received);
    check_envelope(&got[0], kind_sorts(kind) ? 3 : 2);
    check_envelope(&got[1], kind_sorts(kind) ? 1 : 3);
}

LIMITED_KINDS(KIND_TEST, batch_that_waits_keeps_each_envelope)

// A lane of its own, without a front; and nothing is cut down silently.
TEST(envelopes_that_cannot_be_kept_are_refused)
{
    LOCAL_BOX(deque) = box_make(LBX_KIND_UNBOUNDED_DEQUE, NULL);
    LOCAL_BOX(plain) = box_make(LBX_KIND_UNBOUNDED, NULL);
    lbx_envelope system = lbx_envelope_from_system(
        lbx_system_message_of(LBX_SYSTEM_CODE_STOP), letter(9));
    lbx_envelope sent[COUNT];
    size_t count = 99;

    fill_envelopes(sent, COUNT);
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_producer_try_send_front_envelope(deque.in, &system));
    CHECK_STATUS(LBX_UNSUPPORTED, lbx_producer_try_send_envelope_batch(
                                      plain.in, sent, COUNT, &count));
    CHECK_INT(0, count);
    CHECK_STATUS(LBX_UNSUPPORTED,
                 lbx_producer_send_envelope_batch_until(plain.in, sent, COUNT,
                                                        LBX_FOREVER, &count));
    CHECK_INT(0, count);
}

TEST(batch_calls_refuse_what_is_missing)
{
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED, NULL);
    lbx_envelope envelopes[COUNT];
    void *messages[COUNT] = {NULL};
    lbx_operation op;
    size_t count = 99;

    fill_envelopes(envelopes, COUNT);
    CHECK_OK(
        lbx_producer_send_batch_until(box.in, NULL, 0, LBX_FOREVER, &count));
    CHECK_INT(0, count);
    CHECK_OK(lbx_producer_send_envelope_batch_until(box.in, NULL, 0,
                                                    LBX_FOREVER, &count));
    CHECK_OK(lbx_producer_try_send_envelope_batch(box.in, NULL, 0, &count));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_batch_until(
                                  NULL, messages, 1, LBX_FOREVER, &count));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_batch_until(box.in, messages, 1,
                                                            LBX_FOREVER, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_batch_until(
                                  box.in, NULL, 1, LBX_FOREVER, &count));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_envelope_batch_until(
                                  box.in, NULL, 1, LBX_FOREVER, &count));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_envelope_batch_init(
                                  &op, box.in, envelopes, 0, 0, &count));
    CHECK_STATUS(LBX_INVALID, lbx_producer_try_send_envelope_batch(
                                  NULL, envelopes, 1, &count));
    CHECK_STATUS(LBX_INVALID, lbx_producer_try_send_front_envelope(NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_try_receive_envelope_batch(
                                  box.out, envelopes, 0, &count));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_envelope_batch_init(
                                  &op, box.out, NULL, 1, &count, 0));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_envelope_batch_until(
                                  box.out, envelopes, 1, NULL, 0));
}

// What goes in at once does; the wait ends at the deadline.
TEST(batch_until_sends_what_it_can_before_its_deadline)
{
    struct test_clock time = {.now_ns = 100};
    lbx_clock clock = test_clock_interface(&time);
    LOCAL_BOX(box) =
        BOX(LBX_KIND_BOUNDED, limited_options(2, LBX_OVERFLOW_BLOCK),
            with.clock = &clock);
    void *messages[] = {letter(1), letter(2), letter(3)};
    size_t sent = 99;

    CHECK_STATUS(LBX_TIMEOUT, lbx_producer_send_batch_until(box.in, messages, 3,
                                                            100, &sent));
    CHECK_INT(2, sent);
    CHECK_RECEIVES(&box, 1, 2);
    CHECK_OK(lbx_producer_send_batch_until(box.in, messages, 2, 100, &sent));
    CHECK_INT(2, sent);
    CHECK_RECEIVES(&box, 1, 2);
}

static void
send_many(void *context)
{
    const struct box *box = context;
    void *messages[MANY];
    size_t sent = 0;

    for (int i = 0; i < MANY; i++)
        messages[i] = letter(i + 1);
    CHECK_OK(lbx_producer_send_batch_until(box->in, messages, MANY, LBX_FOREVER,
                                           &sent));
    CHECK_INT(MANY, sent);
}

// One call for more messages than the mailbox holds: it waits as often as
// needed, and the order stays.
static void
blocking_batch_waits_as_often_as_needed(const char *kind)
{
    LOCAL_BOX(box) = BOX(kind, limited_options(3, LBX_OVERFLOW_BLOCK));
    struct thread sender;
    void *message = NULL;

    thread_start(&sender, send_many, &box);
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(lbx_consumer_receive(box.out, &message));
        CHECK_INT(i + 1, number_of(message));
    }
    thread_join(&sender);
}

LIMITED_KINDS(KIND_TEST, blocking_batch_waits_as_often_as_needed)

// ---- Durations and moments ----

TEST(receive_for_waits_for_a_duration)
{
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED, NULL);
    int64_t began = lbx_clock_now(NULL);
    void *message = NULL;

    CHECK_STATUS(LBX_TIMEOUT, lbx_consumer_receive_for(box.out, &message, 0));
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_consumer_receive_for(box.out, &message, MILLISECOND));
    CHECK(lbx_clock_now(NULL) - began >= MILLISECOND);
    box_send(&box, 1);
    CHECK_OK(lbx_consumer_receive_for(box.out, &message, 0));
    CHECK_INT(1, number_of(message));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_for(NULL, &message, 0));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_for(box.out, NULL, 0));
}

TEST(send_for_waits_for_a_duration)
{
    LOCAL_BOX(box) = box_limited(1, LBX_OVERFLOW_BLOCK);
    int64_t began = lbx_clock_now(NULL);

    CHECK_OK(lbx_producer_send_for(box.in, letter(1), 0));
    CHECK_STATUS(LBX_TIMEOUT,
                 lbx_producer_send_for(box.in, letter(2), MILLISECOND));
    CHECK(lbx_clock_now(NULL) - began >= MILLISECOND);
    CHECK_STATUS(LBX_TIMEOUT, lbx_producer_send_for(box.in, letter(2), 0));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_for(NULL, letter(2), 0));
}

static void
receive_without_limit(void *context)
{
    const struct box *box = context;
    void *message = NULL;

    CHECK_OK(lbx_consumer_receive_for(box->out, &message, -1));
    CHECK_INT(1, number_of(message));
}

// -1 is "no limit" everywhere: it does not time out at once.
TEST(negative_waits_and_deadlines_are_for_ever)
{
    LOCAL_BOX(box) = box_make(LBX_KIND_UNBOUNDED, NULL);
    struct thread receiver;
    struct receiver second;
    void *message = NULL;

    thread_start(&receiver, receive_without_limit, &box);
    EVENTUALLY(box_stats(&box).waiting_receivers == 1);
    box_send(&box, 1);
    thread_join(&receiver);

    receiver_wait_until(&second, &box, -1);
    CHECK_INT(LBX_FOREVER, lbx_operation_deadline(&second.operation));
    box_send(&box, 2);
    CHECK_OK(receiver_poll(&second));
    CHECK_OK(lbx_operation_restart(&second.operation, -5 * LBX_SECOND));
    CHECK_STATUS(LBX_PENDING, receiver_poll(&second));
    box_send(&box, 3);
    receiver_check(&second, 3);
    box_send(&box, 4);
    CHECK_OK(lbx_consumer_receive_until(box.out, &message, -1));
}

// ---- Capacity ----

TEST_CITING("C-37", total_capacity_is_the_sum_of_the_lanes)
{
    static const struct {
        const char *kind;
        int64_t capacity, system, control, total;
    } rows[] = {
        {LBX_KIND_BOUNDED, 10, 4, LBX_DEFAULT, 14},
        {LBX_KIND_BOUNDED, 10, LBX_LIMIT_DISABLED, LBX_DEFAULT, 10},
        {LBX_KIND_BOUNDED, 10, LBX_UNLIMITED, LBX_DEFAULT, LBX_UNLIMITED},
        {LBX_KIND_BOUNDED, 10, 4, 6, 14}, // there is no control lane
        {LBX_KIND_UNBOUNDED, LBX_DEFAULT, 4, LBX_DEFAULT, LBX_UNLIMITED},
        {LBX_KIND_BOUNDED_CONTROL_AWARE, 10, 4, LBX_LIMIT_SHARED, 14},
        {LBX_KIND_BOUNDED_CONTROL_AWARE, 10, 4, 6, 20},
        {LBX_KIND_BOUNDED_CONTROL_AWARE, 10, 4, LBX_UNLIMITED, LBX_UNLIMITED},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct box box = BOX(rows[i].kind, plain_options(),
                             with.capacity_messages = rows[i].capacity,
                             with.system_reservation = rows[i].system,
                             with.control_capacity = rows[i].control);

        if (rows[i].total != lbx_mailbox_total_capacity(box.mailbox))
            FAIL("row %zu: %lld", i,
                 (long long)lbx_mailbox_total_capacity(box.mailbox));
        box_end(&box);
    }
    CHECK_INT(0, lbx_mailbox_total_capacity(NULL));
}

TEST(total_capacity_grows_with_its_lanes)
{
    LOCAL_BOX(box) = BOX(
        LBX_KIND_BOUNDED_CONTROL_AWARE, limited_options(1, LBX_OVERFLOW_GROW),
        with.control_capacity = 1, with.system_reservation = 4);

    CHECK_INT(6, lbx_mailbox_total_capacity(box.mailbox));
    box_send_numbers(&box, 1, 2);
    CHECK_INT(7, lbx_mailbox_total_capacity(box.mailbox));
    box_send_control(&box, 3);
    box_send_control(&box, 4);
    CHECK_INT(8, lbx_mailbox_total_capacity(box.mailbox));
    CHECK_RECEIVES(&box, 3, 4, 1, 2);
}
