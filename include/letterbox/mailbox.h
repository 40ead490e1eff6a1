/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes: queues of messages inside a process.
 *
 * A mailbox has producers, which send, and consumers, which receive. Taking a
 * message removes it. What makes it more than a queue: an overflow policy,
 * lanes for system and control messages, waiting that can be cancelled and put
 * on any event loop, close that loses nothing, and an exact depth.
 *
 * Example:
 *
 *     #include <letterbox/mailbox.h>
 *     #include <stdio.h>
 *
 *     int
 *     main(void)
 *     {
 *         lbx_producer *in;
 *         lbx_consumer *out;
 *         void *message;
 *
 *         if (lbx_mailbox_create("unbounded", NULL, &in, &out) != LBX_OK)
 *             return 1;
 *         if (lbx_producer_try_send(in, "hello") != LBX_OK)
 *             return 1;
 *         if (lbx_consumer_receive(out, &message) == LBX_OK)
 *             puts(message);
 *         lbx_producer_unref(in);
 *         lbx_consumer_unref(out);
 *         return 0;
 *     }
 *
 * This header includes the producer's, consumer's, factory's, options' and
 * signal's; envelopes are in <letterbox/mailbox/messages.h>. Below is what
 * concerns a mailbox as a whole, reached from either handle.
 *
 * Threads    any, for everything here.
 *
 * Caveats
 * - A mailbox is freed when both handles' counts and all operations are gone.
 * - After fork(), a child must not use its parent's mailboxes.
 * - In a signal handler, nothing here may be called.
 */
#ifndef LETTERBOX_MAILBOX_H
#define LETTERBOX_MAILBOX_H

#include <letterbox/base.h>
#include <letterbox/mailbox/consumer.h>
#include <letterbox/mailbox/factory.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/mailbox/producer.h>
#include <letterbox/mailbox/signal.h>
#include <letterbox/operation.h>

LBX_BEGIN

/* What close does with what is inside. */
typedef enum lbx_close_mode {
    LBX_CLOSE_DRAIN = 0,   /* receivers get the rest, then LBX_CLOSED */
    LBX_CLOSE_IMMEDIATE,   /* the rest is lost: loss sink, LBX_LOSS_CLOSED */
    LBX_CLOSE_DEAD_LETTER, /* the rest goes to the dead letters, even when
                              there is a loss sink */
} lbx_close_mode;

/* Statistics of a mailbox at one moment. */
typedef struct lbx_mailbox_stats {
    size_t size_bytes;      /* LBX_MAILBOX_STATS_INIT sets it */
    uint64_t depth;         /* messages inside, all lanes */
    uint64_t system_depth;  /* of these, in the system lane */
    uint64_t control_depth; /* of these, in the control lane */
    uint64_t accepted;      /* since creation */
    uint64_t taken;         /* since creation, evicted ones included */
    uint64_t rejected;      /* refused because full */
    uint64_t dropped_newest;
    uint64_t dropped_oldest;
    uint64_t expired;
    uint64_t lost;             /* all loss events */
    uint64_t high_water;       /* greatest depth seen; sampled at takes, so that
                                  a peak between two samples may be missed by at
                                  most one batch of 256 */
    int64_t capacity_messages; /* now; LBX_UNLIMITED */
    uint64_t waiting_senders;
    uint64_t waiting_receivers;
    uint64_t suspensions;    /* nesting depth now */
    uint64_t timed_messages; /* messages with known time in mailbox */
    int64_t waited_total_ns; /* their time in mailbox, in all */
    int64_t max_waited_ns;   /* and the longest */
    uint64_t closed;         /* 1 when it takes no more messages, else 0 */
} lbx_mailbox_stats;

#define LBX_MAILBOX_STATS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_stats)                                \
    }

/*
 * lbx_mailbox_depth() is the number of messages inside, in all lanes.
 *
 * Exact: accepted minus taken. A send under way may already count.
 *
 * Threads    any. Wait-free in FIFO kinds.
 * Since      0.1
 */
