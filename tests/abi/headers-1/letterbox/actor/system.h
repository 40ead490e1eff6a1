/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_SYSTEM_H
#define LETTERBOX_ACTOR_SYSTEM_H
#include <letterbox/actor/props.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/settings.h>
LBX_BEGIN
typedef struct lbx_system lbx_system;
typedef struct lbx_mailbox_type lbx_mailbox_type;
typedef struct lbx_dead_letter_event {
    lbx_system *system;
    const lbx_envelope *envelope;
    lbx_ref sender;
    lbx_ref recipient;
    bool suppressed;
} lbx_dead_letter_event;
typedef struct lbx_dead_letter_listener {
    void (*on_dead_letter)(void *context, const lbx_dead_letter_event *letter);
    void *context;
} lbx_dead_letter_listener;
typedef struct lbx_system_options {
    size_t size_bytes;
    const char *name;
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    const lbx_kind_registry *kinds;
    lbx_fault *fault;
    int64_t threads;
    int64_t throughput;
    lbx_dead_letter_listener dead_letters;
    void (*destroy)(void *message, void *context);
    void *destroy_context;
    const lbx_settings *settings;
    const lbx_mailbox_type *mailbox_types;
    size_t mailbox_type_count;
    uint64_t seed;
    void (*warn)(void *context, const char *line);
    void *warn_context;
} lbx_system_options;
#define LBX_SYSTEM_OPTIONS_INIT                                                \
    {                                                                          \
        .size_bytes = sizeof(lbx_system_options), .name = "letterbox",         \
        .threads = LBX_DEFAULT, .throughput = LBX_DEFAULT                      \
    }
LBX_API LBX_MUST_USE lbx_status
lbx_system_create(const lbx_system_options *options, lbx_system **ret);
LBX_API LBX_MUST_USE lbx_status lbx_system_spawn(lbx_system *system,
                                                 const lbx_props *props,
                                                 const char *name,
                                                 lbx_ref *ret);
LBX_API LBX_MUST_USE lbx_status lbx_system_find(lbx_system *system,
                                                const char *path, lbx_ref *ret);
LBX_API LBX_MUST_USE lbx_status lbx_system_run(lbx_system *system,
                                               uint64_t max_runs,
                                               uint64_t *ret_runs);
LBX_API LBX_MUST_USE lbx_status lbx_system_terminate(lbx_system *system,
                                                     int64_t deadline_ns);
LBX_API void lbx_system_destroy(lbx_system *system);
typedef struct lbx_system_stats {
    size_t size_bytes;
    uint64_t actors;
    uint64_t spawned;
    uint64_t dead_letters;
    uint64_t suppressed;
    uint64_t runs;
    uint64_t handled;
    uint64_t failures;
    uint64_t steals;
    uint64_t parks;
    size_t cell_bytes;
} lbx_system_stats;
#define LBX_SYSTEM_STATS_INIT                                                  \
    {                                                                          \
        .size_bytes = sizeof(lbx_system_stats)                                 \
    }
LBX_API LBX_MUST_USE lbx_status lbx_system_stats_read(lbx_system *system,
                                                      lbx_system_stats *ret);
typedef struct lbx_dispatcher_stats {
    const char *name;
    uint64_t threads;
    uint64_t runs;
    uint64_t handled;
    uint64_t steals;
    uint64_t parks;
    uint64_t queued;
} lbx_dispatcher_stats;
LBX_API LBX_MUST_USE lbx_status lbx_system_each_dispatcher(
    lbx_system *system,
    void (*see)(void *context, const lbx_dispatcher_stats *stats),
    void *context);
LBX_API LBX_MUST_USE lbx_status
lbx_system_print(lbx_system *system,
                 void (*print)(void *context, const char *line), void *context);
LBX_END
#endif
