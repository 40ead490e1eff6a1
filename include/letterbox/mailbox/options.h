/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: how a mailbox behaves.
 *
 * Start from LBX_MAILBOX_OPTIONS_INIT and change what you need:
 *
 *     lbx_mailbox_options options = LBX_MAILBOX_OPTIONS_INIT;
 *
 *     options.capacity_messages = 128;
 *     options.overflow = LBX_OVERFLOW_BLOCK;
 *     options.wait_ns = 2 * LBX_SECOND;
 *
 * Three settings decide what happens to a message that finds the mailbox full:
 * the overflow policy, the time a send may wait (LBX_OVERFLOW_BLOCK only), and
 * the loss sink, which is called for every message that was accepted or dropped
 * and will not be delivered. A message that was *refused* (LBX_FULL,
 * LBX_TIMEOUT, LBX_CLOSED) is not lost: it is still the sender's.
 *
 * Callbacks given here run on the thread that caused the event, with no lock
 * held, and may use the mailbox, but must not release the handle that the
 * interrupted call is using. They must outlive it. Clocks, allocators and
 * `compare` are different: they may be called under a lock and must not use the
 * library. Options that mean nothing to a kind are ignored, except limits that
 * it cannot keep.
 */
#ifndef LETTERBOX_MAILBOX_OPTIONS_H
#define LETTERBOX_MAILBOX_OPTIONS_H

#include <letterbox/base.h>
#include <letterbox/type.h>

LBX_BEGIN

typedef struct lbx_envelope lbx_envelope;
typedef struct lbx_kind_registry lbx_kind_registry;
typedef struct lbx_mailbox lbx_mailbox;
typedef struct lbx_producer lbx_producer;
typedef struct lbx_consumer lbx_consumer;

/* Limits, besides LBX_DEFAULT (the default of the kind; 1000 if bounded) and
 * LBX_UNLIMITED. Any number from 1 up is exact, never rounded; 0 and other
 * negative numbers are refused. */
#define LBX_LIMIT_DISABLED                                                     \
    (INT64_MIN + 1) /* no such lane: sends get UNSUPPORTED */
#define LBX_LIMIT_SHARED (INT64_MIN + 2) /* counts against capacity_messages */

#define LBX_MAILBOX_DEFAULT_CAPACITY           1000
#define LBX_MAILBOX_DEFAULT_SYSTEM_RESERVATION 4

/* What a send to a full mailbox does. */
typedef enum lbx_overflow {
    /* LBX_FULL; the message stays the sender's (default) */
    LBX_OVERFLOW_REJECT = 0,
    /* the new message is lost; the sender sees LBX_OK */
    LBX_OVERFLOW_DROP_NEWEST,
    /* the oldest, in priority kinds the least urgent and among those the
     * oldest, user message is lost; if none can be taken out, because
     * senders are about to put them in, the new one */
    LBX_OVERFLOW_DROP_OLDEST,
    LBX_OVERFLOW_GROW,  /* the capacity doubles */
    LBX_OVERFLOW_BLOCK, /* the send waits, in order of arrival */
} lbx_overflow;

/* What became of a message, beside the status. */
typedef enum lbx_outcome {
    LBX_OUTCOME_ENQUEUED = 0,
    /* LBX_OK, but it is the sent message that was lost */
    LBX_OUTCOME_DROPPED_NEWEST,
    LBX_OUTCOME_DROPPED_OLDEST,
    LBX_OUTCOME_GREW,
    LBX_OUTCOME_NOT_SENT, /* any status but LBX_OK */
} lbx_outcome;

/* Always written when asked for, also on failure. */
typedef struct lbx_send_result {
    size_t size_bytes; /* LBX_SEND_RESULT_INIT sets it */
    lbx_outcome outcome;
    uint32_t dropped_messages; /* LBX_DROPPED_*: how many were lost */
    int64_t capacity_messages; /* LBX_OUTCOME_GREW: the new capacity */
    lbx_overflow overflow;     /* the policy that decided */
} lbx_send_result;

#define LBX_SEND_RESULT_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_send_result)                                  \
    }

