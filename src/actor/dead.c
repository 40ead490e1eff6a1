/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead letters, and the end of messages.
 *
 * A message that an actor did not handle is reported once (A3) and then ended:
 * by its type, or by the system's function.
 */
#include "actor/system.h"

const char lbx__poison = 0;

void *
lbx_poison_pill(void)
{
    return (void *)(uintptr_t)&lbx__poison;
}

/* Messages of the library's own need no ending. */
static bool
is_ours(const lbx_type *type, const void *message)
{
    return message == (const void *)&lbx__poison ||
           type == lbx_terminated_type() || type == lbx_receive_timeout_type();
}

void
lbx__end_message(lbx_system *system, const lbx_type *type, void *message)
{
    const lbx_system_options *options = &system->options;

    if (type)
        lbx_type_end_message(type, message);
    else if (options->destroy && !is_ours(type, message))
        options->destroy(message, options->destroy_context);
}

void
lbx__dead_letter(lbx_system *system, const lbx_envelope *envelope,
                 lbx_loss_reason reason)
{
    const lbx_dead_letter_listener *listener = &system->options.dead_letters;
    lbx_envelope dead = *envelope;
    lbx_dead_letter letter = {
        .system = system,
        .envelope = &dead,
        .sender = lbx_ref_of_sender(envelope->sender),
        .recipient = lbx_ref_of_sender(envelope->recipient),
        .suppressed = is_ours(envelope->type, envelope->message),
    };

    dead.lost = (uint8_t)reason;
    // Relaxed, both: numbers for people.
    (void)lbx__add(&system->dead_letters, 1, relaxed);
    if (letter.suppressed)
        (void)lbx__add(&system->suppressed, 1, relaxed);
    if (listener->heard)
        listener->heard(listener->context, &letter);
    lbx__end_message(system, envelope->type, envelope->message);
}

void
lbx__dead_node(lbx_system *system, lbx__node *node, lbx_loss_reason reason)
{
    lbx_envelope envelope = lbx__node_envelope(node);

    lbx__dead_letter(system, &envelope, reason);
}
