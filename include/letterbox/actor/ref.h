/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refs: the address of an actor, and sending to it.
 *
 * A ref is a number, passed by value and copied freely; it keeps nothing alive.
 * It names one life of one actor: when that has stopped, the ref is stale, and
 * what is sent to it becomes a dead letter, also when another actor lives under
 * the same name. Refs work from any thread until their system is destroyed.
 *
 *     lbx_tell(greeter, strdup("hello"));
 *
 * Telling always takes the message: it is handled, or it becomes a dead letter,
 * once. It does not wait, except from outside an actor to one whose full
 * mailbox lets senders wait (LBX_OVERFLOW_BLOCK). From a handler such a message
 * waits in the actor's outbox, and the actor handles nothing more until it has
 * been accepted, or has waited as long as that mailbox allows. A message of an
 * actor to itself does not wait: if it does not fit into the actor's own
 * mailbox, it is a dead letter at once. In a system without threads nothing
 * would free a slot while you wait outside: use lbx_try_tell(), also to keep a
 * message that was not accepted. Messages from one sender arrive in the order
 * in which they were sent, unless the mailbox sorts them.
 *
 * Inside a handler, the actor itself is the sender; outside there is none,
 * unless the envelope has one.
 *
 * Threads    any, everything here.
 */
#ifndef LETTERBOX_ACTOR_REF_H
#define LETTERBOX_ACTOR_REF_H

#include <letterbox/mailbox/messages.h>

LBX_BEGIN

/* All zero is no actor: what is sent to it is a dead letter of no system, and
 * is destroyed at once. */
typedef struct lbx_ref {
    uint64_t word;
} lbx_ref;

/*
 * lbx_ref_nobody() is the ref of no actor.
 *
 * Since      0.1
 */
LBX_API lbx_ref lbx_ref_nobody(void);

/*
 * lbx_ref_equal() returns whether two refs name the same life of the same
 * actor.
 *
 * Since      0.1
 */
LBX_API bool lbx_ref_equal(lbx_ref a, lbx_ref b);

/*
 * lbx_ref_is_alive() returns whether the actor has not stopped yet. The result
 * may be old when you read it: watch the actor to be notified.
 *
 * Since      0.1
 */
LBX_API bool lbx_ref_is_alive(lbx_ref ref);

/*
 * lbx_ref_path() writes the actor's path, "/user/shop/till", with a final 0,
 * as far as `size_bytes` allows.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when the actor has stopped; LBX_FULL when
 *            the path did not fit and was cut; LBX_INVALID.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_path(lbx_ref ref, char *ret_path,
                                             size_t size_bytes);

/*
 * lbx_tell() sends a message without a type.
 *
 * Ownership  the message is the system's, whatever happens.
 * Since      0.1
 */
LBX_API void lbx_tell(lbx_ref to, void *message);

/*
 * lbx_tell_typed() sends a message of a registered type: its handler is found
 * by the type, its priority is the type's, and the type destroys it when it has
 * been handled.
 *
 * Ownership  the message is the system's, whatever happens.
 * Since      0.1
 */
LBX_API void lbx_tell_typed(lbx_ref to, const lbx_type *type, void *message);

/*
 * lbx_tell_envelope() sends a message with all that travels beside it: type,
 * priority, channel, deadline, sender (lbx_ref_as_sender()).
 *
 * Ownership  the message is the system's, whatever happens; the envelope is
 *            copied.
 * Since      0.1
 */
LBX_API void lbx_tell_envelope(lbx_ref to, const lbx_envelope *envelope);

/*
 * lbx_try_tell() is lbx_tell_envelope() for callers that want the message back
 * when it is not accepted.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when the actor has stopped; LBX_FULL;
 *            LBX_CLOSED when it is stopping; LBX_REFUSED by its mailbox;
 *            LBX_NO_MEMORY; LBX_INVALID.
 * Ownership  on LBX_OK the message is the system's; otherwise the caller's.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_try_tell(lbx_ref to,
                                             const lbx_envelope *envelope);

/*
 * lbx_ref_as_sender() is a ref as an envelope's `sender`, and
 * lbx_ref_of_sender() the way back.
 *
 * Since      0.1
 */
LBX_API void *lbx_ref_as_sender(lbx_ref ref);

/*
 * lbx_ref_of_sender() is the ref in an envelope's `sender` or `recipient`.
 *
 * Since      0.1
 */
LBX_API lbx_ref lbx_ref_of_sender(const void *sender);

/*
 * lbx_ref_stop() stops an actor: after the message it is handling, and before
 * any other. Its children are stopped first; what is left in its mailbox
 * becomes dead letters; its watchers are notified. Stopping one that has
 * stopped does nothing.
 *
 * Since      0.1
 */
LBX_API void lbx_ref_stop(lbx_ref ref);

/*
 * lbx_ref_suspend() makes an actor handle no messages, after the one it is
 * handling, until it is resumed as often as it was suspended (255 times at
 * most). It can still be stopped, and its children are not suspended with it.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when it has stopped; LBX_NO_MEMORY.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_suspend(lbx_ref ref);

/*
 * lbx_ref_resume() undoes one lbx_ref_suspend(); one too many does nothing.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when it has stopped; LBX_NO_MEMORY.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_resume(lbx_ref ref);

/* Statistics of an actor, each read at its own instant. */
typedef struct lbx_actor_stats {
    size_t size_bytes; /* LBX_ACTOR_STATS_INIT sets it */
    uint64_t handled;  /* messages, in this life */
    uint64_t failures; /* of its handlers */
    uint64_t children;
    /* messages that wait; exact for an actor with a mailbox of its own, and
     * while no thread sends */
    uint64_t depth;

    /* The mailbox, if it has one of its own (a balancing pool's is also each
     * routee's). Time in the mailbox is known where its `timestamps` are on, by
     * the props' mailbox_options or `mailbox-timestamps` in the settings; it is
     * not measured for messages that lie in the cell. */
    const char *mailbox;     /* its kind, valid as long as the system; NULL:
                                none, messages lie in the cell */
    uint64_t timed_messages; /* that were taken after a known time */
    int64_t waited_total_ns; /* their time in the mailbox, in all */
    int64_t max_waited_ns;   /* and the longest */
    uint64_t max_depth;      /* the most that have waited in the mailbox; not
                                known, and 0, for messages in the cell */
} lbx_actor_stats;

#define LBX_ACTOR_STATS_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_actor_stats)                                  \
    }

/*
 * lbx_ref_stats_read() reads the statistics of an actor.
 *
 * Returns    LBX_OK; LBX_NOT_FOUND when it has stopped; LBX_INVALID.
 * Ownership  a copy.
 * Since      0.1
 */
LBX_API LBX_MUST_USE lbx_status lbx_ref_stats_read(lbx_ref ref,
                                                   lbx_actor_stats *ret);

/*
 * lbx_poison_pill() is a message that stops the actor when it is handled: in
 * order, or by the priority that its mailbox gives it. It is one address for
 * the whole program: a priority function can compare with it.
 *
 *     lbx_tell(logger, lbx_poison_pill());
 *
 * Since      0.1
 */
LBX_API void *lbx_poison_pill(void);

LBX_END

#endif
