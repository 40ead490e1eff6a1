/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_ACTOR_ASK_H
#define LETTERBOX_ACTOR_ASK_H
#include <letterbox/actor/system.h>
#include <letterbox/operation.h>
LBX_BEGIN
LBX_API LBX_MUST_USE lbx_status lbx_ask_init(lbx_operation *operation,
                                             lbx_system *system, lbx_ref to,
                                             const lbx_envelope *question,
                                             lbx_envelope *ret_answer,
                                             int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_ask_until(lbx_system *system, lbx_ref to,
                                              const lbx_envelope *question,
                                              lbx_envelope *ret_answer,
                                              int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status
lbx_tell_handled_init(lbx_operation *operation, lbx_system *system, lbx_ref to,
                      const lbx_envelope *message, int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_ref_ended_init(lbx_operation *operation,
                                                   lbx_system *system,
                                                   lbx_ref ref,
                                                   int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_ref_ended_until(lbx_system *system,
                                                    lbx_ref ref,
                                                    int64_t deadline_ns);
typedef struct lbx_timer {
    uint64_t id;
} lbx_timer;
LBX_API LBX_MUST_USE lbx_status lbx_timer_start(lbx_system *system, lbx_ref to,
                                                const lbx_envelope *envelope,
                                                int64_t delay_ns,
                                                int64_t period_ns,
                                                lbx_timer *ret);
LBX_API bool lbx_timer_cancel(lbx_system *system, lbx_timer timer);
LBX_END
#endif
