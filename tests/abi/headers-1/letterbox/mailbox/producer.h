/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_MAILBOX_PRODUCER_H
#define LETTERBOX_MAILBOX_PRODUCER_H
#include <letterbox/base.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/operation.h>
LBX_BEGIN
LBX_API LBX_MUST_USE lbx_status lbx_producer_try_send(lbx_producer *producer,
                                                      void *message);
LBX_API LBX_MUST_USE lbx_status lbx_producer_send(lbx_producer *producer,
                                                  void *message);
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_until(lbx_producer *producer,
                                                        void *message,
                                                        int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_init(lbx_operation *operation,
                                                       lbx_producer *producer,
                                                       void *message,
                                                       int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_producer_try_send_envelope(
    lbx_producer *producer, const lbx_envelope *envelope,
    lbx_send_result *ret_result);
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_envelope_until(
    lbx_producer *producer, const lbx_envelope *envelope, int64_t deadline_ns,
    lbx_send_result *ret_result);
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_envelope_init(
    lbx_operation *operation, lbx_producer *producer,
    const lbx_envelope *envelope, int64_t deadline_ns,
    lbx_send_result *ret_result);
LBX_API LBX_MUST_USE lbx_status
lbx_producer_try_send_front(lbx_producer *producer, void *message);
LBX_API LBX_MUST_USE lbx_status
lbx_producer_try_send_batch(lbx_producer *producer, void *const *messages,
                            size_t count, size_t *ret_sent);
LBX_API LBX_MUST_USE lbx_status lbx_producer_send_batch_init(
    lbx_operation *operation, lbx_producer *producer, void *const *messages,
    size_t count, int64_t deadline_ns, size_t *ret_sent);
LBX_API lbx_producer *lbx_producer_ref(lbx_producer *producer);
LBX_API void lbx_producer_unref(lbx_producer *producer);
LBX_API lbx_mailbox *lbx_producer_mailbox(lbx_producer *producer);
LBX_END
#endif
