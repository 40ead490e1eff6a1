/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LETTERBOX_MAILBOX_MESSAGES_H
#define LETTERBOX_MAILBOX_MESSAGES_H
#include <letterbox/base.h>
#include <letterbox/type.h>
LBX_BEGIN
typedef enum lbx_channel {
    LBX_CHANNEL_REGULAR = 0,
    LBX_CHANNEL_CONTROL = 1,
} lbx_channel;
#define LBX_SYSTEM_PRIORITY_DEFAULT 4
#define LBX_SYSTEM_CODE_MAP(XX)                                                \
    XX(WATCH, 1, LBX_SYSTEM_PRIORITY_DEFAULT + 5)                              \
    XX(UNWATCH, 2, LBX_SYSTEM_PRIORITY_DEFAULT + 5)                            \
    XX(RECEIVE_TIMEOUT, 3, LBX_SYSTEM_PRIORITY_DEFAULT + 8)                    \
    XX(SUSPEND, 4, LBX_SYSTEM_PRIORITY_DEFAULT + 9)                            \
    XX(RESUME, 5, LBX_SYSTEM_PRIORITY_DEFAULT + 9)                             \
    XX(STOP, 6, LBX_SYSTEM_PRIORITY_DEFAULT + 10)                              \
    XX(RESTART, 7, LBX_SYSTEM_PRIORITY_DEFAULT + 11)                           \
    XX(FAILURE, 8, LBX_SYSTEM_PRIORITY_DEFAULT + 12)                           \
    XX(ESCALATE, 9, LBX_SYSTEM_PRIORITY_DEFAULT + 13)
typedef enum lbx_system_code {
    LBX_SYSTEM_CODE_NONE = 0,
#define LBX_SYSTEM_CODE_ENUM(name, code, priority)                             \
    LBX_SYSTEM_CODE_##name = (code),
    LBX_SYSTEM_CODE_MAP(LBX_SYSTEM_CODE_ENUM)
#undef LBX_SYSTEM_CODE_ENUM
    LBX_SYSTEM_CODE_USER = 1000,
} lbx_system_code;
typedef struct lbx_system_message {
    int32_t code;
    int32_t priority;
} lbx_system_message;
typedef enum lbx_loss_reason {
    LBX_LOSS_NONE = 0,
    LBX_LOSS_DROPPED_NEWEST,
    LBX_LOSS_DROPPED_OLDEST,
    LBX_LOSS_EXPIRED,
    LBX_LOSS_CLOSED,
    LBX_LOSS_NO_ACTOR,
    LBX_LOSS_UNHANDLED,
    LBX_LOSS_FAILED,
    LBX_LOSS_NO_MEMORY,
    LBX_LOSS_REFUSED,
} lbx_loss_reason;
typedef struct lbx_envelope {
    void *message;
    const lbx_type *type;
    void *sender;
    void *recipient;
    int64_t deadline_ns;
    int64_t enqueued_ns;
    int32_t priority;
    uint8_t channel;
    uint8_t lost;
    uint8_t reserved[2];
    lbx_system_message system;
} lbx_envelope;
LBX_API lbx_envelope lbx_envelope_of(void *message, int32_t priority);
LBX_API lbx_envelope lbx_envelope_with_channel(void *message, int32_t priority,
                                               lbx_channel channel);
LBX_API lbx_envelope lbx_envelope_control(void *message, int32_t priority);
LBX_API lbx_envelope lbx_envelope_with_default_priority(void *message);
LBX_API lbx_envelope lbx_envelope_of_type(void *message, const lbx_type *type);
LBX_API lbx_system_message lbx_system_message_of(int32_t code);
LBX_API lbx_envelope lbx_envelope_from_system(lbx_system_message system,
                                              void *message);
LBX_API lbx_envelope lbx_envelope_map(lbx_envelope envelope,
                                      void *(*map)(void *message,
                                                   void *context),
                                      void *context);
LBX_API lbx_envelope lbx_envelope_map_priority(lbx_envelope envelope,
                                               int32_t (*map)(int32_t priority,
                                                              void *context),
                                               void *context);
LBX_API void lbx_envelope_into_parts(const lbx_envelope *envelope,
                                     void **ret_message, int32_t *ret_priority,
                                     lbx_channel *ret_channel,
                                     lbx_system_message *ret_system);
LBX_API bool lbx_envelope_is_control(const lbx_envelope *envelope);
LBX_API bool lbx_envelope_is_system(const lbx_envelope *envelope);
LBX_END
#endif
