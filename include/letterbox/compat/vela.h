/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vela's message loop: a mailbox and a function, started and stopped.
 *
 * A loop has a mailbox of any kind of its own. While it is running it takes
 * messages from there, one at a time, and gives each to `receive`. It can be
 * paused, resumed, stopped, and started again; what is sent meanwhile waits.
 *
 *     static lbx_status
 *     greet(lbx_vela_loop *loop, void *context, void *message)
 *     {
 *         return say_hello(message) ? LBX_OK : LBX_REFUSED;
 *     }
 *
 *     lbx_vela_loop_options options = LBX_VELA_LOOP_OPTIONS_INIT;
 *     lbx_vela_loop *loop;
 *
 *     options.receive = greet;
 *     lbx_vela_loop_create(system, &options, &loop);
 *     lbx_vela_loop_start(loop, NULL);
 *     lbx_vela_loop_send(loop, "world");
 *     lbx_vela_loop_stop(loop, LBX_FOREVER, NULL);
 *     lbx_vela_loop_destroy(loop);
 *
 * States and the moves between them; any other move is refused, with
 * LBX_INVALID and a sentence in the fault:
 *
 *     idle ──start──► running ──pause──► paused
 *                     ▲  │ ▲                │ │
 *              start ─┘  │ └────resume──────┘ │
 *     stopped ◄── stopping ◄──────stop────────┘
 *
 * A loop has no thread: the threads of its actor system run it, up to
 * `max_throughput` messages in a cycle. It does not poll: a send notifies it.
 *
 * When `receive` fails, the error is counted, `handle_error` is called with it
 * and the message, and the loop goes on; when that fails too, that is counted
 * as another error. NULL is a message like any other.
 *
 * `receive` may read the message. When it has been handled it is destroyed, by
 * its type or by the mailbox options' `destroy`, unless a handler keeps it with
 * lbx_vela_loop_take().
 *
 * Threads    any, at the same time, unless an entry states otherwise: of two
 *            moves that meet, one comes first, and the other is refused if it
 *            does not fit any more.
 *
 * Caveats
 * - With max_throughput unlimited, the default as in Vela, a loop whose mailbox
 *   never gets empty keeps its thread from the system's other actors. 10 is
 *   Vela's number for fairness.
 * - The system's own `throughput` counts cycles, not messages.
 * - Waiting in a handler holds a thread of the system.
 * - The mailbox's scheduler hook is the loop's.
 * - When there is no memory to notify the system of a message, the message
 *   waits for the next send.
 */
#ifndef LETTERBOX_COMPAT_VELA_H
#define LETTERBOX_COMPAT_VELA_H

#include <letterbox/actor/system.h>
#include <letterbox/mailbox/options.h>

LBX_BEGIN

/*
 * lbx_vela_mailbox_options_read() writes into `ret`, whose
 * `size_bytes` is set, LBX_MAILBOX_OPTIONS_INIT without a system lane:
 * a full mailbox refuses (LBX_FULL), and messages have priority 10 unless they
 * state another.
 *
 * Returns    LBX_OK; LBX_INVALID for a size that is none.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_status lbx_vela_mailbox_options_read(lbx_mailbox_options *ret);

/* lbx_vela_mailbox_options() returns them, made in the program itself. */
LBX_INLINE lbx_mailbox_options
lbx_vela_mailbox_options(void)
{
    lbx_mailbox_options options;

    options.size_bytes = sizeof(options);
    (void)lbx_vela_mailbox_options_read(&options);
    return options;
}

typedef struct lbx_vela_loop lbx_vela_loop;

typedef enum lbx_vela_loop_state {
    LBX_VELA_LOOP_IDLE = 0, /* never started */
    LBX_VELA_LOOP_RUNNING,
    LBX_VELA_LOOP_PAUSED,
    LBX_VELA_LOOP_STOPPING,
    LBX_VELA_LOOP_STOPPED,
} lbx_vela_loop_state;

