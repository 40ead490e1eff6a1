/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Producers: the sending handle of a mailbox.
 *
 * Five ways to send, the same message and the same rules:
 *
 *   try_send     never waits, whatever the policy
 *   send         waits as the policy demands (LBX_OVERFLOW_BLOCK: wait_ns)
 *   send_for     the same, at most this long: a duration
 *   send_until   the same, at the latest until a deadline: a moment
 *   send_init    as an operation, for event loops and cancellation
 *
 * Only LBX_OVERFLOW_BLOCK ever waits; the other policies decide at once. It
 * waits until the mailbox's wait_ns or the call's own deadline has passed,
 * whichever comes first, and then returns LBX_TIMEOUT, or does what the
 * mailbox's `after_wait` demands; LBX_FULL comes from sends that never wait.
 * Messages of one thread arrive in the order in which it sent them. Waiting
 * sends are served in order of arrival, control messages before user messages:
 * the receive that frees a slot moves the first waiting message in. System
 * messages never wait. A try_send does not overtake a waiting send; one that
 * was already under way when the wait began may, once per thread.
 *
 * Ownership. On LBX_OK the mailbox owns the message. On every other status,
 * LBX_CLOSED and LBX_TIMEOUT included, it is still yours.
 *
 * Threads    any, on one handle or several.
 *
 * Caveats
 * - Under LBX_OVERFLOW_BLOCK, a thread that is also the only consumer waits
 *   forever.
 */
#ifndef LETTERBOX_MAILBOX_PRODUCER_H
#define LETTERBOX_MAILBOX_PRODUCER_H

#include <letterbox/base.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/operation.h>

LBX_BEGIN

