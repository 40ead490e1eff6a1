/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cellex: the public surface. This file includes the root header alone; that
 * it compiles is the first test (C-01).
 */
#include <letterbox/mailbox.h>

#ifdef LETTERBOX_MAILBOX_MESSAGES_H
#error "messages.h is a header of its own, and not part of the root"
#endif

/* Consumer, factory, options, producer and signal, with nothing else
 * included yet. */
static lbx_status
use_the_root_only(void)
{
    lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
    lbx_producer *producer = NULL;
    lbx_consumer *consumer = NULL;
    lbx_signal *signal = NULL;
    lbx_status status =
        lbx_mailbox_create(LBX_KIND_UNBOUNDED, &options, &producer, &consumer);

    if (status == LBX_OK)
        status = lbx_consumer_signal(consumer, &signal);
    lbx_signal_unref(signal);
    lbx_producer_unref(producer);
    lbx_consumer_unref(consumer);
    return status;
}

#include "profiles/cellex/cellex.h"

TEST_CITING("C-01", root_header_is_enough)
{
    CHECK_OK(use_the_root_only());
}

/* A consumer is a clonable handle: both clones take from the same mailbox,
 * and it lives until the last of them goes. */
BOX_TEST("C-02", consumer_handles_are_clonable, cellex_unbounded())
{
    lbx_consumer *clone = lbx_consumer_ref(box->out);
    void *message = NULL;

    box_fill(box, 1, 2);
    CHECK_TAKES(box, 1);
    lbx_consumer_unref(box->out);
    box->out = NULL;
    CHECK(!lbx_mailbox_is_closed(box->mailbox));
    CHECK_OK(lbx_consumer_try_receive(clone, &message));
    CHECK_INT(2, number_of(message));
    lbx_consumer_unref(clone);
    CHECK_STATUS(LBX_CLOSED, box_send(box, 3));
}

BOX_TEST("C-03", try_dequeue_returns_without_waiting, cellex_unbounded())
{
    CHECK_NOTHING(box);
    CHECK_OK(box_send(box, 1));
    CHECK_TAKES(box, 1);
}

BOX_TEST("C-03", try_dequeue_on_a_disconnected_queue, cellex_unbounded())
{
    CHECK_OK(lbx_mailbox_close(box->mailbox, LBX_CLOSE_DRAIN));
    CHECK_ENDED(box);
    CHECK_ENDED(box); // and again
}

/* The five associated things of cellex's factory are, here, what a kind says
 * of itself: how many may use each end, and how it stores. */
TEST_CITING("C-04 R-25", factory_states_its_concurrency)
{
    uint32_t several = lbx_kind_registry_capabilities(NULL, LBX_KIND_UNBOUNDED);
    uint32_t one = lbx_kind_registry_capabilities(
        NULL, LBX_KIND_UNBOUNDED_SINGLE_CONSUMER);

    CHECK(several & LBX_CAPABILITY_MULTI_PRODUCE);
    CHECK(several & LBX_CAPABILITY_MULTI_CONSUME);
    CHECK(one & LBX_CAPABILITY_MULTI_PRODUCE);
    CHECK(!(one & LBX_CAPABILITY_MULTI_CONSUME));
}

/* The default mailbox is the factory with default options, nothing else. */
TEST_CITING("C-05", default_mailbox_reuses_the_factory)
{
    LOCAL_BOX(by_default) = box_create(NULL, NULL);
    LOCAL_BOX(by_options) = BOX(LBX_KIND_UNBOUNDED, plain_options());

    CHECK_INT(lbx_mailbox_capacity(by_options.mailbox),
              lbx_mailbox_capacity(by_default.mailbox));
    CHECK_INT(lbx_mailbox_capabilities(by_options.mailbox),
              lbx_mailbox_capabilities(by_default.mailbox));
}

/* Capacity 128 is kept, and the producer feeds that very mailbox. */
BOX_TEST("C-06 C-05", factory_respects_custom_capacity,
         cellex_bounded(128, LBX_OVERFLOW_REJECT))
{
    CHECK_INT(128, lbx_mailbox_capacity(box->mailbox));
    box_fill(box, 1, 128);
    CHECK_STATUS(LBX_FULL, box_send(box, 129));
    for (int number = 1; number <= 128; number++)
        CHECK_TAKES(box, number);
    CHECK_NOTHING(box);
}

