/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context: what a handler can do beside computing.
 *
 * A context is given to each call of a behaviour's function and is valid until
 * that returns; do not keep it. Everything here is for the calling actor's own
 * thread of execution; from elsewhere use the actor's ref.
 *
 * Threads    the handler that was given the context.
 */
#ifndef LETTERBOX_ACTOR_CONTEXT_H
#define LETTERBOX_ACTOR_CONTEXT_H

#include <letterbox/actor/system.h>

#if defined(__GNUC__)
#define LBX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LBX_PRINTF(text, first)
#endif

LBX_BEGIN

/*
 * lbx_context_self() is the actor itself.
 *
 * Since      0.1
 */
LBX_API lbx_ref lbx_context_self(const lbx_context *context);

/*
 * lbx_context_parent() is the actor's parent; lbx_ref_nobody() for "/user".
 *
 * Since      0.1
 */
LBX_API lbx_ref lbx_context_parent(const lbx_context *context);

/*
 * lbx_context_sender() is the sender of the current message; lbx_ref_nobody()
 * when it has none, or when there is no current message.
 *
 * Since      0.1
 */
LBX_API lbx_ref lbx_context_sender(const lbx_context *context);

/*
 * lbx_context_system() is the actor's system.
 *
 * Since      0.1
 */
LBX_API lbx_system *lbx_context_system(const lbx_context *context);

/*
 * lbx_context_type() is the current message's type; NULL when it has none.
 *
 * Since      0.1
 */
LBX_API const lbx_type *lbx_context_type(const lbx_context *context);

/*
 * lbx_context_take() keeps the current message: the library will not destroy
 * it.
 *
 * Ownership  the message is the handler's; returned for convenience, NULL when
 *            it was stashed.
 * Since      0.1
 */
LBX_API void *lbx_context_take(lbx_context *context);

/*
 * lbx_context_reply() sends a message to the sender of the current message.
 *
 * Ownership  the message is the system's, whatever happens.
 * Since      0.1
 */
LBX_API void lbx_context_reply(lbx_context *context, void *message);

/*
 * lbx_context_reply_typed() is the same for a message of a registered type, as
 * lbx_tell_typed() sends it.
 *
 * Ownership  the message is the system's, whatever happens.
 * Since      0.1
 */
LBX_API void lbx_context_reply_typed(lbx_context *context, const lbx_type *type,
                                     void *message);

/*
 * lbx_context_forward() passes the current message on, with its sender.
 *
 * Ownership  the message is the system's; the handler must not use it again.
 * Since      0.1
 */
LBX_API void lbx_context_forward(lbx_context *context, lbx_ref to);

/*
 * lbx_context_spawn() is lbx_system_spawn() for a child of this actor.
 *
 * Returns    as lbx_system_spawn(); LBX_CLOSED while the actor is ending,
 *            and in its `stop` before a restart.
 * Ownership  a ref owns nothing.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_spawn(lbx_context *context,
                                                  const lbx_props *props,
                                                  const char *name,
                                                  lbx_ref *ret);

/*
 * lbx_context_children() writes the refs of this actor's children that have not
 * stopped into `ret`, as far as `capacity` allows, and returns how many there
 * are.
 *
 * Ownership  refs own nothing.
 * Since      0.1
 */
LBX_API size_t lbx_context_children(lbx_context *context, lbx_ref *ret,
                                    size_t capacity);

/*
 * lbx_context_fail() gives a failure words: it returns `status`, for the
 * handler to return, and what it said goes to the supervisor
 * (lbx_child_failure) and to watchers (lbx_termination), cut at 200 bytes.
 *
 *     return lbx_context_fail(context, LBX_IO, "cannot read %s", path);
 *
 * Returns    `status`.
 * Since      0.1
 */
LBX_API LBX_PRINTF(3, 4) lbx_status
    lbx_context_fail(lbx_context *context, lbx_status status,
                     const char *format, ...);

/*
 * lbx_context_stop() stops this actor after the current message.
 *
 * Since      0.1
 */
LBX_API void lbx_context_stop(lbx_context *context);

/*
 * lbx_context_become() makes `receive` handle messages from the next one on,
 * instead of the behaviour's match table and receive; lbx_context_unbecome()
 * goes back to what was before. A restart undoes them all.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY; LBX_INVALID.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_become(lbx_context *context,
                                                   lbx_actor_handler *receive);

/*
 * lbx_context_unbecome() undoes the last lbx_context_become(), if any.
 *
 * Since      0.1
 */
LBX_API void lbx_context_unbecome(lbx_context *context);

/*
 * lbx_context_watch() subscribes to the end of `ref`: one message of the type
 * lbx_terminated_type(), also when it has stopped already. Watching twice is
 * watching once.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY; LBX_INVALID for lbx_ref_nobody(), the actor
 *            itself, and actors of other systems.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_watch(lbx_context *context,
                                                  lbx_ref ref);

/*
 * lbx_context_unwatch() cancels a watch: no notice arrives any more.
 *
 * Since      0.1
 */