/* One lost message. `envelope` has the reason (`lost`), the sender and the
 * recipient. */
typedef struct lbx_loss {
    lbx_mailbox *mailbox; /* borrowed; valid during the call */
    const char *mailbox_name;
    const lbx_envelope *envelope;
    uint64_t lost_messages; /* this mailbox's total so far, this one included */
} lbx_loss;

/* The loss sink. It *owns* the message: destroy it, keep it or pass it on.
 * Without a sink, and without dead letters, lost messages are given to their
 * type's destroy function or, without a type, to the mailbox's. */
typedef struct lbx_loss_sink {
    void (*lost)(void *context, const lbx_loss *loss);
    void *context;
} lbx_loss_sink;

/* Metrics events. Counts that do not belong to an event are 0. Durations are
 * -1 when they do not, or when there is nothing to measure them by: waited_ns
 * needs timestamps, the others timestamps or a clock in the options. */
typedef enum lbx_metric {
    LBX_METRIC_ENQUEUED = 0,
    LBX_METRIC_DEQUEUED,              /* waited_ns, with timestamps */
    LBX_METRIC_DROPPED_OLDEST,        /* count */
    LBX_METRIC_DROPPED_NEWEST,        /* count */
    LBX_METRIC_GREW,                  /* count: the new capacity */
    LBX_METRIC_EXPIRED,               /* count */
    LBX_METRIC_SUSPENDED,             /* count: how often so far */
    LBX_METRIC_RESUMED,               /* count, last_ns, total_ns suspended */
    LBX_METRIC_RESERVATION_USED,      /* count: system slots that remain */
    LBX_METRIC_RESERVATION_EXHAUSTED, /* a system message was refused */
    LBX_METRIC_PRESSURE,     /* count: depth; once each time it rises to
                                pressure_messages */
    LBX_METRIC_REGISTERED,   /* the mailbox got its sink */
    LBX_METRIC_DEREGISTERED, /* the mailbox releases its sink */
} lbx_metric;

typedef struct lbx_metric_event {
    lbx_metric metric;
    lbx_mailbox *mailbox; /* borrowed; valid during the call */
    uint64_t count;
    int64_t waited_ns;
    int64_t last_ns;
    int64_t total_ns;
} lbx_metric_event;

typedef struct lbx_metrics_sink {
    void (*event)(void *context, const lbx_metric_event *event);
    void *context;
} lbx_metrics_sink;

/* Called after each accepted message, after the signal and the metrics: for a
 * scheduler, which may now run the receiver. */
typedef struct lbx_scheduler_hook {
    void (*ready)(void *context, lbx_mailbox *mailbox);
    void *context;
} lbx_scheduler_hook;