BOX_TEST("C-17", producer_handles_are_clonable, cellex_unbounded())
{
    lbx_producer *clone = lbx_producer_ref(box->in);

    CHECK_OK(lbx_producer_try_send(clone, message_of(1)));
    lbx_producer_unref(clone);
    CHECK_OK(box_send(box, 2));
    CHECK_TAKES(box, 1, 2);
}

/* Without hooks nothing happens; detaching what was never attached is fine. */
BOX_TEST("C-17 C-43", hooks_do_nothing_by_default, cellex_unbounded())
{
    CHECK_OK(lbx_mailbox_set_metrics_sink(box->mailbox, NULL));
    CHECK_OK(lbx_mailbox_set_scheduler_hook(box->mailbox, NULL));
    CHECK_OK(box_send(box, 1));
    CHECK_TAKES(box, 1);
}

/* cellex: MailboxError::Queue(Full(message)). The error struct of R-38 is the
 * status, the policy in the result, and the message that stayed ours. */
BOX_TEST("C-18 R-12 R-38", full_mailbox_hands_the_message_back,
         cellex_bounded(1, LBX_OVERFLOW_REJECT))
{
    lbx_envelope second = regular(2);
    lbx_send_result result = LBX_SEND_RESULT_INIT;

    CHECK_OK(box_send(box, 1));
    CHECK_STATUS(LBX_FULL, box_post(box, second, &result));
    CHECK_INT(LBX_OUTCOME_NOT_SENT, result.outcome);
    CHECK_INT(LBX_OVERFLOW_REJECT, result.overflow);
    CHECK_TAKES(box, 1);
    CHECK_OK(box_post(box, second, NULL)); // ours, so it can be sent again
    CHECK_TAKES(box, 2);
}

/* A kind that overrides nothing has no limit, is open, and is empty exactly
 * when it holds nothing. */
TEST_CITING("C-43", generic_mailbox_defaults)
{
    struct fussy fussy;
    struct box box = fussy_create(&fussy, LBX_UNLIMITED, LBX_OVERFLOW_REJECT);

    CHECK_INT(LBX_UNLIMITED, lbx_mailbox_capacity(box.mailbox));
    CHECK(!lbx_mailbox_is_closed(box.mailbox));
    CHECK(!lbx_mailbox_is_full(box.mailbox));
    CHECK(lbx_mailbox_is_empty(box.mailbox));
    CHECK_OK(box_send(&box, 1));
    CHECK(!lbx_mailbox_is_empty(box.mailbox));
    CHECK_INT(1, box_depth(&box));
    fussy_destroy(&fussy, &box);
}

/* cellex keeps metadata per concurrency mode, and the other mode finds none.
 * Here it is the mailbox that keeps metadata or does not: one that does not
 * refuses an envelope that says more than its message, and gives defaults. */
TEST_CITING("C-42", metadata_is_kept_or_refused_never_mixed_up)
{
    LOCAL_BOX(plain) = box_create(LBX_KIND_UNBOUNDED, NULL);
    LOCAL_BOX(keeping) = cellex_unbounded();
    lbx_envelope marked = lbx_envelope_of(message_of(1), 99);
    lbx_envelope received;

    marked.sender = &marked;
    CHECK_STATUS(LBX_UNSUPPORTED, box_post(&plain, marked, NULL));
    CHECK_OK(box_send(&plain, 1));
    CHECK_OK(lbx_consumer_try_receive_envelope(plain.out, &received));
    CHECK_PTR(NULL, received.sender);
    CHECK_INT(LBX_PRIORITY_DEFAULT, received.priority);

    CHECK_OK(box_post(&keeping, marked, NULL));
    CHECK_OK(lbx_consumer_try_receive_envelope(keeping.out, &received));
    CHECK_PTR(&marked, received.sender);
    CHECK_INT(99, received.priority);
}
