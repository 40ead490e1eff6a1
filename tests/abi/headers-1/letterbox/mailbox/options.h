/* SPDX-License-Identifier: Apache-2.0 */
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
#define LBX_LIMIT_DISABLED                     (INT64_MIN + 1)
#define LBX_LIMIT_SHARED                       (INT64_MIN + 2)
#define LBX_MAILBOX_DEFAULT_CAPACITY           1000
#define LBX_MAILBOX_DEFAULT_SYSTEM_RESERVATION 4
typedef enum lbx_overflow {
    LBX_OVERFLOW_REJECT = 0,
    LBX_OVERFLOW_DROP_NEWEST,
    LBX_OVERFLOW_DROP_OLDEST,
    LBX_OVERFLOW_GROW,
    LBX_OVERFLOW_BLOCK,
} lbx_overflow;
typedef enum lbx_outcome {
    LBX_OUTCOME_ENQUEUED = 0,
    LBX_OUTCOME_DROPPED_NEWEST,
    LBX_OUTCOME_DROPPED_OLDEST,
    LBX_OUTCOME_GREW,
    LBX_OUTCOME_NOT_SENT,
} lbx_outcome;
typedef struct lbx_send_result {
    size_t size_bytes;
    lbx_outcome outcome;
    uint32_t dropped_messages;
    int64_t capacity_messages;
    lbx_overflow overflow;
} lbx_send_result;
#define LBX_SEND_RESULT_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_send_result)                                  \
    }
typedef struct lbx_loss {
    lbx_mailbox *mailbox;
    const char *mailbox_name;
    const lbx_envelope *envelope;
    uint64_t lost_messages;
} lbx_loss;
typedef struct lbx_loss_sink {
    void (*lost)(void *context, const lbx_loss *loss);
    void *context;
} lbx_loss_sink;
typedef enum lbx_metric {
    LBX_METRIC_ENQUEUED = 0,
    LBX_METRIC_DEQUEUED,
    LBX_METRIC_DROPPED_OLDEST,
    LBX_METRIC_DROPPED_NEWEST,
    LBX_METRIC_GREW,
    LBX_METRIC_EXPIRED,
    LBX_METRIC_SUSPENDED,
    LBX_METRIC_RESUMED,
    LBX_METRIC_RESERVATION_USED,
    LBX_METRIC_RESERVATION_EXHAUSTED,
    LBX_METRIC_PRESSURE,
    LBX_METRIC_REGISTERED,
    LBX_METRIC_DEREGISTERED,
} lbx_metric;
typedef struct lbx_metric_event {
    lbx_metric metric;
    lbx_mailbox *mailbox;
    uint64_t count;
    int64_t waited_ns;
    int64_t last_ns;
    int64_t total_ns;
} lbx_metric_event;
typedef struct lbx_metrics_sink {
    void (*event)(void *context, const lbx_metric_event *event);
    void *context;
} lbx_metrics_sink;
typedef struct lbx_scheduler_hook {
    void (*ready)(void *context, lbx_mailbox *mailbox);
    void *context;
} lbx_scheduler_hook;
typedef struct lbx_mailbox_options {
    size_t size_bytes;
    const char *name;
    void *owner;
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    const lbx_kind_registry *kinds;
    lbx_fault *fault;
    int64_t capacity_messages;
    int64_t system_reservation;
    int64_t control_capacity;
    lbx_overflow overflow;
    int64_t wait_ns;
    lbx_overflow after_wait;
    bool return_dropped_newest;
    lbx_loss_sink loss_sink;
    lbx_producer *dead_letters;
    void (*destroy)(void *message, void *context);
    void *destroy_context;
    bool (*priority)(const void *message, void *context, int32_t *ret);
    void *priority_context;
    int (*compare)(const lbx_envelope *a, const lbx_envelope *b, void *context);
    void *compare_context;
    bool higher_first;
    int32_t default_priority;
    bool control_by_priority;
    bool envelopes;
    bool timestamps;
    bool (*may_wait)(void *context);
    void *may_wait_context;
    int64_t pressure_messages;
} lbx_mailbox_options;
#define LBX_MAILBOX_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_options),                             \
        .capacity_messages = LBX_DEFAULT, .system_reservation = LBX_DEFAULT,   \
        .control_capacity = LBX_DEFAULT, .wait_ns = -1,                        \
        .default_priority = LBX_PRIORITY_DEFAULT,                              \
        .pressure_messages = LBX_DEFAULT                                       \
    }
LBX_API lbx_status
lbx_mailbox_options_read_production(lbx_mailbox_options *ret);
LBX_INLINE lbx_mailbox_options
lbx_mailbox_options_production(void)
{
    lbx_mailbox_options options;
    options.size_bytes = sizeof(options);
    (void)lbx_mailbox_options_read_production(&options);
    return options;
}
LBX_API int64_t lbx_mailbox_options_limit(int64_t limit, int64_t if_default);
LBX_END
#endif
