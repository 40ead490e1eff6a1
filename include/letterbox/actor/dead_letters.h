/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters of actors: messages that were sent and not handled.
 *
 * Each such message is reported once, to all listeners, with the reason, the
 * sender and the recipient; then it is destroyed. Overflow has reasons of its
 * own (LBX_LOSS_DROPPED_*), so that a full mailbox is not taken for a stopped
 * actor.
 *
 *     lbx_dead_letter_log log = LBX_DEAD_LETTER_LOG_INIT;
 *
 *     log.print = print_line;
 *     lbx_system_add_dead_letter_listener(
 *         system, lbx_dead_letter_log_as_listener(&log));
 *
 * Messages whose type is derived from lbx_dead_letter_suppressed_type(), and
 * those of the library's own (a poison pill, a notice that an actor has
 * stopped), are expected to be lost: they are marked, and the log omits them.
 */
#ifndef LETTERBOX_ACTOR_DEAD_LETTERS_H
#define LETTERBOX_ACTOR_DEAD_LETTERS_H

#include <letterbox/actor/system.h>

LBX_BEGIN

#define LBX_MAX_DEAD_LETTER_LISTENERS 8

/*
 * lbx_system_add_dead_letter_listener() adds a listener for dead letters,
 * besides the one in the system's options.
 *
 * Returns    LBX_OK; LBX_FULL for more than LBX_MAX_DEAD_LETTER_LISTENERS;
 *            LBX_INVALID.
 * Ownership  the listener's context must live until it is removed, or until
 *            the system is destroyed.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_system_add_dead_letter_listener(
    lbx_system *system, lbx_dead_letter_listener listener);

/*
 * lbx_system_remove_dead_letter_listener() removes a listener; false when it
 * was not there. A thread that was already reporting may still call it once.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool
lbx_system_remove_dead_letter_listener(lbx_system *system,
                                       lbx_dead_letter_listener listener);

/*
 * lbx_dead_letter_suppressed_type() is a base for types whose messages may be
 * lost without being reported.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_type *lbx_dead_letter_suppressed_type(void);

/*
 * lbx_loss_reason_text() is a reason in words, "dropped: the mailbox was full".
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const char *lbx_loss_reason_text(lbx_loss_reason reason);

/* A listener that writes lines for people, and not too many. A line says what
 * was lost and why, and the paths of sender and recipient, also of one that had
 * a name and ended not long ago. The first `max_lines` are written, then none
 * for `pause_ns`, then how many were left out, and from the start. */
typedef struct lbx_dead_letter_log {
    void (*print)(void *context, const char *line);
    void *context;
    const lbx_clock *clock;
    uint64_t max_lines;   /* 10 */
    int64_t pause_ns;     /* 5 minutes; negative: forever */
    bool during_stop;     /* also while the system is being terminated */
    uint64_t reserved[8]; /* 0: the library's */
} lbx_dead_letter_log;

#define LBX_DEAD_LETTER_LOG_INIT                                               \
    {                                                                          \
        .max_lines = 10, .pause_ns = 300 * LBX_SECOND                          \
    }

/*
 * lbx_dead_letter_log_as_listener() is a log as a listener.
 *
 * Ownership  the log must live as long as the listener is used.
 * Threads    any; `print` is called by whichever thread loses a message, one
 *            at a time.
 * Since      0.1
 */
LBX_API lbx_dead_letter_listener
lbx_dead_letter_log_as_listener(lbx_dead_letter_log *log);

LBX_END

#endif
