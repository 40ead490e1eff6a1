/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behaviours and props: what an actor does, and how it is made.
 *
 * A behaviour is a constant table of functions, the actor's class. Only
 * `receive` (or a match table) is needed:
 *
 *     struct counter { long count; };
 *
 *     static lbx_status
 *     count(lbx_context *context, void *state, void *message)
 *     {
 *         struct counter *counter = state;
 *
 *         counter->count++;
 *         return LBX_OK;
 *     }
 *
 *     static const lbx_behaviour counter = {
 *         sizeof(lbx_behaviour), "counter",
 *         .state_bytes = sizeof(struct counter),
 *         .receive = count,
 *     };
 *
 * Each function is called by one thread at a time, and sees everything that
 * earlier calls for the same actor did; `state` is the actor's own, zeroed
 * before each `start`, and aligned for every type of C (max_align_t), not more.
 *
 * A handler returns LBX_OK, or any other status when it failed; then the actor
 * handles nothing more until its supervisor, its parent, has decided; nor do
 * its descendants, which may be about to be stopped. A handler that crashes
 * takes the process down: that cannot be caught in C.
 *
 * The message that a handler gets is destroyed by the library when the handler
 * returns (by its type, or by the system's `destroy`), unless the handler keeps
 * it with lbx_context_take().
 */
#ifndef LETTERBOX_ACTOR_PROPS_H
#define LETTERBOX_ACTOR_PROPS_H

#include <letterbox/actor/ref.h>
#include <letterbox/mailbox/options.h>

LBX_BEGIN

typedef struct lbx_context lbx_context;

typedef lbx_status lbx_actor_handler(lbx_context *context, void *state,
                                     void *message);

/* What a supervisor does about a child that failed. */
typedef enum lbx_directive {
    /* go on with the next message; the state stays. After a `start` that
     * failed there is no going on: it is LBX_DIRECTIVE_RESTART, with its
     * limit */
    LBX_DIRECTIVE_RESUME = 0,
    LBX_DIRECTIVE_RESTART, /* stop and start hooks, fresh state, same mailbox */
    LBX_DIRECTIVE_STOP,    /* stop the child */
    LBX_DIRECTIVE_ESCALATE, /* fail as well, with the child's status */
    /* the failed message, or `start`, again after the delay */
    LBX_DIRECTIVE_RETRY,
    LBX_DIRECTIVE_DEAD_LETTER, /* the failed message; then resume */
} lbx_directive;

/* A failure, as a supervisor sees it. */
typedef struct lbx_child_failure {
    lbx_ref child;
    lbx_status status; /* the status that the handler returned */
    uint32_t failures; /* of this child so far, this one included */
    int64_t retry_ns;  /* in: the strategy's delay; may be changed for
                            LBX_DIRECTIVE_RETRY */
    const char *name;  /* of the child's behaviour */
    const char *text;  /* what the child said (lbx_context_fail()); NULL:
                            nothing. Valid during the call */
} lbx_child_failure;

/* What supervisors do when the behaviour has no `supervise` of its own. */
typedef struct lbx_strategy {
    lbx_directive directive;
    bool all_for_one;     /* the directive is for all children */
    int32_t max_restarts; /* in `within_ns`; then the child is stopped;
                               negative: no limit */
    int64_t within_ns;    /* negative: ever */
    int64_t retry_ns;     /* LBX_DIRECTIVE_RETRY: how long to wait */
} lbx_strategy;

#define LBX_STRATEGY_INIT                                                      \
    {                                                                          \
        .directive = LBX_DIRECTIVE_RESTART, .max_restarts = 10,                \
        .within_ns = 60 * LBX_SECOND, .retry_ns = 100 * LBX_MS                 \
    }

/* A strategy and more: for props, pools and "/user". Start it from
 * LBX_SUPERVISOR_INIT.
 *
 * With a back-off, a child that is restarted stops at once and starts again
 * later: after `min_backoff_ns`, then `backoff_factor` times as long for each
 * restart that follows, at most `max_backoff_ns`. One that has not failed for
 * `max_backoff_ns` since its last start begins with `min_backoff_ns` again.
 * Its messages wait meanwhile. */
typedef struct lbx_supervisor {
    size_t size_bytes; /* LBX_SUPERVISOR_INIT sets it */
    lbx_strategy strategy;

    /* Decides in place of the strategy's directive; a behaviour's own
     * `supervise` comes first. Called by the thread that runs the supervisor.
     * NULL: the strategy's directive. */
    lbx_directive (*decide)(void *context, lbx_child_failure *failure);
    void *context; /* must outlive the supervisor */

    int64_t min_backoff_ns; /* 0: no back-off */
    int64_t max_backoff_ns;
    double backoff_factor; /* 1 or more */
} lbx_supervisor;

#define LBX_SUPERVISOR_INIT                                                    \
    {                                                                          \
        .size_bytes = sizeof(lbx_supervisor), .strategy = LBX_STRATEGY_INIT,   \
        .max_backoff_ns = 60 * LBX_SECOND, .backoff_factor = 2                 \
    }

/* One row of a match table: messages of `type` or derived from it, for which
 * `accepts` (if not NULL) returns true. The first row that fits is called. A
 * NULL type is any message, with or without a type. */
typedef struct lbx_match {
    const lbx_type *const *type; /* where the type will be, so that the table
                                    can be constant; NULL: any */
    bool (*accepts)(const void *message);
    lbx_actor_handler *receive;
} lbx_match;

/* Rows without a cast. `type` is a variable, an lbx_type * or a const one;
 * anything else does not compile.
 *
 *     static const lbx_match matches[] = {
 *         LBX_MATCH(order_type, take_order),
 *         LBX_MATCH_IF(cancel_type, is_ours, cancel_order),
 *     };
 *
 *     ... in the behaviour: LBX_MATCHES(matches),
 */
#ifdef __cplusplus
#define LBX_MATCH_TYPE(type) (&(type))
#else
#define LBX_MATCH_TYPE(type)                                                   \
    ((const lbx_type *const *)_Generic((type), lbx_type *                      \
                                       : &(type), const lbx_type *             \
                                       : &(type)))
#endif

#define LBX_MATCH(type, receive) LBX_MATCH_IF(type, NULL, receive)
#define LBX_MATCH_IF(type, accepts, receive)                                   \
    {                                                                          \
        LBX_MATCH_TYPE(type), (accepts), (receive)                             \
    }

/* The members of a behaviour for an array of rows. */
#define LBX_MATCHES(rows)                                                      \
    .matches = (rows), .match_count = sizeof(rows) / sizeof((rows)[0])

typedef struct lbx_behaviour {
    size_t size_bytes;  /* sizeof(lbx_behaviour) */
    const char *name;   /* for people, and for settings */
    size_t state_bytes; /* zeroed memory for the state; 0: none */

    /* Called first, and again after each restart, each time with the props'
     * `argument`. Anything but LBX_OK is a failure like that of a handler. */
    lbx_status (*start)(lbx_context *context, void *state, void *argument);

    /* Called for each message that no row of `matches` fits. NULL: such
     * messages are dead letters, reason LBX_LOSS_UNHANDLED. */
    lbx_actor_handler *receive;
    const lbx_match *matches;
    size_t match_count;

    /* Called last, and before each restart; also after a `start` that failed,
     * with the state as that left it. Not called for an actor that was stopped
     * before its first run. */
    void (*stop)(lbx_context *context, void *state);

    /* Called when a handler failed, before the supervisor is notified. LBX_OK
     * means handled: the actor continues. */
    lbx_status (*handle_error)(lbx_context *context, void *state,
                               lbx_status status, void *message);

    /* What to do about a child that failed; NULL: the props' strategy. A
     * number that is no directive stops the child. */
    lbx_directive (*supervise)(lbx_context *context, void *state,
                               lbx_child_failure *failure);

    /* What its mailbox must be able to do: LBX_CAN_*; and the name of the
     * semantics, mapped to a mailbox in `mailbox.requirements`. */
    uint32_t needs;
    const char *needs_semantics;
} lbx_behaviour;

#define LBX_BEHAVIOUR_INIT                                                     \
    {                                                                          \
        .size_bytes = sizeof(lbx_behaviour)                                    \
    }

typedef struct lbx_props {
    size_t size_bytes;              /* LBX_PROPS_INIT sets it */
    const lbx_behaviour *behaviour; /* must outlive the actor */
    void *argument; /* for `start`, which is called later, in another thread,
                       and again at each restart: what it points to must live
                       as long as the actor. Yours; never freed */
    const char *mailbox; /* a mailbox of the settings, or the name of a type;
                            NULL: see actor/selection.h */
    /* For `mailbox`, instead of the settings. Without `mailbox`: of the kind
     * that they ask for (bounded with a capacity, by priority with `priority`
     * or `compare`, control-aware with a control capacity) and that the
     * behaviour needs. The allocator may be one of their own; an owner,
     * dead_letters, a destroy or a clock that is not the system's are refused:
     * the actor owns its mailbox, and what that loses is a dead letter of the
     * system. With a loss_sink, what the mailbox drops, does not take in, finds
     * expired, or has left when the actor ends goes there instead; the sink
     * owns the message, is called by any thread, without a lock, and must live
     * as long as the system. Borrowed during the spawn. */
    const lbx_mailbox_options *mailbox_options;
    const char *dispatcher; /* a dispatcher of the settings; "..": the
                               parent's; NULL: the default */
    lbx_strategy strategy;  /* for its children */
    /* 1 and up; LBX_DEFAULT: from the settings; LBX_UNLIMITED */
    int64_t stash_capacity;
    lbx_fault *fault; /* filled in when the spawn fails */
    /* for its children, instead of `strategy`; copied. NULL: `strategy` */
    const lbx_supervisor *supervisor;
} lbx_props;

#define LBX_PROPS_INIT                                                         \
    {                                                                          \
        .size_bytes = sizeof(lbx_props), .strategy = LBX_STRATEGY_INIT,        \
        .stash_capacity = LBX_DEFAULT                                          \
    }

LBX_END

#endif
