/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_MAILBOX_H
#define LETTERBOX_MAILBOX_H
#include <letterbox/base.h>
#include <letterbox/mailbox/consumer.h>
#include <letterbox/mailbox/factory.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/mailbox/producer.h>
#include <letterbox/mailbox/signal.h>
#include <letterbox/operation.h>
LBX_BEGIN
typedef enum lbx_close_mode {
    LBX_CLOSE_DRAIN = 0,
    LBX_CLOSE_IMMEDIATE,
    LBX_CLOSE_DEAD_LETTER,
} lbx_close_mode;
typedef struct lbx_mailbox_stats {
    size_t size_bytes;
    uint64_t depth;
    uint64_t system_depth;
    uint64_t control_depth;
    uint64_t accepted;
    uint64_t taken;
    uint64_t rejected;
    uint64_t dropped_newest;
    uint64_t dropped_oldest;
    uint64_t expired;
    uint64_t lost;
    uint64_t high_water;
    int64_t capacity_messages;
    uint64_t waiting_senders;
    uint64_t waiting_receivers;
    uint64_t suspensions;
    uint64_t timed_messages;
    int64_t waited_total_ns;
    int64_t max_waited_ns;
} lbx_mailbox_stats;
#define LBX_MAILBOX_STATS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_mailbox_stats)                                \
    }
LBX_API uint64_t lbx_mailbox_depth(lbx_mailbox *mailbox);
LBX_API bool lbx_mailbox_is_empty(lbx_mailbox *mailbox);
LBX_API bool lbx_mailbox_is_full(lbx_mailbox *mailbox);
LBX_API int64_t lbx_mailbox_capacity(lbx_mailbox *mailbox);
LBX_API uint32_t lbx_mailbox_capabilities(lbx_mailbox *mailbox);
LBX_API int lbx_mailbox_compare(const lbx_mailbox *mailbox,
                                const lbx_envelope *a, const lbx_envelope *b);
LBX_API bool lbx_mailbox_has_before(lbx_mailbox *mailbox,
                                    const lbx_envelope *than);
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_stats_read(lbx_mailbox *mailbox,
                                                       lbx_mailbox_stats *ret);
LBX_API lbx_status lbx_mailbox_close(lbx_mailbox *mailbox, lbx_close_mode mode);
LBX_API lbx_status lbx_mailbox_close_into(
    lbx_mailbox *mailbox,
    void (*rest)(void *context, const lbx_envelope *envelope), void *context);
LBX_API bool lbx_mailbox_is_closed(lbx_mailbox *mailbox);
LBX_API bool lbx_mailbox_suspend(lbx_mailbox *mailbox);
LBX_API bool lbx_mailbox_resume(lbx_mailbox *mailbox);
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_flush_init(lbx_operation *operation,
                                                       lbx_mailbox *mailbox,
                                                       int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_stop_init(lbx_operation *operation,
                                                      lbx_mailbox *mailbox,
                                                      int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_set_metrics_sink(
    lbx_mailbox *mailbox, const lbx_metrics_sink *sink);
LBX_API LBX_MUST_USE lbx_status lbx_mailbox_set_scheduler_hook(
    lbx_mailbox *mailbox, const lbx_scheduler_hook *hook);
LBX_END
#endif
