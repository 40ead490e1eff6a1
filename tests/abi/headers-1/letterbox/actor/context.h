/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_CONTEXT_H
#define LETTERBOX_ACTOR_CONTEXT_H
#include <letterbox/actor/system.h>
LBX_BEGIN
LBX_API lbx_ref lbx_context_self(const lbx_context *context);
LBX_API lbx_ref lbx_context_parent(const lbx_context *context);
LBX_API lbx_ref lbx_context_sender(const lbx_context *context);
LBX_API lbx_system *lbx_context_system(const lbx_context *context);
LBX_API const lbx_type *lbx_context_type(const lbx_context *context);
LBX_API void *lbx_context_take(lbx_context *context);
LBX_API void lbx_context_reply(lbx_context *context, void *message);
LBX_API void lbx_context_forward(lbx_context *context, lbx_ref to);
LBX_API LBX_MUST_USE lbx_status lbx_context_spawn(lbx_context *context,
                                                  const lbx_props *props,
                                                  const char *name,
                                                  lbx_ref *ret);
LBX_API void lbx_context_stop(lbx_context *context);
LBX_API LBX_MUST_USE lbx_status lbx_context_become(lbx_context *context,
                                                   lbx_actor_handler *receive);
LBX_API void lbx_context_unbecome(lbx_context *context);
LBX_API LBX_MUST_USE lbx_status lbx_context_watch(lbx_context *context,
                                                  lbx_ref ref);
LBX_API void lbx_context_unwatch(lbx_context *context, lbx_ref ref);
LBX_API const lbx_type *lbx_terminated_type(void);
LBX_API lbx_ref lbx_terminated_ref(const void *message);
LBX_API LBX_MUST_USE lbx_status lbx_context_stash(lbx_context *context);
LBX_API void lbx_context_unstash_all(lbx_context *context);
LBX_API uint64_t lbx_context_unstash(lbx_context *context, uint64_t most);
LBX_API uint64_t lbx_context_stashed(const lbx_context *context);
LBX_API int64_t lbx_context_stash_capacity(const lbx_context *context);
LBX_API LBX_MUST_USE lbx_status lbx_context_stash_find(
    const lbx_context *context,
    bool (*accepts)(void *argument, const lbx_envelope *envelope),
    void *argument, lbx_envelope *ret);
LBX_API void lbx_context_stash_clear(lbx_context *context);
LBX_API LBX_MUST_USE lbx_status
lbx_context_set_receive_timeout(lbx_context *context, int64_t timeout_ns);
LBX_API const lbx_type *lbx_receive_timeout_type(void);
LBX_END
#endif
