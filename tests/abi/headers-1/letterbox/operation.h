/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_OPERATION_H
#define LETTERBOX_OPERATION_H
#include <letterbox/base.h>
LBX_BEGIN
typedef struct lbx_waker {
    void (*wake)(void *context);
    void *context;
} lbx_waker;
typedef struct lbx_operation {
    uint64_t reserved[48];
} lbx_operation;
LBX_API LBX_MUST_USE lbx_status lbx_operation_poll(lbx_operation *operation,
                                                   const lbx_waker *waker);
LBX_API LBX_MUST_USE lbx_status lbx_operation_wait(lbx_operation *operation);
LBX_API lbx_status lbx_operation_cancel(lbx_operation *operation);
LBX_API void lbx_operation_fini(lbx_operation *operation);
LBX_API LBX_MUST_USE lbx_status lbx_operation_restart(lbx_operation *operation,
                                                      int64_t deadline_ns);
LBX_API lbx_status lbx_operation_status(const lbx_operation *operation);
LBX_API int64_t lbx_operation_deadline(const lbx_operation *operation);
LBX_API LBX_MUST_USE lbx_status lbx_select_init(
    lbx_operation *operation, lbx_operation *const *operations, size_t count,
    size_t first, int64_t deadline_ns, size_t *ret_index);
typedef struct lbx_event {
    int fd;
    lbx_waker waker;
} lbx_event;
LBX_API LBX_MUST_USE lbx_status lbx_event_open(lbx_event *ret);
LBX_API void lbx_event_clear(lbx_event *event);
LBX_API void lbx_event_close(lbx_event *event);
LBX_END
#endif
