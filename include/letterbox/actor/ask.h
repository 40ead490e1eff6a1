/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking and timing: a request with a reply, and messages for later.
 *
 * An ask is an operation: it sends a message whose sender is the operation
 * itself, and is done when that sender receives a message.
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
 * Do not park in a handler: poll the operation, or tell, and let the reply come
 * as a message.
 */
#ifndef LETTERBOX_ACTOR_ASK_H
#define LETTERBOX_ACTOR_ASK_H

#include <letterbox/actor/system.h>
#include <letterbox/operation.h>

LBX_BEGIN

/*
 * lbx_ask_init() starts an ask. The question is sent by the first poll. Final
 * statuses are LBX_OK; LBX_TIMEOUT; LBX_NOT_FOUND when `to` has stopped, also
 * without a reply, and for lbx_ref_nobody(); LBX_CLOSED when the sender, that
 * is, this ask, was stopped; LBX_CANCELLED; LBX_NO_MEMORY. Replies that come
 * later are dead letters. Finish the operation before its system is destroyed,
 * unless it is final.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  on LBX_OK the question is the operation's, which destroys it if it
 *            was never sent, and the system's from the first poll on;
 *            `ret_answer` must live as long as the operation, and its message
 *            is the caller's on LBX_OK.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ask_init(lbx_operation *operation,
                                             lbx_system *system, lbx_ref to,
                                             const lbx_envelope *question,
                                             lbx_envelope *ret_answer,
                                             int64_t deadline_ns);

/*
 * lbx_ask_until() asks, and waits for the reply. Not for handlers, and not for
 * a system without threads: nothing would run meanwhile.
 *
 * Returns    the final statuses of lbx_ask_init(); LBX_INVALID.
 * Ownership  the question is the system's, except for LBX_INVALID: then it is
 *            still the caller's; the message of the reply is the
 *            caller's on LBX_OK.
 * Threads    any but an actor's.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ask_until(lbx_system *system, lbx_ref to,
                                              const lbx_envelope *question,
                                              lbx_envelope *ret_answer,
                                              int64_t deadline_ns);

/*
 * lbx_tell_handled_init() starts an operation that tells an actor a message and
 * is done when it has been handled. The message is sent by the first poll.
 *
 * The final status is what the handler returned, usually LBX_OK. A message that
 * was stashed has not been handled; one that was forwarded is, by the actor
 * that it was forwarded to; one that is retried is, when it succeeds or its
 * supervisor stops retrying. A message that was not handled: LBX_NOT_FOUND when
 * the actor has stopped first; LBX_UNSUPPORTED when it has no handler for it;
 * LBX_FULL, LBX_REFUSED; LBX_TIMEOUT, also for the envelope's deadline;
 * LBX_CANCELLED, also for a stash that was cleared; LBX_NO_MEMORY; LBX_UNKNOWN
 * when it was handled and there was no memory to report the status. The sender
 * that the handler sees is the operation; replies to it are dead letters.
 *
 * Returns    LBX_OK; LBX_INVALID.
 * Ownership  as lbx_ask_init(): the message is the operation's, and the
 *            system's from the first poll on. Cancelling does not take it back.
 * Threads    one at a time per operation.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_tell_handled_init(lbx_operation *operation, lbx_system *system, lbx_ref to,
                      const lbx_envelope *message, int64_t deadline_ns);

/*
 * lbx_ref_ended_init() starts an operation that is done when an actor has
 * stopped: watching for threads that are no actors. Final statuses are LBX_OK,
 * also when it had stopped before; LBX_TIMEOUT; LBX_CANCELLED; LBX_NO_MEMORY.
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
 * lbx_ref_ended_until() waits until an actor has stopped. Not for handlers, and
 * not for a system without threads: nothing would run meanwhile.
 *
 * Returns    the final statuses of lbx_ref_ended_init(); LBX_INVALID.
 * Threads    any but an actor's.
 * Blocks     until `deadline_ns`.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_ended_until(lbx_system *system,
                                                    lbx_ref ref,
                                                    int64_t deadline_ns);

/* A timer's id, for cancelling. All zero is none. */
typedef struct lbx_timer {
    uint64_t id;
} lbx_timer;

/*
 * lbx_timer_start() sends the envelope's message to `to` after `delay_ns`, and
 * then every `period_ns` if that is positive. A periodic message must have a
 * type that can clone it, or need no destruction at all: then the same pointer
 * is sent every time. A periodic timer ends with the actor `to`.
 *
 * A timer that an actor's own function starts for the actor itself belongs to
 * it: it is cancelled when the actor stops or restarts, so that a `start` which
 * starts timers does not add to those of the `start` before. Other timers go
 * on while `to` restarts.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY; LBX_UNSUPPORTED for a periodic message that
 *            cannot be cloned but must be destroyed; LBX_INVALID.
 * Ownership  on LBX_OK the message is the system's; otherwise the caller's. A
 *            timer's id owns nothing.
 * Threads    any.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_timer_start(lbx_system *system, lbx_ref to,
                                                const lbx_envelope *envelope,
                                                int64_t delay_ns,
                                                int64_t period_ns,
                                                lbx_timer *ret);

/*
 * lbx_timer_cancel() cancels a timer; false when it had fired for the last time
 * already. Its last message may still be in the actor's mailbox.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API bool lbx_timer_cancel(lbx_system *system, lbx_timer timer);

LBX_END

#endif
