/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad input gets a status, never a crash (reliability 83 to 93); NULL as a
 * message is good input; a context that may not wait is answered
 * (C-41).
 */
#include <string.h>

#include "mailbox/fixture.h"

// NULL is a message; the status tells it from an empty mailbox.
static void
delivers_null_like_any_message(const char *kind)
{
    LOCAL_BOX(box) = box_make(kind, NULL);
    void *batch[2] = {NULL, NULL};
    struct receiver receiver;
    size_t count = 0;

    box_send(&box, 0);
    CHECK_INT(1, lbx_mailbox_depth(box.mailbox));
    CHECK_RECEIVES(&box, 0);

    receiver_wait(&receiver, &box);
    CHECK_OK(lbx_producer_send(box.in, NULL));
    receiver_check(&receiver, 0);

    CHECK_OK(lbx_producer_try_send_batch(box.in, batch, 2, &count));
    batch[0] = batch[1] = letter(9);
    CHECK_OK(lbx_consumer_try_receive_batch(box.out, batch, 2, &count));
    CHECK_INT(2, count);
    CHECK_PTR(NULL, batch[0]);
    CHECK_PTR(NULL, batch[1]);
    CHECK_NOTHING(&box);
}

EVERY_KIND(KIND_CITING, "R-11", delivers_null_like_any_message)

// also when it is lost, handed over, or pushed to the front.
TEST_CITING("R-11", null_is_lost_and_handed_over_like_any_message)
{
    lbx_mailbox_options options = limited_options(1, LBX_OVERFLOW_DROP_NEWEST);
    struct losses losses = {.count = 0};
    struct sender sender;
    struct box box;

    options.loss_sink = losses_sink(&losses);
    box = box_make(LBX_KIND_BOUNDED, &options);
    box_send(&box, 1);
    box_send(&box, 0);
    CHECK_INT(1, losses.count);
    losses_check(&losses, 0, 0, LBX_LOSS_DROPPED_NEWEST);
    box_end(&box);

    options = limited_options(1, LBX_OVERFLOW_BLOCK);
    box = box_make(LBX_KIND_BOUNDED_DEQUE, &options);
    CHECK_OK(lbx_producer_try_send_front(box.in, NULL));
    sender_wait(&sender, &box, 0);
    CHECK_INT(0, box_next(&box));
    CHECK_OK(sender_poll(&sender));
    CHECK_RECEIVES(&box, 0);
    lbx_operation_fini(&sender.operation);
    box_end(&box);
}

// Any pointer-sized value is a message; the library never looks into it.
static void
delivers_any_word(const char *kind)
{
    void *words[] = {(void *)UINTPTR_MAX, (void *)1, (void *)(UINTPTR_MAX - 1),
                     (void *)((uintptr_t)1 << 63), (void *)0x7};
    LOCAL_BOX(box) = box_make(kind, NULL);
    void *message = NULL;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        CHECK_OK(lbx_producer_try_send(box.in, words[i]));
        CHECK_OK(lbx_consumer_try_receive(box.out, &message));
        CHECK_PTR(words[i], message);
    }
}

EVERY_KIND(KIND_CITING, "R-11", delivers_any_word)

// 83: a NULL handle is answered, whatever is called with it.
TEST(null_producer_is_invalid)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(1));
    lbx_operation operation;
    void *messages[1] = {letter(1)};
    size_t sent = 0;

    CHECK_STATUS(LBX_INVALID, lbx_producer_try_send(NULL, letter(1)));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send(NULL, letter(1)));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_until(NULL, letter(1), 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_send_init(&operation, NULL, letter(1), 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_try_send_envelope(NULL, &envelope, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_send_envelope_until(NULL, &envelope, 0, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_envelope_init(
                                  &operation, NULL, &envelope, 0, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_producer_try_send_front(NULL, letter(1)));
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_try_send_batch(NULL, messages, 1, &sent));
    CHECK_STATUS(LBX_INVALID, lbx_producer_send_batch_init(
                                  &operation, NULL, messages, 1, 0, &sent));
    CHECK_PTR(NULL, lbx_producer_mailbox(NULL));
}

TEST(null_consumer_is_invalid)
{
    lbx_envelope envelope;
    lbx_operation operation;
    lbx_signal *signal;
    void *message;
    size_t count = 0;

    CHECK_STATUS(LBX_INVALID, lbx_consumer_try_receive(NULL, &message));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive(NULL, &message));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_until(NULL, &message, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_receive_init(&operation, NULL, &message, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_try_receive_envelope(NULL, &envelope));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_receive_envelope_until(NULL, &envelope, 0));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_envelope_init(
                                  &operation, NULL, &envelope, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_try_receive_batch(NULL, &message, 1, &count));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_batch_init(
                                  &operation, NULL, &message, 1, &count, 0));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_signal(NULL, &signal));
    CHECK_PTR(NULL, lbx_consumer_mailbox(NULL));
}

static void
ignore_rest(void *context, const lbx_envelope *envelope)
{
    (void)context;
    (void)envelope;
}

