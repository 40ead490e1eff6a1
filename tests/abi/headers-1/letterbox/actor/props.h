/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_PROPS_H
#define LETTERBOX_ACTOR_PROPS_H
#include <letterbox/actor/ref.h>
#include <letterbox/mailbox/options.h>
LBX_BEGIN
typedef struct lbx_context lbx_context;
typedef lbx_status lbx_actor_handler(lbx_context *context, void *state,
                                     void *message);
typedef enum lbx_directive {
    LBX_DIRECTIVE_RESUME = 0,
    LBX_DIRECTIVE_RESTART,
    LBX_DIRECTIVE_STOP,
    LBX_DIRECTIVE_ESCALATE,
    LBX_DIRECTIVE_RETRY,
    LBX_DIRECTIVE_DEAD_LETTER,
} lbx_directive;
typedef struct lbx_child_failure {
    lbx_ref child;
    lbx_status status;
    uint32_t failures;
    int64_t retry_ns;
    const char *name;
} lbx_child_failure;
typedef struct lbx_strategy {
    lbx_directive directive;
    bool all_for_one;
    int32_t max_restarts;
    int64_t within_ns;
    int64_t retry_ns;
} lbx_strategy;
#define LBX_STRATEGY_INIT                                                      \
    {                                                                          \
        .directive = LBX_DIRECTIVE_RESTART, .max_restarts = 10,                \
        .within_ns = 60 * LBX_SECOND, .retry_ns = 100 * LBX_MS                 \
    }
typedef struct lbx_match {
    const lbx_type *const *type;
    bool (*accepts)(const void *message);
    lbx_actor_handler *receive;
} lbx_match;
typedef struct lbx_behaviour {
    size_t size_bytes;
    const char *name;
    size_t state_bytes;
    lbx_status (*start)(lbx_context *context, void *state, void *argument);
    lbx_actor_handler *receive;
    const lbx_match *matches;
    size_t match_count;
    void (*stop)(lbx_context *context, void *state);
    lbx_status (*handle_error)(lbx_context *context, void *state,
                               lbx_status status, void *message);
    lbx_directive (*supervise)(lbx_context *context, void *state,
                               lbx_child_failure *failure);
    uint32_t needs;
    const char *needs_semantics;
} lbx_behaviour;
#define LBX_BEHAVIOUR_INIT                                                     \
    {                                                                          \
        .size_bytes = sizeof(lbx_behaviour)                                    \
    }
typedef struct lbx_props {
    size_t size_bytes;
    const lbx_behaviour *behaviour;
    void *argument;
    const char *mailbox;
    const lbx_mailbox_options *mailbox_options;
    const char *dispatcher;
    lbx_strategy strategy;
    int64_t stash_capacity;
    lbx_fault *fault;
} lbx_props;
#define LBX_PROPS_INIT                                                         \
    {                                                                          \
        .size_bytes = sizeof(lbx_props), .strategy = LBX_STRATEGY_INIT,        \
        .stash_capacity = LBX_DEFAULT                                          \
    }
LBX_END
#endif
