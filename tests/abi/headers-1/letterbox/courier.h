/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_COURIER_H
#define LETTERBOX_COURIER_H
#include <letterbox/actor/system.h>
#include <letterbox/base.h>
#include <letterbox/post/postbox.h>
LBX_BEGIN
typedef struct lbx_courier lbx_courier;
typedef struct lbx_job lbx_job;
typedef enum lbx_verdict {
    LBX_VERDICT_RETRY = 0,
    LBX_VERDICT_DEAD_LETTER,
} lbx_verdict;
typedef struct lbx_job_failure {
    const lbx_letter *letter;
    lbx_status status;
    const char *error_type;
    const char *error_text;
    uint32_t delivery_count;
    lbx_verdict verdict;
} lbx_job_failure;
typedef struct lbx_dead_letter_policy {
    lbx_postbox *postbox;
    uint32_t deliveries;
    const char *const *include;
    size_t include_count;
    const char *const *exclude;
    size_t exclude_count;
    lbx_verdict (*decide)(void *context, const lbx_job_failure *failure);
    void *context;
} lbx_dead_letter_policy;
typedef struct lbx_courier_options {
    size_t size_bytes;
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    lbx_fault *fault;
    lbx_postbox *postbox;
    lbx_status (*handle)(lbx_job *job, void *context);
    void *context;
    uint32_t handlers;
    int64_t lease_ns;
    int64_t wait_ns;
    uint32_t max_letters;
    int64_t extend_every_ns;
    int64_t extend_to_ns;
    int64_t retry_ns;
    int64_t max_retry_ns;
    lbx_dead_letter_policy dead_letters;
    bool reply_on_failure;
    void (*log)(void *context, const char *line);
    void *log_context;
    void (*stuck)(void *context, int64_t silent_ns);
    int64_t watchdog_ns;
} lbx_courier_options;
#define LBX_COURIER_OPTIONS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_courier_options), .handlers = 1,              \
        .lease_ns = 300 * LBX_SECOND, .wait_ns = 20 * LBX_SECOND,              \
        .max_letters = 1, .extend_every_ns = 60 * LBX_SECOND,                  \
        .extend_to_ns = 300 * LBX_SECOND, .retry_ns = 60 * LBX_SECOND,         \
        .max_retry_ns = 900 * LBX_SECOND, .dead_letters = {.deliveries = 5},   \
        .watchdog_ns = 720 * LBX_SECOND                                        \
    }
LBX_API LBX_MUST_USE lbx_status
lbx_courier_create(const lbx_courier_options *options, lbx_courier **ret);
LBX_API void lbx_courier_destroy(lbx_courier *courier);
LBX_API LBX_MUST_USE lbx_status lbx_courier_start(lbx_courier *courier);
LBX_API LBX_MUST_USE lbx_status lbx_courier_run(lbx_courier *courier,
                                                int64_t max_receives);
LBX_API LBX_MUST_USE lbx_status lbx_courier_stop(lbx_courier *courier,
                                                 int64_t deadline_ns);
LBX_API bool lbx_courier_is_running(const lbx_courier *courier);
typedef struct lbx_courier_stats {
    size_t size_bytes;
    uint64_t received;
    uint64_t acknowledged;
    uint64_t returned;
    uint64_t dead_letters;
    uint64_t lost_leases;
    uint64_t extended;
    uint64_t released_unstarted;
    uint64_t unsettled;
    int64_t silent_ns;
} lbx_courier_stats;
#define LBX_COURIER_STATS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_courier_stats)                                \
    }
LBX_API LBX_MUST_USE lbx_status
lbx_courier_stats_read(const lbx_courier *courier, lbx_courier_stats *ret);
LBX_API lbx_letter *lbx_job_letter(lbx_job *job);
LBX_API lbx_status lbx_job_heartbeat(lbx_job *job);
LBX_API bool lbx_job_is_stopping(const lbx_job *job);
LBX_API LBX_MUST_USE lbx_status
lbx_job_reply_and_acknowledge(lbx_job *job, const lbx_draft *answer);
LBX_API LBX_MUST_USE lbx_status lbx_job_fail(lbx_job *job, lbx_status status,
                                             const char *error_type,
                                             const char *error_text);
LBX_API void lbx_job_finish(lbx_job *job, lbx_status status);
typedef struct lbx_courier_actor {
    lbx_system *system;
    lbx_ref ref;
} lbx_courier_actor;
LBX_API lbx_status lbx_courier_tell_actor(lbx_job *job, void *context);
typedef struct lbx_dead_letter_record {
    size_t size_bytes;
    lbx_id message_id;
    const void *body;
    size_t body_bytes;
    const char *body_type;
    const char *source_mailbox;
    uint32_t delivery_count;
    const char *last_error;
    const char *last_error_type;
    int64_t dead_lettered_ms;
    int64_t first_received_ms;
    lbx_id request_id;
    const char *reply_mailbox;
    const char *trace_id;
} lbx_dead_letter_record;
#define LBX_DEAD_LETTER_RECORD_INIT                                            \
    {                                                                          \
        .size_bytes = sizeof(lbx_dead_letter_record)                           \
    }
LBX_API const lbx_type *lbx_dead_letter_record_type(void);
LBX_API LBX_MUST_USE lbx_status lbx_dead_letter_send_back(
    lbx_letter *dead, lbx_postbox *to, lbx_sent_letter *ret_sent);
LBX_API lbx_status
lbx_courier_options_read_for_dead_letters(lbx_courier_options *ret);
LBX_INLINE lbx_courier_options
lbx_courier_options_for_dead_letters(void)
{
    lbx_courier_options options;
    options.size_bytes = sizeof(options);
    (void)lbx_courier_options_read_for_dead_letters(&options);
    return options;
}
LBX_END
#endif
