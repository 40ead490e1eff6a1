/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_COMPAT_VELA_H
#define LETTERBOX_COMPAT_VELA_H
#include <letterbox/actor/system.h>
#include <letterbox/mailbox/options.h>
LBX_BEGIN
LBX_API lbx_status lbx_vela_mailbox_options_read(lbx_mailbox_options *ret);
LBX_INLINE lbx_mailbox_options
lbx_vela_mailbox_options(void)
{
    lbx_mailbox_options options;
    options.size_bytes = sizeof(options);
    (void)lbx_vela_mailbox_options_read(&options);
    return options;
}
typedef struct lbx_vela_loop lbx_vela_loop;
typedef enum lbx_vela_loop_state {
    LBX_VELA_LOOP_IDLE = 0,
    LBX_VELA_LOOP_RUNNING,
    LBX_VELA_LOOP_PAUSED,
    LBX_VELA_LOOP_STOPPING,
    LBX_VELA_LOOP_STOPPED,
} lbx_vela_loop_state;
typedef struct lbx_vela_loop_options {
    size_t size_bytes;
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    lbx_fault *fault;
    const char *mailbox;
    const lbx_mailbox_options *mailbox_options;
    int64_t max_throughput;
    int64_t idle_sleep_ms;
    lbx_status (*receive)(lbx_vela_loop *loop, void *context, void *message);
    lbx_status (*handle_error)(lbx_vela_loop *loop, void *context,
                               lbx_status error, void *message);
    lbx_status (*pre_start)(lbx_vela_loop *loop, void *context);
    void (*post_stop)(lbx_vela_loop *loop, void *context);
    void (*print)(void *context, const char *text, const void *message);
    void *context;
} lbx_vela_loop_options;
#define LBX_VELA_LOOP_OPTIONS_INIT                                             \
    {                                                                          \
        .size_bytes = sizeof(lbx_vela_loop_options),                           \
        .max_throughput = LBX_DEFAULT, .idle_sleep_ms = 1                      \
    }
LBX_API LBX_MUST_USE lbx_status
lbx_vela_loop_create(lbx_system *system, const lbx_vela_loop_options *options,
                     lbx_vela_loop **ret);
LBX_API void lbx_vela_loop_destroy(lbx_vela_loop *loop);
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_start(lbx_vela_loop *loop,
                                                    lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_pause(lbx_vela_loop *loop,
                                                    lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_resume(lbx_vela_loop *loop,
                                                     lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_stop(lbx_vela_loop *loop,
                                                   int64_t deadline_ns,
                                                   lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_send(lbx_vela_loop *loop,
                                                   void *message);
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_process_next(lbx_vela_loop *loop,
                                                           lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_vela_loop_deliver(lbx_vela_loop *loop,
                                                      void *message,
                                                      lbx_fault *fault);
LBX_API void *lbx_vela_loop_take(lbx_vela_loop *loop);
LBX_API lbx_producer *lbx_vela_loop_producer(lbx_vela_loop *loop);
LBX_API lbx_vela_loop_state lbx_vela_loop_state_of(lbx_vela_loop *loop);
LBX_API const char *lbx_vela_loop_state_name(lbx_vela_loop_state state);
typedef struct lbx_vela_loop_stats {
    size_t size_bytes;
    uint64_t processed;
    uint64_t errors;
    uint64_t cycles;
    uint64_t waiting;
    int64_t total_ns;
    int64_t average_ns;
    lbx_vela_loop_state state;
    const char *state_name;
} lbx_vela_loop_stats;
#define LBX_VELA_LOOP_STATS_INIT                                               \
    {                                                                          \
        .size_bytes = sizeof(lbx_vela_loop_stats)                              \
    }
LBX_API LBX_MUST_USE lbx_status
lbx_vela_loop_stats_read(lbx_vela_loop *loop, lbx_vela_loop_stats *ret);
LBX_END
#endif