typedef struct lbx_vela_loop_options {
    size_t size_bytes;              /* LBX_VELA_LOOP_OPTIONS_INIT sets it */
    const lbx_allocator *allocator; /* borrowed, as all pointers here */
    const lbx_clock *clock;         /* for processing times and deadlines */
    lbx_fault *fault;               /* filled in when creation fails */

    /* The mailbox. */
    const char *mailbox; /* a kind's name; NULL: LBX_KIND_UNBOUNDED */
    const lbx_mailbox_options
        *mailbox_options; /* NULL: lbx_vela_mailbox_options(), with
                                                   the two above */

    int64_t max_throughput; /* messages in a cycle; LBX_DEFAULT and
                               LBX_UNLIMITED: until the mailbox is empty */
    int64_t idle_sleep_ms;  /* for compatibility with Vela, whose loop sleeps so
                               long when there is nothing to do; 0 or more, and
                               without effect: nothing here polls */

    /* What the loop does, each with the context below. */

    /* Handles a message; anything but LBX_OK is an error. NULL: `print` is
     * called. */
    lbx_status (*receive)(lbx_vela_loop *loop, void *context, void *message);

    /* Called after `receive` failed. NULL: nothing to do. */
    lbx_status (*handle_error)(lbx_vela_loop *loop, void *context,
                               lbx_status error, void *message);

    /* Called by lbx_vela_loop_start(), before the loop is running; anything but
     * LBX_OK is that call's result, and the loop stays as it was. */
    lbx_status (*pre_start)(lbx_vela_loop *loop, void *context);

    /* Called when the last message has been handled, before the loop is
     * stopped, by the thread that was running it. Once for each `pre_start`
     * that returned LBX_OK. */
    void (*post_stop)(lbx_vela_loop *loop, void *context);

    /* What Vela's actor does by default: prints the text,
     * which is "Received: ", and the message. The library itself neither prints
     * nor knows what a message looks like. NULL: nothing is printed. */
    void (*print)(void *context, const char *text, const void *message);

    void *context; /* yours */
} lbx_vela_loop_options;

#define LBX_VELA_LOOP_OPTIONS_INIT                                             \
    {                                                                          \
        .size_bytes = sizeof(lbx_vela_loop_options),                           \
        .max_throughput = LBX_DEFAULT, .idle_sleep_ms = 1                      \
    }

/*
 * lbx_vela_loop_create() makes an idle loop with an empty mailbox. NULL options
 * are LBX_VELA_LOOP_OPTIONS_INIT.
 *
 * Returns    LBX_OK; LBX_INVALID; LBX_NO_MEMORY; what lbx_mailbox_create()
 *            returns, such as LBX_NOT_FOUND for a kind that does not exist.
 * Ownership  the loop is the caller's; destroy it with lbx_vela_loop_destroy().
 *            The options are copied, the mailbox's too; the system must outlive
 *            the loop.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_vela_loop_create(lbx_system *system, const lbx_vela_loop_options *options,
                     lbx_vela_loop **ret);

/*
 * lbx_vela_loop_destroy() stops the loop if need be, however long that takes,
 * and frees it. What is left in the mailbox is lost. Takes NULL.
 *
 * Threads    any but a handler of the loop, once, when no thread sends any
 *            more.
 * Blocks     until the loop has stopped.
 * Since      0.1
 */
LBX_API void lbx_vela_loop_destroy(lbx_vela_loop *loop);

