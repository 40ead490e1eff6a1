/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consumers: the receiving handle of a mailbox.
 *
 * try_receive never waits; receive, receive_for (a duration) and receive_until
 * (a moment) park this thread; receive_init is the operation underneath. Lanes
 * are drained in the order system, control, user. Waiting receivers are served
 * in order of arrival, each with one message; a try_receive does not take what
 * a waiting receiver was promised (one already under way may, once per thread;
 * the receiver keeps its position).
 *
 * A NULL message is a message: the status distinguishes it from an empty
 * mailbox.
 *
 * After close, receivers get what is left and then LBX_CLOSED.
 *
 * Threads    any, on one handle or several; for a single-consumer kind one at
 *            a time, and a second receive that would wait gets LBX_BUSY.
 *
 * Caveats
 * - A receive may return LBX_EMPTY while an older send is still between
 *   claiming its slot and filling it. That send wakes waiting receivers.
 */
#ifndef LETTERBOX_MAILBOX_CONSUMER_H
#define LETTERBOX_MAILBOX_CONSUMER_H

#include <letterbox/base.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/mailbox/signal.h>
#include <letterbox/operation.h>

LBX_BEGIN

/*
 * lbx_consumer_try_receive() takes the next message without waiting.
 *
 * Returns    LBX_OK; LBX_EMPTY; LBX_CLOSED when closed and empty.
 * Ownership  the message is the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_try_receive(lbx_consumer *consumer,
                                                         void **ret_message);

/*
 * lbx_consumer_receive() takes the next message, waiting for it.
 *
 * Returns    LBX_OK; LBX_CLOSED; LBX_BUSY: see the top of this page.
 * Ownership  the message is the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Blocks     until there is a message, or the mailbox is closed.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive(lbx_consumer *consumer,
                                                     void **ret_message);

/*
 * lbx_consumer_receive_for() is lbx_consumer_receive() with a limit: it waits
 * `wait_ns` nanoseconds at most, measured by the mailbox's clock. Negative: for
 * ever; 0: it does not wait.
 *
 *     status = lbx_consumer_receive_for(out, &message, 5 * LBX_SECOND);
 *
 * Returns    LBX_OK; LBX_TIMEOUT; LBX_CLOSED; LBX_BUSY.
 * Ownership  the message is the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Blocks     for `wait_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_for(lbx_consumer *consumer,
                                                         void **ret_message,
                                                         int64_t wait_ns);

/*
 * lbx_consumer_receive_until() is lbx_consumer_receive() with a deadline: a
 * moment on the mailbox's clock (lbx_deadline_after()), not a duration. A
 * negative one is LBX_FOREVER.
 *
 * Returns    LBX_OK; LBX_TIMEOUT; LBX_CLOSED; LBX_BUSY.
 * Ownership  the message is the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_until(
    lbx_consumer *consumer, void **ret_message, int64_t deadline_ns);

/*
 * lbx_consumer_receive_init() starts an operation that takes one message.
 * *ret_message is written by the poll that returns LBX_OK. Nothing happens
 * before the first poll.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the message is the caller's; `ret_message` must live as long as
 *            the operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_consumer_receive_init(lbx_operation *operation, lbx_consumer *consumer,
                          void **ret_message, int64_t deadline_ns);

/*
 * lbx_consumer_try_receive_envelope() is lbx_consumer_try_receive() with
 * metadata. A mailbox that keeps plain messages fills in defaults.
 *
 * Returns    as lbx_consumer_try_receive().
 * Ownership  the message inside is the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_try_receive_envelope(
    lbx_consumer *consumer, lbx_envelope *ret_envelope);

/*
 * lbx_consumer_receive_envelope_until() is lbx_consumer_receive_until() with
 * metadata.
 *
 * Returns    as lbx_consumer_receive_until().
 * Ownership  the message inside is the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_envelope_until(
    lbx_consumer *consumer, lbx_envelope *ret_envelope, int64_t deadline_ns);

/*
 * lbx_consumer_receive_envelope_init() is lbx_consumer_receive_init() with
 * metadata.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the message inside is the caller's; `ret_envelope` must live as
 *            long as the operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_envelope_init(
    lbx_operation *operation, lbx_consumer *consumer,
    lbx_envelope *ret_envelope, int64_t deadline_ns);

/*
 * lbx_consumer_try_receive_batch() takes up to `max` messages in order;
 * *ret_count, always written, is their number.
 *
 * Returns    LBX_OK for one or more; LBX_EMPTY; LBX_CLOSED.
 * Ownership  the messages are the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_try_receive_batch(
    lbx_consumer *consumer, void **ret_messages, size_t max, size_t *ret_count);

/*
 * lbx_consumer_receive_batch_until() waits for one message and takes up to
 * `max` that are there; *ret_count, always written, is their number.
 *
 * Returns    LBX_OK for one or more; LBX_TIMEOUT; LBX_CLOSED; LBX_BUSY.
 * Ownership  the messages are the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_batch_until(
    lbx_consumer *consumer, void **ret_messages, size_t max, size_t *ret_count,
    int64_t deadline_ns);

/*
 * lbx_consumer_try_receive_envelope_batch() is lbx_consumer_try_receive_batch()
 * with metadata.
 *
 * Returns    LBX_OK for one or more; LBX_EMPTY; LBX_CLOSED.
 * Ownership  the messages inside are the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_try_receive_envelope_batch(
    lbx_consumer *consumer, lbx_envelope *ret_envelopes, size_t max,
    size_t *ret_count);

/*
 * lbx_consumer_receive_envelope_batch_until() is
 * lbx_consumer_receive_batch_until() with metadata.
 *
 * Returns    LBX_OK for one or more; LBX_TIMEOUT; LBX_CLOSED; LBX_BUSY.
 * Ownership  the messages inside are the caller's.
 * Threads    any; one at a time for a single-consumer kind.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_envelope_batch_until(
    lbx_consumer *consumer, lbx_envelope *ret_envelopes, size_t max,
    size_t *ret_count, int64_t deadline_ns);

/*
 * lbx_consumer_receive_envelope_batch_init() is
 * lbx_consumer_receive_batch_init() with metadata.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the messages inside are the caller's; `ret_envelopes` and
 *            `ret_count` must live as long as the operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_envelope_batch_init(
    lbx_operation *operation, lbx_consumer *consumer,
    lbx_envelope *ret_envelopes, size_t max, size_t *ret_count,
    int64_t deadline_ns);

/*
 * lbx_consumer_receive_batch_init() starts an operation that waits for one
 * message and takes up to `max` that are there.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the messages are the caller's; `ret_messages` and `ret_count` must
 *            live as long as the operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_batch_init(
    lbx_operation *operation, lbx_consumer *consumer, void **ret_messages,
    size_t max, size_t *ret_count, int64_t deadline_ns);

/*
 * lbx_consumer_signal() is the mailbox's signal, which is notified after every
 * accepted message and on close. It is for waiting without taking; to receive,
 * use a receive. It is created at the first call.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  one reference is the caller's: lbx_signal_unref().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_consumer_signal(lbx_consumer *consumer,
                                                    lbx_signal **ret);

/*
 * lbx_consumer_ref() makes one more handle of the same mailbox and returns it.
 * It is the same pointer; release it with lbx_consumer_unref(). NULL gives
 * NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_consumer *lbx_consumer_ref(lbx_consumer *consumer);

/*
 * lbx_consumer_unref() releases a handle. With the last one the mailbox is
 * closed and what it holds is lost, with reason LBX_LOSS_CLOSED. Takes NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_consumer_unref(lbx_consumer *consumer);

/*
 * lbx_consumer_mailbox() is the mailbox behind the handle: see mailbox.h.
 * Borrowed, as long as you hold the handle.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_mailbox *lbx_consumer_mailbox(lbx_consumer *consumer);

LBX_END

#endif
