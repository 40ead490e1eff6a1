/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking and timing: a question with an answer, and messages for later.
 *
 * An ask is an operation: it sends a message whose sender is the operation
 * itself, and is done when that sender is told something.
 *
 *     lbx_operation ask;
 *     lbx_envelope question = lbx_envelope_of(order, 10), answer;
 *
 *     lbx_ask_init(&ask, system, till, &question, &answer,
 *                  lbx_deadline_after(NULL, LBX_SECOND));
 *     if (lbx_operation_wait(&ask) == LBX_OK)
 *         use(answer.message);
 *     lbx_operation_fini(&ask);
 *
 * Do not park in a handler: poll the operation, or tell and let the answer come
 * as a message.
 */
#ifndef LETTERBOX_ACTOR_ASK_H
#define LETTERBOX_ACTOR_ASK_H

#include <letterbox/actor/system.h>
#include <letterbox/operation.h>

LBX_BEGIN

/*
 * lbx_ask_init() starts an ask. The question is told by the first poll. Final
 * statuses are LBX_OK; LBX_TIMEOUT; LBX_NOT_FOUND when `to` has ended, also
 * without having answered; LBX_CLOSED when somebody has stopped the sender, that
 * is, this ask; LBX_CANCELLED; LBX_NO_MEMORY. Answers that come later are dead
 * letters. End the operation before its system, unless it is final.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  the question is the operation's, which ends it if it was never
 *            told, and the system's from the first poll on; `ret_answer` must live as long as the operation, and
 *            its message is the caller's on LBX_OK.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ask_init(lbx_operation *operation,
                                             lbx_system *system, lbx_ref to,
                                             const lbx_envelope *question,
                                             lbx_envelope *ret_answer,
                                             int64_t deadline_ns);

/*
 * lbx_ask_until() asks, and waits for the answer. Not for handlers, and not for
 * a system without threads, which nobody would run meanwhile.
 *
 * Returns    the final statuses of lbx_ask_init(); LBX_INVALID.
 * Ownership  the question is the system's; the answer's message is the caller's
 *            on LBX_OK.
 * Threads    any but an actor's.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ask_until(lbx_system *system, lbx_ref to,
                                              const lbx_envelope *question,
                                              lbx_envelope *ret_answer,
                                              int64_t deadline_ns);

/*
 * lbx_tell_handled_init() starts an operation that tells an actor a message and is
 * done when it has been handled. The message is told by the first poll.
 *
 * Final statuses are what the handler answered, LBX_OK as a rule. A message that
 * was stashed has not been handled; one that was forwarded is, by the actor that
 * it was forwarded to; one that is retried is, when its supervisor gives up or it
 * succeeds. A message that was not handled: LBX_NOT_FOUND when the actor has ended
 * first; LBX_UNSUPPORTED when it has no handler for it; LBX_FULL, LBX_REFUSED;
 * LBX_TIMEOUT, also for the envelope's deadline; LBX_CANCELLED, also for a stash
 * that was cleared; LBX_NO_MEMORY; LBX_UNKNOWN when it was handled and there was no
 * memory to say how. The sender that the handler sees is the operation; answers to
 * it are dead letters.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  as lbx_ask_init(): the message is the operation's, and the system's
 *            from the first poll on. Cancelling does not take it back.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_tell_handled_init(lbx_operation *operation, lbx_system *system, lbx_ref to,
                      const lbx_envelope *message, int64_t deadline_ns);

/*
 * lbx_ref_ended_init() starts an operation that is done when an actor has ended:
 * watching for those who are no actors. Final statuses are LBX_OK, also when it
 * had ended before; LBX_TIMEOUT; LBX_CANCELLED; LBX_NO_MEMORY.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  nothing changes hands.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_ended_init(lbx_operation *operation,
                                                   lbx_system *system,
                                                   lbx_ref ref,
                                                   int64_t deadline_ns);

/*
 * lbx_ref_ended_until() waits for the end of an actor. Not for handlers, and not
 * for a system without threads, which nobody would run meanwhile.
 *
 * Returns    the final statuses of lbx_ref_ended_init(); LBX_INVALID.
 * Threads    any but an actor's.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_ended_until(lbx_system *system,
                                                    lbx_ref ref,
                                                    int64_t deadline_ns);

/* A timer's name, for cancelling. All zero is none. */
typedef struct lbx_timer {
    uint64_t id;
} lbx_timer;

/*
 * lbx_timer_start() tells `to` the envelope's message after `delay_ns`, and
 * then every `period_ns` if that is positive. A periodic message must have a
 * type that can clone it, or need no ending at all: then the same pointer is
 * told every time. A timer whose actor has ended is over.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY; LBX_UNSUPPORTED for a periodic message
 *            that cannot be cloned but must be ended; LBX_INVALID.
 * Ownership  on LBX_OK the message is the system's; otherwise the caller's. A
 *            timer's name owns nothing.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_timer_start(lbx_system *system, lbx_ref to,
                                                const lbx_envelope *envelope,
                                                int64_t delay_ns,
                                                int64_t period_ns,
                                                lbx_timer *ret);

/*
 * lbx_timer_cancel() takes a timer back; false when it was over already. Its
 * last message may still be in the actor's mailbox.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_timer_cancel(lbx_system *system, lbx_timer timer);

LBX_END

#endif