/*
 * lbx_producer_try_send() appends `message` without waiting.
 *
 * Returns    LBX_OK; LBX_FULL (also while other sends wait); LBX_CLOSED;
 *            LBX_NO_MEMORY; LBX_REFUSED by a priority function or a kind of
 *            your own; LBX_WOULD_BLOCK (see `may_wait` in options.h).
 * Ownership  on LBX_OK the mailbox owns `message`; otherwise the caller does.
 * Threads    any. Lock-free while no send or receive waits, in FIFO kinds.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_try_send(lbx_producer *producer,
                                                      void *message);

/*
 * lbx_producer_send() appends `message`, waiting as the mailbox's policy says.
 *
 * Returns    as lbx_producer_try_send(); LBX_TIMEOUT when the mailbox's wait_ns
 *            passed.
 * Ownership  on LBX_OK the mailbox owns `message`; otherwise the caller does.
 * Threads    any.
 * Blocks     only under LBX_OVERFLOW_BLOCK.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send(lbx_producer *producer,
                                                  void *message);

/*
 * lbx_producer_send_for() is lbx_producer_send() with a limit of its own: it
 * waits `wait_ns` nanoseconds at most. Negative: no limit of its own; 0: it
 * does not wait.
 *
 * Returns    as lbx_producer_send().
 * Ownership  on LBX_OK the mailbox owns `message`; otherwise the caller does.
 * Threads    any.
 * Blocks     only under LBX_OVERFLOW_BLOCK, for `wait_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_for(lbx_producer *producer,
                                                      void *message,
                                                      int64_t wait_ns);

/*
 * lbx_producer_send_until() is lbx_producer_send() with a deadline of its own,
 * a moment on the mailbox's clock (lbx_deadline_after()), not a duration. A
 * negative one is LBX_FOREVER.
 *
 * Returns    as lbx_producer_send().
 * Ownership  on LBX_OK the mailbox owns `message`; otherwise the caller does.
 * Threads    any.
 * Blocks     only under LBX_OVERFLOW_BLOCK, until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_until(lbx_producer *producer,
                                                        void *message,
                                                        int64_t deadline_ns);

/*
 * lbx_producer_send_init() starts an operation that sends `message`.
 *
 * Nothing happens before the first poll. Final statuses are those of
 * lbx_producer_send() and LBX_CANCELLED.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the operation owns `message` until it is final; then as
 *            lbx_producer_send().
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_init(lbx_operation *operation,
                                                       lbx_producer *producer,
                                                       void *message,
                                                       int64_t deadline_ns);

/*
 * lbx_producer_try_send_envelope() is lbx_producer_try_send() with metadata.
 * The envelope is copied. `ret_result` may be NULL; it is always written.
 *
 * Returns    as lbx_producer_try_send(); LBX_UNSUPPORTED for a system message
 *            when the system lane is disabled, and for an envelope with
 *            metadata that this mailbox does not keep (see `envelopes` in
 *            options.h).
 * Ownership  on LBX_OK the mailbox owns the message; otherwise the caller does.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_try_send_envelope(
    lbx_producer *producer, const lbx_envelope *envelope,
    lbx_send_result *ret_result);

/*
 * lbx_producer_send_envelope_until() is lbx_producer_send_until() with
 * metadata.
 *
 * Returns    as lbx_producer_try_send_envelope(); LBX_TIMEOUT.
 * Ownership  on LBX_OK the mailbox owns the message; otherwise the caller does.
 * Threads    any.
 * Blocks     only under LBX_OVERFLOW_BLOCK, until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_envelope_until(
    lbx_producer *producer, const lbx_envelope *envelope, int64_t deadline_ns,
    lbx_send_result *ret_result);

/*
 * lbx_producer_send_envelope_init() is lbx_producer_send_init() with metadata.
 * `ret_result`, if not NULL, is written when the operation is final.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the operation owns the message until it is final; `ret_result`
 *            must live as long.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_envelope_init(
    lbx_operation *operation, lbx_producer *producer,
    const lbx_envelope *envelope, int64_t deadline_ns,
    lbx_send_result *ret_result);

/*
 * lbx_producer_try_send_front() puts a message before all others of its lane:
 * it is received next. It never evicts and never waits.
 *
 * Returns    LBX_OK; LBX_FULL; LBX_CLOSED; LBX_NO_MEMORY; LBX_UNSUPPORTED when
 *            the kind has no LBX_CAPABILITY_SEND_FRONT.
 * Ownership  on LBX_OK the mailbox owns `message`; otherwise the caller does.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_producer_try_send_front(lbx_producer *producer, void *message);

/*
 * lbx_producer_try_send_front_envelope() is lbx_producer_try_send_front() with
 * metadata: priority, sender, type and deadline are kept.
 *
 * Returns    as lbx_producer_try_send_front(); LBX_UNSUPPORTED also for a
 *            system message, whose lane has no front.
 * Ownership  on LBX_OK the mailbox owns the message; otherwise the caller does.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_try_send_front_envelope(
    lbx_producer *producer, const lbx_envelope *envelope);

/*
 * lbx_producer_try_send_batch() appends `count` messages in order, as many as
 * go in without waiting; *ret_sent, always written, is their number. Messages
 * of other threads may come between them. A batch of none is sent at once.
 *
 * Returns    LBX_OK when all were sent; else why the next one was not.
 * Ownership  the mailbox owns the first *ret_sent messages; the caller the
 *            rest.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_producer_try_send_batch(lbx_producer *producer, void *const *messages,
                            size_t count, size_t *ret_sent);

/*
 * lbx_producer_send_batch_until() sends all messages in order and waits for
 * space as often as needed; *ret_sent, always written, is how many were sent.
 * A batch of none is sent at once.
 *
 * Returns    LBX_OK when all were sent; else why the next one was not, as
 *            lbx_producer_send_until().
 * Ownership  the mailbox owns the first *ret_sent messages; the caller the
 *            rest.
 * Threads    any.
 * Blocks     only under LBX_OVERFLOW_BLOCK, until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_batch_until(
    lbx_producer *producer, void *const *messages, size_t count,
    int64_t deadline_ns, size_t *ret_sent);

/*
 * lbx_producer_try_send_envelope_batch() is lbx_producer_try_send_batch() with
 * metadata: each message keeps its own priority, channel, sender, type and
 * deadline.
 *
 * Returns    LBX_OK when all were sent; else why the next one was not, as
 *            lbx_producer_try_send_envelope().
 * Ownership  the mailbox owns the messages of the first *ret_sent envelopes;
 *            the caller the rest. The envelopes are copied.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_try_send_envelope_batch(
    lbx_producer *producer, const lbx_envelope *envelopes, size_t count,
    size_t *ret_sent);

/*
 * lbx_producer_send_envelope_batch_until() is lbx_producer_send_batch_until()
 * with metadata.
 *
 * Returns    LBX_OK when all were sent; else why the next one was not, as
 *            lbx_producer_send_envelope_until().
 * Ownership  the mailbox owns the messages of the first *ret_sent envelopes;
 *            the caller the rest. The envelopes are copied.
 * Threads    any.
 * Blocks     only under LBX_OVERFLOW_BLOCK, until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_envelope_batch_until(
    lbx_producer *producer, const lbx_envelope *envelopes, size_t count,
    int64_t deadline_ns, size_t *ret_sent);

/*
 * lbx_producer_send_envelope_batch_init() is lbx_producer_send_batch_init()
 * with metadata.
 *
 * Returns    LBX_OK; LBX_INVALID, also for a `count` of 0.
 * Ownership  as lbx_producer_send_batch_init(); `envelopes` must live as long
 *            as the operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_envelope_batch_init(
    lbx_operation *operation, lbx_producer *producer,
    const lbx_envelope *envelopes, size_t count, int64_t deadline_ns,
    size_t *ret_sent);

/*
 * lbx_producer_send_batch_init() starts an operation that sends all messages,
 * waiting for space as often as needed; *ret_sent counts them as they go.
 *
 * Returns    LBX_OK; LBX_INVALID, also for a `count` of 0: there would be
 *            nothing to wait for.
 * Ownership  the first *ret_sent messages are the mailbox's, at any time; the
 *            rest are the caller's once the operation is final. `messages` and
 *            `ret_sent` must live as long as the operation.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_batch_init(
    lbx_operation *operation, lbx_producer *producer, void *const *messages,
    size_t count, int64_t deadline_ns, size_t *ret_sent);

/*
 * lbx_producer_ref() makes one more handle of the same mailbox and returns it.
 * It is the same pointer; release it with lbx_producer_unref(). NULL gives
 * NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_producer *lbx_producer_ref(lbx_producer *producer);

/*
 * lbx_producer_unref() releases a handle. With the last one the mailbox is
 * closed; what it holds can still be received. Takes NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API void lbx_producer_unref(lbx_producer *producer);

/*
 * lbx_producer_mailbox() is the mailbox behind the handle: see mailbox.h.
 * Borrowed, as long as you hold the handle.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_mailbox *lbx_producer_mailbox(lbx_producer *producer);

LBX_END

#endif
