/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_MAILBOX_CONSUMER_H
#define LETTERBOX_MAILBOX_CONSUMER_H
#include <letterbox/base.h>
#include <letterbox/mailbox/options.h>
#include <letterbox/mailbox/signal.h>
#include <letterbox/operation.h>
LBX_BEGIN
LBX_API LBX_MUST_USE lbx_status lbx_consumer_try_receive(lbx_consumer *consumer,
                                                         void **ret_message);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive(lbx_consumer *consumer,
                                                     void **ret_message);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_until(
    lbx_consumer *consumer, void **ret_message, int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status
lbx_consumer_receive_init(lbx_operation *operation, lbx_consumer *consumer,
                          void **ret_message, int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_try_receive_envelope(
    lbx_consumer *consumer, lbx_envelope *ret_envelope);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_envelope_until(
    lbx_consumer *consumer, lbx_envelope *ret_envelope, int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_envelope_init(
    lbx_operation *operation, lbx_consumer *consumer,
    lbx_envelope *ret_envelope, int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status
lbx_consumer_try_receive_batch(lbx_consumer *consumer, void **ret_messages,
                               size_t most, size_t *ret_count);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_batch_until(
    lbx_consumer *consumer, void **ret_messages, size_t most, size_t *ret_count,
    int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_receive_batch_init(
    lbx_operation *operation, lbx_consumer *consumer, void **ret_messages,
    size_t most, size_t *ret_count, int64_t deadline_ns);
LBX_API LBX_MUST_USE lbx_status lbx_consumer_signal(lbx_consumer *consumer,
                                                    lbx_signal **ret);
LBX_API lbx_consumer *lbx_consumer_ref(lbx_consumer *consumer);
LBX_API void lbx_consumer_unref(lbx_consumer *consumer);
LBX_API lbx_mailbox *lbx_consumer_mailbox(lbx_consumer *consumer);
LBX_END
#endif
