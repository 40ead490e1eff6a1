/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipes: asking and waiting inside an actor, without blocking it.
 *
 * A handler must not wait. It starts what it would wait for, and returns; the
 * end of it comes later, as a message of the type lbx_pipe_result_type():
 *
 *     static lbx_status
 *     on_order(lbx_context *context, void *state, void *message)
 *     {
 *         lbx_envelope question = lbx_envelope_of_type(message, order_type);
 *
 *         lbx_context_take(context);
 *         return lbx_context_ask(context, till, &question, LBX_SECOND, 7);
 *     }
 *
 *     static lbx_status
 *     on_result(lbx_context *context, void *state, void *message)
 *     {
 *         lbx_pipe_result *result = message;
 *
 *         if (result->status == LBX_OK && result->correlation == 7)
 *             use(result->answer.message);
 *         return LBX_OK;
 *     }
 *
 * A full mailbox does not refuse a result: like notices of an end, results do
 * not go through a mailbox of a chosen kind. A pipe belongs to one start of its
 * actor: when that restarts or stops, pending operations are cancelled before
 * `stop` is called, and results that were not handled yet become dead letters.
 *
 * Threads    the handler that was given the context.
 */
#ifndef LETTERBOX_ACTOR_PIPE_H
#define LETTERBOX_ACTOR_PIPE_H

#include <letterbox/actor/context.h>
#include <letterbox/operation.h>

LBX_BEGIN

/* How an ask or an operation has ended. */
typedef struct lbx_pipe_result {
    size_t size_bytes; /* the library sets it */
    lbx_status status; /* the final status */
    uint64_t correlation;
    lbx_ref asked; /* of an ask: the actor that was asked */
    /* of an ask that ended with LBX_OK: the reply, and its sender. Its message
     * is destroyed with the result, unless it is taken. */
    lbx_envelope answer;
    void *data; /* of lbx_context_pipe() */
} lbx_pipe_result;

/*
 * lbx_pipe_result_type() is the type of these messages, for match tables and
 * lbx_context_type(). Only the library makes them.
 *
 * Threads    any.
 * Since      0.1
 */
LBX_API const lbx_type *lbx_pipe_result_type(void);

/*
 * lbx_pipe_result_take() takes the message of the reply out of a result; NULL
 * when there is none.
 *
 * Ownership  the message is the caller's.
 * Since      0.1
 */
LBX_API void *lbx_pipe_result_take(lbx_pipe_result *result);

/*
 * lbx_context_ask() sends a question to another actor; the reply comes back as
 * a message, with `correlation`. The result's status is LBX_OK; LBX_TIMEOUT
 * after `timeout_ns` (negative: never); LBX_NOT_FOUND when the other has
 * stopped, or stops without a reply; LBX_NO_MEMORY. A reply that comes later is
 * a dead letter, and so is a question to an actor that has stopped.
 *
 * Returns    LBX_OK: one result will come; LBX_NO_MEMORY; LBX_CLOSED in `stop`;
 *            LBX_INVALID, also for an actor of another system.
 * Ownership  the question is the system's, and a dead letter after LBX_CLOSED
 *            and LBX_NO_MEMORY; on LBX_INVALID it is the caller's.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_ask(lbx_context *context,
                                                lbx_ref to,
                                                const lbx_envelope *question,
                                                int64_t timeout_ns,
                                                uint64_t correlation);

/*
 * lbx_context_pipe() waits for an operation that was started: a receive from a
 * mailbox or a postbox, a flush, an ask. When it is final, a result comes as a
 * message, with its status, `correlation` and `data`. The actor polls the
 * operation, and finishes it (lbx_operation_fini()) when it is final, or
 * cancels and finishes it when the actor restarts or stops.
 *
 * `release`, unless NULL, is called once with `data` and the final status:
 * after the result was handled, or when it will not be. It may free the memory
 * of the operation and of what it returned.
 *
 * Returns    LBX_OK: one result will come; LBX_NO_MEMORY; LBX_CLOSED in `stop`;
 *            LBX_INVALID, also for an operation that was not started.
 * Ownership  on LBX_OK the operation is the actor's until its result is handled
 *            or `release` is called, and must stay where it is; otherwise it is
 *            the caller's, and `release` is not called.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_pipe(
    lbx_context *context, lbx_operation *operation, uint64_t correlation,
    void *data, void (*release)(void *data, lbx_status status));

LBX_END

#endif
