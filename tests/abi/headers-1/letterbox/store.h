/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_STORE_H
#define LETTERBOX_STORE_H
#include <letterbox/base.h>
#include <letterbox/operation.h>
#include <letterbox/post/box.h>
LBX_BEGIN
typedef struct lbx_store lbx_store;
typedef struct lbx_store_options lbx_store_options;
typedef enum lbx_durability {
    LBX_DURABILITY_DEFAULT = 0,
    LBX_DURABILITY_NONE,
    LBX_DURABILITY_PROCESS,
    LBX_DURABILITY_INTERVAL,
    LBX_DURABILITY_POWER_CUT,
    LBX_DURABILITY_MACHINE,
} lbx_durability;
struct lbx_store_options {
    size_t size_bytes;
    const lbx_allocator *allocator;
    const lbx_clock *clock;
    lbx_fault *fault;
    bool must_exist;
    lbx_durability durability;
    int64_t interval_ms;
    bool exclusive;
    bool check;
    int64_t map_bytes;
    int64_t journal_bytes;
    void (*log)(void *context, const char *line);
    void *log_context;
};
#define LBX_STORE_OPTIONS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_store_options), .interval_ms = 100,           \
        .map_bytes = (int64_t)64 << 30, .journal_bytes = (int64_t)64 << 20     \
    }
LBX_API LBX_MUST_USE lbx_status lbx_store_open(const char *url,
                                               const lbx_store_options *options,
                                               lbx_store **ret);
LBX_API lbx_store *lbx_store_ref(lbx_store *store);
LBX_API void lbx_store_unref(lbx_store *store);
LBX_API const char *lbx_store_scheme(const lbx_store *store);
LBX_API lbx_durability lbx_store_durability(const lbx_store *store);
LBX_API LBX_MUST_USE lbx_status lbx_store_sync(lbx_store *store);
LBX_API LBX_MUST_USE lbx_status
lbx_store_create_box(lbx_store *store, const char *name,
                     const lbx_box_options *options, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status
lbx_store_configure_box(lbx_store *store, const char *name,
                        const lbx_box_options *options, lbx_fault *fault);
LBX_API LBX_MUST_USE lbx_status lbx_store_delete_box(lbx_store *store,
                                                     const char *name);
LBX_API LBX_MUST_USE lbx_status lbx_store_describe_box(
    lbx_store *store, const char *name, char *buffer,
    lbx_box_options *ret_options, lbx_box_counts *ret_counts);
#define LBX_BOX_OPTIONS_BUFFER_BYTES 2048
LBX_API LBX_MUST_USE lbx_status lbx_store_list_boxes(
    lbx_store *store, const char *prefix, const char *after,
    bool (*each)(void *context, const char *name), void *context);
typedef enum lbx_move_phase {
    LBX_MOVE_PHASE_RUNNING = 0,
    LBX_MOVE_PHASE_COMPLETED,
    LBX_MOVE_PHASE_CANCELLING,
    LBX_MOVE_PHASE_CANCELLED,
    LBX_MOVE_PHASE_FAILED,
} lbx_move_phase;
typedef struct lbx_move_progress {
    size_t size_bytes;
    uint64_t task;
    lbx_move_phase phase;
    lbx_status reason;
    uint64_t moved;
    uint64_t left;
    int64_t started_ms;
} lbx_move_progress;
#define LBX_MOVE_PROGRESS_INIT                                                 \
    {                                                                          \
        .size_bytes = sizeof(lbx_move_progress)                                \
    }
LBX_API LBX_MUST_USE lbx_status
lbx_store_start_move(lbx_store *store, const char *from, const char *to,
                     int64_t letters_per_second);
LBX_API LBX_MUST_USE lbx_status lbx_store_describe_move(lbx_store *store,
                                                        const char *from,
                                                        lbx_move_progress *ret);
LBX_API LBX_MUST_USE lbx_status lbx_store_cancel_move(lbx_store *store,
                                                      const char *from);
LBX_END
#endif
