/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters: messages that no actor handles.
 *
 * Each is counted, passed to the listeners once, and destroyed. If its sender
 * waits for the outcome, the reason for the loss becomes its status.
 *
 * Threads: any. Listeners are called without a lock, on a copy of the list.
 */
#include "actor/core/system.h"

bool
lbx__dead_letter_is_own(const lbx_type *type, const void *message)
{
    return message == (const void *)&lbx__message_poison ||
           type == lbx_terminated_type() ||
           type == lbx_receive_timeout_type() || type == lbx_pipe_result_type();
}

/* Messages that are expected to become dead letters. */
static bool
dead_letter_is_suppressed(const lbx_type *type, const void *message)
{
    if (type == lbx_pipe_result_type())
        return lbx__pipe_is_minor(type, message);
    return lbx__dead_letter_is_own(type, message) ||
           (type && lbx_type_is_a(type, lbx_dead_letter_suppressed_type()));
}

/* The status that a waiting sender gets for a loss. */
static lbx_status
dead_letter_status(lbx_loss_reason reason)
{
    switch (reason) {
    case LBX_LOSS_DROPPED_NEWEST:
    case LBX_LOSS_DROPPED_OLDEST:
        return LBX_FULL;
    case LBX_LOSS_EXPIRED:
        return LBX_TIMEOUT;
    case LBX_LOSS_UNHANDLED:
        return LBX_UNSUPPORTED;
    case LBX_LOSS_NO_MEMORY:
        return LBX_NO_MEMORY;
    case LBX_LOSS_FAILED:
    case LBX_LOSS_REFUSED:
        return LBX_REFUSED;
    default:
        return LBX_NOT_FOUND;
    }
}

void
lbx__dead_letter_publish(lbx_system *system, const lbx_envelope *envelope,
                         lbx_loss_reason reason)
{
    lbx_dead_letter_listener listeners[LBX_MAX_DEAD_LETTER_LISTENERS + 1];
    uint32_t count = 0;
    lbx_envelope dead = *envelope;
    lbx_dead_letter_event letter = {
        .system = system,
        .envelope = &dead,
        .sender = lbx_ref_of_sender(envelope->sender),
        .recipient = lbx_ref_of_sender(envelope->recipient),
        .suppressed =
            dead_letter_is_suppressed(envelope->type, envelope->message),
    };

    dead.lost = (uint8_t)reason;
    // Relaxed, both: statistics.
    (void)lbx__add(&system->dead_letters, 1, relaxed);
    if (letter.suppressed)
        (void)lbx__add(&system->suppressed, 1, relaxed);
    if (system->options.dead_letters.on_dead_letter)
        listeners[count++] = system->options.dead_letters;
    // No callback runs under the lock, so they are copied.
    lbx__lock_take(&system->listeners_lock);
    for (uint32_t i = 0; i < system->listener_count; i++)
        listeners[count++] = system->listeners[i];
    lbx__lock_give(&system->listeners_lock);
    for (uint32_t i = 0; i < count; i++)
        listeners[i].on_dead_letter(listeners[i].context, &letter);
    lbx__message_destroy(system, envelope->type, envelope->message);
    lbx__dead_letter_report(system, envelope, reason);
}

void
lbx__dead_letter_report(lbx_system *system, const lbx_envelope *envelope,
                        lbx_loss_reason reason)
{
    if (envelope->reserved[0] == LBX__REPORT_DUE)
        lbx__ask_report(system, lbx_ref_of_sender(envelope->sender).word,
                        dead_letter_status(reason));
}

lbx_status
lbx_system_add_dead_letter_listener(lbx_system *system,
                                    lbx_dead_letter_listener listener)
{
    lbx_status status = LBX_FULL;

    if (!system || !listener.on_dead_letter)
        return LBX_INVALID;
    lbx__lock_take(&system->listeners_lock);
    if (system->listener_count < LBX_MAX_DEAD_LETTER_LISTENERS) {
        system->listeners[system->listener_count++] = listener;
        status = LBX_OK;
    }
    lbx__lock_give(&system->listeners_lock);
    return status;
}

bool
lbx_system_remove_dead_letter_listener(lbx_system *system,
                                       lbx_dead_letter_listener listener)
{
    bool found = false;

    if (!system)
        return false;
    lbx__lock_take(&system->listeners_lock);
    for (uint32_t i = 0; i < system->listener_count && !found; i++) {
        found =
            system->listeners[i].on_dead_letter == listener.on_dead_letter &&
            system->listeners[i].context == listener.context;
        if (found)
            system->listeners[i] = system->listeners[--system->listener_count];
    }
    lbx__lock_give(&system->listeners_lock);
    return found;
}

void
lbx__dead_letter_publish_node(lbx_system *system, lbx__node *node,
                              lbx_loss_reason reason)
{
    lbx_envelope envelope = lbx__node_envelope(node);

    if (node->code == LBX__REPORT_STATUS)
        return; // its receiver, a promise, has ended
    if (node->code == LBX__REPORT_DUE && reason == LBX_LOSS_FAILED) {
        lbx__ask_report(system, node->sender,
                        (lbx_status)lbx__peek(&node->number));
        envelope.reserved[0] = LBX__REPORT_NONE;
    }
    node->code = LBX__REPORT_NONE;
    lbx__dead_letter_publish(system, &envelope, reason);
}
