/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_DEAD_LETTERS_H
#define LETTERBOX_ACTOR_DEAD_LETTERS_H
#include <letterbox/actor/system.h>
LBX_BEGIN
#define LBX_MAX_DEAD_LETTER_LISTENERS 8
LBX_API LBX_MUST_USE lbx_status lbx_system_add_dead_letter_listener(
    lbx_system *system, lbx_dead_letter_listener listener);
LBX_API bool
lbx_system_remove_dead_letter_listener(lbx_system *system,
                                       lbx_dead_letter_listener listener);
LBX_API const lbx_type *lbx_dead_letter_suppressed_type(void);
LBX_API const char *lbx_loss_reason_text(lbx_loss_reason reason);
typedef struct lbx_dead_letter_log {
    void (*print)(void *context, const char *line);
    void *context;
    const lbx_clock *clock;
    uint64_t max_lines;
    int64_t pause_ns;
    bool during_stop;
    uint64_t reserved[8];
} lbx_dead_letter_log;
#define LBX_DEAD_LETTER_LOG_INIT                                               \
    {                                                                          \
        .max_lines = 10, .pause_ns = 300 * LBX_SECOND                          \
    }
LBX_API lbx_dead_letter_listener
lbx_dead_letter_log_as_listener(lbx_dead_letter_log *log);
LBX_END
#endif
