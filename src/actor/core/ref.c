/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refs: sending to the actor that a ref names.
 *
 * The fast path fills a node from the thread's cache and pushes it to the inbox
 * of a living actor; everything else (actor mailboxes, outboxes, dead letters)
 * is on the slow path. No lock is held between the check of the ref and the
 * push (CELL-3).
 *
 * Threads: any.
 */
#include "actor/core/outbox.h"
#include "actor/core/system.h"

#include <string.h>

lbx_ref
lbx_ref_nobody(void)
{
    lbx_ref nobody = {0};

    return nobody;
}

bool
lbx_ref_equal(lbx_ref a, lbx_ref b)
{
    return a.word == b.word;
}

void *
lbx_ref_as_sender(lbx_ref ref)
{
    return (void *)(uintptr_t)ref.word;
}

lbx_ref
lbx_ref_of_sender(const void *sender)
{
    lbx_ref ref = {(uint64_t)(uintptr_t)sender};

    return ref;
}

bool
lbx_ref_is_alive(lbx_ref ref)
{
    return lbx__ref_lives(ref.word);
}

/* Sends to an actor with an actor mailbox. */
static lbx_status
ref_push_to_mailbox(lbx__cell *cell, lbx_ref to, const lbx_envelope *envelope)
{
    const lbx_context *context = lbx__context_current();
    lbx__actor_mailbox *box;
    lbx_status status;

    // The actor's own mailbox stays during its run, which checks it at the end.
    // For a shared one the other actors must be woken.
    if (context && context->self == to.word && lbx__actor_mailbox_is_own(cell))
        // Relaxed: the owner, who writes it, is this thread.
        return lbx_producer_try_send_envelope(
            lbx__load(&cell->box, relaxed)->in, envelope, NULL);
    box = lbx__actor_mailbox_ref(cell, to.word);
    if (!box)
        return LBX_NOT_FOUND;
    status = lbx_producer_try_send_envelope(box->in, envelope, NULL);
    if (status == LBX_OK)
        lbx__actor_mailbox_wake(box, cell);
    lbx__actor_mailbox_unref(box);
    return status;
}

/* Sends with the envelope's own sender; unless it returns OK the caller keeps
 * the message. */
static lbx_status
ref_push(lbx_ref to, const lbx_envelope *envelope)
{
    lbx__cell *cell = lbx__cell_of(to.word);
    lbx__node *node;

    if (!lbx_ref_is_alive(to))
        return LBX_NOT_FOUND;
    if (lbx_envelope_is_system(envelope) ||
        envelope->channel > LBX_CHANNEL_CONTROL)
        return LBX_INVALID; // system messages are the library's own here
    // Relaxed: lbx__actor_mailbox_ref() checks again.
    if (lbx__load(&cell->box, relaxed))
        return ref_push_to_mailbox(cell, to, envelope);
    node = lbx__node_pool_get(cell->system->pool);
    if (!node)
        return LBX_NO_MEMORY;
    lbx__node_fill(node, envelope, to.word);
    lbx__cell_push(cell, node);
    return LBX_OK;
}

/* The sender that an envelope names, or the actor that this thread runs. */
static void *
ref_sender(const lbx_envelope *envelope)
{
    const lbx_context *context = lbx__context_current();

    if (envelope->sender || !context)
        return envelope->sender;
    return (void *)(uintptr_t)context->self;
}

lbx_loss_reason
lbx__ref_loss_reason(lbx_status status)
{
    switch (status) {
    case LBX_NO_MEMORY:
        return LBX_LOSS_NO_MEMORY;
    case LBX_FULL:
    case LBX_TIMEOUT:
        return LBX_LOSS_DROPPED_NEWEST;
    case LBX_NOT_FOUND:
    case LBX_CLOSED:
    case LBX_CANCELLED:
        return LBX_LOSS_NO_ACTOR;
    default:
        return LBX_LOSS_REFUSED;
    }
}

