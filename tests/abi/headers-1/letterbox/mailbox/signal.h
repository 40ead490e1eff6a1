/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_MAILBOX_SIGNAL_H
#define LETTERBOX_MAILBOX_SIGNAL_H
#include <letterbox/base.h>
#include <letterbox/operation.h>
LBX_BEGIN
typedef struct lbx_signal lbx_signal;
LBX_API LBX_MUST_USE lbx_status lbx_signal_create(
    const lbx_allocator *allocator, const lbx_clock *clock, lbx_signal **ret);
LBX_API void lbx_signal_notify(lbx_signal *signal);
LBX_API LBX_MUST_USE lbx_status lbx_signal_wait_init(lbx_operation *operation,
                                                     lbx_signal *signal,
                                                     int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_signal_wait_until(lbx_signal *signal,
                                                      int64_t deadline_ns);
LBX_API lbx_signal *lbx_signal_ref(lbx_signal *signal);
LBX_API void lbx_signal_unref(lbx_signal *signal);
LBX_END
#endif
