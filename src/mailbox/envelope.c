/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelopes and system messages as values: they are built, changed and taken
 * apart here; nothing is stored or shared.
 *
 * Threads    any.
 */
#include <letterbox/mailbox/messages.h>

#include <stddef.h>

lbx_envelope
lbx_envelope_with_channel(void *message, int32_t priority, lbx_channel channel)
{
    return (lbx_envelope){
        .message = message,
        .deadline_ns = LBX_FOREVER,
        .priority = priority,
        .channel = (uint8_t)channel,
    };
}

lbx_envelope
lbx_envelope_of(void *message, int32_t priority)
{
    return lbx_envelope_with_channel(message, priority, LBX_CHANNEL_REGULAR);
}

lbx_envelope
lbx_envelope_control(void *message, int32_t priority)
{
    return lbx_envelope_with_channel(message, priority, LBX_CHANNEL_CONTROL);
}

lbx_envelope
lbx_envelope_with_default_priority(void *message)
{
    return lbx_envelope_of(message, LBX_PRIORITY_DEFAULT);
}

lbx_envelope
lbx_envelope_of_type(void *message, const lbx_type *type)
{
    lbx_envelope envelope = lbx_envelope_with_default_priority(message);

    if (type) {
        envelope.type = type;
        envelope.priority = lbx_type_default_priority(type);
    }
    return envelope;
}

lbx_system_message
lbx_system_message_of(int32_t code)
{
    lbx_system_message system = {code, LBX_SYSTEM_PRIORITY_DEFAULT};

    switch (code) {
#define PRIORITY(name, number, urgency)                                        \
    case LBX_SYSTEM_CODE_##name:                                               \
        system.priority = (urgency);                                           \
        break;
        LBX_SYSTEM_CODE_MAP(PRIORITY)
#undef PRIORITY
    default:
        break;
    }
    return system;
}

lbx_envelope
lbx_envelope_from_system(lbx_system_message system, void *message)
{
    lbx_envelope envelope = lbx_envelope_control(message, system.priority);

    envelope.system = system;
    return envelope;
}

lbx_envelope
lbx_envelope_map(lbx_envelope envelope,
                 void *(*map)(void *message, void *context), void *context)
{
    if (map)
        envelope.message = map(envelope.message, context);
    return envelope;
}

lbx_envelope
lbx_envelope_map_priority(lbx_envelope envelope,
                          int32_t (*map)(int32_t priority, void *context),
                          void *context)
{
    if (map)
        envelope.priority = map(envelope.priority, context);
    return envelope;
}

void
lbx_envelope_into_parts(const lbx_envelope *envelope, void **ret_message,
                        int32_t *ret_priority, lbx_channel *ret_channel,
                        lbx_system_message *ret_system)
{
    if (!envelope)
        return;
    if (ret_message)
        *ret_message = envelope->message;
    if (ret_priority)
        *ret_priority = envelope->priority;
    if (ret_channel)
        *ret_channel = (lbx_channel)envelope->channel;
    if (ret_system)
        *ret_system = envelope->system;
}

bool
lbx_envelope_is_control(const lbx_envelope *envelope)
{
    return envelope && envelope->channel == LBX_CHANNEL_CONTROL;
}

bool
lbx_envelope_is_system(const lbx_envelope *envelope)
{
    return envelope && envelope->system.code != LBX_SYSTEM_CODE_NONE;
}