lbx_status
lbx_try_tell(lbx_ref to, const lbx_envelope *envelope)
{
    lbx_envelope copy;
    if (!envelope || lbx_envelope_is_system(envelope) ||
        envelope->channel > LBX_CHANNEL_CONTROL)
        return LBX_INVALID;
    if (!to.word)
        return LBX_NOT_FOUND;
    // Relaxed: it may be stopped at any moment after this.
    if (lbx_ref_is_alive(to) &&
        lbx__load(&lbx__cell_of(to.word)->stop, relaxed) ==
            lbx__generation_of(to.word))
        return LBX_CLOSED;
    copy = *envelope;
    copy.sender = ref_sender(envelope);
    copy.reserved[0] = LBX__REPORT_NONE;
    return ref_push(to, &copy);
}

/* A full mailbox that lets senders wait: the message of an actor waits in its
 * outbox, other threads block. */
static lbx_status
ref_push_waiting(lbx_ref to, const lbx_envelope *envelope)
{
    lbx__cell *cell = lbx__cell_of(to.word);
    lbx__actor_mailbox *box = lbx__actor_mailbox_ref(cell, to.word);
    lbx_context *context = lbx__context_current();
    lbx_status status = LBX_FULL;

    if (!box)
        return LBX_NOT_FOUND;
    // An actor that waits for its own mailbox waits for itself.
    if (!(lbx_mailbox_capabilities(box->mailbox) & LBX_CAPABILITY_BLOCK) ||
        (context && context->self == to.word &&
         lbx__actor_mailbox_is_own(cell))) {
        lbx__actor_mailbox_unref(box);
        return LBX_FULL;
    }
    if (context && lbx__outbox_add(context, box, to, envelope))
        return LBX_OK; // it has our reference now
    if (!context)
        status = lbx_producer_send_envelope_until(box->in, envelope,
                                                  LBX_FOREVER, NULL);
    if (status == LBX_OK)
        lbx__actor_mailbox_wake(box, cell);
    lbx__actor_mailbox_unref(box);
    return status;
}

/* Makes a dead letter of the system that this thread runs in, if any. */
static void
ref_tell_nobody(const lbx_envelope *envelope)
{
    const lbx_context *context = lbx__context_current();

    if (context)
        lbx__dead_letter_publish(context->cell->system, envelope,
                                 LBX_LOSS_NO_ACTOR);
    else
        lbx_type_destroy_message(envelope->type, envelope->message);
}

/* The end of a message that was not accepted. */
static void
ref_lose(lbx_ref to, lbx_envelope *envelope, lbx_status status)
{
    lbx__cell *cell = lbx__cell_of(to.word);
    const lbx_loss_reason reason = lbx__ref_loss_reason(status);
    lbx__actor_mailbox *box = reason == LBX_LOSS_NO_ACTOR
                                  ? NULL
                                  : lbx__actor_mailbox_ref(cell, to.word);

    envelope->recipient = lbx_ref_as_sender(to);
    if (!box) {
        lbx__dead_letter_publish(cell->system, envelope, reason);
        return;
    }
    lbx__actor_mailbox_lose(box, envelope, reason); // ABOX-4
    lbx__actor_mailbox_unref(box);
}

/* Sends with the envelope's own sender, if any. What is not accepted becomes a
 * dead letter, or is lost by the mailbox. */
static void
ref_send(lbx_ref to, lbx_envelope *envelope, bool waits)
{
    lbx_status status;

    if (!to.word) {
        ref_tell_nobody(envelope);
        return;
    }
    status = ref_push(to, envelope);
    if (status == LBX_FULL && waits)
        status = ref_push_waiting(to, envelope);
    if (status != LBX_OK)
        ref_lose(to, envelope, status);
}