LBX_API uint64_t lbx_mailbox_depth(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_is_empty() returns whether the depth is 0.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_mailbox_is_empty(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_is_full() returns whether a plain send finds the mailbox full
 * now. Always false for unlimited mailboxes and those that grow.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_mailbox_is_full(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_capacity() is capacity_messages as it is now, LBX_UNLIMITED
 * without one. System and separate control reservations come on top: see
 * lbx_mailbox_total_capacity().
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int64_t lbx_mailbox_capacity(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_total_capacity() is how many messages all lanes hold together:
 * lbx_mailbox_capacity(), the system reservation and a control capacity of its
 * own; LBX_UNLIMITED if one of them is.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int64_t lbx_mailbox_total_capacity(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_capabilities() is a set of lbx_capability bits.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API uint32_t lbx_mailbox_capabilities(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_compare() is the order in which the mailbox would give two
 * messages, apart from their arrival: negative when `a` comes first, positive
 * when `b` does, 0 when their arrival decides. System messages are not
 * compared. For consumers that keep messages outside and want to keep the
 * order.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int lbx_mailbox_compare(const lbx_mailbox *mailbox,
                                const lbx_envelope *a, const lbx_envelope *b);

/*
 * lbx_mailbox_has_before() is true when a message is inside that the mailbox
 * would give before `than`, which is outside.
 *
 * Threads    the consumer.
 * Since      0.1
 */
LBX_API bool lbx_mailbox_has_before(lbx_mailbox *mailbox,
                                    const lbx_envelope *than);

/*
 * lbx_mailbox_stats_read() copies the statistics.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  a plain copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_stats_read(lbx_mailbox *mailbox,
                                                       lbx_mailbox_stats *ret);

/*
 * lbx_mailbox_close() refuses further sends and wakes all waiters. Receivers
 * get what is left, and LBX_CLOSED once it is taken.
 *
 * Waiting senders get LBX_CLOSED and keep their message. No send that returned
 * LBX_OK is lost by a close at the same time. Closing also resumes a suspended
 * mailbox. Closing again is LBX_OK; what a drain has left over can still be
 * closed away by another mode.
 *
 * Returns    LBX_OK; LBX_INVALID, also for LBX_CLOSE_DEAD_LETTER without
 *            dead letters.
 * Threads    any; also from a callback.
 * Since      0.1
 */
LBX_API lbx_status lbx_mailbox_close(lbx_mailbox *mailbox, lbx_close_mode mode);

/*
 * lbx_mailbox_close_into() closes and passes every message that is left to
 * `rest`, in the order in which it would have been received.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  `rest` owns each message it is given.
 * Threads    any; also from a callback.
 * Since      0.1
 */
LBX_API lbx_status lbx_mailbox_close_into(
    lbx_mailbox *mailbox,
    void (*rest)(void *context, const lbx_envelope *envelope), void *context);

/*
 * lbx_mailbox_is_closed() returns whether the mailbox refuses sends.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_mailbox_is_closed(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_suspend() withholds user and control messages from receivers;
 * sends are accepted and system messages still flow. Calls nest.
 *
 * Returns    true when this changed the mailbox from running to suspended;
 *            false when it was suspended or closed.
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_mailbox_suspend(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_resume() undoes one suspension; after the last it wakes
 * receivers. Without one it does nothing.
 *
 * Returns    true when this changed the mailbox from suspended to running.
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_mailbox_resume(lbx_mailbox *mailbox);

/*
 * lbx_mailbox_flush_init() starts an operation that is done when everything
 * that was sent before it has been taken. New messages do not hold it up,
 * unless they are more urgent. A kind of your own that does not keep FIFO order
 * is flushed when as many messages have been taken as were inside.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the operation keeps the mailbox alive.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_flush_init(lbx_operation *operation,
                                                       lbx_mailbox *mailbox,
                                                       int64_t deadline_ns);

/*
 * lbx_mailbox_stop_init() closes the mailbox (LBX_CLOSE_DRAIN) at its first
 * poll and is done when it is empty.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the operation keeps the mailbox alive.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_stop_init(lbx_operation *operation,
                                                      lbx_mailbox *mailbox,
                                                      int64_t deadline_ns);

/*
 * lbx_mailbox_set_metrics_sink() attaches a sink, or detaches it with NULL.
 * A call already under way may still reach the sink that was there before:
 * detach it, then let senders and receivers come to rest before freeing it.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the sink is copied; its context must outlive the mailbox or be
 *            detached before.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_set_metrics_sink(
    lbx_mailbox *mailbox, const lbx_metrics_sink *sink);

/*
 * lbx_mailbox_set_scheduler_hook() attaches a hook, or detaches it with NULL.
 * The rules are the metrics sink's.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY.
 * Ownership  the hook is copied; its context must outlive the mailbox or be
 *            detached before.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_set_scheduler_hook(
    lbx_mailbox *mailbox, const lbx_scheduler_hook *hook);

LBX_END

#endif
