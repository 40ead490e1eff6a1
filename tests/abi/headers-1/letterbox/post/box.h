/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_POST_BOX_H
#define LETTERBOX_POST_BOX_H
#include <letterbox/base.h>
LBX_BEGIN
#define LBX_MAX_BATCH      10
#define LBX_BOX_NAME_BYTES 128
typedef struct lbx_box_limits {
    int64_t max_lease_ns;
    int64_t max_wait_ns;
    int64_t max_delay_ns;
    int64_t min_retention_ns;
    int64_t max_retention_ns;
    int64_t max_letter_bytes;
    int64_t max_batch_bytes;
    int64_t max_leased;
    uint32_t max_attributes;
    bool text_only;
} lbx_box_limits;
typedef enum lbx_deduplication {
    LBX_DEDUPLICATION_BOX = 0,
    LBX_DEDUPLICATION_GROUP,
} lbx_deduplication;
typedef enum lbx_dead_letter_allow {
    LBX_DEAD_LETTER_ALLOW_ALL = 0,
    LBX_DEAD_LETTER_ALLOW_NONE,
    LBX_DEAD_LETTER_ALLOW_LISTED,
} lbx_dead_letter_allow;
typedef struct lbx_box_options {
    size_t size_bytes;
    lbx_box_limits limits;
    int64_t lease_ns;
    int64_t delay_ns;
    int64_t wait_ns;
    int64_t retention_ns;
    int64_t capacity_letters;
    bool strict;
    bool keep_position;
    bool fifo;
    bool deduplicate_by_content;
    lbx_deduplication deduplication;
    const char *dead_letters;
    uint32_t max_deliveries;
    lbx_dead_letter_allow dead_letter_allow;
    const char *const *dead_letter_boxes;
    size_t dead_letter_box_count;
} lbx_box_options;
#define LBX_BOX_LIMITS_NONE                                                    \
    {                                                                          \
        .max_lease_ns = LBX_UNLIMITED, .max_wait_ns = LBX_UNLIMITED,           \
        .max_delay_ns = LBX_UNLIMITED, .max_retention_ns = LBX_UNLIMITED,      \
        .max_letter_bytes = LBX_UNLIMITED, .max_batch_bytes = LBX_UNLIMITED,   \
        .max_leased = LBX_UNLIMITED, .max_attributes = UINT32_MAX              \
    }
#define LBX_BOX_OPTIONS_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_box_options), .limits = LBX_BOX_LIMITS_NONE,  \
        .lease_ns = 30 * LBX_SECOND, .retention_ns = LBX_UNLIMITED,            \
        .capacity_letters = LBX_UNLIMITED, .strict = true                      \
    }
typedef enum lbx_box_preset {
    LBX_BOX_PRESET_DEFAULT = 0,
    LBX_BOX_PRESET_SQS,
    LBX_BOX_PRESET_SQS_FIFO,
} lbx_box_preset;
LBX_API lbx_status lbx_box_options_read_preset(lbx_box_preset set,
                                               lbx_box_options *ret);
LBX_INLINE lbx_box_options
lbx_box_options_preset(lbx_box_preset set)
{
    lbx_box_options options;
    options.size_bytes = sizeof(options);
    (void)lbx_box_options_read_preset(set, &options);
    return options;
}
LBX_API LBX_MUST_USE lbx_status
lbx_box_options_check(const lbx_box_options *options, lbx_fault *fault);
typedef struct lbx_box_counts {
    size_t size_bytes;
    uint64_t ready;
    uint64_t leased;
    uint64_t delayed;
    uint64_t bytes;
    int64_t oldest_ns;
} lbx_box_counts;
#define LBX_BOX_COUNTS_INIT                                                    \
    {                                                                          \
        .size_bytes = sizeof(lbx_box_counts)                                   \
    }
LBX_END
#endif