/* The fast path, for a living actor with an inbox; false: nothing was done. */
static inline __attribute__((always_inline)) bool
ref_send_plain(lbx_ref to, const lbx_type *type, void *message,
               int32_t priority, uint64_t sender, lbx__node_cache *cache)
{
    lbx__cell *cell = lbx__cell_of(to.word);
    lbx__node *node;

    // Relaxed: as in ref_push().
    if (!lbx__ref_lives(to.word) || lbx__load(&cell->box, relaxed))
        return false;
    node = lbx__node_cache_get(cache);
    if (!node)
        return false;
    node->message = message;
    node->type = type;
    node->sender = sender;
    node->recipient = to.word;
    node->deadline_ns = 0;
    node->priority = priority;
    node->channel = LBX_CHANNEL_REGULAR;
    node->code = 0;
    node->notice = false;
    node->plain = message != (const void *)&lbx__message_poison;
    lbx__cell_push(cell, node);
    return true;
}

/* The slow path. */
static __attribute__((noinline)) void
ref_tell_slowly(lbx_ref to, const lbx_type *type, void *message,
                int32_t priority)
{
    lbx_envelope envelope;

    if (to.word && !lbx__context_current() &&
        ref_send_plain(
            to, type, message, priority, 0,
            lbx__node_pool_cache(lbx__cell_of(to.word)->system->pool)))
        return;
    envelope = lbx_envelope_of(message, priority);
    envelope.type = type;
    envelope.sender = ref_sender(&envelope);
    ref_send(to, &envelope, true);
}

static inline __attribute__((always_inline)) void
ref_tell(lbx_ref to, const lbx_type *type, void *message, int32_t priority)
{
    lbx_context *context = lbx__context_current();

    if (to.word && context &&
        context->system == lbx__cell_of(to.word)->system) {
        context->sent++;
        if (ref_send_plain(to, type, message, priority, context->self,
                           context->cache))
            return;
    }
    ref_tell_slowly(to, type, message, priority);
}

void
lbx_tell(lbx_ref to, void *message)
{
    ref_tell(to, NULL, message, LBX_PRIORITY_DEFAULT);
}

void
lbx_tell_typed(lbx_ref to, const lbx_type *type, void *message)
{
    ref_tell(to, type, message, lbx_type_default_priority(type));
}

void
lbx__ref_tell_as(lbx_ref to, const lbx_envelope *envelope)
{
    lbx_context *context = lbx__context_current();
    lbx_envelope copy = *envelope;

    if (context)
        context->sent++;
    ref_send(to, &copy, true);
}

void
lbx_tell_envelope(lbx_ref to, const lbx_envelope *envelope)
{
    lbx_envelope copy;

    if (!envelope)
        return;
    copy = *envelope;
    copy.sender = ref_sender(envelope);
    copy.reserved[0] = LBX__REPORT_NONE; // it is the library's
    lbx__ref_tell_as(to, &copy);
}

void
lbx__ref_tell_at_once(lbx_ref to, const lbx_envelope *envelope)
{
    lbx_envelope copy = *envelope;

    copy.sender = ref_sender(envelope);
    copy.reserved[0] = LBX__REPORT_NONE;
    ref_send(to, &copy, false);
}

/* Sends a system message without a sender. */
static lbx_status
ref_send_system(lbx_ref to, uint8_t code)
{
    lbx__cell *cell = lbx__cell_of(to.word);
    lbx__node *node;

    if (!lbx_ref_is_alive(to))
        return LBX_NOT_FOUND;
    node = lbx__node_pool_get(cell->system->pool);
    if (!node)
        return LBX_NO_MEMORY;
    node->sender = 0;
    node->recipient = to.word;
    node->code = code;
    lbx__cell_push_system(cell, node);
    return LBX_OK;
}

lbx_status
lbx_ref_suspend(lbx_ref ref)
{
    return ref_send_system(ref, LBX__CODE_SUSPEND);
}

lbx_status
lbx_ref_resume(lbx_ref ref)
{
    return ref_send_system(ref, LBX__CODE_RESUME);
}

void
lbx_ref_stop(lbx_ref ref)
{
    if (lbx_ref_is_alive(ref))
        lbx__cell_stop(lbx__cell_of(ref.word), lbx__generation_of(ref.word));
}