LBX_API void lbx_context_unwatch(lbx_context *context, lbx_ref ref);

/*
 * lbx_terminated_type() is the type of the notices that watching brings.
 * lbx_terminated_ref() reads from such a message which actor has stopped, and
 * lbx_terminated_why() why. Only the library makes messages of this type.
 *
 * Since      0.1
 */
LBX_API const lbx_type *lbx_terminated_type(void);

/* Why an actor has stopped. */
typedef enum lbx_termination_reason {
    LBX_TERMINATION_STOPPED = 0, /* by lbx_ref_stop(), a pill, or itself */
    LBX_TERMINATION_FAILED,      /* it had failed; its supervisor stopped it */
    LBX_TERMINATION_RESTART_LIMIT, /* it failed too often to be restarted */
    LBX_TERMINATION_BY_PARENT,     /* with its parent's end or restart, or with
                                      a sibling that failed */
    LBX_TERMINATION_GONE,          /* it had stopped before it was watched */
} lbx_termination_reason;

typedef struct lbx_termination {
    size_t size_bytes; /* the library sets it */
    lbx_ref ref;
    lbx_termination_reason reason;
    lbx_status status; /* of its last failure, for LBX_TERMINATION_FAILED and
                          _RESTART_LIMIT; otherwise LBX_OK */
    const char *text;  /* what it said then (lbx_context_fail()); or NULL */
} lbx_termination;

/*
 * lbx_terminated_why() is why an actor has stopped, read from a message of that
 * type; NULL for NULL, which a dead letter of that type may have.
 *
 * Ownership  it is the message's, and valid as long as that.
 * Since      0.1
 */
LBX_API const lbx_termination *lbx_terminated_why(const void *message);

/*
 * lbx_terminated_ref() is the actor that has stopped, read from a message of
 * that type.
 *
 * Since      0.1
 */
LBX_API lbx_ref lbx_terminated_ref(const void *message);

/*
 * The stash: messages put aside until the actor is ready for them. It is a
 * buffer of its own, with a capacity of its own (props' `stash_capacity`, or
 * the settings'); what is in it does not count against the mailbox, and
 * unstashing never fails. A restart brings all of it back; when the actor stops
 * it becomes dead letters.
 *
 * Unstashed messages are handled before what waits in the mailbox. A mailbox
 * that sorts goes on doing so: they come before what is as urgent, and after
 * what is more urgent; a control message overtakes them in a control-aware one.
 */

/*
 * lbx_context_stash() puts the current message aside.
 *
 * Returns    LBX_OK; LBX_FULL when the stash is; LBX_EXISTS when the message
 *            is stashed already; LBX_NO_MEMORY; LBX_INVALID without a current
 *            message. On failure the message is as before.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_stash(lbx_context *context);

/*
 * lbx_context_unstash_all() makes all stashed messages the next to be handled,
 * in the order in which they were stashed. One that is stashed again meanwhile
 * waits for the next time.
 *
 * Since      0.1
 */
LBX_API void lbx_context_unstash_all(lbx_context *context);

/*
 * lbx_context_unstash() is the same for the first `max` of them; returns their
 * number.
 *
 * Since      0.1
 */
LBX_API uint64_t lbx_context_unstash(lbx_context *context, uint64_t max);

/*
 * lbx_context_stashed() is how many messages are in the stash.
 *
 * Since      0.1
 */
LBX_API uint64_t lbx_context_stashed(const lbx_context *context);

/*
 * lbx_context_stash_capacity() is how many there may be; LBX_UNLIMITED.
 *
 * Since      0.1
 */
LBX_API int64_t lbx_context_stash_capacity(const lbx_context *context);

/*
 * lbx_context_stash_find() searches the stash, in the order in which messages
 * were put there, for the first for which `accepts` returns true; NULL: the
 * first of all. A function that always returns false sees them all.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND; LBX_INVALID.
 * Ownership  the message in *ret is the stash's: read it before you unstash or
 *            clear. `accepts` must not use the context.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_context_stash_find(
    const lbx_context *context,
    bool (*accepts)(void *argument, const lbx_envelope *envelope),
    void *argument, lbx_envelope *ret);

/*
 * lbx_context_stash_clear() destroys what is in the stash, and what was
 * unstashed and has not been handled again. They are no dead letters: the actor
 * has seen each of them. The current message is destroyed too if it was
 * stashed; do not use it afterwards.
 *
 * Since      0.1
 */
LBX_API void lbx_context_stash_clear(lbx_context *context);

/*
 * lbx_context_set_receive_timeout() requests a message of the type
 * lbx_receive_timeout_type() whenever nothing else has arrived for
 * `timeout_ns`; negative: no longer.
 *
 * Returns    LBX_OK; LBX_NO_MEMORY; LBX_INVALID for 0.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status
lbx_context_set_receive_timeout(lbx_context *context, int64_t timeout_ns);

/*
 * lbx_receive_timeout_type() is the type of those messages; they are NULL.
 *
 * Since      0.1
 */
LBX_API const lbx_type *lbx_receive_timeout_type(void);

LBX_END

#endif