typedef struct lbx_mailbox_options {
    size_t size_bytes; /* LBX_MAILBOX_OPTIONS_INIT sets it */
    const char *name;  /* for people; borrowed for the mailbox's life */
    void *owner;       /* becomes the recipient in envelopes; yours */
    const lbx_allocator *allocator; /* borrowed, like the next two */
    const lbx_clock *clock;
    const lbx_kind_registry
        *kinds;       /* the registry of kinds; NULL: the built-in */
    lbx_fault *fault; /* filled in when creation fails; may be NULL */

    /* Limits. The control lane's matters to control-aware kinds. A mailbox of
     * kind "bounded" allocates its slots when it is created, and writes to all
     * of them: 16 bytes for each of capacity_messages, rounded up to a power
     * of two (72 with envelopes); with LBX_OVERFLOW_GROW, and in other kinds,
     * memory is allocated as messages come. */
    int64_t capacity_messages;
    int64_t system_reservation; /* LBX_LIMIT_DISABLED, n, LBX_UNLIMITED; 4 */
    int64_t control_capacity;   /* LBX_LIMIT_SHARED, n, LBX_UNLIMITED; SHARED */

    /* Overflow. */
    lbx_overflow overflow;
    /* LBX_OVERFLOW_BLOCK: how long; negative: forever; 0: not at all */
    int64_t wait_ns;
    /* when wait_ns has passed. LBX_OVERFLOW_REJECT: LBX_TIMEOUT and the
     * message back; LBX_OVERFLOW_DROP_NEWEST: lost. A deadline of the call's
     * own always gives the message back. */
    lbx_overflow after_wait;
    /* LBX_OVERFLOW_DROP_NEWEST returns LBX_FULL and leaves the message to
     * the sender; it is counted as dropped */
    bool return_dropped_newest;
    lbx_loss_sink loss_sink;
    lbx_producer *dead_letters; /* lost envelopes are sent there when there is
                                   no loss sink; referenced. That mailbox must
                                   keep envelopes. One that does not go in at
                                   once is destroyed like any other. */

    /* Destroys messages without a type that will not be received;
     * lbx_message_free for those that are one block of malloc(). */
    void (*destroy)(void *message, void *context);
    void *destroy_context;

    /* Priority kinds: gives a message's priority, once, before it is stored,
     * with no lock held; false refuses the message (LBX_REFUSED). NULL: the
     * envelope's own priority. */
    bool (*priority)(const void *message, void *context, int32_t *ret);
    void *priority_context;
    /* Priority kinds, instead of numbers: < 0 when a is more urgent than b.
     * Equals stay in order of arrival. Must not use the mailbox. */
    int (*compare)(const lbx_envelope *a, const lbx_envelope *b, void *context);
    void *compare_context;
    bool higher_first;        /* greater numbers are more urgent */
    int32_t default_priority; /* of messages sent without an envelope; 10 */
    bool control_by_priority; /* control-aware kinds: the control lane is sorted
                                 by priority; the user lane stays FIFO */

    /* Keep whole envelopes. Deques and kinds of your own always do. Others keep
     * the message only, priority kinds its priority too, and an envelope with a
     * type, a sender or a deadline is refused (LBX_UNSUPPORTED) rather than cut
     * down. */
    bool envelopes;
    bool timestamps; /* fills in enqueued_ns and time in mailbox: reads the
                        clock twice a message, see docs/performance.md.
                        Implies envelopes. */

    /* Asked at the start of every send and receive, try_ ones included: false
     * returns LBX_WOULD_BLOCK and does nothing. For contexts, such as interrupt
     * handlers, that must not touch a mailbox. NULL: always. */
    bool (*may_wait)(void *context);
    void *may_wait_context;

    /* Metrics: the depth that is worth a PRESSURE event; LBX_DEFAULT is 75 %
     * of a bounded mailbox and 10,000 in an unbounded one. */
    int64_t pressure_messages;

    /* Gets every metrics event from the creation on, as one that
     * lbx_mailbox_set_metrics_sink() attaches. In the options of an actor's
     * mailbox (props, or a mailbox type's configure()): those of the actor. */
    lbx_metrics_sink metrics;
} lbx_mailbox_options;

#define LBX_MAILBOX_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_options),                             \
        .capacity_messages = LBX_DEFAULT, .system_reservation = LBX_DEFAULT,   \
        .control_capacity = LBX_DEFAULT, .wait_ns = -1,                        \
        .default_priority = LBX_PRIORITY_DEFAULT,                              \
        .pressure_messages = LBX_DEFAULT                                       \
    }

/*
 * lbx_mailbox_options_read_production() writes into `ret`, whose
 * `size_bytes` is set, LBX_MAILBOX_OPTIONS_INIT with a capacity
 * of 1000: a full mailbox refuses, and no message is lost silently.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status
lbx_mailbox_options_read_production(lbx_mailbox_options *ret);

/* lbx_mailbox_options_production() returns them, made in the program itself. */
LBX_INLINE lbx_mailbox_options
lbx_mailbox_options_production(void)
{
    lbx_mailbox_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_mailbox_options_read_production(&options);
    return options;
}

/*
 * lbx_mailbox_options_limit() reads a limit field: the number, 0 for
 * LBX_LIMIT_DISABLED, or -1 when there is no limit of its own. `limit` is a
 * field of the options; LBX_DEFAULT counts as `if_default`:
 *
 *     lbx_mailbox_options_limit(options.system_reservation, 4)
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API int64_t lbx_mailbox_options_limit(int64_t limit, int64_t if_default);

LBX_END

#endif
