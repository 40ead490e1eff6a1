/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_REF_H
#define LETTERBOX_ACTOR_REF_H
#include <letterbox/mailbox/messages.h>
LBX_BEGIN
typedef struct lbx_ref {
    uint64_t word;
} lbx_ref;
LBX_API lbx_ref lbx_ref_nobody(void);
LBX_API bool lbx_ref_equal(lbx_ref a, lbx_ref b);
LBX_API bool lbx_ref_is_alive(lbx_ref ref);
LBX_API LBX_MUST_USE lbx_status lbx_ref_path(lbx_ref ref, char *ret_path,
                                             size_t size_bytes);
LBX_API void lbx_tell(lbx_ref to, void *message);
LBX_API void lbx_tell_typed(lbx_ref to, const lbx_type *type, void *message);
LBX_API void lbx_tell_envelope(lbx_ref to, const lbx_envelope *envelope);
LBX_API LBX_MUST_USE lbx_status lbx_try_tell(lbx_ref to,
                                             const lbx_envelope *envelope);
LBX_API void *lbx_ref_as_sender(lbx_ref ref);
LBX_API lbx_ref lbx_ref_of_sender(const void *sender);
LBX_API void lbx_ref_stop(lbx_ref ref);
LBX_API LBX_MUST_USE lbx_status lbx_ref_suspend(lbx_ref ref);
LBX_API LBX_MUST_USE lbx_status lbx_ref_resume(lbx_ref ref);
typedef struct lbx_actor_stats {
    size_t size_bytes;
    uint64_t handled;
    uint64_t failures;
    uint64_t children;
    uint64_t depth;
    const char *mailbox;
    uint64_t timed_messages;
    int64_t waited_total_ns;
    int64_t max_waited_ns;
} lbx_actor_stats;
#define LBX_ACTOR_STATS_INIT                                                   \
    {                                                                          \
        .size_bytes = sizeof(lbx_actor_stats)                                  \
    }
LBX_API LBX_MUST_USE lbx_status lbx_ref_stats_read(lbx_ref ref,
                                                   lbx_actor_stats *ret);
LBX_API void *lbx_poison_pill(void);
LBX_END
#endif