TEST(null_mailbox_is_invalid_or_empty)
{
    lbx_mailbox_stats stats = LBX_MAILBOX_STATS_INIT;
    lbx_operation operation;

    CHECK_INT(0, lbx_mailbox_depth(NULL));
    CHECK(lbx_mailbox_is_empty(NULL));
    CHECK(!lbx_mailbox_is_full(NULL));
    CHECK_INT(0, lbx_mailbox_capabilities(NULL));
    (void)lbx_mailbox_is_closed(NULL);
    CHECK(!lbx_mailbox_suspend(NULL));
    CHECK(!lbx_mailbox_resume(NULL));
    (void)lbx_mailbox_capacity(NULL);
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_stats_read(NULL, &stats));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_close(NULL, LBX_CLOSE_DRAIN));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_close_into(NULL, ignore_rest, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_flush_init(&operation, NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_stop_init(&operation, NULL, 0));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_set_metrics_sink(NULL, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_set_scheduler_hook(NULL, NULL));
}

// Good handles, missing outputs and inputs.
BOX_TEST("", missing_outputs_and_inputs_are_invalid, box_unbounded())
{
    lbx_operation operation;
    void *message;
    size_t count;

    box_send(box, 1);
    CHECK_STATUS(LBX_INVALID, lbx_consumer_try_receive(box->out, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive(box->out, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_receive_until(box->out, NULL, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_receive_init(&operation, box->out, NULL, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_receive_init(NULL, box->out, &message, 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_try_receive_envelope(box->out, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_try_receive_batch(box->out, NULL, 1, &count));
    CHECK_STATUS(LBX_INVALID,
                 lbx_consumer_try_receive_batch(box->out, &message, 1, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_consumer_signal(box->out, NULL));
    CHECK_STATUS(LBX_INVALID, lbx_mailbox_stats_read(box->mailbox, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_send_init(NULL, box->in, letter(1), 0));
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_try_send_envelope(box->in, NULL, NULL));
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_try_send_batch(box->in, NULL, 1, &count));
    CHECK_RECEIVES(box, 1); // nothing was taken, nothing came in
}

// A send's result is written even when the send was nonsense.
BOX_TEST("R-13", result_is_always_written, box_unbounded())
{
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    memset(&result, 0xa5, sizeof(result));
    result.size_bytes = sizeof(result);
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_try_send_envelope(box->in, NULL, &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
}

// An envelope's channel is a byte; one that is no channel is refused.
BOX_TEST("", unknown_channel_is_invalid,
         BOX(LBX_KIND_UNBOUNDED_CONTROL_AWARE, envelope_options()))
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(1));

    envelope.channel = 200;
    CHECK_STATUS(LBX_INVALID,
                 lbx_producer_try_send_envelope(box->in, &envelope, NULL));
    CHECK_NOTHING(box);
}

static bool
never(void *context)
{
    (void)context;
    return false;
}

static bool
ask(void *context)
{
    return *(bool *)context;
}

// C-41: when waiting is not allowed, every send and receive says so, try_
// ones included, and does nothing.
static void
where_nothing_may_wait_says_would_block(const char *kind)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(letter(1));
    void *messages[1] = {letter(1)};
    void *message;
    size_t count = 9;
    LOCAL_BOX(box) = BOX(kind, plain_options(), with.may_wait = never);

    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_producer_try_send(box.in, letter(1)));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_producer_send(box.in, letter(1)));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_producer_send_until(box.in, letter(1), LBX_FOREVER));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_producer_try_send_envelope(box.in, &envelope, NULL));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_producer_send_envelope_until(
                                      box.in, &envelope, LBX_FOREVER, NULL));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_producer_try_send_batch(box.in, messages, 1, &count));
    CHECK_INT(0, count);
    CHECK_STATUS(LBX_WOULD_BLOCK, box_try_send_system(&box, 1));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_consumer_try_receive(box.out, &message));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_consumer_receive(box.out, &message));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_consumer_receive_until(box.out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_consumer_try_receive_envelope(box.out, &envelope));
    CHECK_STATUS(LBX_WOULD_BLOCK,
                 lbx_consumer_try_receive_batch(box.out, messages, 1, &count));
    CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
    CHECK_INT(0, box_stats(&box).accepted);
}

EVERY_KIND(KIND_CITING, "C-41", where_nothing_may_wait_says_would_block)

TEST_CITING("C-41", operations_say_would_block_too)
{
    bool allowed = false;
    lbx_operation send;
    lbx_operation receive;
    void *message = NULL;
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, plain_options(),
                         with.may_wait = ask, with.may_wait_context = &allowed);

    CHECK_OK(lbx_producer_send_init(&send, box.in, letter(1), LBX_FOREVER));
    CHECK_OK(
        lbx_consumer_receive_init(&receive, box.out, &message, LBX_FOREVER));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_operation_poll(&receive, NULL));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_operation_poll(&send, NULL));
    CHECK_INT(0, lbx_mailbox_depth(box.mailbox));
    CHECK_INT(0, box_stats(&box).waiting_receivers);
    lbx_operation_fini(&send);
    lbx_operation_fini(&receive);
    allowed = true;
    box_send(&box, 2);
    CHECK_RECEIVES(&box, 2);
}

// Asked each time: the answer may change from call to call.
TEST_CITING("C-41", permission_is_asked_at_every_call)
{
    bool allowed = true;
    void *message = NULL;
    LOCAL_BOX(box) = BOX(LBX_KIND_UNBOUNDED, plain_options(),
                         with.may_wait = ask, with.may_wait_context = &allowed);

    box_send(&box, 1);
    allowed = false;
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_consumer_try_receive(box.out, &message));
    CHECK_STATUS(LBX_WOULD_BLOCK, lbx_producer_try_send(box.in, letter(2)));
    allowed = true;
    CHECK_RECEIVES(&box, 1);
}