/*
 * lbx_vela_loop_start() calls `pre_start`, and from then on the loop is
 * running. What is in the mailbox already is handled first.
 *
 * Returns    LBX_OK; LBX_INVALID when the loop is running, paused, stopping, or
 *            being started; LBX_CLOSED after lbx_system_terminate();
 *            LBX_NO_MEMORY; what `pre_start` returned.
 * Ownership  the fault is the caller's; it may be NULL, and is written only
 *            when the move is refused. So in all of these.
 * Threads    any. Never waits, unless `pre_start` does.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_start(lbx_vela_loop *loop,
                                                    lbx_fault *fault);

/*
 * lbx_vela_loop_pause() lets the mailbox fill. When it returns no further
 * message is given to `receive`; one that is being handled in another thread
 * may still be.
 *
 * Returns    LBX_OK; LBX_INVALID when the loop is not running.
 * Ownership  as lbx_vela_loop_start().
 * Threads    any, handlers included. Never waits.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_pause(lbx_vela_loop *loop,
                                                    lbx_fault *fault);

/*
 * lbx_vela_loop_resume() goes on after a pause, with what has come meanwhile.
 *
 * Returns    LBX_OK; LBX_INVALID when the loop is not paused.
 * Ownership  as lbx_vela_loop_start().
 * Threads    any, handlers included. Never waits.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_resume(lbx_vela_loop *loop,
                                                     lbx_fault *fault);

/*
 * lbx_vela_loop_stop() ends the loop after the message that is being handled,
 * and waits until `post_stop` has been called. What is in the mailbox stays
 * there, for the next start. Stopping a loop that is stopping waits with the
 * others. A system without threads is run meanwhile.
 *
 * Returns    LBX_OK when the loop has stopped; LBX_TIMEOUT when it is still
 *            stopping at the deadline; LBX_PENDING at once from a handler of
 *            the loop's own; LBX_INVALID when it is not running, also when a
 *            stop that came too early has ended since.
 * Ownership  as lbx_vela_loop_start().
 * Threads    any. Waiting in a handler of another actor is unwise: it may hold
 *            the thread that the loop needs.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_stop(lbx_vela_loop *loop,
                                                   int64_t deadline_ns,
                                                   lbx_fault *fault);

/*
 * lbx_vela_loop_send() puts a message into the mailbox, in any state of the
 * loop, and returns what the mailbox did.
 *
 * Returns    as lbx_producer_try_send(): LBX_OK; LBX_FULL.
 * Ownership  on LBX_OK the message is the loop's; otherwise the caller's.
 * Threads    any, handlers included. Never waits.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_send(lbx_vela_loop *loop,
                                                   void *message);

/*
 * lbx_vela_loop_process_next() takes one message of a loop that is not running,
 * and handles it in the calling thread: errors are counted and handled as ever.
 *
 * Returns    LBX_OK when there was one; LBX_EMPTY; LBX_INVALID when the loop is
 *            running or stopping; LBX_BUSY when a message is being handled.
 * Ownership  as lbx_vela_loop_start().
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_process_next(lbx_vela_loop *loop,
                                                           lbx_fault *fault);

/*
 * lbx_vela_loop_deliver() gives a message to `receive` in the calling thread,
 * past the mailbox and all that is in it. It counts as processed, or as an
 * error; the error is the caller's to handle.
 *
 * Returns    what `receive` returned; LBX_INVALID with a fault when the loop is
 *            not running; LBX_BUSY with a fault when a message is being
 *            handled.
 * Ownership  on LBX_OK the message is ended like any other; otherwise it is the
 *            caller's, unless a handler has taken it.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_deliver(lbx_vela_loop *loop,
                                                      void *message,
                                                      lbx_fault *fault);

/*
 * lbx_vela_loop_take() keeps the message that is being handled: the loop will
 * not end it. NULL outside a handler.
 *
 * Ownership  the message is the handler's; returned for convenience.
 * Threads    a handler of the loop's.
 * Since      0.1
 */
LBX_API void *lbx_vela_loop_take(lbx_vela_loop *loop);

/*
 * lbx_vela_loop_producer() is the mailbox's producer, for envelopes, batches
 * and waiting sends. Borrowed, as long as the loop is there; NULL for NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_producer *lbx_vela_loop_producer(lbx_vela_loop *loop);

/*
 * lbx_vela_loop_state_of() is the loop's state at some moment of the call;
 * LBX_VELA_LOOP_IDLE for NULL.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API lbx_vela_loop_state lbx_vela_loop_state_of(lbx_vela_loop *loop);

/*
 * lbx_vela_loop_state_name() is a state's name, "running"; "?" for a number
 * that is no state.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_vela_loop_state_name(lbx_vela_loop_state state);

/* A loop's numbers, since its creation. */
typedef struct lbx_vela_loop_stats {
    size_t size_bytes;  /* LBX_VELA_LOOP_STATS_INIT sets it */
    uint64_t processed; /* messages for which `receive` returned LBX_OK */
    uint64_t errors;    /* of `receive` and of `handle_error` */
    uint64_t cycles;    /* in which at least one message was handled */
    uint64_t waiting;   /* messages not handled yet, now */
    int64_t total_ns;   /* in `receive` and `handle_error`, in all */
    int64_t average_ns; /* for each message handled, with or without error */
    lbx_vela_loop_state state;
    const char *state_name;
} lbx_vela_loop_stats;

#define LBX_VELA_LOOP_STATS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_vela_loop_stats)                              \
    }

/*
 * lbx_vela_loop_stats_read() reads the numbers, each at its own instant. A
 * message is counted when it has been handled.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  a copy.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_vela_loop_stats_read(lbx_vela_loop *loop, lbx_vela_loop_stats *ret);

LBX_END

#endif
